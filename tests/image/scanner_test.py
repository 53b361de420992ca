#!/usr/bin/env python3
"""What a scanner finds in an image of tools/image: Syft, built from its Go modules, finds the packages that the SPDX document names.

scanner_test.py [DIR [DIR-OF-ARM64 | - [TEST…]]]: with the programs of build directories. DIR is this machine's (default:
build/release); with another one for arm64 the archive of two platforms is as a release ships it, and else one that differs in
dpkg's records alone. Not part of CI: the first build of Syft takes a while. The last line counts what passed.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/release").resolve()
OF_ARM64 = Path(sys.argv[2]).resolve() if len(sys.argv) > 2 and sys.argv[2] != "-" else None
PROGRAM = "compute-domain-agent"  # it has the most packages

sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "tools/cluster.d"), str(ROOT / "tools/image.d"), str(ROOT / "tests")]

import oci_archive
import root_file_system
import syft_program
import test_runner
from architectures import ARCHITECTURES, native
from oci_archive import Entry
from programs import PROGRAMS, version


class Image:
    """An archive of the program, and what documents beside it name, by architecture."""

    def __init__(self, folder: Path, *architectures: str):
        builds = [BUILD if ARCHITECTURES[name].is_native else OF_ARM64 for name in architectures]
        subprocess.run([ROOT / "tools/image", "--arch", ",".join(architectures), "--build", ",".join(map(str, builds)), "--output", folder, PROGRAM],
                       check=True, stdout=subprocess.DEVNULL)
        self.folder = folder
        self.archive = folder / f"{PROGRAM}.tar"
        self.documented = {name: self._named_in(name) for name in architectures}

    def _named_in(self, architecture: str) -> set:
        packages = json.loads((self.folder / f"{PROGRAM}-{architecture}.spdx.json").read_text())["packages"]
        # All but the image itself.
        return {(each["name"], each["versionInfo"]) for each in packages if each["SPDXID"] != "SPDXRef-image"}

    def recorded(self, architecture: str) -> set:
        """Those of which the image has dpkg's record: not what has only been compiled in."""
        return {(name, version) for name, version in self.documented[architecture] if name not in {PROGRAM, *PROGRAMS[PROGRAM].compiled_in}}


def asked(archive: Path, *flags: str) -> subprocess.CompletedProcess:
    # It asks nobody for a newer version of itself.
    environment = {"PATH": os.environ["PATH"], "HOME": str(archive.parent), "SYFT_CHECK_FOR_APP_UPDATE": "false"}
    return subprocess.run([syft_program.path(), "scan", f"oci-archive:{archive}", "--output", "syft-json", *flags],
                          env=environment, capture_output=True, text=True)


def scanned(archive: Path, *flags: str) -> dict:
    done = asked(archive, *flags)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def packages_in(scan: dict, cataloger: str) -> set:
    """(name, version) of those that this part of the scanner has found."""
    return {(each["name"], each["version"]) for each in scan["artifacts"] if each["foundBy"] == cataloger}


def it_knows_the_distribution_and_each_package_with_files(image: Image) -> None:
    scan = scanned(image.archive)
    release = dict(line.split("=", 1) for line in Path("/etc/os-release").read_text().splitlines() if "=" in line)
    distribution = scan["distro"]
    assert (distribution["id"], distribution["versionID"]) == (release["ID"], release["VERSION_ID"].strip('"')), distribution
    wanted = image.recorded(native().name)
    assert "libc6" in dict(wanted), wanted
    found = packages_in(scan, "dpkg-db-cataloger")
    assert found == wanted, found ^ wanted


def it_reads_the_document_where_it_is_asked_to(image: Image) -> None:
    found = packages_in(scanned(image.archive, "--select-catalogers", "+sbom-cataloger"), "sbom-cataloger")
    wanted = image.documented[native().name]
    assert found == wanted, found ^ wanted


def with_other_records(image: Image) -> tuple:
    """An archive of two platforms without the programs of the other one, whose versions are then epochs later; and what is recorded of each."""
    entries = root_file_system.of(PROGRAMS[PROGRAM], BUILD / "bin" / PROGRAM, native(), version(ROOT), "1970-01-01T00:00:00Z")
    later = {path: Entry(entry.mode, entry.content.replace(b"\nVersion: ", b"\nVersion: 9:"))
             for path, entry in entries.items() if path.startswith("var/lib/dpkg/status.d/") and not path.endswith(".md5sums") and entry.content}
    [other] = [name for name in ARCHITECTURES if name != native().name]
    both = [oci_archive.Image({**entries, **changed}, PROGRAMS[PROGRAM].settings, {}, name)
            for name, changed in ((native().name, {}), (other, later))]
    archive = image.folder / "two.tar"
    oci_archive.write_all(archive, ["registry.invalid/two:1"], both)
    wanted = image.recorded(native().name)
    return archive, {native().name: wanted, other: {(name, f"9:{version}") for name, version in wanted}}


def as_released(image: Image) -> tuple:
    both = Image(image.folder / "two", *ARCHITECTURES)
    return both.archive, {name: both.recorded(name) for name in ARCHITECTURES}


def it_sees_each_platform_of_an_archive_of_two(image: Image) -> None:
    """By `--platform`; without it this machine's."""
    archive, recorded = as_released(image) if OF_ARM64 else with_other_records(image)
    assert len(recorded) == 2, recorded
    for name, flags in ((native().name, ()), *((name, ("--platform", f"linux/{name}")) for name in recorded)):
        scan = scanned(archive, *flags)
        assert scan["source"]["metadata"]["architecture"] == name, (flags, scan["source"])
        found = packages_in(scan, "dpkg-db-cataloger")
        assert found == recorded[name], (flags, found ^ recorded[name])
    lost = asked(archive, "--platform", "linux/riscv64")
    assert lost.returncode != 0 and 'matching platform "linux/riscv64"' in lost.stderr, lost


TESTS = (it_knows_the_distribution_and_each_package_with_files, it_reads_the_document_where_it_is_asked_to,
         it_sees_each_platform_of_an_archive_of_two)


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        return test_runner.run(TESTS, Image(Path(folder), native().name), names=sys.argv[3:])


if __name__ == "__main__":
    sys.exit(main())
