"""One block of the user's code, run in turns with the model: `h = model.transformer.h[0].output` parks it.

A block runs in a greenlet until it asks for something that is not there yet. It is then parked, the model goes on, and
when the model passes the place, the block wakes inside that passing and goes on with what is there. So a block's own
stack stays whole, and what it asks twice of one passing is answered without any switch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol

from torch import Tensor

from interp_components.errors import BarrierError, InterpError, OutOfOrderError, OutsideTraceError, out_of_order
from interp_components.interleaving.order import ahead
from interp_components.interleaving.places import Place
from interp_components.interleaving.requests import Kind, Request
from interp_components.interleaving.seats import GreenletExit, Seat, getcurrent

if TYPE_CHECKING:
    from interp_components.interleaving.locations import Location
    from interp_components.interleaving.rows import Rows
    from interp_components.interleaving.runs import Run


class Pending(Protocol):
    """An edit that waits: a view that the block may have changed, to be carried back into what was served."""

    def flush(self) -> None:
        """Carry the edits back, by requests of the worker that holds it."""


class Worker:
    """One block in one run.

    Attributes:
        run: the execution it takes part in; set when it starts.
        index: its place among the blocks, which is the order they are served in at one passing.
        rows: the rows that are its own, None for the whole batch.
        step: the occurrence its requests ask for, None for the next one.
        notes: memory for this run, for whoever needs some (drilled sources, held views).
        served: the request that was answered last.
        first_asked: where the first request since the present step of a loop began went, for the loop to wait there.
        refused: why the request it is parked at cannot be served; it raises that when it wakes.
        error: what the block raised.
    """

    __slots__ = (
        "_block", "_held", "_shown", "_traceback", "error", "first_asked", "grad_mode", "index", "is_done", "notes", "refused",
        "request", "rows", "run", "seat", "served", "step",
    )  # fmt: skip

    run: Run
    request: Request

    def __init__(self, block: Callable[[], object], rows: Rows | None = None) -> None:
        self._block = block
        self.rows = rows
        self.index = 0
        self.step: int | None = None
        self.notes: dict[Any, Any] = {}
        self.served: Request | None = None
        self.first_asked: Location | None = None
        self.error: BaseException | None = None
        self.grad_mode: bool | None = None
        self.refused: str | None = None
        self.is_done = False
        self._traceback: TracebackType | None = None
        self._held: list[Pending] = []
        # The read that was served last in this turn, its value, and how often its tensors had been changed by then.
        self._shown: tuple[Request, Any, Any] | None = None
        self.seat: Any = None  # a Seat once it is prepared; greenlet ships no types

    # What a block asks for

    def read(self, location: Location) -> Any:
        """What the model passes on at `location`, narrowed to the worker's rows."""
        return self.ask(Kind.READ, location)

    def look(self, location: Location) -> Any:
        """What `read` gives, on the way to something else that the block asked for."""
        value = self.ask(Kind.READ, location)
        assert self.served is not None
        self.served.kind = Kind.LOOK
        self._shown = None  # the block does not have it, so what becomes of it is no edit of the block's
        return value

    def replace(self, location: Location, value: Any) -> None:
        """Let the model go on with `value` at `location`, in the worker's rows."""
        self.ask(Kind.WRITE, location, value)

    def skip(self, location: Location, value: Any) -> None:
        """Do not run the call in front of which `location` stands; it returned `value`, in the worker's rows."""
        self.ask(Kind.SKIP, location, value)

    def occurrence(self, location: Location) -> int:
        """The occurrence of `location` that a request made now would ask for."""
        if self.step is not None:
            return self.step
        place = self.run.attach(location)
        return place.count if place.is_counted else max(place.count, self.run.forwards)

    @contextmanager
    def pinned(self, step: int | None) -> Iterator[None]:
        """The requests made inside ask for occurrence `step`; None for the next one, whichever it is."""
        before, self.step = self.step, step
        try:
            yield
        finally:
            self.step = before

    def hold(self, pending: Pending) -> None:
        """Flush `pending` before the next request and at the end of the block."""
        self._held.append(pending)

    def wait(self, *arrivals: tuple[Location, int]) -> bool:
        """Park until one of the passings comes; False when the model is done before."""
        self.flush()
        places = [(self.run.attach(location), n) for location, n in arrivals]
        return self.run.wait(self, places)

    def watched(self, call: Callable[[], Any]) -> Any:
        """Make a call of the block's own with the model's places reporting, so that other blocks are served in it."""
        run = self.run
        outer, run.main = run.main, getcurrent()
        try:
            return call()
        finally:
            run.main = outer

    # How it is answered

    def ask(self, kind: Kind, location: Location, value: Any = None) -> Any:
        """Be where the model passes `location`, parked until then, and do there what `kind` says.

        `read`, `replace` and `skip` in one: what every block does most goes through no more functions than it takes.
        """
        run, step, rows = self.run, self.step, self.rows
        if run.has_returned:
            run.check(self, location)
        if self.first_asked is None:
            self.first_asked = location
        place = run.places[location] if location in run.places else Place(run, location)
        if self._held:
            self.flush()
        elif self._shown is not None:
            _, shown, before = self._shown
            if before != UNCOUNTED and (type(shown) is not Tensor or shown._version != before):
                self.flush()
            self._shown = None
        request = Request(kind, location.path, step, self.index, None if rows is None else (rows.start, rows.size))
        run.requests += [request]
        if kind is not Kind.READ:
            run.has_edits = True
        if run.visiting is not place or (step is not None and step != place.count):
            if step is not None and step < (place.count if place.is_counted else run.forwards):
                found = f"it has been passed {place.count} times" if place.is_counted else f"step {step} is over"
                raise self.refusal(request, found)
            self.request = request
            place.waiting[self.index] = self
            run.main.switch()
            if self.refused is not None:
                raise self._refused(place)
        request.occurrence, request.is_served = place.count, True
        self.served = request
        if kind is Kind.READ:
            request.seen = True
            value = place.value if rows is None else rows.narrow(place.value)
            try:
                # Most values are one tensor; `changes` says what is counted, also of others.
                before = value._version if type(value) is Tensor else changes(value)
            except RuntimeError:
                before = UNCOUNTED
            self._shown = request, value, before
            return value
        if kind is Kind.WRITE:
            place.write(self, value, request)
        else:
            place.skip(self, value, request)
        return None

    def park(self, request: Request) -> None:
        """Give the model its turn; returns when the run wakes this worker.

        Raises:
            BarrierError: nobody wakes it any more.
        """
        self.request = request
        self.run.main.switch()
        if self.refused is not None:
            raise self._refused(None)

    def _refused(self, place: Place | None) -> InterpError:
        found, self.refused = self.refused, None
        if place is not None:
            place.waiting.pop(self.index, None)
        return self.refusal(self.request, found or "")

    def flush(self) -> None:
        """End the turn at a place: tell whether what was served was changed there, and carry held edits back into it."""
        if self._shown is not None:
            request, value, before = self._shown
            self._shown = None
            is_counted = before != UNCOUNTED
            if is_counted and (value._version if type(value) is Tensor else changes(value)) != before:
                request.kind = Kind.EDIT
        held, self._held = self._held, []
        for pending in held:
            pending.flush()

    def refusal(self, request: Request, found: str) -> InterpError:
        """The error for a request that cannot be served any more."""
        if request.kind is Kind.BARRIER:
            return BarrierError(
                f"{request.location} was never reached by every block it waits for, and the model is done. "
                f"Lower its count, or let every invoke call it."
            )
        last = None if self.served is None else self.served.location
        rest = [] if last is None else ahead(self.run, last)
        return OutOfOrderError(out_of_order(request.location, request.occurrence, last, found, rest))

    # How it is run

    @property
    def is_parked(self) -> bool:
        """Whether the block has begun and is not done."""
        return self.seat is not None and not self.is_done

    def run_block(self) -> None:
        """The whole life of the block; what it raises is kept for the run."""
        try:
            self._block()
            if self._shown is not None or self._held:
                self.flush()
        except GreenletExit:
            self._held = []
        except BaseException as error:
            self.error, self._traceback = error, error.__traceback__
        self.is_done, self.notes, self._shown = True, {}, None
        self.run.unfinished -= 1

    def take_error(self) -> BaseException:
        """What the block raised, with the frames of the block alone."""
        error, traceback = self.error, self._traceback
        assert error is not None
        self.error = self._traceback = None
        return error.with_traceback(traceback)


UNCOUNTED = -1


def changes(value: Any) -> int:
    """How often the tensors in a value have been changed in place, to be compared with what it was before.

    Source: `Tensor._version`, torch 2.13. Views share it with their base; a tensor of inference mode has none and raises,
    and a value with one is UNCOUNTED.
    """
    try:
        if type(value) is Tensor:
            return value._version
        if type(value) is not tuple:
            if isinstance(value, Tensor):
                return value._version
            if not isinstance(value, (list, tuple, Mapping)):
                return 0
            value = tuple(value.values()) if isinstance(value, Mapping) else value
        total = 0
        for one in value:
            if type(one) is Tensor:
                total += one._version
            elif one is not None:
                total += changes(one)
    except RuntimeError:
        return UNCOUNTED
    return total


def current(what: str) -> Worker:
    """The worker of the running block, for reading or writing `what`.

    Raises:
        OutsideTraceError: no block of a trace is running here. A `ValueError`, not an `AttributeError`, which an
            envoy's fall-back to its module would swallow.
    """
    seat = getcurrent()
    if type(seat) is Seat and seat.worker is not None:
        return seat.worker
    raise OutsideTraceError.of(what)


def is_block_running() -> bool:
    """Whether the code that asks belongs to a block of a trace."""
    seat = getcurrent()
    return type(seat) is Seat and seat.worker is not None
