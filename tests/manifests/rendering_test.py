#!/usr/bin/env python3
"""What kustomize makes of manifests/, by itself and with its components: rendering_test.py. Needs no cluster.

$KUBECTL is a kubectl with kustomize 5; by default that of tools/cluster. The last line counts what passed.
"""

import os
import re
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent.parent

sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests"))

import libyaml
import test_runner

CLASS_KIND = "DeviceClass"
RECOMMENDED = {f"app.kubernetes.io/{name}" for name in ("name", "instance", "version", "component", "part-of", "managed-by")}


def kubectl() -> list:
    if "KUBECTL" in os.environ:
        return [os.environ["KUBECTL"]]
    binary = subprocess.run([ROOT / "tools/cluster", "build"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    return [binary, "kubectl"]


KUBECTL = kubectl()


def kustomize(folder: Path) -> subprocess.CompletedProcess:
    return subprocess.run([*KUBECTL, "kustomize", str(folder)], capture_output=True, text=True)


def objects_of(rendered: subprocess.CompletedProcess) -> list:
    assert rendered.returncode == 0, rendered.stderr
    return libyaml.load_all(rendered.stdout)


def combined(base: str, *components: str, resources=None) -> subprocess.CompletedProcess:
    """As users have it, in a directory of their own; `resources` are files of theirs, by name."""
    with tempfile.TemporaryDirectory() as folder:
        manifests = os.path.relpath(ROOT / "manifests", Path(folder).resolve())
        for name, text in (resources or {}).items():
            (Path(folder) / name).write_text(text)
        (Path(folder) / "kustomization.yaml").write_text(yaml.safe_dump({
            "resources": [*(resources or {}), f"{manifests}/{base}"],
            "components": [f"{manifests}/{name}" for name in components]}))
        return kustomize(Path(folder))


def shipped(name: str) -> list:
    return objects_of(kustomize(ROOT / "manifests" / name))


def of_kind(objects: list, *kinds: str) -> list:
    return [each for each in objects if each["kind"] in kinds]


def workloads(objects: list) -> list:
    return of_kind(objects, "Deployment", "DaemonSet")


def container_of(objects: list, name: str) -> dict:
    [workload] = [each for each in workloads(objects) if each["metadata"]["name"] == name]
    [container] = workload["spec"]["template"]["spec"]["containers"]
    return container


def environment(container: dict) -> dict:
    return {each["name"]: each.get("value") for each in container["env"]}


def kustomization_in(page: str) -> str:
    """The text of my-cluster/kustomization.yaml that a page shows. The folder is beside this repository, as the page's paths are."""
    [block] = re.findall(r"^```yaml\n# my-cluster/kustomization.yaml\n(.*?)^```", (ROOT / page).read_text(), re.DOTALL | re.MULTILINE)
    return block


def beside_the_repository(kustomization: str) -> list:
    """The objects of a folder that has it, where the pages have my-cluster."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "compute-domain-operator").symlink_to(ROOT)
        (Path(folder) / "my-cluster").mkdir()
        (Path(folder) / "my-cluster/kustomization.yaml").write_text(kustomization)
        return objects_of(kustomize(Path(folder) / "my-cluster"))


def what_the_pages_show_takes_its_images_from_your_registry() -> None:
    for page in ("README.md", "docs/install.md"):
        [named] = re.findall(r"^kubectl apply --server-side -k ../(\S+) ", (ROOT / page).read_text(), re.MULTILINE)
        assert named == "my-cluster", (page, named)
        objects = beside_the_repository(kustomization_in(page))
        images = {each["metadata"]["name"]: container_of(objects, each["metadata"]["name"])["image"] for each in workloads(objects)}
        names = ("compute-domain-controller", "compute-domain-agent", "compute-domain-imex")
        assert set(images) == set(names) and all(images[name].startswith(f"registry.example.com/{name}:") for name in names), (page, images)


def a_controller_that_takes_over_knows_the_other_drivers_namespaces_from_its_first_start() -> None:
    [patch] = re.findall(r"^   ```yaml\n(   patches:.*?)^   ```", (ROOT / "docs/install.md").read_text(), re.DOTALL | re.MULTILINE)
    objects = beside_the_repository(kustomization_in("docs/install.md") + textwrap.dedent(patch))
    env = environment(container_of(objects, "compute-domain-controller"))
    assert env["ADOPT_FROM"] == "nvidia-dra-driver-gpu" and env["IMEX_MODE"], env


def every_object_and_pod_has_the_recommended_labels() -> None:
    """Also those of the components, and the API alone; which are as true of an object as of its program."""
    [version] = {each["metadata"]["labels"]["app.kubernetes.io/version"] for each in workloads(shipped("default"))}
    rendered = {"default": shipped("default"), "base": shipped("base"), "adopt": shipped("adopt"),
                "components": objects_of(combined("default", "imex-metrics", "monitoring", "metrics-tls", "imex-metrics/tls", "shared-claims", "compute-domain-cliques",
                                                      "debug-page", "openshift"))}
    for where, objects in rendered.items():
        assert objects
        for each in objects:
            metas = [each["metadata"]]
            if each["kind"] in ("Deployment", "DaemonSet"):
                metas.append(each["spec"]["template"]["metadata"])
            for meta in metas:
                labels = meta.get("labels", {})
                missing = RECOMMENDED - set(labels)
                assert not missing, (where, each["kind"], each["metadata"]["name"], missing)
                for name, value in (("part-of", "compute-domain-operator"), ("managed-by", "kustomize"), ("version", version)):
                    assert labels[f"app.kubernetes.io/{name}"] == value, (where, each["metadata"])


def every_container_has_requests_and_a_memory_limit() -> None:
    for each in workloads(shipped("default")):
        for container in each["spec"]["template"]["spec"]["containers"]:
            resources = container["resources"]
            assert {"cpu", "memory"} <= set(resources["requests"]) and "memory" in resources["limits"], container["name"]


def every_container_is_asked_whether_it_lives_and_whether_it_is_ready() -> None:
    for each in workloads(shipped("default")):
        for container in each["spec"]["template"]["spec"]["containers"]:
            if each["metadata"]["name"] == "compute-domain-imex":
                # It serves nothing without a component, so that each question is a process that the runtime starts; and its
                # end ends the workloads' memory.
                asked = {name: container[f"{name}Probe"] for name in ("startup", "liveness")}
                assert "readinessProbe" not in container, container
                for probe in asked.values():
                    assert probe["exec"]["command"] == ["/usr/bin/compute-domain-imex", "probe"], probe
                    assert probe["periodSeconds"] * probe["failureThreshold"] >= 1200, probe
                assert asked["liveness"]["periodSeconds"] >= 300, asked
            else:
                asked = {name: container[f"{name}Probe"] for name in ("liveness", "readiness")}
                ports = {port["name"] for port in container["ports"]}
                paths = {name: probe["httpGet"]["path"] for name, probe in asked.items() if probe["httpGet"]["port"] in ports}
                assert paths == {"liveness": "/healthz", "readiness": "/readyz"}, (container["name"], asked)


def needs_the_node(spec: dict) -> bool:
    """What Pod Security refuses already at its level "baseline", as far as pods here may have it."""
    containers = [*spec["containers"], *spec.get("initContainers", [])]
    contexts = [each.get("securityContext", {}) for each in containers]
    return (any("hostPath" in volume for volume in spec.get("volumes", []))
            or any(spec.get(field) for field in ("hostNetwork", "hostPID", "hostIPC"))
            or any(context.get("privileged") or context.get("capabilities", {}).get("add") for context in contexts))


def level_of(objects: list, namespace: str) -> str:
    [labels] = [each["metadata"]["labels"] for each in of_kind(objects, "Namespace") if each["metadata"]["name"] == namespace]
    return labels["pod-security.kubernetes.io/enforce"]


def no_namespace_has_both_pods_that_need_the_node_and_others() -> None:
    for objects in (shipped("default"), shipped("test"), shipped("kubernetes-1.32"),
                    *(objects_of(combined("default", name)) for name in ("gpu-operator", "host-managed", "imex-tls"))):
        needs = {}
        for each in workloads(objects):
            needs.setdefault(each["metadata"]["namespace"], set()).add(needs_the_node(each["spec"]["template"]["spec"]))
        assert needs == {"compute-domain-operator": {False}, "compute-domain-nodes": {True}}, needs
        assert level_of(objects, "compute-domain-operator") == "restricted"
        assert level_of(objects, "compute-domain-nodes") == "privileged"


# docs/install.md says how.
def the_namespaces_may_have_other_names() -> None:
    names = yaml.safe_dump({
        "apiVersion": "v1", "kind": "ConfigMap", "data": {"operator": "our-controllers", "nodes": "our-agents"},
        "metadata": {"name": "compute-domain-namespaces", "annotations": {"config.kubernetes.io/local-config": "true"}}})
    most = ["gpu-operator", "gpu-clique-label", "host-managed", "imex-metrics", "monitoring", "metrics-tls", "imex-metrics/tls", "shared-claims",
            "compute-domain-cliques", "debug-page", "openshift", "without-pods-api"]
    others = ["isolation-channel", "imex-tls"]  # refused beside some of those
    for base, components in (("default", most), ("default", others), ("default", ["monitoring"]), ("default", ["extended-resource"]), ("default", ["kubernetes-1.32/component"]),
                             ("kubernetes-1.32", []), ("test", []), ("adopt", [])):
        before = combined(base, *components)
        after = combined(base, *components, "namespaces", resources={"namespaces.yaml": names})
        assert after.returncode == 0, (base, components, after.stderr)

        def renamed(objects: list) -> list:
            """All of them but for the labels, which name the program and no namespace."""
            text = yaml.safe_dump_all(objects).replace("compute-domain-operator", "our-controllers")
            text = text.replace("compute-domain-nodes", "our-agents")
            return sorted(re.sub(r"(app.kubernetes.io/[a-z-]+: )our-controllers", r"\1compute-domain-operator", text).split("\n---\n"))

        wanted, got = renamed(objects_of(before)), sorted(yaml.safe_dump_all(objects_of(after)).split("\n---\n"))
        differ = [(one, other) for one, other in zip(wanted, got) if one != other]
        assert wanted == got, (base, components, len(wanted), len(got), differ[:1])


def metrics_are_for_the_monitoring_namespace_only() -> None:
    policies = {each["metadata"]["name"]: each["spec"] for each in of_kind(shipped("default"), "NetworkPolicy")}
    for name in ("compute-domain-agent", "compute-domain-controller"):
        [rule] = policies[name]["ingress"]
        assert rule["from"] == [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}}], rule


def supervisors_serve_metrics_with_their_component_only() -> None:
    default, objects = shipped("default"), objects_of(combined("default", "imex-metrics"))
    plain, container = (container_of(each, "compute-domain-imex") for each in (default, objects))
    assert "HTTP_ENDPOINT" not in environment(plain), plain["env"]
    assert "metrics" not in [port["name"] for port in plain["ports"]], plain["ports"]
    assert environment(container)["HTTP_ENDPOINT"] == ":8082", container["env"]
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    assert ports == {"imex": 50000, "imex-command": 50005, "metrics": 8082}, ports
    # What runs goes on: the pods are replaced by hand.
    for each in of_kind(objects, "DaemonSet"):
        assert each["metadata"]["name"] != "compute-domain-imex" or each["spec"]["updateStrategy"] == {"type": "OnDelete"}, each
    policies = {each["metadata"]["name"]: each["spec"] for each in of_kind(objects, "NetworkPolicy")}
    [rule] = policies["compute-domain-imex-metrics"]["ingress"]
    assert rule == {"from": [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}}],
                    "ports": [{"port": "metrics"}]}, rule


def daemon_sets_select_by_the_label_of_the_controller() -> None:
    for each in of_kind(shipped("default"), "DaemonSet"):
        affinity = each["spec"]["template"]["spec"]["affinity"]["nodeAffinity"]
        [term] = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
        assert term == {"matchExpressions": [{"key": "resource.nvidia.com/compute-domain-agent", "operator": "In",
                                              "values": ["detected", "true"]}]}, term


def controllers_prefer_nodes_without_gpus() -> None:
    """More than all else: who breaks out of a workload is not to find the controller's token on its node."""
    [controller] = of_kind(shipped("default"), "Deployment")
    affinity = controller["spec"]["template"]["spec"]["affinity"]["nodeAffinity"]
    terms = affinity["preferredDuringSchedulingIgnoredDuringExecution"]
    wanted = {(label, "DoesNotExist") for label in ("resource.nvidia.com/compute-domain-agent", "nvidia.com/gpu.present",
                                                    "feature.node.kubernetes.io/pci-10de.present",
                                                    "feature.node.kubernetes.io/pci-0302_10de.present")}
    [weight] = [term["weight"] for term in terms
                if {(each["key"], each["operator"]) for each in term["preference"]["matchExpressions"]} == wanted]
    assert weight == 100 and [term["weight"] for term in terms].count(100) == 1, terms


def the_controller_is_what_suites_that_accept_a_driver_look_for() -> None:
    container = container_of(shipped("default"), "compute-domain-controller")
    assert any("compute-domain-controller" in word for word in container["command"]), container["command"]
    assert environment(container)["IMEX_MODE"] == "driverManaged"
    host_managed = objects_of(combined("default", "host-managed"))
    assert environment(container_of(host_managed, "compute-domain-controller"))["IMEX_MODE"] == "hostManaged"
    classes = {each["metadata"]["name"] for each in of_kind(shipped("default"), CLASS_KIND)}
    assert classes == {"compute-domain-daemon.nvidia.com", "compute-domain-default-channel.nvidia.com"}, classes


def the_gpu_operators_driver_is_seen_through_the_folder_above_its_mount() -> None:
    objects = objects_of(combined("default", "gpu-operator"))
    [supervisor] = [each for each in of_kind(objects, "DaemonSet") if each["metadata"]["name"] == "compute-domain-imex"]
    spec = supervisor["spec"]["template"]["spec"]
    [root] = [volume["hostPath"]["path"] for volume in spec["volumes"] if volume["name"] == "driver-root"]
    assert root == "/run/nvidia", root
    [container] = spec["containers"]
    assert environment(container)["DRIVER_ROOT_CTR_PATH"] == "/driver-root/driver"
    [mount] = [mount for mount in container["volumeMounts"] if mount["name"] == "driver-root"]
    assert mount["mountPath"] == "/driver-root" and mount["mountPropagation"] == "HostToContainer", mount


def the_agent_sees_all_pods_of_its_node_but_with_the_component_against_it() -> None:
    def folders(objects: list) -> tuple:
        """Of the agent: what its pods have of the node, and where they mount it."""
        [agent] = [each for each in of_kind(objects, "DaemonSet") if each["metadata"]["name"] == "compute-domain-agent"]
        spec = agent["spec"]["template"]["spec"]
        return ({volume["hostPath"]["path"] for volume in spec["volumes"]},
                {mount["mountPath"] for container in spec["containers"] for mount in container["volumeMounts"]})

    pods = "/var/lib/kubelet/pods-api"
    for base, components in (("default", ()), ("test", ()), ("default", ("kubernetes-1.32/component",))):
        on_the_node, mounted = folders(objects_of(combined(base, *components)))
        assert pods in on_the_node and pods in mounted, (base, components, on_the_node, mounted)
        assert folders(objects_of(combined(base, *components, "without-pods-api"))) == (on_the_node - {pods}, mounted - {pods})


def the_policy_allows_the_cliques_label_with_its_component_only() -> None:
    def ours(objects: list) -> str:
        [policy] = [each for each in of_kind(objects, "ValidatingAdmissionPolicy")
                    if each["metadata"]["name"] == "compute-domain-controller-nodes"]
        [variable] = [each for each in policy["spec"]["variables"] if each["name"] == "ours"]
        return variable["expression"]

    assert "gpu.clique" not in ours(shipped("default"))
    with_label = ours(objects_of(combined("default", "gpu-clique-label")))
    assert "'nvidia.com/gpu.clique'" in with_label and "'resource.nvidia.com/compute-domain-agent'" in with_label


def supervisor_of(objects: list) -> dict:
    [supervisor] = [each for each in of_kind(objects, "DaemonSet") if each["metadata"]["name"] == "compute-domain-imex"]
    return supervisor


def metrics_are_behind_tls_and_tokens_with_their_component_only() -> None:
    # ServiceAccounts by the ClusterRole that they have.
    def bound(objects: list) -> dict:
        return {each["roleRef"]["name"]: {subject["name"] for subject in each["subjects"]}
                for each in of_kind(objects, "ClusterRoleBinding")}

    default, objects = shipped("default"), objects_of(combined("default", "metrics-tls"))
    for name in ("compute-domain-controller", "compute-domain-agent"):
        container = container_of(objects, name)
        [mount] = [each["mountPath"] for each in container["volumeMounts"] if each["name"] == "metrics-tls"]
        values = environment(container)
        assert values["METRICS_TLS_CERT"] == f"{mount}/tls.crt" and values["METRICS_TLS_KEY"] == f"{mount}/tls.key", values
        assert values["METRICS_AUTHENTICATION"] == "true", values
        probes = [container[probe]["httpGet"] for probe in ("livenessProbe", "readinessProbe")]
        assert [probe["scheme"] for probe in probes] == ["HTTPS", "HTTPS"], probes
        assert [probe["path"] for probe in probes] == ["/healthz", "/readyz"], probes
        plain = container_of(default, name)
        assert not any(each.startswith("METRICS_") for each in environment(plain)), plain["env"]
        assert "scheme" not in plain["livenessProbe"]["httpGet"], plain["livenessProbe"]
    for each in workloads(objects):
        spec = each["spec"]["template"]["spec"]
        mounted = [volume for volume in spec.get("volumes", []) if "secret" in volume]
        # It serves nothing here, and its pods are replaced by hand.
        if each["metadata"]["name"] == "compute-domain-imex":
            assert each == supervisor_of(default), mounted
            continue
        assert [volume["secret"]["secretName"] for volume in mounted] == ["compute-domain-metrics-tls"], mounted
        # The file's mode, and who can read it.
        mode, user = mounted[0]["secret"]["defaultMode"], spec.get("securityContext", {}).get("runAsUser", 0)
        assert user == 0 or (mode & 0o040 and spec["securityContext"]["fsGroup"] == spec["securityContext"]["runAsGroup"]), spec
    assert bound(objects)["compute-domain-metrics-auth"] == {"compute-domain-controller", "compute-domain-agent"}
    assert "compute-domain-metrics-auth" not in bound(default)
    [reader] = [each for each in of_kind(objects, "ClusterRole") if each["metadata"]["name"] == "compute-domain-metrics-reader"]
    assert reader["rules"] == [{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}], reader


def supervisors_serve_behind_tls_with_the_component_for_that_only() -> None:
    plain, both = (objects_of(combined("default", "imex-metrics", *more)) for more in ([], ["metrics-tls"]))
    assert supervisor_of(plain) == supervisor_of(both)
    objects = objects_of(combined("default", "imex-metrics", "metrics-tls", "imex-metrics/tls"))
    container = container_of(objects, "compute-domain-imex")
    [mount] = [each["mountPath"] for each in container["volumeMounts"] if each["name"] == "metrics-tls"]
    values = environment(container)
    assert values["METRICS_TLS_CERT"] == f"{mount}/tls.crt" and values["METRICS_TLS_KEY"] == f"{mount}/tls.key", values
    assert "METRICS_AUTHENTICATION" not in values, values  # it has no token to ask with
    # No workload waits for a certificate of metrics.
    [secret] = [volume["secret"] for volume in supervisor_of(objects)["spec"]["template"]["spec"]["volumes"] if "secret" in volume]
    assert secret == {"secretName": "compute-domain-metrics-tls", "defaultMode": 0o400, "optional": True}, secret
    # Without one of the two before it, the ServiceMonitor and the port would not go together.
    for components in (["imex-metrics/tls"], ["metrics-tls", "imex-metrics/tls"], ["imex-metrics", "imex-metrics/tls"],
                       ["imex-metrics/tls", "imex-metrics", "metrics-tls"]):
        refused = combined("default", *components)
        assert refused.returncode != 0 and "test" in refused.stderr, (components, refused.stderr)


def monitors_reach_the_services_as_these_serve_metrics() -> None:
    components = ["imex-metrics", "monitoring"]
    plain, half, behind_tls = (objects_of(combined("default", *components, *more)) for more in ([], ["metrics-tls"], ["metrics-tls", "imex-metrics/tls"]))
    services = {each["metadata"]["name"]: each for each in of_kind(plain, "Service")}
    for objects in (plain, half, behind_tls):
        for monitor in of_kind(objects, "ServiceMonitor"):
            name, namespace = monitor["metadata"]["name"], monitor["metadata"]["namespace"]
            service = services[f"{name}-metrics"]
            assert service["metadata"]["namespace"] == namespace
            assert monitor["spec"]["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
            [endpoint] = monitor["spec"]["endpoints"]
            assert endpoint["port"] in [port["name"] for port in service["spec"]["ports"]]
            # As in the certificate that docs/security.md names.
            assert endpoint["tlsConfig"]["serverName"] == f"{name}-metrics.{namespace}.svc"
            # Only the controller's metrics name another namespace than its own; a node's agent is trusted with no label.
            assert endpoint.get("honorLabels", False) == (name == "compute-domain-controller")
            tls = {"scheme", "bearerTokenFile"} & set(endpoint) | {"ca"} & set(endpoint["tlsConfig"])
            # The supervisor asks for no token, and is sent none; and has TLS by a component of its own.
            is_supervisor = name == "compute-domain-imex"
            is_behind_tls = objects is behind_tls or (objects is half and not is_supervisor)
            token = set() if is_supervisor else {"bearerTokenFile"}
            assert tls == ({"scheme", "ca"} | token if is_behind_tls else set()), (name, tls)
    # Or they would go on without TLS.
    refused = combined("default", "metrics-tls", "monitoring")
    assert refused.returncode != 0 and "fsGroup" in refused.stderr, refused.stderr


def the_rules_and_the_dashboard_are_what_their_files_have() -> None:
    objects = objects_of(combined("default", "monitoring"))
    [rule] = of_kind(objects, "PrometheusRule")
    assert rule["spec"] == libyaml.load((ROOT / "manifests/monitoring/rules.yaml").read_text())
    [dashboard] = of_kind(objects, "ConfigMap")
    assert dashboard["metadata"]["labels"]["grafana_dashboard"] == "1"
    assert dashboard["data"] == {"compute-domains.json": (ROOT / "manifests/monitoring/compute-domains.json").read_text()}


def versions_of_classes(objects: list) -> set:
    return {each["apiVersion"] for each in of_kind(objects, CLASS_KIND)}


def older_versions_have_classes_that_they_serve() -> None:
    assert versions_of_classes(shipped("kubernetes-1.32")) == {"resource.k8s.io/v1beta1"}
    objects = objects_of(combined("default", "shared-claims", "gpu-clique-label", "kubernetes-1.32/component"))
    assert len(of_kind(objects, CLASS_KIND)) == 3
    assert versions_of_classes(objects) == {"resource.k8s.io/v1beta1"}
    assert versions_of_classes(shipped("default")) == {"resource.k8s.io/v1"}


# One that is not keeps all pods of the class off every node: an attribute may be missing, and a version may be the right
# operand of == only.
def selectors_of_device_classes_are_total() -> None:
    attribute = r"device\.attributes\['compute-domain\.nvidia\.com'\]\.\?\w+\.orValue\((?:''|-1)\)"
    total = re.compile(rf"device\.driver == '[^']+'(?: && (?:'[^']+'|\d+) == {attribute})+")
    for each in of_kind(objects_of(combined("default", "shared-claims")), CLASS_KIND):
        [selector] = each["spec"]["selectors"]
        assert total.fullmatch(selector["cel"]["expression"]), (each["metadata"]["name"], selector)


def what_an_older_version_cannot_have_is_refused() -> None:
    for base, components, word in (
        ("kubernetes-1.32", ["shared-claims"], "/apiVersion"),
        ("kubernetes-1.32", ["extended-resource"], "/apiVersion"),
        ("default", ["kubernetes-1.32/component", "shared-claims"], "/apiVersion"),
        ("default", ["extended-resource", "kubernetes-1.32/component"], "/spec/extendedResourceName"),
    ):
        rendered = combined(base, *components)
        assert rendered.returncode != 0 and word in rendered.stderr, (base, components, rendered.stderr)


def components_that_contradict_each_other_are_refused_in_any_order() -> None:
    for one, other, words in (("isolation-channel", "gpu-clique-label", ("gpu-clique-label", "imex-isolation")),
                              ("host-managed", "imex-tls", ("imex-tls", "imex-mode"))):
        for components in ([one, other], [other, one], [other, "imex-metrics", one]):
            refused = combined("default", *components)
            assert refused.returncode != 0 and any(word in refused.stderr for word in words), (components, refused.stderr)
    for components in (["isolation-channel", "host-managed"], ["isolation-channel", "imex-tls"], ["gpu-clique-label", "host-managed"],
                       ["gpu-clique-label", "imex-tls"]):
        assert combined("default", *components).returncode == 0, components


TESTS = (
    what_the_pages_show_takes_its_images_from_your_registry,
    a_controller_that_takes_over_knows_the_other_drivers_namespaces_from_its_first_start,
    every_object_and_pod_has_the_recommended_labels,
    every_container_has_requests_and_a_memory_limit,
    every_container_is_asked_whether_it_lives_and_whether_it_is_ready,
    no_namespace_has_both_pods_that_need_the_node_and_others,
    the_namespaces_may_have_other_names,
    metrics_are_for_the_monitoring_namespace_only,
    supervisors_serve_metrics_with_their_component_only,
    daemon_sets_select_by_the_label_of_the_controller,
    controllers_prefer_nodes_without_gpus,
    the_controller_is_what_suites_that_accept_a_driver_look_for,
    the_gpu_operators_driver_is_seen_through_the_folder_above_its_mount,
    the_agent_sees_all_pods_of_its_node_but_with_the_component_against_it,
    the_policy_allows_the_cliques_label_with_its_component_only,
    metrics_are_behind_tls_and_tokens_with_their_component_only,
    supervisors_serve_behind_tls_with_the_component_for_that_only,
    monitors_reach_the_services_as_these_serve_metrics,
    the_rules_and_the_dashboard_are_what_their_files_have,
    older_versions_have_classes_that_they_serve,
    selectors_of_device_classes_are_total,
    what_an_older_version_cannot_have_is_refused,
    components_that_contradict_each_other_are_refused_in_any_order,
)


if __name__ == "__main__":
    sys.exit(test_runner.run(TESTS, names=sys.argv[1:]))
