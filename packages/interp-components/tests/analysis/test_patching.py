"""Putting values of one run into another, place by place."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from interp_components.analysis import AlignmentError, logit_difference, patch
from interp_components.errors import Unavailable
from interp_components.model import InputError, StandardizedTransformer
from tests import models

from . import subjects

CLEAN = "When Mary and John went to the shop, John gave a ring to"
CORRUPTED = "When Mary and John went to the shop, Mary gave a ring to"


def by_hooks(model: StandardizedTransformer, module: torch.nn.Module, at: Any, is_input: bool = False) -> float:
    """The metric when one place of what a module returns, or is given, is that of the clean run; torch alone."""
    kept: list[Tensor] = []

    def change(value: Tensor) -> Tensor:
        if not kept:
            kept.append(value.clone())
            return value
        changed = value.clone()
        changed[at] = kept[0][at]
        return changed

    def before(_: Any, args: Any) -> Any:
        return (change(args[0]), *args[1:])

    def after(_: Any, args: Any, output: Any) -> Any:
        return (change(output[0]), *output[1:]) if isinstance(output, tuple) else change(output)

    handle = module.register_forward_pre_hook(before) if is_input else module.register_forward_hook(after)
    with torch.no_grad():
        model._module(subjects.prompts(0))
        logits: Tensor = model._module(subjects.prompts(1)).logits
    handle.remove()
    return subjects.margin(logits).mean().item()


def test_a_residual_patch_is_what_hooks_do(model: StandardizedTransformer) -> None:
    """Layer by position, in every family."""
    found = patch(model, subjects.prompts(0), subjects.prompts(1), subjects.margin, batch_size=6)
    expected = [
        [by_hooks(model, model.layers[layer]._module, (slice(None), position)) for position in range(models.SEQ)]
        for layer in range(models.LAYERS)
    ]

    assert found.axes == ("layer", "position")
    torch.testing.assert_close(found.values, torch.tensor(expected), rtol=1e-4, atol=1e-5)


def test_a_head_patch_is_what_hooks_do(model: StandardizedTransformer) -> None:
    """A head is its slice of what enters the output projection, in every family."""
    found = patch(model, subjects.prompts(0), subjects.prompts(1), subjects.margin, over="heads", batch_size=6)
    expected = torch.zeros(models.LAYERS, models.HEADS)
    for layer in range(models.LAYERS):
        projection = model.layers[layer].self_attn.o_proj._module
        for head in range(models.HEADS):
            slots = slice(head * model.head_dim, (head + 1) * model.head_dim)
            expected[layer, head] = by_hooks(model, projection, (slice(None), slice(None), slots), is_input=True)

    assert found.axes == ("layer", "head")
    torch.testing.assert_close(found.values, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("over", ["residual", "heads", "queries", "keys", "values", "patterns", "neurons", "mlp"])
def test_all_sites_and_the_same_prompt_change_nothing(model: StandardizedTransformer, over: str) -> None:
    """A value in its own place moves no metric."""
    found = patch(model, subjects.prompts(0), subjects.prompts(0), subjects.margin, over=over, layers=[-1])

    torch.testing.assert_close(found.effects, torch.zeros_like(found.effects), rtol=0, atol=1e-5)


@pytest.mark.parametrize("batch_size", [1, 5, 64])
def test_how_many_rows_a_forward_has_does_not_matter(llama: StandardizedTransformer, batch_size: int) -> None:
    """Also where the last batch is smaller, and where the prompts alone are more than asked for."""
    whole = patch(llama, subjects.prompts(0), subjects.prompts(1), subjects.margin, over="heads", batch_size=24)
    parts = patch(llama, subjects.prompts(0), subjects.prompts(1), subjects.margin, over="heads", batch_size=batch_size)

    torch.testing.assert_close(parts.values, whole.values)


def test_a_sweep_takes_as_many_forwards_as_its_rows_need(llama: StandardizedTransformer) -> None:
    """Twelve heads of two prompts, eight rows at a time, are three forwards; four more are the plain runs."""
    rows: list[int] = []
    handle = llama._module.register_forward_pre_hook(
        lambda _, args, kwargs: rows.append(len(kwargs["input_ids"])), with_kwargs=True
    )
    patch(llama, subjects.prompts(0), subjects.prompts(1), subjects.margin, over="heads", batch_size=8)
    handle.remove()

    assert [size for size in rows if size > 2] == [8, 8, 8]


def test_heads_can_be_patched_position_by_position(llama: StandardizedTransformer) -> None:
    """Layer by head by position; all positions of a head at the last layer come to the last one of it."""
    options: Any = {"over": "heads", "layers": -1}
    by_position = patch(llama, subjects.prompts(0), subjects.prompts(1), subjects.margin, by_position=True, **options)
    whole = patch(llama, subjects.prompts(0), subjects.prompts(1), subjects.margin, **options)

    assert by_position.axes == ("layer", "head", "position")
    torch.testing.assert_close(by_position.values[..., -1], whole.values)


def test_the_answer_moves_from_the_repeated_name_to_the_end(toy: StandardizedTransformer) -> None:
    """What the toy is known for: early on the name itself carries the answer, after the last block the end does."""
    found = patch(toy, CLEAN, CORRUPTED, logit_difference(toy, " Mary", " John"))

    assert found.recovered.argmax(dim=1).tolist() == [9, 9, 13, 13]
    assert found.recovered[-1, -1].item() == pytest.approx(1, abs=1e-3)
    assert repr(found).startswith("Sweep[layer=4 position=14] baseline -5.3")


def test_prompts_of_unlike_length_are_refused(toy: StandardizedTransformer) -> None:
    """With the lengths of both."""
    with pytest.raises(AlignmentError, match=r"clean input is 1 x 14 tokens and the corrupted one 1 x 3"):
        patch(toy, CLEAN, "Emma went to", subjects.margin)


def test_padding_in_unlike_places_is_refused(toy: StandardizedTransformer) -> None:
    """Prompts of one length after padding are not of one length."""
    with pytest.raises(AlignmentError, match="prompt 1 has 3 tokens clean and 14 corrupted"):
        patch(toy, [CLEAN, "Emma went to"], [CORRUPTED, CLEAN], subjects.margin)


def test_padding_on_the_right_is_refused(toy: StandardizedTransformer) -> None:
    """The last position would be no token."""
    ids = torch.tensor([[5, 6, 7], [5, 6, 0]])
    with pytest.raises(InputError, match="padded on the right"):
        patch(toy, {"input_ids": ids, "attention_mask": (ids > 0).long()}, CLEAN, subjects.margin)


def test_an_unknown_site_is_told_the_known_ones(toy: StandardizedTransformer) -> None:
    """And the one that was meant."""
    with pytest.raises(ValueError, match=r"over='head' names no site.*heads"):
        patch(toy, CLEAN, CORRUPTED, subjects.margin, over="head")


def test_a_layer_that_is_not_there_is_refused(toy: StandardizedTransformer) -> None:
    """With how many there are."""
    with pytest.raises(ValueError, match=r"layers=\[4\] names no blocks of a model with 4"):
        patch(toy, CLEAN, CORRUPTED, subjects.margin, layers=4)


def test_a_pattern_needs_the_eager_kernel(llama: StandardizedTransformer) -> None:
    """The reason of the value is the reason of the sweep."""
    with pytest.raises(Unavailable, match="eager"):
        patch(llama, subjects.prompts(0), subjects.prompts(1), subjects.margin, over="patterns")


def test_a_metric_of_a_wrong_shape_is_refused(toy: StandardizedTransformer) -> None:
    """With the shape that it returned."""
    with pytest.raises(ValueError, match=r"metric returned a tensor of shape \(1, 14\)"):
        patch(toy, CLEAN, CORRUPTED, lambda logits: logits[..., 0])


def test_a_sweep_that_goes_nowhere_has_no_share_of_the_way(toy: StandardizedTransformer) -> None:
    """The same prompt twice leaves nothing to recover."""
    found = patch(toy, CLEAN, CLEAN, subjects.margin, layers=0)

    with pytest.raises(ValueError, match=r"read \.effects"):
        _ = found.recovered
