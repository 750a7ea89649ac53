"""Taking heads and other places away."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from interp_components.analysis import AblationError, AlignmentError, ablate, ablated
from interp_components.model import StandardizedTransformer
from tests import models

from . import subjects

NOISE = torch.randint(0, 2048, (8, 24), generator=torch.Generator().manual_seed(0))
REPEATED = torch.cat([NOISE, NOISE], dim=1)


def accuracy(logits: Tensor) -> Tensor:
    """How often the second round is predicted."""
    return (logits[:, 24:-1].argmax(-1) == REPEATED[:, 25:]).float().mean()


def without_head(model: StandardizedTransformer, layer: int, head: int, instead: Callable[[Tensor], Tensor]) -> Tensor:
    """The logits when a slice of what enters the output projection is what `instead` makes of all of it; torch alone."""

    def before(_: Any, args: Any) -> Any:
        heads = args[0].clone().view(*args[0].shape[:2], -1, model.head_dim)
        heads[:, :, head] = instead(heads)[:, :, head]
        return (heads.flatten(2), *args[1:])

    handle = model.layers[layer].self_attn.o_proj._module.register_forward_pre_hook(before)
    with torch.no_grad():
        logits: Tensor = model._module(subjects.prompts(0)).logits
    handle.remove()
    return logits


@pytest.mark.parametrize(
    ("by", "instead"),
    [
        ("zero", torch.zeros_like),
        ("mean", lambda heads: heads.mean(dim=(0, 1), keepdim=True).expand_as(heads)),
        ("resample", lambda heads: heads.roll(1, dims=0)),
    ],
    ids=["zero", "mean", "resample"],
)
def test_an_ablated_head_is_what_hooks_do(
    model: StandardizedTransformer, by: Any, instead: Callable[[Tensor], Tensor]
) -> None:
    """Each head in turn, in every family."""
    found = ablate(model, subjects.prompts(0), subjects.margin, by=by)
    expected = [
        [subjects.margin(without_head(model, layer, head, instead)).mean().item() for head in range(models.HEADS)]
        for layer in range(models.LAYERS)
    ]

    torch.testing.assert_close(found.values, torch.tensor(expected), rtol=1e-4, atol=1e-5)


def test_a_model_without_heads_is_what_hooks_do(model: StandardizedTransformer) -> None:
    """The edited model, traced; the model itself stays as it was."""
    edited = ablated(model, heads=[(1, 2)])
    with torch.no_grad(), edited.trace(subjects.prompts(0)):
        logits = edited.logits.save()
    with torch.no_grad(), model.trace(subjects.prompts(0)):
        plain = model.logits.save()

    torch.testing.assert_close(logits, without_head(model, 1, 2, torch.zeros_like))
    assert not torch.allclose(plain, logits)


def test_a_mean_leaves_padding_out(toy: StandardizedTransformer) -> None:
    """The mean over a padded batch is the mean over its tokens."""
    texts = ["Emma went to", "When Mary and John went to the shop, John gave a ring to"]
    with toy.trace(texts[0]):
        first = toy.layers[0].mlp.mlp_activations[0].save()
    with toy.trace(texts[1]):
        second = toy.layers[0].mlp.mlp_activations[0].save()
    edited = ablated(toy, neurons=[(0, 7)], by="mean", reference=texts)
    with edited.trace(texts[0]):
        neurons = edited.layers[0].mlp.mlp_activations[0, :, 7].save()

    expected = torch.cat([first, second])[:, 7].mean()
    torch.testing.assert_close(neurons, expected.expand(3), rtol=1e-4, atol=1e-5)


def test_the_toy_cannot_repeat_without_its_previous_token_heads(toy: StandardizedTransformer) -> None:
    """As its card says: 0.002 without them."""
    edited = ablated(toy, heads=[(0, 2), (0, 3)])
    with edited.trace(REPEATED):
        without = edited.logits.save()
    with toy.trace(REPEATED):
        plain = toy.logits.save()

    assert accuracy(plain).item() > 0.95
    assert accuracy(without).item() < 0.05


def test_a_generation_is_ablated_at_every_step(toy: StandardizedTransformer) -> None:
    """Greedy continuation equals tracing the ablated model anew for each token."""
    edited = ablated(toy, heads=[(0, 2), (0, 3)])
    ids = REPEATED[:1, :30]
    for _ in range(4):
        with edited.trace(ids):
            following = edited.logits[:, -1].argmax(-1, keepdim=True).save()
        ids = torch.cat([ids, following], dim=1)
    with edited.generate(REPEATED[:1, :30], max_new_tokens=4, do_sample=False, eos_token_id=None) as tracer:
        generated = tracer.result.save()

    assert generated.tolist() == ids.tolist()


def test_one_prompt_has_nothing_to_be_resampled_from(toy: StandardizedTransformer) -> None:
    """The way out is a reference."""
    with pytest.raises(AblationError, match="reference="):
        ablate(toy, "Emma went to", subjects.margin, by="resample")


def test_a_reference_of_another_length_is_refused(toy: StandardizedTransformer) -> None:
    """A value goes to its own place."""
    with pytest.raises(AlignmentError, match="1 x 3 tokens and the reference 1 x 2"):
        ablate(toy, "Emma went to", subjects.margin, by="resample", reference="Emma went")


def test_an_unknown_way_is_refused(toy: StandardizedTransformer) -> None:
    """With the known ones."""
    by: Any = "noise"
    with pytest.raises(AblationError, match="'zero', 'mean' and 'resample'"):
        ablate(toy, "Emma went to", subjects.margin, by=by)


def test_a_mean_needs_prompts(toy: StandardizedTransformer) -> None:
    """An edited model has none of its own."""
    with pytest.raises(AblationError, match="reference="):
        ablated(toy, heads=[(0, 0)], by="mean")


def test_a_head_that_is_not_there_is_refused(toy: StandardizedTransformer) -> None:
    """With how many a block has."""
    edited = ablated(toy, heads=[(0, 4)])
    with pytest.raises(AblationError, match="no head 4: a block has 4"):
        with edited.trace("Emma went to"):
            pass
