"""`save`: what leaves the outermost trace.

    with Tracer():
        hidden = save(compute())     # or, for a value of any type, compute().save()

A trace opens a scope around the run of its block. `save` puts the very object into the scope of the running trace; when
the outermost trace writes its names back, it gives those that are bound to such an object. Objects that Python itself
shares between equal values (`None`, numbers, strings, tuples of them) say nothing about a name by their identity: for
these the name comes back only when the block binds it by a save (`n = save(3)`) or saves it by name (`save(n)`).
A scope holds what was marked until the outermost trace leaves, so an address is never mistaken for its successor.

The scope lives in a context variable: a thread and a task have their own, a greenlet that copies its maker's context
shares it. A nested trace opens an inner scope that shares the marks of the one around it.
"""

from __future__ import annotations

import copy as copying
from collections.abc import Collection
from contextvars import ContextVar, Token
from functools import singledispatch
from types import EllipsisType, NoneType, NotImplementedType
from typing import Any, TypeVar

from tracer_core import errors

T = TypeVar("T")

# Equal values of these types may be one object, so identity does not tell a saved name from a stranger.
SHARED_TYPES = frozenset({
    NoneType, bool, int, float, complex, str, bytes, tuple, frozenset, range, slice, EllipsisType, NotImplementedType,
})  # fmt: skip


class Scope:
    """The saves of one trace and of the traces inside it."""

    # Without an `__init__`, which would cost as much as all else that opening a scope takes.
    marks: dict[int | str, Any]
    """A marked object by its address, held so that this stays its own; a name that was unpacked from one by the name."""
    depth: int

    def returns(self, name: str, value: Any, saved_names: Collection[str]) -> bool:
        """Return whether `name`, now bound to `value`, is handed back; `saved_names` are those the block itself saves."""
        marks = self.marks
        if id(value) in marks and (type(value) not in SHARED_TYPES or name in saved_names):
            return True
        return name in marks and marks[name] is value


# Key: none; value: the scope of the trace that runs in this context; lives from the call of a backend to its return.
RUNNING: ContextVar[Scope | None] = ContextVar("tracer_core.saving", default=None)


def inside(around: Scope | None) -> Scope:
    """Return a scope inside the one `around`, whose marks it shares."""
    scope = Scope()
    if around is None:
        scope.marks, scope.depth = {}, 1
    else:
        scope.marks, scope.depth = around.marks, around.depth + 1
    return scope


def current() -> Scope | None:
    """Return the scope of the trace that is running, or None."""
    return RUNNING.get()


def depth() -> int:
    """Return how many traces are running around the caller, 0 outside of any."""
    scope = RUNNING.get()
    return 0 if scope is None else scope.depth


def nothing_is_saved() -> bool:
    """Return whether the trace that is running hands nothing back: it is the outermost, and has no marks."""
    scope = RUNNING.get()
    return scope is not None and scope.depth == 1 and not scope.marks


def enter() -> Token[Scope | None]:
    """Open the scope of a trace, inside the one that is open; hand what it returns to `leave`."""
    return RUNNING.set(inside(RUNNING.get()))


def leave(token: Token[Scope | None]) -> None:
    """Close the scope that `enter` opened; the marks go with the outermost one."""
    RUNNING.reset(token)


@singledispatch
def detached(value: Any) -> Any:
    """Return a copy of `value` that later changes to it do not reach; register types that know better than `copy.copy`."""
    return copying.copy(value)


def mark(value: T) -> T:
    """Mark `value` to be handed back if a trace is running; outside of one nothing would read the mark, so none is kept."""
    scope = RUNNING.get()
    if scope is not None:
        scope.marks[id(value)] = value
    return value


def save(value: T, copy: bool = False) -> T:
    """Mark `value` to be handed back by the outermost trace, and return it (or, with `copy`, a detached copy).

    The object itself is marked, so save the value that you bind: `n = save(x) * 2` saves `x`, not the product.

    Raises:
        SaveOutsideTrace: No trace is running.
    """
    scope = RUNNING.get()
    if scope is None:
        raise errors.save_outside()
    if copy:
        value = detached(value)
    scope.marks[id(value)] = value
    return value


def save_method(value: Any, **options: Any) -> Any:
    """Do what `value.save()` means in a block: the value's own `save` where there is one, else `save(value)`."""
    own = getattr(value, "save", None)
    return save(value, **options) if own is None else own(**options)


def unpacked(saved: Any, **names: Any) -> None:
    """Remember the `names` that `a, b = save(...)` bound, if `saved` is marked."""
    scope = RUNNING.get()
    if scope is not None and id(saved) in scope.marks:
        scope.marks.update(names)
