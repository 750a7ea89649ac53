"""Edits on a copy or a view, from `attn.attention_output[:, 0] = 0` where the value is not the model's own tensor.

A stub that serves a copy (so that what was saved does not change later) or a reshaped view hands out something that the
model does not look at. Its `transform` carries the edits back. The view is held with its worker and written back as the
worker moves on: before its next request and at the end of its block. A second read in between is answered with the
view that is held, so that two edits in a row meet the same tensor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from interp_components.interleaving import Kind, Location, Worker
from interp_components.interleaving.workers import changes


class WriteBack:
    """One held view, tagged with the descriptor, the location and the occurrence that it was read at.

    Args:
        descriptor: the value that was read.
        worker: the block that holds the view.
        location: where the value was served.
        occurrence: which passing of the location served it.
        view: what the block was given.
        carry_back: writes what became of the view; called once.
    """

    def __init__(
        self,
        descriptor: object,
        worker: Worker,
        location: Location,
        occurrence: int,
        view: Any,  # Any: whatever the stub makes of what is served
        carry_back: Callable[[], None],
    ) -> None:
        self._descriptor = descriptor
        self._worker = worker
        self._location = location
        self._occurrence = occurrence
        self._carry_back = carry_back
        self._read_at = len(worker.run.requests) - 1
        self._changes = changes(view)
        self.view = view

    @staticmethod
    def held_by(worker: Worker) -> WriteBack | None:
        """Return the view that the worker holds now."""
        held: WriteBack | None = worker.notes.get(WriteBack)
        return held

    def hold(self) -> None:
        """Keep the view with its worker until the worker moves on."""
        self._worker.notes[WriteBack] = self
        self._worker.hold(self)

    def answers(self, descriptor: object, location: Location, occurrence: int) -> bool:
        """Return whether a read of this value, here and now, is a read of the held view."""
        return descriptor is self._descriptor and location is self._location and occurrence == self._occurrence

    def flush(self) -> None:
        """Carry the edits back into the passing that served the view; the receipt tells of one edit, where it was read."""
        self._worker.notes.pop(WriteBack, None)
        requests = self._worker.run.requests
        first = len(requests)
        with self._worker.pinned(self._occurrence):
            self._carry_back()
        carried = requests[-1]
        del requests[first:]
        if changes(self.view) != self._changes:
            read = requests[self._read_at]
            carried.kind, carried.filename, carried.line = Kind.EDIT, read.filename, read.line
            requests[self._read_at] = carried
