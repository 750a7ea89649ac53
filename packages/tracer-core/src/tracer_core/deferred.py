"""What `tracer.future` and `tracer.result()` stand on: a future that ends with a block's saved names.

    with Tracer(ExecutorBackend(pool, wait=False)) as tracer:
        page = save(fetch(url))
    ...
    tracer.result().page

An executor answers with an `Ending` (the block stayed in this process) or an `Outcome` (it came back from another one),
or with an error of its own.  `BlockFuture` turns all three into saved names or the exception a user should see.
"""

from __future__ import annotations

import concurrent.futures
from concurrent.futures import BrokenExecutor, CancelledError, Future
from typing import NamedTuple

from tracer_core.failures import BlockCancelled, BlockTimeout, NotPortable, WorkerDied
from tracer_core.outcomes import Outcome
from tracer_core.results import Saved


class Ending(NamedTuple):
    """How a block ended: what it saved, and the exception that ended it, if one did."""

    saved: Saved
    error: BaseException | None = None


class BlockFuture(Future[Saved]):
    """The future of a block: done when the executor's own future is, and cancelled by cancelling that."""

    def __init__(self, submitted: Future[Ending | Outcome], where: str) -> None:
        """Follow `submitted`, the executor's future of the block at `where`."""
        super().__init__()
        self.where = where
        self.saved = Saved()
        self._submitted = submitted
        submitted.add_done_callback(self._finish)

    def cancel(self) -> bool:
        """Cancel the block if it has not started, and return whether it is cancelled."""
        return self._submitted.cancel()

    def running(self) -> bool:
        """Return whether the block is running now."""
        return self._submitted.running()

    def _finish(self, submitted: Future[Ending | Outcome]) -> None:
        if submitted.cancelled():
            super().cancel()
            self.set_running_or_notify_cancel()
            return
        try:
            self.saved, error = _ending(submitted.result())
        except BrokenExecutor as broken:
            error = WorkerDied(self.where, broken)
        except Exception as raised:
            error = _not_portable_in(raised) or raised
        if error is None:
            self.set_result(self.saved)
        else:
            self.set_exception(error)

    def outcome(self, timeout: float | None) -> Saved:
        """Wait, and return the saved names; like `result`, with the errors of this package.

        Args:
            timeout: seconds to wait at most; None waits as long as it takes.

        Raises:
            BlockTimeout: the block is not done in time.
            BlockCancelled: the block was cancelled.
            WorkerDied: the executor lost the worker that ran the block.
            NotPortable: a value could not travel to the other process or back.
        """
        try:
            error = self.exception(timeout)
        except CancelledError:
            raise BlockCancelled(self.where) from None
        # Not a TimeoutError that the block itself raised: that one is the value of `exception`. 3.10 has two classes.
        except (TimeoutError, concurrent.futures.TimeoutError):
            raise BlockTimeout(self.where, timeout) from None
        if error is not None:
            raise error
        return self.saved


def _ending(answer: Ending | Outcome) -> Ending:
    return Ending(answer.saved(), answer.error()) if isinstance(answer, Outcome) else answer


def _not_portable_in(error: BaseException | None) -> NotPortable | None:
    """Return the `NotPortable` behind `error`: some executors wrap what pickling raised in an error of their own."""
    while error is not None and not isinstance(error, NotPortable):
        error = error.__cause__ or error.__context__
    return error
