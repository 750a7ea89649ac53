"""Greenlets that blocks run in, kept for the next block: a new one costs 40 us in place, a kept one 0.3.

torch records the C stack for each of its errors. A greenlet's stack has no end: above its own part is whatever the rest
of the thread has there by now, and who reads that as a stack can end the process. So a block runs on top of more C
frames than torch walks. Under `TORCH_SHOW_CPP_STACKTRACES=1` it walks all there are, which nothing here can bound.
"""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from contextvars import copy_context
from itertools import chain, starmap
from typing import TYPE_CHECKING

from greenlet import (  # type: ignore[import-untyped]  # greenlet ships no types
    GreenletExit,
    getcurrent,
    greenlet,
)

if TYPE_CHECKING:
    from interp_components.interleaving.workers import Worker

_KEPT_PER_THREAD = 64
# Source: get_lazy_backtrace in c10/util/Backtrace.h, torch 2.13. It skips frames of its own on top of these.
_WALKED = 64


def on_deep_stack(run: Callable[[], object]) -> None:
    """Call `run` on top of as many C frames as torch walks: each `chain` that asks the next one is a frame of 40 bytes."""
    called: Iterator[object] = starmap(run, [()])
    for _ in range(_WALKED):
        called = chain(called)
    next(called)


class Seat(greenlet):  # type: ignore[misc]  # as above
    """A greenlet that runs one block after the other and is parked in between."""

    worker: Worker | None = None

    def run(self) -> None:
        """What greenlet calls."""
        on_deep_stack(self._run_blocks)

    def _run_blocks(self) -> None:
        """Block after block, for the life of the thread or until there are seats enough."""
        kept = _seats.kept
        while True:
            if sys.version_info < (3, 12):
                # CPython 3.10 and 3.11 keep "is anything tracing" per C frame, so a greenlet that was parked before a
                # debugger or profiler was started does not notice.
                if (trace := sys.gettrace()) is not None:
                    sys.settrace(trace)
                if (profile := sys.getprofile()) is not None:
                    sys.setprofile(profile)
            assert self.worker is not None
            self.worker.run_block()
            go_on = self.worker.run.main.switch  # now: the block of another worker may have called a module meanwhile
            self.worker = None
            kept.append(self)
            go_on()


class _Seats(threading.local):
    """Parked seats of this thread, the last few; a greenlet cannot leave its thread."""

    def __init__(self) -> None:
        self.kept: deque[Seat] = deque(maxlen=_KEPT_PER_THREAD)


_seats = _Seats()


def take(worker: Worker) -> Seat:
    """A seat of this thread, parked or new: switched to, it runs the block of `worker`, then goes to where its model runs."""
    kept = _seats.kept
    seat = kept.pop() if kept else _new()
    seat.worker, seat.gr_context = worker, copy_context()
    return seat


def _new() -> Seat:
    if os.environ.get("TORCH_SHOW_CPP_STACKTRACES") == "1":
        warnings.warn(
            "TORCH_SHOW_CPP_STACKTRACES=1 lets torch walk the C stack of a block beyond its end, so that an error of torch "
            "inside a block can end the process. Unset it, or run the failing code outside of the trace.",
            stacklevel=2,
        )
    return Seat()


__all__ = ["GreenletExit", "Seat", "getcurrent", "greenlet", "on_deep_stack", "take"]
