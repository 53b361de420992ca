"""Architectures: what images can be for, and where here the programs and libraries for it lie.

Programs for another one than this machine's are built with a sysroot (tools/setup --arm64), which has its libraries.
"""

import platform
from dataclasses import dataclass
from pathlib import Path

from failure import Failure

_ROOT = Path(__file__).resolve().parent.parent.parent


@dataclass(frozen=True)
class Architecture:
    name: str  # as images and Debian call it
    machine: str  # as the kernel calls it
    elf: str  # as readelf calls it
    preset: str = ""  # of CMake, for one that is not this machine's

    @property
    def triplet(self) -> str:
        return f"{self.machine}-linux-gnu"

    @property
    def is_native(self) -> bool:
        return platform.machine() == self.machine

    @property
    def build(self) -> Path:
        """Where its programs are unless somebody says otherwise."""
        return _ROOT / "build" / (self._foreign_preset() or "release")

    @property
    def root(self) -> Path:
        """What the paths of its shared libraries begin with here."""
        preset = self._foreign_preset()
        return _ROOT / "build" / f"{preset}-sysroot" if preset else Path("/")

    @property
    def how_to_build(self) -> str:
        preset = self._foreign_preset()
        return (f"tools/setup --{preset}, then cmake --preset {preset} and cmake --build --preset {preset}" if preset
                else "tools/setup, then cmake --preset release and cmake --build --preset release")

    @property
    def strip(self) -> str:
        return "strip" if self.is_native else f"{self.triplet}-strip"

    def _foreign_preset(self) -> str:
        if self.is_native:
            return ""
        if not self.preset:
            raise Failure(f"images for {self.name} are made on such a machine only")
        return self.preset


ARCHITECTURES = {
    architecture.name: architecture
    for architecture in (
        Architecture("amd64", "x86_64", "Advanced Micro Devices X86-64"),
        Architecture("arm64", "aarch64", "AArch64", preset="arm64"),
    )
}


def native() -> Architecture:
    for architecture in ARCHITECTURES.values():
        if architecture.is_native:
            return architecture
    raise Failure(f"no name for the architecture {platform.machine()}")
