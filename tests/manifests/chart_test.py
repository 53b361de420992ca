#!/usr/bin/env python3
"""The Helm chart beside manifests/, which it reads: chart_test.py. Needs no cluster.

Every overlay is rendered by kustomize and by Helm 3 and 4, and the objects are compared; what each value does, and what is said
of values that are wrong. $KUBECTL is as in rendering_test.py. The last line counts what passed.
"""

import copy
import functools
import json
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import yaml

sys.dont_write_bytecode = True

from rendering_test import ROOT, combined, objects_of, shipped

import libyaml
import test_runner

CHART = ROOT / "manifests/helm/compute-domain-operator"
PROFILES = ROOT / "manifests/helm/values"
VERSION = libyaml.load((CHART / "Chart.yaml").read_text())["version"]
NAME = "compute-domain-operator"
NODES = "compute-domain-nodes"
NEWEST = "1.37.2"
OLDEST = "1.32.0"
WORK = tempfile.TemporaryDirectory()


def built() -> dict:
    lines = subprocess.run([ROOT / "tools/helm", "build"], check=True, stdout=subprocess.PIPE, text=True).stdout.split()
    return dict(zip(("3", "4"), lines))


HELM = built()


def helm(major: str, *arguments) -> subprocess.CompletedProcess:
    return subprocess.run([HELM[major], *map(str, arguments)], capture_output=True, text=True, timeout=60)


def package(major: str) -> Path:
    """As it is published: without links."""
    folder = Path(WORK.name) / f"package-{major}"
    if not folder.exists():
        made = helm(major, "package", CHART, "--destination", folder)
        assert made.returncode == 0, made.stderr
    [archive] = folder.iterdir()
    return archive


def template(major: str, values=None, kubernetes=NEWEST, namespace=NAME, release=NAME, more=(), chart=None) -> subprocess.CompletedProcess:
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        yaml.safe_dump(values or {}, file)
        file.flush()
        return helm(major, "template", release, chart or package(major), "--namespace", namespace, "--kube-version", kubernetes,
                    "--values", file.name, *more)


def rendered(major: str, values=None, **more) -> list:
    return [each for each in objects_of(template(major, values, **more)) if each]


def of_each_helm(test):
    def both() -> None:
        for major in HELM:
            test(major)
    both.__name__ = test.__name__
    return both


def pods_of(workload: dict) -> dict:
    return workload["spec"]["template"]


def is_workload(each: dict) -> bool:
    return each["kind"] in ("Deployment", "DaemonSet")


def in_order(objects: list) -> dict:
    """By kind, namespace and name; and of lists that both merge by name, only what is in them."""
    ordered = {}
    for each in copy.deepcopy(objects):
        key = (each["kind"], each["metadata"].get("namespace", ""), each["metadata"]["name"])
        assert key not in ordered, key
        if is_workload(each):
            pod = pods_of(each)["spec"]
            for holder, field, by in ((pod, "volumes", "name"), *((container, field, by) for container in pod["containers"] for field, by in (
                    ("env", "name"), ("volumeMounts", "mountPath"), ("ports", "containerPort")))):
                if field in holder:
                    holder[field].sort(key=lambda item: item[by])
        ordered[key] = each
    return ordered


def as_helm_has_it(objects: list, namespace=NAME) -> list:
    """All differences that there are between kustomize's objects and Helm's."""
    # Helm makes the release's namespace, or finds it there.
    objects = [each for each in copy.deepcopy(objects) if (each["kind"], each["metadata"]["name"]) != ("Namespace", namespace)]
    for each in objects:
        labels = each["metadata"]["labels"]
        labels["helm.sh/chart"] = f"{NAME}-{VERSION}"
        for of in (labels, *([pods_of(each)["metadata"]["labels"]] if is_workload(each) else [])):
            of["app.kubernetes.io/managed-by"] = "Helm"
        # Uninstalling the release leaves them.
        if each["kind"] == "CustomResourceDefinition":
            each["metadata"].setdefault("annotations", {})["helm.sh/resource-policy"] = "keep"
    return objects


def differences(wanted, got, path="") -> list:
    if isinstance(wanted, dict) and isinstance(got, dict):
        return [line for key in sorted({*wanted, *got}, key=str) for line in differences(wanted.get(key), got.get(key), f"{path}/{key}")]
    if isinstance(wanted, list) and isinstance(got, list) and len(wanted) == len(got):
        return [line for i, (one, other) in enumerate(zip(wanted, got)) for line in differences(one, other, f"{path}/{i}")]
    return [] if wanted == got else [f"{path}: kustomize {json.dumps(wanted)[:300]}, Helm {json.dumps(got)[:300]}"]


def must_be_equal(where, kustomize: list, chart: list) -> None:
    wanted, got = in_order(kustomize), in_order(chart)
    assert set(wanted) == set(got), (where, "only kustomize", set(wanted) - set(got), "only Helm", set(got) - set(wanted))
    found = [line for key in wanted for line in differences(wanted[key], got[key], "/".join(key))]
    assert not found, f"{where}:\n" + "\n".join(found)


@functools.cache
def overlay(base: str, *components: str) -> list:
    return objects_of(combined(base, *components))


def merged(*values: dict) -> dict:
    result = {}
    for each in values:
        for key, value in each.items():
            result[key] = merged(result[key], value) if isinstance(value, dict) and isinstance(result.get(key), dict) else value
    return result


# A component of manifests/, and the values that name it.
UNLABELLED = {"gpuCliqueLabel": {"enabled": False}}  # the chart's default is on, that of manifests/default is off
COMPONENTS = {
    "compute-domain-cliques": {"computeDomainCliques": {"enabled": True}},
    "debug-page": {"debugPage": {"enabled": True}},
    "extended-resource": {"extendedResource": {"enabled": True}},
    "gpu-clique-label": {"gpuCliqueLabel": {"enabled": True}},
    "gpu-operator": {"driver": {"installedBy": "gpuOperator"}},
    "host-managed": {"imex": {"mode": "hostManaged"}},
    "imex-metrics": {"imex": {"metrics": {"enabled": True}}},
    "imex-tls": {"imex": {"tls": {"enabled": True}}},
    "isolation-channel": {"imex": {"isolation": "channel"}},
    "monitoring": {"metrics": {name: {"enabled": True} for name in ("monitors", "rules", "dashboard")}},
    "metrics-tls": {"metrics": {"tls": {"enabled": True}}},  # changes what "monitoring" has, and comes after it
    "openshift": {"openshift": {"enabled": True}},
    "shared-claims": {"sharedClaims": {"enabled": True}},
    "without-pods-api": {"kubelet": {"podsApi": {"enabled": False}}},
}
BY_VERSION = "kubernetes-1.32/component"
# Comes with the two values of its name, and after the two components.
BOTH = "imex-metrics/tls"
TEST = libyaml.load((ROOT / "tests/rack/helm-values.yaml").read_text())
# Folders of manifests/ that are no overlay of their own here, and where they are compared instead.
ELSEWHERE = {"base", "adopt", "namespaces", "examples", "helm", "test"}


def compared(major: str, base: str, components: list, kubernetes=NEWEST, more=None) -> None:
    values = merged(UNLABELLED, *(COMPONENTS[name] for name in components if name not in (BY_VERSION, BOTH)), more or {})
    must_be_equal((major, base, components, kubernetes), as_helm_has_it(overlay(base, *components)),
                  rendered(major, values, kubernetes=kubernetes))


@of_each_helm
def every_overlay_is_the_same_both_ways(major: str) -> None:
    for kubernetes in (NEWEST, "1.36.0", "1.35.0", "1.34.0"):
        compared(major, "default", [], kubernetes)
    for kubernetes in (OLDEST, "1.33.5"):
        compared(major, "kubernetes-1.32", [], kubernetes)
    for name in COMPONENTS:
        compared(major, "default", [name])
    compared(major, "default", ["extended-resource"], "1.36.0")
    compared(major, "test", [], more=TEST)


@of_each_helm
def components_go_together_the_same_both_ways(major: str) -> None:
    every = [*(name for name in COMPONENTS if name not in ("isolation-channel", "imex-tls")), BOTH]
    compared(major, "default", every)
    compared(major, "default", ["imex-metrics", "metrics-tls", BOTH])
    compared(major, "default", ["monitoring", "metrics-tls"])
    compared(major, "default", [*(name for name in every if name != "extended-resource"), BY_VERSION], OLDEST)
    compared(major, "default", ["isolation-channel", "imex-tls", "gpu-operator"])
    compared(major, "test", ["isolation-channel", "metrics-tls"], more=TEST)


@of_each_helm
def the_default_of_the_chart_writes_the_cliques_label(major: str) -> None:
    must_be_equal("default", as_helm_has_it(overlay("default", "gpu-clique-label")), rendered(major))


@of_each_helm
def the_api_alone_is_the_base(major: str) -> None:
    objects = rendered(major, UNLABELLED, more=("--show-only", "templates/api.yaml", "--show-only", "templates/crds.yaml"))
    must_be_equal("base", as_helm_has_it(shipped("base")), objects)


@of_each_helm
def a_take_over_has_the_rights_of_adopt(major: str) -> None:
    objects = rendered(major, merged(UNLABELLED, {"adoptFrom": ["nvidia", "gpu-operator"]}))
    [controller] = [each for each in objects if each["kind"] == "Deployment"]
    env = pods_of(controller)["spec"]["containers"][0]["env"]
    assert {"name": "ADOPT_FROM", "value": "nvidia,gpu-operator"} in env, env
    env.remove({"name": "ADOPT_FROM", "value": "nvidia,gpu-operator"})
    must_be_equal("adopt", as_helm_has_it([*shipped("default"), *shipped("adopt")]), objects)


@of_each_helm
def namespaces_are_named_the_same_both_ways(major: str) -> None:
    components = ["imex-metrics", "monitoring", "metrics-tls", BOTH, "shared-claims", "compute-domain-cliques", "debug-page", "gpu-clique-label",
                  "openshift"]
    # Also where one of the two has the name that is the other's by default.
    for operator, nodes in (("our-controllers", "our-agents"), ("gpu-system", NAME)):
        names = yaml.safe_dump({
            "apiVersion": "v1", "kind": "ConfigMap", "data": {"operator": operator, "nodes": nodes},
            "metadata": {"name": "compute-domain-namespaces", "annotations": {"config.kubernetes.io/local-config": "true"}}})
        kustomize = objects_of(combined("default", *components, "namespaces", resources={"namespaces.yaml": names}))
        chart = rendered(major, merged({"namespaces": {"nodes": {"name": nodes}}}, *(COMPONENTS[name] for name in components if name != BOTH)),
                         namespace=operator)
        must_be_equal((operator, nodes), as_helm_has_it(kustomize, operator), chart)


@of_each_helm
def the_two_namespaces_may_change_names(major: str) -> None:
    """Kustomize cannot do this: it renames one after the other, and then there are two of one name."""
    objects = rendered(major, {"namespaces": {"nodes": {"name": NAME}}}, namespace=NODES)
    assert [each["metadata"]["name"] for each in objects if each["kind"] == "Namespace"] == [NAME]
    found = {which: value_at(objects, f"{which} metadata namespace") for which in (CONTROLLER, AGENT, IMEX)}
    assert found == {CONTROLLER: NODES, AGENT: NAME, IMEX: NAME}, found
    assert value_at(objects, variable(CONTROLLER, "NODE_NAMESPACE")) == NAME


def the_chart_links_to_every_kustomization() -> None:
    """So that a component that is added to manifests/ is not forgotten here."""
    folders = {each.parent.relative_to(ROOT / "manifests").parts[0] for each in (ROOT / "manifests").rglob("kustomization.yaml")}
    assert folders - ELSEWHERE == {*COMPONENTS, "default", "kubernetes-1.32"}, folders
    links = {each.name: each.resolve() for each in (CHART / "kustomize").iterdir()}
    wanted = {name: ROOT / "manifests" / name for name in {*COMPONENTS, "base", "default", "adopt", "kubernetes-1.32"}}
    assert links == {**wanted, "crds": ROOT / "crds"}, links


@of_each_helm
def the_package_is_the_folder(major: str) -> None:
    archive = package(major)
    with tarfile.open(archive) as tar:
        assert all(each.isfile() for each in tar), [each.name for each in tar if not each.isfile()]
    assert rendered(major, chart=CHART) == rendered(major, chart=archive)


@of_each_helm
def each_alert_has_the_address_of_its_section(major: str) -> None:
    """Where the values say at which address the page is; kustomize and the default have none, as this project has no such address."""
    for address, wanted in (("", None), (RUNBOOK, RUNBOOK)):
        [rule] = [each for each in rendered(major, {"metrics": {"rules": {"enabled": True, "runbookUrl": address}}}) if each["kind"] == "PrometheusRule"]
        alerts = [alert for group in rule["spec"]["groups"] for alert in group["rules"]]
        assert len(alerts) > 10
        for alert in alerts:
            section = re.search(r" See docs/troubleshooting\.md(#[\w-]+)\.$", alert["annotations"]["description"])[1]
            assert alert["annotations"].get("runbook_url") == (wanted and wanted + section), alert


@of_each_helm
def lint_finds_nothing(major: str) -> None:
    for profile in (None, *sorted(PROFILES.glob("compute-domain-*.yaml"))):
        found = helm(major, "lint", "--strict", package(major), "--kube-version", NEWEST, *(("--values", profile) if profile else ()))
        assert found.returncode == 0 and "[WARNING]" not in found.stdout and "[ERROR]" not in found.stdout, found.stdout + found.stderr


def both_helms_render_the_same() -> None:
    three, four = (in_order(rendered(major, EVERYTHING)) for major in ("3", "4"))
    assert three == four


def leaves(of, path=()):
    if isinstance(of, dict) and of:
        for key, value in of.items():
            yield from leaves(value, (*path, key))
    else:
        yield path


def nested(path: tuple, value) -> dict:
    return nested(path[:-1], {path[-1]: value}) if path else value


def value_at(objects: list, where: str):
    """`kind/name field.field…`; what names a container, a volume or an environment variable is in brackets."""
    which, _, path = where.partition(" ")
    kind, name = which.split("/")
    [value] = [each for each in objects if (each["kind"], each["metadata"]["name"]) == (kind, name)]
    for field in path.split():
        if field.startswith("["):
            [value] = [item for item in value if item["name"] == field.strip("[]")]
        elif isinstance(value, list):
            value = value[int(field)]
        else:
            value = value.get(field)
    return value


CONTROLLER = "Deployment/compute-domain-controller"
AGENT, IMEX = "DaemonSet/compute-domain-agent", "DaemonSet/compute-domain-imex"
WORKLOADS = {"controller": CONTROLLER, "agent": AGENT, "imex": IMEX}
POD = "spec template spec"
POLICY = "NetworkPolicy/compute-domain-controller"
DIGEST = "sha256:" + "0123456789abcdef" * 4
TOLERATIONS = [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]
SECRETS = [{"name": "registry"}]
RUNBOOK = "https://wiki.example.com/troubleshooting.md"
EXTRA = {"name": "extra", "emptyDir": {}}
MOUNT = {"name": "extra", "mountPath": "/extra"}


def variable(workload: str, name: str) -> str:
    return f"{workload} {POD} containers 0 env [{name}] value"


def of_programs(field: str, value, place: str, shown=None) -> list:
    return [((name, *field.split()), value, f"{workload} {place}", value if shown is None else shown(name)) for name, workload in WORKLOADS.items()]


# A value, and what it makes: where, and what is there then. None: it is gone.
VALUES = [
    (("image", "registry"), "registry.example.com/nvlink", f"{IMEX} {POD} containers 0 image",
     f"registry.example.com/nvlink/compute-domain-imex:{VERSION}"),
    (("image", "tag"), "0.1.1", f"{CONTROLLER} {POD} containers 0 image", "registry.invalid/compute-domain-controller:0.1.1"),
    (("image", "pullPolicy"), "Always", f"{AGENT} {POD} containers 0 imagePullPolicy", "Always"),
    (("imagePullSecrets",), SECRETS, f"{AGENT} {POD} imagePullSecrets", SECRETS),
    (("commonLabels",), {"team": "platform"}, "ClusterRole/compute-domain-view metadata labels team", "platform"),
    (("commonLabels",), {"team": "platform"}, f"{IMEX} spec template metadata labels team", "platform"),
    (("commonLabels",), {"app": "other"}, f"{IMEX} spec template metadata labels app", "imex-daemon"),
    (("logLevel",), "debug", f"{AGENT} {POD} containers 0 args 2", "--log-level=debug"),
    (("namespaces", "nodes", "name"), "ours", f"{IMEX} metadata namespace", "ours"),
    (("namespaces", "nodes", "name"), "ours", variable(CONTROLLER, "NODE_NAMESPACE"), "ours"),
    (("namespaces", "nodes", "create"), False, f"Namespace/{NODES}", None),
    (("namespaces", "nodes", "labels"), {"a": "b"}, f"Namespace/{NODES} metadata labels a", "b"),
    (("crds", "enabled"), False, "CustomResourceDefinition/computedomains.resource.nvidia.com", None),
    (("crds", "keep"), False, "CustomResourceDefinition/computedomains.resource.nvidia.com metadata annotations", None),
    (("driver", "installedBy"), "gpuOperator", variable(IMEX, "DRIVER_ROOT_CTR_PATH"), "/driver-root/driver"),
    (("driver", "root"), "/opt/nvidia", f"{IMEX} {POD} volumes [driver-root] hostPath path", "/opt/nvidia"),
    (("driver", "programFolders"), ["/usr/lib/nvidia/bin"], f"{IMEX} {POD} containers 0 args 1", "--driver-programs=/usr/lib/nvidia/bin"),
    (("driver", "libraryFolders"), ["/lib/nvidia"], f"{IMEX} {POD} containers 0 args 1", "--driver-libraries=/lib/nvidia"),
    (("kubelet", "directory"), "/data/kubelet", f"{AGENT} {POD} volumes [plugin] hostPath path",
     "/data/kubelet/plugins/compute-domain.nvidia.com"),
    (("kubelet", "directory"), "/data/kubelet", f"{AGENT} {POD} containers 0 volumeMounts [registry] mountPath", "/data/kubelet/plugins_registry"),
    (("kubelet", "directory"), "/data/kubelet", variable(AGENT, "KUBELET_PLUGINS_DIRECTORY_PATH"), "/data/kubelet/plugins"),
    (("kubelet", "directory"), "/data/kubelet", variable(AGENT, "KUBELET_REGISTRAR_DIRECTORY_PATH"), "/data/kubelet/plugins_registry"),
    (("kubelet", "directory"), "/data/kubelet", f"{IMEX} {POD} containers 0 args 1", "--kubelet-state-file=/data/kubelet/dra_manager_state"),
    (("kubelet", "directory"), "/data/kubelet", f"{IMEX} {POD} volumes [kubelet] hostPath path", "/data/kubelet"),
    (("kubelet", "podsApi", "enabled"), False, f"{AGENT} {POD} containers 0 volumeMounts 2 name", "cdi"),
    (("gpuCliqueLabel", "enabled"), False, "ValidatingAdmissionPolicy/compute-domain-controller-nodes spec variables [ours] expression",
     "['resource.nvidia.com/compute-domain-agent']"),
    (("sharedClaims", "enabled"), True, variable(CONTROLLER, "SHARED_CLAIMS_ENABLED"), "true"),
    (("computeDomainCliques", "enabled"), True, variable(CONTROLLER, "COMPUTE_DOMAIN_CLIQUES_ENABLED"), "true"),
    (("debugPage", "enabled"), True, variable(CONTROLLER, "DEBUG_LISTEN"), "127.0.0.1:8090"),
    (("extendedResource", "enabled"), True, "DeviceClass/compute-domain-default-channel.nvidia.com spec extendedResourceName",
     "nvidia.com/compute-domain"),
    (("openshift", "enabled"), True, f"{AGENT} {POD} containers 0 securityContext seLinuxOptions type", "spc_t"),
    (("adoptFrom",), ["nvidia"], variable(CONTROLLER, "ADOPT_FROM"), "nvidia"),
    (("metrics", "tls", "enabled"), True, variable(AGENT, "METRICS_AUTHENTICATION"), "true"),
    (("metrics", "monitors", "enabled"), True, "ServiceMonitor/compute-domain-agent spec endpoints 0 port", "metrics"),
    (("metrics", "rules", "enabled"), True, "PrometheusRule/compute-domain-alerts spec groups [computedomains] rules 0 alert",
     "ComputeDomainNotReady"),
    (("metrics", "dashboard", "enabled"), True, "ConfigMap/compute-domain-dashboard metadata labels grafana_dashboard", "1"),
    (("networkPolicy", "enabled"), False, POLICY, None),
    (("networkPolicy", "metricsFrom"), [{"podSelector": {}}], f"{POLICY} spec ingress 0 from", [{"podSelector": {}}]),
    (("controller", "replicas"), 3, f"{CONTROLLER} spec replicas", 3),
    (("controller", "leaderElection", "leaseDuration"), "60s", variable(CONTROLLER, "LEADER_ELECTION_LEASE_DURATION"), "60s"),
    (("controller", "leaderElection", "renewDeadline"), "9s", variable(CONTROLLER, "LEADER_ELECTION_RENEW_DEADLINE"), "9s"),
    (("controller", "leaderElection", "retryPeriod"), "1s", variable(CONTROLLER, "LEADER_ELECTION_RETRY_PERIOD"), "1s"),
    (("controller", "podDisruptionBudget", "enabled"), False, "PodDisruptionBudget/compute-domain-controller", None),
    (("controller", "nodeSelector"), {"a": "b"}, f"{CONTROLLER} {POD} nodeSelector", {"a": "b"}),
    (("controller", "tolerations"), TOLERATIONS, f"{CONTROLLER} {POD} tolerations", TOLERATIONS),
    (("controller", "affinity"), {"podAffinity": {}}, f"{CONTROLLER} {POD} affinity", {"podAffinity": {}}),
    *(((("daemonSets", "nodeSelector"), {"a": "b"}, f"{workload} {POD} nodeSelector", {"a": "b"})) for workload in (AGENT, IMEX)),
    *(((("daemonSets", "tolerations"), TOLERATIONS, f"{workload} {POD} tolerations", TOLERATIONS)) for workload in (AGENT, IMEX)),
    (("agent", "seLinuxOptions"), {"type": "spc_t"}, f"{AGENT} {POD} containers 0 securityContext seLinuxOptions", {"type": "spc_t"}),
    (("imex", "mode"), "hostManaged", variable(AGENT, "IMEX_MODE"), "hostManaged"),
    (("imex", "maxNodesPerDomain"), 36, variable(CONTROLLER, "MAX_NODES_PER_IMEX_DOMAIN"), "36"),
    *((("imex", "channels"), 65536, variable(workload, "IMEX_CHANNELS"), "65536") for workload in (CONTROLLER, AGENT, IMEX)),
    (("imex", "metrics", "enabled"), True, variable(IMEX, "HTTP_ENDPOINT"), ":8082"),
    (("imex", "tls", "enabled"), True, f"{IMEX} {POD} volumes [tls] secret secretName", "compute-domain-imex-tls"),
    *of_programs("image repository", "ours", f"{POD} containers 0 image", lambda _: f"registry.invalid/ours:{VERSION}"),
    *of_programs("image tag", "9", f"{POD} containers 0 image", lambda name: f"registry.invalid/compute-domain-{name}:9"),
    *of_programs("image digest", DIGEST, f"{POD} containers 0 image", lambda name: f"registry.invalid/compute-domain-{name}@{DIGEST}"),
    *of_programs("priorityClassName", "ours", f"{POD} priorityClassName"),
    *of_programs("resources requests cpu", "2", f"{POD} containers 0 resources requests cpu"),
    *of_programs("resources requests memory", "1Gi", f"{POD} containers 0 resources requests memory"),
    *of_programs("resources limits memory", "2Gi", f"{POD} containers 0 resources limits memory"),
    *of_programs("podAnnotations", {"a": "b"}, "spec template metadata annotations"),
    *of_programs("args", ["--log-level=off"], f"{POD} containers 0 args", lambda name: {
        "controller": ["--leader-election-enabled", "--metrics-listen=:8080", "--log-format=json", "--log-level=off"],
        "agent": ["--metrics-listen=:8081", "--log-format=json", "--log-level=off"],
        "imex": ["--log-format=json", "--log-level=off"]}[name]),
    *of_programs("env", [{"name": "A", "value": "b"}], f"{POD} containers 0 env [A] value", lambda _: "b"),
    *of_programs("volumes", [EXTRA], f"{POD} volumes [extra]", lambda _: EXTRA),
    *of_programs("volumeMounts", [MOUNT], f"{POD} containers 0 volumeMounts [extra]", lambda _: MOUNT),
]
# Those that do something only beside others.
TOGETHER = [
    ({"metrics": {"tls": {"enabled": True, "secretName": "ours"}}}, f"{CONTROLLER} {POD} volumes [metrics-tls] secret secretName", "ours"),
    ({"metrics": {"tls": {"enabled": True}, "monitors": {"enabled": True}}},
     "ServiceMonitor/compute-domain-controller spec endpoints 0 tlsConfig serverName", f"compute-domain-controller-metrics.{NAME}.svc"),
    ({"metrics": {"monitors": {"enabled": True, "interval": "15s"}}}, "ServiceMonitor/compute-domain-agent spec endpoints 0 interval", "15s"),
    ({"metrics": {"monitors": {"enabled": True, "labels": {"a": "b"}}}}, "ServiceMonitor/compute-domain-agent metadata labels a", "b"),
    ({"metrics": {"tls": {"enabled": True, "secretName": "ours"}, "monitors": {"enabled": True}}},
     "ServiceMonitor/compute-domain-agent spec endpoints 0 tlsConfig ca secret name", "ours"),
    ({"imex": {"metrics": {"enabled": True}}, "metrics": {"tls": {"enabled": True, "secretName": "ours"}}},
     f"{IMEX} {POD} volumes [metrics-tls] secret", {"secretName": "ours", "defaultMode": 0o400, "optional": True}),
    ({"imex": {"metrics": {"enabled": True}}, "metrics": {"tls": {"enabled": True, "secretName": "ours"}, "monitors": {"enabled": True}}},
     "ServiceMonitor/compute-domain-imex spec endpoints 0 tlsConfig ca secret name", "ours"),
    ({"imex": {"metrics": {"enabled": True}}, "networkPolicy": {"metricsFrom": [{"podSelector": {}}]}},
     "NetworkPolicy/compute-domain-imex-metrics spec ingress 0 from", [{"podSelector": {}}]),
    # Each of the three alone.
    ({"metrics": {"rules": {"enabled": True}}}, "ServiceMonitor/compute-domain-agent", None),
    ({"metrics": {"monitors": {"enabled": True}}}, "ConfigMap/compute-domain-dashboard", None),
    ({"metrics": {"dashboard": {"enabled": True}}}, "PrometheusRule/compute-domain-alerts", None),
    ({"metrics": {"rules": {"enabled": True, "labels": {"release": "prometheus"}}}}, "PrometheusRule/compute-domain-alerts metadata labels release",
     "prometheus"),
    ({"metrics": {"rules": {"enabled": True, "runbookUrl": RUNBOOK}}},
     "PrometheusRule/compute-domain-alerts spec groups [computedomains] rules 0 annotations runbook_url", f"{RUNBOOK}#a-computedomain-is-notready"),
    ({"metrics": {"dashboard": {"enabled": True, "labels": {"grafana_dashboard": "yes"}}}},
     "ConfigMap/compute-domain-dashboard metadata labels grafana_dashboard", "yes"),
    ({"metrics": {"dashboard": {"enabled": True, "annotations": {"grafana_folder": "NVLink"}}}},
     "ConfigMap/compute-domain-dashboard metadata annotations grafana_folder", "NVLink"),
    ({"imex": {"mode": "hostManaged", "hostSocketPath": "/run/imex.sock"}}, variable(IMEX, "IMEX_HOST_SOCKET_PATH"), "/run/imex.sock"),
    # What YAML would have as something else, if it were not quoted.
    ({"imex": {"mode": "hostManaged", "hostSocketPath": "/etc/x: y #z"}}, variable(IMEX, "IMEX_HOST_SOCKET_PATH"), "/etc/x: y #z"),
    ({"imex": {"tls": {"enabled": True, "secretName": "0x7"}}}, f"{IMEX} {POD} volumes [tls] secret secretName", "0x7"),
    ({"metrics": {"tls": {"enabled": True, "secretName": "123"}}}, f"{CONTROLLER} {POD} volumes [metrics-tls] secret secretName", "123"),
    ({"imex": {"metrics": {"enabled": True}}, "metrics": {"tls": {"enabled": True, "secretName": "null"}}},
     f"{IMEX} {POD} volumes [metrics-tls] secret secretName", "null"),
    ({"driver": {"root": "/opt/a: b #c"}}, f"{IMEX} {POD} volumes [driver-root] hostPath path", "/opt/a: b #c"),
    ({"driver": {"installedBy": "gpuOperator", "root": "/opt/g: u/a: b #c"}}, f"{IMEX} {POD} volumes [driver-root] hostPath path", "/opt/g: u"),
    ({"driver": {"installedBy": "gpuOperator", "root": "/opt/g: u/a: b #c"}}, variable(IMEX, "DRIVER_ROOT_CTR_PATH"), "/driver-root/a: b #c"),
    ({"namespaces": {"nodes": {"name": "123"}}}, "Namespace/123 metadata name", "123"),
    ({"namespaces": {"nodes": {"name": "123"}}}, f"{AGENT} metadata namespace", "123"),
    ({"namespaces": {"nodes": {"name": "123"}}}, variable(CONTROLLER, "NODE_NAMESPACE"), "123"),
    # What the component leaves out is at the path that the other value says.
    ({"kubelet": {"directory": "/data/kubelet", "podsApi": {"enabled": False}}}, f"{AGENT} {POD} containers 0 volumeMounts 2 name", "cdi"),
    ({"imex": {"isolation": "channel"}, **UNLABELLED}, variable(AGENT, "IMEX_ISOLATION"), "channel"),
    ({"imex": {"isolation": "channel", "claimsPerNode": 16}, **UNLABELLED}, variable(AGENT, "IMEX_CHANNEL_SEATS"), "16"),
    ({"imex": {"tls": {"enabled": True, "secretName": "ours"}}}, f"{IMEX} {POD} volumes [tls] secret secretName", "ours"),
    ({"driver": {"installedBy": "gpuOperator", "root": "/opt/gpu/root"}}, f"{IMEX} {POD} volumes [driver-root] hostPath path", "/opt/gpu"),
    ({"driver": {"installedBy": "gpuOperator", "root": "/opt/gpu/root"}}, variable(IMEX, "DRIVER_ROOT_CTR_PATH"), "/driver-root/root"),
    # The chart compares only what it sets itself.
    ({"controller": {"leaderElection": {"renewDeadline": "40s"}, "args": ["--leader-election-lease-duration=60s"]}},
     variable(CONTROLLER, "LEADER_ELECTION_RENEW_DEADLINE"), "40s"),
    ({"controller": {"replicas": 1, "leaderElection": {"enabled": False}}}, f"{CONTROLLER} {POD} containers 0 args",
     ["--metrics-listen=:8080", "--log-format=json"]),
]
EVERYTHING = merged(*(nested(path, value) for path, value, _, _ in VALUES if value is not False), UNLABELLED,
                    *(values for values, _, _ in TOGETHER[:-2]), {"imex": {"mode": "driverManaged"}})


def each_value_does_what_it_says() -> None:
    for values, where, wanted in [*((nested(path, value), where, wanted) for path, value, where, wanted in VALUES), *TOGETHER]:
        objects = rendered("4", values)
        kind, name = where.partition(" ")[0].split("/")
        is_there = any((each["kind"], each["metadata"]["name"]) == (kind, name) for each in objects)
        got = value_at(objects, where) if is_there else None
        assert got == wanted, (values, where, wanted, got)


def every_value_is_tried_above() -> None:
    tried = {path for path, _, _, _ in VALUES} | {path for values, _, _ in TOGETHER for path in leaves(values)}
    known = set(leaves(libyaml.load((CHART / "values.yaml").read_text())))
    forgotten = {path for path in known if not any(path == each[:len(path)] for each in tried)}
    assert not forgotten, forgotten


def numbers_end_where_those_of_the_programs_do() -> None:
    """Each program has the range in docs/reference/flags.md; 0 is the chart's own word for the program's default."""
    schema = json.loads((CHART / "values.schema.json").read_text())["properties"]["imex"]["properties"]
    rows = re.findall(r"^\| `[^|]*\| `([A-Z_]+)` \| ([0-9]+) to ([0-9]+) \|", (ROOT / "docs/reference/flags.md").read_text(), re.MULTILINE)
    for field, variable in (("channels", "IMEX_CHANNELS"), ("maxNodesPerDomain", "MAX_NODES_PER_IMEX_DOMAIN"), ("claimsPerNode", "IMEX_CHANNEL_SEATS")):
        of_programs = {int(most) for name, _, most in rows if name == variable}
        assert of_programs == {schema[field]["maximum"]}, (field, of_programs, schema[field])


def the_schema_knows_the_flags_of_each_program() -> None:
    """But for those with which a program only prints something, and ends."""
    definitions = json.loads((CHART / "values.schema.json").read_text())["$defs"]
    sections = dict(part.split("\n", 1) for part in (ROOT / "docs/reference/flags.md").read_text().split("\n## "))
    flags = {name: set(re.findall(r"^\| `--([a-z-]+)`", text, re.MULTILINE)) for name, text in sections.items()}
    common = flags["Every program"] - {"help", "version"}
    for name in WORKLOADS:
        pattern = definitions[f"{name}Args"]["items"]["pattern"]
        known = set(re.fullmatch(r"\^--\(([a-z|-]+)\)\(=\.\*\)\?\$", pattern)[1].split("|"))
        assert known == flags[f"compute-domain-{name}"] | common, (name, known ^ (flags[f"compute-domain-{name}"] | common))


# Of what is made of parts, all that there are.
TERM = {"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["1"]}], "matchFields": [{"key": "metadata.name", "operator": "Exists"}]}
SELECTOR = {"matchLabels": {"a": "b"}, "matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["c"]}]}
NEIGHBOURS = {"topologyKey": "zone", "labelSelector": SELECTOR, "namespaceSelector": {}, "namespaces": ["a"], "matchLabelKeys": ["a"],
              "mismatchLabelKeys": ["b"]}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
BESIDE = {REQUIRED: [NEIGHBOURS], PREFERRED: [{"weight": 1, "podAffinityTerm": NEIGHBOURS}]}
AFFINITY = {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [TERM]}, PREFERRED: [{"weight": 100, "preference": TERM}]},
            "podAffinity": BESIDE, "podAntiAffinity": BESIDE}
RESOURCES = {which: {"cpu": 1, "memory": "2Gi", "ephemeral-storage": "1G", "hugepages-2Mi": "4Mi", "example.com/thing": "1"}
             for which in ("requests", "limits")}
PEERS = [{"namespaceSelector": SELECTOR, "podSelector": SELECTOR}, {"ipBlock": {"cidr": "10.0.0.0/8", "except": ["10.1.0.0/16"]}}]
MOUNTED = {**MOUNT, "readOnly": True, "recursiveReadOnly": "IfPossible", "mountPropagation": "None", "subPath": "a", "bindMountOptions": ["nodev"]}
FROM = {"name": "A", "valueFrom": {"secretKeyRef": {"name": "a", "key": "b"}}}


@of_each_helm
def what_the_schema_looks_into_is_passed_on_as_it_is(major: str) -> None:
    default = value_at(rendered(major), f"{CONTROLLER} {POD} affinity")
    for value in (AFFINITY, default):
        assert value_at(rendered(major, {"controller": {"affinity": value}}), f"{CONTROLLER} {POD} affinity") == value
    assert value_at(rendered(major, {"networkPolicy": {"metricsFrom": PEERS}}), f"{POLICY} spec ingress 0 from") == PEERS
    for name, workload in WORKLOADS.items():
        objects = rendered(major, {name: {"resources": RESOURCES, "volumes": [EXTRA], "volumeMounts": [MOUNTED], "env": [FROM]}})
        for path, wanted in (("resources", RESOURCES), ("volumeMounts [extra]", MOUNTED), ("env [A]", FROM)):
            assert value_at(objects, f"{workload} {POD} containers 0 {path}") == wanted, (workload, path)


def of_the_schema(schema: dict, definitions: dict):
    """Each object in it, with its path."""
    def walk(node: dict, path: tuple):
        node = definitions[node["$ref"].rpartition("/")[2]] if "$ref" in node else node
        if node.get("type") == "object":
            yield path, node
            for name, child in node.get("properties", {}).items():
                yield from walk(child, (*path, name))
    yield from walk(schema, ())


def the_schema_knows_the_values_and_no_others() -> None:
    schema = json.loads((CHART / "values.schema.json").read_text())
    values = libyaml.load((CHART / "values.yaml").read_text())
    for path, node in of_the_schema(schema, schema["$defs"]):
        if "properties" in node:
            assert node["additionalProperties"] is False, path
            known = values
            for name in path:
                known = known[name] if known else {}
            # Where the default is {}, it is Kubernetes that knows the fields.
            assert not known or set(node["properties"]) - {"global"} >= set(known), (path, set(known) ^ set(node["properties"]))
            if path == ():
                assert set(node["properties"]) - {"global"} == set(known)


def elected(**durations: str) -> dict:
    return {"controller": {"leaderElection": durations}}


def scraped(**peer: dict) -> dict:
    return {"networkPolicy": {"metricsFrom": [peer]}}


def placed(**affinity: dict) -> dict:
    return {"controller": {"affinity": affinity}}


# Values, and the only thing that is said of them.
WRONG = [
    ({"contoller": {}}, "at '': additional properties 'contoller' not allowed"),
    ({"controller": {"replica": 3}}, "at '/controller': additional properties 'replica' not allowed"),
    ({"agent": {"nodeSelector": {}}}, "at '/agent': additional properties 'nodeSelector' not allowed"),
    ({"controller": {"resources": {"limit": {}}}}, "at '/controller/resources': additional properties 'limit' not allowed"),
    ({"daemonSets": {"tolerations": [{"keys": "a"}]}}, "at '/daemonSets/tolerations/0': additional properties 'keys' not allowed"),
    ({"controller": {"replicas": "two"}}, "at '/controller/replicas': got string, want integer"),
    ({"controller": {"replicas": 0}}, "at '/controller/replicas': minimum: got 0, want 1"),
    ({"crds": {"keep": "yes"}}, "at '/crds/keep': got string, want boolean"),
    ({"imagePullSecrets": ["registry"]}, "at '/imagePullSecrets/0': got string, want object"),
    ({"imex": {"isolation": "channels"}}, "at '/imex/isolation': value must be one of 'domain', 'channel'"),
    ({"imex": {"mode": "managed"}}, "at '/imex/mode': value must be one of 'driverManaged', 'hostManaged'"),
    ({"imex": {"claimsPerNode": 129}}, "at '/imex/claimsPerNode': maximum: got 129, want 128"),
    ({"imex": {"channels": 65537}}, "at '/imex/channels': maximum: got 65,537, want 65,536"),
    ({"driver": {"installedBy": "gpu-operator"}}, "at '/driver/installedBy': value must be one of 'host', 'gpuOperator'"),
    ({"driver": {"root": "opt"}}, "at '/driver/root': 'opt' does not match pattern"),
    ({"kubelet": {"podsAPI": {"enabled": False}}}, "at '/kubelet': additional properties 'podsAPI' not allowed"),
    ({"kubelet": {"podsApi": {"enabled": "no"}}}, "at '/kubelet/podsApi/enabled': got string, want boolean"),
    ({"kubelet": {"directory": "/var/lib/kubelet/"}}, "at '/kubelet/directory': '/var/lib/kubelet/' does not match pattern"),
    ({"kubelet": {"directory": "/data/a: b"}}, "at '/kubelet/directory': '/data/a: b' does not match pattern"),
    ({"image": {"registry": "https://registry.example.com"}}, "at '/image/registry': 'https://registry.example.com' does not match pattern"),
    ({"image": {"tag": "0.1.0:latest"}}, "at '/image/tag': '0.1.0:latest' does not match pattern"),
    ({"image": {"tag": 1.0}}, "at '/image/tag': got number, want string"),
    ({"agent": {"image": {"digest": "sha256:abc"}}}, "at '/agent/image/digest': 'sha256:abc' does not match pattern"),
    ({"metrics": {"monitors": {"interval": "15"}}}, "at '/metrics/monitors/interval': '15' does not match pattern"),
    ({"metrics": {"rules": {"label": {}}}}, "at '/metrics/rules': additional properties 'label' not allowed"),
    ({"metrics": {"rules": {"runbookUrl": "docs/troubleshooting.md"}}}, "at '/metrics/rules/runbookUrl': 'docs/troubleshooting.md' does not match pattern"),
    ({"metrics": {"rules": {"runbookUrl": f"{RUNBOOK}#top"}}}, f"at '/metrics/rules/runbookUrl': '{RUNBOOK}#top' does not match pattern"),
    ({"metrics": {"dashboards": {}}}, "at '/metrics': additional properties 'dashboards' not allowed"),
    # Without it the selector would be that of all namespaces.
    (scraped(namespaceSelector={"matchLabel": {"a": "b"}}),
     "at '/networkPolicy/metricsFrom/0/namespaceSelector': additional properties 'matchLabel' not allowed"),
    (scraped(podSelector={"matchExpressions": [{"key": "a", "operator": "Is"}]}),
     "at '/networkPolicy/metricsFrom/0/podSelector/matchExpressions/0/operator': value must be one of 'In', 'NotIn', 'Exists', 'DoesNotExist'"),
    (scraped(ipBlock={"CIDR": "10.0.0.0/8", "cidr": "10.0.0.0/8"}), "at '/networkPolicy/metricsFrom/0/ipBlock': additional properties 'CIDR' not allowed"),
    (placed(nodeAffinity={"requiredDuringScheduling": {}}),
     "at '/controller/affinity/nodeAffinity': additional properties 'requiredDuringScheduling' not allowed"),
    (placed(nodeAffinity={REQUIRED: {"nodeSelectorTerms": [{"matchLabels": {}}]}}),
     f"at '/controller/affinity/nodeAffinity/{REQUIRED}/nodeSelectorTerms/0': additional properties 'matchLabels' not allowed"),
    (placed(podAntiAffinity={REQUIRED: [{"topologyKey": "zone", "labelSelectors": {}}]}),
     f"at '/controller/affinity/podAntiAffinity/{REQUIRED}/0': additional properties 'labelSelectors' not allowed"),
    (placed(podAffinity={PREFERRED: [{"podAffinityTerm": {"topologyKey": "zone"}}]}),
     f"at '/controller/affinity/podAffinity/{PREFERRED}/0': missing property 'weight'"),
    ({"controller": {"resources": {"requests": {"memry": "1Gi"}}}}, "at '/controller/resources/requests': additional properties 'memry' not allowed"),
    ({"imex": {"resources": {"limits": {"memory": "64ki"}}}}, "at '/imex/resources/limits/memory': '64ki' does not match pattern"),
    # Without it the volume would be an empty folder.
    ({"agent": {"volumes": [{"name": "a", "hostpath": {"path": "/a"}}]}}, "at '/agent/volumes/0': additional properties 'hostpath' not allowed"),
    ({"agent": {"volumes": [{"name": "a"}]}}, "at '/agent/volumes/0': minProperties: got 1, want 2"),
    ({"imex": {"volumeMounts": [{**MOUNT, "readonly": True}]}}, "at '/imex/volumeMounts/0': additional properties 'readonly' not allowed"),
    ({"agent": {"env": [{"name": "A", "valueFrom": {"secretRef": {}}}]}}, "at '/agent/env/0/valueFrom': additional properties 'secretRef' not allowed"),
    ({"agent": {"args": ["--log-levl=debug"]}}, "at '/agent/args/0': '--log-levl=debug' does not match pattern"),
    ({"controller": {"args": ["--log-level", "debug"]}}, "at '/controller/args/1': 'debug' does not match pattern"),
    ({"controller": {"args": ["--driver-root=/a"]}}, "at '/controller/args/0': '--driver-root=/a' does not match pattern"),
    ({"networkPolicy": {"metricsFrom": []}}, "at '/networkPolicy/metricsFrom': minItems: got 0, want 1"),
    ({"networkPolicy": {"metricsFrom": None}}, "at '/networkPolicy': missing property 'metricsFrom'"),
    ({"image": {"registry": None}}, "at '/image': missing property 'registry'"),
    ({"commonLabels": None}, "at '': missing property 'commonLabels'"),
    ({"imex": {"tls": None}}, "at '/imex': missing property 'tls'"),
    ({"namespaces": {"nodes": {"name": "Nodes"}}}, "at '/namespaces/nodes/name': 'Nodes' does not match pattern"),
    ({"namespaces": {"nodes": {"name": NAME}}}, 'the release is in the namespace "compute-domain-operator", which is also namespaces.nodes.name'),
    ({"imex": {"isolation": "channel"}}, "imex.isolation=channel needs gpuCliqueLabel.enabled=false"),
    (elected(leaseDuration="5s"), "controller.leaderElection: leaseDuration (5s) has to be longer than renewDeadline (10s): set both"),
    (elected(renewDeadline="15000ms"), "controller.leaderElection: leaseDuration (15s) has to be longer than renewDeadline (15000ms): set both"),
    (elected(leaseDuration="500ms"), "controller.leaderElection.leaseDuration is 500ms: give whole seconds, at least one"),
    (elected(renewDeadline="08s"), "at '/controller/leaderElection/renewDeadline': '08s' does not match pattern"),
    (elected(leaseDuration="20500ms"), "controller.leaderElection.leaseDuration is 20500ms: give whole seconds, at least one"),
    (elected(renewDeadline="2400ms"), "renewDeadline (2400ms) has to be longer than 1.2 times retryPeriod (2s): set both"),
    (elected(leaseDuration="1h", renewDeadline="1m", retryPeriod="50s"), "renewDeadline (1m) has to be longer than 1.2 times retryPeriod (50s)"),
    (elected(retryPeriod="0s"), "controller.leaderElection.retryPeriod is 0s: give a time above zero"),
    ({"driver": {"root": "/opt/nvidia/"}}, "at '/driver/root': '/opt/nvidia/' does not match pattern"),
    ({"driver": {"root": "/", "installedBy": "gpuOperator"}}, "driver.root is /, but the GPU Operator's driver container has its own folder on the node"),
    ({"namespaces": {"nodes": {"name": "our.nodes"}}}, "at '/namespaces/nodes/name': 'our.nodes' does not match pattern"),
    ({"namespaces": {"nodes": {"name": "n" * 64}}}, "at '/namespaces/nodes/name': maxLength: got 64, want 63"),
    ({"adoptFrom": ["nvidia.gpu"]}, "at '/adoptFrom/0': 'nvidia.gpu' does not match pattern"),
    ({"imex": {"mode": "hostManaged", "tls": {"enabled": True}}}, "imex.mode=hostManaged needs imex.tls.enabled=false"),
    ({"agent": {"env": [{"name": "NODE_NAME", "value": "n01"}]}}, "agent.env sets NODE_NAME, which would then have a value and a valueFrom"),
    ({"imex": {"env": [{"name": "POD_IP", "value": "10.0.0.1"}]}}, "imex.env sets POD_IP, which would then have a value and a valueFrom"),
    ({"controller": {"leaderElection": {"enabled": False}}}, "controller.replicas is 2: more than one controller needs"),
]


@of_each_helm
def wrong_values_get_one_clear_error_each(major: str) -> None:
    def refused(values: dict, message: str, **more) -> None:
        answer = template(major, values, **more)
        assert answer.returncode == 1 and message in answer.stderr, (values, answer.stderr, answer.stdout[:200])
        problems = [line for line in answer.stderr.splitlines() if line.startswith(("- at ", "Error: execution error", "Error: chart requires"))]
        assert len(problems) == 1, (values, answer.stderr)

    for values, message in WRONG:
        refused(values, message)
    refused({"agent": {"image": {"tag": "a b", "digest": DIGEST}}}, "at '/agent/image/tag': 'a b' does not match pattern")
    refused({"namespaces": {"nodes": {"name": "gpu"}}}, 'the release is in the namespace "gpu", which is also namespaces.nodes.name', namespace="gpu")
    refused({"extendedResource": {"enabled": True}}, "extendedResource.enabled needs Kubernetes 1.36 or later; this is v1.35.2", kubernetes="1.35.2")
    refused({}, "chart requires kubeVersion: >=1.32.0-0 which is incompatible with Kubernetes v1.31.9", kubernetes="1.31.9")


def keys(of, path=()):
    for key, value in of.items() if isinstance(of, dict) else ():
        yield (*path, key)
        yield from keys(value, (*path, key))


# That the namespaces are no longer taken over, and what Kubernetes takes as unset. Any other key is there in every release.
MAY_BE_UNSET = {("adoptFrom",), *((program, "resources", *path) for program in WORKLOADS for path in (
    ("requests",), ("requests", "cpu"), ("requests", "memory"), ("limits",), ("limits", "memory")))}


@of_each_helm
def a_key_without_a_value_is_refused_by_its_name(major: str) -> None:
    """Helm takes such a key and its default out before the schema looks. All of one depth at once: the schema names each that is missing."""
    known = set(keys(libyaml.load((CHART / "values.yaml").read_text())))
    assert MAY_BE_UNSET < known, MAY_BE_UNSET - known
    for depth in sorted({len(path) for path in known}):
        unset = {path for path in known if len(path) == depth}
        answer = template(major, merged(*(nested(path, None) for path in unset)))
        named = {(*filter(None, where.split("/")), name)
                 for where, names in re.findall(r"^ *- at '([^']*)': missing propert(?:y|ies) (.*)$", answer.stderr, re.MULTILINE)
                 for name in re.findall(r"'(\w+)'", names)}
        assert named == unset - MAY_BE_UNSET, (depth, named ^ (unset - MAY_BE_UNSET), answer.stderr)
        assert (answer.returncode == 0) == (not named), (depth, answer.stderr)


@of_each_helm
def a_key_that_may_be_unset_is_not_there(major: str) -> None:
    assert rendered(major, {"adoptFrom": None}) == rendered(major)
    for depth, wanted in ((3, {}), (4, {"requests": {}, "limits": {}})):
        objects = rendered(major, merged(*(nested(path, None) for path in MAY_BE_UNSET if len(path) == depth)))
        for workload in WORKLOADS.values():
            resources = value_at(objects, f"{workload} {POD} containers 0 resources")
            assert resources == wanted, (depth, workload, resources)


@of_each_helm
def what_is_not_yaml_is_refused_by_its_place(major: str) -> None:
    """In place of a file or template of the package, one that a fault has got into."""
    for file, whole, broken, place in (
            ("kustomize/host-managed/kustomization.yaml", "value: hostManaged", "value: host: managed", "host-managed/kustomization.yaml: error"),
            ("kustomize/host-managed/kustomization.yaml", "kind: Component", "kind: Component: x", "host-managed/kustomization.yaml: error"),
            ("kustomize/gpu-clique-label/kustomization.yaml", "op: replace", "op: re: place", "gpu-clique-label/kustomization.yaml: error"),
            ("templates/_programs.tpl", "- name: imex\n", "- name: im: ex\n", "compute-domain.imex-patch: error")):
        with tempfile.TemporaryDirectory() as folder:
            with tarfile.open(package(major)) as tar:
                tar.extractall(folder, filter="data")
            path = Path(folder) / NAME / file
            assert whole in path.read_text(), (file, whole)
            path.write_text(path.read_text().replace(whole, broken))
            answer = template(major, {"imex": {"mode": "hostManaged"}}, chart=Path(folder) / NAME)
            assert answer.returncode == 1 and place in answer.stderr, (file, broken, answer.returncode, answer.stderr)


@of_each_helm
def versions_of_providers_count_as_what_they_are(major: str) -> None:
    for kubernetes, served in (("v1.32.4-eks-abc123", "v1beta1"), ("v1.33.5-gke.1080000", "v1beta1"), ("v1.34.1-gke.100", "v1"), ("v1.37.0-rc.1", "v1")):
        versions = {each["apiVersion"] for each in rendered(major, kubernetes=kubernetes) if each["kind"] == "DeviceClass"}
        assert versions == {f"resource.k8s.io/{served}"}, (kubernetes, versions)


@of_each_helm
def the_profiles_are_for_where_their_names_say(major: str) -> None:
    profiles = {each.stem: libyaml.load(each.read_text()) for each in PROFILES.glob("*.yaml")}
    assert set(profiles) == {"compute-domain-gpu-operator", "compute-domain-nfd", "compute-domain-openshift", "nvidia-gpu-operator"}
    objects = rendered(major, profiles["compute-domain-gpu-operator"])
    assert value_at(objects, f"{IMEX} {POD} volumes [driver-root] hostPath path") == "/run/nvidia"
    objects = rendered(major, profiles["compute-domain-openshift"])
    assert value_at(objects, "SecurityContextConstraints/compute-domain-agent allowPrivilegedContainer") is False
    assert rendered(major, profiles["compute-domain-nfd"]) == rendered(major)
    # Of the GPU Operator's own chart.
    assert profiles["nvidia-gpu-operator"]["draDriver"]["computeDomains"]["enabled"] is False


TESTS = (
    every_overlay_is_the_same_both_ways,
    components_go_together_the_same_both_ways,
    the_default_of_the_chart_writes_the_cliques_label,
    the_api_alone_is_the_base,
    a_take_over_has_the_rights_of_adopt,
    namespaces_are_named_the_same_both_ways,
    the_two_namespaces_may_change_names,
    the_chart_links_to_every_kustomization,
    the_package_is_the_folder,
    each_alert_has_the_address_of_its_section,
    lint_finds_nothing,
    both_helms_render_the_same,
    each_value_does_what_it_says,
    every_value_is_tried_above,
    the_schema_knows_the_values_and_no_others,
    the_schema_knows_the_flags_of_each_program,
    what_the_schema_looks_into_is_passed_on_as_it_is,
    numbers_end_where_those_of_the_programs_do,
    wrong_values_get_one_clear_error_each,
    a_key_without_a_value_is_refused_by_its_name,
    a_key_that_may_be_unset_is_not_there,
    what_is_not_yaml_is_refused_by_its_place,
    versions_of_providers_count_as_what_they_are,
    the_profiles_are_for_where_their_names_say,
)


if __name__ == "__main__":
    sys.exit(test_runner.run(TESTS, names=sys.argv[1:]))
