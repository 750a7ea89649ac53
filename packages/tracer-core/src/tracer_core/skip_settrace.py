"""Skipping with the frame's trace function: on 3.10 and 3.11, and where `sys.monitoring` has no tool id left.

Python calls a frame's trace function only while the thread has one as well, and takes the thread's away when the hook
raises. What was there before decides what to do about that:

- nothing: a function that does nothing stands in for it, and is gone with the raise;
- a tracer written in Python (pdb): it stays, since events of the one frame go to the frame's hook;
- a tracer written in C (coverage): it is called for every frame whatever its hook is, so it is taken off, and told that our
  own frames return; afterwards it is put back and told that the frames of the exit are entered. Otherwise its idea of which
  frame runs goes wrong, and it files lines under the wrong file.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import FrameType, FunctionType, MethodType
from typing import Any

from tracer_core.errors import ExitTracingException


class Displaced:
    """The trace functions and settings that arming replaced."""

    __slots__ = ("is_foreign", "opcodes", "tracer")

    def __init__(self, frame: FrameType) -> None:
        self.tracer = sys.gettrace()
        self.is_foreign = not isinstance(self.tracer, (FunctionType, MethodType, type(None)))
        self.opcodes = frame.f_trace_opcodes


def _nothing(frame: FrameType, event: str, argument: Any) -> None:
    """Trace nothing."""


def _between(inner: FrameType | None, outer: FrameType) -> Iterator[FrameType]:
    """Yield the frames from `inner` outwards, up to `outer` and without it."""
    while inner is not None and inner is not outer:
        yield inner
        inner = inner.f_back


def arm_line(frame: FrameType, offset: int) -> ExitTracingException:
    """Make the arrival of `frame` at `offset`, where a line begins, raise the returned signal."""
    return _arm(frame, offset, False)


def arm_instruction(frame: FrameType, offset: int) -> ExitTracingException:
    """Make the arrival of `frame` at `offset` raise the returned signal."""
    return _arm(frame, offset, True)


def _arm(frame: FrameType, offset: int, opcodes: bool) -> ExitTracingException:
    signal = ExitTracingException()
    signal.local_trace = frame.f_trace
    signal.displaced = displaced = Displaced(frame)

    # A plain function: a callable object costs 1.7 microseconds more (3.11).
    def leave(frame: FrameType, event: str, argument: Any) -> Any:
        if frame.f_lasti == offset and event != "exception":
            raise signal
        return leave

    if displaced.is_foreign:
        sys.settrace(None)
        for own in _between(sys._getframe(), frame):
            own.f_trace = None
            displaced.tracer(own, "return", None)  # type: ignore[misc]  # foreign, so not None
    frame.f_trace = leave
    if opcodes:
        frame.f_trace_opcodes = True
    if displaced.tracer is None or displaced.is_foreign:
        sys.settrace(_nothing)
    return signal


def disarm(frame: FrameType, signal: ExitTracingException) -> None:
    """Undo arming, whether the signal was raised or not."""
    displaced = signal.displaced
    frame.f_trace = signal.local_trace
    frame.f_trace_opcodes = displaced.opcodes
    if displaced.is_foreign:
        for own in reversed(list(_between(sys._getframe(), frame))):
            displaced.tracer(own, "call", None)
    sys.settrace(displaced.tracer)


# What the probe was called with; empty again after each look.
_heard: list[str] = []


def _listen(frame: FrameType, event: str, argument: Any) -> None:
    _heard.append(event)


def _probe() -> None:
    """Do nothing, traced."""


def is_suspended() -> bool:
    """Return whether this thread is inside a trace or profile function, where Python reports no further events."""
    tracer = sys.gettrace()
    if tracer is None and sys.getprofile() is None:
        return False
    sys.settrace(_listen)
    try:
        _probe()
    finally:
        sys.settrace(tracer)
    heard = bool(_heard)
    _heard.clear()
    return not heard
