"""The first phase of a trace: `with Tracer():` becomes a `Block`, in steps that a subclass can make its own.

    class Logged(Tracer):
        def build(self, node):          # the block of `with Logged():`, as a module
            return instrumented(super().build(node))

A `with` item that was entered before is known; what it takes to make a block of a new one is imported at the first.
"""

from __future__ import annotations

import sys
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from tracer_core import errors
from tracer_core.block import Block, captured
from tracer_core.scope import kind as scope_kind
from tracer_core.site import ENTERS, SITES, Sites

if TYPE_CHECKING:
    import ast

    from tracer_core import locate

_STEPS = frozenset({"source", "parse", "build", "compile"})


class SerializedFrame(NamedTuple):
    """What is left of a frame when a tracer travels: where it was."""

    co_filename: str
    co_firstlineno: int
    co_name: str


class _Info:
    """Where a block was captured, and its code."""

    __slots__ = ("code", "frame")

    def __init__(self, frame: FrameType | SerializedFrame | None, code: CodeType | None) -> None:
        self.frame = frame
        self.code = code

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel as the place of the frame only; neither a frame nor code can be read elsewhere."""
        frame = self.frame
        if isinstance(frame, FrameType):
            code = frame.f_code
            frame = SerializedFrame(code.co_filename, code.co_firstlineno, code.co_name)
        return _Info, (frame, None)


class Steps:
    """The part of a tracer that makes its block."""

    Info = _Info
    _sites: ClassVar[Sites] = SITES
    _overridden: ClassVar[frozenset[str]] = frozenset()

    block: Block
    """The captured block; there since `capture`."""
    _info: _Info | None = None
    _entry: Block | None = None

    def __init_subclass__(cls, **options: Any) -> None:
        """Give a class that makes its blocks another way its own memory of them."""
        super().__init_subclass__(**options)
        own = _STEPS.intersection(vars(cls))
        if own:
            cls._overridden = cls._overridden | own
            cls._sites = Sites()

    def capture(self, frame: FrameType | None = None) -> None:
        """Find the `with` statement that the caller's caller is entering, and make `block` from it.

        Does nothing when that has been done: a function in the `with` line may call it early, to learn whether there is a
        block at all.

        Args:
            frame: The frame with the `with` statement, where it is not that of the caller's caller.

        Raises:
            WithBlockNotFoundError: There is no `with` statement there, or no text for it that is what runs.
            UnsupportedBody: The block holds what means nothing in code that runs later.
        """
        if self._entry is None:
            self._capture(sys._getframe(2) if frame is None else frame)

    def _capture(self, frame: FrameType) -> Block:
        site = self._sites.get((id(frame.f_code), frame.f_lasti))
        if site is None:
            from tracer_core import capture  # with what it stands on, half of the time that the package took to import

            frame, enter = capture.entering(frame)
            site = self._sites.get((id(frame.f_code), enter.offset))
            if site is None:
                site = capture.make_site(frame, enter, self, self._overridden)
                self._sites.add(frame.f_code, site)
        self.block = self._entry = block = captured(site, frame)
        return block

    @staticmethod
    def source(filename: str) -> str:
        """Return the text of `filename`, or an empty string; by itself a tracer looks further, see `source`."""
        from tracer_core import source

        return source.text(filename)

    def parse(self, source: str, lineno: int) -> locate.With | None:
        """Return the `with` statement that has an item on line `lineno` of `source`, or None."""
        from tracer_core import locate

        return locate.on_line(source, lineno)

    def build(self, node: locate.With) -> ast.Module:
        """Return the block of `node`, a `with` statement of one item, as a module to be compiled."""
        import ast

        return ast.Module(body=node.body, type_ignores=[])

    def compile(self, module: ast.Module, frame: FrameType) -> CodeType:
        """Return the code of a block: that of a function without parameters, with the names of `frame` as its cells.

        For a frame that enters no `with` statement, code that binds its names in whatever mapping `exec` is given.
        """
        from tracer_core import capture
        from tracer_core.compile import compile_alone, compile_block

        try:
            frame, enter = capture.entering(frame)
        except errors.WithBlockNotFoundError:
            return compile_alone(module, frame.f_code)
        return compile_block(module.body, frame.f_code, scope_kind(frame), enter.is_async, []).code

    @property
    def info(self) -> _Info | None:
        """The caller's frame, until the block has been handed over, and the block's code; None before `capture`."""
        if "block" in vars(self):
            return _Info(self.block.frame, self.block.code)
        return self._info

    @property
    def node(self) -> locate.With | None:
        """The `with` statement as a syntax tree, with the one item that this tracer is; None where there is no text."""
        recipe = self.block.site.recipe if "block" in vars(self) else None
        return None if recipe is None else recipe.node()


def is_entering(frame: FrameType | None, block: Block) -> bool:
    """Return whether `frame`, or the `with` statement behind the `__enter__` methods it is in, is where `block` begins."""
    while frame is not None and frame is not block.frame and frame.f_code.co_name in ENTERS:
        frame = frame.f_back
    if frame is None or frame is not block.frame:
        return False
    return frame.f_lasti == block.site.enter or _awaited(frame) == block.site.enter


def _awaited(frame: FrameType) -> int | None:
    """Return where `frame` enters the manager whose `__aenter__`, a coroutine, it awaits; None where it awaits no such thing."""
    from tracer_core import bytecode  # late: a plain `with` is entered without

    enter = bytecode.awaited_at(frame.f_code.co_code, frame.f_lasti)
    return None if enter is None else enter.offset
