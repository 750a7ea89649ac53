"""Prepare a release of one package: its version, and the heading of its changelog.

`python tooling/release.py tracer-core minor` edits the two files and prints what is left to do by hand: the commit that
is reviewed, and the tag that publishes. Nothing is committed, tagged or sent from here.
"""

from __future__ import annotations

import argparse
import datetime
import sys

from changelogs import parse, problems
from projects import PACKAGES, VERSION, Package, named

PARTS = ("major", "minor", "patch")


def bumped(version: str, part: str) -> str:
    """`version` with `part` one higher and the parts right of it zero."""
    place = PARTS.index(part)
    numbers = [int(number) for number in version.split(".")]
    return ".".join(
        str(number + 1 if at == place else number if at < place else 0) for at, number in enumerate(numbers)
    )


def prepare(package: Package, version: str, date: datetime.date) -> None:
    """Write `version` into the version file, and head what is unreleased with it."""
    text = package.changelog.read_text(encoding="utf-8")
    before, heading, after = text.partition("## Unreleased\n")
    if not heading or not after.partition("\n## ")[0].strip():
        raise SystemExit(f"{package.changelog}: nothing stands under `## Unreleased`, so there is nothing to release")
    package.changelog.write_text(f"{before}{heading}\n## {version} - {date}\n{after}", encoding="utf-8")
    source = package.version_file.read_text(encoding="utf-8")
    package.version_file.write_text(VERSION.sub(f'__version__ = "{version}"', source), encoding="utf-8")


def next_version(package: Package, part: str) -> str:
    """The version to release: the tree's own when it was never released, else the one after it."""
    releases, _ = parse(package.changelog.read_text(encoding="utf-8"))
    return bumped(package.version, part) if releases else package.version


def main() -> int:
    """Prepare the release that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("package", choices=[package.name for package in PACKAGES])
    parser.add_argument("part", choices=PARTS, help="which number goes up (a first release takes the version as it is)")
    arguments = parser.parse_args()
    package = named(arguments.package)
    version = next_version(package, arguments.part)
    prepare(package, version, datetime.datetime.now(tz=datetime.timezone.utc).date())
    if wrong := problems(package):
        raise SystemExit("\n".join(wrong))
    print(f'git commit -m "release: {package.name} {version}" -- packages/{package.name}')
    print(f"git tag {package.name}-v{version}    # once the commit is on main; the tag publishes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
