"""What a block asks for, `h = model.transformer.h[0].output`: one request, which stays as its line in the receipt."""

from __future__ import annotations

import sys
from enum import Enum
from pathlib import Path

_PACKAGE = str(Path(__file__).parents[1])


class Kind(str, Enum):
    """What a request wants done at its place."""

    READ = "read"
    LOOK = "look"
    """A read on the way to what was asked for: what a write replaces a part of, a call that is drilled. Not in the receipt."""
    EDIT = "edit"
    """What was read and then changed in place."""
    WRITE = "write"
    SKIP = "skip"
    WAIT = "wait"
    BARRIER = "barrier"


class Request:
    """One request of one block. Holds no value: it outlives the run in the receipt.

    Attributes:
        kind: what is wanted; a read becomes an edit when the block changes what it was served.
        location: path of the place.
        occurrence: which passing, from 0; None while it is the next one, whichever that is.
        worker: index of the block.
        rows: first row and number of rows of the block, None for the whole batch.
        is_served: whether the model came to the place.
        filename, line: where the user wrote it.
        seen: whether the model went on with it (edit, write, skip), or the block was served (read).
    """

    __slots__ = ("filename", "is_served", "kind", "line", "location", "occurrence", "rows", "seen", "worker")

    def __init__(
        self, kind: Kind, location: str, occurrence: int | None, worker: int, rows: tuple[int, int] | None
    ) -> None:
        self.kind = kind
        self.location = location
        self.occurrence = occurrence
        self.worker = worker
        self.rows = rows
        self.is_served = False
        self.seen = False
        frame = sys._getframe(1)
        while _ours[frame.f_code.co_filename] and frame.f_back is not None:
            frame = frame.f_back
        self.filename = frame.f_code.co_filename
        self.line = frame.f_lineno

    def __repr__(self) -> str:
        return f"<{self.kind.value} {self.location}.i{self.occurrence or 0} at {self.filename}:{self.line}>"


class _Ours(dict[str, bool]):
    """Whether a file belongs to this package: by name of the file, as long as the process, only ever added to."""

    def __missing__(self, filename: str) -> bool:
        ours = self[filename] = filename.startswith(_PACKAGE)
        return ours


_ours = _Ours()
