#!/usr/bin/env python3
"""tools/setup.d/unpack with stand-ins for apt and dpkg: nothing is fetched and nothing is installed."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests"))

from test_runner import run

# `apt-get download` writes into its folder, an installation that only downloads into that of its Dir::Cache.
APT_GET = """#!/bin/bash
echo "$*" >>"$STATE/calls"
folder=.
for word in "$@"; do case $word in Dir::Cache=*) folder=${word#*=}/archives ;; esac; done
for package in good broken; do case " $* " in *" $package "*) touch "$folder/$package.deb" ;; esac; done
"""
# A package is a file with its name in it.
DPKG_DEB = """#!/bin/bash
case $2 in *broken.deb) exit 2 ;; esac
touch "$3/$(basename "$2" .deb)"
"""
APT_CACHE = "#!/bin/bash\nprintf 'good\\n  Depends: libgood\\nlibgood\\n<virtual>\\n'\n"
# It fails where it does not know one of the packages.
DPKG_QUERY = """#!/bin/bash
for package in "${@:3}"; do
  if grep -qx "$package" "$STATE/installed"; then echo "installed $package"; else known=no; fi
done
[ -z "${known:-}" ]
"""


class Machine:
    """Where only these packages are installed."""

    def __init__(self, folder: Path, installed: str):
        self.folder, self.target = folder, folder / "target"
        (folder / "bin").mkdir()
        self.installs(installed)
        for name, text in (("apt-get", APT_GET), ("apt-cache", APT_CACHE), ("dpkg-deb", DPKG_DEB), ("dpkg-query", DPKG_QUERY),
                           ("dpkg", "#!/bin/bash\necho amd64\n")):
            (folder / "bin" / name).write_text(text)
            (folder / "bin" / name).chmod(0o755)

    def installs(self, packages: str) -> None:
        (self.folder / "installed").write_text(packages + "\n")

    def unpack(self, *arguments: str) -> subprocess.CompletedProcess:
        (self.folder / "calls").write_text("")
        environment = {**os.environ, "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}", "STATE": str(self.folder)}
        *flags, packages = arguments
        return subprocess.run([ROOT / "tools/setup.d/unpack", *flags, self.target, *packages.split()], env=environment, capture_output=True, text=True)

    def fetched(self) -> bool:
        return (self.folder / "calls").read_text() != ""


def on_a_machine(test: Callable[[Machine], None]) -> Callable[[], None]:
    def run_test() -> None:
        with tempfile.TemporaryDirectory() as folder:
            test(Machine(Path(folder), "libgood"))

    run_test.__name__ = test.__name__
    return run_test


@on_a_machine
def is_silent_the_second_time(machine: Machine) -> None:
    for flags in ((), ("--with-dependencies",)):
        first = machine.unpack(*flags, "good")
        assert first.returncode == 0 and (machine.target / "good").exists(), first
        second = machine.unpack(*flags, "good")
        assert (second.returncode, second.stdout, machine.fetched()) == (0, "", False), (flags, second)
        machine.target.rename(machine.folder / f"old{len(flags)}")


@on_a_machine
def fails_for_a_package_that_cannot_be_unpacked(machine: Machine) -> None:
    for flags in ((), ("--with-dependencies",)):
        done = machine.unpack(*flags, "broken good")
        assert done.returncode != 0 and "cannot unpack broken.deb" in done.stderr, (flags, done)
        assert not machine.target.exists(), flags
        left = [path.name for path in machine.folder.iterdir() if path.name.startswith("target")]
        assert left == [], left


@on_a_machine
def keeps_what_was_there_when_it_fails(machine: Machine) -> None:
    machine.unpack("good")
    assert machine.unpack("good broken").returncode != 0
    assert machine.unpack("good").stdout == "" and not machine.fetched()


@on_a_machine
def unpacks_again_when_a_package_that_it_relies_on_has_gone(machine: Machine) -> None:
    machine.unpack("--with-dependencies", "good")
    machine.installs("something-else")
    assert machine.unpack("--with-dependencies", "good").returncode == 0 and machine.fetched()
    assert machine.unpack("--with-dependencies", "good").stdout == "" and not machine.fetched()


if __name__ == "__main__":
    sys.exit(run((is_silent_the_second_time, fails_for_a_package_that_cannot_be_unpacked, keeps_what_was_there_when_it_fails,
                  unpacks_again_when_a_package_that_it_relies_on_has_gone), names=sys.argv[1:]))
