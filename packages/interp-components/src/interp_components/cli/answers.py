"""What a command found, before it takes a form: facts for programs, blocks for people.

A form (`text`, `pretty`, `page`) knows blocks and no commands; a command knows no form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

from interp_components.demo.experiments import Picture
from interp_components.errors import InterpError

Mark: TypeAlias = Literal["plain", "good", "bad", "faint", "label"]


class CommandError(InterpError, ValueError):
    """What a command was asked for does not fit the model."""


class Cell(NamedTuple):
    """One cell of a table.

    Attributes:
        text: What stands in it.
        mark: What kind of thing that is.
        share: How strong it is, 0 to 1; None where it is no number.
        more: What a page shows on hover.
    """

    text: str
    mark: Mark = "plain"
    share: float | None = None
    more: str = ""


@dataclass(frozen=True)
class Table:
    """Rows of cells.

    Attributes:
        rows: The rows, all of one length.
        columns: What stands over the columns; nothing when empty.
        numbers: Which columns are numbers, and stand on the right.
        repeated: How many columns come again where a terminal is too narrow for all in one piece; 0 to wrap in the cells.
    """

    rows: Sequence[Sequence[Cell]]
    columns: Sequence[str] = ()
    numbers: frozenset[int] = frozenset()
    repeated: int = 0


@dataclass(frozen=True)
class Pictures:
    """What heads attend to, for pages alone.

    Attributes:
        drawn: One for each head.
        note: What stands above them.
    """

    drawn: Sequence[Picture]
    note: str


Block: TypeAlias = str | Table | Pictures


@dataclass(frozen=True)
class Answer:
    """What a command found.

    Attributes:
        title: What it is about, in a line.
        facts: What a program reads. Any: what JSON holds.
        blocks: What people read, in order; none where the command has said it already.
        has_fault: Whether a check failed.
        page: The page, where it is another than that of the blocks.
    """

    title: str
    facts: Mapping[str, Any]
    blocks: Sequence[Block] = ()
    has_fault: bool = False
    page: str | None = None


def percent(share: float) -> str:
    """A share for people: `3%`; what is not quite nothing or all does not look like it."""
    shown = f"{share:.0%}"
    return {"0%": "<1%" if share > 0 else shown, "100%": ">99%" if share < 1 else shown}.get(shown, shown)
