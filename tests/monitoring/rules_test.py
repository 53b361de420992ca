#!/usr/bin/env python3
"""The alerts of manifests/monitoring/rules.yaml, by promtool and alerts.yaml, and the dashboard's form: rules_test.py.

Whether each alert fires when it should and not beside that, and whether what it says names what there is. Needs no cluster. The
last line counts what passed.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

sys.dont_write_bytecode = True

import dashboard
from promql import MONITORING, ROOT, alerts, grouping, problems, program, selectors

sys.path.insert(0, str(ROOT / "tests"))

import test_runner

HERE = Path(__file__).resolve().parent
TESTS_OF_ALERTS = HERE / "alerts.yaml"


def promtool(*arguments) -> None:
    done = subprocess.run([program("promtool"), *map(str, arguments)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


def the_rule_file_is_valid() -> None:
    promtool("check", "rules", MONITORING / "rules.yaml")


def each_alert_fires_when_it_should_and_not_beside_that() -> None:
    promtool("test", "rules", TESTS_OF_ALERTS)


def each_alert_is_seen_to_fire_and_not_to() -> None:
    """A query in alerts.yaml finds it, and another one with the same series does not."""
    fires, rests = set(), set()
    for test in yaml.safe_load(TESTS_OF_ALERTS.read_text())["tests"]:
        found = [{name for sample in query["exp_samples"] for name in re.findall(r'alertname="(\w+)"', sample["labels"])}
                 for query in test["promql_expr_test"]]
        names = {selector for each in test["input_series"] for selector in re.findall(r"^\w+", each["series"])}
        fires |= set().union(*found)
        for alert in alerts():
            concerned = names & set(re.findall(r"\w+", alert["expr"]))
            if concerned and any(alert["alert"] not in each for each in found):
                rests.add(alert["alert"])
    names = {alert["alert"] for alert in alerts()}
    assert fires == names, fires ^ names
    assert rests == names, names - rests


def each_alert_goes_on_while_no_controller_leads() -> None:
    """But for those by metrics that the leader is not the only one to have."""
    stops = {alert["alert"] for alert in alerts() if "keep_firing_for" not in alert}
    assert stops == {"ComputeDomainImexRestarted", "ComputeDomainDaemonSetIncomplete", "ComputeDomainMetricsAbsent"}, stops


def each_alert_that_is_pending_stays_so_while_no_controller_leads() -> None:
    """It looks back, or is one of those by metrics that the leader is not the only one to have."""
    starts_again = {alert["alert"] for alert in alerts() if "for" in alert and not re.search(r"\[3m:?\]", alert["expr"])}
    assert starts_again == {"ComputeDomainDaemonSetIncomplete", "ComputeDomainNoLeader", "ComputeDomainMetricsAbsent"}, starts_again


def each_alert_keeps_clusters_apart() -> None:
    """What is aggregated or compared has the label `cluster`; and what is absent is so in one of them. alerts.yaml shows some."""
    for alert in alerts():
        mixed = [labels for labels in re.findall(r"\b(?:by|on) \(([^)]*)\)", alert["expr"]) if "cluster" not in labels.split(", ")]
        mixed += re.findall(r"\b(?:max|min|sum|count|group|absent)\s*\(", alert["expr"])
        assert not mixed, (alert["alert"], mixed)


def each_query_of_the_dashboard_is_of_the_chosen_clusters() -> None:
    shipped = dashboard.read()
    assert [each["name"] for each in shipped["templating"]["list"]] == ["datasource", "cluster", "namespace"]
    for panel in shipped["panels"]:
        for target in panel.get("targets", []):
            for name, matchers in selectors(target["expr"]):
                assert matchers.get("cluster") == ("=~", "$cluster"), (panel["title"], name, matchers)
            # An object's name is its own only with its cluster.
            for labels in re.findall(r"\b(?:by|on) \(([^)]*)\)", target["expr"]):
                of_an_object = {"namespace", "name", "node", "clique", "pod", "instance"} & set(labels.split(", "))
                assert not of_an_object or "cluster" in labels.split(", "), (panel["title"], labels)


def each_alert_names_metrics_labels_and_reasons_that_there_are() -> None:
    found = {alert["alert"]: wrong for alert in alerts() if (wrong := problems(alert["expr"]))}
    assert not found, found


def each_alert_says_what_it_means_and_where_to_read_on() -> None:
    headings = {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")
                for title in re.findall(r"^#+ +(.*)", (ROOT / "docs/troubleshooting.md").read_text(), re.MULTILINE)}
    for alert in alerts():
        name, texts = alert["alert"], alert["annotations"]
        assert set(texts) == {"summary", "description"}, name
        assert alert["labels"]["severity"] in ("info", "warning", "critical"), name
        [anchor] = re.findall(r"See docs/troubleshooting\.md#([\w-]+)\.$", texts["description"])
        assert anchor in headings, (name, anchor)
        # A label that the alert does not have is an empty text there.
        used = set(re.findall(r"\$labels\.(\w+)", " ".join(texts.values())))
        assert used <= grouping(alert["expr"]) | {"what"}, (name, used)
        objects = {"namespace", "name", "node", "daemonset", "state"} & grouping(alert["expr"])
        assert objects <= used, (name, objects - used)


def the_page_has_each_alert() -> None:
    page = dict(re.findall(r"^\| `(ComputeDomain\w+)` \| (\w+) \|", (ROOT / "docs/monitoring.md").read_text(), re.MULTILINE))
    assert page == {alert["alert"]: alert["labels"]["severity"] for alert in alerts()}, page


def the_dashboard_shows_each_panel_once_and_whole() -> None:
    panels, taken = dashboard.read()["panels"], {}
    assert len({panel["id"] for panel in panels}) == len(panels)
    for panel in panels:
        place, title = panel["gridPos"], panel["title"]
        assert place["x"] + place["w"] <= 24, title
        for cell in ((x, y) for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"])):
            assert cell not in taken, (title, taken[cell])
            taken[cell] = title
        if panel["type"] != "row":
            assert panel["description"] and panel["targets"], title
            assert len({target["refId"] for target in panel["targets"]}) == len(panel["targets"]), title
            assert {each["datasource"]["uid"] for each in (panel, *panel["targets"])} == {"$datasource"}, title
        for override in panel.get("fieldConfig", {}).get("overrides", []):
            name = override["matcher"]["options"]
            assert name in ("Value", *(f"Value #{target['refId']}" for target in panel["targets"])), (title, name)


def the_pictures_show_all_of_the_dashboard() -> None:
    """Those of docs/monitoring.md, which dashboard_picture.py makes: each kind of panel, unit, option and transformation."""
    found = dashboard.unknown(dashboard.read())
    assert not found, "\n".join(found)


def what_a_picture_would_leave_out_is_found() -> None:
    for spoil, wrong in ((lambda panel: panel.update(type="heatmap"), 'type is "heatmap"'),
                         (lambda panel: panel["fieldConfig"]["defaults"].update(unit="percentunit"), 'fieldConfig.defaults.unit is "percentunit"'),
                         (lambda panel: panel["fieldConfig"]["defaults"].update(custom={"drawStyle": "bars"}), 'fieldConfig.defaults.custom.drawStyle is "bars"'),
                         (lambda panel: panel.update(transformations=[{"id": "limit", "options": {}}]), 'transformations.id is "limit"')):
        spoilt = dashboard.read()
        panel = next(panel for panel in spoilt["panels"] if panel["title"] == "Domains by reason")
        spoil(panel)
        assert dashboard.unknown(spoilt) == [f"Domains by reason: {wrong}, which tests/monitoring/dashboard.py does not know"], dashboard.unknown(spoilt)


def a_typo_is_found() -> None:
    for query, wrong in (('max(compute_domain_node_fabric_errors)', "there is no metric compute_domain_node_fabric_errors"),
                         ('sum by (nod) (compute_domain_node_fabric_error)', "none of its metrics has a label nod"),
                         ('compute_domain_clique_seats{stat="Free"}', "compute_domain_clique_seats has no label stat"),
                         ('compute_domain_status{reason=~"Deleting|Wating"}', "there is no reason Wating"),
                         ('ALERTS{alertname="ComputeDomainNoLeder"}', "there is no alert ComputeDomainNoLeder"),
                         ('rate(compute_domain_formation_seconds[5m]) or vector(0)', "there is no metric compute_domain_formation_seconds")):
        assert problems(query) == [wrong], (query, problems(query))
    assert problems('histogram_quantile(0.9, sum by (le) (rate(compute_domain_formation_seconds_bucket[5m]))) offset 15m') == []


def promtool_finds_an_alert_that_is_gone() -> None:
    """So that a test of which promtool compares nothing is no proof."""
    with tempfile.TemporaryDirectory() as folder:
        rules = yaml.safe_load((MONITORING / "rules.yaml").read_text())
        del rules["groups"][0]["rules"][0]
        (Path(folder) / "rules.yaml").write_text(yaml.safe_dump(rules))
        tests = yaml.safe_load(TESTS_OF_ALERTS.read_text())
        (Path(folder) / "alerts.yaml").write_text(yaml.safe_dump({**tests, "rule_files": ["rules.yaml"], "tests": tests["tests"][:1]}))
        try:
            promtool("test", "rules", Path(folder) / "alerts.yaml")
        except AssertionError as failed:
            assert "ComputeDomainNotReady" in str(failed), failed
            return
    raise AssertionError("promtool found nothing wrong")


TESTS = (
    the_rule_file_is_valid,
    each_alert_fires_when_it_should_and_not_beside_that,
    each_alert_is_seen_to_fire_and_not_to,
    each_alert_goes_on_while_no_controller_leads,
    each_alert_that_is_pending_stays_so_while_no_controller_leads,
    each_alert_keeps_clusters_apart,
    each_query_of_the_dashboard_is_of_the_chosen_clusters,
    each_alert_names_metrics_labels_and_reasons_that_there_are,
    each_alert_says_what_it_means_and_where_to_read_on,
    the_page_has_each_alert,
    the_dashboard_shows_each_panel_once_and_whole,
    the_pictures_show_all_of_the_dashboard,
    what_a_picture_would_leave_out_is_found,
    a_typo_is_found,
    promtool_finds_an_alert_that_is_gone,
)


if __name__ == "__main__":
    sys.exit(test_runner.run(TESTS, names=sys.argv[1:]))
