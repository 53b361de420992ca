#!/usr/bin/env python3
"""A release's signature by the real cosign, 2 and 3, built from its Go modules: signed as tools/release does it, and verified by
the lines of docs/security.md.

Without a network: nothing gets into Sigstore's public log, and nobody looks there, as cosign is told by its environment. Not part
of CI: the first build of cosign takes a while. The last line counts what passed.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent

sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "tools" / name) for name in ("cluster.d", "image.d", "release.d")] + [str(ROOT / "tests")]

import cosign_programs
import signature
import test_runner

# What a process with this in front asks, nobody can answer.
ALONE = ["unshare", "--net"] if os.getuid() == 0 else ["unshare", "--map-root-user", "--net"]
IGNORES_THE_LOG = {"COSIGN_INSECURE_IGNORE_TLOG": "true"}


class Workplace:
    def __init__(self, folder: Path):
        self.folder = folder
        self.programs = {}
        for major in cosign_programs.MAJORS:
            self.programs[major] = folder / f"cosign-{major}"
            self.programs[major].mkdir()
            # By its name on PATH, as tools/release and the page call it.
            program = self.programs[major] / "cosign"
            program.write_text(f'#!/bin/sh\nexec {" ".join(ALONE)} {cosign_programs.path(major)} "$@"\n')
            program.chmod(0o755)
        self.key("cosign")
        self.key("other")
        # Of neither a log nor a time stamp service.
        self.cosign("3", "signing-config", "create", "--out", folder / "signing.json")
        self.cosign("3", "trusted-root", "create", "--out", folder / "trusted.json")
        self.signs = {"2": {"COSIGN_TLOG_UPLOAD": "false"}, "3": {"COSIGN_SIGNING_CONFIG": str(folder / "signing.json")}}

    def key(self, name: str) -> None:
        self.cosign("3", "generate-key-pair", "--output-key-prefix", self.folder / name)

    def environment(self, major: str, more=None) -> dict:
        return {"PATH": f"{self.programs[major]}:{os.environ['PATH']}", "HOME": str(self.folder), "COSIGN_PASSWORD": "password", **(more or {})}

    def cosign(self, major: str, *arguments) -> None:
        subprocess.run(["cosign", *map(str, arguments)], env=self.environment(major), check=True, capture_output=True)

    def signed(self, major: str, name: str) -> Path:
        """A folder with two files, their checksums and the signature, and the public key."""
        folder = self.folder / name
        folder.mkdir()
        (folder / "images.txt").write_text("registry.example.com/compute-domain-agent@sha256:0\n")
        (folder / "install.yaml").write_text("kind: Namespace\n")
        signature.write_sums(folder)
        done = self.sign(major, folder)
        assert done.returncode == 0, done.stderr
        shutil.copy2(self.folder / "cosign.pub", folder)
        return folder

    def sign(self, major: str, folder: Path, **more: str) -> subprocess.CompletedProcess:
        """By what tools/release does it with, in a process of its own: it passes on what cosign says."""
        paths = f"{ROOT}/tools/release.d:{ROOT}/tools/image.d"
        return subprocess.run([sys.executable, "-B", "-c", "import sys, pathlib, signature; signature.sign(*map(pathlib.Path, sys.argv[1:]))",
                               folder, self.folder / "cosign.key"],
                              env=self.environment(major, {**self.signs[major], "PYTHONPATH": paths, **more}), capture_output=True, text=True)

    def roots_for(self, signer: str, verifier: str) -> dict:
        """cosign 2 wants those of Sigstore for what cosign 3 has signed, though a key needs none; and takes none for its own."""
        return {"COSIGN_TRUSTED_ROOT": str(self.folder / "trusted.json")} if (signer, verifier) == ("3", "2") else {}

    def verified(self, major: str, folder: Path, more=None) -> subprocess.CompletedProcess:
        """By the two lines of the page, one after the other."""
        text = (ROOT / "docs/security.md").read_text()
        [lines] = re.findall(r"^```\n(cosign verify-blob [^`]*)```$", text, re.MULTILINE)
        assert [line.split()[0] for line in lines.splitlines()] == ["cosign", "sha256sum"], lines
        return subprocess.run(["bash", "-ec", lines], cwd=folder, env=self.environment(major, {**IGNORES_THE_LOG, **(more or {})}),
                              capture_output=True, text=True)


def accepted(done: subprocess.CompletedProcess) -> None:
    assert done.returncode == 0 and "Verified OK" in done.stderr + done.stdout, done
    assert done.stdout.count(": OK\n") == 2, done


def refused(done: subprocess.CompletedProcess, said: str) -> None:
    assert done.returncode != 0 and said in done.stderr + done.stdout, (said, done)


def each_cosign_signs_and_verifies(at: Workplace) -> None:
    for major in cosign_programs.MAJORS:
        accepted(at.verified(major, at.signed(major, f"by-{major}")))


def each_verifies_what_the_other_one_has_signed(at: Workplace) -> None:
    accepted(at.verified("3", at.signed("2", "by-2-for-3")))
    by_3 = at.signed("3", "by-3-for-2")
    accepted(at.verified("2", by_3, at.roots_for("3", "2")))
    # It would fetch them.
    refused(at.verified("2", by_3), "trusted root is required")


def what_has_been_changed_is_refused(at: Workplace) -> None:
    for signer, verifier in (("2", "2"), ("2", "3"), ("3", "2"), ("3", "3")):
        folder = at.signed(signer, f"changed-{signer}-{verifier}")
        file, sums = folder / "install.yaml", folder / "SHA256SUMS"
        file.write_text("kind: Nonsense\n")
        done = at.verified(verifier, folder, at.roots_for(signer, verifier))
        refused(done, "install.yaml: FAILED")
        assert "Verified OK" in done.stderr, done
        # With its checksum put right, it is the signature that does not fit.
        sums.write_text(re.sub(r"^\w+(?=  install\.yaml)", hashlib.sha256(file.read_bytes()).hexdigest(), sums.read_text(), flags=re.MULTILINE))
        subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=folder, check=True)
        refused(at.verified(verifier, folder, at.roots_for(signer, verifier)), "invalid signature")


def the_key_of_somebody_else_is_refused(at: Workplace) -> None:
    for major in cosign_programs.MAJORS:
        folder = at.signed(major, f"key-{major}")
        shutil.copy2(at.folder / "other.pub", folder / "cosign.pub")
        refused(at.verified(major, folder), "invalid signature")


def without_the_log_it_verifies_only_where_it_is_told_so(at: Workplace) -> None:
    for major in cosign_programs.MAJORS:
        done = at.verified(major, at.signed(major, f"log-{major}"), {"COSIGN_INSECURE_IGNORE_TLOG": "false"})
        assert done.returncode != 0 and "Verified OK" not in done.stderr, done


def a_wrong_password_signs_nothing(at: Workplace) -> None:
    for major in cosign_programs.MAJORS:
        folder = at.folder / f"password-{major}"
        folder.mkdir()
        signature.write_sums(folder)
        refused(at.sign(major, folder, COSIGN_PASSWORD="wrong"), "cosign could not sign SHA256SUMS")
        assert [each.name for each in folder.iterdir()] == ["SHA256SUMS"], list(folder.iterdir())


TESTS = (
    each_cosign_signs_and_verifies,
    each_verifies_what_the_other_one_has_signed,
    what_has_been_changed_is_refused,
    the_key_of_somebody_else_is_refused,
    without_the_log_it_verifies_only_where_it_is_told_so,
    a_wrong_password_signs_nothing,
)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        sys.exit(test_runner.run(TESTS, Workplace(Path(made)), names=sys.argv[1:]))
