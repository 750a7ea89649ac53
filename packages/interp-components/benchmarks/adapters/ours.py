"""interp_components by its two doors."""

from __future__ import annotations

from typing import Any

from adapters.traced import Generating, Traced
from interp_components import Envoy, StandardizedTransformer
from tracer_core import save


class Plain(Traced):
    """Any module, under its own names."""

    needs_transformer = False
    save = staticmethod(save)

    def set_up(self) -> None:
        self.model: Any = Envoy(self.module)


class Standard(Generating):
    """A transformer: it reads and pads inputs, knows its values by standard names, and generates."""

    save = staticmethod(save)

    def set_up(self) -> None:
        self.model: Any = StandardizedTransformer(self.module)

    def pattern(self, block: Any) -> Any:
        return block.attn.attention_probabilities
