"""One execution of the model with its blocks: `Run(root, workers).execute(call)`.

In order: the lock of the root module is taken, every block runs until it waits for something, the model runs and serves
them, blocks that still wait are told, and everything that was installed is removed. The last step happens on every
path, also when the block, the model or the user's Ctrl-C ends the run.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from functools import partial
from types import TracebackType
from typing import Any, TypeVar

import torch
from torch import nn

from interp_components.errors import StopRun, add_note
from interp_components.interleaving.installations import Installation
from interp_components.interleaving.locations import Location, ModuleInput, Result
from interp_components.interleaving.places import Place
from interp_components.interleaving.requests import Kind, Request
from interp_components.interleaving.rows import Batch
from interp_components.interleaving.seats import GreenletExit, getcurrent, greenlet
from interp_components.interleaving.workers import Worker

T = TypeVar("T")

# Root module -> its lock; lives as long as the module, any thread may add one. Re-entrant: a block may trace again.
_locks: weakref.WeakKeyDictionary[nn.Module, Any] = weakref.WeakKeyDictionary()


def lock_of(module: nn.Module) -> Any:  # threading.RLock is a function before Python 3.13
    """The lock that a run over `module` holds, so that threads wait their turn."""
    lock = _locks.get(module)
    if lock is None:
        lock = _locks.setdefault(module, threading.RLock())
    return lock


class Run(Installation):
    """One execution of a model with its blocks.

    Attributes:
        main: the greenlet the model runs in.
        places: the locations asked for so far.
        visiting: the place the model is parked at while a block runs; None while no place is being passed.
        requests: all requests so far, the receipt.
        edits: those of them that write or skip.
        forwards: how many forwards of the root are completed.
        batch: the rows, None while there is one block or none brings its own.
        result: the location of what the call returns.
        is_single: the call is one forward of the root. Otherwise its forwards are counted, as steps.
        has_started: the model runs or has run.
        has_returned: the model is done; only the result can still be served.
        is_over: nothing can be served any more.

    Args:
        root: the input of the module whose forwards are the steps of the run, and whose lock it holds.
        workers: the blocks, in the order in which they are served at one passing.
        batch: the rows, when blocks have rows of their own.
        is_single: see above.
    """

    def __init__(
        self, root: ModuleInput, workers: Sequence[Worker], batch: Batch | None = None, is_single: bool = True
    ) -> None:
        super().__init__()
        self.root = root
        self.workers = list(workers)
        self.batch = batch
        self.places: dict[Location, Place] = {}
        self.visiting: Place | None = None
        self.requests: list[Request] = []
        self.edits: list[Request] = []
        self.forwards = 0
        self.result = Result()
        self.has_started = False
        self.has_returned = False
        self.is_over = False
        self.is_single = is_single
        self.main: greenlet = getcurrent()
        self._late: list[Place] = []
        self._waiting_loops: list[Worker] = []
        self._ready: list[Worker] = []
        self._failed: BaseException | None = None
        self._failed_at: TracebackType | None = None

    def attach(self, location: Location) -> Place:
        """Make the model report at `location` for the rest of the run."""
        place = self.places[location] = Place(self, location, is_counted=not self.has_started)
        if self.has_started:
            self._late.append(place)
        location.attach(self)
        return place

    # Turns

    def resume(self, worker: Worker) -> None:
        """Let a parked block go on until it parks again or is done, and after it those it released."""
        self._turn(worker, worker.wake)
        while self._ready:
            released = self._ready.pop(0)
            self._turn(released, released.wake)

    def release(self, workers: Sequence[Worker]) -> None:
        """Let blocks that wait for nothing the model passes go on after the present turn."""
        self._ready.extend(workers)

    def _turn(self, worker: Worker, turn: Callable[[], None]) -> None:
        """One turn of a block. Whether gradients are recorded is the block's own: the mode is per thread, not greenlet."""
        grad = torch.is_grad_enabled()
        if worker.grad_mode is not None and worker.grad_mode is not grad:
            torch._C._set_grad_enabled(worker.grad_mode)
        turn()
        left = torch.is_grad_enabled()
        if left is grad:
            worker.grad_mode = None
        else:
            worker.grad_mode = left
            torch._C._set_grad_enabled(grad)
        if worker.error is not None:
            error = worker.take_error()
            self._failed, self._failed_at = error, error.__traceback__
            raise error

    def wait(self, worker: Worker, arrivals: Sequence[tuple[Place, int]]) -> bool:
        """Park `worker` until one of the places is passed for the given time; False when the model is done before."""
        if self.has_returned:
            return False
        for place, occurrence in arrivals:
            if place.is_counted and place.count + (self.visiting is place) > occurrence:
                return True
        place, occurrence = arrivals[0]
        request = Request(Kind.WAIT, place.location.path, occurrence, worker.index, None)
        for place, _ in arrivals:
            place.waiting.append(worker)
        self._waiting_loops.append(worker)
        worker.park(request)
        self._waiting_loops.remove(worker)
        for place, _ in arrivals:
            if worker in place.waiting:
                place.waiting.remove(worker)
        return not self.has_returned

    # The life of a run

    def execute(self, call: Callable[[], T]) -> T | None:
        """Run the blocks and `call`, which runs the model; returns what the call returned, None when it was stopped.

        Raises:
            OutOfOrderError: a block waits for a place that the model did not come to any more.
            BaseException: whatever a block or the model raised.
        """
        with lock_of(self.root.output.module):
            self.main = getcurrent()
            try:
                return self._execute(call)
            except StopRun:
                self._cancel(None)
                return None
            except BaseException as error:
                self._cancel(error)
                if error is not self._failed:
                    raise
            finally:
                self._end()
        raise self._take_failure()

    def _execute(self, call: Callable[[], T]) -> T:
        if not self.is_single:
            self.attach(self.root)
            self.gate(self.root.output.module).returned = self._count_forward
        for index, worker in enumerate(self.workers):
            self._turn(worker, partial(worker.start, self, index))
            while self._ready:
                self.resume(self._ready.pop(0))
        self.has_started = True
        result = call()
        if self._failed is not None:  # the model caught what a block raised
            raise self._failed
        return self._finish(result)

    def _count_forward(self) -> None:
        self.forwards += 1
        for place in self._late:
            for worker in list(place.waiting):
                step = worker.request.occurrence
                if step is not None and step < self.forwards and not place.is_counted:
                    place.waiting.remove(worker)
                    self._refuse(worker, f"the forward of step {step} is over")

    def _finish(self, result: T) -> T:
        """After the model: loops end, the result is served, and who still waits is told."""
        self.has_returned = True
        if self.is_single:
            self.forwards += 1
        for worker in list(self._waiting_loops):
            self.resume(worker)
        if self.result in self.places:
            result = self.places[self.result].report(result)
        for worker in self.workers:
            while not worker.is_done:
                self._refuse(worker, "the model is done")
        return result

    def _refuse(self, worker: Worker, found: str) -> None:
        """Raise the order error in a waiting block, at its request, where it can be caught."""
        error = worker.refusal(worker.request, found)
        self._turn(worker, partial(worker.throw, error))

    def refuse(self, worker: Worker, location: Location) -> None:
        """Answer a request made after the model is done."""
        if self.is_over:
            raise GreenletExit
        if location is not self.result:
            request = Request(Kind.READ, location.path, worker.step, worker.index, None)
            raise worker.refusal(request, "the model is done")

    def _cancel(self, error: BaseException | None) -> None:
        """Unwind the blocks that are still parked. What they raise on the way is noted on the error, or is the error."""
        self.has_returned = self.is_over = True
        self._ready.clear()
        for worker in self.workers:
            while not worker.is_done and worker.is_parked:
                worker.throw(GreenletExit())
            if worker.error is not None:
                late = worker.take_error()
                if error is None:
                    raise late
                add_note(error, f"While the run was unwound, another block raised {type(late).__name__}: {late}")

    def _take_failure(self) -> BaseException:
        """What a block raised, with its own frames: those between the block and the run are the model's."""
        error, traceback = self._failed, self._failed_at
        self._failed = self._failed_at = None
        assert error is not None
        return error.with_traceback(traceback)

    def _end(self) -> None:
        """Take away everything that was installed, and let go of what only the run needed."""
        self.has_returned = self.is_over = True
        self.remove()
        for kept in (self.places, self.workers, self._late, self._waiting_loops, self._ready):
            kept.clear()
