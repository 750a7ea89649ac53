"""Contributions that the block scales as it adds them, from `hidden_states = residual + hidden_states * multiplier`.

The product has no place of its own, so the value is computed from what the module returns and an edit is divided again.
A number that was not edited goes back as the very number that it was: `x * 0.22 / 0.22` is not always `x`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from interp_components import keys
from interp_components.interleaving import Location, Worker
from interp_components.properties import EProperty, selection
from interp_components.properties.availability import Availability
from interp_components.properties.eproperty import Stub, V


class ScaledEProperty(EProperty[V]):
    """A value that is what the model serves, times a scale.

    Args:
        key: as for `EProperty`.
        scale: `f(envoy) -> float`, the factor that the block applies later.
        description: as for `EProperty`.
        unavailable: as for `EProperty`.
        select: as for `EProperty`.
    """

    # Any: the host is whatever component carries the value.
    _transform: Stub | None = staticmethod(lambda obj, view, raw: view)

    def __init__(
        self: ScaledEProperty[Any],
        key: str,
        scale: Callable[[Any], float],
        description: str | None = None,
        unavailable: Availability = None,
        select: selection.Select = None,
    ) -> None:
        super().__init__(key, description, unavailable, select)
        self._scale = scale

    def _viewed(self, obj: Any, raw: Any) -> Any:
        return super()._viewed(obj, raw) * self._scale(obj)

    def _replace(self, obj: Any, worker: Worker, location: Location, key: keys.Key, value: Any) -> None:
        served, scale = worker.look(location), self._scale(obj)
        raw = self._picked(obj, key, served)
        unscaled = torch.where(value == raw * scale, raw, value / scale)
        worker.replace(location, selection.put(key.attribute, served, self._select_for(obj), unscaled))
