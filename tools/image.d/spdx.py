"""The software bill of materials of an image: an SPDX 2.3 document in JSON.

It names the program, the Debian packages that the image's files are from, those whose headers were compiled into the program,
and every file with its checksums. The same image gives the same text.
"""

import hashlib
import json
import re
import uuid
from urllib.parse import quote

from debian_packages import Package

_UNKNOWN = "NOASSERTION"


def path_of(name: str) -> str:
    """Where it is in the image, without the leading slash."""
    return f"usr/share/doc/{name}/{name}.spdx.json"


def document(program: object, version: str, architecture: str, created: str, system: dict, entries: dict, owners: dict,
             compiled_in: list) -> str:
    """`system` is /etc/os-release; `owners` has the package of each path that is from one: every other is the project's."""
    image = {"SPDXID": "SPDXRef-image", "name": f"{program.name}-image", "versionInfo": version, "downloadLocation": _UNKNOWN,
             "filesAnalyzed": False, "primaryPackagePurpose": "CONTAINER", "licenseConcluded": _UNKNOWN, "licenseDeclared": _UNKNOWN,
             "copyrightText": _UNKNOWN, "comment": f"for linux/{architecture}"}
    files = {path: entry.content for path, entry in sorted(entries.items()) if entry.content is not None}
    own = {"SPDXID": "SPDXRef-program", "name": program.name, "versionInfo": version, "summary": program.description,
           "supplier": "Organization: compute-domain-operator", "downloadLocation": _UNKNOWN,
           "primaryPackagePurpose": "APPLICATION", "licenseConcluded": "Apache-2.0", "licenseDeclared": "Apache-2.0",
           "copyrightText": _UNKNOWN, "externalRefs": [_purl(f"pkg:generic/{program.name}@{quote(version, safe='')}")],
           **_analyzed([content for path, content in files.items() if path not in owners])}
    packages = [image, own]
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", image), (image, "CONTAINS", own)]
    by_name = {}
    for package in sorted(set(owners.values()), key=lambda each: each.name):
        analyzed = _analyzed([content for path, content in files.items() if owners.get(path) == package])
        by_name[package.name] = _debian(package, system) | analyzed
        if package in compiled_in:
            by_name[package.name]["comment"] = "headers, compiled into the program; of its files the image has the licenses alone"
            relations.append((own, "STATIC_LINK", by_name[package.name]))
        else:
            relations += [(image, "CONTAINS", by_name[package.name]), (own, "DEPENDS_ON", by_name[package.name])]
    packages += by_name.values()
    of_files = []
    for number, (path, content) in enumerate(files.items()):
        of_files.append({"SPDXID": f"SPDXRef-file-{number}", "fileName": f"./{path}", "licenseConcluded": _UNKNOWN,
                         "licenseInfoInFiles": [_UNKNOWN], "copyrightText": _UNKNOWN, "checksums": [
                             {"algorithm": "SHA1", "checksumValue": hashlib.sha1(content).hexdigest()},
                             {"algorithm": "SHA256", "checksumValue": hashlib.sha256(content).hexdigest()}]})
        relations.append((by_name[owners[path].name] if path in owners else own, "CONTAINS", of_files[-1]))
    body = {"packages": packages, "files": of_files, "relationships": [_relation(*relation) for relation in relations]}
    digest = hashlib.sha256(_json([created, body]).encode()).hexdigest()
    return _json({
        "spdxVersion": "SPDX-2.3", "SPDXID": "SPDXRef-DOCUMENT", "dataLicense": "CC0-1.0",
        "name": f"{program.name}-{version}-{architecture}",
        # A name that no other document has; there is no place where these are kept.
        "documentNamespace": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, digest)}",
        "creationInfo": {"created": created, "creators": ["Tool: tools/image", "Organization: compute-domain-operator"]},
        "documentDescribes": [image["SPDXID"]],
        **body,
    })


def _debian(package: Package, system: dict) -> dict:
    name, version = package.source
    distribution = f"{system.get('ID', 'debian')}-{system.get('VERSION_ID', '')}"
    vendor = system.get("ID", "debian")
    qualifiers = {"arch": package["Architecture"], "distro": distribution}
    if package.source != (package.name, package["Version"]):
        qualifiers["upstream"] = f"{name}@{version}" if version != package["Version"] else name
    purl = (f"pkg:deb/{vendor}/{quote(package.name, safe='')}@{quote(package['Version'], safe='')}?" +
            "&".join(f"{key}={quote(value, safe='')}" for key, value in sorted(qualifiers.items())))
    maintainer = re.match(r'"?([^"<]*)"?', package["Maintainer"])[1].strip() or vendor
    return {"SPDXID": "SPDXRef-deb-" + re.sub(r"[^A-Za-z0-9.-]", lambda sign: f"-{ord(sign[0])}-", package.name),
            "name": package.name, "versionInfo": package["Version"], "supplier": f"Organization: {maintainer}",
            "downloadLocation": _UNKNOWN, "filesAnalyzed": False, "licenseConcluded": _UNKNOWN, "licenseDeclared": _UNKNOWN,
            "copyrightText": _UNKNOWN, "sourceInfo": f"built from the source package {name} {version}",
            "summary": package["Description"].partition("\n")[0], "externalRefs": [_purl(purl)],
            **({"homepage": package["Homepage"]} if package["Homepage"] else {})}


def _analyzed(contents: list) -> dict:
    """What SPDX wants of a package whose files are listed (7.9.4)."""
    sums = "".join(sorted(hashlib.sha1(content).hexdigest() for content in contents))
    return {"filesAnalyzed": True, "packageVerificationCode": {"packageVerificationCodeValue": hashlib.sha1(sums.encode()).hexdigest()}}


def _purl(locator: str) -> dict:
    return {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": locator}


def _relation(one: object, kind: str, other: dict) -> dict:
    return {"spdxElementId": one if isinstance(one, str) else one["SPDXID"], "relationshipType": kind,
            "relatedSpdxElement": other["SPDXID"]}


def _json(value: object) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"
