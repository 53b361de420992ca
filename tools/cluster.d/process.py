"""A program that outlives us, known by a pid file.

The file holds the process id and the start time: a process id that the kernel has given to somebody else in the
meantime is never taken for ours.
"""

import os
import select
import signal
import subprocess
from pathlib import Path
from typing import Optional

_DEAD_STATES = "ZX"


class Process:
    def __init__(self, pid_file: Path):
        self._pid_file = pid_file

    def start(self, argv: list, log: Path, cwd: Path) -> None:
        with open(log, "ab") as output:
            # The child writes the file before it becomes the program, so that no crash of ours leaves it unrecorded.
            subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd=cwd,
                             start_new_session=True, preexec_fn=self._record)

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

    def kill(self, timeout: float) -> bool:
        """Ends the process, if it runs; whether it is gone within `timeout` seconds."""
        pid = self.pid()
        if pid is None:
            return True
        try:
            descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            return True
        try:
            # The descriptor stays with one process; ask again whether that is the one we mean.
            if self.pid() is None:
                return True
            signal.pidfd_send_signal(descriptor, signal.SIGKILL)
            poll = select.poll()
            poll.register(descriptor, select.POLLIN)
            return bool(poll.poll(timeout * 1000))
        finally:
            os.close(descriptor)

    def _record(self) -> None:
        pid = os.getpid()
        self._pid_file.write_text(f"{pid} {_start_time(pid)}\n")


def _start_time(pid: int) -> Optional[str]:
    """In clock ticks since boot (proc(5), /proc/[pid]/stat, field 22); None for a process that has ended."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The second field, a name in parentheses, may itself hold spaces and parentheses.
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in _DEAD_STATES else fields[19]
