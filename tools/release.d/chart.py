"""The Helm chart of a release, as `helm package` has it: without links, and the same file for the same commit.

Its images are in its annotation artifacthub.io/images, by digest. The templates read it; a tag or digest in somebody's values
comes first, and an upgrade that keeps old values keeps no old image.
"""

import fnmatch
import io
import re
import tarfile
from pathlib import Path

from failure import Failure
from gzipped import gzipped

NAME = "compute-domain-operator"


def write(root: Path, directory: Path, version: str, registry: str, images: list, time: int) -> None:
    files = _files(root / "manifests/helm" / NAME)
    files["Chart.yaml"] = _annotated(files["Chart.yaml"].decode(), images).encode()
    files["values.yaml"] = _with_registry(files["values.yaml"].decode(), registry).encode()
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as tar:
        # Helm reads Chart.yaml first.
        for path, content in sorted(files.items(), key=lambda item: (item[0] != "Chart.yaml", item[0])):
            member = tarfile.TarInfo(f"{NAME}/{path}")
            member.mode, member.size, member.mtime = 0o644, len(content), time
            tar.addfile(member, io.BytesIO(content))
    (directory / f"{NAME}-{version}.tgz").write_bytes(gzipped(buffer.getvalue()))


def _files(folder: Path) -> dict:
    """By path in the chart; what its links lead to in their place, and without what .helmignore names."""
    lines = (line.strip() for line in (folder / ".helmignore").read_text().splitlines())
    ignored = [line for line in lines if line and not line.startswith("#")]
    found = {}

    def read(path: Path, name: str) -> None:
        if any(fnmatch.fnmatch(path.name, pattern) for pattern in ignored):
            return
        if path.is_dir():
            for each in sorted(path.iterdir()):
                read(each, f"{name}/{each.name}" if name else each.name)
        else:
            found[name] = path.read_bytes()

    read(folder, "")
    return found


def _annotated(chart: str, images: list) -> str:
    """Under the chart's own annotations, which end it: a second `annotations:` would take their place."""
    _, found, own = chart.partition("\nannotations:\n")
    if not found or re.search(r"^\S", own, re.MULTILINE):
        raise Failure(f"Chart.yaml of {NAME} does not end with its annotations, to which those of the images are added")
    lines = ["  artifacthub.io/images: |"]
    for image in images:
        lines += [f"    - name: {image.program}", f"      image: {image.reference}", f"      platforms: [{', '.join(image.platforms)}]"]
    return chart + "\n".join(lines) + "\n"


def _with_registry(values: str, registry: str) -> str:
    changed, count = re.subn(r"^  registry: registry\.invalid$", f"  registry: {registry}", values, flags=re.MULTILINE)
    if count != 1:
        raise Failure("values.yaml of the chart has no line 'registry: registry.invalid'")
    return changed
