"""Directory: where one cluster keeps all it has.

It is claimed by a lock while the cluster changes, and marked by its state file: what is not so marked is never removed.
"""

import contextlib
import fcntl
import json
import os
import shutil
from pathlib import Path
from typing import Iterator, Optional

from failure import Failure


class Directory:
    def __init__(self, path: Path):
        for part in (path, *path.parents):
            if part.exists() and not part.is_dir():
                raise Failure(f"{path} cannot be the cluster's directory, as {part} is a file: choose another --dir")
        self.path = path
        self._state_file = path / "cluster.json"
        self._unfinished_state_file = path / "cluster.json.new"

    def state(self) -> Optional[dict]:
        """What was last written, or None when there is no cluster here."""
        try:
            return json.loads(self._state_file.read_text())
        except FileNotFoundError:
            return None

    def write_state(self, state: dict) -> None:
        self._unfinished_state_file.write_text(json.dumps(state))
        self._unfinished_state_file.rename(self._state_file)

    @contextlib.contextmanager
    def locked(self, create: bool) -> Iterator[bool]:
        """Holds the lock, and says whether the directory exists: always so with `create`.

        Whoever waited while the directory was removed starts again.
        """
        while True:
            if create:
                self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            try:
                descriptor = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
            except FileNotFoundError:
                if create:
                    continue
                yield False
                return
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                if self._is_still(descriptor):
                    self._require_that_it_is_ours(descriptor)
                    yield True
                    return
            finally:
                os.close(descriptor)

    def clear(self) -> None:
        # The state file goes last, so that a removal cut short can be taken up again.
        for entry in sorted(self.path.iterdir(), key=lambda entry: entry == self._state_file):
            if entry.is_dir():
                shutil.rmtree(entry)
            else:
                entry.unlink()

    def remove(self) -> None:
        self.clear()
        self.path.rmdir()

    def _require_that_it_is_ours(self, descriptor: int) -> None:
        if os.fstat(descriptor).st_uid != os.getuid():
            raise Failure(f"{self.path} belongs to somebody else: choose another --dir")
        if not self._state_file.exists() and set(self.path.iterdir()) - {self._unfinished_state_file}:
            raise Failure(f"{self.path} holds something else than a cluster: choose another --dir")

    def _is_still(self, descriptor: int) -> bool:
        try:
            return os.path.samestat(os.stat(self.path), os.fstat(descriptor))
        except FileNotFoundError:
            return False
