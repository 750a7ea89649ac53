"""From what a module calls to the function whose text the user means, for `module.source` and `operation.source`.

transformers wraps its forwards (`deprecate_kwarg`, `capture_outputs`, `can_return_tuple`, gradient checkpointing ...). A
wrapper, which calls exactly one function that it closes over and hands its own `*args` or `**kwargs` on, is taken off,
and the function under it is the one with the operations. A dispatcher, which hands its closed-over function on or chooses between several, is a forward of
its own: its operations are the choice, and the chosen function is reached by drilling into the call.

Bound methods, `functools.partial`s and objects with a `__call__` are looked through. What was taken off is put around
the guarded function again, so arguments, context managers and hooks are as they were.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from dataclasses import dataclass
from types import CellType, FunctionType, MethodType
from typing import Any

from interp_components.errors import SourceNotAvailable
from interp_components.sources.definition import read_text
from interp_components.sources.percode import PerCode

Layer = Callable[[Any], Any]


@dataclass(frozen=True)
class Peeled:
    """The function inside, and what is around it, outermost first."""

    function: FunctionType
    layers: tuple[Layer, ...]

    def around(self, function: FunctionType) -> Any:
        """Return `function` with everything that was taken off put around it."""
        inner: Any = function
        for layer in reversed(self.layers):
            inner = layer(inner)
        return inner


def peel(target: Any) -> Peeled:
    """Return the function with the operations.

    Raises:
        SourceNotAvailable: The target runs no Python function: a builtin, a class, something compiled or scripted.
    """
    layers: list[Layer] = []
    while True:
        if isinstance(target, FunctionType):
            if "_torchdynamo_orig_callable" in target.__dict__:
                raise SourceNotAvailable("it is compiled by torch.compile; wrap the model as it was before")
            inner = _inner(target)
            if inner is None:
                return Peeled(target, tuple(layers))
            layers.append(functools.partial(_rewrapped, target, inner))
            target = (target.__closure__ or ())[inner].cell_contents
        elif isinstance(target, MethodType):
            layers.append(functools.partial(_bound, target.__self__))
            target = target.__func__
        elif isinstance(target, functools.partial):
            layers.append(functools.partial(_partial, target.args, target.keywords))
            target = target.func
        else:
            target = _call_method(target)


def behind_gates(forward: Any) -> Any:
    """Return the forward that the gates of runs stand in front of."""
    while type(forward) is FunctionType and "__gate__" in forward.__dict__:
        forward = forward.__dict__["__wrapped__"]
    return forward


def _call_method(target: Any) -> MethodType:
    """Return `target.__call__` as a bound method of Python code."""
    if isinstance(target, type):
        raise SourceNotAvailable(f"it is the class {target.__qualname__}, and a class has no operations of its own")
    method = type(target).__call__ if callable(target) else None
    if not isinstance(method, FunctionType):
        name = getattr(target, "__qualname__", None) or type(target).__qualname__
        raise SourceNotAvailable(f"{name!r} has no Python source: it is builtin, written in C, or scripted")
    return MethodType(method, target)


def _bound(owner: Any, inner: Any) -> MethodType:
    return MethodType(inner, owner)


def _partial(args: tuple[Any, ...], keywords: dict[str, Any], inner: Any) -> Any:
    return functools.partial(inner, *args, **keywords)


def _rewrapped(wrapper: FunctionType, place: int, inner: Any) -> FunctionType:
    """Return the wrapper with another function in the cell that it calls."""
    closure = list(wrapper.__closure__ or ())
    closure[place] = CellType(inner)
    copied = FunctionType(wrapper.__code__, wrapper.__globals__, wrapper.__name__, wrapper.__defaults__, tuple(closure))
    for name in ("__kwdefaults__", "__qualname__", "__doc__", "__module__"):
        setattr(copied, name, getattr(wrapper, name))
    copied.__dict__.update(wrapper.__dict__)
    return copied


def _inner(function: FunctionType) -> int | None:
    """Return the cell with the one function that a wrapper calls; None for what is no wrapper."""
    closure = function.__closure__
    if closure is None:
        return None
    found = [(place, hands_on) for place, hands_on in _called_cells(function) if _holds_function(closure[place])]
    return found[0][0] if len(found) == 1 and found[0][1] else None


def _holds_function(cell: CellType) -> bool:
    try:
        return isinstance(cell.cell_contents, FunctionType)
    except ValueError:  # the cell of a name that is not bound yet
        return False


def _read_called_cells(function: FunctionType) -> tuple[tuple[int, bool], ...]:
    """Return which cells hold what the function's own text calls by name, and whether it hands arguments on to it."""
    try:
        tree = read_text(function).tree
    except SourceNotAvailable:
        return ()  # then it is no wrapper that could be put together again; its own text is asked for next
    hands_on: dict[str, bool] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            name = node.func.id
            hands_on[name] = hands_on.get(name, False) or _hands_on(node)
    free = function.__code__.co_freevars
    return tuple((place, hands_on[name]) for place, name in enumerate(free) if name in hands_on)


def _hands_on(call: ast.Call) -> bool:
    return any(isinstance(one, ast.Starred) for one in call.args) or any(one.arg is None for one in call.keywords)


_called_cells = PerCode(_read_called_cells)
