"""What the queries of manifests/monitoring name: metrics, labels, and values of labels; and what there is to name.

As far as those queries need it, which have no comments, and no braces or quotes inside of strings.
"""

import os
import re
import shutil
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent.parent
MONITORING = ROOT / "manifests" / "monitoring"
WORDS = {"and", "or", "unless", "by", "without", "on", "ignoring", "group_left", "group_right", "offset", "bool", "inf", "nan"}
# What Prometheus, or a monitor of ours, gives each series of a program; `cluster` where it has several.
OF_TARGETS = {"cluster", "instance", "job", "namespace", "node", "pod", "service"}
REASONS = (ROOT / "docs/reference/conditions.md").read_text()
# kube-state-metrics' own pages, docs/metrics: these are not in every cluster (docs/monitoring.md).
OF_KUBE_STATE_METRICS = {
    "kube_daemonset_status_desired_number_scheduled": {"daemonset", "namespace"},
    "kube_daemonset_status_number_ready": {"daemonset", "namespace"},
}
OF_PROMETHEUS = {"ALERTS": {"alertname", "alertstate"}, "up": set()}


def program(name: str) -> str:
    """Of Debian's package prometheus, which tools/setup unpacks where it starts no service."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    unpacked = cache / "compute-domain-operator" / "debian" / "usr" / "bin" / name
    found = str(unpacked) if unpacked.exists() else shutil.which(name)
    return found or sys.exit(f"there is no {name}: run tools/setup")


def alerts() -> list:
    groups = yaml.safe_load((MONITORING / "rules.yaml").read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def documented() -> dict:
    """Labels by metric, as docs/reference/metrics.md has them; also of the series that a histogram consists of."""
    found = {}
    for name, kind, labels in re.findall(r"^\| `(\w+)` \| (\w+) \| ([^|]*) \|", (ROOT / "docs/reference/metrics.md").read_text(), re.MULTILINE):
        names = set(re.findall(r"`(\w+)`", labels))
        if kind == "histogram":
            found.update({f"{name}_count": names, f"{name}_sum": names, f"{name}_bucket": names | {"le"}})
        else:
            found[name] = names
    return found


def selectors(query: str) -> list:
    """(metric, {label: (operator, value)}) of each."""
    # What is in parentheses behind these words are labels; in brackets is a time.
    bare = re.sub(r"\b(by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)|\[[^\]]*\]", " ", query)
    found = re.findall(r"(?<!\w)([a-zA-Z_:][\w:]*)\s*(?:(\()|\{([^}]*)\})?", bare)
    return [(name, {label: (operator, value) for label, operator, value in re.findall(r'(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"', braces)})
            for name, is_function, braces in found if not is_function and name not in WORDS]


def grouping(query: str) -> set:
    """The labels of all its parentheses behind by, on and the like."""
    return {label for labels in re.findall(r"\b(?:by|on|group_left)\s*\(([^)]*)\)", query) for label in re.findall(r"\w+", labels)}


def problems(query: str) -> list:
    """What of it no metric of ours has, in words; none is good."""
    metrics, found = {**documented(), **OF_KUBE_STATE_METRICS, **OF_PROMETHEUS}, []
    used = selectors(query)
    if not used:
        found.append("names no metric")
    for name, matchers in used:
        if name not in metrics:
            found.append(f"there is no metric {name}")
            continue
        found += [f"{name} has no label {label}" for label in matchers if label not in metrics[name] | OF_TARGETS]
        for label, (operator, value) in matchers.items():
            if label == "reason":
                found += [f"there is no reason {reason}" for reason in value.split("|") if f"`{reason}`" not in REASONS]
            if label == "alertname" and value not in {alert["alert"] for alert in alerts()}:
                found.append(f"there is no alert {value}")
    had = set().union(*(metrics.get(name, set()) for name, _ in used)) | OF_TARGETS
    found += [f"none of its metrics has a label {label}" for label in grouping(query) - had]
    return found
