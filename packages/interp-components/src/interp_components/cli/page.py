"""Answers as one HTML page that needs nothing else. Texts are escaped, so that markup in a prompt is shown as text."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from interp_components.cli.answers import Answer, Cell, Table
from interp_components.demo import markup


def page(answer: Answer) -> str:
    """The page of an answer."""
    if answer.page is not None:
        return answer.page
    return markup.document(answer.title, _sections(answer))


def _sections(answer: Answer) -> Iterator[str]:
    yield f"<h1>{escape(answer.title)}</h1>"
    for block in answer.blocks:
        if isinstance(block, str):
            yield "".join(f"<p>{escape(line)}</p>" for line in block.splitlines())
        elif isinstance(block, Table):
            yield _table(block)
        else:
            pictures = "".join(map(markup.picture, block.drawn))
            yield f"<p>{escape(block.note)}</p><div class='pictures'>{pictures}</div>"


def _table(table: Table) -> str:
    head = "".join(f"<th>{escape(column)}</th>" for column in table.columns)
    return markup.table(("".join(map(_cell, row)) for row in table.rows), f"<tr>{head}</tr>" if head else "")


def _cell(cell: Cell) -> str:
    return markup.cell(cell.share or 0, cell.text, cell.more, cell.mark if cell.share is None else "text")
