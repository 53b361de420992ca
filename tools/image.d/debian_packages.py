"""DebianPackages: which Debian package a file is from, by dpkg's database below a root, and what an image says of it.

An image has no dpkg. As in distroless images, /var/lib/dpkg/status.d has a file for each package, with what dpkg knows of it,
and one with the checksums of those of its files that are there: scanners look for these. /usr/share/doc/PACKAGE/copyright
has its licenses, which have to be there where its files are. A file that is not as its package has it is refused, because
the records would say of it what is not so.
"""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from failure import Failure
from oci_archive import Entry

# As they follow each other in a package, so that dpkg's own database and one that tools/setup made give the same text.
_FIELDS = ("Package", "Source", "Status", "Version", "Architecture", "Multi-Arch", "Maintainer", "Installed-Size", "Pre-Depends",
           "Depends", "Breaks", "Conflicts", "Replaces", "Provides", "Section", "Priority", "Homepage", "Description")


@dataclass(frozen=True)
class Package:
    fields: tuple  # (name, value) of those above that it has
    root: Path  # below which its files are

    def __getitem__(self, name: str) -> str:
        return dict(self.fields).get(name, "")

    @property
    def name(self) -> str:
        return self["Package"]

    @property
    def source(self) -> tuple:
        """Name and version of the source package: what Debian's security advisories name."""
        found = re.fullmatch(r"(\S+)(?: \((\S+)\))?", self["Source"] or self.name)
        return found[1], found[2] or self["Version"]

    @property
    def stanza(self) -> str:
        return "".join(f"{name}: {value}\n" for name, value in self.fields)

    @property
    def copyright_path(self) -> str:
        return f"usr/share/doc/{self.name}/copyright"

    def copyright(self) -> bytes:
        path = self.root / self.copyright_path
        try:
            return path.read_bytes()
        except FileNotFoundError:
            raise Failure(f"{path} is not there, and an image with files of {self.name} has to have it") from None


class DebianPackages:
    """Those that are installed, or unpacked, below `root`."""

    def __init__(self, root: Path):
        self._root = root
        self._packages = {}  # by name
        self._owners = {}  # path in the image -> name
        self._sums = {}  # by name: the file that has the checksums
        database = root / "var/lib/dpkg"
        try:
            stanzas = (database / "status").read_text().split("\n\n")
        except FileNotFoundError:
            raise Failure(f"{database}/status is not there, so nobody knows which package a file is from: run tools/setup") from None
        for stanza in stanzas:
            fields = dict(re.findall(r"^([A-Za-z-]+): ?((?:.*)(?:\n .*)*)", stanza, re.MULTILINE))
            if fields.get("Status", "").endswith(" installed"):
                self._add(fields, database / "info")

    def named(self, name: str) -> Package:
        if name not in self._packages:
            raise Failure(f"the Debian package {name} is not below {self._root}: run tools/setup")
        return self._packages[name]

    def owner(self, path: str) -> Package:
        """Of a path in the image, without the leading slash."""
        if path not in self._owners:
            raise Failure(f"/{path} is from no Debian package below {self._root}, so no scanner would know it")
        return self._packages[self._owners[path]]

    def files(self, name: str) -> list:
        """The paths of a package's files and folders, as they are in an image."""
        return sorted(path for path, owner in self._owners.items() if owner == self.named(name).name)

    def content(self, path: str) -> bytes:
        """Of a file, given by its path in the image: as its package has it, or where a link leads to, the package of that."""
        here = (self._root / path).resolve()
        real = in_image(str(here.relative_to(self._root.resolve())))
        package = self.owner(real).name
        try:
            sums = self._sums[package].read_text()
            content = here.read_bytes()
        except FileNotFoundError as error:
            raise Failure(f"{error.filename} is not there: run tools/setup") from None
        known = {in_image(name): digest for digest, name in (line.split("  ", 1) for line in sums.splitlines())}
        if hashlib.md5(content).hexdigest() != known.get(real):
            raise Failure(f"{here} is not as the Debian package {package} has it: "
                          + (f"apt-get install --reinstall {package}" if self._root == Path("/")
                             else f"rm -rf {self._root}, and run tools/setup again"))
        return content

    def _add(self, fields: dict, info: Path) -> None:
        name, architecture = fields["Package"], fields["Architecture"]
        lists = [path for path in (info / f"{name}:{architecture}.list", info / f"{name}.list") if path.exists()]
        # Another architecture's, beside this machine's own.
        if not lists or (name in self._packages and self._packages[name]["Architecture"] != architecture):
            return
        self._packages[name] = Package(tuple((field, fields[field]) for field in _FIELDS if field in fields), self._root)
        self._sums[name] = lists[0].with_suffix(".md5sums")
        for path in lists[0].read_text().splitlines():
            self._owners[in_image(path)] = name


def in_image(path: str) -> str:
    """A path of this machine, or of a package, in an image: on Debian /bin, /lib, /lib64 and /sbin are links to those in /usr."""
    path = path.lstrip("/")
    return f"usr/{path}" if path.partition("/")[0] in ("bin", "lib", "lib64", "sbin") else path


def records(owners: dict, entries: dict) -> dict:
    """The entries that tell of the packages. `owners` has the package of each path in `entries` that is from one."""
    found = {}
    for package in set(owners.values()):
        paths = [path for path in sorted(owners) if owners[path] == package and entries[path].content is not None]
        sums = "".join(f"{hashlib.md5(entries[path].content).hexdigest()}  {path}\n" for path in paths)
        found[f"var/lib/dpkg/status.d/{package.name}"] = Entry(0o644, content=package.stanza.encode())
        found[f"var/lib/dpkg/status.d/{package.name}.md5sums"] = Entry(0o644, content=sums.encode())
    return found
