"""Skipping with the frame's trace function."""

from __future__ import annotations

import sys
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

from tracer_core.errors import ExitTracingException

if TYPE_CHECKING:
    from tracer_core.capture import Site


def watch(site: Site, code: CodeType) -> None:
    pass


def _nothing(frame: FrameType, event: str, argument: Any) -> None:
    return None


def arm(frame: FrameType, site: Site) -> ExitTracingException:
    signal = ExitTracingException()
    offset = site.skip_offset

    def leave(frame: FrameType, event: str, argument: Any) -> Any:
        if frame.f_lasti == offset:
            raise signal
        return leave

    signal.displaced = sys.gettrace(), frame.f_trace, frame.f_trace_opcodes
    if site.mid_line:
        frame.f_trace_opcodes = True
    frame.f_trace = leave
    sys.settrace(_nothing)
    return signal


def disarm(frame: FrameType, signal: ExitTracingException) -> None:
    tracer, local, opcodes = signal.displaced
    sys.settrace(tracer)
    frame.f_trace = local
    frame.f_trace_opcodes = opcodes
