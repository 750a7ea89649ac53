"""The stream between two contributions, from `layer.resid_mid = x`.

The forward keeps the tensor under a second name while the norm reads it:

    residual = hidden_states
    hidden_states = self.post_attention_layernorm(hidden_states)

Replacing the norm's input would change what the MLP sees and not what it is added to. So an assigned value is copied into
the tensor itself, which both names hold. The tensor is the block's own, made by the addition just before; autograd
follows the copy.
"""

from __future__ import annotations

from typing import Any

from interp_components import keys
from interp_components.interleaving import Location, Worker
from interp_components.properties import EProperty
from interp_components.properties.eproperty import V


class ResidualEProperty(EProperty[V]):
    """A value that the forward goes on with under more than one name, so that writes go into the tensor."""

    def _replace(self, obj: Any, worker: Worker, location: Location, key: keys.Key, value: Any) -> None:
        served = worker.look(location)
        self._picked(obj, key, served).copy_(value)
        # Nothing is left to replace; the request tells the receipt that there was a write.
        worker.replace(location, served)
