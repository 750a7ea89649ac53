"""`with Tracer():`: enter, skip, hand to a backend, write back. Choreography only.

with Tracer() as tracer:    # __enter__: capture the block, arm the skip
    total = compute()       # skipped: the signal is raised before this
print(total)                # __exit__: the backend ran the block, what it saved was written back
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Generator
from importlib import import_module
from types import CodeType, TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from tracer_core import errors, frames, saving, tracebacks
from tracer_core.backends import Backend, InPlaceBackend
from tracer_core.block import Block, captured
from tracer_core.deferrable import Deferrable

# Re-exported: the steps and words of a trace can be had from here.
from tracer_core.errors import ExitTracingException as ExitTracingException
from tracer_core.errors import WithBlockNotFoundError as WithBlockNotFoundError
from tracer_core.saving import enter as enter
from tracer_core.saving import leave as leave
from tracer_core.saving import mark as mark
from tracer_core.saving import save as save
from tracer_core.scope import push_result as push_result
from tracer_core.skip import TraceFunction
from tracer_core.steps import Steps, is_entering

if TYPE_CHECKING:
    from tracer_core.capture import TRY_STATEMENTS as TRY_STATEMENTS
    from tracer_core.capture import skippable as skippable

Self = TypeVar("Self", bound="Tracer")
_IN_PLACE = InPlaceBackend()
_RUNNING = saving.RUNNING
_STAYS = frozenset({"backend", "block", "future", "_entry", "_signal"})


def __getattr__(name: str) -> object:
    """Import what is re-exported from `capture` when it is first asked for."""
    if name not in {"TRY_STATEMENTS", "skippable"}:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    return getattr(import_module("tracer_core.capture"), name)


class _Ready(Awaitable[Any]):
    """What `__aenter__` returns: there is nothing to wait for, and no frame of ours in between."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def __await__(self) -> Generator[Any, Any, Any]:
        yield from ()  # makes this a generator
        return self._value


def skip_context(tracer: Tracer) -> None:
    """Make Python leave the captured block of `tracer` before its first statement; one with nothing in it may run.

    Raises:
        TraceSuspended: Python reports no events here.
    """
    trace_function = tracer._arm(tracer.block)
    if trace_function is not None:
        sys.settrace(trace_function)


class Tracer(Steps, Deferrable):
    """Captures the block of its `with` statement and hands it to a backend instead of letting it run.

    Subclasses override `execute` to change what running the block means, or take another backend; `source`, `parse`, `build`
    and `compile` to change how a block is made from its text.
    """

    _signal: errors.ExitTracingException | None = None

    def __init__(self, backend: Backend | None = None) -> None:
        """Take what decides when and how the block runs; by default it runs once, when the `with` statement ends."""
        self.backend: Backend = _IN_PLACE if backend is None else backend
        self._entry = self._signal = None  # as in the class, which takes longer to ask

    # Enter, skip, exit

    def __enter__(self: Self) -> Self:
        """Capture the block and see to it that Python leaves it before its first statement."""
        frame = sys._getframe(1)
        block = self._entry
        if block is None:
            site = self._sites.get((id(frame.f_code), frame.f_lasti))
            if site is None:
                block = self._capture(frame)
            else:
                self.block = self._entry = block = captured(site, frame)
        elif not is_entering(frame, block):
            raise errors.not_a_with(frame.f_code, frame.f_lineno)
        trace_function = self._arm(block)
        if trace_function is not None:
            sys.settrace(trace_function)  # last, and in no function of its own: all code is slow from here on
        return self

    def _arm(self, block: Block) -> TraceFunction | None:
        """Return what `sys.settrace` has to be called with for the block to be left, or None if nothing has."""
        site, frame = block.site, block.frame
        if site.way is None:
            return None
        assert frame is not None
        self._signal = signal = errors.ExitTracingException()
        try:
            return site.way.arm(frame, site.skip_offset, signal)
        except errors.TraceSuspended:
            self._entry = self._signal = block.frame = None
            raise

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        exc_traceback: TracebackType | None,
    ) -> bool:
        """Hand the block to the backend, and write back what it saved; let any other error of the `with` line through."""
        block = self._leave(exc_value)
        if block is None:
            return False
        token = _RUNNING.set(saving.inside(_RUNNING.get()))
        try:
            block.open(self)
            backend = self.backend  # a local is called faster than an attribute
            backend(self)
        except BaseException as error:
            # A bare `raise` adds no line of this function (3.11 and later).
            error.__traceback__ = tracebacks.visible(error.__traceback__)
            raise
        finally:
            _RUNNING.reset(token)
            self._entry = block.frame = None
            if block.site.own_name is not None:
                block.close(self)
        return True

    def __aenter__(self) -> Awaitable[Any]:
        """Do what `__enter__` does, for `async with`."""
        Tracer.__enter__(self)
        return _Ready(self)

    def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        exc_traceback: TracebackType | None,
    ) -> Awaitable[bool]:
        """Do what `__exit__` does, and await what the backend returns."""
        # Not in a coroutine of ours: that has an error being handled of its own, beside the signal of the caller's.
        return self._exit_async(self._leave(exc_value))

    async def _exit_async(self, block: Block | None) -> bool:
        if block is None:
            return False
        token = _RUNNING.set(saving.inside(_RUNNING.get()))
        try:
            block.open(self)
            answer = self.backend(self)
            if answer is not None:
                await answer
        except BaseException as error:
            error.__traceback__ = tracebacks.visible(error.__traceback__)
            raise
        finally:
            _RUNNING.reset(token)
            self._entry = block.frame = None
            if block.site.own_name is not None:
                block.close(self)
        return True

    def _leave(self, error: BaseException | None) -> Block | None:
        """Undo the arming; return the block if Python skipped it, or None if `error` is one of the `with` line."""
        block, signal = self._entry, self._signal
        assert block is not None
        if error is not signal:
            self._signal = None
            self._disarm(block, signal)
            frame = block.frame
            self._entry = block.frame = None
            if error is None:
                assert frame is not None
                raise errors.ran_in_place(frame.f_code, frame.f_lineno)
            return None
        if signal is not None:
            self._signal = None
            if signal.has_displaced:
                self._disarm(block, signal)
            # The block must not see the signal as an error that is being handled.
            context = signal.__context__
            if context is None:
                frames.forget_handled()
            else:
                frames.set_handled(context)
            signal.__traceback__ = None
        return block

    @staticmethod
    def _disarm(block: Block, signal: errors.ExitTracingException | None) -> None:
        frame, way = block.frame, block.site.way
        if signal is not None:
            assert frame is not None
            assert way is not None
            way.disarm(frame, signal)

    # Run

    def execute(self, code: CodeType | None = None) -> Any:
        """Run the block once and write back what it bound, also when it raised half-way.

        Args:
            code: Code to run instead, with the same free variables as `info.code`; by default the block's own.

        Returns:
            None, or for `async with` a coroutine that does all this when awaited.
        """
        block = self.block
        if code is not None and code is not block.code:
            block.replace_code(code)
        if block.site.body.is_async:
            return self._execute_async()
        try:
            block.run()
        finally:
            self.write_back()
        return None

    async def _execute_async(self) -> None:
        try:
            await self.block.run()
        finally:
            self.write_back()

    def write_back(self) -> None:
        """Bind in the caller's frame what the block bound: all of it in a nested trace, only what was saved in the outermost."""
        self.block.write_back()

    @property
    def reads(self) -> tuple[str, ...]:
        """The names that the block needs from its caller."""
        return self.block.reads

    @property
    def writes(self) -> tuple[str, ...]:
        """The names that the block binds for its caller."""
        return self.block.writes

    @property
    def source_text(self) -> str:
        """The text of the `with` statement."""
        return self.block.source_text

    # Travel

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what cannot travel (the backend, the block, the frame); `info` says where the tracer was."""
        state = {name: value for name, value in vars(self).items() if name not in _STAYS}
        state["_info"] = self.info
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take over the state of a tracer from elsewhere, with the default backend."""
        self.backend = _IN_PLACE
        self.__dict__.update(state)
