"""Where what a block saved on an executor is asked for: `tracer.future` and `tracer.result()`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracer_core import errors, tracebacks

if TYPE_CHECKING:
    from tracer_core.deferred import BlockFuture
    from tracer_core.results import Saved


class Deferrable:
    """The part of a tracer that knows of the executor."""

    future: BlockFuture | None = None
    """The future of the block, once an `ExecutorBackend` has handed it over."""

    def result(self, timeout: float | None = None) -> Saved:
        """Wait for a block that an executor runs, and return the names it saved.

        What the block raised is raised here, with the lines of the block in its traceback.

        Args:
            timeout: seconds to wait at most; None waits as long as it takes.

        Raises:
            TracerError: the block was not handed to an executor.
            BlockTimeout: the block is not done in time; it goes on running, and one may ask again.
            BlockCancelled: the block was cancelled before it started.
            WorkerDied: the executor lost the worker that ran the block.
            NotPortable: a value could not travel to the other process or back.
        """
        if self.future is None:
            raise errors.TracerError(
                "result() was asked for, but no executor has the block: names that an in-place block saves are bound "
                "where it stands. Trace with Tracer(ExecutorBackend(executor)), or call tracer.block()."
            )
        try:
            return self.future.outcome(timeout)
        except BaseException as error:
            error.__traceback__ = tracebacks.visible(error.__traceback__)
            raise
