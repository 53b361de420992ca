#!/usr/bin/env python3
"""Every link between the pages of this repository leads to a file, and to a heading where it names one; README.md stays short.

Both pages that have the requirements name each of them. Where a page says which versions of Kubernetes the operator is for, it says
on which of them no test has real kubelets, as docs/reference/kubernetes.md has them; where each has, it says nothing of that.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LONGEST_README = 150
REQUIREMENTS = ("570.158.01", "systemctl mask nvidia-imex.service", "enable_cdi", "resources.computeDomains.enabled=false",
                "draDriver.computeDomains.enabled=false")


NAMES_VERSIONS = ("README.md", "docs/install.md", "manifests/README.md", "manifests/helm/compute-domain-operator/README.md")


def untried() -> str:
    """The versions of Kubernetes on which no test has real kubelets; "" where each has."""
    text = (ROOT / "docs/reference/kubernetes.md").read_text()
    oldest = int(re.search(r"for Kubernetes 1\.(\d+) and later", text)[1])
    tried = {int(minor) for minor, parts in re.findall(r"^\| 1\.(\d+)\.\d+ \| ([^|]*) \|", text, re.MULTILINE)
             if "kubelets" in parts and "not recorded" not in parts}
    others = [minor for minor in range(oldest, max(tried)) if minor not in tried]
    if not others:
        return ""
    is_a_range = len(others) > 2 and others[-1] - others[0] == len(others) - 1
    return f"1.{others[0]} to 1.{others[-1]}" if is_a_range else ", ".join(f"1.{minor}" for minor in others)


def says_what_is_untried(text: str) -> bool:
    words = "ntried with real kubelets"
    return f"{words}: {untried()}" in text if untried() else words not in text


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
    found += [f"{name}: does not say 'untried with real kubelets: {untried()}', or says it although each was tried" for name in NAMES_VERSIONS
              if not says_what_is_untried(" ".join((ROOT / name).read_text().split()))]
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
