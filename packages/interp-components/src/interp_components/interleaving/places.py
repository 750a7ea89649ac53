"""A location in one run: how often it was passed, who waits for it, what is passing now."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from interp_components.errors import RowsError, StopRun
from interp_components.interleaving.requests import Request
from interp_components.interleaving.seats import getcurrent

if TYPE_CHECKING:
    from interp_components.interleaving.locations import Location
    from interp_components.interleaving.runs import Run
    from interp_components.interleaving.workers import Worker

# -1 outside of a backward pass. A forward that gradient checkpointing runs once more is no new occurrence.
_backward_id: Callable[[], int] = torch._C._current_graph_task_id


class Skipped:
    """Answer of a place in front of a call: do not call, go on with `value`."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class Place:
    """One location in one run.

    Attributes:
        count: how often the model has passed it.
        is_counted: whether `count` is known. A place first asked for while the model runs may have been passed unseen;
            its count is then set at the next passing, to the number of forwards completed by then.
        value: what is passing now.
        watchers: called with the value the model goes on with, after all blocks (caches).
    """

    __slots__ = ("_skips", "_written", "count", "is_counted", "location", "run", "value", "waiting", "watchers")

    def __init__(self, run: Run, location: Location, is_counted: bool) -> None:
        self.run = run
        self.location = location
        self.count = 0
        self.is_counted = is_counted
        self.value: Any = None
        self.waiting: list[Worker] = []
        self.watchers: list[Callable[[Any], None]] = []
        self._skips: list[tuple[Worker, Any]] = []
        self._written: list[Request] = []

    def report(self, value: Any) -> Any:
        """Serve everyone who waits for this passing; returns what the model goes on with.

        Does nothing in other threads, in calls that a block makes itself, in inner runs and in a backward pass: a run
        watches the one forward it started.
        """
        run = self.run
        if getcurrent() is not run.main or _backward_id() != -1:
            return value
        if not self.is_counted:
            self.count, self.is_counted = run.forwards, True
        try:
            if self.waiting:
                value = self._serve(value)
            if self.watchers:
                for watcher in self.watchers:
                    watcher(value.value if type(value) is Skipped else value)
        finally:
            self.count += 1
        return value

    def _serve(self, value: Any) -> Any:
        run = self.run
        outer, run.visiting = run.visiting, self
        self.value = value
        stop: StopRun | None = None
        try:
            while (worker := self._take_ready()) is not None:
                stop = self._resume(worker) or stop
            if stop is not None:
                raise stop
            return self._skipped() if self._skips else self.value
        finally:
            run.visiting = outer
            self.value = None
            self._skips.clear()
            self._written.clear()

    def _resume(self, worker: Worker) -> StopRun | None:
        """Let `worker` go on; returns its wish to stop, so that the others are served before the model is left."""
        try:
            self.run.resume(worker)
        except StopRun as wish:
            return wish
        return None

    def _take_ready(self) -> Worker | None:
        """The first worker, in the order of the blocks, that waits for this passing; it waits no longer."""
        ready = None
        for worker in self.waiting:
            wanted = worker.request.occurrence
            if (wanted is None or wanted == self.count) and (ready is None or worker.index < ready.index):
                ready = worker
        if ready is not None:
            self.waiting.remove(ready)
        return ready

    def write(self, worker: Worker, value: Any, request: Request) -> None:
        """Let the model go on with `value` in the worker's rows."""
        self.value = value if worker.rows is None else worker.rows.widen(self.value, value, self.location.path)
        for earlier in self._written:
            if earlier.worker == worker.index:
                earlier.seen = False
        self._written.append(request)
        request.seen = True

    def skip(self, worker: Worker, value: Any, request: Request) -> None:
        """Let the model go on without the call, with `value` as what it returned in the worker's rows."""
        self._skips.append((worker, value))
        request.seen = True

    def _skipped(self) -> Skipped:
        """The value in place of the call, put together from the blocks that skip it."""
        worker, value = self._skips[-1]
        if worker.rows is None:
            return Skipped(value)
        parts = {skipper.rows: part for skipper, part in self._skips if skipper.rows is not None}
        rows = sorted(parts, key=lambda one: one.start)
        if sum(one.size for one in rows) != worker.rows.batch.total:
            have = ", ".join(f"{one.start}-{one.start + one.size - 1}" for one in rows)
            raise RowsError(
                f"{self.location.path} was skipped for rows {have} of {worker.rows.batch.total} only. The call is one for "
                f"the whole batch, so a skip has to cover every row: skip in every invoke, or in one empty `invoke()`."
            )
        return Skipped(worker.rows.join([parts[one] for one in rows]))
