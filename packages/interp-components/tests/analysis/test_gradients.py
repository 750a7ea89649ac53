"""All patches of a sweep, estimated at once."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from interp_components.analysis import GradientlessMetric, attribution_patch, logit_difference, patch
from interp_components.model import StandardizedTransformer
from tests import models

from . import subjects

CLEAN = "When Mary and John went to the shop, John gave a ring to"
CORRUPTED = "When Mary and John went to the shop, Mary gave a ring to"


def test_an_estimate_is_a_gradient_times_a_change(model: StandardizedTransformer) -> None:
    """In every family: for the stream behind the first block, by torch's own hooks and autograd."""
    streams: list[torch.Tensor] = []

    def keep(_: Any, args: Any, output: Any) -> None:
        streams.append(output[0] if isinstance(output, tuple) else output)

    handle = model.layers[0]._module.register_forward_hook(keep)
    model._module(subjects.prompts(0))
    measured = subjects.margin(model._module(subjects.prompts(1)).logits).mean()
    handle.remove()
    clean, corrupted = streams
    (gradient,) = torch.autograd.grad(measured, corrupted)
    expected = (gradient * (clean - corrupted)).sum(dim=(0, 2)).detach()
    found = attribution_patch(model, subjects.prompts(0), subjects.prompts(1), subjects.margin)

    torch.testing.assert_close(found.effects[0], expected, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize(
    ("over", "by_position", "axes", "shape"),
    [
        ("heads", None, ("layer", "head"), (2, 6)),
        ("heads", True, ("layer", "head", "position"), (2, 6, 7)),
        ("queries", True, ("layer", "head", "position"), (2, 6, 7)),
        ("neurons", None, ("layer", "neuron"), (2, 40)),
        ("mlp", None, ("layer", "position"), (2, 7)),
    ],
    ids=["heads", "heads_by_position", "queries_by_position", "neurons", "mlp"],
)
def test_a_small_change_is_estimated_well(
    llama: StandardizedTransformer, over: str, by_position: bool | None, axes: tuple[str, ...], shape: tuple[int, ...]
) -> None:
    """Prompts that differ by little: embeddings a hundredth apart give what patching gives."""
    torch.manual_seed(0)
    corrupted = torch.randn(2, models.SEQ, models.HIDDEN)
    clean = corrupted + 0.01 * torch.randn_like(corrupted)
    inputs: Any = [{"inputs_embeds": clean}, {"inputs_embeds": corrupted}]
    options: Any = {"over": over, "by_position": by_position}
    estimated = attribution_patch(llama, *inputs, subjects.margin, **options)
    found = patch(llama, *inputs, subjects.margin, **options)

    assert (estimated.axes, tuple(estimated.values.shape)) == (axes, shape)
    largest = found.effects.abs().max().item()
    torch.testing.assert_close(estimated.effects, found.effects, rtol=0, atol=0.15 * largest)
    assert estimated.target == pytest.approx(found.target)


def test_weights_need_no_gradient(llama: StandardizedTransformer) -> None:
    """A frozen model gives the same numbers."""
    frozen = subjects.model("llama", "sdpa")
    frozen._module.requires_grad_(False)
    pair = subjects.prompts(0), subjects.prompts(1)

    torch.testing.assert_close(
        attribution_patch(frozen, *pair, subjects.margin).values,
        attribution_patch(llama, *pair, subjects.margin).values,
    )


def test_the_toys_strongest_heads_are_found(toy: StandardizedTransformer) -> None:
    """The two heads that patching finds first."""
    metric = logit_difference(toy, " Mary", " John")
    estimated = attribution_patch(toy, CLEAN, CORRUPTED, metric, over="heads")

    assert [name for name, _ in estimated.strongest(2)] == ["L3H1", "L2H3"]
    assert [name for name, _ in patch(toy, CLEAN, CORRUPTED, metric, over="heads").strongest(2)] == ["L3H1", "L2H3"]


def test_a_metric_without_gradient_is_refused(toy: StandardizedTransformer) -> None:
    """An accuracy is a step."""
    with pytest.raises(GradientlessMetric, match="argmax"):
        attribution_patch(toy, CLEAN, CORRUPTED, lambda logits: logits[:, -1].argmax(-1) == 0)
