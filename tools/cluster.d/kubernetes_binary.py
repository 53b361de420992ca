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
    files = [release.modules, release.modules.replace(".mod", ".sum"), "main.go"]
    tags = []
    if release.has_kubelet:
        files.append("kubelet.go")
        tags.append("kubelet")
    return GoBuild(name="Kubernetes", version=release.version, source=HERE / "go", files=tuple(files),
                   flags=(f"-modfile={release.modules}", f"-tags={','.join(tags)}", "-ldflags", ldflags),
                   packages={"kubernetes": "."}, minutes=6)
