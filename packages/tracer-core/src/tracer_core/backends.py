"""What "run the block" means: the protocol, and the backend that runs it in place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from tracer_core.tracer import Tracer


class Backend(Protocol):
    """Decides when, where and how often a captured block runs."""

    def __call__(self, tracer: Tracer, /) -> Any:
        """Run `tracer.execute()`, now, later or never."""


class InPlaceBackend:
    """Runs the block once, where it was written, when the `with` statement ends."""

    def __call__(self, tracer: Tracer, /) -> Any:
        """Run the block and return what `execute` returns: None, or for an `async with` the coroutine of the block."""
        return tracer.execute()
