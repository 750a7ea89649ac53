"""A block on its way through an executor, and the future that ends with the names it saved.

    with Tracer(ExecutorBackend(pool, wait=False)) as tracer:
        page = save(fetch(url))
    ...
    tracer.result().page

`submit` hands a `Work` to the executor.  It runs the block where it is called, and turns into a `PortableBlock` where it
is pickled instead.  So the answer is an `Ending` (the block stayed in this process) or an `Outcome` (it came back from
another one), or the executor has an error of its own; `BlockFuture` makes one thing of the three.
"""

from __future__ import annotations

import concurrent.futures
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from contextvars import copy_context
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

from tracer_core.errors import TracerError
from tracer_core.failures import BlockCancelled, BlockTimeout, ExecutorShutDown, NotPortable, WorkerDied
from tracer_core.outcomes import Outcome
from tracer_core.portable import PortableBlock
from tracer_core.recipe import complete
from tracer_core.results import Saved

if TYPE_CHECKING:
    from tracer_core.block import Block
    from tracer_core.tracer import Tracer


class Ending(NamedTuple):
    """How a block ended in this process: what it saved, and the exception that ended it, if one did."""

    saved: Saved
    error: Exception | None


class Work:
    """A block to be called once by an executor, in the context (context variables) of whoever made this."""

    def __init__(self, block: Block, shares: bool) -> None:
        """Take a block; it runs on the caller's names (`shares`) or on what they are bound to now."""
        self.block = block
        self.values = None if shares else block.values()
        self.context = copy_context()
        self.refused: TracerError | None = None

    def __call__(self) -> Ending:
        """Run the block in this thread and return how it ended."""
        return self.context.run(self._run)

    def _run(self) -> Ending:
        run = self.block if self.values is None else self.block.apart(self.values)
        try:
            complete(run.run())
        except Exception as error:
            # Not kept in a variable: this frame is in the traceback of the error, and each would keep the other alive.
            return Ending(Saved(**run.saved()), error)
        return Ending(Saved(**run.saved()), None)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """Become a portable block that gives its outcome when it is called.

        What keeps it from that is remembered, since many an executor reports a failed pickling in words of its own.
        """
        try:
            return partial, (PortableBlock.outcome, PortableBlock.of(self.block, self.values))
        except TracerError as error:
            self.refused = error
            raise


class BlockFuture(Future[Saved]):
    """The future of a block: done when the executor's own future is, and cancelled by cancelling that."""

    def __init__(self, submitted: Future[Ending | Outcome], work: Work | None, where: str) -> None:
        """Follow `submitted`, the executor's future of `work`, the block at `where`."""
        super().__init__()
        self.where = where
        self.saved = Saved()
        self.came_back = False
        self._traceback: TracebackType | None = None
        self._submitted: Future[Ending | Outcome] | None = submitted
        self._work = work
        submitted.add_done_callback(self._finish)

    def cancel(self) -> bool:
        """Cancel the block if it has not started, and return whether it is cancelled."""
        submitted = self._submitted
        return self.cancelled() if submitted is None else submitted.cancel()

    def running(self) -> bool:
        """Return whether the block is running now."""
        submitted = self._submitted
        return submitted is not None and submitted.running()

    def _finish(self, submitted: Future[Ending | Outcome]) -> None:
        # The executor's future keeps its callbacks, so each would keep the other alive.
        self._submitted = None
        if submitted.cancelled():
            super().cancel()
            self.set_running_or_notify_cancel()
            return
        error = submitted.exception()
        if error is None:
            error = self._take(submitted.result())
        elif self._work is not None and self._work.refused is not None:
            error = self._work.refused
        elif isinstance(error, BrokenExecutor):
            error = WorkerDied(self.where, error)
        self._work = None
        if error is None:
            self.set_result(self.saved)
        else:
            self._traceback = error.__traceback__
            self.set_exception(error)

    def _take(self, answer: Ending | Outcome) -> BaseException | None:
        """Keep what the block saved and return what it raised."""
        if isinstance(answer, Ending):
            self.saved = answer.saved
            return answer.error
        self.came_back = True
        try:
            self.saved = answer.saved()
            return answer.error()
        except NotPortable as error:
            return error

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
            # The same exception is raised each time somebody asks, so what an earlier time added is dropped.
            raise error.with_traceback(self._traceback)
        return self.saved


def submit(block: Block, executor: Executor, *, shares: bool, ships: bool) -> BlockFuture:
    """Hand `block` to `executor`.

    Args:
        block: the block.
        executor: what runs it.
        shares: whether it runs on the caller's names, if it stays in this process.
        ships: whether it is packed now, and not only if the executor pickles it.

    Raises:
        ExecutorShutDown: the executor takes no more work.
        WorkerDied: the executor is broken already.
        NotPortable: the executor pickles at once, and a value cannot travel.
    """
    where = f"{block.filename}:{block.first_line}"
    work = None if ships else Work(block, shares)
    try:
        return BlockFuture(executor.submit(work or PortableBlock.of(block).outcome), work, where)
    except Exception as said:
        if work is not None and work.refused is not None:
            raise work.refused from None
        if isinstance(said, BrokenExecutor):
            raise WorkerDied(where, said) from None
        if type(said) is RuntimeError:
            raise ExecutorShutDown(where, executor, said) from None
        raise


def finish(tracer: Tracer, future: BlockFuture, timeout: float | None) -> None:
    """Wait for the block and bind what it saved for the caller, also when it raised half-way.

    After a timeout nothing is bound: the block is still running.
    """
    try:
        future.outcome(timeout)
    finally:
        if future.came_back:
            tracer.block.take(future.saved)
        if future.done():
            tracer.write_back()


async def finish_later(tracer: Tracer, future: BlockFuture, timeout: float | None) -> None:
    """Wait for the block without blocking the event loop, then do as `finish`."""
    import asyncio

    done = asyncio.wrap_future(future)
    await asyncio.wait([done], timeout=timeout)
    if not done.done():
        raise BlockTimeout(future.where, timeout)
    if not done.cancelled():
        done.exception()  # asked for, so that asyncio does not complain: `finish` raises it
    finish(tracer, future, None)
