"""What an editor knows of interp_components: read by type checkers, never run."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from typing_extensions import assert_type

from interp_components import (
    Attention,
    DerivedEProperty,
    Envoy,
    EProperty,
    Layer,
    Mlp,
    Pattern,
    StandardizedTransformer,
    interface_reason,
    save,
    unavailable,
)
from interp_components.display import Report, SupportTable
from interp_components.interleaving import Receipt
from interp_components.tracing import Trace
from interp_components.tracing.caches import Cache
from interp_components.tracing.trace import Invoke


def entropy(attention: Attention) -> Tensor:
    """A value that is computed from another."""
    pattern = attention.attention_probabilities
    return -(pattern * pattern.log()).sum(-1)


class Mine(Attention):
    """A component of one's own."""

    @EProperty("source.attention_interface_1.inputs", select=4, unavailable=interface_reason)
    def mask(self, value: Tensor) -> Pattern:
        """The mask."""
        return value

    @EProperty("inputs")
    def given(self, value: Any) -> int:
        """How many arguments there are."""
        return len(value)

    pattern_entropy = DerivedEProperty(entropy)
    loose = EProperty("output", select=1)
    attention_head_outputs = unavailable("left out")


model = StandardizedTransformer("toy", envoys={"self_attn": Mine})

# The tree.
assert_type(model.layers[3], Layer)
assert_type(model.layers[1:3], list[Layer])
assert_type(list(model.layers), list[Layer])
assert_type(model.layers[0].self_attn, Attention)
assert_type(model.layers[0].mlp, Mlp)
assert_type(model.num_layers, int)
assert_type(model.layers[0].self_attn.num_heads, int)
plain: Envoy = model.layers[0].self_attn.o_proj
plain = model.norm

with model.trace("one", strict=True) as tracer:
    # Values are tensors, which can be saved, and so can what is made of them.
    layer = model.layers[3]
    hidden: Tensor = layer.layer_output
    saved: Tensor = layer.output.save()
    saved = layer.layer_output.save()
    saved = layer.self_attn.attention_probabilities[:, 0].save(copy=True)
    saved = layer.self_attn.o_proj.output.save()
    saved = model.next_token_probs.argmax(-1).save()
    saved = (2 * model.logits).save()
    assert_type(layer.is_parallel, bool)
    assert_type(save(model.project_on_vocab(hidden)), Tensor)
    assert_type(model.project_on_vocab(hidden), Tensor)
    assert_type(model.input_size, torch.Size)
    # They are assigned and edited in place.
    layer.layer_output = hidden * 2
    layer.layer_output += 1
    layer.layer_output[:, -1] = 0
    layer.output = hidden
    layer.self_attn.attention_scores = torch.zeros(1, 1, 7, 7)
    layer.layer_output = "text"  # type: ignore[assignment]  # pyright: ignore[reportAttributeAccessIssue]  # no tensor
assert_type(tracer, Trace)
assert_type(tracer.receipt, Receipt)
assert_type(tracer.steps, int)

with model.trace() as tracer:
    with tracer.invoke("one") as invoke:
        saved = model.token_embeddings.save()
        assert_type(invoke, Invoke)

with model.generate("one", max_new_tokens=3) as tracer:
    assert_type(tracer.cache(), Cache)
    for step in tracer.iter[:3]:
        assert_type(step, int)
    for step in tracer.all():
        assert_type(step, int)
    ids: Tensor = tracer.result.save()
assert_type(tracer, Trace)

# One's own values, by their stubs; a value without one is anything.
mine = Mine(model.layers[0].self_attn._module)
saved = mine.mask.save()
saved = mine.pattern_entropy.save()
assert_type(mine.given, int)
saved = mine.loose.save()
# On a class, a value is its descriptor.
assert_type(Mine.mask, EProperty[Tensor])
assert_type(Mine.mask.dims, tuple[str, ...])
assert_type(Mine.mask.inside_forward(), bool)

assert_type(model.attn_implementation, str)
assert_type(model.support(), SupportTable)
assert_type(model.check(), Report)
assert_type(model.check().ok, bool)
