"""Syft, which lists the packages of an image as scanners do."""

from pathlib import Path

from go_build import HERE, GoBuild

_SOURCE = HERE / "go-syft"
_PACKAGE = "github.com/anchore/syft/cmd/syft"


def path() -> Path:
    """The program, after building it if need be."""
    module = _PACKAGE.partition("/cmd/")[0]
    version = next(line.split()[1] for line in (_SOURCE / "go.mod").read_text().splitlines() if line.strip().startswith(f"{module} "))
    return GoBuild(name="Syft", version=version, source=_SOURCE, files=("go.mod", "go.sum"), flags=("-ldflags", "-s -w"),
                   packages={"syft": _PACKAGE}, minutes=10).path() / "syft"
