"""An OCI image layout in a tar file: one layer for each architecture, and what a container runtime has to know of it.

Image Format Specification 1.1. Everything is in a fixed order, all files are of the beginning of 1970, and nothing is of
now, so that the same files make the same digest.
"""

import hashlib
import io
import json
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

import architectures
from gzipped import gzipped

_MEDIA = "application/vnd.oci.image"
_INDEX = f"{_MEDIA}.index.v1+json"


@dataclass(frozen=True)
class Entry:
    """A file (content), a symbolic link (target) or else a folder."""

    mode: int
    content: Optional[bytes] = None
    target: Optional[str] = None


@dataclass(frozen=True)
class Image:
    """`entries` by path without the leading slash; `settings` as in the specification's "config": Entrypoint, Env, …"""

    entries: dict
    settings: dict
    labels: dict
    architecture: str  # as Go calls it
    created: str = "1970-01-01T00:00:00Z"


def write(path: Path, names: list, entries: dict, settings: dict, labels: dict, architecture: str = "") -> tuple:
    """One image with all `names`: its digest, and the size of its layer as it travels.

    `architecture` is this machine's when it is not told.
    """
    return write_all(path, names, [Image(entries, settings, labels, architecture or architectures.native().name)])


def write_all(path: Path, names: list, images: list) -> tuple:
    """The digest of what the `names` are, and the size of all layers as they travel.

    That is the image's manifest, or of several, each for another architecture, an index of their manifests.
    """
    blobs = {}
    added = [_add_image(blobs, image) for image in images]
    descriptor = added[0][0]
    if len(added) > 1:
        descriptor = _add(blobs, _index([manifest for manifest, _ in added], annotations=images[0].labels), _INDEX)
    files = {
        "oci-layout": _json({"imageLayoutVersion": "1.0.0"}),
        "index.json": _index([{**descriptor, "annotations": {
            "io.containerd.image.name": name, "org.opencontainers.image.ref.name": name.rpartition(":")[2]}}
            for name in names]),
    }
    files |= {f"blobs/sha256/{digest.removeprefix('sha256:')}": blob for digest, blob in blobs.items()}
    _write_tar(path, files)
    return descriptor["digest"], sum(size for _, size in added)


def _add_image(blobs: dict, image: Image) -> tuple:
    """The descriptor of its manifest, and the size of its layer."""
    plain = _layer(image.entries)
    layer = gzipped(plain)
    config = _json({
        "architecture": image.architecture,
        "config": {**image.settings, "Labels": image.labels},
        "created": image.created,
        "history": [{"created": image.created, "created_by": "tools/image"}],
        "os": "linux",
        "rootfs": {"type": "layers", "diff_ids": [_digest(plain)]},
    })
    manifest = _json({
        "schemaVersion": 2,
        "mediaType": f"{_MEDIA}.manifest.v1+json",
        "annotations": image.labels,
        "config": _add(blobs, config, f"{_MEDIA}.config.v1+json"),
        "layers": [_add(blobs, layer, f"{_MEDIA}.layer.v1.tar+gzip")],
    })
    descriptor = _add(blobs, manifest, f"{_MEDIA}.manifest.v1+json")
    return {**descriptor, "platform": {"architecture": image.architecture, "os": "linux"}}, len(layer)


def _index(manifests: list, **more: dict) -> bytes:
    return _json({"schemaVersion": 2, "mediaType": _INDEX, "manifests": manifests, **more})


def _layer(entries: dict) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for path, entry in sorted(entries.items()):
            member = tarfile.TarInfo(path)
            member.mode = entry.mode
            if entry.content is not None:
                member.size = len(entry.content)
                tar.addfile(member, io.BytesIO(entry.content))
                continue
            member.type = tarfile.SYMTYPE if entry.target else tarfile.DIRTYPE
            member.linkname = entry.target or ""
            tar.addfile(member)
    return buffer.getvalue()


def _write_tar(path: Path, files: dict) -> None:
    unfinished = path.with_name(path.name + ".new")
    with tarfile.open(unfinished, mode="w", format=tarfile.GNU_FORMAT) as tar:
        # Not every reader makes the folders that a file lies in: syft does not.
        for folder in ("blobs", "blobs/sha256"):
            member = tarfile.TarInfo(folder)
            member.type, member.mode = tarfile.DIRTYPE, 0o755
            tar.addfile(member)
        for name, content in sorted(files.items()):
            member = tarfile.TarInfo(name)
            member.mode = 0o644
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    unfinished.rename(path)


def _add(blobs: dict, content: bytes, media_type: str) -> dict:
    digest = _digest(content)
    blobs[digest] = content
    return {"mediaType": media_type, "digest": digest, "size": len(content)}


def _digest(content: bytes) -> str:
    return "sha256:" + hashlib.sha256(content).hexdigest()


def _json(value: dict) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
