#!/usr/bin/env python3
"""The page of kubectl compute-domain --html in a real browser: page_test.py [--screenshots DIR].

Chromium is Debian's (tools/setup --browser), without a window. The pages are of the bundles that plugin_page_bundles writes: a cluster in
trouble, 5,004 nodes, 576 members in one clique, nothing, and names that want to be markup. Nothing may be asked of a network,
nothing may be complained of, all can be reached by keyboard, nothing overlaps, and all can be read in both colour schemes. The
last line counts what passed. CDOM_BUILD: the programs' build, by default build/release. --screenshots makes the pictures of
docs/kubectl-plugin.md instead.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True

from browser import Browser, Page
from png import smaller

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import test_runner

ROOT = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("CDOM_BUILD", ROOT / "build/release")).resolve()
BUNDLES = ("troubled", "large", "huge", "empty")
VIEWS = (*BUNDLES, "hostile")  # which has names that no bundle may have
SCHEMES = ("light", "dark")
WIDTHS = (1280, 640, 360)
PATIENCE = 10  # seconds, for what a browser does by itself
HOSTILE = "\"'><img src=x onerror=alert(1)>&lt;</style></script>]]>-->"

FOCUSED = """(() => { const e = document.activeElement, box = e.getBoundingClientRect(), style = getComputedStyle(e);
  return {name: e.localName, id: e.id, href: e.getAttribute('href'), text: e.textContent.trim().slice(0, 60), open: e.parentElement?.open,
          seen: box.width > 0 && box.height > 0 && box.bottom > 0 && box.top < innerHeight,
          outlined: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2}; })()"""

HIT = """(() => { const e = document.querySelector('.hit'), box = e.getBoundingClientRect();
  return {name: e.localName, text: e.textContent.trim(), seen: box.width > 0 && box.height > 0 && box.bottom > 0 && box.top < innerHeight}; })()"""

# Of each text what contrast it has with what is behind it (WCAG 2.2, 1.4.3), where that is less than 4.5.
WEAK_TEXTS = """(() => {
  const parts = (colour) => { const [r, g, b, a = 1] = colour.match(/[\\d.]+/g).map(Number); return {r, g, b, a}; };
  const light = ({r, g, b}) => { const f = (v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b); };
  const behind = (e) => { for (; e; e = e.parentElement) { const c = parts(getComputedStyle(e).backgroundColor); if (c.a === 1) return c; }
    return {r: 255, g: 255, b: 255}; };
  const weak = new Set();
  for (const e of document.querySelectorAll('body *')) {
    if (![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) || !e.checkVisibility() || e.closest('script,.sg')) continue;
    const style = getComputedStyle(e);
    const [a, b] = [light(parts(e.closest('svg') ? style.fill : style.color)), light(behind(e))].sort((x, y) => y - x);
    const contrast = (a + 0.05) / (b + 0.05);
    if (contrast < 4.5) weak.add(`${e.localName}.${e.className.baseVal ?? e.className} ${contrast.toFixed(2)}`);
  }
  return [...weak]; })()"""

# Pairs of neighbours whose boxes overlap: nodes, marks of an axis, lines and cells of one table, links, rows' names.
OVERLAPS = """(() => {
  const found = [];
  for (const part of document.querySelectorAll('details')) part.open = true;
  const groups = [...document.querySelectorAll('.nodes, .map, .tl-axis .track, .bar, .tiles, .meta, .legend, summary, .tl, .list, .in')].map((e) => [...e.children]);
  for (const svg of document.querySelectorAll('.heat svg')) groups.push([...svg.querySelectorAll('.rw')], [...svg.querySelectorAll('.ax')]);
  for (const group of groups) {
    const boxes = group.filter((e) => e.checkVisibility()).map((e) => {
      const range = document.createRange(); range.selectNodeContents(e);
      return e.matches('.tl-axis i') ? range.getBoundingClientRect() : e.getBoundingClientRect(); });
    for (let i = 0; i < boxes.length; ++i) for (let j = i + 1; j < Math.min(boxes.length, i + 30); ++j) {
      const a = boxes[i], b = boxes[j];
      if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1)
        found.push(`${group[i].outerHTML.slice(0, 80)} | ${group[j].outerHTML.slice(0, 80)}`);
    }
  }
  return found.slice(0, 5); })()"""


class Pages:
    """The pages as files, and a tab to look at them."""

    def __init__(self, folder: Path, page: Page):
        self.folder, self.page = folder, page
        subprocess.run([BUILD / "tests/plugin/plugin_page_bundles", folder], check=True)
        for view in BUNDLES:
            self.run("topology", "--html", self.file(view), of=view)
        self.run("matrix", "train", "-n", "team-a", "--html", self.file("one"), of="troubled")

    def file(self, name: str) -> Path:
        return self.folder / f"{name}.html"

    def run(self, *arguments, of: str) -> str:
        return subprocess.run([BUILD / "bin/kubectl-compute_domain", *map(str, arguments), "--from", self.folder / f"{of}.tar.gz"],
                              check=True, capture_output=True, text=True).stdout

    def report(self, of: str) -> dict:
        return json.loads(self.run("topology", "-o", "json", of=of))

    def open(self, name: str, width: int = 1280, scheme: str = "light", fragment: str = "") -> Page:
        self.page.look(width, 800, scheme)
        self.page.open("about:blank")
        self.page.open(f"file://{self.file(name)}{fragment}")
        return self.page

    def focused(self) -> dict:
        return self.page.script(FOCUSED)


def becomes(page: Page, condition: str) -> bool:
    """Whether an expression of JavaScript is true within PATIENCE seconds."""
    end = time.monotonic() + PATIENCE
    while not page.script(f"Boolean({condition})"):
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def asks_nobody_and_complains_of_nothing(pages: Pages) -> None:
    for view in (*VIEWS, "one"):
        for scheme in SCHEMES:
            page = pages.open(view, scheme=scheme)
            assert page.requests == [f"file://{pages.file(view)}"], page.requests
            assert page.complaints == [], page.complaints


def would_complain_of_a_foreign_script(pages: Pages) -> None:
    """So that the silence above means something."""
    text = pages.file("troubled").read_text()
    pages.file("spoilt").write_text(text.replace("</main>", "<script>window.spoilt = 1</script><img src='https://example.invalid/x.png'></main>"))
    page = pages.open("spoilt")
    assert page.script("window.spoilt") is None
    assert any("script-src" in complaint for complaint in page.complaints), page.complaints
    assert any("default-src" in complaint for complaint in page.complaints), page.complaints


def has_a_box_for_each_node(pages: Pages) -> None:
    for view in BUNDLES:
        page, report = pages.open(view), pages.report(view)
        wanted = {clique["clique"]: [node["name"] for node in clique["nodes"]] for clique in report["cliques"]}
        shown = page.script("[...document.querySelectorAll('#topology details')].map((e) => [e.querySelector('h3 code').textContent,"
                            " [...e.querySelectorAll('.nodes b')].map((b) => b.textContent)])")
        assert {"" if name == "no clique" else name: nodes for name, nodes in shown} == wanted, view
    assert sum(map(len, {clique["clique"]: clique["nodes"] for clique in pages.report("large")["cliques"]}.values())) == 5004


def of_5000_nodes_is_small_and_quick(pages: Pages) -> None:
    size = pages.file("large").stat().st_size
    page = pages.open("large")
    took = page.script("performance.timing.loadEventEnd - performance.timing.navigationStart")
    print(f"        5,004 nodes: {size / 1e6:.2f} MB, loaded in {took} ms")
    assert size < 5_000_000 and took < 10_000, (size, took)


def draws_576_members_with_few_elements(pages: Pages) -> None:
    page = pages.open("huge", fragment="#d1")
    assert page.script("document.querySelectorAll('.heat *').length") < 1000
    # Also those whose cells are a pixel are seen.
    widths = page.script("[...document.querySelectorAll('.heat .r-x')].map((e) => parseFloat(getComputedStyle(e).strokeWidth))")
    assert widths and min(widths) >= 2, widths


def has_nothing_that_overlaps(pages: Pages) -> None:
    for view in (*VIEWS, "one"):
        for width in WIDTHS if view != "large" else WIDTHS[:2]:
            page = pages.open(view, width)
            found = page.script(OVERLAPS)
            assert found == [], (view, width, found)
            assert page.script("document.documentElement.scrollWidth") <= width, (view, width)


def can_be_read_in_both_schemes(pages: Pages) -> None:
    """With 25 parts of each section open: all of the 5,004 nodes have no other kinds of text, and take much longer."""
    backgrounds = set()
    for scheme in SCHEMES:
        for view in (*VIEWS, "one"):
            page = pages.open(view, scheme=scheme)
            page.script("document.querySelectorAll('details:nth-of-type(-n+25)').forEach((e) => e.open = true)")
            assert page.script(WEAK_TEXTS) == [], (view, scheme, page.script(WEAK_TEXTS))
        backgrounds.add(page.script("getComputedStyle(document.body).backgroundColor"))
    assert len(backgrounds) == 2, backgrounds


def says_each_state_without_its_colour(pages: Pages) -> None:
    page = pages.open("troubled")
    signs = page.script("[...new Set([...document.querySelectorAll('.nodes > li')].map((e) => e.className + getComputedStyle(e, '::before').content))]")
    assert len(signs) == 4 and len({sign[3:] for sign in signs}) == 4, signs
    shapes = page.script("[...document.querySelectorAll('.map path')].map((e) => [e.getAttribute('class'), e.getAttribute('d').replace(/^M\\d+ \\d+/, '').split('M')[0]])")
    by_class = {}
    for name, shape in shapes:
        by_class.setdefault(name, set()).add(shape)
    assert len(by_class) == 4 and len({shape for each in by_class.values() for shape in each}) == 4, by_class
    signs = page.script("[...document.querySelectorAll('.heat .sg')].map((e) => e.textContent)")
    assert {"×", "–"} <= set(signs), signs


def has_landmarks_headings_and_names(pages: Pages) -> None:
    for view in (*VIEWS, "one"):
        page = pages.open(view)
        assert page.script("['header', 'nav.bar', 'main', 'footer', 'h1'].map((e) => document.querySelectorAll(`body > ${e}, body > header > ${e}`).length)") == [1] * 5
        levels = page.script("[...document.querySelectorAll('h1, h2, h3, h4, h5')].map((e) => +e.localName[1])")
        assert all(after <= before + 1 for before, after in zip(levels, levels[1:])), (view, levels)
        unnamed = page.script("[...document.querySelectorAll('nav, [role=region], [role=img], section')]"
                              ".filter((e) => !(e.ariaLabel || document.getElementById(e.getAttribute('aria-labelledby')))).length")
        assert unnamed == 0, (view, unnamed)
        ids = page.script("[...document.querySelectorAll('[id]')].map((e) => e.id)")
        assert len(ids) == len(set(ids)), view
        lost = page.script("[...document.querySelectorAll('a')].map((e) => e.getAttribute('href')).filter((h) => !document.getElementById(h.slice(1)))")
        assert lost == [], (view, lost[:5])


def can_be_walked_through_by_tab(pages: Pages) -> None:
    """Each link, field, summary and matrix that is seen has its turn with an outline, and back."""
    for view in ("troubled", "one"):
        page = pages.open(view)
        wanted = page.script("[...document.querySelectorAll('a, input, button, summary, [tabindex=\"0\"]')].filter((e) => e.checkVisibility()).length")
        seen = []
        for _ in range(wanted + 5):
            page.press("Tab")
            now = pages.focused()
            if now["name"] == "body":
                break
            assert now["outlined"] and now["seen"], (view, now)
            seen.append(now)
        assert len(seen) == wanted, (view, wanted, len(seen))
        assert seen[0]["href"] == "#main" and seen[1]["href"] == "#troubles", seen[:2]
        page.press("Tab", shift=True)
        assert pages.focused()["text"] == seen[-1]["text"], (view, pages.focused(), seen[-1])


def opens_and_closes_by_keyboard_also_without_a_script(pages: Pages) -> None:
    for with_script in (True, False):
        pages.page.allow_scripts(with_script)
        try:
            page = pages.open("large")
            assert page.script("document.getElementById('find').hidden") is not with_script
            page.script("document.querySelector('#domains summary').focus()")
            before = pages.focused()
            page.press("Enter")
            opened = pages.focused()
            page.press(" ")
            closed = pages.focused()
            assert (before["open"], opened["open"], closed["open"]) == (False, True, False), (with_script, before, opened, closed)
        finally:
            pages.page.allow_scripts(True)


def jumps_to_what_a_link_names_also_without_a_script(pages: Pages) -> None:
    for with_script in (True, False):
        pages.page.allow_scripts(with_script)
        try:
            page = pages.open("large")
            page.script("document.querySelector('.nodes a').focus()")
            target = page.script("document.activeElement.getAttribute('href').slice(1)")
            assert page.script(f"document.getElementById('{target}').checkVisibility()") is False
            page.press("Enter")
            part = f"document.getElementById('{target}').closest('details')"
            top = f"{part}.getBoundingClientRect().top"
            assert becomes(page, f"{part}.open && {top} >= 0 && {top} < 400"), (with_script, page.script(top))
        finally:
            pages.page.allow_scripts(True)


def skips_to_its_content(pages: Pages) -> None:
    page = pages.open("troubled")
    page.press("Tab")
    page.press("Enter")
    assert page.script("location.hash") == "#main"
    page.press("Tab")
    assert pages.page.script("document.activeElement.closest('main') !== null"), pages.focused()


def finds_a_node_a_clique_and_a_domain(pages: Pages) -> None:
    page = pages.open("large")
    for text, what, count in (("r200n07", "li", "1 of 1"), ("fc.278", "summary", "1 of 1"), ("TRAIN-001", "summary", "1 of 1"), ("n18", "li", "1 of 278")):
        page.script("document.getElementById('q').value = ''; document.getElementById('q').focus()")
        page.type(text)
        page.press("Enter")
        now = page.script(HIT)
        assert now["name"] == what and text.lower() in now["text"].lower() and now["seen"], (text, now)
        assert pages.focused()["id"] == "q", text
        assert page.script("document.getElementById('found').textContent") == count, text
    page.press("Enter")
    assert page.script("document.getElementById('found').textContent") == "2 of 278"
    page.script("document.getElementById('q').value = 'nowhere'; document.getElementById('q').focus()")
    page.press("Enter")
    assert page.script("document.getElementById('found').textContent") == "nothing"
    assert page.complaints == [], page.complaints


def shows_hostile_names_as_text(pages: Pages) -> None:
    page = pages.open("hostile")
    page.script("document.querySelectorAll('details').forEach((e) => e.open = true)")
    assert page.script("document.querySelectorAll('img, iframe, object, [onerror], [onload]').length") == 0
    assert page.script("[document.scripts.length, document.styleSheets.length]") == [1, 1]
    texts = page.script("['#domains h3', '.nodes b', '.events td', '.meta dd', '.list a'].map((s) => [...document.querySelectorAll(s)]"
                        f".filter((e) => e.textContent.includes({json.dumps(HOSTILE)})).length)")
    assert all(count > 0 for count in texts), texts
    titles = page.script(f"[...document.querySelectorAll('[title]')].filter((e) => e.title.includes({json.dumps(HOSTILE)})).length")
    assert titles > 0
    assert page.complaints == [] and len(page.requests) == 1, (page.complaints, page.requests)


TESTS = (
    asks_nobody_and_complains_of_nothing,
    would_complain_of_a_foreign_script,
    has_a_box_for_each_node,
    of_5000_nodes_is_small_and_quick,
    draws_576_members_with_few_elements,
    has_nothing_that_overlaps,
    can_be_read_in_both_schemes,
    says_each_state_without_its_colour,
    has_landmarks_headings_and_names,
    can_be_walked_through_by_tab,
    opens_and_closes_by_keyboard_also_without_a_script,
    jumps_to_what_a_link_names_also_without_a_script,
    skips_to_its_content,
    finds_a_node_a_clique_and_a_domain,
    shows_hostile_names_as_text,
)


def take_screenshots(pages: Pages, folder: Path) -> int:
    """The top of a page of a cluster, and the part of one domain, in both schemes; and 5,004 nodes."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, view, first, height in (("topology", "troubled", "body", 1480), ("domain", "one", "#domains", 1000), ("large", "large", "#topology", 900)):
        for scheme in SCHEMES if name != "large" else SCHEMES[:1]:
            page = pages.open(view, scheme=scheme)
            top = page.script(f"document.querySelector('{first}').getBoundingClientRect().top + scrollY")
            file = folder / f"page-{name}-{scheme}.png"
            page.screenshot(file, 0, max(top - 16, 0), 1280, height)
            file.write_bytes(smaller(file.read_bytes()))
            print(f"wrote {file}: {file.stat().st_size} bytes")
    return 0


def main(arguments: list) -> int:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, Browser(Path(folder)) as browser:
        pages = Pages(Path(folder), browser.page())
        if arguments[:1] == ["--screenshots"] and len(arguments) == 2:
            return take_screenshots(pages, Path(arguments[1]))
        if arguments:
            sys.exit("usage: page_test.py [--screenshots DIR]")
        return test_runner.run(TESTS, pages)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
