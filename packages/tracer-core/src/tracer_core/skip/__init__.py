"""Leaving a block before anything of it runs, and giving back whatever hook was displaced.

    with Tracer() as t:     # __enter__ arms; Python stores `t` itself
        first()             # never runs: the signal is raised here

`way(...)` prepares a skip point once and returns the two functions that serve it: `arm` makes the frame's next arrival there
raise a signal, and returns what `sys.settrace` has to be called with for that, or None; `disarm` undoes what arming did, and
can be left out for a signal that was raised and displaced nothing. `monitoring` does this with `sys.monitoring`,
`settrace` with the frame's trace function.
"""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any, NamedTuple, TypeAlias

from tracer_core.errors import ExitTracingException
from tracer_core.skip import monitoring, settrace
from tracer_core.versions import V312

TraceFunction: TypeAlias = Callable[[FrameType, str, Any], Any]
forget = monitoring.forget


class Way(NamedTuple):
    """How one skip point is served."""

    arm: Callable[[FrameType, int, ExitTracingException], TraceFunction | None]
    disarm: Callable[[FrameType, ExitTracingException], None]


_LINE = Way(monitoring.arm_line, monitoring.disarm_line)
_INSTRUCTION = Way(monitoring.arm_instruction, monitoring.disarm_instruction)
_TRACED_LINE = Way(settrace.arm_line, settrace.disarm_line)
_TRACED_INSTRUCTION = Way(settrace.arm_instruction, settrace.disarm_instruction)


def way(code: CodeType, offset: int, *, starts_line: bool) -> Way | None:
    """Return how to leave `code` at `offset`, after preparing it.

    None from 3.12 on where no tool id is free and no line begins at `offset`: a trace function gets lines there, but CPython
    loses events of single instructions once the set of global events has changed.
    """
    if not V312:
        return _TRACED_LINE if starts_line else _TRACED_INSTRUCTION
    if monitoring.watch(code, offset, starts_line=starts_line):
        return _LINE if starts_line else _INSTRUCTION
    return _TRACED_LINE if starts_line else None
