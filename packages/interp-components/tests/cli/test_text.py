"""Answers as plain text."""

from __future__ import annotations

from interp_components.cli.answers import Answer, Cell, Table
from interp_components.cli.text import text


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    """Numbers stand on the right, and no line ends in spaces."""
    table = Table([(Cell("a"), Cell("10")), (Cell("long"), Cell("9"))], ("x", "n"), frozenset({1}))

    assert text(Answer("title", {}, ["two\nlines", table])) == ("title\n\ntwo\nlines\n\nx      n\na     10\nlong   9")


def test_a_table_without_rows_is_its_headings() -> None:
    """Nothing is measured that is not there."""
    assert text(Answer("title", {}, [Table([], ("x", "n"))])) == "title\n\nx  n"
