"""A captured block: code of its own, on the caller's names, to be run whenever and as often as wanted."""

from __future__ import annotations

import builtins
from types import CellType, CodeType, FrameType, FunctionType
from typing import TYPE_CHECKING, Any

from tracer_core import saving, scope
from tracer_core.compile import Kind

if TYPE_CHECKING:
    from tracer_core.capture import Site


class Block:
    """The body of one `with` statement, captured from one frame.

    `run` may be called never, once or often, from any thread or greenlet; it works on the block's own cells, so it needs
    the caller's frame no more once `open` has read it.
    """

    __slots__ = ("_around", "_first", "_function", "_globals", "_namespace", "cells", "frame", "site")

    def __init__(self, site: Site, frame: FrameType) -> None:
        self.site = site
        self.frame: FrameType | None = frame
        self._function: FunctionType | None = None
        self._globals = frame.f_globals
        self.cells: dict[str, CellType] = {}

    def open(self) -> None:
        """Read the caller's names, as they are now."""
        site, frame = self.site, self.frame
        assert frame is not None
        body = site.body
        around = enclosing(frame) if site.is_nested else None
        self.cells = cells = scope.cells(body.code.co_freevars, frame, around.cells if around is not None else {})
        self._function = FunctionType(body.code, self._globals, None, None, tuple(cells.values()))
        if body.kind is Kind.NAMESPACE:
            self._namespace: dict[str, Any] = dict(frame.f_locals)
        if body.takes_first:
            self._first = frame.f_locals[frame.f_code.co_varnames[0]]

    def run(self) -> Any:
        """Run the block once and let out what it raises; for a block of `async with`, return its coroutine.

        Nothing is written back.
        """
        if self._function is None:
            self.open()
        body = self.site.body
        if body.takes_first:
            return self._function(self._first)
        if body.kind is Kind.NAMESPACE:
            return run_in(self._function, self._namespace)
        return self._function()

    def bound(self) -> dict[str, Any]:
        """Return the names that the block binds and that are bound now, with their values."""
        body = self.site.body
        if body.kind is Kind.NAMESPACE:
            namespace = self._namespace
            return {name: namespace[name] for name in body.writes if name in namespace}
        cells = self.cells
        found = {}
        for name in body.writes:
            try:
                found[name] = cells[name].cell_contents
            except ValueError:  # not bound (yet, or any more)
                continue
        return found

    def write_back(self) -> None:
        """Bind in the caller's frame what is to be handed back."""
        if self.frame is not None and self.site.body.writes:
            scope.push_result(self.frame, self.bound(), self.site.body.saved_names)

    def close(self) -> None:
        """Let go of the caller's frame."""
        self.frame = None

    @property
    def writes(self) -> tuple[str, ...]:
        """The names that the block binds for its caller, sorted."""
        return self.site.body.writes

    @property
    def code(self) -> CodeType:
        """The code of the block."""
        return self.site.body.code


def run_in(function: FunctionType, namespace: dict[str, Any]) -> None:
    """Run `function`, the body of a class, with `namespace` as its locals."""

    class Runner(type):
        @classmethod
        def __prepare__(cls, name: str, bases: tuple[type, ...]) -> dict[str, Any]:
            return namespace

        def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> Any:
            return None

    builtins.__build_class__(function, function.__name__, metaclass=Runner)  # type: ignore[attr-defined]


def enclosing(frame: FrameType) -> Block | None:
    """Return the block whose body `frame` is running, or None: the frame that called it is that of `Block.run`."""
    caller = frame.f_back
    if caller is not None and caller.f_code is Block.run.__code__:
        block: Block = caller.f_locals["self"]
        if block.code is frame.f_code:
            return block
    return None


__all__ = ["Block", "enclosing", "saving"]
