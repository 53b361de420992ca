#!/usr/bin/env python3
"""Every query of the dashboard and of the alerts, on a Prometheus that scrapes real programs in trouble: queries_test.py.

The embedded API server with simulated nodes; two controllers, of which one leads; an agent with a supervisor and a stand-in for
nvidia-imex, one without, and one without a fabric. Prometheus is Debian's (tools/setup), with the labels that
manifests/monitoring/service-monitors.yaml gives. Each query has to find something, and so has each metric in it with its labels:
a name that no program has is found here, as is one that a program shows in other words than those of its page. The dashboard's
variables have to have their values. The last line counts what passed. CDOM_BUILD: the programs' build, by default build/release.
"""

import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import urllib.error
import urllib.parse
import urllib.request
from datetime import datetime, timezone
from pathlib import Path

import yaml

sys.dont_write_bytecode = True

import dashboard
import drawing
from dashboard import filled_in
from promql import MONITORING, OF_KUBE_STATE_METRICS, OF_PROMETHEUS, ROOT, alerts, problems, program, selectors

BUILD = Path(os.environ.get("CDOM_BUILD", ROOT / "build/release")).resolve()
KUBECTL = os.environ.get("KUBECTL", "kubectl")
DRIVER = "compute-domain.nvidia.com"
AGENTS = ("gpu1", "gpu2", "gpu3", "gpu4")
PATIENCE = 120  # seconds, for a slow machine
JOINED = "gpus: [{uuid: GPU-0, state: completed, clusterUUID: 6f0a3c52-1c7e, cliqueID: 7}]\n"
JOINING = "gpus: [{uuid: GPU-0, state: inProgress}]\n"
CHANNELS = "Character devices:\n235 nvidia-caps-imex-channels\n\nBlock devices:\n"


def targets() -> list:
    """(title, query) of all panels of the dashboard."""
    return [(panel["title"], target["expr"]) for panel in dashboard.read()["panels"] for target in panel.get("targets", [])]


class Cluster:
    """The programs, in a folder of their own. `end` ends them, by process id."""

    def __init__(self, folder: Path):
        self.folder, self.processes, self.ended = folder, {}, threading.Event()
        self.environment = {name: value for name, value in os.environ.items() if name not in ("NODE_NAME", "NAMESPACE", "POD_UID", "POD_IP", "POD_NAME")}
        self.environment["KUBECONFIG"] = str(folder / "kubeconfig")

    def start(self, name: str, *command, **environment) -> None:
        with open(self.folder / f"{name}.log", "w") as log:
            process = subprocess.Popen([str(word) for word in command], stdout=log, stderr=log, env={**self.environment, **environment})
        self.processes[name] = process

    def end(self) -> None:
        self.ended.set()
        for process in reversed(self.processes.values()):
            process.terminate()
        for process in self.processes.values():
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()

    def log(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text(errors="replace")

    def kubectl(self, *arguments, text=None) -> str:
        done = subprocess.run([KUBECTL, *arguments], input=text, capture_output=True, text=True, env=self.environment, timeout=60)
        assert done.returncode == 0, (arguments, done.stderr)
        return done.stdout

    def apply(self, *objects: dict) -> None:
        self.kubectl("apply", "-f", "-", text=yaml.safe_dump_all(objects))

    def address(self, name: str) -> str:
        """Of the port for metrics, as the program's log has it."""
        return wait(30, f"{name} serves", lambda: re.findall(r"(?:health|serving metrics.*address)=\"?(127[^\s\"]+)", self.log(name)))[0]


def free_address() -> str:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{free.getsockname()[1]}"


def wait(seconds: float, what: str, is_so):
    deadline = time.monotonic() + seconds
    while not (found := is_so()):
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(0.2)
    return found


def domain(name: str, nodes: int, **spec) -> dict:
    return {"apiVersion": "resource.nvidia.com/v1beta1", "kind": "ComputeDomain", "metadata": {"name": name, "namespace": "default"},
            "spec": {"numNodes": nodes, "channel": {"resourceClaimTemplate": {"name": f"{name}-channel"}}, **spec}}


def pod(of: str, node: str) -> dict:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"{of}-{node}", "namespace": "default"}, "spec": {
        "nodeSelector": {"kubernetes.io/hostname": node}, "tolerations": [{"operator": "Exists"}], "terminationGracePeriodSeconds": 1,
        "containers": [{"name": "worker", "image": "busybox", "command": ["sleep", "infinity"], "resources": {"claims": [{"name": "channel"}]}}],
        "resourceClaims": [{"name": "channel", "resourceClaimTemplateName": f"{of}-channel"}]}}


def start_cluster(cluster: Cluster) -> None:
    cluster.start("sandbox", BUILD / "bin/compute-domain-sandbox", "--racks", 1, "--nodes-per-rack", 6, "--run-controller=false",
                  "--kubeconfig", cluster.folder / "kubeconfig")
    wait(60, "the API server", lambda: "ready: KUBECONFIG=" in cluster.log("sandbox"))
    # Alerts and dashboard know no Lease by its name.
    for name in ("controller-a", "controller-b"):
        cluster.start(name, BUILD / "bin/compute-domain-controller", "--metrics-listen", "127.0.0.1:0", "--leader-election-enabled",
                      "--leader-election-lease-lock-name", "fabrics", POD_NAME=name)
    for node in AGENTS:
        # The controller labels a Node with GPUs for agents, and then asks after its agent.
        labels = {"kubernetes.io/hostname": node, "nvidia.com/gpu.present": "true"}
        cluster.apply({"apiVersion": "v1", "kind": "Node", "metadata": {"name": node, "labels": labels}})
        set_kubelet(cluster, node, "True", "KubeletReady")
        start_agent(cluster, node)
    threading.Thread(target=stay_alive, args=(cluster,), daemon=True).start()


def stay_alive(cluster: Cluster) -> None:
    """In place of kubelets: a node without a sign of life counts as lost after 50 seconds. Not of the last, which will be."""
    while not cluster.ended.wait(10):
        now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        with contextlib.suppress(AssertionError, subprocess.TimeoutExpired):
            cluster.apply(*({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": node, "namespace": "kube-node-lease"},
                             "spec": {"holderIdentity": node, "leaseDurationSeconds": 40, "renewTime": now}} for node in AGENTS[:-1]))


def set_kubelet(cluster: Cluster, node: str, status: str, reason: str) -> None:
    room = {"cpu": "8", "pods": "110"}
    cluster.kubectl("patch", "node", node, "--subresource=status", "--type=merge", "-p", json.dumps({"status": {
        "nodeInfo": {"bootID": f"boot-{node}"}, "conditions": [{"type": "Ready", "status": status, "reason": reason}],
        "capacity": room, "allocatable": room}}))


def start_agent(cluster: Cluster, node: str) -> None:
    """As its pod does it. Only gpu1 has a supervisor, and gpu3 has no fabric."""
    folder = cluster.folder / node
    for name in ("plugins", "plugins_registry", "cdi", "os"):
        (folder / name).mkdir(parents=True)
    (folder / "boot_id").write_text(f"boot-{node}\n")
    (folder / "fabric.yaml").write_text(JOINING if node == "gpu3" else JOINED)
    (folder / "devices").write_text(CHANNELS)
    (folder / "hosts").write_text("127.0.0.1\tlocalhost\n")
    if node == "gpu1":
        subprocess.run([ROOT / "tests/imex/stand_in/make_driver_root", BUILD, folder / "root"], check=True)
        cluster.start("imex", BUILD / "bin/compute-domain-imex", "--socket", folder / "imex.sock", "--directory", folder / "imex",
                      "--driver-root", folder / "root", "--kubelet-state-file", folder / "dra_manager_state", "--hosts-file", folder / "hosts",
                      "--persist-file", folder / "os/persist.dat", "--device-files", "given", "--boot-id-file", folder / "boot_id",
                      "--imex-option", f"STAND_IN_OS_DIRECTORY={folder}/os", "--imex-option", f"STAND_IN_HOSTS_FILE={folder}/hosts",
                      "--metrics-listen", "127.0.0.1:0",
                      POD_IP=f"127.121.{os.getpid() >> 8 & 255}.{os.getpid() & 255}")
    cluster.start(f"agent-{node}", BUILD / "bin/compute-domain-agent", "--node-name", node, "--kubelet-plugins-dir", folder / "plugins",
                  "--kubelet-registrar-dir", folder / "plugins_registry", "--cdi-root", folder / "cdi", "--fabric-file", folder / "fabric.yaml",
                  "--imex-socket", folder / "imex.sock", "--boot-id-file", folder / "boot_id", "--alt-proc-devices", folder / "devices",
                  "--metrics-listen", "127.0.0.1:0")


def scrape_config(cluster: Cluster, monitor: dict, pods: dict) -> dict:
    """What the Prometheus operator makes of a ServiceMonitor, for programs at known addresses. Of pods: their nodes."""
    name, [endpoint] = monitor["metadata"]["name"], monitor["spec"]["endpoints"]
    labels = {"namespace": monitor["metadata"]["namespace"], "service": f"{name}-metrics", "endpoint": endpoint["port"]}
    return {
        "job_name": f"{name}-metrics", "honor_labels": endpoint.get("honorLabels", False),
        "static_configs": [{"targets": [cluster.address(pod)], "labels": {**labels, "pod": pod, "__meta_kubernetes_pod_node_name": node}}
                           for pod, node in pods.items()],
        "relabel_configs": [{"source_labels": each["sourceLabels"], "target_label": each["targetLabel"]} for each in endpoint.get("relabelings", [])]}


def service_monitors() -> dict:
    return {each["metadata"]["name"]: each for each in yaml.safe_load_all((MONITORING / "service-monitors.yaml").read_text())}


def scrape_configs(cluster: Cluster) -> list:
    monitors = service_monitors()
    return [scrape_config(cluster, monitors["compute-domain-controller"], {"controller-a": "c1", "controller-b": "c2"}),
            scrape_config(cluster, monitors["compute-domain-agent"], {f"agent-{node}": node for node in AGENTS}),
            scrape_config(cluster, monitors["compute-domain-imex"], {"imex": "gpu1"})]


class Prometheus:
    def __init__(self, cluster: Cluster, scrapes: list, rules: Path = MONITORING / "rules.yaml", every: str = "1s"):
        config = {"global": {"scrape_interval": every, "evaluation_interval": "2s"}, "rule_files": [str(rules)], "scrape_configs": scrapes}
        (cluster.folder / "prometheus.yaml").write_text(yaml.safe_dump(config))
        address = free_address()
        self.url = f"http://{address}"
        cluster.start("prometheus", program("prometheus"), f"--config.file={cluster.folder}/prometheus.yaml", "--log.level=warn",
                      f"--storage.tsdb.path={cluster.folder}/prometheus", f"--web.listen-address={address}")
        wait(60, "Prometheus", self.is_up)

    def is_up(self) -> bool:
        with contextlib.suppress(OSError), urllib.request.urlopen(f"{self.url}/-/ready", timeout=5):
            return True
        return False

    def get(self, path: str, **parameters) -> dict:
        try:
            with urllib.request.urlopen(f"{self.url}/api/v1/{path}?{urllib.parse.urlencode(parameters)}", timeout=20) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{parameters}: {error.read().decode()}") from error

    def samples(self, query: str) -> list:
        """Those of now; what is not a number says nothing."""
        return [each for each in self.get("query", query=query)["result"] if each["value"][1] != "NaN"]


def is_ready(cluster: Cluster, name: str):
    return cluster.kubectl("get", "computedomain", name, "-o", "jsonpath={.status.status}") == "Ready"


def form(cluster: Cluster, name: str, *nodes: str) -> None:
    cluster.apply(domain(name, len(nodes)), *(pod(name, node) for node in nodes))
    wait(60, f"{name} is Ready", lambda: is_ready(cluster, name))


def fault(cluster: Cluster, node: str, what: str) -> None:
    cluster.kubectl("annotate", "node", node, f"sandbox.compute-domain/fault={what}")


class Claim:
    """Of a pod on gpu1, where no kubelet is: this calls its agent in kubelet's place."""

    def __init__(self, cluster: Cluster, of: str):
        self.cluster = cluster
        cluster.apply(domain(of, 1), pod(of, "gpu1"))
        [claim] = wait(30, f"a claim of {of}", lambda: [each for each in self.claims() if self.is_allocated(each, f"{of}-gpu1")])
        self.name, self.uid = claim["metadata"]["name"], claim["metadata"]["uid"]

    def claims(self) -> list:
        return json.loads(self.cluster.kubectl("get", "resourceclaims", "-o", "json"))["items"]

    @staticmethod
    def is_allocated(claim: dict, owner: str) -> bool:
        return claim["metadata"]["ownerReferences"][0]["name"] == owner and bool(claim.get("status", {}).get("allocation"))

    def call(self, verb: str) -> None:
        plugin = self.cluster.folder / f"gpu1/plugins/{DRIVER}/dra.sock"
        subprocess.run([BUILD / "tests/dra/kubelet-calls", verb, plugin, "default", self.name, self.uid], check=True, timeout=90, capture_output=True)


def register(cluster: Cluster) -> None:
    registration = cluster.folder / f"gpu1/plugins_registry/{DRIVER}-reg.sock"
    wait(30, "the agent of gpu1 registers", lambda: subprocess.run([BUILD / "tests/dra/kubelet-calls", "register", registration],
                                                                   capture_output=True, timeout=60).returncode == 0)


def kill_imex(cluster: Cluster) -> None:
    """Its daemon on gpu1, by the process id that the supervisor has logged."""
    daemon = int(re.findall(r"started nvidia-imex.* pid=(\d+)", cluster.log("imex"))[-1])
    os.kill(daemon, 9)
    wait(30, "nvidia-imex is started again", lambda: f"pid={daemon}" not in re.findall(r"started nvidia-imex.* (pid=\d+)", cluster.log("imex"))[-1:])


def make_trouble(cluster: Cluster, prometheus: Prometheus) -> None:
    wait(30, "the programs are scraped", lambda: len(prometheus.samples("up == 1")) == 3 + len(AGENTS))
    # From here on what they count is seen: they began with 0.
    form(cluster, "first", "n01", "n02")
    register(cluster)
    claim = Claim(cluster, "local")
    claim.call("prepare")
    form(cluster, "second", "n03", "n04", "n05")
    claim.call("unprepare")
    claim.call("prepare")
    kill_imex(cluster)
    # It waits for its pods, which are not asked to end.
    cluster.kubectl("delete", "computedomain", "first", "--wait=false")
    cluster.apply(domain("without-pods", 2), domain("too-large", 100, placement={"clique": "Single"}), domain("without-seats", 2), pod("without-seats", "nowhere"))
    fault(cluster, "n03", "imex-hang")
    fault(cluster, "n05", "partition")
    # What gpu2 lacks is only shown while its report is believed.
    set_kubelet(cluster, "gpu4", "Unknown", "NodeStatusUnknown")
    # The GPU Operator replaces its driver.
    cluster.kubectl("label", "node", "n06", "nvidia.com/gpu-driver-upgrade-state=pod-restart-required")


def all_find_something(prometheus: Prometheus, queries: set) -> None:
    """Each at some time: trouble comes and goes."""
    pending, deadline = set(queries), time.monotonic() + PATIENCE
    while pending := {query for query in pending if not prometheus.samples(query)}:
        assert time.monotonic() < deadline, "these have found nothing:\n" + "\n".join(sorted(pending))
        time.sleep(0.5)


def written(name: str, matchers: dict) -> str:
    return name + "{" + ",".join(f'{label}{operator}"{value}"' for label, (operator, value) in matchers.items()) + "}"


def parts_of(queries) -> set:
    """Each metric with its labels, alone: beside what is behind an `or` nobody would miss it."""
    return {written(name, matchers) for query in queries for name, matchers in selectors(query) if name not in {**OF_KUBE_STATE_METRICS, **OF_PROMETHEUS}}


class Tests:
    def __init__(self, cluster: Cluster):
        self.cluster, self.prometheus = cluster, None

    def each_query_of_the_dashboard_names_what_the_pages_have(self) -> None:
        found = {title: wrong for title, query in targets() if (wrong := problems(filled_in(query)))}
        assert not found, found

    def each_variable_of_the_dashboard_names_what_the_pages_have(self) -> None:
        found = {name: wrong for name, selector, label in dashboard.variables(dashboard.read())
                 if (wrong := problems(filled_in(f"count by ({label}) ({selector})")))}
        assert not found, found

    def programs_run_and_get_into_trouble(self) -> None:
        start_cluster(self.cluster)
        self.prometheus = Prometheus(self.cluster, scrape_configs(self.cluster))
        make_trouble(self.cluster, self.prometheus)

    def each_query_of_the_dashboard_finds_something(self) -> None:
        queries = {filled_in(query) for _, query in targets()}
        all_find_something(self.prometheus, queries | parts_of(queries))

    def each_variable_of_the_dashboard_has_its_values(self) -> None:
        """As Grafana asks for them. No series here has the label `cluster`: of clusters only All is there, but the series must be."""
        found = {}
        for name, selector, label in dashboard.variables(dashboard.read()):
            match = {"match[]": filled_in(selector)}
            assert self.prometheus.get("series", **match), f"{name}: there is no series {selector}"
            found[name] = self.prometheus.get(f"label/{label}/values", **match)
        assert found == {"cluster": [], "namespace": ["default"]}, found

    def each_panel_is_drawn(self) -> None:
        """As the pictures of docs/monitoring.md are (dashboard_picture.py), without a browser."""
        page = drawing.page(dashboard.read(), dashboard.Answers(self.prometheus, time.time() - 60, time.time()))
        missing = [panel["title"] for panel in dashboard.read()["panels"] if f">{panel['title']}<" not in page]
        assert not missing, missing

    def each_metric_of_the_alerts_is_there(self) -> None:
        all_find_something(self.prometheus, parts_of(alert["expr"] for alert in alerts()))

    def prometheus_evaluates_each_alert(self) -> None:
        rules = [rule for group in self.prometheus.get("rules")["groups"] for rule in group["rules"]]
        assert len(rules) == len(alerts())
        bad = {rule["name"]: (rule["health"], rule.get("lastError")) for rule in rules if rule["health"] != "ok"}
        assert not bad, bad

    def alerts_are_pending_or_firing_for_this_trouble(self) -> None:
        wanted = {"ComputeDomainWithoutRoom", "ComputeDomainImexRestarted", "ComputeDomainImexNotReady", "ComputeDomainPeersUnreachable",
                  "ComputeDomainFabricError", "ComputeDomainNodeCannotServe", "ComputeDomainAgentMissing"}
        wait(30, "they are", lambda: wanted <= {alert["labels"]["alertname"] for alert in self.prometheus.get("alerts")["alerts"]})
        # One scrape that is late makes them pending until the next.
        wrong = {"ComputeDomainNoLeader", "ComputeDomainMetricsAbsent", "ComputeDomainDaemonSetIncomplete"}
        wait(30, f"none of {wrong} is", lambda: not wrong & {alert["labels"]["alertname"] for alert in self.prometheus.get("alerts")["alerts"]})

    def the_next_leader_has_the_same_domains_once(self) -> None:
        def domains() -> dict:
            """Each with the pod that tells of it."""
            return {(each["metric"]["namespace"], each["metric"]["name"]): each["metric"]["pod"] for each in self.prometheus.samples("compute_domain_ready")}

        before = domains()
        assert ("default", "second") in before, before
        [leader] = set(before.values())
        other = {"controller-a": "controller-b", "controller-b": "controller-a"}[leader]
        self.cluster.processes[leader].terminate()
        # What the one has told last Prometheus keeps until it has asked in vain.
        wait(30, f"{other} alone tells of them", lambda: domains() == dict.fromkeys(before, other) and
             len(self.prometheus.samples("compute_domain_ready")) == len(before))


def run_in_turn(kind: type, first: str) -> int:
    """The tests of this class in their order, each on what those before have left; none after `first` where that fails. Gives the exit code."""
    names = [name for name in vars(kind) if not name.startswith("_")]
    passed, failed = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        cluster = Cluster(Path(folder))
        tests = kind(cluster)
        try:
            for name in names:
                start = time.monotonic()
                try:
                    getattr(tests, name)()
                    passed += 1
                    print(f"ok      {name} ({time.monotonic() - start:.1f} s)", flush=True)
                except Exception:
                    failed += 1
                    print(f"FAILED  {name}\n{traceback.format_exc()}", flush=True)
                    if name == first:
                        break
            if failed:
                for log in sorted(Path(folder).glob("*.log")):
                    print(f"--- {log.name}", *log.read_text(errors="replace").splitlines()[-12:], sep="\n        ")
        finally:
            cluster.end()
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(run_in_turn(Tests, Tests.programs_run_and_get_into_trouble.__name__))
