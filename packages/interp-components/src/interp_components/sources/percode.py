"""What is known of a code object, remembered as long as it lives."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Generic, TypeVar

T = TypeVar("T")

_LIMIT = 2048


class PerCode(Generic[T]):
    """Code object -> what `make` says about a function that runs it; any thread may ask.

    Kept by identity, since equal code of two files compares equal, and weakly. The oldest of more than `_LIMIT` goes:
    models do not have so many forwards, code that is made anew at every call might.
    """

    def __init__(self, make: Callable[[FunctionType], T]) -> None:
        self._make = make
        self._kept: dict[int, tuple[weakref.ref[CodeType], T]] = {}

    def __call__(self, function: FunctionType) -> T:
        """Return what is known of the function's code."""
        code = function.__code__
        key = id(code)
        kept = self._kept.get(key)
        if kept is not None and kept[0]() is code:
            return kept[1]
        made = self._make(function)
        while len(self._kept) >= _LIMIT:
            self._kept.pop(next(iter(self._kept)), None)
        self._kept[key] = (weakref.ref(code, lambda _: self._kept.pop(key, None)), made)
        return made
