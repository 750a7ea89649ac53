"""The lines a user wrote, without ours.

An error that leaves `with Tracer():` has passed through the tracer, its backend and what runs the block. `visible` drops
the frames of every folder that `hide` registered, this package's own first.
"""

from __future__ import annotations

import os
import sys
from types import TracebackType

# Folders whose frames are dropped; grows at import of the packages that build on this one, for the life of the process.
_hidden: tuple[str, ...] = ()


def hide(folder: str | os.PathLike[str]) -> None:
    """Drop the frames of the files under `folder` from tracebacks that leave a traced block."""
    global _hidden
    prefix = os.path.join(os.fspath(folder), "")
    if prefix not in _hidden:
        _hidden = (*_hidden, prefix)


def is_hidden(filename: str) -> bool:
    """Return whether frames of `filename` are dropped."""
    return filename.startswith(_hidden)


def visible(traceback: TracebackType | None) -> TracebackType | None:
    """Return `traceback`, that of an error being handled, without the frames of hidden folders.

    The entries that stay are the same objects. On 3.10 the first entry stays as well, since a bare `raise` goes on with it.
    """
    kept = [traceback] if traceback is not None and sys.version_info < (3, 11) else []
    entry = traceback.tb_next if kept and traceback is not None else traceback
    while entry is not None:
        if not entry.tb_frame.f_code.co_filename.startswith(_hidden):
            kept.append(entry)
        entry = entry.tb_next
    following: TracebackType | None = None
    for entry in reversed(kept):
        entry.tb_next = following
        following = entry
    return following


hide(os.path.dirname(__file__))
