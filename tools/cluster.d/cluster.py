"""Cluster: one control plane with all that belongs to it, in one directory.

The directory is claimed by a lock while the cluster changes, and marked by its state file: what is not so marked is
never removed. A cluster of which a part has died is not repaired but replaced.
"""

import contextlib
import dataclasses
import fcntl
import json
import os
import shutil
import time
from pathlib import Path
from typing import Optional

import kubernetes_binary
import ports
from control_plane import COMPONENTS, PORTS, SERVERS, ControlPlane, Options
from failure import Failure
from process import Process
from readiness import Prober

_KILL_SECONDS = 10
_POLL_SECONDS = 0.1
_LOG_TAIL_LINES = 20


class Cluster:
    def __init__(self, directory: Path):
        self._directory = directory

    def up(self, options: Options, timeout: float) -> None:
        binary = kubernetes_binary.path()
        deadline = time.monotonic() + timeout
        with self._locked(create=True):
            if self._is_running():
                if self._read_state()["options"] != dataclasses.asdict(options):
                    raise Failure(f"a cluster with other options runs in {self._directory}: "
                                  f"end it first (tools/cluster --dir {self._directory} down)")
                self._wait_until_ready(deadline)
            else:
                self._remove_contents()
                self._start(binary, options, deadline)
        print(f"ready: KUBECONFIG={self._control_plane().identities.kubeconfig('admin')}")

    def down(self) -> None:
        with self._locked(create=False) as exists:
            if exists:
                self._remove_contents()
                self._directory.rmdir()

    def print_status(self) -> bool:
        """Whether all components run."""
        if not self._state_file().exists():
            print(f"no cluster in {self._directory}")
            return False
        control_plane = self._control_plane()
        print(f"directory:   {self._directory}")
        print(f"server:      {control_plane.server}")
        print(f"kubeconfig:  {control_plane.identities.kubeconfig('admin')}")
        print(f"audit log:   {control_plane.audit_log}")
        components = self._options().components()
        for component in components:
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
        os.environ["KUBECONFIG"] = str(self._control_plane().identities.kubeconfig("admin"))
        binary = kubernetes_binary.path()
        os.execv(binary, [binary, "kubectl", *arguments])

    def _start(self, binary: Path, options: Options, deadline: float) -> None:
        with ports.reserved(PORTS) as numbers:
            self._write_state({"options": dataclasses.asdict(options), "ports": numbers})
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
            self._process(component).start(command_line, log=self._log(component), cwd=self._directory)

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
        return self._state_file().exists() and all(
            self._process(component).pid() is not None for component in self._options().components())

    def _remove_contents(self) -> None:
        entries = set(self._directory.iterdir())
        if entries - {self._unfinished_state_file()} and not self._state_file().exists():
            raise Failure(f"{self._directory} holds something else than a cluster: choose another --dir")
        self._kill_all()
        # The state file goes last, so that a removal cut short can be taken up again.
        for entry in sorted(entries, key=lambda entry: entry == self._state_file()):
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()

    def _kill_all(self) -> None:
        for component in reversed(COMPONENTS):
            if not self._process(component).kill(_KILL_SECONDS):
                raise Failure(f"{component} (process {self._process(component).pid()}) does not end")

    @contextlib.contextmanager
    def _locked(self, create: bool):
        """Holds the directory's lock, and says whether there is such a directory at all.

        Whoever waited while the directory was removed starts again.
        """
        while True:
            if create:
                self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            try:
                descriptor = os.open(self._directory, os.O_RDONLY | os.O_DIRECTORY)
            except FileNotFoundError:
                yield False
                return
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                if self._is_still(descriptor):
                    self._require_ownership(descriptor)
                    yield True
                    return
            finally:
                os.close(descriptor)

    def _require_ownership(self, descriptor: int) -> None:
        if os.fstat(descriptor).st_uid != os.getuid():
            raise Failure(f"{self._directory} belongs to somebody else: choose another --dir")

    def _is_still(self, descriptor: int) -> bool:
        try:
            return os.path.samestat(os.stat(self._directory), os.fstat(descriptor))
        except FileNotFoundError:
            return False

    def _control_plane(self) -> ControlPlane:
        return ControlPlane(self._directory, self._options(), self._read_state()["ports"])

    def _prober(self) -> Prober:
        return Prober(self._control_plane().identities, self._read_state()["ports"])

    def _options(self) -> Options:
        return Options(**self._read_state()["options"])

    def _process(self, component: str) -> Process:
        return Process(self._pid_file(component))

    def _pid_file(self, component: str) -> Path:
        return self._directory / f"{component}.pid"

    def _log(self, component: str) -> Path:
        return self._directory / f"{component}.log"

    def _read_log(self, component: str) -> str:
        try:
            return self._log(component).read_text(errors="replace")
        except FileNotFoundError:
            return ""

    def _log_tail(self, component: str) -> str:
        return "\n".join(self._read_log(component).splitlines()[-_LOG_TAIL_LINES:])

    def _state_file(self) -> Path:
        return self._directory / "cluster.json"

    def _unfinished_state_file(self) -> Path:
        return self._directory / "cluster.json.new"

    def _require_state(self) -> None:
        if not self._state_file().exists():
            raise Failure(f"no cluster in {self._directory}: start one (tools/cluster --dir {self._directory} up)")

    def _read_state(self) -> dict:
        return json.loads(self._state_file().read_text())

    def _write_state(self, state: dict) -> None:
        self._unfinished_state_file().write_text(json.dumps(state))
        self._unfinished_state_file().rename(self._state_file())
