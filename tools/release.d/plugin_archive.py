"""kubectl compute-domain in a release: for each architecture an archive with which it runs on any Linux, as krew unpacks it.

The program is linked with Debian's libraries, which other distributions have in other versions or not at all. So they lie in lib/
beside it, with Debian's loader, by which a script starts the program. packages.txt says from which packages they are.
"""

import io
import tarfile
from pathlib import Path

import elf
import root_file_system
import shared_libraries
from architectures import ARCHITECTURES, Architecture
from debian_packages import DebianPackages
from failure import Failure
from gzipped import gzipped
from image_archives import different_versions

NAME = "kubectl-compute_domain"
# Debian packages of which it uses headers alone.
_COMPILED_IN = ("libboost1.74-dev", "nlohmann-json3-dev")
_SCRIPT = """\
#!/bin/sh
# Starts kubectl-compute_domain with the libraries that lie beside it, whichever this machine has.
here=$(dirname "$(readlink -f "$0")")
exec "$here/lib/{loader}" --inhibit-cache --library-path "$here/lib" "$here/lib/{name}" "$@"
"""


def name(architecture: str) -> str:
    return f"{NAME}_linux_{architecture}.tar.gz"


def write(root: Path, directory: Path, architectures: list, builds: list, time: int) -> None:
    found = {}  # of each architecture, the packages as a bill of materials has them
    for each, build in zip(architectures, builds):
        architecture = ARCHITECTURES[each]
        packages = DebianPackages(architecture.root)
        files, used = _files(root, build / "bin" / NAME, architecture, packages)
        found[each] = {"packages": [{"SPDXID": f"SPDXRef-deb-{one.name}", "name": one.name, "versionInfo": one["Version"]} for one in used]}
        (directory / name(each)).write_bytes(gzipped(_tar(files, time)))
    if differences := different_versions(found):
        raise Failure(f"{NAME} would not be the same for each architecture: {'; '.join(differences)}; upgrade this machine's packages, "
                      "make the sysroot again (rm -rf build/arm64-sysroot; tools/setup --arm64), and build")


def _files(root: Path, binary: Path, architecture: Architecture, packages: DebianPackages) -> tuple:
    """By path: mode and content; and the packages that they are from."""
    libraries = shared_libraries.of(binary, (), architecture)
    used = {packages.owner(path) for path in libraries}
    loader = Path(elf.read(binary).interpreter).name
    files = {NAME: (0o755, _SCRIPT.format(loader=loader, name=NAME).encode()),
             f"lib/{NAME}": (0o755, root_file_system.stripped(binary, architecture)),
             "LICENSE": (0o644, (root / "LICENSE").read_bytes())}
    files |= {f"lib/{Path(path).name}": (0o755, packages.content(path)) for path in libraries}
    ordered = sorted(used, key=lambda each: each.name)
    files["packages.txt"] = (0o644, "".join(f"{each.name} {each['Version']} {each['Architecture']}\n" for each in ordered).encode())
    for each in (*ordered, *(packages.named(name) for name in _COMPILED_IN)):
        files[f"copyright/{each.name}"] = (0o644, each.copyright())
    return files, ordered


def _tar(files: dict, time: int) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for path, (mode, content) in sorted(files.items()):
            member = tarfile.TarInfo(path)
            member.mode, member.size, member.mtime = mode, len(content), time
            tar.addfile(member, io.BytesIO(content))
    return buffer.getvalue()
