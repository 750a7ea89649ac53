"""Heads that speak to some heads alone."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from interp_components.analysis import path_patch
from interp_components.model import StandardizedTransformer
from tests import models

from . import subjects

CLOSE = {"rtol": 1e-4, "atol": 1e-5}


class Heard:
    """What enters the output projections of a Llama in a run, and the stream behind its last block; torch alone."""

    def __init__(self, model: StandardizedTransformer, ids: Tensor) -> None:
        module: Any = model._module
        self.heads: list[Tensor] = []
        self.streams: list[Tensor] = []
        handles = [
            block.self_attn.o_proj.register_forward_pre_hook(lambda _, args: self.heads.append(args[0]))
            for block in module.model.layers
        ] + [
            block.register_forward_hook(
                lambda _, args, output: self.streams.append(output[0] if isinstance(output, tuple) else output)
            )
            for block in module.model.layers
        ]
        with torch.no_grad():
            module(ids)
        for handle in handles:
            handle.remove()


def written(model: StandardizedTransformer, layer: int, head: int) -> Tensor:
    """What a head of the clean run adds to the stream, less what it adds in the corrupted run."""
    change = Heard(model, subjects.prompts(0)).heads[layer] - Heard(model, subjects.prompts(1)).heads[layer]
    slots = slice(head * model.head_dim, (head + 1) * model.head_dim)
    return change[..., slots] @ model.layers[layer].self_attn.o_proj._module.weight[:, slots].T


def test_a_direct_path_to_the_end_is_a_change_of_the_last_stream(llama: StandardizedTransformer) -> None:
    """With all else frozen, what a head writes comes to the last norm as it is."""
    module: Any = llama._module
    stream = Heard(llama, subjects.prompts(1)).streams[-1]
    with torch.no_grad():
        expected = [
            [
                subjects.margin(module.lm_head(module.model.norm(stream + written(llama, layer, head)))).mean().item()
                for head in range(models.HEADS)
            ]
            for layer in range(models.LAYERS)
        ]
    found = path_patch(llama, subjects.prompts(0), subjects.prompts(1), subjects.margin, freeze_mlps=True, batch_size=8)

    assert found.axes == ("layer", "head")
    torch.testing.assert_close(found.values, torch.tensor(expected), **CLOSE)


@pytest.mark.parametrize(
    ("into", "projection"), [("queries", "q_proj"), ("values", "v_proj")], ids=["queries", "values"]
)
def test_a_direct_path_into_a_head_is_a_change_of_its_projection(
    llama: StandardizedTransformer, into: str, projection: str
) -> None:
    """The receiver is given what its norm and projection make of the stream with the sender's change in it."""
    module: Any = llama._module
    block = module.model.layers[1]
    slots = slice(1 * llama.head_dim, 2 * llama.head_dim)
    stream = Heard(llama, subjects.prompts(1)).streams[0]
    expected = []
    for head in range(models.HEADS):
        with torch.no_grad():
            told = getattr(block.self_attn, projection)(block.input_layernorm(stream + written(llama, 0, head)))

        def hear(_: Any, args: Any, output: Tensor, told: Tensor = told) -> Tensor:
            return torch.cat([output[..., : slots.start], told[..., slots], output[..., slots.stop :]], dim=-1)

        handle = getattr(block.self_attn, projection).register_forward_hook(hear)
        with torch.no_grad():
            expected.append(subjects.margin(module(subjects.prompts(1)).logits).mean().item())
        handle.remove()
    found = path_patch(
        llama,
        subjects.prompts(0),
        subjects.prompts(1),
        subjects.margin,
        receivers=[(1, 1)],
        into=into,
        freeze_mlps=True,
    )

    assert found.layers == (0,)
    torch.testing.assert_close(found.values, torch.tensor([expected]), **CLOSE)


def test_the_same_prompt_twice_says_nothing_new(model: StandardizedTransformer) -> None:
    """In every family, also through MLPs."""
    found = path_patch(
        model, subjects.prompts(1), subjects.prompts(1), subjects.margin, receivers=[(1, 0)], into="values"
    )

    torch.testing.assert_close(found.effects, torch.zeros_like(found.effects), rtol=0, atol=1e-5)


def test_mlps_pass_on_what_they_are_told(llama: StandardizedTransformer) -> None:
    """Unless they are frozen."""
    pair = subjects.prompts(0), subjects.prompts(1)
    free = path_patch(llama, *pair, subjects.margin)
    frozen = path_patch(llama, *pair, subjects.margin, freeze_mlps=True)

    assert not torch.allclose(free.values, frozen.values, **CLOSE)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"receivers": [(0, 1)]}, "no head is in front of them"),
        ({"receivers": [(1, 6)]}, "no receiver 6"),
        ({"receivers": []}, "names nobody"),
        ({"receivers": [(1, -1)]}, "numbered from 0"),
        ({"receivers": [(2, 0)]}, "names no blocks"),
        ({"receivers": [(1, 0)], "into": "heads"}, "nothing that a head receives"),
    ],
    ids=["first_block", "no_head", "nobody", "negative", "no_block", "no_input"],
)
def test_a_receiver_that_cannot_be_is_refused(
    llama: StandardizedTransformer, options: dict[str, Any], message: str
) -> None:
    """Each with its reason."""
    with pytest.raises(ValueError, match=message):
        path_patch(llama, subjects.prompts(0), subjects.prompts(1), subjects.margin, **options)
