"""Values of one's own on a family's component, passed by `envoys=`: the main promise, end to end on a tiny GPT-2."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import GPT2Config
from transformers.models.gpt2.modeling_gpt2 import GPT2Attention, GPT2Block

from interp_components.errors import OutOfOrderError, SourceNotAvailable
from interp_components.families import gpt2
from interp_components.keys import KeyPathError
from interp_components.layouts import Pattern, Residual
from interp_components.model import StandardizedTransformer
from interp_components.properties import DerivedEProperty, EProperty, unavailable
from interp_components.standard import Layer, interface_reason
from tests import models

INSIDE = "source.attention_interface_1.source"


def entropy(attention: Attention) -> Tensor:
    pattern = attention.attention_probabilities
    return -(pattern * (pattern + 1e-12).log()).sum(-1)


class Attention(gpt2.Attention):
    """GPT-2's attention with values that the family does not know."""

    @EProperty("source.attention_interface_1.inputs", select=4, unavailable=interface_reason)
    def mask(self, value: Tensor) -> Pattern:
        """The mask as the interface is given it."""
        return value

    @EProperty(f"{INSIDE}.torch_matmul_0.output", description="q @ k^T unscaled", unavailable=interface_reason)
    def raw_scores(self, value: Tensor) -> Pattern:
        return value

    @EProperty("../ln_2.output")
    def sibling_norm(self, value: Tensor) -> Residual:
        """The norm in front of the MLP."""
        return value

    @EProperty(f"{INSIDE}.no_such_op_0.output")
    def broken(self, value: Tensor) -> Tensor:
        return value

    too_deep = EProperty("../source.self_attn_0.source.self_c_attn_0.output")
    beside_the_block = EProperty("../source.hidden_states_0.output")
    pattern_entropy = DerivedEProperty(entropy, description="Entropy of each row of the pattern")
    attention_head_outputs = unavailable("left out on purpose")


@pytest.fixture(scope="module")
def model() -> StandardizedTransformer:
    config = GPT2Config(
        n_embd=models.HIDDEN_OF_HEADS, n_layer=models.LAYERS, n_head=models.HEADS, vocab_size=models.VOCAB
    )
    return StandardizedTransformer(models.build(config), envoys={GPT2Attention: Attention})


@pytest.fixture
def attention(model: StandardizedTransformer) -> Any:
    return model.layers[0].self_attn


def test_a_component_of_ones_own_replaces_the_familys(model: StandardizedTransformer) -> None:
    """On every module of the class."""
    assert [type(layer.self_attn) for layer in model.layers] == [Attention] * models.LAYERS


def test_values_are_read_in_the_order_of_the_forward(model: StandardizedTransformer, attention: Any) -> None:
    """The interface's arguments, an operation inside it, its softmax, the pattern, then the block's second norm."""
    with model.trace(models.inputs()):
        mask = attention.mask.save()
        raw = attention.raw_scores.save()
        scores = attention.attention_scores.save()
        spread = attention.pattern_entropy.save()
        beside = attention.sibling_norm.save()
        norm = model.layers[0].ln_2.output.save()

    torch.testing.assert_close(raw * attention._module.scaling + mask, scores)
    assert torch.equal(beside, norm)
    assert spread.shape == (models.BATCH, models.HEADS, models.SEQ)


def test_an_assigned_argument_leaves_the_others(model: StandardizedTransformer, attention: Any) -> None:
    """Only the mask of this one call is another."""
    with model.trace(models.inputs()):
        kept = attention.attention_queries.clone().save()
        attention.mask = torch.zeros_like(attention.mask)
        queries = attention.attention_queries.save()
        pattern = attention.attention_probabilities.save()

    assert torch.equal(queries, kept)
    assert bool((pattern > 0).all())


def test_a_marker_is_in_the_table(attention: Any) -> None:
    """With its reason, outside a trace."""
    assert attention.support()["attention_head_outputs"] == "left out on purpose"


def test_an_operation_of_the_parents_own_forward_is_reached(model: StandardizedTransformer, attention: Any) -> None:
    """One `source` above the host, asked for before the parent begins."""
    with model.trace(models.inputs()):
        bound = attention.beside_the_block.save()
        norm = attention.attention_input.save()

    assert torch.equal(bound, norm)


def test_an_operation_that_is_not_there_lists_those_that_are(model: StandardizedTransformer, attention: Any) -> None:
    """Value, key, where the walk ended, and what there is."""
    with pytest.raises(SourceNotAvailable) as caught, model.trace(models.inputs()):
        attention.broken.save()

    where = "model.transformer.h.0.attn"
    assert str(caught.value).startswith(
        f"{where}.broken reads '{INSIDE}.no_such_op_0.output', which this run does not have: "
        f"'{where}.{INSIDE}' has no operation 'no_such_op_0'; available: query_size_0, scaling_0"
    )


def test_a_call_that_is_over_cannot_be_drilled(model: StandardizedTransformer, attention: Any) -> None:
    """The error names the callee of the call, which the block would have had to wait for."""
    seen: list[Tensor] = []
    with pytest.raises(OutOfOrderError) as caught, model.trace(models.inputs()):
        seen.extend([attention.sibling_norm, attention.raw_scores])

    assert str(caught.value).startswith(
        "'model.transformer.h.0.attn.source.attention_interface_1.fn.i0' was requested but the model already ran past it"
    )


def test_a_path_above_the_host_reaches_one_forward_only(model: StandardizedTransformer, attention: Any) -> None:
    """A second `source` on it is a ValueError."""
    with pytest.raises(KeyPathError, match="inside an operation of a module above"), model.trace(models.inputs()):
        attention.too_deep.save()


def test_after_an_error_the_model_is_as_before(model: StandardizedTransformer, attention: Any) -> None:
    """The next trace gives what a model that was never traced gives."""
    with pytest.raises(SourceNotAvailable), model.trace(models.inputs()):
        attention.broken.save()
    with model.trace(models.inputs(padded=False)):
        logits = model.logits.save()

    assert torch.equal(logits, model._module(**models.inputs(padded=False)).logits)


class Block(Layer):
    """GPT-2's block with the stream that attention has added to, by the name it is bound to."""

    sourced = True
    added = EProperty("source.hidden_states_1.output")


class LateBlock(Block):
    """The same, and nobody prepares its forward."""

    sourced = False


def block_of(component: type[Layer]) -> tuple[StandardizedTransformer, Any]:
    config = GPT2Config(n_embd=models.HIDDEN_OF_HEADS, n_layer=1, n_head=models.HEADS, vocab_size=models.VOCAB)
    model = StandardizedTransformer(models.build(config), envoys={GPT2Block: component})
    return model, model.layers[0]


def test_a_sourced_block_serves_its_operations_while_it_runs() -> None:
    """Asked for after something inside of the block has been read."""
    model, block = block_of(Block)
    with model.trace(models.inputs()):
        attention = (block.layer_input + block.self_attn.attention_output).save()
        added = block.added.save()

    torch.testing.assert_close(added, attention)


def test_a_block_that_is_not_sourced_says_what_to_do() -> None:
    """Its forward runs without labels by then."""
    model, block = block_of(LateBlock)
    seen: list[Tensor] = []

    with pytest.raises(SourceNotAvailable, match="sourced = True"), model.trace(models.inputs()):
        seen.extend([block.self_attn.attention_output, block.added])
