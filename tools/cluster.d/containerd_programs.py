"""containerd, its shim and its client."""

import re
from pathlib import Path

from go_build import HERE, GoBuild

_MODULE = "github.com/containerd/containerd/v2"
_SOURCE = HERE / "go-containerd"


_PROGRAMS = ("containerd", "containerd-shim-runc-v2", "ctr")
_SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def search_path() -> str:
    """PATH with them in it."""
    return f"{path()}:{_SYSTEM_PATH}"


def path() -> Path:
    """The folder that they lie in, after building them if need be."""
    version = re.search(rf"{_MODULE} (v\S+)", (_SOURCE / "go.mod").read_text()).group(1)
    return GoBuild(name="containerd", version=version, source=_SOURCE, files=("go.mod", "go.sum"),
                   flags=("-tags=no_btrfs,no_devmapper,no_zfs,netgo,osusergo",
                          "-ldflags", f"-s -w -X {_MODULE}/version.Version={version}"),
                   packages={name: f"{_MODULE}/cmd/{name}" for name in _PROGRAMS},
                   minutes=1).path()
