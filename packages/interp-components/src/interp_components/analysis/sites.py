"""Where edits go, by the words that people use: `over="heads"` is `layers[i].self_attn.attention_head_outputs`.

A site is a standard value of every block. Its layout says which of its axes are units (heads, neurons) and which is the
position, so that one sweep serves them all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from torch import Tensor

from interp_components.display import suggestion
from interp_components.errors import Unavailable
from interp_components.model import StandardizedTransformer
from interp_components.standard import Standard

_UNITS: Final = {"num_heads": "head", "num_kv_heads": "head", "intermediate": "neuron"}
_POSITIONS: Final = ("seq", "query")


@dataclass(frozen=True)
class Site:
    """A standard value that every block has.

    Attributes:
        name: What `over=` says.
        part: The part of the block that carries the value, empty for the block itself.
        value: The value's name.
        dims: The axes of the value, as its layout names them.
    """

    name: str
    part: str
    value: str
    dims: tuple[str, ...]

    @property
    def unit_axis(self) -> int | None:
        """The axis of heads or neurons, None where the value is of the whole block."""
        return next((axis for axis, name in enumerate(self.dims) if name in _UNITS), None)

    @property
    def unit(self) -> str | None:
        """What a number on the unit axis is: a head or a neuron."""
        return None if self.unit_axis is None else _UNITS[self.dims[self.unit_axis]]

    @property
    def position_axis(self) -> int:
        """The axis of tokens."""
        return next(axis for axis, name in enumerate(self.dims) if name in _POSITIONS)

    def read(self, model: StandardizedTransformer, layer: int) -> Tensor:
        """Return the value of a block, in a trace."""
        value: Tensor = getattr(_host(model, layer, self.part), self.value)
        return value

    def write(self, model: StandardizedTransformer, layer: int, value: Tensor) -> None:
        """Replace the value of a block, in a trace."""
        setattr(_host(model, layer, self.part), self.value, value)


_PLACES: Final = {
    "residual_in": ("", "layer_input"),
    "queries": ("self_attn", "attention_queries"),
    "keys": ("self_attn", "attention_keys"),
    "values": ("self_attn", "attention_values"),
    "patterns": ("self_attn", "attention_probabilities"),
    "heads": ("self_attn", "attention_head_outputs"),
    "attention": ("self_attn", "attention_output"),
    "residual_mid": ("", "resid_mid"),
    "neurons": ("mlp", "mlp_activations"),
    "mlp": ("mlp", "mlp_output"),
    "residual": ("", "layer_output"),
}
"""In the order in which a block comes to them."""


def site(model: StandardizedTransformer, name: str, layer: int = 0) -> Site:
    """Return the site of that name, as it is in a layer: blocks of one model can differ.

    Raises:
        ValueError: There is none.
        Unavailable: The blocks of this model have no such part.
    """
    if name not in _PLACES:
        raise ValueError(f"over={name!r} names no site{suggestion(name, _PLACES)}; there are {', '.join(_PLACES)}")
    part, value = _PLACES[name]
    return Site(name, part, value, _host(model, layer, part).values()[value].dims)


def sites(model: StandardizedTransformer, names: Iterable[str]) -> list[Site]:
    """Return the sites of these names, in the order in which a block comes to them; raises as `site` does."""
    found = [site(model, name) for name in dict.fromkeys(names)]
    return sorted(found, key=lambda each: list(_PLACES).index(each.name))


def layers_of(model: StandardizedTransformer, layers: int | Iterable[int] | None) -> tuple[int, ...]:
    """Return the numbers of blocks, ascending and from 0; all of them when None.

    Raises:
        ValueError: The model has no such block.
    """
    count = model.num_layers
    asked = range(count) if layers is None else [layers] if isinstance(layers, int) else list(layers)
    outside = [layer for layer in asked if not -count <= layer < count]
    if outside or not asked:
        raise ValueError(f"layers={asked} names no blocks of a model with {count}, 0 to {count - 1} or -{count} to -1")
    return tuple(sorted({layer % count for layer in asked}))


def record(model: StandardizedTransformer, arguments: Any, at: Site, layers: Sequence[int]) -> dict[int, Tensor]:
    """Return the values of blocks in a run, by block."""
    # Any: whatever `model.trace` takes.
    found: dict[int, Tensor] = {}
    with model.trace(arguments) as tracer:
        for layer in layers:
            found[layer] = at.read(model, layer)
        tracer.stop()
    return found


def _host(model: StandardizedTransformer, layer: int, part: str) -> Standard:
    block = model.layers[layer]
    host = getattr(block, part, None) if part else block
    if not isinstance(host, Standard):
        raise Unavailable(f"{block.path} has no {part or 'block'} that a family describes, see `model.support()`")
    return host
