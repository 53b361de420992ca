"""The krew manifest of kubectl compute-domain: tools/krew/compute-domain.yaml with the version, and the archives of this release.

Their addresses are below the one that --download-url gives. Without it they are below a name that no host can have, as images
without a registry are: the manifest is then for `kubectl krew install --manifest … --archive …`, which takes no address.
"""

import hashlib
import re
from pathlib import Path

import plugin_archive
from failure import Failure

NAME = "compute-domain.yaml"
NOWHERE = "https://downloads.invalid/compute-domain-operator"
URL = re.compile(r"https://[A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]+)?(/[A-Za-z0-9._~%+@-]+)*")
_SOURCE = f"tools/krew/{NAME}"
_HEAD = "# The krew manifest of kubectl compute-domain {version}: the archives for krew, with their checksums.\n"
_NOWHERE = ("# This release was made without --download-url: krew takes an archive that you have.\n"
            "# kubectl krew install --manifest={name} --archive={archive}\n")
# `files` as krew has it where there are none: all that is in the archive, as it lies there.
_PLATFORM = """\
  - selector:
      matchLabels: {{os: linux, arch: {arch}}}
    uri: {url}/{archive}
    sha256: "{digest}"
    files: [{{from: "*", to: .}}]
    bin: {program}
"""


def write(root: Path, directory: Path, version: str, architectures: list, url: str = "") -> None:
    source = re.sub(r"\A(#.*\n)*", "", (root / _SOURCE).read_text())
    if not re.search(r"^spec:\n(  .*\n)+\Z", source, re.MULTILINE):
        raise Failure(f"{_SOURCE} does not end with its spec, to which the archives are added")
    archives = [plugin_archive.name(each) for each in architectures]
    head = _HEAD.format(version=version) + ("" if url else _NOWHERE.format(name=NAME, archive=archives[0]))
    platforms = "".join(
        _PLATFORM.format(arch=arch, url=url or NOWHERE, archive=archive, program=plugin_archive.NAME,
                         digest=hashlib.sha256((directory / archive).read_bytes()).hexdigest())
        for arch, archive in zip(architectures, archives))
    (directory / NAME).write_text(f"{head}{source}  version: v{version}\n  platforms:\n{platforms}")
