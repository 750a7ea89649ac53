"""`tracer.receipt`: what a trace asked for and whether the model went on with it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import overload

from interp_components.interleaving.requests import Kind, Request

_LISTED = (Kind.READ, Kind.EDIT, Kind.WRITE, Kind.SKIP)


class Receipt(Sequence[Request]):
    """The reads, edits, writes and skips of a run, in the order in which they were asked for; prints as a table.

    A change in place is told by torch's count of changes, which `tensor.data` and inference tensors do without.
    """

    def __init__(self, requests: Iterable[Request]) -> None:
        self._entries = [request for request in requests if request.kind in _LISTED]

    @property
    def without_effect(self) -> list[Request]:
        """The edits, writes and skips that the model never went on with."""
        return [entry for entry in self._entries if entry.kind is not Kind.READ and not entry.seen]

    @overload
    def __getitem__(self, index: int) -> Request: ...
    @overload
    def __getitem__(self, index: slice) -> list[Request]: ...
    def __getitem__(self, index: int | slice) -> Request | list[Request]:
        """The entry at a place, the entries of a slice."""
        return self._entries[index]

    def __len__(self) -> int:
        """How many entries there are."""
        return len(self._entries)

    def __repr__(self) -> str:
        """The table."""
        head = ("kind", "location", "occurrence", "rows", "line", "seen")
        table = [head, *(_cells(entry) for entry in self._entries)]
        widths = [max(len(row[column]) for row in table) for column in range(len(head))]
        return "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table
        )


def _cells(entry: Request) -> tuple[str, ...]:
    rows = "all" if entry.rows is None else f"{entry.rows[0]}-{entry.rows[0] + entry.rows[1] - 1}"
    occurrence = "" if entry.occurrence is None else str(entry.occurrence)
    line = f"{Path(entry.filename).name}:{entry.line}"
    return entry.kind.value, entry.location, occurrence, rows, line, "yes" if entry.seen else "no"
