"""The one binary that holds all of Kubernetes: built from Go modules, once per machine.

It lies outside the checkout, under a hash of its sources, so that all checkouts share it and none gets a stale one.
"""

import fcntl
import hashlib
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

from failure import Failure
from release import Release

HERE = Path(__file__).resolve().parent
SOURCE = HERE / "go"


def cache_directory() -> Path:
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "compute-domain-operator"


def path(release: Release) -> Path:
    """The binary's path, after building it if need be. Safe against others that do the same now."""
    binary = cache_directory() / f"kubernetes-{release.version}-{_source_hash(release)}" / "kubernetes"
    if binary.exists():
        return binary
    binary.parent.mkdir(parents=True, exist_ok=True)
    with open(binary.parent / "lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _say("waiting for another build of Kubernetes to end")
            fcntl.flock(lock, fcntl.LOCK_EX)
        if not binary.exists():
            _build(release, binary)
    return binary


def _source_hash(release: Release) -> str:
    digest = hashlib.sha256(platform.machine().encode())
    for name in (release.modules, release.modules.replace(".mod", ".sum"), "main.go"):
        digest.update((SOURCE / name).read_bytes())
    return digest.hexdigest()[:16]


def _build(release: Release, binary: Path) -> None:
    find_go = subprocess.run([HERE / "find-go"], capture_output=True, text=True)
    if find_go.returncode != 0:
        raise Failure(find_go.stderr.strip())
    go = find_go.stdout.strip()

    _say(f"building Kubernetes {release.version}, once per machine: some 6 minutes on 2 cores")
    major, minor, _ = release.version.removeprefix("v").split(".")
    stamps = {"gitVersion": release.version, "gitMajor": major, "gitMinor": minor}
    ldflags = "-s -w " + " ".join(f"-X k8s.io/component-base/version.{name}={value}" for name, value in stamps.items())
    environment = os.environ | {"CGO_ENABLED": "0", "GOTOOLCHAIN": "local", "GOWORK": "off"}
    with tempfile.TemporaryDirectory(dir=binary.parent) as unfinished:
        output = Path(unfinished) / binary.name
        build = subprocess.run(
            ["nice", "-n", "10", go, "build", f"-modfile={release.modules}", "-trimpath", "-buildvcs=false",
             "-ldflags", ldflags, "-o", output, "."],
            cwd=SOURCE, env=environment, stdout=sys.stderr)
        if build.returncode != 0:
            raise Failure("Kubernetes could not be built: see above")
        output.rename(binary)


def _say(what: str) -> None:
    print(f"cluster: {what}", file=sys.stderr, flush=True)
