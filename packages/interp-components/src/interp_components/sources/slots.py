"""The slots of one guarded function, and what a guard does once somebody asked.

A slot is filled when a block first asks for its operation. From then on, for the rest of the run, every firing of the
operation goes through the slot's `Guard`, which reports what passes to the places of the run: the callee, the arguments,
the result.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import partial
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

from interp_components.errors import SourceNotAvailable
from interp_components.interleaving import Place, Run, Skipped
from interp_components.interleaving.gates import backward_id
from interp_components.interleaving.seats import getcurrent
from interp_components.sources.labelled import Labelled, label
from interp_components.sources.listing import Kind
from interp_components.sources.peel import Peeled, peel

if TYPE_CHECKING:
    from interp_components.sources.source import Source


_SLOTS = "__slots_of_run__"


class Slots:
    """The slots of one function, for one run at a time.

    Attributes:
        labelled: the function's labels and guarded code.
        target: what was peeled to get to the function.
        code: the function's own code.
        guarded: the target, with these slots in the function inside.
        run: the run that uses the slots now.
        missed: the code without guards that was already running when the run began to use the slots.
        guards: the guards of the operations that were asked for.
        above: the guard of the operation whose callee it is.
        below: the slots of the calls that were drilled.
        home: the source that gets the slots back after the run, for the next one.
    """

    __slots__ = (
        "__weakref__", "_empty", "_list", "above", "below", "code", "guarded", "guards", "home", "labelled", "missed", "run",
        "target",
    )  # fmt: skip

    def __init__(self, labelled: Labelled, target: Any, peeled: Peeled, home: Source | None = None) -> None:
        self.labelled = labelled
        self._empty: list[Callable[[Any], Any] | None] = [None] * len(labelled.operations)
        self._list = self._empty.copy()
        self.guards: dict[str, Guard] = {}
        self.below: list[Slots] = []
        self.home = home
        self.run: Run | None = None
        self.above: Guard | None = None
        self.missed: CodeType | None = None
        self.guard_target(target, peeled)

    def guard_target(self, target: Any, peeled: Peeled) -> None:
        """Put the slots into what was peeled."""
        self.target = target
        self.code = peeled.function.__code__
        function = self.labelled.with_slots(peeled.function, self._list)
        function.__dict__[_SLOTS] = weakref.ref(self)
        self.guarded = peeled.around(function)

    def fill(self, run: Run, name: str) -> Guard:
        """Return the guard of an operation that nobody asked for before; it is asked from now on."""
        place = self.labelled.places[name]
        operation = self.labelled.operations[place]
        guard = self.guards[name] = Guard(run, self)
        if operation.kind is not Kind.CALL:
            self._list[place] = guard.value
        elif operation.sees_receiver:
            self._list[place] = partial(_Receiver, guard)
        else:
            self._list[place] = partial(partial, guard.call)
        return guard

    def close(self) -> None:
        """Empty all slots: what still holds the guarded function runs as if nobody had asked."""
        if self.guards:
            self._list[:] = self._empty
            self.guards = {}
            for slots in self.below:
                slots.close()
            self.below = []
        self.missed = self.run = self.above = None
        if self.home is not None:
            self.home.idle, self.home = self, None


class Guard:
    """What one operation does in one run, once it is asked for.

    Attributes:
        callees, inputs, outputs: who is told of the callee, of the arguments, of the result.
        callee: what the operation is about to call.
        below: the slots of the drilled callee.
        called, begun, ended: how many callees, arguments and results have passed since the run began.
        is_counted: whether these are known. Firings from before a late request were not seen. The next one is then taken
            to be that of the step, or inside a drilled call that of the call: one firing each.
    """

    __slots__ = (
        "_has_fired", "_run", "_slots", "begun", "below", "called", "callee", "callees", "ended", "inputs", "is_counted",
        "outputs",
    )  # fmt: skip

    def __init__(self, run: Run, slots: Slots) -> None:
        self._run = run
        self._slots = slots
        self.callees: list[Place] = []
        self.inputs: list[Place] = []
        self.outputs: list[Place] = []
        self._has_fired = False
        self.called = self.begun = self.ended = 0
        self.is_counted = not run.has_started
        self.callee: Any = None
        self.below: Slots | None = None

    def drill(self, home: Source | None) -> Slots:
        """Return the slots of what the operation is about to call, guarded from this firing on.

        Args:
            home: the source of what was drilled here in an earlier run.

        Raises:
            SourceNotAvailable: It is nothing with Python source.
        """
        if self.below is None:
            callee = self.callee
            if home is not None and home.idle is not None and home.idle.target is callee:
                below, home.idle = home.idle, None
                below.home = home
            else:
                peeled = peel(callee)
                below = Slots(label(peeled.function), callee, peeled)
            self._slots.below += [below]
            below.run, below.above = self._run, self
            self.below = below
        return self.below

    def call(self, callee: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Do the call, telling who asked."""
        # Other threads, calls that a block makes itself, inner runs and a backward pass are not this run's forward.
        if getcurrent() is not self._run.main or (self._has_fired and backward_id() != -1):
            return callee(*args, **kwargs)
        self._has_fired = True
        if not self.is_counted:
            self._count_from_here()
        if self.below is not None and self.below.target is not callee:
            self._follow(callee, self.below)
        self.callee = callee
        try:
            for place in self.callees:
                place.pass_by(callee)
            self.called += 1
            for place in self.inputs:
                served = place.pass_by((args, kwargs))
                if type(served) is Skipped:
                    self.begun += 1
                    return self._told(served.value)
                args, kwargs = served
            self.begun += 1
        finally:
            self.callee = None
        if self.below is not None:
            callee = self.below.guarded
        result = callee(*args, **kwargs)
        for place in self.outputs:
            result = place.pass_by(result)
        self.ended += 1
        return result

    def value(self, value: Any) -> Any:
        """Bind, or return, the value, telling who asked."""
        if getcurrent() is not self._run.main or (self._has_fired and backward_id() != -1):
            return value
        self._has_fired = True
        if not self.is_counted:
            self._count_from_here()
        for place in self.inputs:
            served = place.pass_by(((value,), {}))
            value = served.value if type(served) is Skipped else served[0][0]
        self.begun += 1
        return self._told(value)

    def _told(self, result: Any) -> Any:
        for place in self.outputs:
            result = place.pass_by(result)
        self.ended += 1
        return result

    def _count_from_here(self) -> None:
        above = self._slots.above
        firing = self._run.forwards if above is None else above.begun - 1
        self.called = self.begun = self.ended = firing
        self.is_counted = True
        for place in (*self.callees, *self.inputs, *self.outputs):
            place.count, place.is_counted = firing, True

    def _follow(self, callee: Any, below: Slots) -> None:
        """Guard another callee than last time when it runs the function that was drilled, else forget that one."""
        try:
            peeled = peel(callee)
            is_same = label(peeled.function) is below.labelled
        except SourceNotAvailable:
            is_same = False
        if is_same:
            below.guard_target(callee, peeled)
            if not is_lasting(callee):
                below.home = None
        else:
            self.below = None


class _Receiver:
    """Stands for the receiver of a method call from its guard to the call: whatever is asked of it, it guards."""

    __slots__ = ("_guarded",)

    def __init__(self, guard: Guard, receiver: Any) -> None:
        object.__setattr__(self, "_guarded", (guard, receiver))

    def __getattribute__(self, name: str) -> Any:
        """Return the receiver's attribute with the guard before it."""
        guard, receiver = object.__getattribute__(self, "_guarded")
        return partial(guard.call, getattr(receiver, name))


def slots_in(function: FunctionType) -> Slots | None:
    """Return the slots of a function that is guarded already: by the envoy of another tree, in the same run."""
    reference: weakref.ref[Slots] | None = function.__dict__.get(_SLOTS)
    return None if reference is None else reference()


def is_lasting(target: Any) -> bool:
    """Whether slots may keep the target from run to run: a plain function of a module, which holds no values."""
    return type(target) is FunctionType and target.__closure__ is None
