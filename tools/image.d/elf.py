"""Elf: what a program or shared library says of itself, by readelf, which reads those of every architecture."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from failure import Failure


@dataclass(frozen=True)
class Elf:
    machine: str
    needed: tuple  # the names of shared libraries
    interpreter: Optional[str]  # the path of the loader; of a program only
    run_path: Optional[str]  # where else to look for libraries


def read(path: Path) -> Elf:
    result = subprocess.run(["readelf", "--wide", "--file-header", "--program-headers", "--dynamic", path],
                            capture_output=True, text=True, env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"})
    machine = _found(r"^\s+Machine:\s+(.+?)\s*$", result.stdout)
    if result.returncode != 0 or not machine:
        raise Failure(f"{path} is no program and no library: {result.stderr.strip()}")
    return Elf(machine, tuple(re.findall(r"\(NEEDED\)\s+Shared library: \[(.+)\]", result.stdout)),
               _found(r"Requesting program interpreter: (.+)\]", result.stdout),
               _found(r"\((?:RPATH|RUNPATH)\)\s+Library \w+: \[(.*)\]", result.stdout))


def _found(pattern: str, text: str) -> Optional[str]:
    found = re.search(pattern, text, re.MULTILINE)
    return found[1] if found else None
