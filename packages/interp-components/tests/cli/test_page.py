"""Answers as a page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from interp_components.cli import attention
from interp_components.cli.answers import Answer, Cell, Table
from interp_components.cli.page import page

from .ran import Interp

SCRIPT = "<script>alert('&')</script>"


@pytest.mark.parametrize("command", ["lens", "attention"])
def test_markup_in_a_prompt_is_shown_as_text(interp: Interp, command: str, llama_folder: str, tmp_path: Path) -> None:
    """Neither the prompt nor its tokens become part of the page, which needs nothing from elsewhere."""
    file = tmp_path / "page.html"
    interp(command, llama_folder, SCRIPT, "--html", str(file))
    written = file.read_text(encoding="utf-8")

    assert "<script" not in written
    assert "&lt;script&gt;" in written
    assert re.findall(r"https?:|src=|<link|@import|url\(", written) == []


def test_every_part_of_a_table_is_escaped() -> None:
    """Title, paragraph, heading, cell and what shows on hover."""
    written = page(Answer("<b>1", {}, ["<b>2", Table([[Cell("<b>3", more="'><b>4")]], ("<b>5",))]))

    assert "<b>" not in written
    assert set(re.findall(r"&lt;b&gt;(\d)", written)) == set("12345")


def test_every_head_that_is_listed_has_its_picture(interp: Interp, tmp_path: Path) -> None:
    """A square for each pair of tokens."""
    file = tmp_path / "page.html"
    interp("attention", "toy", "Emma went", "--layer", "1", "--html", str(file))

    assert len(re.findall(r"<td class='cell'", file.read_text(encoding="utf-8"))) == 4 * 2 * 2


def test_a_page_holds_no_more_squares_than_a_browser_draws(
    interp: Interp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The heads that are listed first have their pictures, and the page says how to see others."""
    monkeypatch.setattr(attention, "SQUARES", 9)
    file = tmp_path / "page.html"
    interp("attention", "toy", "Emma went", "--html", str(file))
    written = file.read_text(encoding="utf-8")

    assert len(re.findall(r"<td class='cell'", written)) == 2 * 2 * 2
    assert "The first 2 of 16 heads are drawn; --layer and --sort choose others." in written
