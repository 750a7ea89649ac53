"""A location in one run: how often it was passed, who waits for it, what is passing now."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from torch import Tensor

from interp_components.errors import RowsError
from interp_components.interleaving import mismatches
from interp_components.interleaving.requests import Request
from interp_components.interleaving.rows import join
from interp_components.interleaving.seats import getcurrent

if TYPE_CHECKING:
    from interp_components.interleaving.locations import Location
    from interp_components.interleaving.runs import Run
    from interp_components.interleaving.workers import Worker


class Skipped:
    """Answer of a place in front of a call: do not call, go on with `value`."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class Place:
    """One location in one run; making it lets the model report there for the rest of the run.

    Attributes:
        count: how often the model has passed it; for a module where forwards are steps, in how many steps.
        is_counted: whether `count` is known. A place first asked for while the model runs may have been passed unseen;
            its count is then set at the next passing, to the number of forwards completed by then.
        value: what is passing now.
        waiting: the blocks parked here, by index.
        watchers: called with the value the model goes on with, after all blocks (caches).
    """

    __slots__ = ("_skips", "_written", "count", "is_counted", "location", "run", "value", "waiting", "watchers")

    def __init__(self, run: Run, location: Location) -> None:
        self.run = run
        self.location = location
        self.count = 0
        self.is_counted = not run.has_started
        self.value: Any = None
        self.waiting: dict[int, Worker] = {}
        self.watchers: list[Callable[[Any], None]] = []
        self._skips: list[tuple[Worker, Any]] = []
        self._written: dict[int, Request] = {}
        run.places[location] = self
        location.attach(run)

    def report(self, value: Any) -> Any:
        """Serve everyone who waits for this passing, when it is one of the run; returns what the model goes on with.

        Does nothing in other threads, in calls that a block makes itself and in inner runs.
        """
        return self.pass_by(value) if getcurrent() is self.run.main else value

    def pass_by(self, value: Any) -> Any:
        """The same for a caller who knows that it is a passing of the run."""
        run = self.run
        if not self.is_counted:
            self.is_counted = True
            if self.count < run.forwards:
                self.count = run.forwards
        if self.waiting:
            outer, run.visiting, self.value = run.visiting, self, value
            try:
                run.serve(self.waiting, self.count)
                value = self._skipped() if self._skips else self.value
            finally:
                run.visiting, self.value = outer, None
                if self._written:
                    self._written = {}
        if self.watchers:
            self._show(value)
        self.count += 1
        if run.stopping is not None:
            raise run.stopping
        return value

    def _show(self, value: Any) -> None:
        for watcher in self.watchers:
            watcher(value.value if type(value) is Skipped else value)

    def write(self, worker: Worker, value: Any, request: Request) -> None:
        """Let the model go on with `value` in the worker's rows."""
        served, written = self.value, self._written
        self.value = value if worker.rows is None else worker.rows.widen(served, value, self.location.path)
        is_alike = type(value) is Tensor and type(served) is Tensor and value.shape == served.shape
        if not is_alike and (mismatch := mismatches.note(request, served, self.value)) is not None:
            self.run.mismatches.append(mismatch)
        if worker.index in written:
            written[worker.index].seen = False
        written[worker.index] = request
        request.seen = True

    def skip(self, worker: Worker, value: Any, request: Request) -> None:
        """Let the model go on without the call, with `value` as what it returned in the worker's rows."""
        self._skips.append((worker, value))
        request.seen = True

    def _skipped(self) -> Skipped:
        """The value in place of the call, put together from the blocks that skip it."""
        skips, self._skips = self._skips, []
        worker, value = skips[-1]
        if worker.rows is None:
            return Skipped(value)
        batch = worker.rows.batch
        parts = {skipper.rows: part for skipper, part in skips if skipper.rows is not None}
        rows = sorted(parts, key=lambda one: one.start)
        if sum(one.size for one in rows) != batch.total:
            have = ", ".join(f"{one.start}-{one.start + one.size - 1}" for one in rows)
            raise RowsError(
                f"{self.location.path} was skipped for rows {have} of {batch.total} only. The call is one for the whole "
                f"batch, so a skip has to cover every row: skip in every invoke, or in one empty `invoke()`."
            )
        return Skipped(join([parts[one] for one in rows]))
