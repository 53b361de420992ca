"""A program that outlives us, known by a pid file.

The file holds the process id and the start time: a process id that the kernel has given to somebody else in the
meantime is never taken for ours.
"""

import os
import select
import signal
import subprocess
import time
from pathlib import Path
from typing import Callable, Optional

_DEAD_STATES = "ZX"


class Process:
    def __init__(self, pid_file: Path):
        self._pid_file = pid_file

    def start(self, argv: list, log: Path, cwd: Path, prepare: Callable[[], None] = lambda: None) -> None:
        """`prepare` is called in the new process, before it becomes the program."""
        def record_and_prepare() -> None:
            # Recorded before it is the program, so that no crash of ours leaves it unrecorded.
            self._record()
            prepare()

        with open(log, "ab") as output:
            subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd=cwd,
                             start_new_session=True, preexec_fn=record_and_prepare)

    def pid(self) -> Optional[int]:
        """The process id, or None when it does not run (any more)."""
        try:
            pid, start_time = self._pid_file.read_text().split()
        except (FileNotFoundError, ValueError):
            return None
        return int(pid) if _start_time(int(pid)) == start_time else None

    def has_ended(self) -> bool:
        """Whether it was started and does not run any more."""
        return self._pid_file.exists() and self.pid() is None

    def children(self) -> list:
        pid = self.pid()
        try:
            return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
        except (FileNotFoundError, ProcessLookupError):
            return []

    def kill(self, timeout: float, with_children: bool = False) -> bool:
        """Ends the process, if it runs; whether it is gone within `timeout` seconds.

        `with_children`: it is one of those whose children the kernel kills with it; they have to be gone as well.
        """
        deadline = time.monotonic() + timeout
        descriptors = []
        try:
            for pid in (self.pid(), *(self.children() if with_children else [])):
                if pid is None:
                    return True
                descriptors.append(os.pidfd_open(pid))
            # A descriptor stays with one process. Ask again whether that is the one we mean: while it runs, no other
            # has got its number or that of a child which it has not waited for.
            if self.pid() is None:
                return True
            signal.pidfd_send_signal(descriptors[0], signal.SIGKILL)
            return all(_ends(descriptor, deadline) for descriptor in descriptors)
        except ProcessLookupError:
            return True
        finally:
            for descriptor in descriptors:
                os.close(descriptor)

    def forget(self) -> None:
        """As if it had never been started."""
        self._pid_file.unlink(missing_ok=True)

    def _record(self) -> None:
        pid = os.getpid()
        self._pid_file.write_text(f"{pid} {_start_time(pid)}\n")


def _ends(descriptor: int, deadline: float) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(max(deadline - time.monotonic(), 0) * 1000))


def _start_time(pid: int) -> Optional[str]:
    """In clock ticks since boot (proc(5), /proc/[pid]/stat, field 22); None for a process that has ended."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The second field, a name in parentheses, may itself hold spaces and parentheses.
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in _DEAD_STATES else fields[19]
