#!/usr/bin/env python3
"""Every link between the pages of this repository leads to a file, and to a heading where it names one; README.md stays short.

Both pages that have the requirements name each of them.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LONGEST_README = 150
REQUIREMENTS = ("570.158.01", "systemctl mask nvidia-imex.service", "enable_cdi", "resources.computeDomains.enabled=false",
                "draDriver.computeDomains.enabled=false")


def pages():
    for pattern in ("*.md", "docs/**/*.md", "manifests/*.md", "bench/*.md", "src/**/*.md"):
        yield from sorted(ROOT.glob(pattern))


def anchors(page: pathlib.Path) -> set:
    """As GitHub and GitLab make them of headings."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    titles = (re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title).lower() for title in re.findall(r"^#+ +(.*)", text, re.MULTILINE))
    return {re.sub(r"[^\w -]", "", title.strip()).replace(" ", "-") for title in titles}


def problem(page: pathlib.Path, link: str) -> str:
    path, _, anchor = link.partition("#")
    target = page.parent / path if path else page
    if not target.exists():
        return "is not there"
    return f"has no heading #{anchor}" if anchor and anchor not in anchors(target) else ""


def main() -> int:
    found = []
    for page in pages():
        text = re.sub(r"^```.*?^```|`[^`\n]*`", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
        for link in re.findall(r"\]\(([^)\s]+)\)", text):
            if "://" not in link and (what := problem(page, link)):
                found.append(f"{page.relative_to(ROOT)}: {link} {what}")
    lines = len((ROOT / "README.md").read_text().splitlines())
    if lines >= LONGEST_README:
        found.append(f"README.md: {lines} lines; what is not on the way to the first domain belongs into docs/")
    for name in ("README.md", "manifests/README.md"):
        table = (ROOT / name).read_text().partition("| requirement |")[2].partition("\n\n")[0]
        found += [f"{name}: its requirements lack {words}" for words in REQUIREMENTS if words not in table]
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
