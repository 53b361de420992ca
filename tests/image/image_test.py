#!/usr/bin/env python3
"""What tools/image writes, shown with the programs of a build directory (default: build/release).

image_test.py [DIR]. The last line counts what passed.
"""

import gzip
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/release").resolve()
LARGEST_LAYER = 30_000_000
AS_ROOT = [] if os.getuid() == 0 else ["unshare", "--map-root-user"]

sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "tools/image.d"), str(ROOT / "tests")]

import elf
import oci_archive
import root_file_system
import spdx
import test_runner
from architectures import ARCHITECTURES, native
from debian_packages import DebianPackages
from failure import Failure
from gzipped import gzipped
from oci_archive import Entry
from programs import PROGRAMS, version

BUILT = [name for name in PROGRAMS if (BUILD / "bin" / name).exists()]


INDEX = "application/vnd.oci.image.index.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"


class Archive:
    def __init__(self, path: Path):
        self.bytes = path.read_bytes()
        with tarfile.open(path) as tar:
            folders, self.files = set(), {}
            for member in tar:
                assert member.name.rpartition("/")[0] in {"", *folders}, f"{member.name}: nothing has made its folder"
                if member.isdir():
                    folders.add(member.name)
                else:
                    self.files[member.name] = tar.extractfile(member).read()
        [self.descriptor] = json.loads(self.files["index.json"])["manifests"]

    def blob(self, descriptor: dict) -> bytes:
        return self.files["blobs/" + descriptor["digest"].replace(":", "/")]


class Image(Archive):
    def __init__(self, path: Path):
        super().__init__(path)
        self.manifest = json.loads(self.blob(self.descriptor))
        self.config = json.loads(self.blob(self.manifest["config"]))
        [layer] = self.manifest["layers"]
        self.layer = self.blob(layer)
        [document] = path.parent.glob(f"{path.stem}-*.spdx.json")
        self.document = document.read_bytes()

    def root(self) -> tarfile.TarFile:
        return tarfile.open(fileobj=io.BytesIO(gzip.decompress(self.layer)))


def build(output: Path, *arguments: str, programs=None, build=BUILD, **environment: str) -> dict:
    programs = programs or BUILT
    subprocess.run([ROOT / "tools/image", "--build", build, "--output", output, *arguments, *programs],
                   check=True, stdout=subprocess.DEVNULL, env={**os.environ, "SOURCE_DATE_EPOCH": "", **environment})
    return {name: Image(output / f"{name}.tar") for name in programs}


def there_is_a_program_for_each_image(images: dict) -> None:
    assert BUILT == list(PROGRAMS), f"built: {BUILT}"


def must_be_a_layout(archive: Archive) -> list:
    """As the Image Layout Specification has it, and all of it is reachable; the platforms that it is for."""
    assert json.loads(archive.files["oci-layout"]) == {"imageLayoutVersion": "1.0.0"}, archive.files["oci-layout"]
    index = json.loads(archive.files["index.json"])
    assert index["schemaVersion"] == 2 and index["mediaType"] == INDEX, index
    reached, platforms = {"oci-layout", "index.json"}, []

    def read(descriptor: dict) -> bytes:
        content = archive.blob(descriptor)
        assert descriptor["digest"] == "sha256:" + hashlib.sha256(content).hexdigest(), descriptor
        assert descriptor["size"] == len(content), descriptor
        reached.add("blobs/" + descriptor["digest"].replace(":", "/"))
        return content

    def walk(descriptor: dict) -> None:
        document = json.loads(read(descriptor))
        assert document["schemaVersion"] == 2 and document["mediaType"] == descriptor["mediaType"], document
        if descriptor["mediaType"] == INDEX:
            assert "platform" not in descriptor, descriptor
            for manifest in document["manifests"]:
                walk(manifest)
            return
        assert descriptor["mediaType"] == MANIFEST, descriptor
        config = json.loads(read(document["config"]))
        assert document["config"]["mediaType"] == "application/vnd.oci.image.config.v1+json", document
        assert descriptor["platform"] == {"architecture": config["architecture"], "os": config["os"]}, (descriptor, config)
        diff_ids = []
        for layer in document["layers"]:
            assert layer["mediaType"] == "application/vnd.oci.image.layer.v1.tar+gzip", layer
            diff_ids.append("sha256:" + hashlib.sha256(gzip.decompress(read(layer))).hexdigest())
        assert config["rootfs"] == {"type": "layers", "diff_ids": diff_ids}, config
        platforms.append(f"{config['os']}/{config['architecture']}")

    for descriptor in index["manifests"]:
        walk(descriptor)
    assert set(archive.files) == reached, set(archive.files) ^ reached
    return platforms


def an_archive_is_an_image_layout(images: dict) -> None:
    for image in images.values():
        assert must_be_a_layout(image) == [f"linux/{native().name}"]


def containerd_finds_the_name(images: dict) -> None:
    for name, image in images.items():
        expected = f"registry.invalid/{name}:{version(ROOT)}"
        assert image.descriptor["annotations"]["io.containerd.image.name"] == expected, image.descriptor


def the_same_input_gives_the_same_archive(images: dict) -> None:
    """Also at another time, in another place, for another user's habits."""
    with tempfile.TemporaryDirectory() as folder:
        copied = Path(folder) / "elsewhere"
        shutil.copytree(BUILD / "bin", copied / "bin", ignore=lambda _, names: [name for name in names if name not in BUILT])
        for program in (copied / "bin").iterdir():
            os.utime(program, (1, 1))
        again = build(Path(folder) / "again", build=copied, TZ="Asia/Tokyo", LC_ALL="C", PYTHONHASHSEED="1")
        for name, image in again.items():
            assert image.bytes == images[name].bytes, name
            assert image.document == images[name].document, name


def the_time_of_an_image_is_what_the_caller_says(images: dict) -> None:
    name = "compute-domain-imex"
    assert images[name].config["created"] == "1970-01-01T00:00:00Z", images[name].config
    with tempfile.TemporaryDirectory() as folder:
        image = build(Path(folder), "--revision", "0a1b2c", programs=[name], SOURCE_DATE_EPOCH="1700000000")[name]
        assert image.config["created"] == "2023-11-14T22:13:20Z", image.config
        assert image.config["config"]["Labels"]["org.opencontainers.image.created"] == "2023-11-14T22:13:20Z", image.config
        assert image.config["config"]["Labels"]["org.opencontainers.image.revision"] == "0a1b2c", image.config
        assert json.loads(image.document)["creationInfo"]["created"] == "2023-11-14T22:13:20Z", image.document
    refused(1, "image: SOURCE_DATE_EPOCH is 'today', and has to be the seconds since 1970", name, SOURCE_DATE_EPOCH="today")


# ---- What scanners look for

def records_of(root: tarfile.TarFile) -> dict:
    """By package: the fields of its stanza."""
    found = {}
    for member in root.getmembers():
        folder, _, name = member.name.rpartition("/")
        if folder == "var/lib/dpkg/status.d" and not name.endswith(".md5sums"):
            lines = root.extractfile(member).read().decode().splitlines()
            found[name] = dict(line.split(": ", 1) for line in lines if not line.startswith(" "))
    return found


def an_image_names_its_distribution(images: dict) -> None:
    for image in images.values():
        root = image.root()
        assert root.getmember("etc/os-release").linkname == "../usr/lib/os-release"
        assert root.extractfile("usr/lib/os-release").read() == Path("/etc/os-release").read_bytes()


def every_library_is_in_the_record_of_its_package(images: dict) -> None:
    for name, image in images.items():
        root = image.root()
        recorded = {}
        for package, fields in records_of(root).items():
            query = package if fields["Architecture"] == "all" else f"{package}:{native().name}"
            installed = subprocess.run(["dpkg-query", "--show", "--showformat=${Version} ${source:Package}", query],
                                       capture_output=True, text=True, check=True).stdout
            assert fields["Package"] == package and fields["Status"] == "install ok installed", fields
            assert f"{fields['Version']} {fields.get('Source', package).split()[0]}" == installed, (fields, installed)
            assert root.getmember(f"usr/share/doc/{package}/copyright").size > 0, package
            for line in root.extractfile(f"var/lib/dpkg/status.d/{package}.md5sums").read().decode().splitlines():
                digest, path = line.split("  ")
                assert hashlib.md5(root.extractfile(path).read()).hexdigest() == digest, path
                recorded[path] = package
        libraries = {member.name for member in root.getmembers() if member.isfile() and member.name.startswith("usr/lib/")}
        assert libraries <= set(recorded), (name, libraries - set(recorded))
        assert {"libc6", "libstdc++6", "base-files"} <= set(recorded.values()), (name, recorded)


def the_bill_of_materials_is_true(images: dict) -> None:
    for name, image in images.items():
        root = image.root()
        path = spdx.path_of(name)
        assert root.extractfile(path).read() == image.document, name
        document = json.loads(image.document)
        assert document["spdxVersion"] == "SPDX-2.3" and document["dataLicense"] == "CC0-1.0", document
        elements = [document, *document["packages"], *document["files"]]
        identifiers = {element["SPDXID"] for element in elements}
        assert len(identifiers) == len(elements), name
        for relation in document["relationships"]:
            assert {relation["spdxElementId"], relation["relatedSpdxElement"]} <= identifiers, relation
        versions = {package["name"]: package["versionInfo"] for package in document["packages"]}
        wanted = {package: fields["Version"] for package, fields in records_of(root).items()}
        assert versions.items() >= wanted.items(), (versions, wanted)
        assert set(versions) == {*wanted, *PROGRAMS[name].compiled_in, name, f"{name}-image"}, versions
        sums = {file["fileName"]: file["checksums"][1]["checksumValue"] for file in document["files"]}
        assert sums == {f"./{member.name}": hashlib.sha256(root.extractfile(member).read()).hexdigest()
                        for member in root.getmembers() if member.isfile() and member.name != path}, name


def the_licenses_of_headers_that_are_compiled_in_are_there(images: dict) -> None:
    for name, image in images.items():
        root, document = image.root(), json.loads(image.document)
        packages = {package["name"]: package["SPDXID"] for package in document["packages"]}
        files = {file["fileName"]: file["SPDXID"] for file in document["files"]}
        relations = {(each["spdxElementId"], each["relationshipType"], each["relatedSpdxElement"]) for each in document["relationships"]}
        for package in PROGRAMS[name].compiled_in:
            path = f"usr/share/doc/{package}/copyright"
            assert root.getmember(path).size > 0, path
            assert (packages[package], "CONTAINS", files[f"./{path}"]) in relations, package
            assert ("SPDXRef-program", "STATIC_LINK", packages[package]) in relations, package
            assert ("SPDXRef-image", "CONTAINS", packages[package]) not in relations, package


def packages(root: Path, name: str, **files: str) -> DebianPackages:
    """A made-up root with one package; its files are all in /usr/lib."""
    info = root / "var/lib/dpkg/info"
    info.mkdir(parents=True)
    (root / "usr/lib").mkdir(parents=True)
    (root / "usr/share/doc" / name).mkdir(parents=True)
    (root / "usr/share/doc" / name / "copyright").write_text(f"of {name}")
    for file, content in files.items():
        (root / "usr/lib" / file).write_text(content)
    (info / f"{name}.list").write_text("".join(f"/usr/lib/{file}\n" for file in files))
    sums = [f"{hashlib.md5(content.encode()).hexdigest()}  usr/lib/{file}\n" for file, content in files.items()]
    (info / f"{name}.md5sums").write_text("".join(sums))
    (root / "var/lib/dpkg/status").write_text(f"Package: {name}\nStatus: install ok installed\nVersion: 1\nArchitecture: all\n\n")
    return DebianPackages(root)


def a_package_has_its_copyright_below_its_own_root(images: dict) -> None:
    """An image for another architecture has packages of a sysroot, and certificates of this machine."""
    with tempfile.TemporaryDirectory() as folder:
        here, there = packages(Path(folder) / "a", "one").named("one"), packages(Path(folder) / "b", "two").named("two")
        entries, owners = {}, {}
        root_file_system.add_copyrights([here, there], entries, owners)
        assert {path: entry.content for path, entry in entries.items()} == {
            "usr/share/doc/one/copyright": b"of one", "usr/share/doc/two/copyright": b"of two"}, entries
        assert list(owners.values()) == [here, there], owners


def a_file_that_is_not_the_packages_is_refused(images: dict) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "root"
        found = packages(root, "zlib1g", libz="a library")
        (root / "usr/lib/link").symlink_to("libz")
        assert found.content("usr/lib/libz") == found.content("usr/lib/link") == b"a library"
        (root / "usr/lib/libz").write_text("mine")
        try:
            found.content("usr/lib/link")
            raise AssertionError("not refused")
        except Failure as failure:
            assert f"{root}/usr/lib/libz is not as the Debian package zlib1g has it: rm -rf {root}" in str(failure), failure


def a_layer_is_the_same_from_every_python(images: dict) -> None:
    assert gzipped(b"")[:10] == b"\x1f\x8b\x08\0\0\0\0\0\0\xff"
    for content in (b"", b"text", b"text" * 100_000):
        assert gzip.decompress(gzipped(content)) == content


def certificates_are_the_packages_and_not_this_machines(images: dict) -> None:
    listed = Path("/var/lib/dpkg/info/ca-certificates.list").read_text().splitlines()
    wanted = [Path(path).read_text().strip() for path in sorted(listed) if path.endswith(".crt") and "/doc/" not in path]
    found = images["compute-domain-agent"].root().extractfile("etc/ssl/certs/ca-certificates.crt").read().decode()
    assert found == "".join(text + "\n" for text in wanted)


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
        both = [oci_archive.Image({"program": Entry(0o755, content=name.encode())}, {}, {"title": "both"}, name) for name in ARCHITECTURES]
        digest, _ = oci_archive.write_all(path, names, both)
        archive = Archive(path)
        top = archive.descriptor
        assert top["digest"] == digest and top["annotations"]["io.containerd.image.name"] == names[0], top
        assert top["mediaType"] == INDEX and json.loads(archive.blob(top))["annotations"] == {"title": "both"}, top
        assert must_be_a_layout(archive) == [f"linux/{name}" for name in ARCHITECTURES]
        found = {}
        for manifest in json.loads(archive.blob(top))["manifests"]:
            of_image = json.loads(archive.blob(manifest))
            layer = tarfile.open(fileobj=io.BytesIO(gzip.decompress(archive.blob(of_image["layers"][0]))))
            found[manifest["platform"]["architecture"]] = layer.extractfile("program").read().decode()
        assert found == {name: name for name in ARCHITECTURES}, found


def architectures_and_builds_are_in_pairs(images: dict) -> None:
    refused(2, "--build: one directory for each architecture", "--arch", "amd64,arm64", "--build", str(BUILD))
    refused(2, "--arch: each architecture once", "--arch", "arm64,arm64")
    other = next(name for name in ARCHITECTURES if name != native().name)
    refused(1, f" is for {native().elf}, and the image for {other}", "--arch", f"{native().name},{other}",
            "--build", f"{BUILD},{BUILD}")


def refused(code: int, part: str, *arguments: str, **environment: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run([ROOT / "tools/image", "--output", folder, *arguments], capture_output=True, text=True,
                             env={**os.environ, **environment})
        assert run.returncode == code and part in run.stderr and "Traceback" not in run.stderr, run
        assert not os.listdir(folder), os.listdir(folder)


def an_architecture_that_nobody_knows_is_refused(images: dict) -> None:
    refused(2, f"--arch: 'riscv64' is none of {', '.join(ARCHITECTURES)}", "--arch", "riscv64")


def programs_of_another_architecture_are_refused(images: dict) -> None:
    [other] = [name for name in ARCHITECTURES if name != native().name]
    refused(1, f" is for {native().elf}, and the image for {other}", "--arch", other, "--build", str(BUILD))


def programs_that_are_not_built_are_told_with_the_way_to_build_them(images: dict) -> None:
    refused(1, f"is not there: tools/setup, then cmake --preset release and cmake --build --preset release --target {' '.join(PROGRAMS)}",
            "--build", "/nonexistent")
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
    an_archive_is_an_image_layout,
    containerd_finds_the_name,
    the_same_input_gives_the_same_archive,
    the_time_of_an_image_is_what_the_caller_says,
    an_image_names_its_distribution,
    every_library_is_in_the_record_of_its_package,
    the_bill_of_materials_is_true,
    the_licenses_of_headers_that_are_compiled_in_are_there,
    a_package_has_its_copyright_below_its_own_root,
    a_file_that_is_not_the_packages_is_refused,
    a_layer_is_the_same_from_every_python,
    certificates_are_the_packages_and_not_this_machines,
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
    with tempfile.TemporaryDirectory() as folder:
        return test_runner.run(TESTS, build(Path(folder)), names=sys.argv[2:])


if __name__ == "__main__":
    sys.exit(main())
