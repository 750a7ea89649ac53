"""Whether a value is there, from `EProperty(..., unavailable=needs_eager)`.

A value that a model, a checkpoint or a loading option does not have says so before anything runs, with the reason and
the way to get it. The reason is a sentence, or a predicate of the module that carries the value: it runs on every access,
so that the answer follows the config of this very instance, block by block.

`Unavailable` is not an `AttributeError`. An envoy answers a missing attribute from the module it wraps, which would turn
the reason into "no attribute"; so `hasattr(envoy, name)` raises, and `envoy.support()` is how to ask.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from interp_components.errors import Unavailable

# Any: a predicate is written for one component class and asks whatever that class has.
Availability: TypeAlias = str | Callable[[Any], str | None] | None


def reason_for(availability: Availability, host: Any, name: str) -> str | None:
    """Return why `name` is not there on this host, or None when it is.

    Raises:
        RuntimeError: The predicate raised an AttributeError, which is a mistake in the predicate.
    """
    if availability is None or isinstance(availability, str):
        return availability
    try:
        return availability(host)
    except AttributeError as error:
        raise RuntimeError(f"the availability check of {host.path}.{name} failed: {error}") from error


def require(availability: Availability, host: Any, name: str) -> None:
    """Raise `Unavailable` when `name` is not there on this host."""
    reason = reason_for(availability, host, name)
    if reason is not None:
        raise Unavailable(f"{host.path}.{name} is not available: {reason}")
