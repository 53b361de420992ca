"""The notes of a release: its section of CHANGELOG.md, and its images."""

import re
from pathlib import Path

from failure import Failure

# What tells a user whether there is a release at all; the documentation archive has it.
_TELL_OF_RELEASES = ("README.md", "SECURITY.md")


def section(root: Path, version: str, is_rehearsal: bool) -> str:
    """What CHANGELOG.md has of the version, which has to be its first one, with the day of the release in its heading."""
    text = (root / "CHANGELOG.md").read_text()
    sections = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    heading, _, body = (sections[0] if sections else "").partition("\n")
    found = re.fullmatch(r"(\S+) \((.+)\)", heading)
    if not found or found[1] != version:
        raise Failure(f"CHANGELOG.md does not begin with '## {version} (DATE)' but with '## {heading}'")
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", found[2]) and not is_rehearsal:
        raise Failure(f"CHANGELOG.md says '{heading}': write the day of the release in place of '{found[2]}', and commit that")
    stale = [name for name in _TELL_OF_RELEASES if "unreleased" in (root / name).read_text()]
    if stale and not is_rehearsal:
        raise Failure(f"'unreleased' is still in {' and '.join(stale)}: write what holds once this is released, and commit that")
    return body.strip()


def write(directory: Path, version: str, body: str, images: list, is_rehearsal: bool) -> None:
    heading = f"compute-domain-operator {version}{' (REHEARSAL)' if is_rehearsal else ''}"
    lines = "\n".join(image.reference for image in images)
    (directory / "RELEASE_NOTES.md").write_text(f"# {heading}\n\n{body}\n\n### Images\n\n```\n{lines}\n```\n")
