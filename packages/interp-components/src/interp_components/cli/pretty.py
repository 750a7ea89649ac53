"""Answers for a terminal, by rich: colours, and tables as wide as the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from interp_components.cli.answers import Answer, Cell, Mark, Table

_STYLES: dict[Mark, str] = {"plain": "", "good": "green", "bad": "bold red", "faint": "dim", "label": "cyan"}
_GAP = 2
"""Columns of the terminal between two columns of a table."""


def show(answer: Answer, console: Console) -> None:
    """Print the blocks; pictures are for pages alone.

    Texts go to rich as `Text`, so that a token such as `[bold]` is no markup.
    """
    console.print(Text(answer.title, style="bold"))
    for block in answer.blocks:
        if isinstance(block, str):
            console.print(Text(f"\n{block}", style="dim"))
        elif isinstance(block, Table):
            for piece in _pieces(block, console.width):
                console.print()
                console.print(_rendered(piece))


def _rendered(table: Table) -> RichTable:
    # The box puts one space between columns, and the padding the others.
    made = RichTable(box=box.SIMPLE_HEAD, show_header=bool(table.columns), show_edge=False, padding=(0, _GAP - 1, 0, 0))
    for number in range(len(table.rows[0])):
        heading = Text(table.columns[number]) if table.columns else ""
        made.add_column(heading, justify="right" if number in table.numbers else "left", overflow="fold")
    for row in table.rows:
        made.add_row(*(Text(cell.text, style=_style(cell)) for cell in row))
    return made


def _style(cell: Cell) -> str:
    if cell.share is None:
        return _STYLES[cell.mark]
    return "bold green" if cell.share >= 0.5 else "" if cell.share >= 0.1 else "dim"


def _pieces(table: Table, width: int) -> Iterator[Table]:
    """The table, or where that is wider than the terminal, pieces of it that begin with the repeated columns."""
    if not table.repeated:
        yield table
        return
    columns = zip(table.columns, *([cell.text for cell in row] for row in table.rows), strict=True)
    widths = [max(map(cell_len, column)) + _GAP for column in columns]
    head = range(table.repeated)
    room = width - sum(widths[at] for at in head)
    taken: list[int] = []
    for at in range(table.repeated, len(widths)):
        if taken and sum(widths[each] for each in taken) + widths[at] > room:
            yield _part(table, [*head, *taken])
            taken = []
        taken.append(at)
    yield _part(table, [*head, *taken])


def _part(table: Table, chosen: list[int]) -> Table:
    """Some columns of a table."""
    numbers = frozenset(place for place, at in enumerate(chosen) if at in table.numbers)
    rows = [[row[at] for at in chosen] for row in table.rows]
    return Table(rows, [table.columns[at] for at in chosen], numbers)
