"""The kustomizations of a release, rendered: manifests/default alone, and with each component, with the images by digest.

And the Jobs that check the nodes, from the examples, with the same image.
"""

import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

from failure import Failure

# What is for other purposes (the API alone, tests), or needs a file of the user's beside it.
_NOT_RENDERED = ("base", "test", "namespaces")
_RIGHTS_ALONE = "adopt"
_CHECK = "manifests/examples/recipe/01-install-and-verify.yaml"


def must_be_possible() -> None:
    """By $KUBECTL, or else kubectl on PATH, with kustomize 5: older ones read a component otherwise."""
    try:
        run = subprocess.run([_kubectl(), "version", "--client", "--output=json"], capture_output=True, text=True)
    except OSError:
        raise Failure(f"there is no {_kubectl()}: install kubectl, or name one in KUBECTL") from None
    version = json.loads(run.stdout or "{}").get("kustomizeVersion", "")
    if not version.startswith("v5."):
        raise Failure(f"{_kubectl()} has kustomize {version or 'of an unknown version'}, and it takes 5: name another one in KUBECTL")


def write(root: Path, directory: Path, version: str, images: list) -> None:
    for name, what, kustomization in _overlays(root / "manifests"):
        text = _rendered(root / "manifests", kustomization, images)
        known = {image.reference for image in images}
        unknown = [found for found in re.findall(r"^\s*(?:- )?image: (.*)$", text, re.MULTILINE) if found.strip("\"'") not in known]
        if unknown or "registry.invalid" in text:
            raise Failure(f"{name} names images that are not of this release: {', '.join(unknown) or 'registry.invalid'}")
        (directory / name).write_text(f"# compute-domain-operator {version}, {what}.\n# kubectl apply --server-side -f {name}\n{text}")
    text = (root / _CHECK).read_text()
    for image in images:
        text = text.replace(f"registry.invalid/{image.program}:{version}", image.reference)
    if "registry.invalid" in text:
        raise Failure(f"{_CHECK} names images that are not of {version}")
    (directory / "check-nodes.yaml").write_text(text)


def _overlays(folder: Path) -> list:
    """File, what it is, kustomization."""
    found = []
    for path in sorted(folder.glob("*/kustomization.yaml")):
        name = path.parent.name
        if name in _NOT_RENDERED:
            continue
        if name == _RIGHTS_ALONE:
            found.append((f"{name}.yaml", f"manifests/{name}: to take over from NVIDIA's DRA driver", {"resources": [name]}))
        elif re.search(r"^kind: Component$", path.read_text(), re.MULTILINE):
            found.append((f"install-{name}.yaml", f"manifests/default with the component manifests/{name}",
                          {"resources": ["default"], "components": [name]}))
        else:
            file = "install.yaml" if name == "default" else f"install-{name}.yaml"
            found.append((file, f"manifests/{name}", {"resources": [name]}))
    return found


def _rendered(folder: Path, kustomization: dict, images: list) -> str:
    with tempfile.TemporaryDirectory() as work:
        # kustomize takes folders by relative paths only.
        relative = os.path.relpath(folder, Path(work).resolve())
        places = {kind: [f"{relative}/{name}" for name in names] for kind, names in kustomization.items()}
        names = [{"name": f"registry.invalid/{image.program}", "newName": image.repository, "digest": image.digest} for image in images]
        # JSON is YAML.
        (Path(work) / "kustomization.yaml").write_text(json.dumps(places | {"images": names}))
        run = subprocess.run([_kubectl(), "kustomize", work], capture_output=True, text=True)
    if run.returncode != 0:
        raise Failure(f"kustomize cannot render {kustomization}: {run.stderr.strip()}")
    return run.stdout


def _kubectl() -> str:
    return os.environ.get("KUBECTL") or "kubectl"
