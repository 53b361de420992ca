#!/usr/bin/env python3
"""What the pages have a reader type of this repository is there: tools and the options that they take, presets and targets of CMake,
flags of the programs. Each tool's own parser reads its lines; nothing is run.

Commands of kubectl and helm are run as the pages have them by tests/rack/install_test.sh, tests/rack/helm_install_test.sh and
tests/manifests/helm_test.sh.
"""
import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import pathlib
import re
import shlex
import sys
from unittest import mock

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))

import test_runner

PARSED = ("tools/image", "tools/release", "tools/cluster")
OURS = ("tools/", "tests/", "build/")


def pages() -> list:
    return [page for pattern in ("*.md", "docs/**/*.md", "manifests/**/*.md", "bench/*.md", "src/**/*.md") for page in sorted(ROOT.glob(pattern))]


def blocks(page: pathlib.Path) -> list:
    return re.findall(r"^```\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)


def commands(block: str) -> list:
    """As a shell splits them, without variables before and & behind."""
    lines = re.sub(r" *\\\n *", " ", block).splitlines()
    whole = [part.strip(" &") for line in lines for part in re.sub(r"(^| +)#.*", "", line.removeprefix("$ ")).split("&&")]
    return [re.sub(r"^([A-Z_]+=\S* )+", "", each) for each in whole]


def of_this_repository(block: str) -> list:
    return [shlex.split(each) for each in commands(block) if each.startswith((*OURS, "cmake "))]


def presets(kind: str) -> dict:
    return {each["name"]: each for each in json.loads((ROOT / "CMakePresets.json").read_text())[kind] if not each.get("hidden")}


def targets() -> set:
    """Of programs and tests, as cmake/modules.cmake names them."""
    lists = [path.read_text() for top in ("src", "tests") for path in (ROOT / top).rglob("CMakeLists.txt")]
    found = [each for text in lists for each in re.findall(r"^\s*cdom_(program|test)\(([\w-]+)", text, re.MULTILINE)]
    return {name if kind == "program" else f"test_{name}" for kind, name in found}


def parsed(tool: str, arguments: list) -> str:
    """What its parser says against them."""
    loader = importlib.machinery.SourceFileLoader(tool.replace("/", "_"), str(ROOT / tool))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    said = io.StringIO()
    # Modules of one name are in tools/image.d and in tools/cluster.d.
    with mock.patch.object(sys, "path", list(sys.path)), mock.patch.dict(sys.modules), contextlib.redirect_stderr(said):
        loader.exec_module(module)
        with mock.patch.object(sys, "argv", [tool, *arguments]):
            try:
                module.parse_arguments()
            except SystemExit as end:
                return said.getvalue() or f"ends with {end.code}"
    return ""


def flags() -> dict:
    """By program, with those that every program has."""
    sections = dict(part.split("\n", 1) for part in (ROOT / "docs/reference/flags.md").read_text().split("\n## "))
    found = {name: set(re.findall(r"^\| `(--[a-z-]+)`", text, re.MULTILINE)) for name, text in sections.items()}
    return {name: of_it | found["Every program"] for name, of_it in found.items()}


def mistake(words: list) -> str:
    program, arguments = words[0], words[1:]
    options = {each.partition("=")[0] for each in arguments if each.startswith("-")}
    if program == "cmake":
        kind = "buildPresets" if "--build" in arguments else "configurePresets"
        if unknown := options - {"--build", "--preset", "--target"}:
            return f"options that this test does not know: {unknown}"
        if arguments[arguments.index("--preset") + 1] not in presets(kind):
            return f"CMakePresets.json has no such preset in {kind}"
        asked = arguments[arguments.index("--target") + 1:] if "--target" in arguments else []
        return f"no target is called {lost}" if (lost := set(asked) - targets()) else ""
    if program.startswith("build/"):
        _, preset, *_, name = program.split("/")
        if preset not in presets("buildPresets") or name not in targets():
            return "no preset builds that"
        if name.startswith("test_"):
            return ""  # of GoogleTest
        return f"it has no {unknown}" if (unknown := options - flags()[name]) else ""
    if not os.access(ROOT / program, os.X_OK):
        return "is no program here"
    if program in PARSED:
        return parsed(program, arguments)
    if program == "tools/setup":
        [usage] = re.findall(r"usage: tools/setup ([^)]*)\)", (ROOT / program).read_text())
        return f"it has no {unknown}" if (unknown := set(arguments) - set(re.findall(r"\[(--\w+)\]", usage))) else ""
    return f"arguments that this test does not know: {arguments}" if arguments else ""


def every_command_is_one() -> None:
    found = [(page, words) for page in pages() for block in blocks(page) for words in of_this_repository(block)]
    assert len(found) > 30, found
    wrong = [f"{page.relative_to(ROOT)}: {shlex.join(words)}: {said}" for page, words in found if (said := mistake(words))]
    assert not wrong, "\n".join(wrong)


def the_install_of_readme_builds_what_it_makes_images_of() -> None:
    """For both architectures, and without arm64 for one."""
    section = (ROOT / "README.md").read_text().split("\n## Install\n")[1].partition("\n## ")[0]
    block = re.search(r"^```\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)[1]
    assert {each.split()[0] for each in commands(block)} == {"tools/setup", "cmake", "tools/image", "kubectl"}, block
    built = [words[words.index("--preset") + 1] for words in of_this_repository(block) if "--build" in words]
    [image] = [words for words in of_this_repository(block) if words[0] == "tools/image"]
    architectures = image[image.index("--arch") + 1].split(",")
    assert (built, architectures) == (["release", "arm64"], ["amd64", "arm64"]), (built, architectures)
    assert "without it leave out `,arm64`" in section, section[:200]
    assert not parsed("tools/image", [each.replace(",arm64", "") for each in image[1:]])
    assert f'build/{built[0]}, or build/ARCH' in re.sub(r'"\s+"', "", (ROOT / "tools/image").read_text()), "where tools/image looks"


def what_is_wrong_is_found() -> None:
    for line, said in (("cmake --preset relase", "no such preset"), ("cmake --preset unity", "no such preset"),
                       ("cmake --build --preset release --target kubectl-computedomain", "no target"), ("tools/images", "is no program"),
                       ("tools/image --archs amd64", "unrecognized"), ("tools/image --arch amd46", "is none of"), ("tools/setup --arm46", "it has no"),
                       ("tools/cluster up --node-count 2", "unrecognized"), ("tools/release 0.2.0 ../release", "--registry"),
                       ("build/release/bin/compute-domain-sandbox --rack 2", "it has no")):
        found = mistake(shlex.split(line))
        assert said in found, (line, found)


TESTS = (every_command_is_one, the_install_of_readme_builds_what_it_makes_images_of, what_is_wrong_is_found)


if __name__ == "__main__":
    sys.exit(test_runner.run(TESTS, names=sys.argv[1:]))
