"""The Grafana dashboard of manifests/monitoring: what its panels and variables ask a Prometheus, and what Grafana would show of it.

As far as that dashboard goes: unknown() names each setting of which this knows nothing. What is asked for, and how merge, organize
and names of columns work, is as in Grafana's Prometheus data source and transformations, with all clusters and namespaces chosen.
https://grafana.com/docs/grafana/latest/panels-visualizations/query-transform-data/transform-data/
"""

import json
import re
from fnmatch import fnmatchcase

from promql import MONITORING

ANYTHING = None
UNITS = {"short", "s", "bytes", "ops", "reqps"}
COLOURS = {"blue", "green", "red"}
# By path, with the elements of lists at the path of the list.
KNOWN = {
    "id": ANYTHING, "title": ANYTHING, "description": ANYTHING, "gridPos.[xywh]": ANYTHING, "collapsed": {False},
    "type": {"row", "stat", "timeseries", "table"},
    "datasource.type": {"prometheus"}, "datasource.uid": {"$datasource"},
    "fieldConfig.defaults.unit": UNITS, "fieldConfig.defaults.min": ANYTHING, "fieldConfig.defaults.max": ANYTHING,
    "fieldConfig.defaults.thresholds.mode": {"absolute"},
    "fieldConfig.defaults.thresholds.steps.color": COLOURS, "fieldConfig.defaults.thresholds.steps.value": ANYTHING,
    "fieldConfig.defaults.custom.fillOpacity": ANYTHING, "fieldConfig.defaults.custom.stacking.mode": {"normal"},
    "fieldConfig.overrides.matcher.id": {"byName"}, "fieldConfig.overrides.matcher.options": ANYTHING,
    "fieldConfig.overrides.properties.id": {"displayName", "mappings"}, "fieldConfig.overrides.properties.value": ANYTHING,
    "fieldConfig.overrides.properties.value.type": {"value"}, "fieldConfig.overrides.properties.value.options.*.text": ANYTHING,
    "options.reduceOptions.calcs": {"lastNotNull"}, "options.reduceOptions.fields": {""}, "options.reduceOptions.values": {False},
    "options.colorMode": {"value"}, "options.graphMode": {"area"},
    "options.legend.displayMode": {"list"}, "options.legend.placement": {"bottom"}, "options.legend.showLegend": {True},
    "options.tooltip.*": ANYTHING,  # A picture has none.
    "options.showHeader": {True},
    "targets.refId": ANYTHING, "targets.datasource.type": {"prometheus"}, "targets.datasource.uid": {"$datasource"},
    "targets.expr": ANYTHING, "targets.legendFormat": ANYTHING,
    "targets.instant": {True}, "targets.range": {False}, "targets.format": {"table"},
    "transformations.id": {"merge", "organize"}, "transformations.options.excludeByName.*": {True},
    "transformations.options.renameByName.*": ANYTHING,
}


def read() -> dict:
    return json.loads((MONITORING / "compute-domains.json").read_text())


def settings(part, path: str = ""):
    """(path, value) of all in a panel that is no object or list."""
    if isinstance(part, dict):
        for name, value in part.items():
            yield from settings(value, f"{path}.{name}" if path else name)
    elif isinstance(part, list):
        for each in part:
            yield from settings(each, path)
    else:
        yield path, part


def unknown(dashboard: dict) -> list:
    """Texts, one for each setting of a panel that a picture would leave out; none is good."""
    found = []
    for panel in dashboard["panels"]:
        for path, value in settings(panel):
            values = [values for pattern, values in KNOWN.items() if fnmatchcase(path, pattern)]
            if not values or (values[0] is not ANYTHING and value not in values[0]):
                found.append(f"{panel['title']}: {path} is {json.dumps(value)}, which tests/monitoring/dashboard.py does not know")
    return found


def variables(dashboard: dict) -> list:
    """(name, selector, label) of each whose values are those of a label in the series that the selector finds."""
    found = []
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            query = variable["query"]["query"]
            assert variable["definition"] == query, f"{variable['name']}: Grafana shows {variable['definition']} and asks {query}"
            values = re.fullmatch(r"label_values\((.+),\s*(\w+)\)", query)
            assert values, f"{variable['name']}: {query} is not label_values(selector, label)"
            found.append((variable["name"], values[1], values[2]))
    return found


def filled_in(query: str, rate_interval: str = "1m") -> str:
    """As Grafana sends it, for all clusters and namespaces."""
    return query.replace("$__rate_interval", rate_interval).replace("$cluster", ".*").replace("$namespace", ".*")


def legend(target: dict, labels: dict) -> str:
    """A label that is not there is an empty text."""
    text = target.get("legendFormat") or "{" + ", ".join(f'{name}="{value}"' for name, value in sorted(labels.items())) + "}"
    return re.sub(r"\{\{\s*(\w+)\s*\}\}", lambda label: labels.get(label[1], ""), text).strip()


class Answers:
    """Those of a Prometheus for the time from `start` to `end`, which are Unix seconds."""

    def __init__(self, prometheus, start: float, end: float, step: float = 1, rate_interval: str = "1m"):
        self.prometheus, self.start, self.end, self.step, self.rate_interval = prometheus, start, end, step, rate_interval

    def lines(self, panel: dict) -> list:
        """(name, {time: value}) of each series of a panel over that time; what is not a number is not there."""
        found = []
        for target in panel["targets"]:
            answer = self.prometheus.get("query_range", query=filled_in(target["expr"], self.rate_interval), start=self.start, end=self.end, step=self.step)
            found += [(legend(target, series["metric"]), {time: float(value) for time, value in series["values"] if value != "NaN"})
                      for series in sorted(answer["result"], key=lambda series: sorted(series["metric"].items()))]
        return [(name, points) for name, points in found if points]

    def table(self, panel: dict) -> list:
        """The rows of a panel at the end of that time: {column: text or number}, with its transformations and names."""
        frames = [self._frame(target, "Value" if len(panel["targets"]) == 1 else f"Value #{target['refId']}") for target in panel["targets"]]
        names = {}
        for change in panel.get("transformations", []):
            if change["id"] == "merge":
                frames = [merged([frame for frame in frames if frame])]
            else:
                hidden = change["options"].get("excludeByName", {})
                names.update(change["options"].get("renameByName", {}))
                frames = [[{name: value for name, value in row.items() if not hidden.get(name)} for row in frame] for frame in frames]
        assert len(frames) == 1, f"{panel['title']} is several tables: Grafana shows one of them"
        texts = {}
        for override in panel["fieldConfig"]["overrides"]:
            column, settings = override["matcher"]["options"], {each["id"]: each["value"] for each in override["properties"]}
            names[column] = settings.get("displayName", column)
            texts[column] = {float(value): option["text"] for mapping in settings.get("mappings", []) for value, option in mapping["options"].items()}
        return [{names.get(name, name): texts.get(name, {}).get(value, value) for name, value in row.items()} for row in frames[0]]

    def _frame(self, target: dict, value_name: str) -> list:
        answer = self.prometheus.get("query", query=filled_in(target["expr"], self.rate_interval), time=self.end)
        return [{"Time": self.end, **dict(sorted(each["metric"].items())), value_name: float(each["value"][1])} for each in answer["result"]]


def merged(frames: list) -> list:
    """Rows of which the columns that all have are equal become one, where no other column says otherwise."""
    common = set.intersection(*({name for row in frame for name in row} for frame in frames)) if frames else set()
    rows = []
    for row in (row for frame in frames for row in frame):
        fitting = [other for other in rows if all(other.get(name) == row.get(name) for name in common) and
                   all(other.get(name, value) == value for name, value in row.items())]
        for other in fitting:
            other.update(row)
        if not fitting:
            rows.append(dict(row))
    return rows
