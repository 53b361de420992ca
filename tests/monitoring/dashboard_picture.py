#!/usr/bin/env python3
"""Makes the pictures of docs/monitoring.md: dashboard_picture.py DIR.

The dashboard as it is shipped, with the answers of a Prometheus that scrapes the programs of queries_test.py while one trouble
follows the other, drawn by drawing.py and photographed by the browser of the plugin's page (tools/setup --browser).
CDOM_BUILD: the programs' build, by default build/release.
"""

import json
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True

import dashboard
import drawing
import queries_test as rack
from promql import ROOT

sys.path.insert(0, str(ROOT / "tests/plugin/page"))

from browser import Browser
from png import smaller

# Of what does not fit into its panel.
CUT_OFF = """[...document.querySelectorAll('section')].filter((e) => e.scrollWidth > e.clientWidth || e.scrollHeight > e.clientHeight)
  .map((e) => e.querySelector('h3').textContent)"""
SCHEMES = ("light", "dark")
EVERY = 3  # seconds from one scrape to the next, so that also a slow machine misses none
BETWEEN = 4 * EVERY  # at least, from one moment to the next
PATIENCE = 3 * rack.PATIENCE


class Story:
    """The moments of the rack, in order."""

    def __init__(self, cluster: rack.Cluster, prometheus: rack.Prometheus):
        self.cluster, self.prometheus = cluster, prometheus

    def domains_form(self) -> None:
        rack.form(self.cluster, "first", "n01", "n02")
        self.claim = rack.Claim(self.cluster, "local")
        self.claim.call("prepare")

    def others_form(self) -> None:
        rack.form(self.cluster, "second", "n03", "n04", "n05")
        rack.form(self.cluster, "third", "n06")

    def some_find_no_room(self) -> None:
        self.cluster.apply(rack.domain("without-pods", 2), rack.domain("too-large", 8, placement={"clique": "Single"}),
                           rack.domain("without-seats", 2), rack.pod("without-seats", "nowhere"))
        self.claim.call("unprepare")

    def a_domain_ends_and_one_cannot(self) -> None:
        # The pods of the first are not asked to end.
        self.cluster.kubectl("delete", "computedomain", "first", "--wait=false")
        self.cluster.kubectl("delete", "computedomain", "third", "--wait=false")
        self.cluster.kubectl("delete", "pod", "third-n06", "--wait=false")
        self.claim.call("prepare")

    def a_daemon_is_killed_and_one_hangs(self) -> None:
        rack.kill_imex(self.cluster)
        rack.fault(self.cluster, "n03", "imex-hang")

    def the_leader_ends(self) -> None:
        [leader] = {each["metric"]["pod"] for each in self.prometheus.samples("compute_domain_ready")}
        self.cluster.processes[leader].terminate()
        rack.wait(PATIENCE, "another one leads", lambda: any(
            each["metric"]["pod"] != leader for each in self.prometheus.samples("compute_domain_ready")))

    def one_takes_the_place_of_another(self) -> None:
        rack.form(self.cluster, "fourth", "n06")

    def a_node_is_cut_off_and_one_is_lost(self) -> None:
        rack.fault(self.cluster, "n05", "partition")
        rack.set_kubelet(self.cluster, "gpu4", "Unknown", "NodeStatusUnknown")

    def is_seen(self) -> None:
        pass


def show_agents(cluster: rack.Cluster) -> None:
    """Their pods, which the controller asks whether they live."""
    for node in ("gpu1", "gpu2", "gpu3"):
        name = f"agent-{node}"
        cluster.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "compute-domain-nodes", "labels": {
            "app": "compute-domain-agent"}}, "spec": {"nodeName": node, "tolerations": [{"operator": "Exists"}],
            "containers": [{"name": "agent", "image": "agent"}]}})
        cluster.kubectl("patch", "pod", name, "-n", "compute-domain-nodes", "--subresource=status", "--type=merge", "-p",
                        json.dumps({"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}))


def play(cluster: rack.Cluster) -> dashboard.Answers:
    rack.start_cluster(cluster)
    show_agents(cluster)
    prometheus = rack.Prometheus(cluster, rack.scrape_configs(cluster), every=f"{EVERY}s")
    rack.wait(PATIENCE, "the programs are scraped", lambda: len(prometheus.samples("up == 1")) == 3 + len(rack.AGENTS))
    rack.register(cluster)
    start, story = int(time.time()), Story(cluster, prometheus)
    for name in (name for name in vars(Story) if not name.startswith("_")):
        time.sleep(BETWEEN)
        print(f"{time.time() - start:6.1f} s  {name}", flush=True)
        getattr(story, name)()
    time.sleep(BETWEEN)
    return dashboard.Answers(prometheus, start, int(time.time()), EVERY, rate_interval=f"{8 * EVERY}s")


def take(answers: dashboard.Answers, folder: Path, to: Path) -> None:
    shipped = dashboard.read()
    assert not (missing := dashboard.unknown(shipped)), missing
    file = folder / "dashboard.html"
    file.write_text(drawing.page(shipped, answers))
    to.mkdir(parents=True, exist_ok=True)
    with Browser(folder) as browser:
        for scheme in SCHEMES:
            page, picture = browser.page(), to / f"dashboard-{scheme}.png"
            page.look(drawing.WIDTH, 800, scheme)
            page.open(f"file://{file}")
            assert page.requests == [f"file://{file}"] and not page.complaints, (page.requests, page.complaints)
            assert page.script(CUT_OFF) == [], page.script(CUT_OFF)
            page.screenshot(picture, 0, 0, drawing.WIDTH, drawing.height_of(shipped))
            picture.write_bytes(smaller(picture.read_bytes()))
            print(f"wrote {picture}: {picture.stat().st_size} bytes")


def main(arguments: list) -> int:
    if len(arguments) != 1 or arguments[0].startswith("-"):
        sys.exit("usage: dashboard_picture.py DIR")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        cluster = rack.Cluster(Path(folder))
        try:
            take(play(cluster), Path(folder), Path(arguments[0]))
        finally:
            cluster.end()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
