"""The files of an image: what the program needs to run, and nothing else."""

import subprocess
import tempfile
from pathlib import Path

import shared_libraries
from architectures import Architecture
from failure import Failure
from oci_archive import Entry
from programs import Program

_CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")

_PASSWD = """\
root:x:0:0:root:/root:/sbin/nologin
nonroot:x:65532:65532:nonroot:/nonexistent:/sbin/nologin
"""
_GROUP = "root:x:0:\nnonroot:x:65532:\n"


def of(program: Program, binary: Path, architecture: Architecture) -> dict:
    """Entries by path without the leading slash."""
    if not binary.is_file():
        raise Failure(f"{binary} is not there: {architecture.how_to_build} --target {program.name}")
    libraries = shared_libraries.of(binary, program.more_libraries, architecture)
    entries = {folder: Entry(0o755) for folder in ("dev", "proc", "run", "sys", "var")}
    entries["tmp"] = Entry(0o1777)
    entries["var/run"] = Entry(0o777, target="../run")
    entries["usr/sbin"] = Entry(0o755)
    entries["etc/passwd"] = _text(_PASSWD)
    entries["etc/group"] = _text(_GROUP)
    entries["etc/nsswitch.conf"] = _text(f"passwd: files\ngroup: files\nhosts: {program.host_names}\n")
    if program.speaks_tls:
        entries[str(_CERTIFICATES)[1:]] = Entry(0o644, content=_read(_CERTIFICATES))
    entries[f"usr/bin/{program.name}"] = Entry(0o755, content=_stripped(binary, architecture))
    for path, target in program.links:
        entries[path] = Entry(0o777, target=target)
    for path, library in libraries.items():
        entries[path] = Entry(0o755, content=_read(library))
    for path in list(entries):
        for folder in Path(path).parents:
            if folder != Path("."):
                entries.setdefault(str(folder), Entry(0o755))
    # As on Debian, so that programs find their interpreter.
    for folder in ("bin", "lib", "lib64", "sbin"):
        if f"usr/{folder}" in entries:
            entries[folder] = Entry(0o777, target=f"usr/{folder}")
    return entries


def _text(text: str) -> Entry:
    return Entry(0o644, content=text.encode())


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise Failure(f"{path} is not there: run tools/setup") from None


def _stripped(binary: Path, architecture: Architecture) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / binary.name
        try:
            result = subprocess.run([architecture.strip, "--strip-all", "-o", output, binary], capture_output=True, text=True)
        except FileNotFoundError:
            raise Failure(f"there is no {architecture.strip}: {architecture.how_to_build}") from None
        if result.returncode != 0:
            raise Failure(f"cannot strip {binary}: {result.stderr.strip()}")
        return output.read_bytes()
