"""Cgroup: the control group of one name, in every hierarchy that this machine has; of version 1 or 2."""

import os
import signal
import time
from pathlib import Path

from failure import Failure

_LEAF = "init"
_POLL_SECONDS = 0.02


class Cgroup:
    def __init__(self, name: str):
        """`name` is a relative path."""
        self._name = name

    def create(self) -> None:
        for root, version in _hierarchies():
            group = root
            for part in Path(self._name).parts:
                if version == 2:
                    _enable_controllers(group)
                parent, group = group, group / part
                group.mkdir(exist_ok=True)
                # Nothing can enter one whose processors and memory nobody has named.
                for file in ("cpuset.cpus", "cpuset.mems"):
                    if version == 1 and (group / file).exists() and not (group / file).read_text().strip():
                        (group / file).write_text((parent / file).read_text())
            if version == 2:
                (group / _LEAF).mkdir(exist_ok=True)

    def enter(self) -> None:
        """Of the calling process."""
        for root, _ in _hierarchies():
            (root / self._name / "cgroup.procs").write_text("0")

    def leaves(self) -> list:
        """Files by which a process enters a group below this one where this one must not have processes itself."""
        return [root / self._name / _LEAF / "cgroup.procs" for root, version in _hierarchies() if version == 2]

    def remove(self, timeout: float) -> None:
        """With all below, and all processes in it."""
        deadline = time.monotonic() + timeout
        for group in [root / self._name for root, _ in _hierarchies()]:
            while not _is_removed(group):
                if time.monotonic() > deadline:
                    raise Failure(f"the control group {group} cannot be removed: processes {_processes(group)}")
                for pid in _processes(group):
                    _kill(pid)
                time.sleep(_POLL_SECONDS)


def _hierarchies() -> list:
    """Pairs of a mount point and the version."""
    result = []
    for line in Path("/proc/self/mounts").read_text().splitlines():
        _, mount_point, kind, *_ = line.split()
        if kind in ("cgroup", "cgroup2") and Path("/sys/fs/cgroup") in (Path(mount_point), Path(mount_point).parent):
            result.append((Path(mount_point), 2 if kind == "cgroup2" else 1))
    return result


def _enable_controllers(group: Path) -> None:
    for controller in (group / "cgroup.controllers").read_text().split():
        try:
            (group / "cgroup.subtree_control").write_text(f"+{controller}")
        except OSError:
            # One that is not ours to give; the kubelet says which of them it cannot do without.
            pass


def _processes(group: Path) -> list:
    result = []
    for folder, _, _ in os.walk(group):
        try:
            result += [int(pid) for pid in Path(folder, "cgroup.procs").read_text().split()]
        except OSError:
            pass
    return result


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def _is_removed(group: Path) -> bool:
    for folder, _, _ in os.walk(group, topdown=False):
        try:
            os.rmdir(folder)
        except OSError:
            pass
    return not group.exists()
