#!/usr/bin/env python3
"""What the programs say of a real NVIDIA driver, beside what NVIDIA's own nvidia-smi and nvidia-ml-py say of it, and what CUDA
does with IMEX channels.

gpu_test.py ARCHIVE [TEST…]: on a machine with a GPU, as root, with compute-domain-imex.tar of tools/image; its image is unpacked
and entered, as a container would, so that the machine may be any Linux. Needs Python 3.9 with nvidia-ml-py. Changes no setting
of the GPU. No part of CI, whose machines have none. The last line counts what passed.
"""

import ctypes
import errno
import io
import json
import os
import re
import stat
import subprocess
import sys
import tarfile
from pathlib import Path

import pynvml

ROOT = Path(__file__).resolve().parent.parent.parent
ARCHIVE = Path(sys.argv[1])
PROGRAM = "/usr/bin/compute-domain-imex"
NOBODY = 65534

sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests"))

import test_runner


def unpack(archive: Path, folder: Path) -> None:
    with tarfile.open(archive) as layout:
        def blob(digest: str) -> bytes:
            return layout.extractfile("blobs/" + digest.replace(":", "/")).read()

        document = json.load(layout.extractfile("index.json"))
        while "layers" not in document:
            document = json.loads(blob(document["manifests"][0]["digest"]))
        for layer in document["layers"]:
            with tarfile.open(fileobj=io.BytesIO(blob(layer["digest"]))) as files:
                files.extractall(folder)


def library_folder() -> str:
    """Of libnvidia-ml.so.1, as this machine's programs find it."""
    with open("/proc/self/maps") as maps:
        return next(str(Path(line.split()[-1]).parent) for line in maps if "libnvidia-ml.so" in line)


class Container:
    """The image, with the machine's root as driver root, and with a /dev of its own."""

    def __init__(self, folder: Path):
        self.root = folder
        unpack(ARCHIVE, folder)
        self.dev = folder / "dev"
        (folder / "driver-root").mkdir(exist_ok=True)
        subprocess.run(["mount", "--rbind", "--make-private", "/", folder / "driver-root"], check=True)
        subprocess.run(["mount", "-t", "proc", "proc", folder / "proc"], check=True)
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", self.dev], check=True)
        self.node("null", 0o666, 1, 3)

    def node(self, path: str, mode: int, major: int, minor: int) -> Path:
        place = self.dev / path
        place.parent.mkdir(parents=True, exist_ok=True)
        os.mknod(place, stat.S_IFCHR | mode, os.makedev(major, minor))
        place.chmod(mode)
        return place

    def lose_device_files(self) -> None:
        for path in self.dev.glob("nvidia*"):
            subprocess.run(["rm", "-r", path], check=True)

    def run(self, *arguments: str, user: int = 0) -> subprocess.CompletedProcess:
        def enter():
            os.chroot(self.root)
            os.chdir("/")
            if user:
                os.setgroups([])
                os.setgid(user)
                os.setuid(user)

        return subprocess.run([PROGRAM, *arguments, "--driver-libraries", library_folder()], preexec_fn=enter, text=True,
                              capture_output=True, timeout=60)

    def checked(self) -> dict:
        """Found and verdict by check."""
        findings = json.loads(self.run("check", "--host-root", "/driver-root", "-o", "json").stdout)["findings"]
        return {each["check"]: (each["found"], each["verdict"]) for each in findings}


class Gpu:
    """As nvidia-ml-py has it."""

    def __init__(self, index: int):
        self.index = index
        self.handle = pynvml.nvmlDeviceGetHandleByIndex(index)
        self.uuid = pynvml.nvmlDeviceGetUUID(self.handle)
        self.name = pynvml.nvmlDeviceGetName(self.handle)
        self.minor = pynvml.nvmlDeviceGetMinorNumber(self.handle)
        self.is_persistent = pynvml.nvmlDeviceGetPersistenceMode(self.handle) == pynvml.NVML_FEATURE_ENABLED
        self.fabric_result, self.fabric = self.ask(pynvml.nvmlGpuFabricInfo_v3)

    def ask(self, version: int) -> tuple:
        """The result and the third layout, filled in."""
        layout = pynvml.c_nvmlGpuFabricInfo_v3_t()
        layout.version = version
        return pynvml._nvmlGetFunctionPointer("nvmlDeviceGetGpuFabricInfoV")(self.handle, ctypes.byref(layout)), layout


def gpus() -> list:
    return [Gpu(i) for i in range(pynvml.nvmlDeviceGetCount())]


def numbers(path: str) -> dict:
    """`Name: number` lines of a file of the driver."""
    return {name.strip(): int(value) for name, value in re.findall(r"^([^:\n]+):\s*(\d+)\s*$", Path(path).read_text(), re.M)}


def major(name: str) -> int:
    return int(re.search(rf"^\s*(\d+) {re.escape(name)}$", Path("/proc/devices").read_text(), re.M)[1])


def opens(path: Path) -> str:
    """"" or the name of the error."""
    try:
        os.close(os.open(path, os.O_RDWR))
        return ""
    except OSError as error:
        return errno.errorcode[error.errno]


def names_each_gpu_as_nvidia_smi_does(container: Container) -> None:
    said = container.run("fabric")
    assert said.returncode in (0, 1), said
    assert f"Driver: {pynvml.nvmlSystemGetDriverVersion()}," in said.stdout, said.stdout
    listed = subprocess.run(["nvidia-smi", "--query-gpu=index,uuid,name", "--format=csv,noheader"], capture_output=True, text=True, check=True)
    for line in listed.stdout.splitlines():
        index, uuid, name = line.split(", ")
        assert f"GPU {index} ({uuid}), {name}\n" in said.stdout, said.stdout


def says_of_each_fabric_what_nvidia_ml_py_reads(container: Container) -> None:
    words = {pynvml.NVML_GPU_FABRIC_STATE_NOT_SUPPORTED: "not supported", pynvml.NVML_GPU_FABRIC_STATE_NOT_STARTED: "not started",
             pynvml.NVML_GPU_FABRIC_STATE_IN_PROGRESS: "in progress", pynvml.NVML_GPU_FABRIC_STATE_COMPLETED: "completed"}
    sections = re.split(r"^GPU \d+ ", container.run("fabric").stdout, flags=re.M)[1:]
    assert len(sections) == len(gpus()), sections
    for gpu, section in zip(gpus(), sections):
        if gpu.fabric_result == pynvml.NVML_ERROR_NOT_SUPPORTED:
            assert "state: not supported" in section, section
            continue
        assert gpu.fabric_result == pynvml.NVML_SUCCESS, gpu.fabric_result
        assert f"state: {words[gpu.fabric.state]}" in section, section
        cluster = bytes(gpu.fabric.clusterUuid)
        if gpu.fabric.state == pynvml.NVML_GPU_FABRIC_STATE_COMPLETED and any(cluster):
            text = cluster.hex()
            clique = "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:])) + f".{gpu.fabric.cliqueId}"
            assert f"clique: {clique}" in section, section
        else:
            assert "clique: none" in section or "clique: unknown" in section, section


# src/nvidia/nvml_abi.h asserts these numbers of its own.
def its_layouts_are_those_of_nvidia_ml_py(container: Container) -> None:
    for layout, size, version in ((pynvml.c_nvmlGpuFabricInfo_v2_t, 36, 2), (pynvml.c_nvmlGpuFabricInfo_v3_t, 40, 3)):
        assert ctypes.sizeof(layout) == size, ctypes.sizeof(layout)
        assert getattr(pynvml, f"nvmlGpuFabricInfo_v{version}") == size | version << 24
        assert layout.state.offset == 28 and layout.healthMask.offset == 32
    assert pynvml.c_nvmlGpuFabricInfo_v3_t.healthSummary.offset == 36


# By which it is known that an older layout has to be tried.
def a_layout_that_the_driver_does_not_know_is_a_version_mismatch(container: Container) -> None:
    for version in (0, 40 | 9 << 24):
        assert gpus()[0].ask(version)[0] == pynvml.NVML_ERROR_ARGUMENT_VERSION_MISMATCH


def reads_persistence_mode(container: Container) -> None:
    found, verdict = container.checked()["Persistence"]
    if all(gpu.is_persistent for gpu in gpus()):
        assert (found, verdict) == ("on", "ok"), (found, verdict)
    else:
        assert verdict != "ok" or found == "nvidia-persistenced runs", (found, verdict)


def check_finds_what_the_kernel_module_has(container: Container) -> None:
    found = container.checked()
    channels = numbers("/proc/driver/nvidia/params")["ImexChannelCount"]
    capability = numbers("/proc/driver/nvidia/capabilities/fabric-imex-mgmt")["DeviceFileMinor"]
    assert found["ImexChannels"] == (f"major {major('nvidia-caps-imex-channels')} in /proc/devices", "ok"), found
    assert found["ImexChannelCount"][0].startswith(f"{channels} "), found
    assert found["ImexCapability"] == (f"/dev/nvidia-caps/nvidia-cap{capability}, major {major('nvidia-caps')}", "ok"), found
    assert found["Gpus"] == (str(len(gpus())), "ok"), found


# What a container gets is channel N = minor N; the daemon gets the capability.
def the_kernel_module_opens_the_device_files_by_these_numbers(container: Container) -> None:
    channels = numbers("/proc/driver/nvidia/params")["ImexChannelCount"]
    of_channels = major("nvidia-caps-imex-channels")
    for minor in (0, 1, channels - 1):
        assert opens(container.node(f"nvidia-caps-imex-channels/channel{minor}", 0o666, of_channels, minor)) == "", minor
    assert opens(container.node(f"nvidia-caps-imex-channels/channel{channels}", 0o666, of_channels, channels)) == "ENXIO"
    capability = numbers("/proc/driver/nvidia/capabilities/fabric-imex-mgmt")
    path = container.dev / f"nvidia-caps/nvidia-cap{capability['DeviceFileMinor']}"
    path.unlink(missing_ok=True)
    container.node(str(path.relative_to(container.dev)), capability["DeviceFileMode"], major("nvidia-caps"), capability["DeviceFileMinor"])
    assert opens(path) == "", path


# The agent's user, and containers that are not privileged.
def without_device_files_a_user_is_told(container: Container) -> None:
    container.lose_device_files()
    said = container.run("fabric", user=NOBODY)
    assert said.returncode == 1, said
    assert "is /dev/nvidiactl in this container?" in said.stdout, said.stdout


# NVML then says that there are no GPUs, and that all is well.
def a_gpu_without_its_device_file_is_a_fault(container: Container) -> None:
    container.lose_device_files()
    container.node("nvidiactl", 0o666, major("nvidiactl"), 255)
    said = container.run("fabric", user=NOBODY)
    assert said.returncode == 1, said
    for gpu in gpus():
        assert f"({gpu.uuid})" in said.stdout and f"is /dev/nvidia{gpu.minor} in this container" in said.stdout, said.stdout


# By NVML itself.
def without_device_files_root_makes_them(container: Container) -> None:
    container.lose_device_files()
    said = container.run("fabric")
    assert "The clique of this node is unknown" not in said.stdout, said.stdout
    for gpu in gpus():
        assert os.stat(container.dev / f"nvidia{gpu.minor}").st_rdev == os.makedev(major("nvidia"), gpu.minor)


class Process:
    """A process of CUDA that sees these channels and no others: minors by the names that a container would have for them."""

    def __init__(self, channels: dict, *arguments: str):
        folder = Path("/dev/nvidia-caps-imex-channels")
        folder.mkdir(exist_ok=True)
        steps = [f"mount -t tmpfs tmpfs {folder}"]
        steps += [f"mknod -m 666 {folder}/{name} c {major('nvidia-caps-imex-channels')} {minor}" for name, minor in channels.items()]
        steps += [f"exec {sys.executable} {Path(__file__).parent}/fabric_memory.py {' '.join(arguments)}"]
        self._process = subprocess.Popen(["unshare", "--mount", "--propagation", "private", "sh", "-ec", "\n".join(steps)],
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def said(self) -> str:
        return self._process.stdout.readline().strip()

    def __enter__(self) -> "Process":
        return self

    def __exit__(self, *_) -> None:
        self._process.stdin.close()
        assert self._process.wait(timeout=60) == 0


def imported(channels: dict, handle: str) -> str:
    with Process(channels, "import", handle) as process:
        return process.said()


REFUSED = "CUDA_ERROR_NOT_PERMITTED"


def cuda_makes_memory_for_other_nodes_with_a_channel_alone(container: Container) -> None:
    with Process({}, "export") as process:
        assert process.said() == REFUSED
    with Process({"channel0": 0}, "export") as process:
        handle = process.said()
        assert re.fullmatch("[0-9a-f]{128}", handle), handle
        assert imported({"channel0": 0}, handle) == "imported"
        assert imported({}, handle) == REFUSED


# A container has channel 7 as channel7; or, on request, as channel0 too.
def memory_of_a_channel_is_opened_through_the_file_of_its_name(container: Container) -> None:
    both = {"channel0": 7, "channel7": 7}
    for exporter in ({"channel7": 7}, both):
        with Process(exporter, "export") as process:
            handle = process.said()
            for importer in ({"channel7": 7}, both):
                assert imported(importer, handle) == "imported", (exporter, importer)
            for importer in ({"channel0": 7}, {"channel7": 0}, {"channel3": 7}):
                assert imported(importer, handle) == REFUSED, (exporter, importer)


# Isolation by channel, as the driver enforces it.
def one_channels_memory_is_not_opened_with_another_channel(container: Container) -> None:
    with Process({"channel7": 7}, "export") as process:
        handle = process.said()
        for importer in ({"channel0": 0}, {"channel8": 8}, {"channel0": 8, "channel8": 8}):
            assert imported(importer, handle) == REFUSED, importer


# allocationMode All.
def of_several_channels_memory_is_made_through_the_first_and_opened_through_each(container: Container) -> None:
    several = {f"channel{minor}": minor for minor in (3, 5)}
    with Process(several, "export") as process:
        handle = process.said()
        assert imported({"channel3": 3}, handle) == "imported"
        assert imported({"channel5": 5}, handle) == REFUSED
    with Process({"channel5": 5}, "export") as process:
        assert imported(several, process.said()) == "imported"


TESTS = [names_each_gpu_as_nvidia_smi_does, says_of_each_fabric_what_nvidia_ml_py_reads, its_layouts_are_those_of_nvidia_ml_py,
         a_layout_that_the_driver_does_not_know_is_a_version_mismatch, reads_persistence_mode, check_finds_what_the_kernel_module_has,
         the_kernel_module_opens_the_device_files_by_these_numbers, without_device_files_a_user_is_told,
         a_gpu_without_its_device_file_is_a_fault, without_device_files_root_makes_them,
         cuda_makes_memory_for_other_nodes_with_a_channel_alone, memory_of_a_channel_is_opened_through_the_file_of_its_name,
         one_channels_memory_is_not_opened_with_another_channel,
         of_several_channels_memory_is_made_through_the_first_and_opened_through_each]


def main() -> int:
    if "GPU_TEST_MOUNTS" not in os.environ:
        # All that is mounted goes with this process.
        os.environ["GPU_TEST_MOUNTS"] = "own"
        os.execvp("unshare", ["unshare", "--mount", "--propagation", "private", sys.executable, *sys.argv])
    pynvml.nvmlInit()
    print(f"driver {pynvml.nvmlSystemGetDriverVersion()}: {', '.join(gpu.name for gpu in gpus())}")
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/mnt"], check=True)
    return test_runner.run(TESTS, Container(Path("/mnt")), names=sys.argv[2:])


if __name__ == "__main__":
    sys.exit(main())
