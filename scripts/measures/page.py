"""The files that docs/life-of-a-call.md lists, against those that are counted."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs/life-of-a-call.md"
# The ways that the page follows: the second one only as far as it leaves the first.
PIPE, HTTP = "server, pipe, 2026-07-28", "server, HTTP, 2026-07-28"


def mistakes(ways):
    """A line for each file that the page lists and no call needs, lists twice, or leaves out."""
    parts = PAGE.read_text().split("\n## Over HTTP\n")
    wanted = [set(ways[PIPE]), set(ways[HTTP]) - set(ways[PIPE])]
    found = []
    for part, files, way in zip(parts, wanted, (PIPE, HTTP), strict=True):
        listed = re.findall(r"`(.+?)`", " ".join(re.findall(r"^Files: .*(?:\n  .*)*", part, re.MULTILINE)))
        found += [f"{PAGE.name} lists {file} twice" for file in sorted(set(listed)) if listed.count(file) > 1]
        found += [f"{PAGE.name} lists {file}, which is not on the way: {way}" for file in sorted(set(listed) - files)]
        found += [f"{PAGE.name} does not list {file}, which is on the way: {way}" for file in sorted(files - set(listed))]
    return found
