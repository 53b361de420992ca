#!/usr/bin/env python3
"""What a scanner finds in an image of tools/image: Syft, built from its Go modules, finds the packages that the SPDX document names.

scanner_test.py [DIR]: with the programs of a build directory (default: build/release). Not part of CI: the first build of Syft
takes a while. The last line counts what passed.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/release").resolve()
PROGRAM = "compute-domain-agent"  # it has the most packages

sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "tools/cluster.d"), str(ROOT / "tools/image.d"), str(ROOT / "tests")]

import syft_program
import test_runner
from architectures import native
from programs import PROGRAMS


class Image:
    """An archive of the program, and the document beside it."""

    def __init__(self, folder: Path):
        subprocess.run([ROOT / "tools/image", "--build", BUILD, "--output", folder, PROGRAM], check=True, stdout=subprocess.DEVNULL)
        self.folder = folder
        packages = json.loads((folder / f"{PROGRAM}-{native().name}.spdx.json").read_text())["packages"]
        # All but the image itself.
        self.documented = {(each["name"], each["versionInfo"]) for each in packages if each["SPDXID"] != "SPDXRef-image"}

    def scanned(self, *flags: str) -> dict:
        # It asks nobody for a newer version of itself.
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "SYFT_CHECK_FOR_APP_UPDATE": "false"}
        done = subprocess.run([syft_program.path(), "scan", f"oci-archive:{self.folder / PROGRAM}.tar", "--output", "syft-json", "--quiet", *flags],
                              env=environment, check=True, stdout=subprocess.PIPE)
        return json.loads(done.stdout)


def packages_in(scan: dict, cataloger: str) -> set:
    """(name, version) of those that this part of the scanner has found."""
    return {(each["name"], each["version"]) for each in scan["artifacts"] if each["foundBy"] == cataloger}


def it_knows_the_distribution_and_each_package_with_files(image: Image) -> None:
    scan = image.scanned()
    release = dict(line.split("=", 1) for line in Path("/etc/os-release").read_text().splitlines() if "=" in line)
    distribution = scan["distro"]
    assert (distribution["id"], distribution["versionID"]) == (release["ID"], release["VERSION_ID"].strip('"')), distribution
    wanted = {(name, version) for name, version in image.documented if name not in {PROGRAM, *PROGRAMS[PROGRAM].compiled_in}}
    assert "libc6" in dict(wanted), wanted
    found = packages_in(scan, "dpkg-db-cataloger")
    assert found == wanted, found ^ wanted


def it_reads_the_document_where_it_is_asked_to(image: Image) -> None:
    found = packages_in(image.scanned("--select-catalogers", "+sbom-cataloger"), "sbom-cataloger")
    assert found == image.documented, found ^ image.documented


TESTS = (it_knows_the_distribution_and_each_package_with_files, it_reads_the_document_where_it_is_asked_to)


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        return test_runner.run(TESTS, Image(Path(folder)), names=sys.argv[2:])


if __name__ == "__main__":
    sys.exit(main())
