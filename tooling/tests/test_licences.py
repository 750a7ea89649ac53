"""One licence, several files."""

from __future__ import annotations

from pathlib import Path

import licences
from projects import PACKAGES, ROOT


def test_a_copy_that_says_something_else_or_is_absent_differs(tmp_path: Path) -> None:
    """Only an equal text is a copy."""
    original, same, other, absent = (tmp_path / name for name in ("original", "same", "other", "absent"))
    original.write_text("MIT\n")
    same.write_text("MIT\n")
    other.write_text("MIT")

    assert licences.differing(original, [same, other, absent]) == [other, absent]


def test_the_packages_carry_the_licence_of_the_tree() -> None:
    """What is published has the text of the root."""
    assert licences.differing(ROOT / "LICENSE", [package.folder / "LICENSE" for package in PACKAGES]) == []
