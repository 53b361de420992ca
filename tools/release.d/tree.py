"""Tree: the checkout that a release is made from, and the builds of its programs."""

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from architectures import ARCHITECTURES
from failure import Failure
from programs import PROGRAMS
from programs import version as version_of_cmake

_WANTED = (*PROGRAMS, "kubectl-compute_domain")
_CHART = "manifests/helm/compute-domain-operator/Chart.yaml"


@dataclass(frozen=True)
class Commit:
    name: str
    time: int  # seconds since 1970


def must_be(root: Path, version: str, is_rehearsal: bool) -> None:
    """Of this version everywhere, and without changes."""
    other = [f"{where} has {found}" for where, found in _versions(root) if found != version]
    if other:
        raise Failure(f"this is not {version}: {', '.join(other)}")
    changes = _changes(root)
    if changes and not is_rehearsal:
        more = f" and {len(changes) - 1} more" if len(changes) > 1 else ""
        raise Failure(f"the tree has changes that are not committed: {changes[0][3:]}{more}")


def commit(root: Path) -> Commit:
    """Its name ends with -dirty where a rehearsal takes a tree that has changes."""
    name, time = _git(root, "log", "-1", "--no-show-signature", "--format=%H %ct").split()
    return Commit(name + ("-dirty" if _changes(root) else ""), int(time))


def copy(root: Path, folder: str, target: Path) -> None:
    """What git knows of the folder: a file that it ignores, by whatever list, belongs to no release."""
    for name in filter(None, _git(root, "ls-files", "-z", folder).split("\0")):
        if (root / name).is_symlink() or (root / name).exists():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, target / name, follow_symlinks=False)


def builds(root: Path, architectures: list, named: str) -> list:
    """The build directory of each architecture, up to date as far as that can be seen here."""
    if named and len(named.split(",")) != len(architectures):
        raise Failure("--build names one directory for each architecture of --arch, in their order")
    found = [Path(path).resolve() for path in named.split(",")] if named else [ARCHITECTURES[name].build for name in architectures]
    for name, build in zip(architectures, found):
        _must_be_up_to_date(root, build, ARCHITECTURES[name])
    return found


def _versions(root: Path) -> list:
    found = [("CMakeLists.txt", version_of_cmake(root))]
    chart = (root / _CHART).read_text()
    found += [(f"{_CHART} ({name})", value) for name, value in re.findall(r"^(version|appVersion): (\S+)$", chart, re.MULTILINE)]
    for path in sorted((root / "manifests").glob("**/kustomization.yaml")):
        values = set(re.findall(r"^\s*(?:app\.kubernetes\.io/version|newTag): (\S+)$", path.read_text(), re.MULTILINE))
        found += [(str(path.relative_to(root)), value) for value in sorted(values)]
    return found


def _must_be_up_to_date(root: Path, build: Path, architecture: object) -> None:
    """A directory that another checkout built is its caller's word; of this one's Ninja knows what has changed."""
    cache = build / "CMakeCache.txt"
    if not all((build / "bin" / name).exists() for name in _WANTED):
        raise Failure(f"{build} does not have the programs for {architecture.name}: {architecture.how_to_build}")
    if not cache.exists() or f"CMAKE_HOME_DIRECTORY:INTERNAL={root}\n" not in cache.read_text() or not shutil.which("ninja"):
        return
    dry = subprocess.run(["ninja", "-C", build, "-n", *_WANTED], capture_output=True, text=True)
    if "no work to do" not in dry.stdout:
        raise Failure(f"{build} is older than the tree: {architecture.how_to_build}")


def _changes(root: Path) -> list:
    return _git(root, "status", "--porcelain", "--untracked-files=all").splitlines()


def _git(root: Path, *arguments: str) -> str:
    result = subprocess.run(["git", "-C", root, *arguments], capture_output=True, text=True)
    if result.returncode != 0:
        raise Failure(f"git {arguments[0]}: {result.stderr.strip() or 'failed'}")
    return result.stdout
