"""Checksums of a release's files, and a signature of the checksums by cosign, which is the user's program."""

import hashlib
import shutil
import subprocess
from pathlib import Path

from failure import Failure

SUMS = "SHA256SUMS"
BUNDLE = f"{SUMS}.sigstore.json"


def must_be_possible(key: Path) -> None:
    if not key.is_file():
        raise Failure(f"--cosign-key: there is no file {key}")
    if not shutil.which("cosign"):
        raise Failure("--cosign-key takes the program cosign, and there is none on PATH")


def write_sums(directory: Path) -> None:
    """As `sha256sum --check` reads it."""
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(directory.iterdir())]
    (directory / SUMS).write_text("".join(lines))


def sign(directory: Path, key: Path) -> None:
    """cosign asks at the terminal for the key's password, unless COSIGN_PASSWORD has it."""
    signed = subprocess.run(["cosign", "sign-blob", "--yes", "--key", key.resolve(), "--bundle", BUNDLE, SUMS], cwd=directory,
                            stdout=subprocess.DEVNULL)
    if signed.returncode != 0 or not (directory / BUNDLE).exists():
        raise Failure(f"cosign could not sign {SUMS} with {key} (exit code {signed.returncode}): see above")
