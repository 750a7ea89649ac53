"""One element of what a place serves, from `select=4` and from the end of a key.

A call has a pair of arguments and an output. `input` is its first argument, `inputs` the pair, or with `select` one
positional (int) or keyword (str) argument. `output` with an int is one element of the returned tuple, with a str one
field of a returned mapping. `FIRST` is the tensor that a module returns, bare or first of a tuple, since releases of
transformers move between the two.

`pick` takes the element; `put` returns the whole with the element replaced and never changes what it was given.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from interp_components.errors import InterpError

FIRST: Final = "*first"
"""Select the output itself when it is a tensor, else the first element of it."""

# Any: the host is whatever component carries the value.
Select: TypeAlias = int | str | Callable[[Any], "int | str | None"] | None
Arguments: TypeAlias = tuple[tuple[Any, ...], dict[str, Any]]


class SelectionError(InterpError, LookupError):
    """A value's `select` asks for an element that the call or the output does not have."""


def changes_part(attribute: str, select: int | str | None) -> bool:
    """Return whether a write replaces a part, so that the rest has to be read first."""
    return attribute == "input" or select is not None


def pick(attribute: str, value: Any, select: int | str | None) -> Any:
    """Return the selected element of a served value."""
    if attribute == "output":
        return value if select is None else _element(value, select)
    args, kwargs = value
    if attribute == "input":
        return args[0] if args else _first(args, kwargs)
    if select is None:
        return value
    return _argument(args, kwargs, select)


def put(attribute: str, value: Any, select: int | str | None, element: Any) -> Any:
    """Return the served value with the selected element replaced."""
    if attribute == "output":
        return element if select is None else _with_element(value, select, element)
    if attribute == "inputs" and select is None:
        return element
    args, kwargs = value
    if attribute == "input":
        _first(args, kwargs)
        select = 0 if args else next(iter(kwargs))
    _argument(args, kwargs, select)
    if isinstance(select, int):
        return _replaced(args, select, element), kwargs
    return args, {**kwargs, select: element}


def _first(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if args:
        return args[0]
    for argument in kwargs.values():
        return argument
    raise SelectionError("`input` is the first argument of a call, and this call has no arguments")


def _argument(args: tuple[Any, ...], kwargs: dict[str, Any], select: int | str | None) -> Any:
    try:
        return args[select] if isinstance(select, int) else kwargs[select]  # type: ignore[index]  # None is not a key
    except LookupError:
        raise SelectionError(
            f"select={select!r} asks for an argument that this call does not have: it was called with "
            f"{len(args)} positional arguments and the keywords {sorted(kwargs)}; an int selects by position, a str by keyword"
        ) from None


def _element(value: Any, select: int | str) -> Any:
    if select == FIRST:
        return value[0] if isinstance(value, (tuple, list)) else value
    _check_container(value, select)
    try:
        return value[select]
    except LookupError:
        raise SelectionError(
            f"select={select!r} asks for an element that this output does not have: {_shape(value)}"
        ) from None


def _with_element(value: Any, select: int | str, element: Any) -> Any:
    if select == FIRST:
        return _replaced(value, 0, element) if isinstance(value, (tuple, list)) else element
    _element(value, select)
    if isinstance(value, Mapping):
        # A ModelOutput is a mapping that also counts its fields; a shallow copy keeps its class and its other fields.
        changed: Any = copy.copy(value)
        changed[list(value)[select] if isinstance(select, int) else select] = element
        return changed
    return _replaced(value, select, element)


def _replaced(sequence: Any, index: Any, element: Any) -> Any:
    items = list(sequence)
    items[index] = element
    if isinstance(sequence, list):
        return items
    make = getattr(type(sequence), "_make", tuple)
    return make(items)


def _check_container(value: Any, select: int | str) -> None:
    fits = isinstance(value, Mapping) if isinstance(select, str) else isinstance(value, (tuple, list, Mapping))
    if not fits:
        raise SelectionError(f"select={select!r} needs an output with elements, and this one is {_shape(value)}")


def _shape(value: Any) -> str:
    if isinstance(value, (tuple, list)):
        return f"a {type(value).__name__} of {len(value)}"
    if isinstance(value, Mapping):
        return f"a {type(value).__name__} with {list(value)}"
    return f"a bare {type(value).__name__}"
