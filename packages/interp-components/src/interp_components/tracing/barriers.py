"""`barrier = tracer.barrier(2)`: blocks wait for one another, so that a value of one can be used in the next."""

from __future__ import annotations

from interp_components.errors import BarrierError
from interp_components.interleaving import Kind, Request, Worker, current


class Barrier:
    """A point that a number of blocks wait at; the last to come releases the others. Good for any number of rounds."""

    def __init__(self, count: int) -> None:
        if count < 1:
            raise BarrierError(f"a barrier waits for at least one block, not {count!r}")
        self._count = count
        self._waiting: list[Worker] = []

    def __call__(self) -> None:
        """Wait until as many blocks have come as the barrier counts."""
        worker = current("barrier()")
        worker.flush()
        if len(self._waiting) + 1 == self._count:
            waiting, self._waiting = self._waiting, []
            worker.run.release(waiting)
        else:
            self._waiting.append(worker)
            worker.park(Request(Kind.BARRIER, f"a barrier for {self._count}", None, worker.index, None))
