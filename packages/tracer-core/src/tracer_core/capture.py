"""The caller's frame and the instruction it is at -> the `Block` of the `with` statement there, prepared once per site.

A site is one `with` item in one code object. It is found again by the identity of the code object and the offset of the
instruction that enters the item; never by file and line, which two cells of a notebook share, and never by the code
object's own equality, which two files can share.
"""

from __future__ import annotations

import weakref
from types import CodeType, FrameType
from typing import TYPE_CHECKING

from tracer_core import errors, frames, locate, scope, skip, source
from tracer_core.compile import Body, compile_block

if TYPE_CHECKING:
    from tracer_core.tracer import Tracer


class Site:
    """What is known about one `with` item: the compiled block, and where to leave."""

    __slots__ = (
        "body",
        "code",
        "enter",
        "hooked",
        "is_nested",
        "mid_line",
        "resume",
        "skip_line",
        "skip_offset",
        "target",
    )

    def __init__(self, code: CodeType, enter: frames.Enter, body: Body, skippable: bool) -> None:
        raw = code.co_code
        store = frames.target_store(raw, enter.after)
        self.code = weakref.ref(code)
        self.enter = enter
        self.body = body
        self.is_nested = body.code.co_freevars is not None and id(code) in _bodies
        self.hooked = skippable
        covered = frames.is_covered(code, enter.after, store.end)
        self.skip_offset = store.end if covered else store.last
        starts = frames.line_starts(code)
        self.mid_line = self.skip_offset not in starts
        self.skip_line = starts.get(self.skip_offset)
        _bodies.add(id(body.code))


# Key: id of the code object and offset of the enter; value: the site; lives as long as the code object (a weak reference
# to it removes the entry); written under the GIL by whoever comes first, equal for all.
_sites: dict[tuple[int, int], Site] = {}
_keepers: dict[int, weakref.ref[CodeType]] = {}
# The code objects of all blocks, to know a frame that runs one. By identity would be right, equality is harmless here.
_bodies: set[int] = set()


def site(frame: FrameType, tracer: Tracer) -> Site:
    """Return the site of the `with` item that `frame` is entering."""
    code = frame.f_code
    key = (id(code), frame.f_lasti)
    found = _sites.get(key)
    if found is None:
        found = _make(frame, tracer)
        _sites[key] = found
    return found


def _make(frame: FrameType, tracer: Tracer) -> Site:
    code = frame.f_code
    enter = frames.enter_at(code.co_code, frame.f_lasti)
    if enter is None:
        raise errors.not_a_with(code, frame.f_lineno)
    lines = source.lines(frame)
    if not lines:
        raise errors.no_source(code, frame.f_lineno)
    item = locate.item(lines, locate.place(code, enter))
    if item is None:
        raise errors.stale(code, frame.f_lineno, lines[frame.f_lineno - 1] if frame.f_lineno <= len(lines) else "")
    module = tracer.build(item)
    body = compile_block(module.body, code, scope.kind(frame), enter.is_async, lines)
    made = Site(code, enter, body, True)
    skip.watch(made, code)
    return made
