"""What "run the block" means: the protocol, in place, and on an executor.

    with Tracer(ExecutorBackend(pool)):
        ...

A backend is called with the tracer when the `with` statement ends, and is free to run the block now, later, elsewhere,
more than once or not at all.  So a backend of one's own is a function of one argument.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from tracer_core.tracer import Tracer


class Backend(Protocol):
    """Decides when, where and how often a captured block runs."""

    def __call__(self, tracer: Tracer, /) -> Any:
        """Run `tracer.execute()`, now, later or never.

        For an `async with`, what this returns is awaited if it can be.
        """


class InPlaceBackend:
    """Runs the block once, where it was written, when the `with` statement ends."""

    def __call__(self, tracer: Tracer, /) -> Any:
        """Run the block and return what `execute` returns: None, or for an `async with` the coroutine of the block."""
        return tracer.execute()


class ExecutorBackend:
    """Runs the block on an executor: any object with the `submit` of `concurrent.futures.Executor`.

    An executor that stays in this process (threads) runs the block on the caller's own values.  One that does not
    (processes, other machines) pickles what it is given; the block then goes as a `PortableBlock`, with copies of the
    values it reads, and the names it saves come back as copies.  Nobody has to tell which one it is: the block
    notices being pickled.

    Args:
        executor: what runs the block; opened and shut down by the caller.
        wait: True lets the `with` statement end when the block has ended, with the saved names bound as always.  False
            lets it end at once; nothing is bound, `tracer.result()` gives the saved names.  The block then has the
            names as they were at the `with`, whatever the caller binds afterwards.
        timeout: seconds that the `with` statement waits at most; None waits as long as it takes.
        ships: None leaves it to the executor.  True packs the block at the `with`, so that later changes to the
            objects it reads do not travel, and a value that cannot travel is an error there and not at the result.
    """

    def __init__(
        self, executor: Executor, wait: bool = True, timeout: float | None = None, *, ships: bool | None = None
    ) -> None:
        self.executor = executor
        self.wait = wait
        self.timeout = timeout
        self.ships = ships

    def __call__(self, tracer: Tracer, /) -> Coroutine[Any, Any, None] | None:
        """Hand the block over, and wait for it if that is wanted; for an `async with`, without blocking the loop.

        Raises:
            BlockTimeout: the block is not done in time; it goes on running.
            ExecutorShutDown: the executor takes no more work.
            WorkerDied: the executor lost the worker that ran the block.
            NotPortable: a value could not travel to the other process or back.
        """
        # Imported here, since concurrent.futures takes longer than all of this package, and who gets here has it.
        from tracer_core import deferred

        future = deferred.submit(tracer.block, self.executor, shares=self.wait, ships=bool(self.ships))
        tracer.future = future
        if not self.wait:
            return None
        if tracer.block.is_async:
            return deferred.finish_later(tracer, future, self.timeout)
        deferred.finish(tracer, future, self.timeout)
        return None
