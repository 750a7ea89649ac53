"""The slots of one guarded function in one run, and what a guard does once somebody asked.

A slot is filled when a block first asks for its operation. From then on every firing of the operation goes through the
slot's `Guard`, which reports what passes to the places of the run: the callee, the arguments, the result.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import CodeType
from typing import Any

from interp_components.errors import SourceNotAvailable
from interp_components.interleaving import Place, Skipped
from interp_components.sources.labelled import Labelled, label
from interp_components.sources.listing import Kind, Listed
from interp_components.sources.peel import Peeled, peel


class Slots:
    """The slots of one function; in one run, for one module or one drilled call.

    Attributes:
        labelled: the function's labels and guarded code.
        missed: the code without guards that was already running when the slots were made.
    """

    __slots__ = ("_guards", "_list", "labelled", "missed")

    def __init__(self, labelled: Labelled) -> None:
        self.labelled = labelled
        self.missed: CodeType | None = None
        self._list: list[Callable[[Any], Any] | None] = [None] * len(labelled.operations)
        self._guards: dict[str, Guard] = {}

    def guarding(self, peeled: Peeled) -> Any:
        """Return what was peeled, with these slots in the function inside."""
        return peeled.around(self.labelled.with_slots(peeled.function, self._list))

    def guard(self, name: str) -> Guard:
        """Return the guard of an operation; it is asked from now on."""
        guard = self._guards.get(name)
        if guard is None:
            place = self.labelled.places[name]
            guard = self._guards[name] = Guard()
            self._list[place] = guard.entry(self.labelled.operations[place])
        return guard

    def close(self) -> None:
        """Empty all slots: what still holds the guarded function runs as if nobody had asked."""
        self._list[:] = [None] * len(self._list)
        for guard in self._guards.values():
            if guard.below is not None:
                guard.below.close()
        self._guards.clear()


class Guard:
    """What one operation does in one run, once it is asked for.

    Attributes:
        callees, inputs, outputs: who is told of the callee, of the arguments, of the result.
        callee: what the operation is about to call.
        below: the slots of the drilled callee.
    """

    __slots__ = ("below", "callee", "callees", "inputs", "outputs")

    def __init__(self) -> None:
        self.callees: list[Place] = []
        self.inputs: list[Place] = []
        self.outputs: list[Place] = []
        self.callee: Any = None
        self.below: Slots | None = None

    def entry(self, operation: Listed) -> Callable[[Any], Any]:
        """Return what the operation's slot is to hold."""
        if operation.kind is not Kind.CALL:
            return self._value
        return partial(_Receiver, self) if operation.is_method else partial(partial, self.call)

    def drill(self) -> Slots:
        """Return the slots of what the operation is about to call, guarded from this firing on.

        Raises:
            SourceNotAvailable: It is nothing with Python source.
        """
        if self.below is None:
            self.below = Slots(label(peel(self.callee).function))
        return self.below

    def call(self, callee: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Do the call, telling who asked."""
        self.callee = callee
        try:
            for place in self.callees:
                place.report(callee)
            for place in self.inputs:
                served = place.report((args, kwargs))
                if type(served) is Skipped:
                    return self._told(served.value)
                args, kwargs = served
        finally:
            self.callee = None
        if self.below is not None:
            callee = self._guarded(callee, self.below)
        return self._told(callee(*args, **kwargs))

    def _value(self, value: Any) -> Any:
        """Bind, or return, the value, telling who asked."""
        for place in self.inputs:
            served = place.report(((value,), {}))
            value = served.value if type(served) is Skipped else served[0][0]
        return self._told(value)

    def _told(self, result: Any) -> Any:
        for place in self.outputs:
            result = place.report(result)
        return result

    def _guarded(self, callee: Any, below: Slots) -> Any:
        """Return the callee guarded, when it is the function that was drilled; at another firing it may be another."""
        try:
            peeled = peel(callee)
            is_same = label(peeled.function) is below.labelled
        except SourceNotAvailable:
            is_same = False
        if is_same:
            return below.guarding(peeled)
        below.close()
        self.below = None
        return callee


class _Receiver:
    """Stands for the receiver of a method call from its guard to the call: whatever is asked of it, it guards."""

    __slots__ = ("_guarded",)

    def __init__(self, guard: Guard, receiver: Any) -> None:
        object.__setattr__(self, "_guarded", (guard, receiver))

    def __getattribute__(self, name: str) -> Any:
        """Return the receiver's attribute with the guard before it."""
        guard, receiver = object.__getattribute__(self, "_guarded")
        return partial(guard.call, getattr(receiver, name))
