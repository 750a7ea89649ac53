"""A forward whose labels are not those that the keys of its family were written for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F
from transformers import LlamaConfig
from transformers.models.llama import modeling_llama as native

from interp_components import MovedOperationWarning, SourceNotAvailable
from interp_components.model import StandardizedTransformer
from tests import models

INSIDE = "source.attention_interface_1.source"
VALUES = ("queries", "keys", "values", "mask", "scores", "probabilities", "head_outputs")


def watched(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


def renamed(module: Any, query: Tensor, key: Tensor, value: Tensor, mask: Tensor, scaling: float, **_: Any) -> Any:
    """Eager attention that calls softmax and dropout by other names."""
    key, value = (each.repeat_interleave(module.num_key_value_groups, 1) for each in (key, value))
    weights = query @ key.transpose(2, 3) * scaling + mask
    weights = F.softmax(weights, dim=-1)
    weights = F.dropout(weights, p=0.0)
    return (weights @ value).transpose(1, 2).contiguous(), weights


class Rebound(native.LlamaAttention):  # type: ignore[misc]  # transformers' classes are Any to a type checker
    """Binds the attention function twice, so that its call is the third of the name, and takes another function."""

    function: Callable[..., Any] = staticmethod(renamed)

    def forward(self, hidden_states: Tensor, position_embeddings: Any, attention_mask: Any, **_: Any) -> Any:
        shape = (*hidden_states.shape[:-1], -1, self.head_dim)
        query, key, value = (
            each(hidden_states).view(shape).transpose(1, 2) for each in (self.q_proj, self.k_proj, self.v_proj)
        )
        query, key = native.apply_rotary_pos_emb(query, key, *position_embeddings)
        attention_interface = self.function
        attention_interface = watched(attention_interface)
        output, weights = attention_interface(self, query, key, value, attention_mask, scaling=self.scaling)
        return self.o_proj(output.flatten(2)), weights


def loaded(kind: type[native.LlamaAttention]) -> StandardizedTransformer:
    model = models.build(LlamaConfig(**models.llama_like()))
    for layer in model.model.layers:
        layer.self_attn.__class__ = kind
    return StandardizedTransformer(model)


def read(model: StandardizedTransformer, value: str) -> Tensor:
    with model.trace(models.inputs(), use_cache=False):
        seen = getattr(model.layers[1].self_attn, f"attention_{value}").save()
    return seen


@pytest.mark.parametrize("value", VALUES)
def test_an_operation_that_moved_is_found_by_what_it_does(value: str) -> None:
    """The call of the attention function, and the softmax and the dropout in it."""
    expected = read(loaded(native.LlamaAttention), value)
    with pytest.warns(MovedOperationWarning):
        moved = read(loaded(Rebound), value)

    torch.testing.assert_close(moved, expected, rtol=1e-4, atol=1e-5)


def test_what_is_read_in_its_place_is_said() -> None:
    """With the value, both labels and the line."""
    with pytest.warns(MovedOperationWarning) as warned:
        read(loaded(Rebound), "queries")

    assert str(warned[0].message).startswith(
        "Attention.attention_queries reads the operation 'attention_interface_1', which has moved in this forward; "
        "'attention_interface_2' at line "
    )


def test_an_assignment_to_what_moved_reaches_the_model() -> None:
    """It is replaced where it is read."""
    model = loaded(Rebound)
    with model.trace(models.inputs(), use_cache=False):
        plain = model.logits.save()
    with pytest.warns(MovedOperationWarning), model.trace(models.inputs(), use_cache=False):
        model.layers[0].self_attn.attention_probabilities *= 0
        edited = model.logits.save()

    assert not torch.allclose(edited, plain)


class Twice(Rebound):
    """Two softmaxes under another name."""

    @staticmethod
    def function(module: Any, query: Tensor, key: Tensor, value: Tensor, mask: Tensor, **options: Any) -> Any:
        F.softmax(mask, dim=-1)
        weights = F.softmax(query @ key.repeat_interleave(module.num_key_value_groups, 1).mT + mask, dim=-1)
        return weights.new_zeros(query.shape).transpose(1, 2), weights


def test_more_than_one_that_may_be_meant_are_listed_with_their_lines() -> None:
    """None of them is taken."""
    first = Twice.function.__code__.co_firstlineno

    with (
        pytest.warns(MovedOperationWarning),  # the call itself is found
        pytest.raises(SourceNotAvailable) as caught,
    ):
        read(loaded(Twice), "scores")

    assert (
        "has no operation 'nn_functional_softmax_0'; it may be one of "
        f"'F_softmax_0' at line {first + 2}, 'F_softmax_1' at line {first + 3}; available: "
    ) in str(caught.value)


def test_a_check_finds_the_values_that_moved() -> None:
    """And finds them to fit one another."""
    with pytest.warns(MovedOperationWarning):
        report = loaded(Rebound).check()

    assert report.ok
    assert [finding.what for finding in report.findings if finding.outcome == "absent"] == []
