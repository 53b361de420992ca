"""The documentation of a release: the pages, and manifests/ and crds/, which they have readers apply and name in kustomizations.

One folder, as in the repository, so that paths in alerts, values and messages, such as docs/troubleshooting.md, are paths there.
"""

import io
import tarfile
from pathlib import Path

from gzipped import gzipped

NAME = "compute-domain-operator"
# Of the repository: what the pages lead to, but for the tests that docs/reference/kubernetes.md counts.
FOLDERS = ("docs", "manifests", "crds")
FILES = ("README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "SECURITY.md", "bench/README.md",
         "kustomization.yaml", "src/sandbox/README.md")


def write(source: Path, directory: Path, version: str, time: int) -> None:
    """Of a source that has FOLDERS and FILES, as git knows them."""
    paths = [path for folder in FOLDERS for path in (source / folder).rglob("*") if path.is_symlink() or path.is_file()]
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for path in sorted([*paths, *(source / name for name in FILES)]):
            member = tarfile.TarInfo(f"{NAME}-{version}/{path.relative_to(source)}")
            member.mtime = time
            if path.is_symlink():  # of the chart, to manifests/ and crds/
                member.type, member.linkname, member.mode = tarfile.SYMTYPE, str(path.readlink()), 0o777
                tar.addfile(member)
            else:
                content = path.read_bytes()
                member.mode, member.size = 0o644, len(content)
                tar.addfile(member, io.BytesIO(content))
    (directory / f"{NAME}-{version}-docs.tar.gz").write_bytes(gzipped(buffer.getvalue()))
