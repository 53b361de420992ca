"""Free ports on 127.0.0.1 for the components of one cluster."""

import contextlib
import errno
import fcntl
import random
import socket

import go_build
from failure import Failure

# Below the range from which the kernel takes ports for outgoing connections (ip_local_port_range: 32768 and up).
_RANGE = range(20000, 32000)


@contextlib.contextmanager
def reserved(names: list):
    """Names to free ports, which no other cluster takes until this one listens on them, at the end of the block."""
    lock_file = go_build.cache_directory() / "ports.lock"
    with open(lock_file, "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        candidates = (port for port in random.sample(_RANGE, len(_RANGE)) if _is_free(port))
        numbers = dict(zip(names, candidates))
        if len(numbers) < len(names):
            raise Failure("no free ports on 127.0.0.1")
        yield numbers


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            return False
        return True
