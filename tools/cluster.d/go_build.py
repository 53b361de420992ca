"""GoBuild: programs built from Go modules, once per machine.

They lie outside the checkout, under a hash of their sources, so that all checkouts share them and none gets stale ones.
"""

import fcntl
import hashlib
import os
import platform
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from failure import Failure

HERE = Path(__file__).resolve().parent
TRIES = 3


def cache_directory() -> Path:
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "compute-domain-operator"


@dataclass(frozen=True)
class GoBuild:
    name: str  # for people, and of the folder in the cache
    version: str
    source: Path  # the folder that is built in
    files: tuple  # all there that the result depends on
    flags: tuple
    packages: dict  # program name -> package
    minutes: int  # that it takes on 2 cores

    def path(self) -> Path:
        """The folder with the programs, after building them if need be. Safe against others that do the same now."""
        folder = cache_directory() / f"{self.name.lower()}-{self.version}-{self._source_hash()}"
        if self._is_built(folder):
            return folder
        folder.mkdir(parents=True, exist_ok=True)
        with open(folder / "lock", "w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                _say(f"waiting for another build of {self.name} to end")
                fcntl.flock(lock, fcntl.LOCK_EX)
            if not self._is_built(folder):
                self._build(folder)
        return folder

    def _is_built(self, folder: Path) -> bool:
        return all((folder / program).exists() for program in self.packages)

    def _source_hash(self) -> str:
        digest = hashlib.sha256(platform.machine().encode())
        for name in self.files:
            digest.update((self.source / name).read_bytes())
        return digest.hexdigest()[:16]

    def _build(self, folder: Path) -> None:
        find_go = subprocess.run([HERE / "find-go"], capture_output=True, text=True)
        if find_go.returncode != 0:
            raise Failure(find_go.stderr.strip())
        go = find_go.stdout.strip()

        _say(f"building {self.name} {self.version}, once per machine: some {self.minutes} minutes on 2 cores")
        environment = os.environ | {"CGO_ENABLED": "0", "GOTOOLCHAIN": "local", "GOWORK": "off"}
        with tempfile.TemporaryDirectory(dir=folder) as unfinished:
            for program, package in self.packages.items():
                command = ["nice", "-n", "10", go, "build", "-trimpath", "-buildvcs=false", *self.flags,
                           "-o", Path(unfinished) / program, package]
                # It fetches hundreds of modules, and asks for none twice: of three tries the next goes on where one ended.
                if not any(subprocess.run(command, cwd=self.source, env=environment, stdout=sys.stderr).returncode == 0
                           for _ in range(TRIES)):
                    raise Failure(f"{self.name} could not be built in {TRIES} tries: see above")
            for program in self.packages:
                (Path(unfinished) / program).rename(folder / program)


def _say(what: str) -> None:
    print(f"{Path(sys.argv[0]).name}: {what}", file=sys.stderr, flush=True)
