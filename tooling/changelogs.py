"""Check that each changelog can be read by people and by the release.

`python tooling/changelogs.py` checks headings, dates, and that the newest release is the version of the package;
`python tooling/changelogs.py --tag tracer-core-v0.1.0` also checks that this tag is that release.
"""

from __future__ import annotations

import argparse
import datetime
import re
import sys
from dataclasses import dataclass
from itertools import pairwise

from projects import PACKAGES, Package

SECTIONS = ("Added", "Changed", "Deprecated", "Removed", "Fixed")
RELEASE = re.compile(r"## (\d+)\.(\d+)\.(\d+) - (\d{4}-\d{2}-\d{2})")


@dataclass(frozen=True)
class Release:
    """A heading `## x.y.z - yyyy-mm-dd`."""

    version: tuple[int, int, int]
    date: datetime.date

    @property
    def name(self) -> str:
        """`x.y.z`."""
        return ".".join(map(str, self.version))


def parse(text: str) -> tuple[list[Release], list[str]]:
    """The releases of a changelog, newest first, and what is wrong with its lines (`line: what`)."""
    releases: list[Release] = []
    wrong: list[str] = []
    section = -1
    lines = text.splitlines()
    if lines[:1] != ["# Changelog"]:
        wrong.append("1: the first line is `# Changelog`")
    if not any(line == "## Unreleased" for line in lines):
        wrong.append("1: there is a heading `## Unreleased`, empty or not")
    for number, line in enumerate(lines, 1):
        if line.startswith("## "):
            section = -1
            if line == "## Unreleased":
                if releases:
                    wrong.append(f"{number}: `## Unreleased` stands above the releases")
            elif release := read_release(line):
                releases.append(release)
            else:
                wrong.append(f"{number}: a release is headed `## x.y.z - yyyy-mm-dd`, not `{line}`")
        elif line.startswith("### "):
            place = SECTIONS.index(line[4:]) if line[4:] in SECTIONS else -1
            if place <= section:
                wrong.append(f"{number}: `{line}` is not one of {', '.join(SECTIONS)}, each once and in this order")
            section = place
    for newer, older in pairwise(releases):
        if newer.version <= older.version or newer.date < older.date:
            wrong.append(f"1: {newer.name} of {newer.date} stands above {older.name} of {older.date}")
    return releases, wrong


def read_release(heading: str) -> Release | None:
    """The release that `heading` names, or None."""
    if not (found := RELEASE.fullmatch(heading)):
        return None
    try:
        date = datetime.date.fromisoformat(found[4])
    except ValueError:
        return None
    return Release((int(found[1]), int(found[2]), int(found[3])), date)


def problems(package: Package, tag: str | None = None) -> list[str]:
    """What is wrong with the changelog of `package`, or with releasing it as `tag`."""
    where = f"packages/{package.name}/CHANGELOG.md"
    releases, wrong = parse(package.changelog.read_text(encoding="utf-8"))
    found = [f"{where}:{line}" for line in wrong]
    if releases and releases[0].name != package.version:
        found.append(f"{where}: the newest release is {releases[0].name}, _version.py says {package.version}")
    if tag is not None and tag != f"{package.name}-v{package.version}":
        found.append(f"tag {tag!r} is not {package.name}-v{package.version}, which _version.py asks for")
    if tag is not None and not releases:
        found.append(f"{where}: no heading for {package.version}, so {tag!r} cannot be released")
    return found


def main() -> int:
    """Print what is wrong; the exit code says whether anything is."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tag", help="the tag that is being released, such as tracer-core-v0.1.0")
    tag: str | None = parser.parse_args().tag
    packages = [package for package in PACKAGES if tag is None or tag.startswith(f"{package.name}-v")]
    found = [problem for package in packages for problem in problems(package, tag)]
    if not packages:
        found = [f"tag {tag!r} names none of {', '.join(package.name for package in PACKAGES)}"]
    for problem in found:
        print(problem)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
