"""Greenlets that blocks run in, kept for the next block: a new one costs 40 us in place, a kept one 0.3."""

from __future__ import annotations

import sys
import threading
from collections import deque
from contextvars import copy_context
from typing import TYPE_CHECKING

from greenlet import (  # type: ignore[import-untyped]  # greenlet ships no types
    GreenletExit,
    getcurrent,
    greenlet,
)

if TYPE_CHECKING:
    from interp_components.interleaving.workers import Worker

_KEPT_PER_THREAD = 64


class Seat(greenlet):  # type: ignore[misc]  # as above
    """A greenlet that runs one block after the other and is parked in between."""

    worker: Worker | None = None

    def assign(self, worker: Worker) -> None:
        """Run the block of `worker` when it is next switched to; then go to where its model runs."""
        self.worker = worker
        self.gr_context = copy_context()

    def run(self) -> None:
        """Block after block, for the life of the thread or until there are seats enough."""
        kept = _seats.kept
        while True:
            if sys.version_info < (3, 12):
                _follow_tracing()
            assert self.worker is not None
            self.worker.run_block()
            go_on = self.worker.run.main.switch  # now: the block of another worker may have called a module meanwhile
            self.worker = None
            kept.append(self)
            go_on()


def _follow_tracing() -> None:
    """Let a debugger or profiler that was started after this greenlet was made see the block.

    CPython 3.10 and 3.11 keep "is anything tracing" per C frame, so a greenlet parked before does not notice.
    """
    if (trace := sys.gettrace()) is not None:
        sys.settrace(trace)
    if (profile := sys.getprofile()) is not None:
        sys.setprofile(profile)


class _Seats(threading.local):
    """Parked seats of this thread, the last few; a greenlet cannot leave its thread."""

    def __init__(self) -> None:
        self.kept: deque[Seat] = deque(maxlen=_KEPT_PER_THREAD)


_seats = _Seats()


def take() -> Seat:
    """A seat of this thread, parked or new."""
    return _seats.kept.pop() if _seats.kept else Seat()


__all__ = ["GreenletExit", "Seat", "getcurrent", "greenlet", "take"]
