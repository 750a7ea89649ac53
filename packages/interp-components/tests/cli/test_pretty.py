"""Answers for a terminal."""

from __future__ import annotations

import io
import sys

import pytest
from rich.console import Console

from interp_components.cli import pretty
from interp_components.cli.answers import Answer, Block, Cell, Table
from interp_components.cli.program import main


def printed(*blocks: Block, width: int = 80, colour: bool = False) -> str:
    file = io.StringIO()
    system = "truecolor" if colour else None
    pretty.show(
        Answer("title", {}, blocks), Console(file=file, width=width, force_terminal=colour, color_system=system)
    )
    return file.getvalue()


def test_a_text_is_no_markup_of_the_terminal() -> None:
    """A token such as `[bold]` is shown as it is, in a cell, a heading and a paragraph."""
    shown = printed("[bold]", Table([[Cell("[red]")]], ("[dim]",)))

    assert [line.strip() for line in shown.splitlines() if "[" in line] == ["[bold]", "[dim]", "[red]"]


def test_a_table_that_is_too_wide_comes_in_pieces() -> None:
    """Each begins with the repeated columns, and fits."""
    cells = [Cell(f"token {number}") for number in range(6)]
    table = Table([[Cell("0"), *cells]], ["layer", *(f"column {number}" for number in range(6))], repeated=1)
    lines = printed(table, width=40).splitlines()

    assert [line.split()[::2] for line in lines if "column" in line] == [["layer", *"012"], ["layer", *"345"]]
    assert max(map(len, lines)) <= 40


def test_a_cell_wider_than_the_terminal_is_wrapped() -> None:
    """Nothing is cut off."""
    shown = printed(Table([[Cell("a"), Cell("x" * 50)]], ("layer", "token"), repeated=1), width=20)

    assert shown.count("x") == 50


def test_a_strong_share_stands_out() -> None:
    """And a weak one steps back."""
    shown = printed(Table([[Cell("strong", share=0.9), Cell("weak", share=0.01)]]), colour=True)

    assert "\x1b[1;32mstrong" in shown
    assert "\x1b[2mweak" in shown


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """An environment as of a terminal, without wishes about colour."""
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("FORCE_COLOR", "1")
    return monkeypatch


def test_a_terminal_is_answered_in_colour(terminal: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """`FORCE_COLOR` stands in for the terminal."""
    main(["source", "toy", "lm_head"])

    assert "\x1b[36m" in capsys.readouterr().out


def test_no_color_is_respected(terminal: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """No code for a colour is printed."""
    terminal.setenv("NO_COLOR", "1")
    main(["source", "toy", "lm_head"])

    assert "\x1b[36m" not in capsys.readouterr().out


def test_what_a_demo_has_told_is_not_said_again(
    terminal: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing comes after its last line, in a terminal as in a pipe."""
    main(["demo", "toy"])

    assert capsys.readouterr().out.endswith(" s in all.\n")


def test_without_rich_it_is_plain_text(terminal: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The command does not need it."""
    terminal.setitem(sys.modules, "rich", None)
    terminal.delitem(sys.modules, "interp_components.cli.pretty")
    main(["source", "toy", "lm_head"])
    printed = capsys.readouterr().out

    assert printed.startswith("toy: model.lm_head.source, ")
    assert "\x1b" not in printed
