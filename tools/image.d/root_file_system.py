"""The files of an image: what the program needs to run, and where all of it is from; nothing else."""

import functools
import subprocess
import tempfile
from pathlib import Path
from typing import Iterable

import shared_libraries
import spdx
from architectures import Architecture, native
from debian_packages import DebianPackages, records
from failure import Failure
from oci_archive import Entry
from programs import PROGRAMS, Program

_CERTIFICATES = "etc/ssl/certs/ca-certificates.crt"
_LICENSE = Path(__file__).resolve().parent.parent.parent / "LICENSE"

_PASSWD = """\
root:x:0:0:root:/root:/sbin/nologin
nonroot:x:65532:65532:nonroot:/nonexistent:/sbin/nologin
"""
_GROUP = "root:x:0:\nnonroot:x:65532:\n"


def of(program: Program, binary: Path, architecture: Architecture, version: str, created: str) -> dict:
    """Entries by path without the leading slash."""
    if not binary.is_file():
        raise Failure(f"{binary} is not there: {architecture.how_to_build} --target {' '.join(PROGRAMS)}")
    libraries = shared_libraries.of(binary, program.more_libraries, architecture)
    entries = {folder: Entry(0o755) for folder in ("dev", "proc", "run", "sys", "var")}
    entries["tmp"] = Entry(0o1777)
    entries["var/run"] = Entry(0o777, target="../run")
    entries["usr/sbin"] = Entry(0o755)
    entries["etc/passwd"] = _text(_PASSWD)
    entries["etc/group"] = _text(_GROUP)
    entries["etc/nsswitch.conf"] = _text(f"passwd: files\ngroup: files\nhosts: {program.host_names}\n")
    entries[f"usr/bin/{program.name}"] = Entry(0o755, content=stripped(binary, architecture))
    entries[f"usr/share/doc/{program.name}/copyright"] = Entry(0o644, content=_read(_LICENSE))
    for path, target in program.links:
        entries[path] = Entry(0o777, target=target)
    packages = _packages(architecture.root)
    owners = {path: packages.owner(path) for path in libraries}
    for path in libraries:
        entries[path] = Entry(0o755, content=packages.content(path))
    for path, entry in _distribution(packages, architecture.root).items():
        entries[path] = entry
        owners[path] = packages.named("base-files")
    entries["etc/os-release"] = Entry(0o777, target="../usr/lib/os-release")
    if program.speaks_tls:
        owners[_CERTIFICATES], entries[_CERTIFICATES] = _certificates()
    add_copyrights(set(owners.values()), entries, owners)
    entries |= records(owners, entries)
    # Those of headers are owed too, but no record says that these packages are in the image.
    compiled_in = [packages.named(name) for name in program.compiled_in]
    add_copyrights(compiled_in, entries, owners)
    entries[spdx.path_of(program.name)] = _text(spdx.document(
        program, version, architecture.name, created, _variables(entries["usr/lib/os-release"].content.decode()), entries, owners,
        compiled_in))
    for path in list(entries):
        for folder in Path(path).parents:
            if folder != Path("."):
                entries.setdefault(str(folder), Entry(0o755))
    # As on Debian, so that programs find their interpreter.
    for folder in ("bin", "lib", "lib64", "sbin"):
        if f"usr/{folder}" in entries:
            entries[folder] = Entry(0o777, target=f"usr/{folder}")
    return entries


def add_copyrights(packages: Iterable, entries: dict, owners: dict) -> None:
    for package in packages:
        entries[package.copyright_path] = Entry(0o644, content=package.copyright())
        owners[package.copyright_path] = package


@functools.cache
def _packages(root: Path) -> DebianPackages:
    return DebianPackages(root)


def _distribution(packages: DebianPackages, root: Path) -> dict:
    """Which one the packages are from: scanners choose by it where they look. And the licenses that most packages refer to."""
    paths = [path for path in packages.files("base-files") if path == "usr/lib/os-release" or path.startswith("usr/share/common-licenses/")]
    entries = {}
    for path in paths:
        here = root / path
        entries[path] = Entry(0o777, target=str(here.readlink())) if here.is_symlink() else Entry(0o644, content=packages.content(path))
    if "usr/lib/os-release" not in entries:
        raise Failure(f"the package base-files below {root} has no /usr/lib/os-release, so this is no Debian")
    return entries


def _certificates() -> tuple:
    """The package, and its certificates in one file: not this machine's file of that name, which has those of its owner too."""
    packages = _packages(native().root)
    paths = [path for path in packages.files("ca-certificates")
             if path.startswith("usr/share/ca-certificates/") and path.endswith(".crt")]
    texts = [packages.content(path).decode().rstrip("\n") + "\n" for path in paths]
    return packages.named("ca-certificates"), _text("".join(texts))


def _variables(os_release: str) -> dict:
    return {name: value.strip('"') for name, _, value in (line.partition("=") for line in os_release.splitlines())}


def _text(text: str) -> Entry:
    return Entry(0o644, content=text.encode())


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise Failure(f"{path} is not there: run tools/setup") from None


def stripped(binary: Path, architecture: Architecture) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / binary.name
        try:
            result = subprocess.run([architecture.strip, "--strip-all", "-o", output, binary], capture_output=True, text=True)
        except FileNotFoundError:
            raise Failure(f"there is no {architecture.strip}: {architecture.how_to_build}") from None
        if result.returncode != 0:
            raise Failure(f"cannot strip {binary}: {result.stderr.strip()}")
        return output.read_bytes()
