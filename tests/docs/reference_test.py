#!/usr/bin/env python3
"""What tools/reference writes of roles that manifests/base does not have yet, and of runs that nobody has made."""

import json
import runpy
import sys
import tempfile
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


NEWEST = REFERENCE["versions_of_modules"]()["go.mod"]


def met(test: str, kubernetes: str = NEWEST, kubelets: tuple = (), runtimes: tuple = ()) -> dict:
    return {"test": test, "kubernetes": kubernetes, "kubelets": list(kubelets), "runtimes": list(runtimes)}


A, B = met("tests/smoke/a_test.sh"), met("tests/rack/b_test.sh", kubelets=(NEWEST,), runtimes=("containerd 2.3.6",))


def a_run_is_read_once_however_many_clusters_a_test_starts() -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "runs"
        lines = [{"test": A["test"]}, A, A, {"test": "tests/smoke/c_test.sh"}, met("tests/cluster/nodes_test.sh"), met("")]
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))
        ran, found = REFERENCE["read_runs"](file)
    assert {A["test"], "tests/smoke/c_test.sh"} <= ran and found == [A], (ran, found)


def what_a_test_has_met_takes_the_place_of_what_it_had_met() -> None:
    before = {**B, "runtimes": ["containerd 2.3.1"]}
    assert REFERENCE["take_runs"]([before, A], [B]) == [B, A]


def versions_that_no_cluster_has_any_more_are_forgotten() -> None:
    assert REFERENCE["take_runs"]([met(A["test"], kubernetes="1.20.0")], [B]) == [B]


def a_run_that_the_page_does_not_know_is_told() -> None:
    newer = {**B, "runtimes": ["containerd 3.0.0"]}
    assert REFERENCE["unexpected_runs"]([A, B], {B["test"]}, [B]) == []
    (told,) = REFERENCE["unexpected_runs"]([A, B], {B["test"]}, [newer])
    assert REFERENCE["unexpected_runs"]([A], {B["test"]}, [newer]) == [], "it has no record yet"
    assert told.startswith(f"tests/rack/b_test.sh ran on control plane, kubelets {NEWEST}, containerd 3.0.0 of {NEWEST}, not"), told


def a_test_that_has_started_no_cluster_is_told() -> None:
    (told,) = REFERENCE["unexpected_runs"]([A, B], {A["test"], B["test"]}, [A])
    assert told.startswith("tests/rack/b_test.sh has started no cluster, not"), told


def the_page_says_what_a_run_has_met() -> None:
    script = "tests/rack/install_test.sh"
    page = REFERENCE["kubernetes_page"]([met(script, kubelets=(NEWEST,), runtimes=("containerd 9.9.9",))])
    (row,) = [line for line in page.splitlines() if script in line and line.startswith(f"| {NEWEST} ")]
    assert row.startswith(f"| {NEWEST} | control plane, kubelets {NEWEST}, containerd 9.9.9 | [install_test.sh]"), page
    (other,) = [line for line in page.splitlines() if "tests/rack/laws_test.sh" in line]
    assert other.startswith(f"| {NEWEST} | control plane, kubelets, containerd (not recorded) | "), other


if __name__ == "__main__":
    sys.exit(run((permissions_have_the_kinds_of_a_role, permissions_have_the_paths_of_a_role,
                  permissions_have_no_path_that_a_binding_of_one_namespace_does_not_grant,
                  a_run_is_read_once_however_many_clusters_a_test_starts, what_a_test_has_met_takes_the_place_of_what_it_had_met,
                  versions_that_no_cluster_has_any_more_are_forgotten, a_run_that_the_page_does_not_know_is_told,
                  a_test_that_has_started_no_cluster_is_told, the_page_says_what_a_run_has_met), names=sys.argv[1:]))
