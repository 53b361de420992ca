"""cosign, which signs a release, in the two major versions that are in use."""

from pathlib import Path

from go_build import HERE, GoBuild

MAJORS = ("2", "3")
_SOURCE = HERE / "go-cosign"


def path(major: str) -> Path:
    """The program, after building both if need be."""
    # What they share is compiled once.
    return GoBuild(name="cosign", version="-".join(version(each) for each in MAJORS), source=_SOURCE, files=("go.mod", "go.sum"),
                   flags=("-ldflags", "-s -w"), packages={f"cosign{each}": f"github.com/sigstore/cosign/v{each}/cmd/cosign" for each in MAJORS},
                   minutes=10).path() / f"cosign{major}"


def version(major: str) -> str:
    module = f"github.com/sigstore/cosign/v{major} "
    line = next(line for line in (_SOURCE / "go.mod").read_text().splitlines() if line.strip().startswith(module))
    return line.split()[1]
