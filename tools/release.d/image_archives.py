"""The images of a release: tools/image makes them, and what they are called from then on is a digest."""

import json
import os
import subprocess
import tarfile
from dataclasses import dataclass
from pathlib import Path

from failure import Failure
from programs import PROGRAMS
from source_date import VARIABLE


@dataclass(frozen=True)
class Image:
    program: str
    repository: str
    digest: str
    platforms: tuple

    @property
    def reference(self) -> str:
        return f"{self.repository}@{self.digest}"


def write(root: Path, directory: Path, version: str, registry: str, architectures: list, builds: list, commit: object) -> list:
    """The archives, the SPDX documents, and images.txt."""
    made = subprocess.run(
        [root / "tools/image", "--arch", ",".join(architectures), "--build", ",".join(map(str, builds)), "--output", directory,
         "--repository", registry, "--tag", version, "--revision", commit.name],
        capture_output=True, text=True, env=os.environ | {VARIABLE: str(commit.time)})
    if made.returncode != 0:
        raise Failure(made.stderr.strip().removeprefix("image: "))
    images = [Image(name, f"{registry}/{name}", _digest(directory / f"{name}.tar"), tuple(f"linux/{each}" for each in architectures))
              for name in PROGRAMS]
    (directory / "images.txt").write_text("".join(f"{image.reference}\n" for image in images))
    return images


def _digest(archive: Path) -> str:
    with tarfile.open(archive) as tar:
        [descriptor] = json.load(tar.extractfile("index.json"))["manifests"]
    return descriptor["digest"]
