"""Nodes: all nodes of one cluster, with what they share: network, images, driver root, control groups."""

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Optional

from cgroup import Cgroup
from failure import Failure
from identity import Identities
from images import Images
from network import Network
from node import Node

_CGROUP_SECONDS = 10

API = "api"  # as what a node can be cut off from


class Nodes:
    def __init__(self, directory: Path, name: str, places: list, network: Network, driver_root: Optional[str]):
        """`name` is the cluster's, among all of this machine."""
        self._cgroup = Cgroup(name)
        self._cuts_file = directory / "cuts.json"
        self._slow_file = directory / "slow.json"
        self._no_driver = directory / "no-driver"
        self._driver_root = Path(driver_root or self._no_driver)
        self._images = Images(directory / "images")
        self._network = network
        self.all = [Node(place, directory / "nodes" / place.name, name) for place in places]

    def create(self, identities: Identities, port: int, feature_gates: tuple) -> None:
        """All files; `port` is the API server's, the gates are the kubelets'."""
        self._images.create()
        self._no_driver.mkdir()
        for node in self.all:
            node.files.create(identities, port, feature_gates)

    def named(self, name: str) -> Node:
        for node in self.all:
            if node.name == name:
                return node
        raise Failure(f"no node {name}: there are {', '.join(node.name for node in self.all) or 'none'}")

    def power_on(self, nodes: list, kubernetes: Path) -> None:
        for node in nodes:
            node.power_on(kubernetes, self._driver_root, self._images.directory)
        self._network.plug_in([(node.place, node.first_process()) for node in nodes])

    def power_off(self, node: Node) -> None:
        # First the cable, or the kernel would say goodbye for the node's programs.
        self._network.unplug(node.place)
        node.power_off()

    def end(self) -> None:
        _at_once(Node.power_off, self.all)
        self._cgroup.remove(_CGROUP_SECONDS)

    def load_image(self, file: Path) -> None:
        self._images.add(file)

        def load(node: Node) -> None:
            result = subprocess.run(node.command_line(["sh", "-eu", "/var/lib/compute-domain-images/load.sh"]),
                                    capture_output=True, text=True)
            if result.returncode != 0:
                raise Failure(f"{node.name} cannot load {file}: {result.stderr.strip()}")

        _at_once(load, [node for node in self.all if node.is_on()])

    def cuts(self) -> list:
        """Pairs of a node's name and what it is cut off from: "" (everything), API, or another node's name."""
        try:
            return [tuple(cut) for cut in json.loads(self._cuts_file.read_text())]
        except FileNotFoundError:
            return []

    def cut(self, node: Node, other: str) -> None:
        self._set_cuts(sorted({*self.cuts(), self._cut(node, other)}))

    def heal(self, node: Node, other: str) -> None:
        """Undoes that cut; with "", all of the node."""
        healed = self._cut(node, other)
        self._set_cuts([cut for cut in self.cuts() if cut != healed and not (other == "" and node.name in cut)])

    def slow_down(self, node: Node, is_slow: bool) -> None:
        """Its way to the API server."""
        slow = {*self._slow()} - {node.name} | ({node.name} if is_slow else set())
        self._network.set_rules(self.cuts(), sorted(slow))
        self._slow_file.write_text(json.dumps(sorted(slow)))

    def break_connections(self, node: Node) -> None:
        self._network.break_connections(node.place)

    def _slow(self) -> list:
        try:
            return json.loads(self._slow_file.read_text())
        except FileNotFoundError:
            return []

    def _cut(self, node: Node, other: str) -> tuple:
        if other in ("", API):
            return node.name, other
        if self.named(other) == node:
            raise Failure(f"{node.name} cannot be cut off from itself")
        return tuple(sorted((node.name, other)))

    def _set_cuts(self, cuts: list) -> None:
        self._network.set_rules(cuts, self._slow())
        self._cuts_file.write_text(json.dumps(cuts))


def _at_once(action, nodes: list) -> None:
    with ThreadPoolExecutor(max_workers=max(len(nodes), 1)) as threads:
        for _ in threads.map(action, nodes):
            pass
