"""Node: a machine made of namespaces, with a real containerd and a real kubelet, whose power can be cut.

How it goes:
1. power_on() starts the first process in new namespaces (network, mount, PID, UTS, IPC, cgroup). It mounts what a
   machine has of its own and waits for the network (node-boot.sh).
2. Network.plug_in() lays the cable. The first process starts containerd, loads the images and starts the kubelet.
3. power_off() kills the first process. The kernel then ends all others in its PID namespace, and with them go mounts
   and network.

What lies on disk outlives a boot: the kubelet's and containerd's folders, and what is written below /etc and /var/lib.
"""

import time
from pathlib import Path
from typing import Optional

import containerd_programs
from cgroup import Cgroup
from failure import Failure
from node_files import FOLDERS, OVERLAYS, NodeFiles
from process import Process
from rack import Place

# Enters control groups, by the files that are named before "--", and becomes the rest.
_ENTER = 'while [ "$1" != -- ]; do echo 0 >"$1"; shift; done; shift; exec "$@"'
_BOOT_SCRIPT = Path(__file__).resolve().parent / "node-boot.sh"
_FIRST_PROCESS_SECONDS = 30
_KILL_SECONDS = 10

LOGS = ["boot", "containerd", "kubelet"]


class Node:
    def __init__(self, place: Place, directory: Path, cgroup: str):
        self.place = place
        self.directory = directory
        self.files = NodeFiles(directory, place)
        self._cgroup = Cgroup(f"{cgroup}/{place.name}")
        self._process = Process(directory / "first.pid")

    @property
    def name(self) -> str:
        return self.place.name

    def power_on(self, kubernetes: Path, driver_root: Path, images: Path) -> None:
        """Its first process runs, and waits for a network."""
        self.files.write_new_boot_id()
        self._cgroup.remove(_KILL_SECONDS)
        self._cgroup.create()
        environment = {
            "PATH": containerd_programs.search_path(),
            "OVERLAYS": " ".join(OVERLAYS),
            "FOLDERS": " ".join(FOLDERS),
            "NAME": self.name,
            "ADDRESS": self.place.address,
            "ADDRESS_OPTIONS": self.place.family.address_options,
            "GATEWAY": self.place.family.gateway,
            "EVERYWHERE": self.place.family.everywhere,
            "FORWARDING": self.place.family.forwarding,
            "DRIVER_ROOT": driver_root,
            "IMAGES": images,
        }
        kubelet = [
            kubernetes, "kubelet", "--config=/etc/kubernetes/kubelet.yaml",
            "--kubeconfig=/etc/kubernetes/kubelet.kubeconfig", f"--node-ip={self.place.address}",
            "--node-labels=" + ",".join(f"{name}={value}" for name, value in self.place.labels.items())]
        self._process.start(
            ["env", "-i", *(f"{name}={value}" for name, value in environment.items()),
             "unshare", "--cgroup", "sh", "-euc", _ENTER, "sh", *self._cgroup.leaves(), "--",
             "unshare", "--mount", "--uts", "--ipc", "--net", "--pid", "--fork", "--kill-child", "--mount-proc",
             "sh", "-eu", _BOOT_SCRIPT, *kubelet],
            log=self.log("boot"), cwd=self.directory, prepare=self._cgroup.enter)

    def power_off(self) -> None:
        """Nothing of it runs any more. No effect when it is off."""
        if not self._process.kill(_KILL_SECONDS, with_children=True):
            raise Failure(f"{self.name}: process {self._process.pid()} does not end")
        self._process.forget()
        self._cgroup.remove(_KILL_SECONDS)

    def is_on(self) -> bool:
        return self._process.pid() is not None

    def has_ended(self) -> bool:
        """Whether it is off although nobody has switched it off."""
        return self._process.has_ended()

    def first_process(self) -> int:
        """That of its PID namespace, as this machine sees it."""
        deadline = time.monotonic() + _FIRST_PROCESS_SECONDS
        while True:
            children = self._process.children()
            if children:
                return children[0]
            if not self.is_on() or time.monotonic() > deadline:
                raise Failure(f"{self.name} is off; the end of its log:\n{self.log_tail('boot')}")
            time.sleep(0.01)

    def command_line(self, argv: list) -> list:
        """That which runs `argv` on the node."""
        return ["nsenter", f"--target={self.first_process()}", "--mount", "--uts", "--ipc", "--net", "--pid",
                "--cgroup", "env", f"PATH={containerd_programs.search_path()}", *argv]

    def boot_id(self) -> Optional[str]:
        """Of the boot that it is in; None when it is off."""
        return self.files.boot_id.read_text().strip() if self.is_on() else None

    def log(self, name: str) -> Path:
        return self.directory / f"{name}.log"

    def log_tail(self, name: str, lines: int = 20) -> str:
        try:
            return "\n".join(self.log(name).read_text(errors="replace").splitlines()[-lines:])
        except FileNotFoundError:
            return ""

