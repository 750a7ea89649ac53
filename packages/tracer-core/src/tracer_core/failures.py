"""Every error of a block that was handed to an executor, with its words.

The user writes `with Tracer(ExecutorBackend(pool)):` and the pool is shut down, a worker dies, time runs out or a
value cannot travel.  Each of these is a `TracerError` and also the error that `concurrent.futures` or `pickle`
raises in its place, so code that already handles those needs no change.

They are not in `errors` because their parents are not builtins: importing `concurrent.futures` takes longer than
importing all of tracer_core, and only who has an executor needs it.
"""

from __future__ import annotations

from concurrent.futures import BrokenExecutor, CancelledError
from pickle import PicklingError

from tracer_core.errors import TracerError


class BlockTimeout(TracerError, TimeoutError):
    """The block was not done within the time given; it goes on running."""

    def __init__(self, where: str, seconds: float | None) -> None:
        """Name the block and the time it was given, in seconds."""
        super().__init__(
            f"the block at {where} was not done within {seconds} s. It goes on running, since an executor cannot stop "
            f"what has started: tracer.result(timeout) waits again, tracer.future.cancel() drops it if it is still "
            f"queued."
        )


class BlockCancelled(TracerError, CancelledError):
    """The block was cancelled before it started, so nothing of it has run."""

    def __init__(self, where: str) -> None:
        """Name the block."""
        super().__init__(
            f"the block at {where} was cancelled before it started; nothing of it has run. Somebody called "
            f"tracer.future.cancel(), or shut the executor down with cancel_futures=True."
        )


class ExecutorShutDown(TracerError, RuntimeError):
    """The executor took no block, because it is shut down."""

    def __init__(self, where: str, executor: object, said: object) -> None:
        """Name the block, the executor and what it said."""
        super().__init__(
            f"the block at {where} was not run: {type(executor).__name__} takes no more work ({said}). Keep the "
            f"executor open as long as blocks are handed to it, for example by tracing inside its own with statement."
        )


class WorkerDied(TracerError, BrokenExecutor):
    """The worker that ran the block ended without an answer, so nothing is known of how far it came."""

    def __init__(self, where: str, said: object) -> None:
        """Name the block and what the executor said."""
        super().__init__(
            f"a worker died while the block at {where} was queued or running ({said}); how far the block came is not "
            f"known. A worker dies when it is killed (out of memory), crashes in native code or cannot start (a spawned "
            f"worker imports the main module: guard it with if __name__ == '__main__'). A broken executor takes no "
            f"more work: make a new one."
        )


class NotPortable(TracerError, PicklingError):
    """A value cannot travel between this process and the one that runs the block."""


class BlockFailed(TracerError, RuntimeError):
    """Stands for an exception that the block raised in another process and that cannot travel itself.

    It has the traceback of the original; the message says which exception that was and why it stayed behind.
    """
