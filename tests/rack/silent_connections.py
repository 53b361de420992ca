#!/usr/bin/env python3
"""silent_connections.py COUNT HOST:PORT…: so many TCP connections to each address, on which nothing is ever said.

One that the other side closes is opened again, PER_SECOND to an address at most, until SIGTERM. Prints "ADDRESS COUNT" once
so many have been opened there.
"""

import errno
import resource
import selectors
import socket
import sys
import time

PER_SECOND = 100
TICK = 0.02  # seconds


class Flood:
    def __init__(self, address: str, count: int, selector: selectors.BaseSelector):
        host, _, port = address.rpartition(":")
        self._address, self._target = address, (host.strip("[]"), int(port))
        self._count, self._selector = count, selector
        self._begun = self._opened = 0
        self._missing = count
        self._due = 0.0

    def open(self, now: float) -> None:
        """At first as fast as the other side takes them."""
        few = self._begun >= self._count
        if self._missing == 0 or (few and now < self._due):
            return
        self._due = now + TICK
        for _ in range(min(self._missing, max(1, int(PER_SECOND * TICK)) if few else 50)):
            one = socket.socket(socket.AF_INET6 if ":" in self._target[0] else socket.AF_INET)
            one.setblocking(False)
            if one.connect_ex(self._target) not in (0, errno.EINPROGRESS):
                one.close()
                return
            self._begun += 1
            self._missing -= 1
            self._selector.register(one, selectors.EVENT_WRITE, self)

    def happened(self, one: socket.socket, events: int) -> None:
        if events & selectors.EVENT_WRITE and one.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0:
            self._selector.modify(one, selectors.EVENT_READ, self)
            self._opened += 1
            if self._opened == self._count:
                print(self._address, self._count, flush=True)
            return
        self._selector.unregister(one)
        one.close()
        self._missing += 1


def main() -> None:
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    selector = selectors.DefaultSelector()
    floods = [Flood(address, int(sys.argv[1]), selector) for address in sys.argv[2:]]
    while True:
        for flood in floods:
            flood.open(time.monotonic())
        for key, events in selector.select(TICK):
            key.data.happened(key.fileobj, events)


main()
