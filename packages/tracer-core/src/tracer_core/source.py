"""The text of the running code."""

from __future__ import annotations

import linecache
from types import FrameType


def lines(frame: FrameType) -> list[str]:
    """Return the lines of the file of `frame`, empty if there are none to be found."""
    return linecache.getlines(frame.f_code.co_filename, frame.f_globals)
