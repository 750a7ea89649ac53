"""Answers as plain text: one line for each row, as wide as it is, for pipes and where rich is not installed."""

from __future__ import annotations

from collections.abc import Iterator

from interp_components.cli.answers import Answer, Table


def text(answer: Answer) -> str:
    """The blocks, one below the other; pictures are for pages alone."""
    parts = [answer.title]
    for block in answer.blocks:
        if isinstance(block, str):
            parts.append(block)
        elif isinstance(block, Table):
            parts.append("\n".join(_lines(block)))
    return "\n\n".join(parts)


def _lines(table: Table) -> Iterator[str]:
    rows = [[cell.text for cell in row] for row in table.rows]
    if table.columns:
        rows.insert(0, list(table.columns))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (
            f"{cell:>{width}}" if number in table.numbers else f"{cell:<{width}}"
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join(cells).rstrip()
