#!/usr/bin/env python3
"""Shows that tools/image keeps its reservations, with the programs of a build directory (default: build/release).

image_test.py [DIR]. The last line counts what passed.
"""

import gzip
import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import traceback
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/release").resolve()
LARGEST_LAYER = 30_000_000
AS_ROOT = [] if os.getuid() == 0 else ["unshare", "--map-root-user"]

sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tools/image.d"))

import elf
import oci_archive
from architectures import ARCHITECTURES, native
from oci_archive import Entry
from programs import PROGRAMS, version

BUILT = [name for name in PROGRAMS if (BUILD / "bin" / name).exists()]


class Image:
    def __init__(self, path: Path):
        with tarfile.open(path) as tar:
            self.names = tar.getnames()
            self.files = {member.name: tar.extractfile(member).read() for member in tar}
        [self.descriptor] = json.loads(self.files["index.json"])["manifests"]
        self.manifest = json.loads(self.blob(self.descriptor))
        self.config = json.loads(self.blob(self.manifest["config"]))
        [layer] = self.manifest["layers"]
        self.layer = self.blob(layer)

    def blob(self, descriptor: dict) -> bytes:
        return self.files["blobs/" + descriptor["digest"].replace(":", "/")]

    def root(self) -> tarfile.TarFile:
        return tarfile.open(fileobj=io.BytesIO(gzip.decompress(self.layer)))


def build(output: Path, *arguments: str) -> dict:
    subprocess.run([ROOT / "tools/image", "--build", BUILD, "--output", output, *arguments, *BUILT],
                   check=True, stdout=subprocess.DEVNULL)
    return {name: Image(output / f"{name}.tar") for name in BUILT}


def there_is_a_program_for_each_image(images: dict) -> None:
    assert BUILT == list(PROGRAMS), f"built: {BUILT}"


def every_blob_is_what_its_name_says(images: dict) -> None:
    for image in images.values():
        blobs = {name: content for name, content in image.files.items() if name.startswith("blobs/")}
        assert len(blobs) == 3, sorted(blobs)
        for name, content in blobs.items():
            assert name == "blobs/sha256/" + hashlib.sha256(content).hexdigest(), name
        for descriptor in (image.descriptor, image.manifest["config"], *image.manifest["layers"]):
            assert descriptor["size"] == len(image.blob(descriptor)), descriptor
        [diff_id] = image.config["rootfs"]["diff_ids"]
        assert diff_id == "sha256:" + hashlib.sha256(gzip.decompress(image.layer)).hexdigest()


def containerd_finds_the_name(images: dict) -> None:
    for name, image in images.items():
        expected = f"registry.invalid/{name}:{version(ROOT)}"
        assert image.descriptor["annotations"]["io.containerd.image.name"] == expected, image.descriptor


def the_same_input_gives_the_same_archive(images: dict) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, again in build(Path(folder)).items():
            assert again.files == images[name].files, name
            assert again.names == images[name].names, name


def another_repository_and_tag_change_the_name_alone(images: dict) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, other in build(Path(folder), "--repository", "registry.example.com/team", "--tag", "x").items():
            annotations = other.descriptor["annotations"]
            assert annotations["io.containerd.image.name"] == f"registry.example.com/team/{name}:x", annotations
            assert other.descriptor["digest"] == images[name].descriptor["digest"], name


def a_layer_is_small(images: dict) -> None:
    for name, image in images.items():
        print(f"        {name}: {len(image.layer) / 1e6:.1f} MB")
        assert len(image.layer) <= LARGEST_LAYER, name


def an_image_says_its_architecture(images: dict) -> None:
    for name, image in images.items():
        assert image.config["architecture"] == native().name, (name, image.config)
        assert image.descriptor["platform"]["architecture"] == native().name, (name, image.descriptor)


def one_name_is_for_several_architectures(images: dict) -> None:
    """What a container runtime picks its image from: an index of one manifest for each."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "both.tar"
        names = ["registry.example.com/both:1"]
        both = [oci_archive.Image({"program": Entry(0o755, content=name.encode())}, {}, {}, name) for name in ARCHITECTURES]
        digest, _ = oci_archive.write_all(path, names, both)
        with tarfile.open(path) as tar:
            files = {member.name: tar.extractfile(member).read() for member in tar}
        [top] = json.loads(files["index.json"])["manifests"]
        assert top["digest"] == digest and top["annotations"]["io.containerd.image.name"] == names[0], top
        assert top["mediaType"] == "application/vnd.oci.image.index.v1+json" and "platform" not in top, top

        def blob(descriptor: dict) -> bytes:
            return files["blobs/" + descriptor["digest"].replace(":", "/")]

        found = {}
        for manifest in json.loads(blob(top))["manifests"]:
            of_image = json.loads(blob(manifest))
            name = manifest["platform"]["architecture"]
            assert json.loads(blob(of_image["config"]))["architecture"] == name, manifest
            layer = tarfile.open(fileobj=io.BytesIO(gzip.decompress(blob(of_image["layers"][0]))))
            found[name] = layer.extractfile("program").read().decode()
        assert found == {name: name for name in ARCHITECTURES}, found


def architectures_and_builds_are_in_pairs(images: dict) -> None:
    refused(2, "--build: one directory for each architecture", "--arch", "amd64,arm64", "--build", str(BUILD))
    refused(2, "--arch: each architecture once", "--arch", "arm64,arm64")
    other = next(name for name in ARCHITECTURES if name != native().name)
    refused(1, f" is for {native().elf}, and the image for {other}", "--arch", f"{native().name},{other}",
            "--build", f"{BUILD},{BUILD}")


def refused(code: int, part: str, *arguments: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run([ROOT / "tools/image", "--output", folder, *arguments], capture_output=True, text=True)
        assert run.returncode == code and part in run.stderr and "Traceback" not in run.stderr, run
        assert not os.listdir(folder), os.listdir(folder)


def an_architecture_that_nobody_knows_is_refused(images: dict) -> None:
    refused(2, f"--arch: 'riscv64' is none of {', '.join(ARCHITECTURES)}", "--arch", "riscv64")


def programs_of_another_architecture_are_refused(images: dict) -> None:
    [other] = [name for name in ARCHITECTURES if name != native().name]
    refused(1, f" is for {native().elf}, and the image for {other}", "--arch", other, "--build", str(BUILD))


def programs_that_are_not_built_are_told_with_the_way_to_build_them(images: dict) -> None:
    refused(1, "is not there: cmake --build --preset release --target", "--build", "/nonexistent")
    if native().name != "arm64":
        refused(1, "is not there: tools/setup --arm64, then cmake --preset arm64", "--arch", "arm64", "--build", "/nonexistent")


def the_controller_is_not_root_and_says_what_it_is(images: dict) -> None:
    config = images["compute-domain-controller"].config["config"]
    assert config["User"] == "65532:65532", config
    assert config["Entrypoint"] == ["/usr/bin/compute-domain-controller"], config
    assert config["Labels"]["org.opencontainers.image.version"] == version(ROOT), config


def there_is_no_shell_and_nothing_that_changes_its_user(images: dict) -> None:
    for name, image in images.items():
        members = image.root().getmembers()
        programs = [member.name for member in members if member.isfile() and "/bin/" in member.name]
        assert programs == [f"usr/bin/{name}"], programs
        for member in members:
            assert member.mode & 0o6000 == 0 and member.uid == member.gid == member.mtime == 0, member.name
            assert member.isdir() or member.issym() or member.mode & 0o022 == 0, member.name


def every_program_starts_in_its_root(images: dict) -> None:
    for name, image in images.items():
        with tempfile.TemporaryDirectory() as folder:
            image.root().extractall(folder)
            run = subprocess.run([*AS_ROOT, "chroot", folder, f"/usr/bin/{name}", "--version"],
                                 capture_output=True, text=True, env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"})
            assert run.returncode == 0 and run.stdout == f"{name} {version(ROOT)}\n", run


def what_comes_from_the_driver_root_finds_the_c_library(images: dict) -> None:
    for name, image in images.items():
        present = {Path(member).name for member in image.root().getnames()}
        missing = set(PROGRAMS[name].more_libraries) - present
        assert not missing, (name, missing)


# The names that nvidia-imex and nvidia-imex-ctl are linked with, as far as they are public (nixpkgs gives zlib to
# NVIDIA's programs of this kind besides the C library).
LINKED_WITH = ("libpthread.so.0", "libdl.so.2", "libc.so.6", "librt.so.1", "libz.so.1", "libm.so.6")


def program(path: Path, text: str, *options: str) -> None:
    source = path.with_suffix(".c")
    source.write_text(text)
    subprocess.run(["gcc", "-o", path, source, *options], check=True)


def linked_program(path: Path) -> None:
    """A program that names these libraries, whether it uses them or not."""
    libraries = [f"/lib/{native().triplet}/{name}" for name in LINKED_WITH]
    program(path, "int main(void) { return 0; }\n", "-Wl,--no-as-needed", *libraries)
    assert elf.read(path).needed == LINKED_WITH, elf.read(path)


def a_program_that_is_linked_as_nvidia_imex_starts_in_its_root(images: dict) -> None:
    for name, image in images.items():
        if not PROGRAMS[name].more_libraries:
            continue  # nothing of the driver's runs there
        with tempfile.TemporaryDirectory() as folder:
            image.root().extractall(folder)
            linked_program(Path(folder) / "linked")
            run = subprocess.run([*AS_ROOT, "chroot", folder, "/linked"], capture_output=True, text=True,
                                 env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"})
            assert run.returncode == 0, (name, run)


def who_enters_the_owners_container_finds_the_control_tool(images: dict) -> None:
    """The one of the driver, as far as the owner has linked it, and the configuration of the daemon."""
    with tempfile.TemporaryDirectory() as folder:
        images["compute-domain-imex"].root().extractall(folder)
        run = [*AS_ROOT, "chroot", folder, "nvidia-imex-ctl", "-c", "/imexd/imexd.cfg", "-N", "-j", "-H"]
        path = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
        without = subprocess.run(run, capture_output=True, text=True, env=path)
        assert without.returncode == 1 and "compute-domain-imex check says what is missing" in without.stderr, without
        directory = Path(folder) / "run/compute-domain/imex"
        directory.mkdir(parents=True)
        # It tells its arguments, and whether it sees the configuration.
        program(Path(folder) / "tool", """
            #include <stdio.h>
            int main(int count, char** words) {
              for (int i = 1; i < count; ++i) printf("%s ", words[i]);
              printf("%s\\n", fopen(words[2], "r") ? "found" : "missing");
            }""")
        (directory / "nvidia-imex-ctl").symlink_to("/tool")
        (directory / "imexd.cfg").write_text("")
        told = subprocess.run(run, capture_output=True, text=True, env=path)
        assert told.stdout == "-c /imexd/imexd.cfg -N -j -H found\n", told


def nvidia_imex_asks_no_name_server(images: dict) -> None:
    text = images["compute-domain-imex"].root().extractfile("etc/nsswitch.conf").read().decode()
    assert "hosts: files\n" in text, text


TESTS = (
    there_is_a_program_for_each_image,
    every_blob_is_what_its_name_says,
    containerd_finds_the_name,
    the_same_input_gives_the_same_archive,
    another_repository_and_tag_change_the_name_alone,
    a_layer_is_small,
    an_image_says_its_architecture,
    one_name_is_for_several_architectures,
    architectures_and_builds_are_in_pairs,
    an_architecture_that_nobody_knows_is_refused,
    programs_of_another_architecture_are_refused,
    programs_that_are_not_built_are_told_with_the_way_to_build_them,
    the_controller_is_not_root_and_says_what_it_is,
    there_is_no_shell_and_nothing_that_changes_its_user,
    every_program_starts_in_its_root,
    what_comes_from_the_driver_root_finds_the_c_library,
    a_program_that_is_linked_as_nvidia_imex_starts_in_its_root,
    who_enters_the_owners_container_finds_the_control_tool,
    nvidia_imex_asks_no_name_server,
)


def main() -> int:
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        images = build(Path(folder))
        for test in TESTS:
            try:
                test(images)
                print(f"ok      {test.__name__}", flush=True)
            except Exception:
                failed += 1
                print(f"FAILED  {test.__name__}\n{traceback.format_exc()}", flush=True)
    print(f"{len(TESTS) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
