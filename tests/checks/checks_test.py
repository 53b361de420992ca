#!/usr/bin/env python3
"""What the checks of .ci/run that need no build say of a small tree in which something is wrong."""

import runpy
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CHECKS = ("check-includes", "check-design", "check-words")
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests"))

from test_runner import run

MODULES = runpy.run_path(str(ROOT / "tools/check-includes"))["MODULES"]
TABLE = "".join(f"| `{name}` | | {', '.join(sorted(allowed)) or 'std'} |\n" for name, allowed in MODULES.items())
# Its names are in the file that the row names before them.
ROW = "| the plan | `core/plan.h`: `Plan`, `make_plan`; `src/core/order.cpp`: `sorted_by_slot` |\n"


class Tree:
    """A repository with which all checks agree."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.write("ARCHITECTURE.md", f"# Architecture\n\n| module | is | may include |\n|---|---|---|\n{TABLE}\nThe end.\n")
        self.write("CONTRIBUTING.md", "# Contributing\n")
        self.write("docs/design/plans.md", f"# Plans\n\n| what | where |\n|---|---|\n{ROW}")
        self.write("include/compute_domain/core/plan.h", "struct Plan {};\nPlan make_plan();\n")
        self.write("src/core/plan.cpp", '#include "compute_domain/core/plan.h"\n')
        self.write("src/core/order.cpp", '#include <algorithm>\n\n#include "compute_domain/api/claim.h"\nvoid sorted_by_slot() {}\n')
        self.write("tests/fuzz/sources.cmake", "set(sources\n    core/plan.cpp core/order.cpp)\n")
        for name in CHECKS:
            shutil.copy(ROOT / "tools" / name, self.write(f"tools/{name}", ""))

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def replace(self, name: str, old: str, new: str) -> None:
        text = (self.folder / name).read_text()
        assert text.count(old) == 1, (name, old)
        self.write(name, text.replace(old, new))

    def refuses(self, check: str, *violations: str) -> None:
        """The check says these of the tree, and nothing else but the last line, with their number."""
        done = subprocess.run([sys.executable, self.folder / "tools" / check], capture_output=True, text=True)
        *lines, last = done.stdout.splitlines() or [""]
        assert (lines, done.returncode) == (list(violations), 1 if violations else 0), done
        assert last.startswith(f"{check}: ") and last.endswith(f" {len(violations)} violations"), done


def in_a_tree(test: Callable[[Tree], None]) -> Callable[[], None]:
    def run_test() -> None:
        with tempfile.TemporaryDirectory() as folder:
            test(Tree(Path(folder).resolve()))

    run_test.__name__ = test.__name__
    return run_test


@in_a_tree
def a_tree_that_is_right_passes(tree: Tree) -> None:
    for check in CHECKS:
        tree.refuses(check)


@in_a_tree
def design_misses_a_name_in_the_file_before_it(tree: Tree) -> None:
    # A header's names may be in its source, and nowhere else.
    tree.write("include/compute_domain/core/plan.h", "struct Plan {};\n")
    tree.refuses("check-design", "docs/design/plans.md:5: no make_plan in core/plan.h")
    tree.write("src/core/plan.cpp", "Plan make_plan() { return {}; }\n")
    tree.refuses("check-design")
    tree.write("src/core/order.cpp", "")
    tree.write("include/compute_domain/core/plan.h", "struct Plan {};\nvoid sorted_by_slot();\n")
    tree.refuses("check-design", "docs/design/plans.md:5: no sorted_by_slot in src/core/order.cpp")


@in_a_tree
def design_wants_the_whole_name(tree: Tree) -> None:
    tree.write("include/compute_domain/core/plan.h", "struct Plans {};\nPlans make_plan();\n")
    tree.refuses("check-design", "docs/design/plans.md:5: no Plan in core/plan.h")


@in_a_tree
def design_misses_files_and_links(tree: Tree) -> None:
    tree.write("docs/design/plans.md", "# Plans\n\n`src/core/gone.cpp`, `core/gone.h` and `far/gone.h`; [more](more.md)\n")
    where = "docs/design/plans.md:3:"
    tree.refuses("check-design", f"{where} there is no src/core/gone.cpp", f"{where} there is no core/gone.h",
                 f"{where} no path ends with far/gone.h", f"{where} a link to more.md, which is not there")


@in_a_tree
def design_misses_a_module_in_the_table(tree: Tree) -> None:
    tree.replace("ARCHITECTURE.md", "| `nvidia` | | base |\n", "")
    tree.refuses("check-design", "ARCHITECTURE.md: the table of modules lacks nvidia, which tools/check-includes has")
    tree.replace("ARCHITECTURE.md", "| `http` | | base |\n", "| `http` | | base |\n| `cloud` | | base |\n| `nvidia` | | api, base |\n")
    line = (tree.folder / "ARCHITECTURE.md").read_text().splitlines().index("| `cloud` | | base |") + 1
    tree.refuses("check-design", f"ARCHITECTURE.md:{line + 1}: nvidia may include base (tools/check-includes)",
                 f"ARCHITECTURE.md:{line}: tools/check-includes has no module cloud")


@in_a_tree
def design_finds_no_module_where_the_table_has_gone(tree: Tree) -> None:
    tree.write("ARCHITECTURE.md", "# Architecture\n")
    tree.refuses("check-design", *(f"ARCHITECTURE.md: the table of modules lacks {name}, which tools/check-includes has"
                                   for name in sorted(MODULES)))


@in_a_tree
def includes_keep_modules_apart(tree: Tree) -> None:
    tree.write("src/core/queue.h", "")
    tree.write("src/core/order.cpp", '#include "compute_domain/kube/client.h"\n#include <thread>\n#include <spdlog/spdlog.h>\n')
    tree.write("src/controller/loop.cpp", '#include "core/queue.h"\n#include "compute_domain/core/plan.h"\n')
    tree.write("src/cloud/rain.cpp", "")
    tree.refuses("check-includes", "src/cloud/rain.cpp:0: 'cloud' is no module of the table",
                 "src/controller/loop.cpp:1: core/queue.h is private to core",
                 "src/core/order.cpp:1: core may not include kube (compute_domain/kube/client.h)",
                 "src/core/order.cpp:2: core decides and does nothing else: no thread",
                 "src/core/order.cpp:3: core may not include spdlog (spdlog/spdlog.h)")


@in_a_tree
def includes_keep_libraries_and_private_headers_out_of_headers(tree: Tree) -> None:
    tree.write("src/api/text.h", "#include <nlohmann/json.hpp>\n#include <nlohmann/json_fwd.hpp>\n")
    tree.write("include/compute_domain/api/claim.h", '#include <nlohmann/json_fwd.hpp>\n#include "api/text.h"\n')
    tree.refuses("check-includes", "include/compute_domain/api/claim.h:1: nlohmann/json_fwd.hpp belongs into a .cpp file",
                 "include/compute_domain/api/claim.h:2: a public header includes the private api/text.h",
                 "src/api/text.h:1: nlohmann/json.hpp belongs into a .cpp file")


@in_a_tree
def includes_are_in_the_fuzzers_program_too(tree: Tree) -> None:
    tree.replace("tests/fuzz/sources.cmake", "core/plan.cpp core/order.cpp", "core/order.cpp")
    tree.write("src/core/order.cpp", '#include "compute_domain/core/plan.h"\n#include "compute_domain/api/claim.h"\n')
    tree.refuses("check-includes", "tests/fuzz/sources.cmake:2: core/order.cpp includes compute_domain/core/plan.h, and core/plan.cpp is missing here")


@in_a_tree
def words_are_for_readers(tree: Tree) -> None:
    tree.write("docs/install.md", "A pod is\ntold so. There is no more. It is no longer there. Whoever asks.\n")
    tree.write("src/core/order.cpp", '// A pod is told so.\nauto text = "it is "\n            "no node";\nauto fine = "there is no node";\n')
    tree.refuses("check-words", 'docs/install.md:1: "is told": say who does what', 'docs/install.md:2: "Whoever": say who does what',
                 'src/core/order.cpp:2: "is no": say who does what')


if __name__ == "__main__":
    sys.exit(run((a_tree_that_is_right_passes, design_misses_a_name_in_the_file_before_it, design_wants_the_whole_name,
                  design_misses_files_and_links, design_misses_a_module_in_the_table, design_finds_no_module_where_the_table_has_gone,
                  includes_keep_modules_apart, includes_keep_libraries_and_private_headers_out_of_headers,
                  includes_are_in_the_fuzzers_program_too, words_are_for_readers),
                 names=sys.argv[1:]))
