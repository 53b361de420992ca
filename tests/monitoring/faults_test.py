#!/usr/bin/env python3
"""A fault for each alert: what src/sandbox/README.md says makes an alert fire, done, and the alert fires: faults_test.py.

compute-domain-sandbox with its controller and its agents, scraped by a real Prometheus (Debian's, tools/setup) as the page says;
then compute-domain-controller on one without, for what only that program does. The rules are those of manifests/monitoring, whose
minutes are seconds here. kube-state-metrics is not ours: of it there are the two metrics that an alert reads. The last line counts
what passed. CDOM_BUILD: the programs' build, by default build/release.
"""

import http.client
import http.server
import json
import re
import sys
import threading
import urllib.request
from datetime import datetime, timezone

import yaml

sys.dont_write_bytecode = True

from promql import MONITORING, ROOT, alerts
from queries_test import BUILD, PATIENCE, Cluster, Prometheus, domain, fault, form, free_address, pod, run_in_turn, service_monitors, wait

PAGE = ROOT / "src/sandbox/README.md"
DOMAINS_WITH_METRICS = 2000
LEASE = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "compute-domain-controller", "namespace": "compute-domain-operator"}}


def in_seconds(rules: str) -> str:
    """The rules with short times; what looks back to span the time from one leader to the next is as it was, and how often pods fail."""
    rules = re.sub(r"\b\d+ \* 60\b", "2", rules)
    rules = re.sub(r"(compute_domain_status\{[^}]*\})\[(?:15m|1h)\]", r"\1[2s]", rules)
    rules = re.sub(r"\[2h:1m\]\) > 6[01]\b", "[4s:1s]) > 2", rules)
    return re.sub(r"\bfor: \d+m\b", "for: 1s", rules)


class Api:
    """The API server, without kubectl's pace: many objects, and the stand-in for kube-state-metrics."""

    def __init__(self, cluster: Cluster):
        config = yaml.safe_load((cluster.folder / "kubeconfig").read_text())
        self.server = config["clusters"][0]["cluster"]["server"]
        self.headers = {"Authorization": f"Bearer {config['users'][0]['user']['token']}", "Content-Type": "application/json"}

    def get(self, path: str) -> dict:
        with urllib.request.urlopen(urllib.request.Request(self.server + path, headers=self.headers), timeout=20) as answer:
            return json.load(answer)

    def create_all(self, path: str, objects) -> None:
        connection = http.client.HTTPConnection(self.server.removeprefix("http://"), timeout=30)
        for each in objects:
            connection.request("POST", path, json.dumps(each), self.headers)
            answer = connection.getresponse()
            text = answer.read()
            assert answer.status == 201, (answer.status, text)
        connection.close()


class DaemonSetMetrics:
    """As kube-state-metrics has them: docs/metrics/workload/daemonset-metrics.md of github.com/kubernetes/kube-state-metrics."""

    OF = {"kube_daemonset_status_desired_number_scheduled": "desiredNumberScheduled", "kube_daemonset_status_number_ready": "numberReady"}

    def __init__(self, api: Api):
        class Page(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                body = DaemonSetMetrics.page(api).encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/plain; version=0.0.4")
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
        self.address = f"127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    @staticmethod
    def page(api: Api) -> str:
        lines = []
        for each in api.get("/apis/apps/v1/daemonsets")["items"]:
            name = f'namespace="{each["metadata"]["namespace"]}",daemonset="{each["metadata"]["name"]}"'
            lines += [f"{metric}{{{name}}} {each.get('status', {}).get(field, 0)}\n" for metric, field in DaemonSetMetrics.OF.items()]
        return "".join(lines)


def table() -> dict:
    """What makes each alert fire, as the page has it."""
    return dict(re.findall(r"^\| `(ComputeDomain\w+)` \| (.+) \|$", PAGE.read_text(), re.MULTILINE))


def start_sandbox(cluster: Cluster, *flags) -> None:
    cluster.start("sandbox", BUILD / "bin/compute-domain-sandbox", "--nodes-per-rack", 8, "--kubeconfig", cluster.folder / "kubeconfig", *flags)
    wait(60, "the API server", lambda: "ready: KUBECONFIG=" in cluster.log("sandbox"))


def served(cluster: Cluster, whose: str) -> str:
    return wait(30, f"{whose} metrics", lambda: re.findall(rf"{whose} metrics are served.* address=\"?(127[^\s\"]+)", cluster.log("sandbox")))[-1]


def as_the_page_says(controllers: list, agents: str, others: str) -> list:
    """With the job of kube-state-metrics, whose labels count as in kube-prometheus-stack."""
    [example] = re.findall(r"^```yaml\n(scrape_configs:.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    configs = yaml.safe_load(example)["scrape_configs"]
    by_name = {each["job_name"]: each for each in configs}
    assert set(by_name) == {"compute-domain-controller", "compute-domain-agent"}, by_name
    [endpoint] = service_monitors()["compute-domain-controller"]["spec"]["endpoints"]
    assert by_name["compute-domain-controller"]["honor_labels"] == endpoint["honorLabels"]
    by_name["compute-domain-controller"]["static_configs"] = [{"targets": controllers}]
    [discovery] = by_name["compute-domain-agent"]["http_sd_configs"]
    discovery.update(url=f"http://{agents}/targets", refresh_interval="1s")
    return [*configs, {"job_name": "kube-state-metrics", "honor_labels": True, "static_configs": [{"targets": [others]}]}]


def refusal(resource: str) -> list:
    """A policy that refuses such objects."""
    policy = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy", "metadata": {"name": "no-templates"}, "spec": {
        "failurePolicy": "Fail", "validations": [{"expression": "false", "message": "no more of them"}], "matchConstraints": {"resourceRules": [
            {"apiGroups": ["resource.k8s.io"], "apiVersions": ["*"], "operations": ["CREATE"], "resources": [resource]}]}}}
    binding = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": "no-templates"},
               "spec": {"policyName": "no-templates", "validationActions": ["Deny"]}}
    return [policy, binding]


class Tests:
    def __init__(self, cluster: Cluster):
        self.cluster, self.seen = cluster, set()

    def _fires(self, alertname: str, **labels) -> None:
        labels["alertname"] = alertname
        wait(PATIENCE, f"{labels} fires", lambda: [each for each in self._firing() if labels.items() <= each.items()])
        self.seen.add(alertname)

    def _firing(self) -> list:
        return [each["labels"] for each in self.prometheus.get("alerts")["alerts"] if each["state"] == "firing"]

    def the_page_has_each_alert(self) -> None:
        assert set(table()) == {alert["alert"] for alert in alerts()}, set(table()) ^ {alert["alert"] for alert in alerts()}

    def no_rule_has_long_times_here(self) -> None:
        rules = yaml.safe_load(in_seconds((MONITORING / "rules.yaml").read_text()))
        for rule in (rule for group in rules["groups"] for rule in group["rules"]):
            assert rule.get("for", "1s") == "1s", rule["alert"]
            assert not re.search(r"\* 60|\[1h\]|2h", rule["expr"]), rule["alert"]
            assert "[15m]" not in rule["expr"] or "increase(" in rule["expr"], rule["alert"]

    def a_rack_runs_and_nothing_fires(self) -> None:
        start_sandbox(self.cluster, "--metrics-listen", "127.0.0.1:0", "--agent-metrics-listen", "127.0.0.1:0")
        self.api, self.program_address = Api(self.cluster), free_address()
        self.daemon_sets = DaemonSetMetrics(self.api)
        (self.cluster.folder / "rules.yaml").write_text(in_seconds((MONITORING / "rules.yaml").read_text()))
        self.prometheus = Prometheus(self.cluster, as_the_page_says(
            [served(self.cluster, "controller's"), self.program_address], served(self.cluster, "agents'"), self.daemon_sets.address),
            self.cluster.folder / "rules.yaml")
        wait(60, "16 agents are scraped", lambda: len(self.prometheus.samples('up{job="compute-domain-agent"} == 1')) == 16)
        wait(60, "the controller is scraped", lambda: self.prometheus.samples('compute_domain_metrics_left_out{what="domains"}'))
        for name, nodes in (("hangs", ("r1n01", "r1n02")), ("cut", ("r1n03", "r1n04", "r1n05")), ("killed", ("r1n06",)), ("leaves", ("r1n07",))):
            form(self.cluster, name, *nodes)
        wait(60, "nothing fires", lambda: not self._firing())

    def faults_are_made(self) -> None:
        fault(self.cluster, "r2n04", "power-off")
        fault(self.cluster, "r1n01", "imex-hang")
        fault(self.cluster, "r1n05", "imex-cut")
        fault(self.cluster, "r1n06", "imex-kill")
        fault(self.cluster, "r2n01", "fabric-error")
        fault(self.cluster, "r2n05", "fabric-unhealthy")
        fault(self.cluster, "r2n02", "imex-foreign")
        fault(self.cluster, "r2n03", "agent-crash")
        self.cluster.apply({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "without-machine", "labels": {"nvidia.com/gpu.present": "true"}}})
        self.cluster.kubectl("delete", "computedomain", "leaves", "--wait=false")
        self.cluster.apply(domain("waits", 2), domain("too-large", 100, placement={"clique": "Single"}), pod("waits", "r1n08"))
        # Other nodes are free.
        self.cluster.apply(domain("pinned", 0), pod("pinned", "r1n08"))
        self.cluster.apply(*refusal("resourceclaimtemplates"))
        self.cluster.apply(domain("refused", 1))

    def imex_faults_are_alerts(self) -> None:
        self._fires("ComputeDomainImexNotReady", node="r1n01", state="Failed")
        self._fires("ComputeDomainNotReady", name="hangs", reason="ImexFailed")
        self._fires("ComputeDomainImexRestarted", node="r1n06")
        self._fires("ComputeDomainPeersUnreachable", node="r1n03")

    def faults_of_nodes_are_alerts(self) -> None:
        self._fires("ComputeDomainFabricError", node="r2n01")
        self._fires("ComputeDomainFabricError", node="r2n05")
        self._fires("ComputeDomainNodeCannotServe", node="r2n02", reason="ImexCannotStart")
        self._fires("ComputeDomainDaemonSetIncomplete", daemonset="compute-domain-agent", namespace="compute-domain-nodes")

    def domains_that_do_not_go_on_are_alerts(self) -> None:
        self._fires("ComputeDomainWaiting", name="waits", reason="WaitingForNodes")
        self._fires("ComputeDomainWaiting", name="pinned", reason="WaitingForPods")
        self._fires("ComputeDomainWithoutRoom", name="too-large")
        self._fires("ComputeDomainStuckDeleting", name="leaves")
        self._fires("ComputeDomainWritesRefused")

    def a_node_without_power_is_an_alert(self) -> None:
        self._fires("ComputeDomainAgentMissing", node="r2n04")

    def a_node_that_never_had_an_agent_is_an_alert(self) -> None:
        self._fires("ComputeDomainAgentMissing", node="without-machine")

    def a_pod_for_which_no_device_is_free_is_an_alert(self) -> None:
        self.cluster.kubectl("taint", "nodes", "--all", "node.kubernetes.io/unschedulable:NoSchedule")
        self._fires("ComputeDomainWithoutRoom", name="pinned")

    def agents_that_are_all_gone_are_an_alert(self) -> None:
        self.cluster.kubectl("annotate", "nodes", "--all", "--overwrite", "sandbox.compute-domain/fault=agent-crash")
        self._fires("ComputeDomainAgentMetricsAbsent")

    def no_controller_is_an_alert(self) -> None:
        self.daemon_sets.close()
        sandbox = self.cluster.processes.pop("sandbox")
        sandbox.terminate()
        sandbox.wait(20)
        start_sandbox(self.cluster, "--run-controller=false", "--racks", 1)
        self._fires("ComputeDomainMetricsAbsent")

    def a_lease_of_somebody_else_is_an_alert(self) -> None:
        self._replace_a_definition()
        now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        self.cluster.apply({**LEASE, "spec": {"holderIdentity": "somebody", "leaseDurationSeconds": 3600, "acquireTime": now, "renewTime": now}})
        self.cluster.start("controller", BUILD / "bin/compute-domain-controller", "--metrics-listen", self.program_address,
                           "--leader-election-enabled", POD_NAME="controller")
        self._fires("ComputeDomainNoLeader", name="compute-domain-controller")
        self.cluster.kubectl("delete", "lease", LEASE["metadata"]["name"], "-n", LEASE["metadata"]["namespace"])
        wait(60, "it leads", lambda: self.prometheus.samples('compute_domain_metrics_left_out{what="domains"}'))

    def _replace_a_definition(self) -> None:
        """The controller looks at its start, and then every five minutes."""
        older = re.sub(r"^( *)pendingClaims:$", r"\1older:", (ROOT / "crds/computedomainnodes.yaml").read_text(), flags=re.MULTILINE)
        self.cluster.kubectl("replace", "-f", "-", text=older)

    def an_older_definition_is_an_alert(self) -> None:
        self._fires("ComputeDomainDefinitionOutdated", definition="computedomainnodes.resource.nvidia.com")

    def more_domains_than_have_metrics_are_an_alert(self) -> None:
        Api(self.cluster).create_all("/apis/resource.nvidia.com/v1beta1/namespaces/default/computedomains",
                                     (domain(f"d{i}", 1) for i in range(DOMAINS_WITH_METRICS + 1)))
        self._fires("ComputeDomainMetricsLeftOut", what="domains")

    def each_alert_has_fired(self) -> None:
        missing = {alert["alert"] for alert in alerts()} - self.seen
        assert not missing, missing


if __name__ == "__main__":
    sys.exit(run_in_turn(Tests, Tests.a_rack_runs_and_nothing_fires.__name__))
