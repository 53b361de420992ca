#!/usr/bin/env python3
"""What tools/reference writes of roles that manifests/base does not have yet."""

import runpy
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests"))

from test_runner import run

REFERENCE = runpy.run_path(str(ROOT / "tools/reference"))


def role(kind: str, *rules: dict, namespace: str | None = None) -> list:
    """A role of these rules, and its binding to the account `agent`."""
    where = {"namespace": namespace} if namespace else {}
    return [{"kind": kind, "metadata": {"name": kind.lower(), **where}, "rules": list(rules)},
            {"kind": f"{kind}Binding", "metadata": {"name": "agent", **where}, "roleRef": {"kind": kind, "name": kind.lower()},
             "subjects": [{"kind": "ServiceAccount", "name": "agent"}]}]


def rows_of(objects: list) -> list:
    page = REFERENCE["permissions_page"](objects)
    return [line for line in page.partition("\n## agent\n")[2].splitlines() if line.startswith("| ")][1:]


def permissions_have_the_kinds_of_a_role() -> None:
    rows = rows_of(role("ClusterRole", {"apiGroups": ["", "apps"], "resources": ["pods"], "verbs": ["watch", "list"]}) +
                   role("Role", {"apiGroups": [""], "resources": ["pods"], "verbs": ["list", "get"], "resourceNames": ["a", "b"]},
                        namespace="here"))
    assert rows == ["| everywhere | pods | list watch |  |", "| everywhere | pods.apps | list watch |  |",
                    "| here | pods | get list | a, b |"], rows


def permissions_have_the_paths_of_a_role() -> None:
    rows = rows_of(role("ClusterRole", {"nonResourceURLs": ["/metrics", "/debug/*"], "verbs": ["get"]},
                        {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}))
    assert rows == ["| everywhere | /debug/* | get |  |", "| everywhere | /metrics | get |  |", "| everywhere | pods | list |  |"], rows


def permissions_have_no_path_that_a_binding_of_one_namespace_does_not_grant() -> None:
    made, bound = role("ClusterRole", {"nonResourceURLs": ["/metrics"], "verbs": ["get"]})
    bound = {**bound, "kind": "RoleBinding", "metadata": {"name": "agent", "namespace": "here"}}
    assert rows_of([made, bound]) == []


if __name__ == "__main__":
    sys.exit(run((permissions_have_the_kinds_of_a_role, permissions_have_the_paths_of_a_role,
                  permissions_have_no_path_that_a_binding_of_one_namespace_does_not_grant), names=sys.argv[1:]))
