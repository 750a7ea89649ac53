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
from collections.abc import Callable
from types import FrameType, FunctionType, MethodType
from typing import Any

from tracer_core import errors
from tracer_core.errors import ExitTracingException


def _nothing(frame: FrameType, event: str, argument: Any) -> None:
    """Trace nothing."""


def _own_frames(outer: FrameType) -> list[FrameType]:
    """Return the frames from `outer`, without it, inwards to the caller."""
    found: list[FrameType] = []
    inner = sys._getframe(1)
    while inner is not outer and inner.f_back is not None:
        found.append(inner)
        inner = inner.f_back
    found.reverse()
    return found


def arm_line(
    frame: FrameType, offset: int, signal: ExitTracingException, *, opcodes: bool = False
) -> Callable[..., Any] | None:
    """Make the arrival of `frame` at `offset`, where a line begins, raise `signal`, once the thread has what this returns as
    its trace function (None: it has one that will do). Not set here, since what runs under a trace function is slow.

    Raises:
        TraceSuspended: Python reports no events here.
    """
    tracer = sys.gettrace()
    if (tracer is not None or sys.getprofile() is not None) and _is_suspended(tracer):
        raise errors.suspended(frame)
    if tracer is not None:
        signal.has_displaced, signal.tracer, signal.local_trace = True, tracer, frame.f_trace
        _take_off(tracer, frame)

    # A plain function: a callable object costs 1.7 microseconds more (3.11). It returns None, which keeps it where it is: to
    # return itself it would have to hold itself, and wait for the garbage collector.
    def leave(frame: FrameType, event: str, argument: Any) -> None:
        if frame.f_lasti == offset and event != "exception":
            raise signal
        if event != "opcode":
            _tell(signal, frame, event, argument)

    frame.f_trace = leave
    if opcodes:
        signal.has_displaced = frame.f_trace_opcodes = True
    return _nothing if tracer is None or _is_foreign(tracer) else None


def arm_instruction(frame: FrameType, offset: int, signal: ExitTracingException) -> Callable[..., Any] | None:
    """Make the arrival of `frame` at `offset` raise `signal`, as `arm_line` does.

    Raises:
        TraceSuspended: Python reports no events here.
    """
    return arm_line(frame, offset, signal, opcodes=True)


def _tell(signal: ExitTracingException, frame: FrameType, event: str, argument: Any) -> None:
    """Hand an event on the way to the block, as of an `as` target on a line of its own, to what traced the frame before."""
    if signal.local_trace is None:
        return
    changed = signal.local_trace(frame, event, argument)
    if changed is not None:
        signal.local_trace = changed
    if sys.gettrace() is None:  # a debugger may stop listening, but the block has to be left all the same
        signal.tracer = signal.local_trace = None
        sys.settrace(_nothing)


def disarm_line(frame: FrameType, signal: ExitTracingException) -> None:
    """Undo arming, whether the signal was raised or not."""
    tracer = signal.tracer
    if tracer is None and signal.__traceback__ is not None:
        return  # the raise has taken both hooks away
    frame.f_trace = signal.local_trace
    if tracer is not None and _is_foreign(tracer):
        own = _own_frames(frame)
        # In this frame, since from the first call on the tracer hears every return; emptied, since the list is part of it.
        while own:
            tracer(own.pop(0), "call", None)
    sys.settrace(tracer)


def disarm_instruction(frame: FrameType, signal: ExitTracingException) -> None:
    """Undo arming, whether the signal was raised or not."""
    frame.f_trace_opcodes = False
    disarm_line(frame, signal)


def _is_foreign(tracer: object) -> bool:
    """Return whether `tracer` is not written in Python, and so gets the events of all frames, whatever their own hooks."""
    return not isinstance(tracer, (FunctionType, MethodType))


def _take_off(tracer: Any, frame: FrameType) -> None:
    """Make a foreign `tracer` believe that our frames have returned."""
    if _is_foreign(tracer):
        sys.settrace(None)
        own = _own_frames(frame)
        while own:
            own[-1].f_trace = None
            tracer(own.pop(), "return", None)


def _probe() -> None:
    """Do nothing, traced."""


def _is_suspended(tracer: Any) -> bool:
    """Return whether this thread is inside a trace or profile function, where Python reports no further events."""
    heard: list[str] = []  # of this call: another thread may look at the same time
    sys.settrace(lambda frame, event, argument: heard.append(event))
    try:
        _probe()
    finally:
        sys.settrace(tracer)
    return not heard
