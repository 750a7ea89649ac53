"""Skipping with `sys.monitoring` (3.12 and later): an event at the first instruction of a block raises its signal.

Where the block begins a line, which is nearly always, that is a line event, subscribed for the code object once and for
all: every line that is no skip point answers DISABLE, so a warm function carries one instrumented place per block, and
arming is one entry in a dictionary. `sys.settrace` instead would cost 16 to 25 microseconds for each entry.

A block that begins in the middle of a line needs instruction events. CPython 3.12 to 3.15 lose those for good once line
events are on in the code and the set of global events changes (a debugger starts), so they have a tool id of their own
and are subscribed anew at each entry, under a lock held until the signal is raised.
"""

from __future__ import annotations

import sys
import threading
from threading import get_ident
from types import CodeType, FrameType
from typing import Any

from tracer_core import errors
from tracer_core.errors import ExitTracingException

_monitoring: Any = getattr(
    sys, "monitoring", None
)  # Any: mypy looks at this package as 3.10 does, which has no such module
_TOOL_NAME = "tracer_core"
# Not 0, 1, 2: a debugger, coverage and a profiler take just these, and fail when they are taken; hypothesis takes 3.
_IDS = (4, 5, 3)

# Key: a frame between its `__enter__` and its skip point; value: that point and what to raise there. The frame's own thread
# alone touches its entry.
_armed: dict[FrameType, tuple[int, ExitTracingException]] = {}

# Key: id of a watched code object; value: its skip points that begin a line; removed by `forget` when the code goes.
_line_points: dict[int, set[int]] = {}

# The tool ids in use, by kind of event; taken at the first need, kept for the life of the process.
_tools: dict[str, int] = {}

# Held while a tool id is taken or a point is added: a thread that finds either is to find it ready.
_watch_lock = threading.RLock()

# Held from subscribing instruction events until the signal is raised, so that no other thread subscribes in between.
_instruction_lock = threading.RLock()


# The ids of the threads whose probe was heard; each thread adds and removes its own, within one arming.
_heard: set[int] = set()


def _probe() -> None:
    """Do nothing, watched: unheard inside an event callback, where Python reports no further events."""


def _on_probe(code: CodeType, offset: int) -> None:
    _heard.add(get_ident())


def _refuse_silence(frame: FrameType) -> None:
    """Raise `TraceSuspended` where this thread gets no events."""
    thread = get_ident()
    _probe()
    if thread not in _heard:
        raise errors.suspended(frame)
    _heard.discard(thread)


def _tool(kind: str) -> int | None:
    """Return the id of the tool for `kind` events, LINE or INSTRUCTION, or None when all ids are taken."""
    if kind not in _tools:
        for number in _IDS:
            if _monitoring.get_tool(number) is None:
                _monitoring.use_tool_id(number, _TOOL_NAME)
                _tools[kind] = number
                break
        else:
            return None
        if kind == "LINE":
            _monitoring.register_callback(number, _monitoring.events.LINE, _on_line)
            _monitoring.register_callback(number, _monitoring.events.PY_START, _on_probe)
            _monitoring.set_local_events(number, _probe.__code__, _monitoring.events.PY_START)
        else:
            _monitoring.register_callback(number, _monitoring.events.INSTRUCTION, _on_instruction)
    return _tools[kind]


def watch(code: CodeType, offset: int, *, starts_line: bool) -> bool:
    """Prepare `code` for being left at `offset`; return False when no tool id is free."""
    with _watch_lock:
        line_tool = _tool("LINE")
        if line_tool is None:
            return False
        if not starts_line:
            return _tool("INSTRUCTION") is not None
        points = _line_points.setdefault(id(code), set())
        points.add(offset)
        if len(points) == 1:
            _monitoring.set_local_events(line_tool, code, _monitoring.events.LINE)
        else:
            # The line may have answered DISABLE before. Off and on again would leave a gap for other threads.
            _monitoring.restart_events()
    return True


def forget(code_id: int, points: dict[int, set[int]] = _line_points) -> None:
    """Drop what is kept for a code object that is no more; `points` is bound here since code dies after this module, too."""
    points.pop(code_id, None)


def _on_line(code: CodeType, line: int) -> Any:
    frame = sys._getframe(1)
    armed = _armed.get(frame)
    if armed is not None and armed[0] == frame.f_lasti:
        del _armed[frame]
        frame.f_trace = None  # a debugger need not hear of the signal; `disarm` puts it back
        raise armed[1]
    points = _line_points.get(id(code))
    return None if points is not None and frame.f_lasti in points else _monitoring.DISABLE


def _on_instruction(code: CodeType, offset: int) -> Any:
    frame = sys._getframe(1)
    armed = _armed.get(frame)
    if armed is None or armed[0] != offset:
        return _monitoring.DISABLE
    del _armed[frame]
    _instruction_lock.release()
    frame.f_trace = None
    raise armed[1]


def arm_line(frame: FrameType, offset: int, signal: ExitTracingException) -> None:
    """Make the arrival of `frame` at `offset`, where a line begins, raise `signal`.

    Raises:
        TraceSuspended: Python reports no events here.
    """
    _refuse_silence(frame)
    local_trace = frame.f_trace
    if local_trace is not None:
        signal.has_displaced, signal.local_trace = True, local_trace
    _armed[frame] = offset, signal


def arm_instruction(frame: FrameType, offset: int, signal: ExitTracingException) -> None:
    """Make the arrival of `frame` at `offset` raise `signal`.

    Raises:
        TraceSuspended: Python reports no events here.
    """
    _refuse_silence(frame)
    local_trace = frame.f_trace
    if local_trace is not None:
        signal.has_displaced, signal.local_trace = True, local_trace
    _instruction_lock.acquire()
    _armed[frame] = offset, signal
    tool = _tools["INSTRUCTION"]
    _monitoring.set_local_events(tool, frame.f_code, 0)
    _monitoring.set_local_events(tool, frame.f_code, _monitoring.events.INSTRUCTION)


def disarm_line(frame: FrameType, signal: ExitTracingException) -> None:
    """Undo `arm_line`, whether the signal was raised or not."""
    if _armed:
        _armed.pop(frame, None)
    if signal.local_trace is not None:
        frame.f_trace = signal.local_trace


def disarm_instruction(frame: FrameType, signal: ExitTracingException) -> None:
    """Undo `arm_instruction`, whether the signal was raised or not."""
    if _armed.pop(frame, None) is not None:
        _instruction_lock.release()
    if signal.local_trace is not None:
        frame.f_trace = signal.local_trace
