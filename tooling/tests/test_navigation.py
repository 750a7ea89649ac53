"""The order of the site."""

from __future__ import annotations

from pathlib import Path

import navigation


def write(docs: Path, *pages: str) -> None:
    """Make `pages` under `docs`."""
    for page in pages:
        (docs / page).parent.mkdir(parents=True, exist_ok=True)
        (docs / page).write_text("# Page\n")


def test_sections_come_in_reading_order(tmp_path: Path) -> None:
    """The order is that of SECTIONS, and what is not there is left out."""
    write(tmp_path, "reference/a.md", "index.md", "tutorial.md")

    assert navigation.navigation(tmp_path) == [
        {"Start": "index.md"},
        {"Tutorial": "tutorial.md"},
        {"Reference": ["reference/a.md"]},
    ]


def test_the_index_of_a_section_comes_first(tmp_path: Path) -> None:
    """Then the pages by name."""
    write(tmp_path, "how-to/b.md", "how-to/index.md", "how-to/a.md")

    assert navigation.pages(tmp_path / "how-to", tmp_path) == ["how-to/index.md", "how-to/a.md", "how-to/b.md"]


def test_what_has_no_place_comes_last_under_its_own_name(tmp_path: Path) -> None:
    """A new section or page is on the site before anybody has placed it."""
    write(tmp_path, "faq.md", "errors.md", "zoo/a.md")

    assert navigation.navigation(tmp_path) == [{"Errors": "errors.md"}, "faq.md", {"zoo": ["zoo/a.md"]}]


def test_folders_without_pages_are_no_sections(tmp_path: Path) -> None:
    """Pictures and scripts have no place in the navigation."""
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "a.png").write_bytes(b"")

    assert navigation.navigation(tmp_path) == []
