#!/usr/bin/env python3
"""older_bench OLDER_AUDIT_LOG NEWER_AUDIT_LOG RUNS NODES: formations of a domain of so many NODES, in turns on a rack with
an earlier operator and on one with this one. Prints a line per figure, as the programs beside it do."""

import sys
import time

import rack_bench as rack

AT_REST = 40.0  # seconds: a daemon with which nothing has happened for half a minute is asked less often
MEASURED = 60.0
# With the container runtime's, which starts a process for each probe of the kind `exec`.
AT_WORK = (*rack.PROGRAMS, "containerd", "containerd-shim-runc-v2")


def at_rest(nodes: int) -> dict:
    """A domain that stays: what each program takes, as a share of a core and node, in percent."""
    name = "rest"
    rack.make_domain(name, nodes)
    rack.kubectl("create", "-f", "-", input=rack.json.dumps(rack.pods(name, nodes, f"{name}-channel")))
    rack.kubectl("wait", "--for=condition=Ready", f"computedomain/{name}", f"--timeout={rack.PATIENCE}s")
    time.sleep(AT_REST)
    before, start = rack.spent(AT_WORK), time.monotonic()
    time.sleep(MEASURED)
    seconds = time.monotonic() - start
    shares = {program: 100 * (now - before[program]) / seconds / nodes for program, now in rack.spent(AT_WORK).items()}
    rack.kubectl("delete", "computedomain", name, "--wait=false")
    rack.kubectl("delete", "pods", "-l", f"run={name}")
    rack.kubectl("wait", "--for=delete", f"computedomain/{name}", "--timeout=60s")
    return shares


def main() -> None:
    logs = {"before": sys.argv[1], "after": sys.argv[2]}
    runs, nodes = map(int, sys.argv[3:])
    samples = {version: [] for version in logs}
    rests = {}
    for run in range(-1, runs):
        for version, log in logs.items():
            rack.AUDIT_LOG = log
            figures = rack.ours(f"{nodes}-{run}" if run >= 0 else "warm-up", nodes)
            if run >= 0:
                samples[version].append(figures)
    for version, log in logs.items():
        rack.AUDIT_LOG = log
        rests[version] = at_rest(nodes)
    for version, figures in samples.items():
        rack.figure(f"{version}: {nodes} pods posted -> all Running", "s", rack.of(figures, "running"))
        rack.figure(f"{version}: writes of the control plane", "writes", rack.of(figures, "writes"))
        rack.of_programs(f"{version}: {nodes} pods of a ComputeDomain", figures)
        rack.bytes_of(f"{version}: {nodes} pods of a ComputeDomain", figures)
    for version, shares in rests.items():
        for program, share in shares.items():
            rack.figure(f"{version}: CPU of {program} at rest", "% of a core", [share],
                        f"a node, with a domain of {nodes}" if "controller" not in program else f"1/{nodes} of it")


if __name__ == "__main__":
    main()
