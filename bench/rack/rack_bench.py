#!/usr/bin/env python3
"""rack_bench KUBECONFIG AUDIT_LOG RUNS AGAIN SIZE…: pods on a rack of real kubelets: without a claim, with one of a
driver that answers at once (trivial_driver, which runs on every node), and with a ComputeDomain.

For each SIZE, RUNS times in generations, in an order that differs: SIZE pods of each kind, from their POST to the last one
Running. Then a domain of the middle SIZE that is deleted and formed again, AGAIN times. Prints a line per figure, as the
programs beside it do.
"""

import json
import math
import os
import random
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools/cluster.d"), str(ROOT / "tools/image.d")]
from cluster import Cluster
from go_build import GoBuild

PATIENCE = 120
QUIET = 1.0  # seconds without a write: whatever was to be written is
TRIVIAL = "trivial.example.com"


def kubectl(*arguments: str, **options) -> str:
    command = [Path(AUDIT_LOG).parent / "kubectl", *arguments]
    return subprocess.run(command, cwd=ROOT, check=True, text=True, stdout=subprocess.PIPE, **options).stdout


class Watch:
    """The lines of a watch, with the moments at which they came."""

    def __init__(self, *arguments: str):
        command = [Path(AUDIT_LOG).parent / "kubectl", "get", "--watch", *arguments]
        self._process = subprocess.Popen(command, cwd=ROOT, text=True, stdout=subprocess.PIPE)
        self._lines = []
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def wait(self, holds) -> float:
        """When `holds` of the lines so far was first true."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            lines = list(self._lines)
            if lines and holds([text for _, text in lines]):
                for count in range(1, len(lines) + 1):
                    if holds([text for _, text in lines[:count]]):
                        return lines[count - 1][0]
            if self._process.poll() is not None:
                raise RuntimeError(f"the watch ended with {self._process.returncode}")
            time.sleep(0.02)
        sys.stderr.write(kubectl("get", "computedomains,computedomainnodes", "-o", "yaml"))
        sys.stderr.write(kubectl("get", "pods", "-A", "-o", "wide"))
        raise RuntimeError(f"waited in vain; the watch said {[text for _, text in self._lines][-20:]}")

    def first(self, after: float, holds) -> tuple:
        """The first line that came after that moment of which `holds` is true, with its own moment."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            for moment, text in list(self._lines):
                if moment > after and holds(text):
                    return moment, text
            time.sleep(0.02)
        raise RuntimeError(f"waited in vain; the watch said {[text for _, text in self._lines][-20:]}")

    def close(self) -> None:
        self._process.terminate()
        self._process.wait()
        self._thread.join()

    def _read(self) -> None:
        for line in self._process.stdout:
            self._lines.append((time.monotonic(), line.strip()))


def domain(name: str, nodes: int) -> dict:
    return {"apiVersion": "resource.nvidia.com/v1beta1", "kind": "ComputeDomain", "metadata": {"name": name},
            "spec": {"numNodes": nodes, "channel": {"resourceClaimTemplate": {"name": f"{name}-channel"}}}}


def trivial_objects(nodes: list) -> dict:
    """What a claim of the trivial driver needs; its name is the template's."""
    api = "resource.k8s.io/v1"
    selector = {"cel": {"expression": f"device.driver == '{TRIVIAL}'"}}
    devices = {"requests": [{"name": "device", "exactly": {"deviceClassName": TRIVIAL}}]}
    return {"apiVersion": "v1", "kind": "List", "items": [
        {"apiVersion": api, "kind": "DeviceClass", "metadata": {"name": TRIVIAL}, "spec": {"selectors": [selector]}},
        {"apiVersion": api, "kind": "ResourceClaimTemplate", "metadata": {"name": "trivial"},
         "spec": {"spec": {"devices": devices}}},
        *({"apiVersion": api, "kind": "ResourceSlice", "metadata": {"name": f"{node}-trivial"},
           "spec": {"driver": TRIVIAL, "nodeName": node, "devices": [{"name": "device-0"}],
                    "pool": {"name": node, "generation": 1, "resourceSliceCount": 1}}} for node in nodes)]}


def pods(name: str, nodes: int, template: str) -> dict:
    """One per node; `template` is empty for pods without a claim."""
    def pod(number: int) -> dict:
        worker = {"name": "worker", "image": "docker.io/local/busybox:1", "command": ["sleep", "infinity"]}
        spec = {"terminationGracePeriodSeconds": 0, "containers": [worker],
                "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
                    {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"run": name}}}]}}}
        if template:
            worker["resources"] = {"claims": [{"name": "device"}]}
            spec["resourceClaims"] = [{"name": "device", "resourceClaimTemplateName": template}]
        return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"{name}-{number}", "labels": {"run": name}},
                "spec": spec}
    return {"apiVersion": "v1", "kind": "List", "items": [pod(number) for number in range(nodes)]}


def machine() -> dict:
    """What this whole machine has spent since it started: CPU-seconds at work, at rest, and forks."""
    lines = dict(line.split(maxsplit=1) for line in Path("/proc/stat").read_text(encoding="ascii").splitlines())
    user, nice, system, idle, waiting, interrupts, soft, _ = map(int, lines["cpu"].split()[:8])
    tick = os.sysconf("SC_CLK_TCK")
    return {"busy": (user + nice + system + interrupts + soft) / tick, "idle": (idle + waiting) / tick,
            "forks": int(lines["processes"])}


PROGRAMS = ("compute-domain-controller", "compute-domain-agent", "compute-domain-imex", "nvidia-imex")


def processes(programs: tuple):
    """Those of this rack that run one of the programs: the folder in /proc of each, and the program."""
    group = Cluster(Path(AUDIT_LOG).parent).control_group()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            program = Path(os.readlink(process / "exe")).name
            if program in programs and f":/{group}/" in (process / "cgroup").read_text(encoding="utf-8"):
                yield process, program
        except OSError:
            continue  # it has ended, or is the kernel's


def spent(programs: tuple = PROGRAMS) -> dict:
    """CPU-seconds of the operator's programs and of the IMEX daemons on this rack's nodes, with those of their processes
    that have ended: of the IMEX supervisors nearly all is its control tool's."""
    spent_by = dict.fromkeys(programs, 0.0)
    for process, program in processes(programs):
        try:
            fields = (process / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:
            continue
        spent_by[program] += sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return spent_by


def wait_for_runtimes() -> None:
    """Until containerd has removed what the pods before have left: a shim for each pod, and nothing else of it runs."""
    end = time.monotonic() + PATIENCE
    pods_there = len(kubectl("get", "pods", "-A", "-o", "name").split())
    while len(there := [program for _, program in processes(("containerd-shim-runc-v2", "runc"))]) > pods_there:
        if time.monotonic() > end:
            raise RuntimeError(f"there are {pods_there} pods, and of containerd there run {sorted(there)}")
        time.sleep(0.1)


def received() -> dict:
    """Bytes that the operator's programs have received over the connections that they have now, most of them watches."""
    kinds = {"compute-domain-agent": "agents", "compute-domain-controller": "controllers"}
    bytes_by = dict.fromkeys(kinds.values(), 0)
    for process, program in processes(tuple(kinds)):
        # It may have ended by now.
        sockets = subprocess.run(["nsenter", "-t", process.name, "-n", "ss", "-tinpOH", "state", "established"],
                                 text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        for line in sockets.splitlines():
            counted = re.search(r"bytes_received:(\d+)", line)
            if counted and f"pid={process.name}," in line:
                bytes_by[kinds[program]] += int(counted[1])
    return bytes_by


def writes_since(offset: int) -> tuple:
    """Of the whole control plane but this user's, without Leases and Events; and those of ours that met a conflict."""
    count = conflicts = 0
    with open(AUDIT_LOG, encoding="utf-8") as log:
        log.seek(offset)
        for line in log:
            if not line.endswith("\n"):
                break
            entry = json.loads(line)
            if entry["stage"] != "ResponseComplete" or entry["verb"] in ("get", "list", "watch"):
                continue
            resource = entry.get("objectRef", {}).get("resource")
            user = entry["user"]["username"]
            if resource in ("leases", "events", "tokenreviews", "subjectaccessreviews") or "admin" in user:
                continue
            if entry["objectRef"].get("subresource") == "token":
                continue
            count += 1
            conflicts += "compute-domain" in user and entry["responseStatus"]["code"] == 409
    return count, conflicts


def writes_until_quiet(offset: int) -> tuple:
    end = time.monotonic() + PATIENCE
    writes, since = writes_since(offset), time.monotonic()
    while time.monotonic() - since < QUIET:
        if time.monotonic() > end:
            raise RuntimeError(f"the control plane never ends to write: {writes[0]} writes")
        time.sleep(QUIET / 10)
        if (now := writes_since(offset)) != writes:
            writes, since = now, time.monotonic()
    return writes


def make_domain(name: str, num_nodes: int) -> None:
    kubectl("create", "-f", "-", input=json.dumps(domain(name, num_nodes)))
    kubectl("wait", "--for=create", f"resourceclaimtemplate/{name}-channel", f"--timeout={PATIENCE}s")


def measure(name: str, nodes: int, template: str, num_nodes: int = 0) -> dict:
    """Of a domain where `template` is its own, which is then made before and deleted after."""
    is_domain = template == f"{name}-channel"
    if is_domain:
        make_domain(name, num_nodes)
    watch = Watch("pods", "-l", f"run={name}", "-o", "jsonpath={.metadata.name} {.status.phase}{\"\\n\"}")
    status = Watch("computedomains", name, "-o", "jsonpath={.status.status}{\"\\n\"}") if is_domain else None
    wait_for_runtimes()
    received_before = received() if is_domain else {}
    writes_until_quiet(os.path.getsize(AUDIT_LOG))
    offset = os.path.getsize(AUDIT_LOG)
    before, spent_before, start = machine(), spent(), time.monotonic()
    kubectl("create", "-f", "-", input=json.dumps(pods(name, nodes, template)))
    running = watch.wait(lambda lines: len({line for line in lines if line.endswith(" Running")}) == nodes)
    figures = {"running": running - start, **{what: now - before[what] for what, now in machine().items()}}
    if status:
        figures["ready"] = max(0.0, status.wait(lambda lines: "Ready" in lines) - running)
        status.close()
    figures["writes"], figures["conflicts"] = writes_until_quiet(offset)
    figures |= {program: now - spent_before[program] for program, now in spent().items()}
    if is_domain:
        figures |= {kind: (now - received_before[kind]) / 1000 for kind, now in received().items()}
    watch.close()
    if is_domain:
        kubectl("delete", "computedomain", name, "--wait=false")
    kubectl("delete", "pods", "-l", f"run={name}")
    if is_domain:
        kubectl("wait", "--for=delete", f"computedomain/{name}", "--timeout=60s")
    return figures


def plain(name: str, nodes: int) -> dict:
    return measure(f"plain-{name}", nodes, "")


def trivial(name: str, nodes: int) -> dict:
    return measure(f"trivial-{name}", nodes, "trivial")


def ours(name: str, nodes: int) -> dict:
    return measure(f"ours-{name}", nodes, f"ours-{name}-channel", nodes)


def uncounted(name: str, nodes: int) -> dict:
    """A domain that doesn't say how many nodes it will have."""
    return measure(f"uncounted-{name}", nodes, f"uncounted-{name}-channel")


def quantile(samples: list, share: float) -> float:
    return sorted(samples)[max(0, -(-int(share * 1000) * len(samples) // 1000) - 1)]


def interval_of_median(samples: list) -> str:
    """95 %, by order statistics (Conover, Practical Nonparametric Statistics, 3.2): no distribution is assumed."""
    n, ordered = len(samples), sorted(samples)
    total, low = 0.0, 0
    while total + math.comb(n, low) / 2**n <= 0.025:
        total += math.comb(n, low) / 2**n
        low += 1
    if low == 0:
        return f"median's interval: {n} runs are too few"
    return f"median's 95 % interval {ordered[low - 1]:.2f} to {ordered[n - low]:.2f}"


def figure(name: str, unit: str, samples: list, note: str = "", most: float = None, share: float = 0.5) -> None:
    def number(value: float) -> str:
        return str(value) if isinstance(value, int) else f"{value:.2f}"
    judged = quantile(samples, share)
    target, verdict = ("", "info") if most is None else (f"p{share * 100:g} <= {most:.4g}",
                                                         "met" if judged <= most else "MISSED")
    print("\t".join([f"rack: {name}", unit, str(len(samples)), number(quantile(samples, 0.5)),
                     number(quantile(samples, 0.99)), number(min(samples)), number(max(samples)), target, verdict,
                     note]), flush=True)


def of(runs: list, what: str) -> list:
    return [run[what] for run in runs]


def of_programs(what: str, runs: list, note: str = "", most: float = None) -> None:
    """`most`: CPU-seconds of what is the operator's."""
    operators = PROGRAMS[:3]
    for program in PROGRAMS:
        figure(f"{what}: CPU of {program}", "CPU-s", of(runs, program), note)
    figure(f"{what}: CPU of the operator", "CPU-s", [sum(run[program] for program in operators) for run in runs],
           "the first three; until a second after the last write", most)


def bytes_of(what: str, runs: list) -> None:
    for kind in ("agents", "controllers"):
        figure(f"{what}: received by {kind}", "KB", of(runs, kind), "over connections that were there before and after")


def compare(nodes: int, runs: int) -> float:
    """The median of a domain's first formation, in seconds."""
    kinds = {kind: [] for kind in (plain, trivial, ours, uncounted)}
    for kind in kinds:
        kind(f"warm-up-{nodes}", nodes)
    # Each kind comes after each other.
    turns = random.Random(nodes)
    for run in range(runs):
        in_turn = [kind for kind in kinds if kind != uncounted or run % 4 == 0]
        for kind in turns.sample(in_turn, len(in_turn)):
            kinds[kind].append(kind(f"{nodes}-{run}", nodes))

    posted = f"{nodes} pods posted -> all Running"
    seconds = {kind: of(samples, "running") for kind, samples in kinds.items()}
    for kind, words in ((plain, "no claim"), (trivial, "a claim of a driver that answers at once"),
                        (ours, "a ComputeDomain")):
        figure(f"{posted}, {words}", "s", seconds[kind], interval_of_median(seconds[kind]))
    ratios = [a / b for a, b in zip(seconds[ours], seconds[trivial])]
    most = max(1.10, 1 + 0.15 / quantile(seconds[trivial], 0.5))
    figure(f"{posted}: the third as a multiple of the second", "ratio", ratios, interval_of_median(ratios), most)
    for kind, words in ((trivial, "of the driver that answers at once"), (ours, "of a ComputeDomain")):
        figure(f"{nodes} pods {words}: CPU of the machine", "CPU-s", of(kinds[kind], "busy"),
               f"{quantile(of(kinds[kind], 'idle'), 0.5):.2f} CPU-s idle, "
               f"{quantile(of(kinds[kind], 'forks'), 0.5)} forks")
    of_programs(f"{nodes} pods of a ComputeDomain", kinds[ours])
    bytes_of(f"{nodes} pods of a ComputeDomain", kinds[ours])
    figure(f"{posted}, a ComputeDomain without numNodes", "s", seconds[uncounted])
    figure(f"{nodes} pods, last pod Running -> domain Ready, all connected", "s", of(kinds[ours], "ready"), "", 0.25)
    for kind, words in ((plain, "without a claim"), (trivial, "of the driver that answers at once")):
        figure(f"writes of the control plane, {nodes} pods {words}", "writes", of(kinds[kind], "writes"),
               "no Events, no Leases")
    figure(f"writes of the control plane, {nodes} pods of a ComputeDomain", "writes", of(kinds[ours], "writes"),
           "as above, + N + 12", quantile(of(kinds[trivial], "writes"), 0.5) + nodes + 12)
    figure(f"{nodes} pods of a ComputeDomain: conflicts of ours", "writes", of(kinds[ours], "conflicts"), "", 0, 1)
    return quantile(seconds[ours], 0.5)


def form_again(nodes: int, times: int, first: float) -> None:
    samples = [ours("again", nodes)["running"] for _ in range(times)]
    figure(f"{nodes} pods posted -> all Running, formed again under the same name", "s", samples,
           f"first time {first:.2f}", 1.2 * first, 0.9)


def trivial_driver() -> Path:
    """The program, after building it if need be."""
    source = ROOT / "bench/rack/trivial_driver"
    return GoBuild(name="trivial-driver", version="1", source=source, files=("go.mod", "go.sum", "main.go"), flags=(),
                   packages={"trivial-driver": "."}, minutes=3).path() / "trivial-driver"


def start_trivial_drivers(nodes: list) -> list:
    program = trivial_driver()
    kubectl("create", "-f", "-", input=json.dumps(trivial_objects(nodes)))
    cluster = ["tools/cluster", "--dir", str(Path(AUDIT_LOG).parent)]
    # As the node: the API server lets it have the claims of its pods.
    return [subprocess.Popen([*cluster, "node", node, "exec", program, node, "/etc/kubernetes/kubelet.kubeconfig"],
                             cwd=ROOT) for node in nodes]


def main() -> None:
    nodes = [line.removeprefix("node/") for line in kubectl("get", "nodes", "-o", "name").split()]
    drivers = start_trivial_drivers(nodes)
    try:
        first = {size: compare(size, RUNS) for size in SIZES}
        middle = sorted(SIZES)[len(SIZES) // 2]
        form_again(middle, AGAIN, first[middle])
    finally:
        for driver in drivers:
            driver.terminate()
        for driver in drivers:
            driver.wait()


if __name__ == "__main__":
    _, os.environ["KUBECONFIG"], AUDIT_LOG, *numbers = sys.argv
    RUNS, AGAIN, *SIZES = map(int, numbers)
    main()
