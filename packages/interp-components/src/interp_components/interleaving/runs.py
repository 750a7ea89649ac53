"""One execution of the model with its blocks: `Run(root, workers).execute(call)`.

In order: the lock of the root module is taken, every block runs until it waits for something, the model runs and serves
them, blocks that still wait are told, and everything that was installed is removed. The last step happens on every
path, also when the block, the model or the user's Ctrl-C ends the run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, TypeVar

import torch
from torch import nn

from interp_components.errors import StopRun, add_note
from interp_components.interleaving.gates import Forward, Gate
from interp_components.interleaving.installations import Installation
from interp_components.interleaving.locations import RESULT, Location, ModuleInput, ModuleOutput
from interp_components.interleaving.places import Place
from interp_components.interleaving.requests import Kind, Request
from interp_components.interleaving.rows import Batch
from interp_components.interleaving.seats import GreenletExit, getcurrent, take
from interp_components.interleaving.workers import Worker

T = TypeVar("T")
# A request takes each of them twice; the public `set_grad_enabled` is a class.
is_grad_enabled = torch.is_grad_enabled
set_grad_enabled = torch._C._set_grad_enabled


class Run(Installation):
    """One execution of a model with its blocks.

    Attributes:
        main: the greenlet the model runs in.
        places: the locations asked for so far.
        visiting: the place the model is parked at while a block runs; None while no place is being passed.
        requests: all requests so far, the receipt.
        has_edits: whether some of them write or skip.
        mismatches: what to note on an error of the model: assignments of another type or shape than was there.
        stopping: the wish of a block to leave the model, followed when the others have been served at this place.
        forwards: how many forwards of the root are completed.
        unfinished: how many blocks have begun and are not done.
        batch: the rows, None while there is one block or none brings its own.
        is_single: the call is one forward of the root. Otherwise its forwards are counted, as steps.
        is_stepped: forwards of the root are steps, and one has begun: a passing of a module has the number of its forward.
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
        self.gates, self.gated = {}, {}
        self._removals = []
        self.root = root
        self.workers = list(workers)
        self.batch = batch
        self.places: dict[Location, Place] = {}
        self.visiting: Place | None = None
        self.requests: list[Request] = []
        self.mismatches: list[str] = []
        self.has_edits = False
        self.forwards = self.unfinished = 0
        self.stopping: StopRun | None = None
        self.has_started = False
        self.has_returned = False
        self.is_over = False
        self.is_single = is_single
        self.is_stepped = False
        self._waiting_loops: list[Worker] = []
        self._released: list[Worker] = []
        self._failed: BaseException | None = None
        self._failed_at: TracebackType | None = None

    def attach(self, location: Location) -> Place:
        """The location in this run; the model reports there from now on."""
        return self.places[location] if location in self.places else Place(self, location)

    def replace_forward(self, module: nn.Module, forward: Forward) -> None:
        """Let calls of `module` that begin from now on run `forward`, behind the gate."""
        if module not in self.gates:
            self.gates[module] = Gate(self, module)
        self.gates[module].forward = forward

    def count_passings(self) -> None:
        """Count the calls of every module, before the model starts.

        In a run of one forward a step is a passing of a module, and which one it is cannot be told of a module that is
        first asked for after some of its calls. Forwards tell it in all other runs.
        """
        if self.is_single and not self.has_started:
            for module in self.root.output.module.modules():
                if module not in self.gates:
                    self.gates[module] = Gate(self, module)

    # Turns

    def serve(self, waiting: dict[int, Worker], passing: int | None = None) -> None:
        """Let the parked blocks that wait for this passing go on, in their order, until none of them does any more.

        Whether gradients are recorded is the block's own affair, and torch keeps it per thread, not per greenlet.

        Args:
            waiting: who is parked, by index; who is served is taken out, and may park here again.
            passing: the occurrence that is there, None for all of them.
        """
        grad = is_grad_enabled()
        while True:
            first: int | None = None
            for index in waiting:
                wanted = None if passing is None else waiting[index].request.occurrence
                if (wanted is None or wanted == passing) and (first is None or index < first):
                    first = index
            if first is None:
                return
            worker = waiting[first]
            del waiting[first]
            if worker.grad_mode is not None and worker.grad_mode is not grad:
                set_grad_enabled(worker.grad_mode)
            worker.seat.switch()
            if is_grad_enabled() is grad:
                worker.grad_mode = None
            else:
                worker.grad_mode = not grad
                set_grad_enabled(grad)
            if worker.error is not None:
                self._fail(worker)
            while self._released:
                self.resume(self._released.pop(0))

    def resume(self, worker: Worker) -> None:
        """Let one block go on until it parks again or is done, and after it those it released."""
        self.serve({worker.index: worker})

    def release(self, workers: Sequence[Worker]) -> None:
        """Let blocks that wait for nothing the model passes go on after the present turn."""
        self._released.extend(workers)

    def _fail(self, worker: Worker) -> None:
        """Raise what a block raised, unless it is the wish to stop."""
        error = worker.take_error()
        if isinstance(error, StopRun):
            self.stopping = error
            return
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
            place.waiting[worker.index] = worker
        self._waiting_loops.append(worker)
        worker.park(request)
        self._waiting_loops.remove(worker)
        for place, _ in arrivals:
            place.waiting.pop(worker.index, None)
        return not self.has_returned

    # The life of a run

    def execute(self, function: Callable[..., T], *args: Any, **kwargs: Any) -> T | None:
        """Run the blocks and the function, which runs the model; returns what it returned, None when it was stopped.

        Raises:
            OutOfOrderError: a block waits for a place that the model did not come to any more.
            BaseException: whatever a block or the model raised.
        """
        root = self.root
        with root.own_lock or root.lock():
            self.main = getcurrent()
            try:
                if self.batch is not None or not self.is_single:
                    self._watch_forwards()
                for index, worker in enumerate(self.workers):
                    worker.run, worker.index, worker.seat = self, index, take(worker)
                    self.unfinished += 1
                    self.serve({index: worker})
                    if self.stopping is not None:
                        raise self.stopping
                self.has_started = True
                result = function(*args, **kwargs)
                if self._failed is None:  # else the model caught what a block raised
                    self.has_returned = True
                    self.forwards += self.is_single
                    return self._finish(result) if self.unfinished else result
            except StopRun:
                self._cancel(None)
                return None
            except BaseException as error:
                self._cancel(error)
                if error is not self._failed:
                    for mismatch in self.mismatches:
                        add_note(error, mismatch)
                    raise
            finally:
                self.has_returned = self.is_over = True
                if self.gates or self._removals:
                    self.remove()
                self.places, self.workers, self.visiting = {}, [], None  # what only the run needed
        raise self._take_failure()

    def _watch_forwards(self) -> None:
        """Have the root report its forwards, for their rows and their number."""
        if not self.is_single:
            gate = self.root.output.gate(self)
            gate.began, gate.returned = self._begin_forward, self._count_forward
        elif self.batch is not None:
            self.root.output.gate(self).began = self.batch.learn

    def _begin_forward(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Before a forward of the root: what is passed from now on is passed in its step."""
        self.is_stepped = True
        if self.batch is not None:
            self.batch.learn(args, kwargs)

    def _count_forward(self) -> None:
        """After a forward of the root: whoever wanted a module, or a late place, in that step has missed it."""
        self.forwards += 1
        for place in list(self.places.values()):
            is_of_step = isinstance(place.location, (ModuleInput, ModuleOutput)) or not place.is_counted
            for worker in list(place.waiting.values()) if is_of_step else ():
                step = worker.request.occurrence
                if step is not None and step < self.forwards:
                    del place.waiting[worker.index]
                    self._refuse(worker, f"the forward of step {step} is over")

    def _finish(self, result: T) -> T:
        """After the model: loops end, the result is served, and who still waits is told."""
        while self._waiting_loops:
            self.resume(self._waiting_loops[0])
        if RESULT in self.places:
            result = self.places[RESULT].report(result)
        for worker in self.workers:
            while not worker.is_done:
                self._refuse(worker, "the model is done")
        return result

    def _refuse(self, worker: Worker, found: str) -> None:
        """Raise the order error in a waiting block, at its request, where it can be caught."""
        worker.refused = found
        self.resume(worker)

    def check(self, worker: Worker, location: Location) -> None:
        """Refuse a request made after the model is done."""
        if self.is_over:
            raise GreenletExit
        if location is not RESULT:
            request = Request(Kind.READ, location.path, worker.step, worker.index, None)
            raise worker.refusal(request, "the model is done")

    def _cancel(self, error: BaseException | None) -> None:
        """Unwind the blocks that are still parked. What they raise on the way is noted on the error, or is the error."""
        self.has_returned = self.is_over = True
        self._released.clear()
        for worker in self.workers:
            while worker.is_parked:
                worker.seat.throw(GreenletExit)
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
