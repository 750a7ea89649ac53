"""What `with model.trace(...)` and its relatives mean."""

from pathlib import Path

from interp_components.tracing.calls import Call, as_call, join
from interp_components.tracing.trace import Invoke, Trace
from interp_components.tracing.traceable import Traceable
from tracer_core import tracebacks

tracebacks.hide(Path(__file__).parents[1])

__all__ = ["Call", "Invoke", "Trace", "Traceable", "as_call", "join"]
