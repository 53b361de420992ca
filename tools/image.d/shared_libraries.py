"""The shared libraries of a program: what it names, what these name, and so on, as Debian's loader would find them.

Read and not run: the program may be another architecture's, and what this machine's loader prefers for its own processor
(glibc-hwcaps) does not belong in an image.
"""

from pathlib import Path

import elf
from architectures import Architecture
from debian_packages import in_image
from failure import Failure


def of(binary: Path, more: tuple, architecture: Architecture) -> dict:
    """Where they belong in the image (without the leading slash), and where they lie here.

    Named as the loader looks for them. `more` are names of libraries that are needed besides.
    """
    program = _read(binary, architecture)
    if program.interpreter is None:
        raise Failure(f"{binary} is not linked with any shared library")
    # The loader is a library too: who names it has it already.
    found = {Path(program.interpreter).name: program.interpreter}
    missing = [(name, binary) for name in (*program.needed, *more)]
    while missing:
        name, who = missing.pop()
        if name not in found:
            found[name] = _find(name, who, architecture)
            missing += [(other, name) for other in _read(_here(found[name], architecture), architecture).needed]
    return {in_image(path): _here(path, architecture) for path in found.values()}


def _find(name: str, who: object, architecture: Architecture) -> str:
    for folder in (f"/lib/{architecture.triplet}", f"/usr/lib/{architecture.triplet}", "/lib", "/usr/lib"):
        path = f"{folder}/{name}"
        if _here(path, architecture).exists():
            return path
    raise Failure(f"{name}, which {who} needs, is not below {architecture.root}: run tools/setup")


def _read(path: Path, architecture: Architecture) -> elf.Elf:
    read = elf.read(path)
    if read.machine != architecture.elf:
        raise Failure(f"{path} is for {read.machine}, and the image for {architecture.name}")
    if read.run_path is not None:
        raise Failure(f"{path} looks for libraries in {read.run_path}, which is not looked at here")
    return read


def _here(path: str, architecture: Architecture) -> Path:
    return architecture.root / path.lstrip("/")
