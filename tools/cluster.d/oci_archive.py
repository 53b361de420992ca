"""OCI archives: container images in one file each, as `ctr images import` reads them (OCI image layout 1.0)."""

import hashlib
import io
import json
import platform
import tarfile
from pathlib import Path

_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


class Layer:
    """A file system, in memory. All files belong to root and are as old as the epoch: same content, same digest."""

    def __init__(self):
        self._buffer = io.BytesIO()
        self._tar = tarfile.open(fileobj=self._buffer, mode="w")

    def add_folder(self, path: str, mode: int = 0o755) -> None:
        entry = tarfile.TarInfo(path)
        entry.type, entry.mode = tarfile.DIRTYPE, mode
        self._tar.addfile(entry)

    def add_link(self, path: str, target: str) -> None:
        entry = tarfile.TarInfo(path)
        entry.type, entry.linkname = tarfile.SYMTYPE, target
        self._tar.addfile(entry)

    def add_file(self, path: str, content: bytes, mode: int = 0o644) -> None:
        entry = tarfile.TarInfo(path)
        entry.size, entry.mode = len(content), mode
        self._tar.addfile(entry, io.BytesIO(content))

    def content(self) -> bytes:
        """Nothing can be added any more."""
        self._tar.close()
        return self._buffer.getvalue()


def write(file: Path, names: list, layer: Layer, command: list) -> None:
    """One image of one layer, under several names ("docker.io/local/busybox:1")."""
    with tarfile.open(file, "w") as archive:
        blobs = _Blobs(archive)
        content = layer.content()
        platform_ = {"architecture": _ARCHITECTURES.get(platform.machine(), platform.machine()), "os": "linux"}
        config = {**platform_, "config": {"Entrypoint": command, "Env": ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"]},
                  "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(content).hexdigest()]}}
        manifest = {
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "config": blobs.add("application/vnd.oci.image.config.v1+json", json.dumps(config).encode()),
            "layers": [blobs.add("application/vnd.oci.image.layer.v1.tar", content)],
        }
        descriptor = blobs.add(manifest["mediaType"], json.dumps(manifest).encode())
        index = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": [
            {**descriptor, "platform": platform_, "annotations": {"io.containerd.image.name": name}} for name in names]}
        _add(archive, "oci-layout", json.dumps({"imageLayoutVersion": "1.0.0"}).encode())
        _add(archive, "index.json", json.dumps(index).encode())


class _Blobs:
    def __init__(self, archive: tarfile.TarFile):
        self._archive = archive

    def add(self, media_type: str, content: bytes) -> dict:
        """Its descriptor."""
        digest = hashlib.sha256(content).hexdigest()
        _add(self._archive, f"blobs/sha256/{digest}", content)
        return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": len(content)}


def _add(archive: tarfile.TarFile, path: str, content: bytes) -> None:
    entry = tarfile.TarInfo(path)
    entry.size = len(content)
    archive.addfile(entry, io.BytesIO(content))
