"""Cluster: one control plane, and the nodes that it has, from up to down.

One of which a part has died is not repaired but replaced; a node that was switched off has not died. Beside its nodes
runs a process of ours that obeys annotations as faults of them (faults.py).
"""

import contextlib
import dataclasses
import hashlib
import json
import os
import shlex
import sys
import time
from pathlib import Path
from typing import Optional

import containerd_programs
import kubernetes_binary
import machine
import ports
from administrator import Administrator
from control_plane import COMPONENTS, PORTS, SERVERS, USUAL_PORTS, ControlPlane, Options
from directory import Directory
from failure import Failure
from faults import obey_annotations
from network import Network
from node import LOGS
from nodes import Nodes
from process import Process
from readiness import Prober

_KILL_SECONDS = 10
_POLL_SECONDS = 0.1
_LOG_TAIL_LINES = 20
_PROGRAM = Path(__file__).resolve().parent.parent / "cluster"
_FAULTS = "faults"  # the process that obeys annotations


class Cluster:
    def __init__(self, path: Path):
        self._directory = Directory(path)

    def up(self, options: Options, timeout: float) -> None:
        if options.nodes > 0:
            machine.require_support_for_nodes(options.family())
            containerd_programs.path()
        binary = kubernetes_binary.path(options.kubernetes())
        deadline = time.monotonic() + timeout
        with self._directory.locked(create=True):
            if self._is_running():
                self._require_options(options)
                self._wait_until_ready(deadline)
            else:
                self._kill_all()
                self._directory.clear()
                self._start(binary, options, deadline)
            if file := os.environ.get("CDOM_RUNS"):
                self._record(Path(file), os.environ.get("CDOM_TEST", ""), deadline)
            print(f"ready: KUBECONFIG={self._kubeconfig()}")

    def restart(self, component: str, timeout: float) -> None:
        """Killed and started; until all that runs is ready."""
        deadline = time.monotonic() + timeout
        with self._directory.locked(create=False):
            self._require_running()
            if not self._process(component).kill(_KILL_SECONDS):
                raise Failure(f"{component} (process {self._process(component).pid()}) does not end")
            self._run(kubernetes_binary.path(self._options().kubernetes()), [component])
            self._wait_for_apiserver(deadline)
            self._wait_until_ready(deadline)

    def down(self) -> None:
        with self._directory.locked(create=False) as exists:
            if exists:
                self._kill_all()
                self._directory.remove()

    def print_status(self) -> bool:
        """Whether all components run."""
        if self._directory.state() is None:
            print(f"no cluster in {self._directory.path}")
            return False
        control_plane = self._control_plane()
        print(f"directory:   {self._directory.path}")
        print(f"kubernetes:  {self._options().kubernetes().version}")
        print(f"server:      {control_plane.server}")
        print(f"kubeconfig:  {self._kubeconfig()}")
        print(f"audit log:   {control_plane.audit_log}")
        for component in self._options().components():
            pid = self._process(component).pid()
            print(f"{component + ':':<25}{f'runs, process {pid}' if pid else 'does not run'}")
        if self._options().nodes > 0 and self._network().pid() is None:
            print("network:                 does not run")
        if self._options().nodes > 0 and self._process(_FAULTS).pid() is None:
            print("faults:                  does not run")
        cuts = self._nodes().cuts()
        for node in self._nodes().all:
            off = "has died" if node.has_ended() else "is off"
            from_whom = [other or "everything" for name, other in cuts if name == node.name]
            print(f"{node.name + ':':<25}{'runs' if node.is_on() else off}" +
                  (f", cut off from {' and '.join(from_whom)}" if from_whom else ""))
        return self._is_running()

    def print_logs(self, component: Optional[str]) -> None:
        self._require_state()
        if component in COMPONENTS:
            print(self._read_log(component), end="")
            return
        if component is not None:
            node = self._nodes().named(component)
            for log in LOGS:
                print(f"==> {node.name} {log} <==\n{node.log(log).read_text(errors='replace')}")
            return
        for each in self._options().components():
            print(f"==> {each} <==\n{self._log_tail(each)}\n")
        for node in self._nodes().all:
            print(f"==> {node.name} kubelet <==\n{node.log_tail('kubelet')}\n")

    def load_image(self, file: Path) -> None:
        with self._running_nodes() as nodes:
            nodes.load_image(file)

    def cut(self, node: str, other: str) -> None:
        with self._running_nodes() as nodes:
            nodes.cut(nodes.named(node), other)

    def heal(self, node: str, other: str) -> None:
        with self._running_nodes() as nodes:
            nodes.heal(nodes.named(node), other)

    def parted(self) -> set:
        """The pairs of nodes that are cut off from each other."""
        return {tuple(cut) for cut in self._nodes().cuts()}

    def node_names(self) -> set:
        return {node.name for node in self._nodes().all}

    def kill(self, node: str) -> None:
        with self._running_nodes() as nodes:
            nodes.power_off(nodes.named(node))

    def reboot(self, node: str, waits: bool, timeout: float) -> None:
        """Also switches on one that is off."""
        deadline = time.monotonic() + timeout
        with self._running_nodes() as nodes:
            rebooted = nodes.named(node)
            nodes.power_off(rebooted)
            nodes.power_on([rebooted], kubernetes_binary.path(self._options().kubernetes()))
            if waits:
                self._wait_for_nodes([rebooted], deadline)

    def slow_down(self, node: str, is_slow: bool) -> None:
        """One in three of the API server's packets to it is lost, or none any more."""
        with self._running_nodes() as nodes:
            nodes.slow_down(nodes.named(node), is_slow)

    def break_connections(self, node: str) -> None:
        """With the API server: its and its pods' end."""
        with self._running_nodes() as nodes:
            nodes.break_connections(nodes.named(node))

    def exec_on_node(self, node: str, command_line: list) -> None:
        whole = self.command_line_on_node(node, command_line)
        os.execvp(whole[0], whole)

    def command_line_on_node(self, node: str, command_line: list) -> list:
        self._require_state()
        return self._nodes().named(node).command_line(command_line)

    def obey_faults(self) -> None:
        """For ever."""
        self._require_state()
        state = self._directory.state()
        administrator = Administrator(self._control_plane().identities, state["address"], state["ports"]["kube-apiserver"])
        obey_annotations(self, self.node_names(), administrator)

    def exec_kubectl(self, arguments: list) -> None:
        self._require_state()
        program = self._path("kubectl")
        if not program.exists():
            raise Failure(f"{self._directory.path} is not up yet, or was started by an older tools/cluster: down, then up")
        os.execv(program, [program, *arguments])

    def _start(self, binary: Path, options: Options, deadline: float) -> None:
        with self._ports(options) as numbers:
            self._write_state(options, numbers, "127.0.0.1")
            try:
                if options.nodes > 0:
                    self._write_state(options, numbers, self._network().start())
                self._control_plane().create_files()
                self._write_kubectl(binary)
                if options.nodes > 0:
                    self._nodes().create(self._control_plane().identities, numbers["kube-apiserver"],
                                         options.kubernetes().feature_gates)
                # The API server waits for etcd, but its clients end where they meet none that is ready.
                self._run(binary, SERVERS)
                self._wait_for_apiserver(deadline)
                self._run(binary, options.clients())
                if options.nodes > 0:
                    self._nodes().power_on(self._nodes().all, binary)
                    self._process(_FAULTS).start([sys.executable, "-B", _PROGRAM, "--dir", self._directory.path, "obey-faults"],
                                                 log=self._log(_FAULTS), cwd=self._directory.path)
                self._wait_until_ready(deadline)
            except BaseException:
                self._kill_all()
                raise

    def _record(self, file: Path, test: str, deadline: float) -> None:
        """A line of which test ran on which versions, for tools/reference."""
        found = []
        self._wait_for("kube-apiserver", "the versions of all", lambda: found.append(self._prober().versions()) or found[-1], deadline)
        with file.open("a") as lines:
            lines.write(json.dumps({"test": test, **found[-1]}) + "\n")

    def _write_kubectl(self, binary: Path) -> None:
        """The program DIR/kubectl, which starts in a third of the time of `tools/cluster kubectl`."""
        environment = {"KUBECONFIG": self._kubeconfig(), "KUBECACHEDIR": self._path("kubectl-cache")}
        assignments = " ".join(f"{name}={shlex.quote(str(value))}" for name, value in environment.items())
        program = self._path("kubectl")
        program.write_text(f'#!/bin/sh\nexport {assignments}\nexec {shlex.quote(str(binary))} kubectl "$@"\n')
        program.chmod(0o755)

    @staticmethod
    def _ports(options: Options):
        return ports.reserved(PORTS) if options.nodes == 0 else contextlib.nullcontext(USUAL_PORTS)

    def _write_state(self, options: Options, numbers: dict, address: str) -> None:
        self._directory.write_state({"options": dataclasses.asdict(options), "ports": numbers, "address": address})

    def _run(self, binary: Path, components: list) -> None:
        for component in components:
            command_line = [binary, *self._control_plane().command_line(component)]
            if self._options().nodes > 0:
                command_line = self._network().enter(command_line)
            self._process(component).start(command_line, log=self._log(component), cwd=self._directory.path)

    def _wait_for_apiserver(self, deadline: float) -> None:
        self._wait_for("kube-apiserver", "its API to be ready", self._prober().is_apiserver_ready, deadline)

    def _wait_until_ready(self, deadline: float) -> None:
        self._wait_for_apiserver(deadline)
        if self._options().only_apiserver:
            return
        prober = self._prober()
        self._wait_for("kube-scheduler", "it to be healthy", prober.is_scheduler_healthy, deadline)
        self._wait_for("kube-controller-manager", "the default ServiceAccount", prober.are_service_accounts_made,
                       deadline)
        self._wait_for_nodes([node for node in self._nodes().all if node.is_on()], deadline)

    def _wait_for_nodes(self, nodes: list, deadline: float) -> None:
        """Until they are Ready, in the boot that they are in now."""
        waiting = nodes
        while True:
            ready = self._prober().ready_nodes() if waiting else {}
            waiting = [node for node in waiting if ready.get(node.name) != node.boot_id()]
            if not waiting:
                return
            died = next((node for node in waiting if node.has_ended()), None)
            if died is not None:
                raise Failure(f"{died.name} ended while it started; the end of its log:\n{died.log_tail('boot')}")
            if time.monotonic() > deadline:
                logs = "\n".join(f"==> {log} <==\n{waiting[0].log_tail(log)}" for log in LOGS)
                raise Failure(f"waited in vain for {', '.join(node.name for node in waiting)} to be ready; the end of "
                              f"the first one's logs:\n{logs}")
            time.sleep(_POLL_SECONDS)

    def _wait_for(self, component: str, what: str, is_so, deadline: float) -> None:
        while not is_so():
            for each in self._options().components():
                if self._process(each).has_ended():
                    raise Failure(f"{each} ended while it started; the end of its log:\n{self._log_tail(each)}")
            if time.monotonic() > deadline:
                raise Failure(f"{component}: waited in vain for {what}; the end of its log:\n"
                              f"{self._log_tail(component)}")
            time.sleep(_POLL_SECONDS)

    def _is_running(self) -> bool:
        if self._directory.state() is None:
            return False
        components = [self._process(component) for component in self._options().components()]
        return (all(process.pid() is not None for process in components) and
                (self._options().nodes == 0 or
                 (self._network().pid() is not None and self._process(_FAULTS).pid() is not None)) and
                not any(node.has_ended() for node in self._nodes().all))

    def _kill_all(self) -> None:
        if self._directory.state() is None:
            return
        self._process(_FAULTS).kill(_KILL_SECONDS)
        self._nodes().end()
        for component in reversed(COMPONENTS):
            if not self._process(component).kill(_KILL_SECONDS):
                raise Failure(f"{component} (process {self._process(component).pid()}) does not end")
        self._network().end()

    @contextlib.contextmanager
    def _running_nodes(self):
        """The lock is held: nobody else starts or ends anything."""
        with self._directory.locked(create=False):
            self._require_running()
            yield self._nodes()

    def _require_running(self) -> None:
        self._require_state()
        if not self._is_running():
            raise Failure("the cluster does not run, or a part of it has died: see tools/cluster status")

    def _require_state(self) -> None:
        if self._directory.state() is None:
            path = self._directory.path
            raise Failure(f"no cluster in {path}: start one (tools/cluster --dir {path} up)")

    def _require_options(self, options: Options) -> None:
        if self._options() != options:
            path = self._directory.path
            raise Failure(f"a cluster with other options runs in {path}: "
                          f"end it first (tools/cluster --dir {path} down)")

    def _options(self) -> Options:
        return Options(**self._directory.state()["options"])

    def _control_plane(self) -> ControlPlane:
        state = self._directory.state()
        return ControlPlane(self._directory.path, self._options(), state["address"], state["ports"])

    def _network(self) -> Network:
        return Network(self._directory.path, f"cd-{self._hash()}", self._options().family())

    def _nodes(self) -> Nodes:
        options = self._options()
        return Nodes(self._directory.path, self.control_group(), options.places(), self._network(), options.driver_root)

    def control_group(self) -> str:
        """Of its nodes' processes; each node has one below it."""
        return f"compute-domain-{self._hash()}"

    def _hash(self) -> str:
        """Tells what is this cluster's from what is that of others, where the machine has one folder for all."""
        return hashlib.sha256(str(self._directory.path.resolve()).encode()).hexdigest()[:8]

    def _prober(self) -> Prober:
        state = self._directory.state()
        return Prober(self._control_plane().identities, state["address"], state["ports"])

    def _kubeconfig(self) -> Path:
        return self._control_plane().identities.kubeconfig("admin")

    def _process(self, component: str) -> Process:
        return Process(self._path(f"{component}.pid"))

    def _log(self, component: str) -> Path:
        return self._path(f"{component}.log")

    def _read_log(self, component: str) -> str:
        try:
            return self._log(component).read_text(errors="replace")
        except FileNotFoundError:
            return ""

    def _log_tail(self, component: str) -> str:
        return "\n".join(self._read_log(component).splitlines()[-_LOG_TAIL_LINES:])

    def _path(self, name: str) -> Path:
        return self._directory.path / name
