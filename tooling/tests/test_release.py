"""Preparing a release."""

from __future__ import annotations

import datetime

import pytest

import changelogs
import release
from projects import Package

DATE = datetime.date(2026, 3, 1)


@pytest.mark.parametrize(
    ("part", "expected"), [("major", "2.0.0"), ("minor", "1.3.0"), ("patch", "1.2.4")], ids=["major", "minor", "patch"]
)
def test_the_parts_right_of_the_one_that_rises_are_zero(part: str, expected: str) -> None:
    """1.2.3 becomes what semantic versioning says."""
    assert release.bumped("1.2.3", part) == expected


def test_a_first_release_takes_the_version_of_the_tree(package: Package) -> None:
    """What was never released is not bumped."""
    assert release.next_version(package, "minor") == "0.1.0"


def test_a_later_release_is_bumped(package: Package) -> None:
    """Once there is a release, the next one is higher."""
    package.changelog.write_text("# Changelog\n\n## Unreleased\n\n## 0.1.0 - 2026-01-01\n")

    assert release.next_version(package, "minor") == "0.2.0"


def test_preparing_heads_what_is_unreleased(package: Package) -> None:
    """The lines move under the new heading, and `Unreleased` stays, empty."""
    package.changelog.write_text("# Changelog\n\n## Unreleased\n\n### Added\n\n- A thing.\n")

    release.prepare(package, "0.2.0", DATE)

    assert package.changelog.read_text() == (
        "# Changelog\n\n## Unreleased\n\n## 0.2.0 - 2026-03-01\n\n### Added\n\n- A thing.\n"
    )


def test_what_is_prepared_passes_the_check_of_its_tag(package: Package) -> None:
    """Version, heading and tag agree after a release is prepared."""
    package.changelog.write_text("# Changelog\n\n## Unreleased\n\n### Added\n\n- A thing.\n")

    release.prepare(package, "0.2.0", DATE)

    assert changelogs.problems(package, "some-thing-v0.2.0") == []


@pytest.mark.parametrize("below", ["", "\n## 0.1.0 - 2026-01-01\n\n### Added\n\n- A thing.\n"], ids=["first", "later"])
def test_nothing_unreleased_is_no_release(package: Package, below: str) -> None:
    """A release without a line in the changelog is refused, and nothing is written."""
    before = f"# Changelog\n\n## Unreleased\n{below}"
    package.changelog.write_text(before)

    with pytest.raises(SystemExit, match="nothing to release"):
        release.prepare(package, "0.2.0", DATE)
    assert (package.changelog.read_text(), package.version) == (before, "0.1.0")
