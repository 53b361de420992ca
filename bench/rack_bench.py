#!/usr/bin/env python3
"""rack_bench KUBECONFIG AUDIT_LOG NODES RUNS: pods on a rack of real kubelets, with and without a claim.

Interleaved: NODES pods without a claim, then NODES pods of a ComputeDomain with numNodes given. Prints a line per figure, as
the programs beside it do.
"""

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PATIENCE = 120


def kubectl(*arguments: str, **options) -> str:
    command = ["tools/cluster", "--dir", str(Path(AUDIT_LOG).parent), "kubectl", *arguments]
    return subprocess.run(command, cwd=ROOT, check=True, text=True, stdout=subprocess.PIPE, **options).stdout


class Watch:
    """The lines of a watch, with the moments at which they came."""

    def __init__(self, *arguments: str):
        command = ["tools/cluster", "--dir", str(Path(AUDIT_LOG).parent), "kubectl", "get", "--watch", *arguments]
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


def pods(name: str, nodes: int, with_claim: bool) -> dict:
    def pod(number: int) -> dict:
        worker = {"name": "worker", "image": "docker.io/local/busybox:1", "command": ["sleep", "infinity"]}
        spec = {"terminationGracePeriodSeconds": 0, "containers": [worker],
                "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
                    {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"run": name}}}]}}}
        if with_claim:
            worker["resources"] = {"claims": [{"name": "channel"}]}
            spec["resourceClaims"] = [{"name": "channel", "resourceClaimTemplateName": f"{name}-channel"}]
        return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"{name}-{number}", "labels": {"run": name}},
                "spec": spec}
    return {"apiVersion": "v1", "kind": "List", "items": [pod(number) for number in range(nodes)]}


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


def measure(name: str, nodes: int, with_claim: bool) -> dict:
    if with_claim:
        kubectl("create", "-f", "-", input=json.dumps(domain(name, nodes)))
        end = time.monotonic() + PATIENCE
        while name not in kubectl("get", "resourceclaimtemplates", "-o", "name") and time.monotonic() < end:
            time.sleep(0.1)
    watch = Watch("pods", "-l", f"run={name}", "-o", "jsonpath={.metadata.name} {.status.phase}{\"\\n\"}")
    status = Watch("computedomains", name, "-o", "jsonpath={.status.status}{\"\\n\"}") if with_claim else None
    time.sleep(1)
    offset = os.path.getsize(AUDIT_LOG)
    start = time.monotonic()
    kubectl("create", "-f", "-", input=json.dumps(pods(name, nodes, with_claim)))
    running = watch.wait(lambda lines: len({line for line in lines if line.endswith(" Running")}) == nodes)
    figures = {"running": running - start}
    if status:
        figures["ready"] = max(0.0, status.wait(lambda lines: "Ready" in lines) - running)
    time.sleep(2)  # writes that nobody waits for
    figures["writes"], figures["conflicts"] = writes_since(offset)
    watch.close()
    if status:
        status.close()
        kubectl("delete", "computedomain", name, "--wait=false")
    kubectl("delete", "pods", "-l", f"run={name}")
    if with_claim:
        kubectl("wait", "--for=delete", f"computedomain/{name}", "--timeout=60s")
    return figures


def quantile(samples: list, share: float) -> float:
    return sorted(samples)[max(0, -(-int(share * 1000) * len(samples) // 1000) - 1)]


def figure(name: str, unit: str, samples: list, note: str = "", most: float = None) -> None:
    def number(value: float) -> str:
        return str(value) if isinstance(value, int) else f"{value:.2f}"
    middle = quantile(samples, 0.5)
    target, verdict = ("", "told") if most is None else (f"p50 <= {most:g}", "met" if middle <= most else "MISSED")
    print("\t".join([name, unit, str(len(samples)), number(middle), number(quantile(samples, 0.99)),
                     number(min(samples)), number(max(samples)), target, verdict, note]), flush=True)


def main() -> None:
    plain, ours = [], []
    measure("warm-up-plain", NODES, False)
    measure("warm-up", NODES, True)
    for run in range(RUNS):
        plain.append(measure(f"plain-{run}", NODES, False))
        ours.append(measure(f"ours-{run}", NODES, True))
    def of(runs: list, what: str) -> list:
        return [run[what] for run in runs]
    pods_posted = f"rack: {NODES} pods posted -> all Running"
    figure(f"{pods_posted}, no claim", "s", of(plain, "running"), f"{NODES} real kubelets on {os.cpu_count()} cores")
    figure(f"{pods_posted}, a ComputeDomain", "s", of(ours, "running"), "IMEX delay 0, numNodes given, interleaved")
    figure("rack: the second as a multiple of the first", "ratio",
           [a / b for a, b in zip(of(ours, "running"), of(plain, "running"))], "run by run")
    figure("rack: last pod Running -> domain Ready, all connected", "s", of(ours, "ready"), "", 0.25)
    figure(f"rack: writes of the control plane, {NODES} pods without a claim", "writes", of(plain, "writes"),
           "no Events, no Leases")
    figure("rack: the same with a ComputeDomain", "writes", of(ours, "writes"))
    figure("rack: of them ours with a conflict", "writes", of(ours, "conflicts"), "", 0)


if __name__ == "__main__":
    _, os.environ["KUBECONFIG"], AUDIT_LOG, nodes_text, runs_text = sys.argv
    NODES, RUNS = int(nodes_text), int(runs_text)
    main()
