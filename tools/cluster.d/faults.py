"""Faults: obeys annotations on Nodes and Pods as faults of machines, as compute-domain-sandbox does.

How it goes:
1. A watch of Nodes and one of Pods tell which object has which value of the annotation. A Pod's means the node on which
   it runs. Several faults are separated by commas; a name that is none is told by an Event, with those that are.
2. What a node is to suffer is what all of these ask together. A fault that is new there strikes; one that nobody asks
   for any more heals.

What can be seen of a fault is the sandbox's (include/compute_domain/sandbox/cluster.h), but for the ways to the API
server, which are here ways of packets, and for imex-cut and imex-split, which drop all that goes from node to node.
"""

import contextlib
import itertools
import os
import queue
import signal
import subprocess
import threading
from datetime import datetime, timezone
from typing import Callable, Iterator

from administrator import Administrator
from failure import Failure
from watch import ObjectGone, Watch

ANNOTATION = "sandbox.compute-domain/fault"
NAMES = ("power-off", "imex-kill", "imex-hang", "agent-crash", "partition", "slow-api", "watch-cut", "imex-cut",
         "imex-split")

_DAEMON = "-x nvidia-imex"
_AGENT = "-f [b]in/compute-domain-agent"  # and not the shell that looks for it
# What goes on until it is healed, or has happened: on the node, and with it.
_LOOPS = {
    # Where none runs, the next one.
    "imex-kill": f"until pkill -KILL {_DAEMON}; do sleep 0.01; done",
    "imex-hang": f"until pkill -STOP {_DAEMON}; do sleep 0.01; done",
    # Kubelet starts it again, and again.
    "agent-crash": f"while :; do pkill -KILL {_AGENT} || true; sleep 0.05; done",
}
_BETWEEN_NODES = {"imex-cut", "imex-split"}
_PATIENCE_SECONDS = 120


class MachineFaults:
    """What faults do to the nodes of a cluster. One thread."""

    def __init__(self, cluster):
        self._cluster = cluster
        self._loops = {}  # (node, fault) -> the process
        self._parted = set()  # pairs of nodes

    def strike(self, node: str, fault: str) -> None:
        if fault == "power-off":
            self._cluster.kill(node)
        elif fault == "partition":
            self._cluster.cut(node, "")
        elif fault == "slow-api":
            self._cluster.slow_down(node, True)
        elif fault == "watch-cut":
            self._cluster.break_connections(node)
        elif fault not in _BETWEEN_NODES:
            self._loops[node, fault] = subprocess.Popen(
                self._cluster.command_line_on_node(node, ["sh", "-c", _LOOPS[fault]]),
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True)

    def heal(self, node: str, fault: str) -> None:
        loop = self._loops.pop((node, fault), None)
        if loop is not None:
            # The shell is a child of what has entered the node for it.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(loop.pid, signal.SIGKILL)
            loop.wait()
        if fault == "power-off":
            self._cluster.reboot(node, False, _PATIENCE_SECONDS)
        elif fault == "partition":
            self._cluster.heal(node, "")
        elif fault == "slow-api":
            self._cluster.slow_down(node, False)
        elif fault == "imex-hang":
            subprocess.run(self._cluster.command_line_on_node(node, ["pkill", "-CONT", "-x", "nvidia-imex"]))

    def part(self, pairs: set) -> None:
        """These do not reach each other, and all other pairs do. Also after a partition, whose end heals all of its node."""
        healed = self._parted - pairs
        self._parted |= pairs  # where this fails, the next change heals also what was not to be
        for pair in sorted(healed):
            self._cluster.heal(*pair)
        for pair in sorted(pairs - self._cluster.parted()):
            self._cluster.cut(*pair)
        self._parted = pairs


class Faults:
    def __init__(self, machines: MachineFaults, nodes: set, tell: Callable[[dict, str], None]):
        """`nodes`: their names. `tell` makes an Event about an object."""
        self._machines = machines
        self._nodes = nodes
        self._tell = tell
        self._asked = {}  # key of the annotated object -> node, faults
        self._told = {}  # key -> what of its annotation is none

    def obey(self, events: Iterator) -> None:
        """As long as there are any: objects as they are now, and ObjectGone."""
        for event in events:
            if isinstance(event, ObjectGone):
                self._told.pop(event.key, None)
                # Deleting its Node does not give a dark machine its power back.
                if event.key[0] != "Node":
                    self._ask(event.key, None, frozenset())
            else:
                self._see(event)

    def _see(self, each: dict) -> None:
        meta = each["metadata"]
        key = (each["kind"], meta.get("namespace", ""), meta["name"])
        names = [name.strip() for name in meta.get("annotations", {}).get(ANNOTATION, "").split(",")]
        unknown = [name for name in names if name and name not in NAMES]
        if unknown and self._told.get(key) != unknown:
            self._tell(each, f"annotation {ANNOTATION}: there is no fault " +
                       ", ".join(f'"{name}"' for name in unknown) + f"; the known ones are {', '.join(NAMES)}")
        self._told[key] = unknown
        node = meta["name"] if each["kind"] == "Node" else each["spec"].get("nodeName")
        self._ask(key, node, frozenset(names) & set(NAMES))

    def _ask(self, key: tuple, node, faults: frozenset) -> None:
        before = self._asked.get(key)
        if before and before[0] != node and faults:
            self._ask(key, before[0], frozenset())  # another pod of that name
            before = None
        where = before[0] if before else node
        if where not in self._nodes or (not before and not faults):
            return
        had = self._wanted(where)
        if faults:
            self._asked[key] = (where, faults)
        else:
            del self._asked[key]
        has = self._wanted(where)
        for fault in NAMES:
            if fault in has - had:
                self._act(self._machines.strike, where, fault)
            if fault in had - has:
                self._act(self._machines.heal, where, fault)
        if (had ^ has) & _BETWEEN_NODES or "partition" in had - has:
            self._part()

    def _part(self) -> None:
        faults = {node: self._wanted(node) for node in self._nodes}
        pairs = {(one, other) for one, other in itertools.combinations(sorted(self._nodes), 2)
                 if "imex-cut" in faults[one] | faults[other] or ("imex-split" in faults[one]) != ("imex-split" in faults[other])}
        try:
            self._machines.part(pairs)
        except Failure as failure:
            print(f"{_now()} {failure}", flush=True)

    def _wanted(self, node: str) -> set:
        return {fault for where, faults in self._asked.values() if where == node for fault in faults}

    @staticmethod
    def _act(action, node: str, fault: str) -> None:
        print(f"{_now()} {action.__name__} {node} {fault}", flush=True)
        try:
            action(node, fault)
        except Failure as failure:
            print(f"{_now()} {failure}", flush=True)


def obey_annotations(cluster, nodes: set, administrator: Administrator) -> None:
    """Until the process ends."""
    events = queue.Queue()
    for path, kind in (("/api/v1/nodes", "Node"), ("/api/v1/pods", "Pod")):
        threading.Thread(target=Watch(administrator, path, kind).run, args=(events.put,), daemon=True).start()
    faults = Faults(MachineFaults(cluster), nodes, lambda each, message: _tell(administrator, each, message))
    faults.obey(iter(events.get, None))


def _tell(administrator: Administrator, each: dict, message: str) -> None:
    meta, now = each["metadata"], _now()
    namespace = meta.get("namespace", "default")
    administrator.post(f"/api/v1/namespaces/{namespace}/events", {
        "metadata": {"name": f"{meta['name']}.unknown-fault.{meta['resourceVersion']}", "namespace": namespace},
        "involvedObject": {"kind": each["kind"], "apiVersion": "v1", "namespace": meta.get("namespace", ""),
                           "name": meta["name"], "uid": meta["uid"]},
        "reason": "UnknownFault", "message": message, "type": "Warning", "count": 1,
        "firstTimestamp": now, "lastTimestamp": now, "source": {"component": "cluster"},
    })


def _now() -> str:
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
