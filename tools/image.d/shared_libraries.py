"""The shared libraries of a program, as this machine's loader finds them."""

import re
import subprocess
from pathlib import Path

from failure import Failure


def of(binary: Path, more: tuple) -> dict:
    """Where they belong in the image (without the leading slash), and where they lie here.

    Named as the loader looks for them. `more` lies where the C library lies, or the compiler's.
    """
    libraries = {}
    for line in _ldd(binary).splitlines():
        # "libc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x…)", or the loader alone: "/lib64/ld-linux-x86-64.so.2 (0x…)".
        found = re.fullmatch(r"\s*(?:(\S+) => )?(/\S+) \(0x[0-9a-f]+\)", line)
        if found:
            name, path = found[1] or found[2], Path(found[2])
            libraries[_place(Path(found[2]).parent / Path(name).name)] = path
        elif "not found" in line:
            raise Failure(f"{binary}: {line.strip()}")
    c_library = next((path for path in libraries.values() if path.name == "libc.so.6"), None)
    if c_library is None:
        raise Failure(f"{binary} is not linked with libc.so.6")
    for name in more:
        path = c_library.parent / name
        if not path.exists():
            raise Failure(f"there is no {name} beside {c_library}")
        libraries[_place(path)] = path
    return libraries


def _place(path: Path) -> str:
    """On Debian /lib and /lib64 are links to those below /usr."""
    text = str(path)
    return text[1:] if text.startswith("/usr/") else f"usr{text}"


def _ldd(binary: Path) -> str:
    result = subprocess.run(["ldd", binary], capture_output=True, text=True, env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"})
    if result.returncode != 0:
        raise Failure(f"ldd {binary}: {(result.stdout + result.stderr).strip()}")
    return result.stdout
