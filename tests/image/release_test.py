#!/usr/bin/env python3
"""What tools/release makes, with the programs of build directories: release_test.py [DIR [DIR-OF-ARM64 | - [TEST…]]].

DIR is this machine's (default: build/release); with another one for arm64 the images are for both. Works on copies of this
tree, in which CHANGELOG.md has a day. $KUBECTL is as in tests/manifests/rendering_test.py. A control plane of tools/cluster takes
the manifests and the chart. The last line counts what passed.
"""

import atexit
import contextlib
import filecmp
import fnmatch
import functools
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True

from image_test import AS_ROOT, BUILD, ROOT, Archive, must_be_a_layout

sys.path.insert(0, str(ROOT / "tools/release.d"))

import elf
import image_archives
import krew
import signature
import libyaml
import test_runner
from architectures import native
from failure import Failure
from programs import PROGRAMS, version

OTHER = Path(sys.argv[2]).resolve() if len(sys.argv) > 2 and sys.argv[2] != "-" else None
ARCHITECTURES = [native().name, *(["arm64"] if OTHER else [])]
REGISTRY = "registry.example.com/nvlink"
DOWNLOADS = "https://downloads.example.com/compute-domain-operator/0.1.0"
VERSION = version(ROOT)
NAME = "compute-domain-operator"
NODES = "compute-domain-nodes"
CHART = "manifests/helm/compute-domain-operator"
PLUGIN = "kubectl-compute_domain"
DAY = "2026-01-31"
COMMITTED = {"GIT_AUTHOR_DATE": "1769860800 +0000", "GIT_COMMITTER_DATE": "1769860800 +0000"}
CREATED = "2026-01-31T12:00:00Z"
WORK = tempfile.TemporaryDirectory()
WORKPLACE = Path(WORK.name)


def kubectl() -> str:
    if "KUBECTL" in os.environ:
        return os.environ["KUBECTL"]
    binary = subprocess.run([ROOT / "tools/cluster", "build"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    program = WORKPLACE / "kubectl"
    program.write_text(f'#!/bin/sh\nexec {binary} kubectl "$@"\n')
    program.chmod(0o755)
    return str(program)


def git(root: Path, *arguments: str) -> str:
    return subprocess.run(["git", "-C", root, "-c", "user.name=Test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false",
                           *arguments], check=True, capture_output=True, text=True, env={**os.environ, **COMMITTED}).stdout


def copy_of_the_tree() -> Path:
    """Committed as a whole, on the day that its CHANGELOG.md has; its pages say so too."""
    root = WORKPLACE / "tree"
    listed = git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    for path in filter(None, listed):
        if (ROOT / path).is_symlink() or (ROOT / path).exists():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / path, root / path, follow_symlinks=False)
    changelog = root / "CHANGELOG.md"
    changelog.write_text(re.sub(r"^(## \S+) \(.+\)$", rf"\1 ({DAY})", changelog.read_text(), count=1, flags=re.MULTILINE))
    for name in ("README.md", "SECURITY.md"):
        (root / name).write_text((root / name).read_text().replace("unreleased", "released"))
    git(root, "init", "--quiet", "--initial-branch=main")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message=all")
    return with_libraries(root)


def clone(name: str) -> Path:
    """Another checkout of the same commit."""
    git(WORKPLACE, "clone", "--quiet", str(TREE), name)
    return with_libraries(WORKPLACE / name)


def with_libraries(root: Path) -> Path:
    """Those of programs that were built for another architecture, which git ignores."""
    if OTHER:
        (root / "build").mkdir()
        (root / "build/arm64-sysroot").symlink_to(ROOT / "build/arm64-sysroot")
    return root


def release(root: Path, directory: Path, *more: str, version=VERSION, **environment: str) -> subprocess.CompletedProcess:
    builds = ",".join(map(str, [BUILD, *([OTHER] if OTHER else [])]))
    return subprocess.run([root / "tools/release", version, directory, "--registry", REGISTRY, "--arch", ",".join(ARCHITECTURES),
                           "--build", builds, "--download-url", DOWNLOADS, *more],
                          capture_output=True, text=True, env={**os.environ, "KUBECTL": KUBECTL, **environment})


def stand_in_for_cosign(folder: Path, script: str) -> str:
    """A PATH with it; for the options of sign-blob and verify-blob see the documentation of Sigstore, "Signing Blobs"."""
    folder.mkdir()
    program = folder / "cosign"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


def overlays() -> dict:
    """The folders of manifests/ that are rendered, by file."""
    found = {"install.yaml": "default", "adopt.yaml": "adopt"}
    for path in (ROOT / "manifests").glob("*/kustomization.yaml"):
        if path.parent.name not in ("adopt", "base", "default", "namespaces", "test"):
            found[f"install-{path.parent.name}.yaml"] = path.parent.name
    return found


def images_of(objects: list) -> set:
    """Of all containers of all workloads."""
    templates = [each["spec"]["template"]["spec"] for each in objects if each and each["kind"] in ("Deployment", "DaemonSet")]
    return {container["image"] for pod in templates for kind in ("initContainers", "containers") for container in pod.get(kind, [])}


def made() -> dict:
    """The references in images.txt, by program."""
    lines = (MADE / "images.txt").read_text().splitlines()
    return {line.partition("@")[0].rpartition("/")[2]: line for line in lines}


def a_release_has_what_its_page_says() -> None:
    wanted = {"SHA256SUMS", "RELEASE_NOTES.md", "images.txt", "check-nodes.yaml", f"{NAME}-{VERSION}.tgz",
              f"{NAME}-{VERSION}-docs.tar.gz", *overlays()}
    wanted |= {"compute-domain.yaml", *(f"{PLUGIN}_linux_{arch}.tar.gz" for arch in ARCHITECTURES)}
    wanted |= {f"{name}.tar" for name in PROGRAMS} | {f"{name}-{arch}.spdx.json" for name in PROGRAMS for arch in ARCHITECTURES}
    assert {path.name for path in MADE.iterdir()} == wanted, {path.name for path in MADE.iterdir()} ^ wanted
    assert RAN.stderr == "" and RAN.stdout.endswith("not signed\n"), RAN
    page = (ROOT / "docs/releasing.md").read_text()
    for name in (f"{NAME}-{VERSION}-docs.tar.gz", "images.txt", "install.yaml", "adopt.yaml", "check-nodes.yaml", "compute-domain.yaml", "RELEASE_NOTES.md", "SHA256SUMS",
                 "SHA256SUMS.sigstore.json"):
        assert f"`{name}`" in page, name


def the_checksums_are_of_all_files() -> None:
    checked = subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=MADE, capture_output=True, text=True)
    assert checked.returncode == 0, checked
    assert len(checked.stdout.splitlines()) == len(list(MADE.iterdir())) - 1, checked.stdout


def an_archive_has_the_image_that_images_txt_names() -> None:
    assert list(made()) == list(PROGRAMS)
    for name, reference in made().items():
        archive = Archive(MADE / f"{name}.tar")
        assert reference == f"{REGISTRY}/{name}@{archive.descriptor['digest']}", reference
        assert archive.descriptor["annotations"]["io.containerd.image.name"] == f"{REGISTRY}/{name}:{VERSION}", archive.descriptor
        assert must_be_a_layout(archive) == [f"linux/{arch}" for arch in ARCHITECTURES], name
        labels = json.loads(archive.blob(archive.descriptor))["annotations"]
        assert labels["org.opencontainers.image.version"] == VERSION and labels["org.opencontainers.image.created"] == CREATED, labels
        assert labels["org.opencontainers.image.revision"] == git(TREE, "rev-parse", "HEAD").strip(), labels


def a_bill_of_materials_is_beside_each_image() -> None:
    for name in PROGRAMS:
        for arch in ARCHITECTURES:
            document = json.loads((MADE / f"{name}-{arch}.spdx.json").read_text())
            assert document["name"] == f"{name}-{VERSION}-{arch}" and document["creationInfo"]["created"] == CREATED, document["name"]


def unpacked(arch: str) -> Path:
    folder = WORKPLACE / f"plugin-{arch}"
    if not folder.exists():
        with tarfile.open(MADE / f"{PLUGIN}_linux_{arch}.tar.gz") as tar:
            assert all(each.isfile() and each.mtime == tar.getmembers()[0].mtime for each in tar), tar.getnames()
            tar.extractall(folder)
    return folder


KUBECONFIG = """\
apiVersion: v1
kind: Config
current-context: x
contexts: [{name: x, context: {cluster: x}}]
clusters: [{name: x, cluster: {server: 'SERVER'}}]
"""


def the_plugin_runs_where_nothing_is_but_a_shell() -> None:
    """In a root that has what is in the archive, in a folder to which a link of PATH leads, as krew does it."""
    root = WORKPLACE / "bare"
    shutil.copytree(unpacked(native().name), root / "store/plugin")
    (root / "bin").mkdir()
    shutil.copy2(shutil.which("busybox"), root / "bin/busybox")
    for name in ("sh", "dirname", "readlink"):
        (root / "bin" / name).symlink_to("busybox")
    (root / "bin" / PLUGIN).symlink_to(f"/store/plugin/{PLUGIN}")
    (root / "pod.yaml").write_text("apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: b}\n")

    def run(*arguments: str) -> subprocess.CompletedProcess:
        return subprocess.run([*AS_ROOT, "env", "-i", "PATH=/usr/sbin:/usr/bin:/bin", "chroot", root, f"/bin/{PLUGIN}", *arguments],
                              capture_output=True, text=True, timeout=60)

    assert run("--version").stdout == f"kubectl compute-domain {VERSION}\n", run("--version")
    assert run("plan", "/pod.yaml").returncode == 0, run("plan", "/pod.yaml")
    lost = run("check", "--from", "/pod.yaml")
    assert lost.returncode == 1 and "/pod.yaml" in lost.stderr, lost

    # A machine may find names by modules that are not in the archive.
    (root / "etc").mkdir()
    (root / "etc/hosts").write_text("127.0.0.1 api.example.com\n")
    (root / "etc/nsswitch.conf").write_text("hosts: mymachines resolve [!UNAVAIL=return] files dns\n")
    (root / "config").write_text(KUBECONFIG.replace("SERVER", "https://api.example.com:1").replace("{server", "{insecure-skip-tls-verify: true, server"))
    lost = run("check", "--kubeconfig", "/config")
    assert lost.returncode == 1 and "Failed to connect to any resolved endpoint" in lost.stderr, lost

    # Authorities of the system are where this distribution, or another one, has them.
    (root / "config").write_text(KUBECONFIG.replace("SERVER", "https://127.0.0.1:1"))
    lost = run("check", "--kubeconfig", "/config")
    assert "authority of the system: /etc/ssl/certs/ca-certificates.crt: No such file" in lost.stderr, lost
    other = root / "etc/pki/tls/certs/ca-bundle.crt"
    other.parent.mkdir(parents=True)
    shutil.copy2("/etc/ssl/certs/ca-certificates.crt", other)
    lost = run("check", "--kubeconfig", "/config")
    assert lost.returncode == 1 and "authority" not in lost.stderr and "connect" in lost.stderr, lost


def the_plugin_has_its_libraries_with_their_licenses() -> None:
    for arch in ARCHITECTURES:
        folder = unpacked(arch)
        program = folder / "lib" / PLUGIN
        assert os.access(folder / PLUGIN, os.X_OK) and os.access(program, os.X_OK), arch
        names = {path.name for path in (folder / "lib").iterdir()}
        for path in (folder / "lib").iterdir():
            assert set(elf.read(path).needed) <= names, (arch, path.name)
        assert f'/lib/{Path(elf.read(program).interpreter).name}"' in (folder / PLUGIN).read_text()
        lines = [line.split() for line in (folder / "packages.txt").read_text().splitlines()]
        assert {"libc6", "libarchive13", "libcpprest2.10"} <= {name for name, _, _ in lines}, lines
        assert {where for _, _, where in lines} == {arch}, lines
        licenses = {path.name for path in (folder / "copyright").iterdir()}
        assert licenses == {*(name for name, _, _ in lines), "libboost1.74-dev", "nlohmann-json3-dev"}, licenses
        assert (folder / "LICENSE").read_text() == (TREE / "LICENSE").read_text()


def the_krew_manifest_is_of_the_archives_beside_it() -> None:
    """What krew looks at (its ValidatePlugin), does with the archive, and links to as kubectl-compute_domain."""
    manifest = libyaml.load((MADE / "compute-domain.yaml").read_text())
    spec = manifest.pop("spec")
    assert manifest == {"apiVersion": "krew.googlecontainertools.github.com/v1alpha2", "kind": "Plugin", "metadata": {"name": "compute-domain"}}, manifest
    assert spec["version"] == f"v{VERSION}" and 0 < len(spec["shortDescription"]) <= 50 and "\n" not in spec["shortDescription"], spec
    assert spec["description"].strip() and spec["caveats"].strip(), spec
    assert [each["selector"] for each in spec["platforms"]] == [{"matchLabels": {"os": "linux", "arch": arch}} for arch in ARCHITECTURES], spec
    for arch, platform in zip(ARCHITECTURES, spec["platforms"]):
        archive = MADE / f"{PLUGIN}_linux_{arch}.tar.gz"
        assert platform["uri"] == f"{DOWNLOADS}/{archive.name}", platform
        assert platform["sha256"] == hashlib.sha256(archive.read_bytes()).hexdigest(), platform
        with tarfile.open(archive) as tar:
            members = tar.getmembers()
        # It takes regular files alone, below the folder.
        assert all(each.isreg() and ".." not in each.name and not each.name.startswith("/") for each in members), members
        [moved] = platform["files"]
        assert moved["to"] == ".", moved
        at_the_top = {each.name.partition("/")[0] for each in members}
        placed = {name for name in at_the_top if fnmatch.fnmatchcase(name, moved["from"])}
        assert placed == at_the_top, at_the_top - placed
        [program] = [each for each in members if each.name == platform["bin"]]
        assert program.mode & 0o111 and platform["bin"] == PLUGIN, (platform, program.mode)


def without_an_address_the_krew_manifest_has_one_where_nothing_can_be() -> None:
    folder = WORKPLACE / "krew"
    folder.mkdir()
    for arch in ("amd64", "arm64"):
        (folder / f"{PLUGIN}_linux_{arch}.tar.gz").write_bytes(arch.encode())
    krew.write(ROOT, folder, VERSION, ["amd64", "arm64"])
    text = (folder / "compute-domain.yaml").read_text()
    platforms = libyaml.load(text)["spec"]["platforms"]
    assert {each["uri"].rpartition("/")[0] for each in platforms} == {"https://downloads.invalid/compute-domain-operator"}, platforms
    assert [each["sha256"] for each in platforms] == [hashlib.sha256(arch).hexdigest() for arch in (b"amd64", b"arm64")], platforms
    assert f"# kubectl krew install --manifest=compute-domain.yaml --archive={PLUGIN}_linux_amd64.tar.gz\n" in text, text[:400]
    # With one it says nothing of that.
    assert "--archive" not in (MADE / "compute-domain.yaml").read_text()
    for url in ("", "http://downloads.example.com", "downloads.example.com/a", "https://downloads.example.com/a/", "https://downloads.example.com/a b"):
        ran = release(TREE, WORKPLACE / "nowhere", "--download-url", url)
        assert ran.returncode == 2 and f"--download-url: '{url}' is not the address of a folder" in ran.stderr, ran


def every_manifest_names_only_images_that_are_in_the_archives() -> None:
    for file, folder in overlays().items():
        text = (MADE / file).read_text()
        objects = libyaml.load_all(text)
        wanted = set() if folder == "adopt" else set(made().values())
        assert images_of(objects) == wanted, (file, images_of(objects))
        # Also where no test looks.
        assert set(re.findall(r"image: (\S+)", text)) == wanted and "registry.invalid" not in text, file
        assert folder == "default" or f"manifests/{folder}" in text.partition("\n")[0], file


def the_check_of_the_nodes_has_the_image_of_the_release() -> None:
    text = (MADE / "check-nodes.yaml").read_text()
    found = {each["metadata"]["name"]: each["spec"]["template"]["spec"]["containers"][0]["image"]
             for each in libyaml.load_all(text) if each["kind"] == "Job"}
    assert found == {"node-check": made()["compute-domain-imex"], "verify-install": "busybox"}, found


def a_manifest_is_the_overlay() -> None:
    for file, folder in (("install.yaml", "default"), ("adopt.yaml", "adopt")):
        rendered = subprocess.run([KUBECTL, "kustomize", TREE / "manifests" / folder], check=True, capture_output=True, text=True).stdout
        for name, reference in made().items():
            rendered = rendered.replace(f"registry.invalid/{name}:{VERSION}", reference)
        lines = (MADE / file).read_text().splitlines(keepends=True)
        assert lines[1] == f"# kubectl apply --server-side -f {file}\n" and "".join(lines[2:]) == rendered, file


def the_notes_are_the_section_of_the_changelog() -> None:
    text = (MADE / "RELEASE_NOTES.md").read_text()
    section = (TREE / "CHANGELOG.md").read_text().split("\n## ")[1].partition("\n")[2].strip()
    assert text.startswith(f"# {NAME} {VERSION}\n\n{section}\n\n### Images\n"), text[:200]
    assert all(reference in text for reference in made().values()), text[-400:]


def a_second_run_gives_the_same_files() -> None:
    """From another checkout of the same commit, with files that git does not see, and signed."""
    tree = clone("tree-of-another")
    (tree / ".git/info/exclude").write_text("*.bak\n")
    mine = tree / "manifests/mine.bak"
    mine.mkdir()
    for path in (tree / CHART / "templates/notes.bak", mine / "kustomization.yaml"):
        path.write_text("kind: Component\n")
    key = WORKPLACE / "cosign.key"
    key.write_text("a key")
    path = stand_in_for_cosign(WORKPLACE / "signs", f'echo "$@" >{WORKPLACE}/signs/arguments; cp SHA256SUMS SHA256SUMS.sigstore.json')
    (WORKPLACE / "again").mkdir()  # an empty directory is as good as none
    ran = release(tree, WORKPLACE / "again", "--cosign-key", str(key), PATH=path, TZ="Asia/Tokyo")
    assert ran.returncode == 0 and ran.stdout.endswith(", signed\n"), ran
    names = {each.name for each in MADE.iterdir()}
    assert {each.name for each in (WORKPLACE / "again").iterdir()} == names | {"SHA256SUMS.sigstore.json"}
    _, different, errors = filecmp.cmpfiles(MADE, WORKPLACE / "again", names, shallow=False)
    assert not different and not errors, (different, errors)
    called = (WORKPLACE / "signs/arguments").read_text()
    assert called == f"sign-blob --yes --key {key} --bundle SHA256SUMS.sigstore.json SHA256SUMS\n", called


def a_rehearsal_says_that_it_is_one() -> None:
    tree = clone("tree-of-a-rehearsal")
    git(tree, "config", "status.showUntrackedFiles", "no")
    git(tree, "config", "log.showSignature", "true")
    (tree / "notes.txt").write_text("mine")
    ran = release(tree, WORKPLACE / "rehearsal", "--rehearsal")
    commit = git(TREE, "rev-parse", "HEAD").strip() + "-dirty"
    assert ran.returncode == 0 and f"from commit {commit}, not signed; a REHEARSAL\n" in ran.stdout, ran
    archive = Archive(WORKPLACE / "rehearsal/compute-domain-imex.tar")
    labels = json.loads(archive.blob(archive.descriptor))["annotations"]
    assert labels["org.opencontainers.image.revision"] == commit, labels
    notes = (WORKPLACE / "rehearsal/RELEASE_NOTES.md").read_text()
    assert notes.startswith(f"# {NAME} {VERSION} (REHEARSAL)\n"), notes[:100]
    ran = release(tree, WORKPLACE / "signed", "--rehearsal", "--cosign-key", "cosign.key")
    assert ran.returncode == 2 and "--rehearsal: it is not signed" in ran.stderr, ran


def other_libraries_on_another_architecture_are_named() -> None:
    def document(**versions: str) -> dict:
        packages = [{"SPDXID": f"SPDXRef-deb-{name}", "name": name, "versionInfo": version} for name, version in versions.items()]
        return {"packages": [{"SPDXID": "SPDXRef-program", "name": "program", "versionInfo": "1"}, *packages]}

    same = {"amd64": document(libssl3="3.0.17-1", zlib1g="1.2-3"), "arm64": document(libssl3="3.0.17-1+b2", libgcc="12")}
    assert image_archives.different_versions(same) == []
    other = {"amd64": document(libssl3="3.0.17-1~deb12u3"), "arm64": document(libssl3="3.0.17-1~deb12u2")}
    found = image_archives.different_versions(other)
    assert found == ["libssl3 is 3.0.17-1~deb12u3 for amd64 and 3.0.17-1~deb12u2 for arm64"], found


def documentation() -> Path:
    folder = WORKPLACE / "docs"
    if not folder.exists():
        with tarfile.open(MADE / f"{NAME}-{VERSION}-docs.tar.gz") as tar:
            assert all(each.isfile() or each.issym() for each in tar), tar.getnames()
            tar.extractall(folder)
    return folder / f"{NAME}-{VERSION}"


def what_the_release_calls_a_page_is_in_its_documentation() -> None:
    """In alerts, the chart, and the manifests; and where its pages lead to, but for the tests that one of them counts."""
    root = documentation()
    with tarfile.open(MADE / f"{NAME}-{VERSION}.tgz") as chart:
        texts = {each.name: chart.extractfile(each).read().decode() for each in chart}
    texts |= {path.name: path.read_text() for path in MADE.glob("*.yaml")}
    named = {name for text in texts.values() for name in re.findall(r"docs/[\w./-]+\.md", text)}
    assert "docs/troubleshooting.md" in named
    assert not (lost := [name for name in named if not (root / name).exists()]), lost
    for page in root.rglob("*.md"):
        text = re.sub(r"^```.*?^```|`[^`\n]*`", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
        for link in re.findall(r"\]\(([^)#\s:]+)(?:#[^)]*)?\)", text):
            path = page.parent / link
            assert path.exists() or (page.name == "kubernetes.md" and "tests" in path.parts), (page, link)


def its_manifests_are_those_of_the_release() -> None:
    for folder in ("default", "adopt"):
        rendered = [subprocess.run([KUBECTL, "kustomize", root / "manifests" / folder], check=True, capture_output=True, text=True).stdout
                    for root in (documentation(), TREE)]
        assert rendered[0] == rendered[1], folder
    assert helm("4", "lint", "--strict", documentation() / CHART, "--kube-version", "1.37.2")


def a_signature_that_fails_is_an_error() -> None:
    folder = WORKPLACE / "unsigned"
    folder.mkdir()
    (folder / "SHA256SUMS").write_text("")
    before = os.environ["PATH"]
    os.environ["PATH"] = stand_in_for_cosign(WORKPLACE / "fails", "exit 3")
    try:
        signature.sign(folder, Path("/cosign.key"))
        raise AssertionError("not refused")
    except Failure as failure:
        assert "cosign could not sign SHA256SUMS with /cosign.key (exit code 3)" in str(failure), failure
    finally:
        os.environ["PATH"] = before


def refused(sentence: str, root: Path, *more: str, directory=None, **others: str) -> None:
    target = directory or WORKPLACE / "refused"
    before = sorted(target.iterdir()) if target.exists() else None
    ran = release(root, target, *more, **others)
    assert ran.returncode == 1 and ran.stdout == "", (sentence, ran)
    assert ran.stderr.startswith("release: ") and ran.stderr.count("\n") == 1 and sentence in ran.stderr, (sentence, ran.stderr)
    assert (sorted(target.iterdir()) if target.exists() else None) == before, sentence
    assert not list(WORKPLACE.glob(".*")), list(WORKPLACE.glob(".*"))


def what_is_not_a_release_is_refused() -> None:
    tree = clone("tree-of-mistakes")
    refused("this is not 9.9.9: CMakeLists.txt has ", tree, version="9.9.9")
    refused("is there and not empty", tree, directory=MADE)
    refused("--cosign-key: there is no file /nonexistent", tree, "--cosign-key", "/nonexistent")
    with_git_alone = WORKPLACE / "path"
    with_git_alone.mkdir()
    for name in ("git", "env", "python3"):
        (with_git_alone / name).symlink_to(shutil.which(name))
    refused("--cosign-key takes the program cosign, and there is none on PATH", tree, "--cosign-key", str(tree / "LICENSE"),
            PATH=str(with_git_alone))
    refused("there is no /nonexistent: install kubectl", tree, KUBECTL="/nonexistent")
    refused("does not have the programs for", tree, "--arch", native().name, "--build", "/nonexistent")
    refused("--build names one directory for each architecture", tree, "--build", f"{BUILD},{BUILD},{BUILD}")

    (tree / "mine").write_text("")
    refused("the tree has changes that are not committed: mine\n", tree)
    (tree / "README.md").write_text("")
    refused("the tree has changes that are not committed: README.md and 1 more\n", tree)
    git(tree, "checkout", "README.md")
    (tree / "mine").unlink()


def one_file_of_another_version_is_refused() -> None:
    tree = clone("tree-of-versions")
    for file, old, new, sentence in (
        (f"{CHART}/Chart.yaml", f"version: {VERSION}", "version: 7.7.7", f"this is not {VERSION}: {CHART}/Chart.yaml (version) has 7.7.7\n"),
        (f"{CHART}/Chart.yaml", f"appVersion: {VERSION}", "appVersion: 7.7.7", f"{CHART}/Chart.yaml (appVersion) has 7.7.7\n"),
        ("manifests/default/kustomization.yaml", f"newTag: {VERSION}", "newTag: 7.7.7", "manifests/default/kustomization.yaml has 7.7.7\n"),
        ("CHANGELOG.md", f"## {VERSION} ({DAY})", "## 7.7.7 (2027-01-01)",
         f"CHANGELOG.md does not begin with '## {VERSION} (DATE)' but with '## 7.7.7 (2027-01-01)'\n"),
        ("CHANGELOG.md", f"## {VERSION} ({DAY})", f"## {VERSION} (unreleased)",
         f"CHANGELOG.md says '{VERSION} (unreleased)': write the day of the release in place of 'unreleased'"),
    ):
        before = (tree / file).read_text()
        assert re.search(rf"^\s*{re.escape(old)}$", before, re.MULTILINE), (file, old)
        (tree / file).write_text(re.sub(rf"^(\s*){re.escape(old)}$", rf"\g<1>{new}", before, flags=re.MULTILINE))
        git(tree, "commit", "--all", "--quiet", "--message=other")
        refused(sentence, tree)
        git(tree, "revert", "--no-edit", "HEAD")


def a_page_that_says_unreleased_is_refused() -> None:
    tree = clone("tree-of-pages")
    for name in ("README.md", "README.md and SECURITY.md"):
        page = tree / name.rpartition(" ")[2]
        page.write_text(page.read_text() + "\n0.1.0 is unreleased.\n")
        git(tree, "commit", "--all", "--quiet", "--message=other")
        refused(f"release: 'unreleased' is still in {name}: write what holds once this is released, and commit that\n", tree)


# ---- The chart, by Helm

def helm(major: str, *arguments) -> str:
    ran = subprocess.run([ROOT / "tools/helm", major, *map(str, arguments)], capture_output=True, text=True)
    assert ran.returncode == 0, ran
    return ran.stdout


def chart_images(major: str, *more: str) -> set:
    text = helm(major, "template", NAME, MADE / f"{NAME}-{VERSION}.tgz", "--namespace", NAME, "--kube-version", "1.37.2", *more)
    return images_of(libyaml.load_all(text))


def the_chart_names_the_same_images() -> None:
    references = set(made().values())
    digest = "sha256:" + "0123456789abcdef" * 4
    for major in ("3", "4"):
        found = helm(major, "lint", "--strict", MADE / f"{NAME}-{VERSION}.tgz", "--kube-version", "1.37.2")
        assert "[WARNING]" not in found and "[ERROR]" not in found, found
        assert chart_images(major) == references
        # A mirror has the same images. A tag or a digest of the user's comes first.
        assert chart_images(major, "--set", "image.registry=mirror.example.com") == {
            reference.replace(REGISTRY, "mirror.example.com") for reference in references}
        assert chart_images(major, "--set", "image.tag=mine") == {f"{REGISTRY}/{name}:mine" for name in PROGRAMS}
        own = chart_images(major, "--set", "agent.image.tag=mine", "--set", f"imex.image.digest={digest}")
        assert own == {made()["compute-domain-controller"], f"{REGISTRY}/compute-domain-agent:mine",
                       f"{REGISTRY}/compute-domain-imex@{digest}"}, own
        shown = helm(major, "show", "chart", MADE / f"{NAME}-{VERSION}.tgz")
        listed = libyaml.load(libyaml.load(shown)["annotations"]["artifacthub.io/images"])
        assert {image["name"]: image["image"] for image in listed} == made(), listed


def the_chart_has_what_helm_packages() -> None:
    def contents(path: Path) -> dict:
        with tarfile.open(path) as tar:
            assert all(member.isfile() for member in tar), path
            return {member.name: tar.extractfile(member).read() for member in tar}

    helm("4", "package", TREE / CHART, "--destination", WORKPLACE / "packaged")
    wanted, found = contents(WORKPLACE / f"packaged/{NAME}-{VERSION}.tgz"), contents(MADE / f"{NAME}-{VERSION}.tgz")
    assert set(wanted) == set(found), set(wanted) ^ set(found)
    assert {name for name in wanted if wanted[name] != found[name]} == {f"{NAME}/Chart.yaml", f"{NAME}/values.yaml"}


# ---- On a control plane

# Of others, which our components name: OpenShift's kind, whose schema is in no module that we have.
SECURITY_CONTEXT_CONSTRAINTS = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: securitycontextconstraints.security.openshift.io}
spec:
  group: security.openshift.io
  scope: Cluster
  names: {kind: SecurityContextConstraints, plural: securitycontextconstraints, singular: securitycontextconstraints}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
"""


class ControlPlane:
    """Of tools/cluster."""

    def __init__(self) -> None:
        self.folder = WORKPLACE / "cluster"
        # v1beta1 for manifests/kubernetes-1.32.
        ready = self._cluster("up", "--api-versions", "v1,v1beta1")
        atexit.register(self._cluster, "down")
        self.kubeconfig = ready.splitlines()[-1].partition("KUBECONFIG=")[2]
        self.kubectl("create", "namespace", NAME)
        monitors = subprocess.run([ROOT / "tests/monitoring/definitions/folder"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
        for kind in ("servicemonitors", "prometheusrules"):
            self.kubectl("create", "-f", f"{monitors}/monitoring.coreos.com_{kind}.yaml")
        self.kubectl("apply", "-f", "-", text=SECURITY_CONTEXT_CONSTRAINTS)
        self.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=30s")

    def _cluster(self, *arguments: str) -> str:
        return subprocess.run([ROOT / "tools/cluster", "--dir", self.folder, *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout

    def asked(self, *arguments, text="") -> subprocess.CompletedProcess:
        return subprocess.run([self.folder / "kubectl", *map(str, arguments)], input=text, capture_output=True, text=True, timeout=120)

    def kubectl(self, *arguments, text="") -> str:
        done = self.asked(*arguments, text=text)
        assert done.returncode == 0, (arguments, done.stderr)
        return done.stdout

    def would_apply(self, text: str) -> subprocess.CompletedProcess:
        return self.asked("apply", "--server-side", "--dry-run=server", "--validate=strict", "-f", "-", text=text)


@functools.cache
def control_plane() -> ControlPlane:
    return ControlPlane()


@contextlib.contextmanager
def namespace_of_the_nodes():
    """A dry run makes none, and then takes no object for it."""
    control_plane().kubectl("create", "namespace", NODES)
    try:
        yield
    finally:
        control_plane().kubectl("delete", "namespace", NODES, "--timeout=60s")


def an_api_server_takes_every_manifest() -> None:
    """By the line of its second comment, but strictly and as a dry run."""
    files = sorted(path for path in MADE.glob("*.yaml") if path.name != "compute-domain.yaml")
    assert {path.name for path in files} == {"check-nodes.yaml", *overlays()}, files
    with namespace_of_the_nodes():
        for path in files:
            text = path.read_text()
            done = control_plane().would_apply(text)
            said = [line for line in done.stderr.splitlines()
                    if not (path.name == "install-kubernetes-1.32.yaml" and "resource.k8s.io/v1beta1 DeviceClass is deprecated" in line)]
            assert done.returncode == 0 and not said, (path.name, done.stderr)
            objects = [each for each in libyaml.load_all(text) if each]
            assert done.stdout.count("serverside-applied (server dry run)\n") == len(objects), (path.name, done.stdout)


def what_is_misspelt_in_a_manifest_it_does_not_take() -> None:
    """So that the test above can fail."""
    text = (MADE / "install.yaml").read_text()
    wrong = (("  replicas: 2\n", "  replica: 2\n", ".spec.replica"), ("kind: DeviceClass\n", "kind: DeviceClasses\n", "DeviceClasses"))
    with namespace_of_the_nodes():
        for old, new, said in wrong:
            assert old in text
            done = control_plane().would_apply(text.replace(old, new, 1))
            assert done.returncode != 0 and said in done.stderr, (new, done)


def each_helm_installs_the_chart_and_takes_it_away() -> None:
    kubectl = control_plane().kubectl
    of_the_release = ("get", "namespaces,deployments,daemonsets,deviceclasses,clusterroles,validatingadmissionpolicies,crds", "--all-namespaces",
                      "-o", "name", "-l", f"app.kubernetes.io/instance={NAME}")
    settings = {name: str(WORKPLACE / "helm") for name in ("HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME")}
    environment = {**os.environ, **settings, "KUBECONFIG": control_plane().kubeconfig}
    for major in ("3", "4"):
        def ask(*arguments) -> subprocess.CompletedProcess:
            return subprocess.run([ROOT / "tools/helm", major, *map(str, arguments), "--namespace", NAME], env=environment, capture_output=True, text=True)

        done = ask("install", NAME, MADE / f"{NAME}-{VERSION}.tgz")
        assert done.returncode == 0 and "arning" not in done.stderr, (major, done.stderr)
        found = kubectl(*of_the_release).split()
        assert {each.partition("/")[0].partition(".")[0] for each in found} == {
            "namespace", "deployment", "daemonset", "deviceclass", "clusterrole", "validatingadmissionpolicy", "customresourcedefinition"}, found
        images = images_of(json.loads(kubectl("get", "deployments,daemonsets", "--all-namespaces", "-o", "json"))["items"])
        assert images == set(made().values()), images
        done = ask("uninstall", NAME)
        assert done.returncode == 0, (major, done.stderr)
        kubectl("wait", "--for=delete", f"namespace/{NODES}", "--timeout=60s")
        left = kubectl(*of_the_release).split()
        assert left and all(each.startswith("customresourcedefinition") for each in left), left


TESTS = (
    a_release_has_what_its_page_says,
    the_checksums_are_of_all_files,
    an_archive_has_the_image_that_images_txt_names,
    a_bill_of_materials_is_beside_each_image,
    the_plugin_runs_where_nothing_is_but_a_shell,
    the_plugin_has_its_libraries_with_their_licenses,
    the_krew_manifest_is_of_the_archives_beside_it,
    without_an_address_the_krew_manifest_has_one_where_nothing_can_be,
    every_manifest_names_only_images_that_are_in_the_archives,
    the_check_of_the_nodes_has_the_image_of_the_release,
    a_manifest_is_the_overlay,
    the_notes_are_the_section_of_the_changelog,
    a_second_run_gives_the_same_files,
    a_rehearsal_says_that_it_is_one,
    other_libraries_on_another_architecture_are_named,
    what_the_release_calls_a_page_is_in_its_documentation,
    its_manifests_are_those_of_the_release,
    a_signature_that_fails_is_an_error,
    what_is_not_a_release_is_refused,
    one_file_of_another_version_is_refused,
    a_page_that_says_unreleased_is_refused,
    the_chart_names_the_same_images,
    the_chart_has_what_helm_packages,
    an_api_server_takes_every_manifest,
    what_is_misspelt_in_a_manifest_it_does_not_take,
    each_helm_installs_the_chart_and_takes_it_away,
)


if __name__ == "__main__":
    KUBECTL = kubectl()
    TREE = copy_of_the_tree()
    MADE = WORKPLACE / "made"
    RAN = release(TREE, MADE)
    if RAN.returncode != 0:
        print(f"FAILED  tools/release: {RAN.stderr}0 passed, 1 failed")
        sys.exit(1)
    sys.exit(test_runner.run(TESTS, names=sys.argv[3:]))
