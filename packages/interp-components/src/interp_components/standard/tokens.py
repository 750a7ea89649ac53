"""Values of a mixture, which the model keeps as one list of tokens, from `layer.mlp.router_logits`.

A router and its experts see `[batch * seq, ...]`, whoever's rows these are. A block sees its own rows, `[batch, seq,
...]`, as a view of the model's tensor: edits in place go through. The two axes are those of what the mixture is given,
which is asked for once per call, before the value itself.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor

from interp_components import keys
from interp_components.interleaving import Location, Worker
from interp_components.properties import EProperty, availability, selection
from interp_components.properties.eproperty import V
from interp_components.standard.calls import per_call

# Any: the host is whatever component carries the value.


class TokenEProperty(EProperty[V]):
    """A value whose tensor has one axis for all tokens, or has the layout's own axes already.

    The stub and the postprocess see the model's own tensor.
    """

    def __get__(self, obj: Any, owner: type | None = None) -> Any:
        """Return the value by row and position; the descriptor itself on a class."""
        if obj is not None:
            availability.require(self.unavailable, obj, self.name)
            _rows_and_positions(obj)
        return super().__get__(obj, owner)

    def _viewed(self, obj: Any, raw: Any) -> Any:
        value = super()._viewed(obj, raw)
        return value.view(*_rows_and_positions(obj), *value.shape[1:]) if self._is_flat(value) else value

    def _replace(self, obj: Any, worker: Worker, location: Location, key: keys.Key, value: Any) -> None:
        served = worker.look(location)
        if self._is_flat(self._picked(obj, key, served)):
            value = value.flatten(0, 1)
        worker.replace(location, selection.put(key.attribute, served, self._select_for(obj), value))

    def _is_flat(self, tensor: Tensor) -> bool:
        return tensor.ndim == len(self.dims) - 1


def _rows_and_positions(host: Any) -> tuple[int, int]:
    return per_call(host, "rows and positions", lambda: tuple(host.mlp_input.shape[:2]))
