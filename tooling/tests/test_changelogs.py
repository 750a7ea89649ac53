"""What a changelog has to look like."""

from __future__ import annotations

import pytest

import changelogs
from projects import PACKAGES, Package

GOOD = """# Changelog

## Unreleased

## 0.2.0 - 2026-03-01

### Added

- A thing.

### Fixed

- Another.

## 0.1.0 - 2026-02-01

### Added

- The first.
"""


def test_a_good_changelog_has_nothing_wrong() -> None:
    """Releases come newest first, each with its sections in order."""
    releases, wrong = changelogs.parse(GOOD)

    assert ([release.name for release in releases], wrong) == (["0.2.0", "0.1.0"], [])


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param("# Changelog\n", "# Changes\n", "1: the first line", id="another first line"),
        pytest.param("## Unreleased\n", "", "1: there is a heading `## Unreleased`", id="nothing unreleased"),
        pytest.param("## 0.2.0 - 2026-03-01", "## v0.2.0", "5: a release is headed", id="a heading without a date"),
        pytest.param("2026-03-01", "2026-02-30", "5: a release is headed", id="a day that does not exist"),
        pytest.param("### Fixed", "### Bugs", "11: `### Bugs` is not one of", id="an unknown section"),
        pytest.param("### Fixed", "### Added", "11: `### Added` is not one of", id="a section twice"),
        pytest.param("2026-03-01", "2026-01-01", "1: 0.2.0 of 2026-01-01 stands above", id="dates the wrong way round"),
        pytest.param("## 0.2.0", "## 0.1.0", "1: 0.1.0 of 2026-03-01 stands above", id="a version twice"),
    ],
)
def test_a_fault_is_reported_with_its_line(old: str, new: str, expected: str) -> None:
    """One fault, one report."""
    _, wrong = changelogs.parse(GOOD.replace(old, new, 1))

    assert [report.startswith(expected) for report in wrong] == [True]


def test_unreleased_stands_first() -> None:
    """A release never stands above what is unreleased."""
    _, wrong = changelogs.parse("# Changelog\n\n## 0.1.0 - 2026-01-01\n\n## Unreleased\n")

    assert wrong == ["5: `## Unreleased` stands above the releases"]


def test_the_newest_release_is_the_version_of_the_package(package: Package) -> None:
    """A changelog that is ahead of, or behind, the version is reported."""
    package.changelog.write_text(GOOD)

    assert changelogs.problems(package) == [
        "packages/some-thing/CHANGELOG.md: the newest release is 0.2.0, _version.py says 0.1.0"
    ]


@pytest.mark.parametrize(
    ("tag", "expected"),
    [
        pytest.param("some-thing-v0.2.0", 0, id="the release"),
        pytest.param("some-thing-v0.3.0", 1, id="another version"),
        pytest.param("v0.2.0", 1, id="no package"),
    ],
)
def test_a_tag_is_the_release_it_names(package: Package, tag: str, expected: int) -> None:
    """Tag, version and heading are one."""
    package.changelog.write_text(GOOD)
    package.version_file.write_text('__version__ = "0.2.0"\n')

    assert len(changelogs.problems(package, tag)) == expected


def test_what_has_no_heading_is_not_released(package: Package) -> None:
    """A tag on a tree whose changelog has no release yet is refused."""
    assert changelogs.problems(package, "some-thing-v0.1.0") == [
        "packages/some-thing/CHANGELOG.md: no heading for 0.1.0, so 'some-thing-v0.1.0' cannot be released"
    ]


@pytest.mark.parametrize("real", PACKAGES, ids=lambda real: real.name)
def test_the_changelogs_of_this_tree_are_good(real: Package) -> None:
    """What the programs ask for, the tree has."""
    assert changelogs.problems(real) == []
