#!/usr/bin/env python3
"""cluster_bench NODES RUNS: tools/cluster up until so many real kubelets are Ready, and down until nothing is left of it.

Once on one node before, which builds what has not been built yet. Prints a line per figure, as the programs beside it do.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import rack_bench as rack

MOST_UP, MOST_DOWN = 25, 6  # seconds


def seconds(*command: str) -> float:
    start = time.monotonic()
    subprocess.run(["tools/cluster", *command], cwd=rack.ROOT, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - start


def up_and_down(directory: str, nodes: str) -> tuple:
    try:
        up = seconds("--dir", directory, "up", "--nodes", nodes)
    finally:
        down = seconds("--dir", directory, "down")
    return up, down


def main() -> None:
    nodes, runs = sys.argv[1], int(sys.argv[2])
    with tempfile.TemporaryDirectory() as work:
        directory = str(Path(work) / "cluster")
        up_and_down(directory, "1")
        ups, downs = zip(*(up_and_down(directory, nodes) for _ in range(runs)))
    rack.figure(f"tools/cluster up --nodes {nodes}, until all are Ready", "s", ups, "", MOST_UP, 1)
    rack.figure("tools/cluster down", "s", downs, "", MOST_DOWN, 1)


if __name__ == "__main__":
    main()
