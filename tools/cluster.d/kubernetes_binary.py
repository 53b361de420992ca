"""The one binary that holds all of Kubernetes."""

from pathlib import Path

from go_build import HERE, GoBuild
from release import Release


def path(release: Release) -> Path:
    return _build(release).path() / "kubernetes"


def _build(release: Release) -> GoBuild:
    major, minor, _ = release.version.removeprefix("v").split(".")
    stamps = {"gitVersion": release.version, "gitMajor": major, "gitMinor": minor}
    ldflags = "-s -w " + " ".join(f"-X k8s.io/component-base/version.{name}={value}" for name, value in stamps.items())
    files = (release.modules, release.modules.replace(".mod", ".sum"), "main.go", f"{release.kubelet}.go")
    return GoBuild(name="Kubernetes", version=release.version, source=HERE / "go", files=files,
                   flags=(f"-modfile={release.modules}", f"-tags={release.kubelet}", "-ldflags", ldflags),
                   packages={"kubernetes": "."}, minutes=6)
