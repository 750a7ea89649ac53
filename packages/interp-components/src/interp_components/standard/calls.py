"""What is found out once per call of a module, for keys that depend on the call.

A forward can go different ways from call to call: with a cache or without, a prompt or a single token. A key that has to
know asks the running model once per call, at the call's first access, and the answer is remembered with the block. Asking
again would be too late, since by then the block may be parked inside the forward.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from interp_components.envoys import Envoy
from interp_components.interleaving import current

T = TypeVar("T")


def per_call(envoy: Envoy, name: str, compute: Callable[[], T]) -> T:
    """Return what `compute()` returned at the first access of this block in the present call of the envoy's module.

    The present call is the one that a request made now would be served from.
    """
    worker = current(f"{envoy.path}.{name}")
    note = (per_call, name, envoy.path, worker.occurrence(envoy.location("output")))
    if note not in worker.notes:
        worker.notes[note] = compute()
    found: T = worker.notes[note]
    return found


def argument(envoy: Envoy, name: str) -> Any:
    """Return the keyword argument `name` of the present call of the envoy's module, None when it has none."""
    # Any: an argument is whatever the forward takes.
    return per_call(envoy, name, lambda: envoy.inputs[1].get(name))
