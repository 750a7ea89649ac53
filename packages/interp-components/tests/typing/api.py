"""What an editor knows of interp_components: read by type checkers, never run."""

from __future__ import annotations

from torch import Tensor
from typing_extensions import assert_type

from interp_components import (
    Attention,
    EProperty,
    Layer,
    Pattern,
    StandardizedTransformer,
    interface_reason,
    save,
    unavailable,
)
from interp_components.display import Report, SupportTable
from interp_components.tracing import Trace


class Mine(Attention):
    """A component of one's own."""

    @EProperty("source.attention_interface_1.inputs", select=4, unavailable=interface_reason)
    def mask(self, value: Tensor) -> Pattern:
        """The mask."""
        return value

    attention_head_outputs = unavailable("left out")


model = StandardizedTransformer("toy", envoys={"self_attn": Mine})
assert_type(model.attn_implementation, str)
assert_type(model.support(), SupportTable)
assert_type(model.check(), Report)
assert_type(model.check().ok, bool)

with model.trace("one", strict=True) as tracer:
    layer: Layer = model.layers[3]
    assert_type(layer.is_parallel, bool)
    hidden: Tensor = layer.layer_output
    assert_type(save(hidden), Tensor)
    assert_type(model.project_on_vocab(hidden), Tensor)
assert_type(tracer, Trace)

# On a class, a value is its descriptor.
assert_type(Mine.mask.dims, tuple[str, ...])
assert_type(Mine.mask.inside_forward(), bool)
