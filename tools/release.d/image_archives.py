"""The images of a release: tools/image makes them, and what they are called from then on is a digest."""

import json
import os
import re
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
    for name in PROGRAMS:
        documents = {each: json.loads((directory / f"{name}-{each}.spdx.json").read_text()) for each in architectures}
        if differences := different_versions(documents):
            raise Failure(f"the images of {name} would not be the same for each architecture: {'; '.join(differences)}; upgrade this "
                          "machine's packages, make the sysroot again (rm -rf build/arm64-sysroot; tools/setup --arm64), and build")
    images = [Image(name, f"{registry}/{name}", _digest(directory / f"{name}.tar"), tuple(f"linux/{each}" for each in architectures))
              for name in PROGRAMS]
    (directory / "images.txt").write_text("".join(f"{image.reference}\n" for image in images))
    return images


def different_versions(documents: dict) -> list:
    """Of the Debian packages in bills of materials, by architecture. One that was only built again (+b1) has the same source."""
    found = {}  # by package, then by architecture
    for architecture, document in documents.items():
        for package in document["packages"]:
            if package["SPDXID"].startswith("SPDXRef-deb-"):
                found.setdefault(package["name"], {})[architecture] = re.sub(r"\+b\d+$", "", package["versionInfo"])
    return [f"{name} is " + " and ".join(f"{version} for {architecture}" for architecture, version in versions.items())
            for name, versions in sorted(found.items()) if len(set(versions.values())) > 1]


def _digest(archive: Path) -> str:
    with tarfile.open(archive) as tar:
        [descriptor] = json.load(tar.extractfile("index.json"))["manifests"]
    return descriptor["digest"]
