"""`with Tracer():`: enter, skip, hand to a backend, write back. Choreography only."""

from __future__ import annotations

import ast
import sys
from types import FrameType, TracebackType
from typing import Any

from tracer_core import capture, errors, frames, locate, saving, skip, tracebacks
from tracer_core.backends import Backend, InPlaceBackend
from tracer_core.block import Block

_IN_PLACE = InPlaceBackend()


class Tracer:
    """Captures the block of its `with` statement and hands it to a backend instead of letting it run."""

    block: Block
    _frame: FrameType | None = None
    _signal: errors.ExitTracingException | None = None
    _captured = False

    def __init__(self, backend: Backend | None = None) -> None:
        self.backend: Backend = _IN_PLACE if backend is None else backend

    def capture(self) -> None:
        if not self._captured:
            frame = sys._getframe(2)
            while frame.f_code.co_name == "__enter__":
                frame = frame.f_back
            self._frame = frame
            self.block = Block(capture.site(frame, self), frame)
            self._captured = True

    def build(self, node: locate.Item) -> ast.Module:
        return ast.Module(body=node.block, type_ignores=[])

    def __enter__(self) -> Any:
        self.capture()
        site = self.block.site
        if site.hooked:
            self._signal = skip.arm(self._frame, site)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        signal, frame = self._signal, self._frame
        self._signal = self._frame = None
        if signal is not None:
            skip.disarm(frame, signal)
        if error is not signal:
            self.block.close()
            if error is None:
                raise errors.ran_in_place(frame.f_code, frame.f_lineno)
            return False
        if signal is not None:
            frames.set_handled(signal.__context__)
            signal.__traceback__ = None
            signal.__context__ = None
        _, token = saving.enter()
        try:
            self.block.open()
            self.backend(self)
        except BaseException as raised:
            raised.__traceback__ = tracebacks.visible(raised.__traceback__)
            raise
        finally:
            saving.leave(token)
            self.block.close()
        return True

    def execute(self) -> None:
        """Run the block once and hand back what it bound, also when it raised half-way."""
        try:
            self.block.run()
        finally:
            self.write_back()

    def write_back(self) -> None:
        self.block.write_back()
