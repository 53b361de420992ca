"""Cluster: one control plane, from up to down. One of which a part has died is not repaired but replaced."""

import dataclasses
import os
import time
from pathlib import Path
from typing import Optional

import kubernetes_binary
import ports
from control_plane import COMPONENTS, PORTS, SERVERS, ControlPlane, Options
from directory import Directory
from failure import Failure
from process import Process
from readiness import Prober

_KILL_SECONDS = 10
_POLL_SECONDS = 0.1
_LOG_TAIL_LINES = 20


class Cluster:
    def __init__(self, path: Path):
        self._directory = Directory(path)

    def up(self, options: Options, timeout: float) -> None:
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
            print(f"ready: KUBECONFIG={self._kubeconfig()}")

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
        return self._is_running()

    def print_logs(self, component: Optional[str]) -> None:
        self._require_state()
        if component is not None:
            print(self._read_log(component), end="")
            return
        for each in self._options().components():
            print(f"==> {each} <==\n{self._log_tail(each)}\n")

    def exec_kubectl(self, arguments: list) -> None:
        self._require_state()
        binary = kubernetes_binary.path(self._options().kubernetes())
        environment = {"KUBECONFIG": str(self._kubeconfig()), "KUBECACHEDIR": str(self._path("kubectl-cache"))}
        os.execve(binary, [binary, "kubectl", *arguments], os.environ | environment)

    def _start(self, binary: Path, options: Options, deadline: float) -> None:
        with ports.reserved(PORTS) as numbers:
            self._directory.write_state({"options": dataclasses.asdict(options), "ports": numbers})
            self._control_plane().create_files()
            try:
                # The API server waits for etcd, but its clients end where they meet none that is ready.
                self._run(binary, SERVERS)
                self._wait_for_apiserver(deadline)
                self._run(binary, options.clients())
                self._wait_until_ready(deadline)
            except BaseException:
                self._kill_all()
                raise

    def _run(self, binary: Path, components: list) -> None:
        for component in components:
            command_line = [binary, *self._control_plane().command_line(component)]
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
        return self._directory.state() is not None and all(
            self._process(component).pid() is not None for component in self._options().components())

    def _kill_all(self) -> None:
        for component in reversed(COMPONENTS):
            if not self._process(component).kill(_KILL_SECONDS):
                raise Failure(f"{component} (process {self._process(component).pid()}) does not end")

    def _require_state(self) -> None:
        if self._directory.state() is None:
            path = self._directory.path
            raise Failure(f"no cluster in {path}: start one (tools/cluster --dir {path} up)")

    def _require_options(self, options: Options) -> None:
        if self._options() != options:
            path = self._directory.path
            raise Failure(f"a cluster with other options runs in {path}: end it first (tools/cluster --dir {path} down)")

    def _options(self) -> Options:
        return Options(**self._directory.state()["options"])

    def _control_plane(self) -> ControlPlane:
        return ControlPlane(self._directory.path, self._options(), self._directory.state()["ports"])

    def _prober(self) -> Prober:
        return Prober(self._control_plane().identities, self._directory.state()["ports"])

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
