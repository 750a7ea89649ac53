"""Skipping with `sys.monitoring`: a line event at the first line of the block raises the signal."""

from __future__ import annotations

import sys
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

from tracer_core.errors import ExitTracingException

if TYPE_CHECKING:
    from tracer_core.capture import Site

_monitoring = sys.monitoring  # type: ignore[attr-defined,unused-ignore]  # 3.12 and later; mypy checks for 3.10
_TOOL = 4
_DISABLE = _monitoring.DISABLE

_armed: dict[FrameType, tuple[int, ExitTracingException]] = {}
_points: set[tuple[int, int]] = set()


def _on_line(code: CodeType, line: int) -> Any:
    frame = sys._getframe(1)
    entry = _armed.get(frame)
    if entry is not None and entry[0] == frame.f_lasti:
        del _armed[frame]
        raise entry[1]
    return None if (id(code), frame.f_lasti) in _points else _DISABLE


def watch(site: Site, code: CodeType) -> None:
    if _monitoring.get_tool(_TOOL) is None:
        _monitoring.use_tool_id(_TOOL, "tracer_core")
        _monitoring.register_callback(_TOOL, _monitoring.events.LINE, _on_line)
    _points.add((id(code), site.skip_offset))
    _monitoring.set_local_events(_TOOL, code, _monitoring.events.LINE)
    _monitoring.restart_events()


def arm(frame: FrameType, site: Site) -> ExitTracingException:
    signal = ExitTracingException()
    _armed[frame] = site.skip_offset, signal
    return signal


def disarm(frame: FrameType, signal: ExitTracingException) -> None:
    _armed.pop(frame, None)
