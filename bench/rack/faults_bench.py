#!/usr/bin/env python3
"""faults_bench AUDIT_LOG KILLS LOSSES: what goes wrong on a rack of three real kubelets, until a watch of
`kubectl get computedomains` says NotReady.

KILLS times nvidia-imex is killed on a node. Then a node loses its power, LOSSES times each with daemons that notice a
silent peer after 1, 5 and 30 s (the last once): from the moment that the first of its peers' daemons prints that it is
gone. Prints a line per figure, as the programs beside it do.
"""

import json
import re
import subprocess
import sys
import time

import rack_bench as rack

DOMAIN, NODES = "faults", ["n01", "n02", "n03"]
AGAIN_AT_ONCE = 11  # seconds: daemons that die more often start again ever later
WORD = '{.status.status} {.status.conditions[?(@.type=="Ready")].message}{"\\n"}'
DISCONNECT = re.compile(r"node disconnect: \S+ at (\d+)")


def cluster(*arguments: str) -> str:
    command = ["tools/cluster", "--dir", str(rack.Path(rack.AUDIT_LOG).parent), *arguments]
    return subprocess.run(command, cwd=rack.ROOT, check=True, text=True, stdout=subprocess.PIPE).stdout


def operator(*arguments: str) -> str:
    return rack.kubectl(arguments[0], "--namespace", "compute-domain-operator", *arguments[1:])


def node_programs(*arguments: str) -> str:
    return rack.kubectl(arguments[0], "--namespace", "compute-domain-nodes", *arguments[1:])


def monotonic(nanoseconds: int) -> float:
    """A moment since 1970 on the clock of a Watch."""
    return nanoseconds / 1e9 - time.time() + time.monotonic()


def with_options(args: list, options: list) -> None:
    """Supervisors of IMEX that give their daemons these options take the place of the ones that run."""
    patch = [{"op": "replace", "path": "/spec/template/spec/containers/0/args",
              "value": args + [f"--imex-option={option}" for option in options]}]
    node_programs("patch", "daemonset", "compute-domain-imex", "--type=json", "--patch", json.dumps(patch))
    node_programs("delete", "pods", "-l", "app=imex-daemon", "--timeout=60s")
    end = time.monotonic() + rack.PATIENCE
    while time.monotonic() < end:
        pods = json.loads(node_programs("get", "pods", "-l", "app=imex-daemon", "-o", "json"))["items"]
        if sum(is_ready(pod) for pod in pods) == len(NODES):
            return
        time.sleep(0.2)
    raise RuntimeError("the IMEX supervisors are not ready again")


def is_ready(pod: dict) -> bool:
    conditions = pod["status"].get("conditions", [])
    return any(condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions)


def kill_daemon(node: str) -> float:
    """The moment before it."""
    return monotonic(int(cluster("node", node, "exec", "sh", "-c", "date +%s%N; pkill -KILL -x nvidia-imex")))


def leaders_node() -> str:
    holder = operator("get", "lease", "compute-domain-controller", "-o", "jsonpath={.spec.holderIdentity}")
    pod = re.match("compute-domain-controller-[a-z0-9]+-[a-z0-9]{5}", holder).group()
    return operator("get", "pod", pod, "-o", "jsonpath={.spec.nodeName}")


def first_notice(victim: str, after: float) -> float:
    """When the first of the victim's peers said that it is gone; it has, when the domain says so."""
    notices = []
    for pod in json.loads(node_programs("get", "pods", "-l", "app=imex-daemon", "-o", "json"))["items"]:
        if pod["spec"]["nodeName"] == victim:
            continue
        log = node_programs("logs", pod["metadata"]["name"])
        moments = [monotonic(int(found)) for found in DISCONNECT.findall(log)]
        notices += [moment for moment in moments if moment > after]
    return min(notices)


def becomes(status: str, watch: rack.Watch, after: float) -> tuple:
    """When the domain says so first, and what it says."""
    return watch.first(after, lambda line: line.split(" ")[0] == status)


def daemon_killed(watch: rack.Watch, times: int) -> None:
    samples = []
    for _ in range(times):
        killed = kill_daemon(NODES[-1])
        told, _ = becomes("NotReady", watch, killed)
        samples.append(told - killed)
        becomes("Ready", watch, told)
        time.sleep(AGAIN_AT_ONCE)
    rack.figure("nvidia-imex killed -> NotReady in kubectl get computedomains", "s", samples, "3 nodes", 1, 1)


def power_lost(watch: rack.Watch, delay: int, times: int) -> None:
    samples, since_loss = [], []
    for _ in range(times):
        # Another controller would have to wait for the Lease first.
        victim = [node for node in NODES if node != leaders_node()][-1]
        # A node without power says no goodbye, as the kernel of one whose processes are killed would.
        lost = time.monotonic()
        cluster("node", victim, "cut")
        cluster("node", victim, "kill")
        told, line = becomes("NotReady", watch, lost)
        print(f"faults_bench: {victim} after {told - lost:.2f} s: {line}", file=sys.stderr, flush=True)
        samples.append(told - first_notice(victim, lost))
        since_loss.append(told - lost)
        cluster("node", victim, "heal")
        cluster("node", victim, "reboot")
        becomes("Ready", watch, told)
        time.sleep(2)
    middle = rack.quantile(since_loss, 0.5)
    rack.figure(f"1 of 3 nodes loses its power -> NotReady, after its peers' daemons have noticed ({delay} s)", "s",
                samples, f"{middle:.1f} s after the loss; not the leader's node", 1, 1)


def main() -> None:
    _, rack.AUDIT_LOG, *numbers = sys.argv
    kills, losses = map(int, numbers)
    daemonset = json.loads(node_programs("get", "daemonset", "compute-domain-imex", "-o", "json"))
    args = daemonset["spec"]["template"]["spec"]["containers"][0].get("args", [])
    for delay in (1, 5, 30):
        with_options(args, [f"STAND_IN_SILENCE_NOTICE_MS={delay * 1000}"])
        name = f"{DOMAIN}-{delay}"
        start = time.monotonic()
        rack.make_domain(name, len(NODES))
        watch = rack.Watch("computedomains", name, "-o", f"jsonpath={WORD}")
        pods = rack.pods(name, len(NODES), f"{name}-channel")
        rack.kubectl("create", "-f", "-", input=json.dumps(pods))
        becomes("Ready", watch, start)
        time.sleep(2)
        if delay == 1:
            daemon_killed(watch, kills)
        power_lost(watch, delay, losses if delay < 30 else 1)
        watch.close()
        rack.kubectl("delete", "computedomain", name, "--wait=false")
        rack.kubectl("delete", "pods", "-l", f"run={name}")
        rack.kubectl("wait", "--for=delete", f"computedomain/{name}", "--timeout=60s")


if __name__ == "__main__":
    main()
