"""A module with standard values, from `class Attention(Standard)` and `attn.support()`.

A component is an envoy whose class carries descriptors. Adding a value is adding one descriptor; nothing else lists them.
"""

from __future__ import annotations

from typing import Any, ClassVar

from interp_components.display import SupportTable
from interp_components.envoys.listing import values_of
from interp_components.properties import EProperty
from interp_components.tracing import Traceable


class Standard(Traceable):
    """An envoy with values under standard names.

    Attributes:
        returns_tuple: Whether the module returns a tuple with its tensor first, for whoever has to make such a return.
    """

    returns_tuple: ClassVar[bool] = False

    @property
    def config(self) -> Any:
        """The config that the module was built with, or the model's when the module keeps none."""
        # Any: a config has the fields of its architecture.
        return getattr(self._module, "config", None) or self.root._module.config

    @classmethod
    def values(cls) -> dict[str, EProperty[Any]]:
        """Return the standard values by name, those of the base classes first."""
        return values_of(cls)

    def support(self) -> SupportTable:
        """Return each value's reason for not being there, or None when it is; outside a trace, too."""
        return SupportTable({name: value.reason(self) for name, value in self.values().items()})
