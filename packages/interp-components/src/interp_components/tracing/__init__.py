"""What `with model.trace(...)` and its relatives mean."""

from pathlib import Path

import interp_components.saving  # noqa: F401 - wherever there are traces, tensors have `save`
from interp_components.tracing.calls import Call, as_call, join
from interp_components.tracing.trace import Invoke, Trace
from interp_components.tracing.traceable import Traceable
from tracer_core import tracebacks

tracebacks.hide(Path(__file__).parents[1])

# What people wrap a module in: an envoy that can be run.
Envoy = Traceable

__all__ = ["Call", "Envoy", "Invoke", "Trace", "Traceable", "as_call", "join"]
