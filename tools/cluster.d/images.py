"""Images: the container images of all nodes of one cluster.

Archives lie in one folder, numbered in their order, which every node sees. A node loads those that it has not, when it
boots and when it is told (load-images.sh).
"""

import shutil
import tarfile
from pathlib import Path

import machine
import oci_archive
from failure import Failure
from oci_archive import Entry

_LOAD_SCRIPT = Path(__file__).resolve().parent / "load-images.sh"

# What the kubelet needs to start any pod, and what a test's pod can do its work with.
# The last one is what "busybox" means without a registry.
_BASE_NAMES = ["docker.io/local/pause:1", "docker.io/local/busybox:1", "docker.io/library/busybox:latest"]
_BUSYBOX = Path("/bin/busybox")


class Images:
    def __init__(self, directory: Path):
        self.directory = directory

    def create(self) -> None:
        self.directory.mkdir()
        shutil.copy(_LOAD_SCRIPT, self.directory / "load.sh")
        entries = {folder: Entry(0o755) for folder in ("bin", "etc", "root", "proc", "sys", "dev")}
        entries["tmp"] = Entry(0o1777)
        entries["etc/passwd"] = Entry(0o644, content=b"root:x:0:0:root:/root:/bin/sh\n")
        entries["etc/group"] = Entry(0o644, content=b"root:x:0:\n")
        for name in machine.run(_BUSYBOX, "--list").split():
            entries[f"bin/{name}"] = Entry(0o777, target="busybox")
        entries["bin/busybox"] = Entry(0o755, content=_BUSYBOX.read_bytes())
        settings = {"Entrypoint": ["/bin/sleep", "2147483647"], "Env": ["PATH=/bin"], "WorkingDir": "/"}
        oci_archive.write(self._next(), _BASE_NAMES, entries, settings, labels={})

    def add(self, file: Path) -> None:
        try:
            with tarfile.open(file) as archive:
                if not {"index.json", "manifest.json"} & set(archive.getnames()):
                    raise Failure(f"{file} is no image archive (OCI or Docker)")
        except (OSError, tarfile.TarError) as error:
            raise Failure(f"{file} cannot be read as an image archive: {error}") from None
        unfinished = self.directory / "unfinished"
        shutil.copy(file, unfinished)
        unfinished.rename(self._next())

    def _next(self) -> Path:
        return self.directory / f"{len(list(self.directory.glob('*.tar'))):04}.tar"
