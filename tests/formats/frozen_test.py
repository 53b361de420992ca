#!/usr/bin/env python3
"""A folder of tests/formats whose release is out is what that release had: what later programs have to read does not change."""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def run(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def changed(folder: str, commit: str) -> list:
    return run("git", "diff", "--name-only", commit, "--", folder).splitlines()


def main() -> int:
    if not (ROOT / ".git").exists():
        print("this is no checkout: its history is not here")
        return 0
    failed = False
    for folder in sorted(path for path in (ROOT / "tests/formats").iterdir() if path.is_dir()):
        commit = run("tests/release_commit", folder.name).strip()
        if not commit:
            print(f"{folder.name}: not released yet")
            continue
        for file in changed(f"tests/formats/{folder.name}", commit):
            failed = True
            print(f"{file} is not as release {folder.name} ({commit[:8]}) has written it: put it back, and give what is new a folder of its own")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
