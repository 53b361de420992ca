"""Helm, in the two major versions that are in use."""

from pathlib import Path

from go_build import HERE, GoBuild

MAJORS = ("3", "4")
DEFAULT = "4"
_SOURCE = HERE / "go-helm"


def path(major: str) -> Path:
    """The program, after building both if need be."""
    versions = {name: _version(name) for name in MAJORS}
    # One link of each; what they share is compiled once. They print their versions, and charts can ask for them.
    stamps = " ".join(f"-X helm.sh/helm/v{name}/internal/version.version={version}" for name, version in versions.items())
    return GoBuild(name="Helm", version="-".join(versions.values()), source=_SOURCE, files=("go.mod", "go.sum"),
                   flags=("-ldflags", f"-s -w {stamps}"),
                   packages={f"helm{name}": f"helm.sh/helm/v{name}/cmd/helm" for name in MAJORS},
                   minutes=3).path() / f"helm{major}"


def _version(major: str) -> str:
    line = next(line for line in (_SOURCE / "go.mod").read_text().splitlines() if line.strip().startswith(f"helm.sh/helm/v{major} "))
    return line.split()[1]
