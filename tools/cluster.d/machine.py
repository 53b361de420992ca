"""What this machine has to offer for nodes, and running its programs."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from failure import Failure
from ip_family import IpFamily

CNI_PLUGINS = Path("/usr/lib/cni")

_PROGRAMS = ["busybox", "ip", "nft", "nsenter", "runc", "unshare"]
# Each kubelet and each containerd has some; the kernel's default is 128 for all of root's programs together.
_INOTIFY_INSTANCES = 4096
_INOTIFY_SETTING = Path("/proc/sys/fs/inotify/max_user_instances")


def require_support_for_nodes(family: IpFamily) -> None:
    if os.geteuid() != 0:
        raise Failure("nodes are made of namespaces, mounts and control groups: --nodes needs root")
    missing = [program for program in _PROGRAMS if shutil.which(program) is None]
    missing += [str(path) for path in (CNI_PLUGINS / "bridge", CNI_PLUGINS / "host-local") if not path.exists()]
    if missing:
        raise Failure(f"there is no {', no '.join(missing)}: run tools/setup --cluster")
    if not family.forwarding.exists():
        raise Failure(f"the kernel has no {family.forwarding}: use another --ip-family")
    if int(_INOTIFY_SETTING.read_text()) < _INOTIFY_INSTANCES:
        print(f"cluster: sets fs.inotify.max_user_instances to {_INOTIFY_INSTANCES}", file=sys.stderr, flush=True)
        _INOTIFY_SETTING.write_text(str(_INOTIFY_INSTANCES))


def run(*argv, text: str = "") -> str:
    """The program's output; `text` is its input."""
    result = subprocess.run([str(word) for word in argv], input=text, capture_output=True, text=True)
    if result.returncode != 0:
        raise Failure(f"{' '.join(str(word) for word in argv)}: {result.stderr.strip()}")
    return result.stdout
