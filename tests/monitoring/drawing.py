"""page(): the dashboard as one HTML page that asks for nothing: each panel at its place, with the answers of a Prometheus.

In the look of the page of kubectl compute-domain (src/plugin/page/page.css), not in Grafana's. What is drawn is what
dashboard.unknown() knows.
"""

import math
from datetime import datetime, timezone
from html import escape

from dashboard import Answers
from promql import ROOT

WIDTH, MARGIN, GAP = 1280, 16, 8
COLUMN, ROW = (WIDTH - 2 * MARGIN + GAP) / 24, 27
TITLE, LEGEND, AXIS, CELL, LETTER = 26, 18, 20, 21, 6.1
LINES = 10  # colours
STYLE = """
:root { --blue: var(--use); --green: var(--ok); --red: var(--bad); --l0: #0067b1; --l1: #d97706; --l2: #00724f; --l3: #8b4fc4; --l4: #c2262d; --l5: #2aa7b8;
  --l6: #8a6d1a; --l7: #c2559d; --l8: #5b6470; --l9: #6a9e1f; }
@media (prefers-color-scheme: dark) { :root { --l0: #4ba3e3; --l1: #f2a541; --l2: #4cc79a; --l3: #b993e6; --l4: #ff7a70; --l5: #63d3e0; --l6: #d4b65c;
  --l7: #ee97cd; --l8: #a3acb7; --l9: #a4d45a; } }
body { width: %(width)spx; position: relative; font-size: 13px; }
h1 { font-size: 1.35rem; margin: 0; position: absolute; left: %(margin)spx; top: 14px; }
.of { position: absolute; right: %(margin)spx; top: 16px; color: var(--soft); margin: 0; max-width: none; }
.of b { color: var(--ink); font-weight: 600; margin-right: 1rem; }
section, h2.row { position: absolute; margin: 0; }
h2.row { font-size: 15px; line-height: 24px; }
h2.row::before { content: "▾ "; color: var(--soft); }
section { background: var(--panel); border: 1px solid var(--line); border-radius: 4px; overflow: hidden; }
section h3 { font-size: 13px; font-weight: 600; line-height: %(title)spx; margin: 0; padding: 0 8px; white-space: nowrap; }
section svg { display: block; position: absolute; left: 0; }
svg path.ln { fill: none; stroke: var(--c); stroke-width: 1.5; stroke-linejoin: round; }
svg path.gr { stroke: var(--line); stroke-width: 1; fill: none; shape-rendering: crispEdges; }
svg path.ar { shape-rendering: crispEdges; }
svg text { fill: var(--soft); font-size: 11px; }
svg circle { fill: var(--c); }
.stat { position: absolute; left: 0; right: 0; top: 22px; margin: 0; max-width: none; text-align: center;
  font-size: 32px; line-height: 44px; font-weight: 600; color: var(--c); }
.keys { position: absolute; left: 8px; bottom: 3px; margin: 0; }
.keys div { display: flex; gap: 0 14px; height: %(legend)spx; line-height: %(legend)spx; font-size: 11.5px; white-space: nowrap; color: var(--soft); }
.keys span::before { content: ""; display: inline-block; width: 14px; height: 4px; margin-right: 5px; vertical-align: 3px; background: var(--c); }
section table { margin: 0; width: 100%%; font-size: 12px; }
section th, section td { padding: 0 6px; height: %(cell)spx; line-height: 20px; white-space: nowrap; overflow-wrap: normal;
  overflow: hidden; text-overflow: ellipsis; max-width: 16rem; }
section th { white-space: normal; line-height: 16px; vertical-align: bottom; padding-block: 2px; }
section :is(th, td):first-child { padding-left: 8px; }
section :is(th, td):last-child { padding-right: 8px; }
section .n { text-align: right; font-variant-numeric: tabular-nums; }
.nothing { text-align: center; color: var(--soft); margin-top: 3rem; max-width: none; }
"""


def rounded(value: float) -> str:
    """Three digits, without zeros behind the point."""
    text = f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"
    return f"{float(text):.10f}".rstrip("0").rstrip(".") or "0"


def scaled(value: float, steps: list) -> str:
    """In the largest unit that leaves at least one of it; steps are (size, unit) from the smallest on."""
    size, unit = next(((size, unit) for size, unit in reversed(steps) if abs(value) >= size), steps[0])
    return f"{rounded(value / size)}{unit}"


def in_unit(value: float, unit: str) -> str:
    if value == 0:
        return {"bytes": "0 B", "s": "0 s", "ops": "0 ops/s", "reqps": "0 req/s"}.get(unit, "0")
    if unit == "s":
        return scaled(value, [(1e-6, " µs"), (1e-3, " ms"), (1, " s"), (60, " min"), (3600, " hours"), (86400, " days")])
    if unit == "bytes":
        return scaled(value, [(1, " B"), (1024, " KiB"), (1024 ** 2, " MiB"), (1024 ** 3, " GiB")])
    if unit in ("ops", "reqps"):
        return f"{rounded(value)} {'ops' if unit == 'ops' else 'req'}/s"
    return scaled(value, [(1, ""), (1e3, " K"), (1e6, " Mil")]) if abs(value) >= 1 else rounded(value)


def ticks(low: float, high: float, unit: str, are_whole: bool) -> list:
    """At most five round numbers, the last one at or above the highest value."""
    base = 1024 ** max(math.floor(math.log(max(high, 1), 1024)), 0) if unit == "bytes" else 1
    rough = max(high - low, 1e-9) / base / 4
    power = 10 ** math.floor(math.log10(rough))
    step = base * power * next(nice for nice in (1, 2, 2.5, 5, 10) if nice * power >= rough * 0.999)
    if are_whole:
        step = max(round(step + 0.4), 1)
    return [low + i * step for i in range(math.ceil((high - low) / step - 1e-6) + 1)]


class Chart:
    """Lines in a box of that many pixels, over the time that was asked for."""

    def __init__(self, width: float, height: float, answers: Answers):
        self.width, self.height, self.answers = width, height, answers
        self.left, self.right, self.top, self.bottom = 0, width, 0, height
        self.low, self.high = 0, 1

    def x(self, time: float) -> float:
        return self.left + (time - self.answers.start) / (self.answers.end - self.answers.start) * (self.right - self.left)

    def y(self, value: float) -> float:
        return self.bottom - (value - self.low) / (self.high - self.low) * (self.bottom - self.top)

    def runs(self, points: dict):
        """The times between which none is missing."""
        run = []
        for time in sorted(points):
            if run and time - run[-1] > 1.5 * self.answers.step:
                yield run
                run = []
            run.append(time)
        if run:
            yield run

    def line(self, points: dict, number: int, below: dict, fill: float) -> str:
        """From the values of `below` on, where that has some."""
        tops = {time: value + below.get(time, 0) for time, value in points.items()}
        parts = []
        for run in self.runs(points):
            there = self.path(run, tops)
            if fill:
                back = self.path(run[::-1], below).replace("M", "L", 1)
                parts.append(f'<path style="--c: var(--l{number})" class="ar" fill-opacity="{fill}" d="{there}{back}Z"/>')
            parts.append(f'<path class="ln" style="--c: var(--l{number})" d="{there}"/>' if len(run) > 1 else
                         f'<circle style="--c: var(--l{number})" cx="{self.x(run[0]):.1f}" cy="{self.y(tops[run[0]]):.1f}" r="2"/>')
        return "".join(parts)

    def path(self, times: list, values: dict) -> str:
        """Of what is the same as before and after nothing is written."""
        kept = [time for i, time in enumerate(times) if i in (0, len(times) - 1) or not
                values.get(times[i - 1], 0) == values.get(time, 0) == values.get(times[i + 1], 0)]
        return "M" + "L".join(f"{self.x(time):.1f} {self.y(values.get(time, 0)):.1f}" for time in kept)

    def axes(self, unit: str, values: list) -> str:
        texts = [in_unit(value, unit) for value in values]
        self.left, self.right, self.top, self.bottom = 16 + LETTER * max(map(len, texts)), self.width - 14, 8, self.height - AXIS
        parts = []
        for value, text in zip(values, texts):
            y = round(self.y(value))
            parts.append(f'<path class="gr" d="M{self.left:.0f} {y}H{self.right:.0f}"/><text x="{self.left - 6:.0f}" y="{y + 4}" text-anchor="end">{text}</text>')
        every = next(step for step in (5, 10, 15, 30, 60, 120, 300, 600) if (self.answers.end - self.answers.start) / step * 62 < self.right - self.left)
        for time in range(math.ceil(self.answers.start / every) * every, int(self.answers.end) + 1, every):
            x = round(self.x(time))
            parts.append(f'<path class="gr" d="M{x} {self.top}V{self.bottom}"/>')
            if self.left + 10 < x < self.right - 10:
                clock = datetime.fromtimestamp(time, timezone.utc).strftime("%H:%M:%S")
                parts.append(f'<text x="{x}" y="{self.height - 5:.0f}" text-anchor="middle">{clock}</text>')
        return "".join(parts)

    def svg(self, inner: str, top: float) -> str:
        return f'<svg style="top: {top}px" width="{self.width:.0f}" height="{self.height:.0f}" viewBox="0 0 {self.width:.0f} {self.height:.0f}">{inner}</svg>'


def keys(names: list, width: float) -> list:
    """The names of lines, by line of the legend."""
    lines, used = [[]], 0
    for number, name in enumerate(names):
        wide = 33 + LETTER * len(name)
        if lines[-1] and used + wide > width - 8:
            lines.append([])
            used = 0
        lines[-1].append(f'<span style="--c: var(--l{number % LINES})">{escape(name)}</span>')
        used += wide
    return lines


def with_ends(points: dict, times: set, step: float) -> dict:
    """With a 0 before and after each run where others go on, so that a stack has no holes."""
    near = {time for time in times - set(points) if any(round(time + way * step, 3) in points for way in (-1, 1))}
    return {**points, **dict.fromkeys(near, 0)}


def time_series(panel: dict, width: float, height: float, answers: Answers) -> str:
    field, lines = panel["fieldConfig"]["defaults"], answers.lines(panel)
    if not lines:
        return '<p class="nothing">No data</p>'
    is_stacked = field.get("custom", {}).get("stacking", {}).get("mode") == "normal"
    if is_stacked:
        lines = [(name, with_ends(points, set().union(*(other for _, other in lines)), answers.step)) for name, points in lines]
    fill = field.get("custom", {}).get("fillOpacity", 0) / 100
    below, drawn = {}, []
    for number, (_, points) in enumerate(lines):
        drawn.append((points, number % LINES, dict(below) if is_stacked else {}))
        if is_stacked:
            below.update({time: below.get(time, 0) + value for time, value in points.items()})
    values = [value + under.get(time, 0) for points, _, under in drawn for time, value in points.items()]
    names = keys([name for name, _ in lines], width)
    chart = Chart(width, height - TITLE - LEGEND * len(names) - 6, answers)
    chart.low = min(field.get("min", 0), *values)
    marks = ticks(chart.low, field.get("max", max(*values, chart.low) or 1), field["unit"],
                  field["unit"] == "short" and all(value == int(value) for value in values))
    chart.high = marks[-1]
    axes = chart.axes(field["unit"], marks)
    # The first line on top, as Grafana has it where they are equal.
    inner = axes + "".join(chart.line(points, number, under, fill) for points, number, under in reversed(drawn))
    return chart.svg(inner, TITLE) + f'<div class="keys">{"".join("<div>" + "".join(line) + "</div>" for line in names)}</div>'


def stat(panel: dict, width: float, height: float, answers: Answers) -> str:
    field, lines = panel["fieldConfig"]["defaults"], answers.lines(panel)
    if not lines:
        return '<p class="nothing">No data</p>'
    [(_, points)] = lines
    value = points[max(points)]
    colour = [step["color"] for step in field["thresholds"]["steps"] if step["value"] is None or value >= step["value"]][-1]
    chart = Chart(width, 30, answers)
    chart.high, chart.top = max(*points.values(), 1), 2
    area = "".join(f'<path style="--c: var(--{colour})" fill-opacity=".2" d="{chart.path(run, points)}L{chart.x(run[-1]):.1f} 30L{chart.x(run[0]):.1f} 30Z"/>'
                   f'<path class="ln" style="--c: var(--{colour})" d="{chart.path(run, points)}"/>' for run in chart.runs(points))
    return chart.svg(area, height - 31) + f'<p class="stat" style="--c: var(--{colour})">{in_unit(value, field["unit"])}</p>'


def table(panel: dict, width: float, height: float, answers: Answers) -> str:
    rows, unit = answers.table(panel), panel["fieldConfig"]["defaults"]["unit"]
    if not rows:
        return '<p class="nothing">No data</p>'
    columns = list(dict.fromkeys(name for row in rows for name in row))
    numbers = {name for row in rows for name, value in row.items() if isinstance(value, float)}
    room = int((height - TITLE) / CELL) - 1
    shown = rows if len(rows) <= room else rows[:room - 1]

    def cell(name: str, of: str, text: str) -> str:
        return f'<{of}{" class=n" if name in numbers else ""}>{escape(text)}</{of}>'

    lines = ["".join(cell(name, "th", name) for name in columns)]
    for row in shown:
        lines.append("".join(cell(name, "td", in_unit(row[name], unit) if isinstance(row.get(name), float) else row.get(name, "")) for name in columns))
    if len(rows) > len(shown):
        lines.append(f'<td colspan="{len(columns)}">and {len(rows) - len(shown)} more</td>')
    return f'<table><thead><tr>{lines[0]}</tr></thead><tbody>{"".join(f"<tr>{line}</tr>" for line in lines[1:])}</tbody></table>'


DRAWN = {"timeseries": time_series, "stat": stat, "table": table}


def height_of(dashboard: dict) -> int:
    return 56 + ROW * max(panel["gridPos"]["y"] + panel["gridPos"]["h"] for panel in dashboard["panels"]) + MARGIN - GAP


def page(dashboard: dict, answers: Answers) -> str:
    parts = []
    for panel in dashboard["panels"]:
        place = panel["gridPos"]
        left, top = MARGIN + place["x"] * COLUMN, 56 + place["y"] * ROW
        width, height = place["w"] * COLUMN - GAP, place["h"] * ROW - GAP
        if panel["type"] == "row":
            parts.append(f'<h2 class="row" style="left: {left:.0f}px; top: {top}px">{escape(panel["title"])}</h2>')
            continue
        parts.append(f'<section style="left: {left:.0f}px; top: {top}px; width: {width:.0f}px; height: {height}px" title="{escape(panel["description"])}">'
                     f'<h3>{escape(panel["title"])}</h3>{DRAWN[panel["type"]](panel, round(width) - 2, height - 2, answers)}</section>')
    style = (ROOT / "src/plugin/page/page.css").read_text() + STYLE % {"width": WIDTH, "margin": MARGIN, "title": TITLE, "legend": LEGEND, "cell": CELL}
    chosen = "".join(f'{variable["label"]} <b>{"Prometheus" if variable["type"] == "datasource" else "All"}</b>'
                     for variable in dashboard["templating"]["list"])
    return (f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{escape(dashboard["title"])}</title><style>{style}</style></head>'
            f'<body style="height: {height_of(dashboard)}px"><h1>{escape(dashboard["title"])}</h1>'
            f'<p class="of">{chosen}drawn by the operator\'s tests, not by Grafana</p>{"".join(parts)}</body></html>')
