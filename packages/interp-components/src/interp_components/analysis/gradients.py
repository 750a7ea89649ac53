"""`attribution_patch(model, clean, corrupted, metric, over="heads")`: all patches of a sweep, estimated at once.

What a patch does is, to first order, the gradient of the metric times the change of the value. One forward and one
backward pass of the corrupted prompt give it for every place. It is good where the metric is about linear in the value.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

from interp_components.analysis.inputs import Batch, Inputs, read_pair
from interp_components.analysis.metrics import Metric, score
from interp_components.analysis.sites import Site, layers_of, record, site
from interp_components.analysis.sweeps import Sweep, logits_of
from interp_components.errors import InterpError
from interp_components.model import StandardizedTransformer
from interp_components.saving import save


class GradientlessMetric(InterpError, ValueError):
    """A metric that no gradient goes through."""


def attribution_patch(
    model: StandardizedTransformer,
    clean: Inputs,
    corrupted: Inputs,
    metric: Metric,
    *,
    over: str = "residual",
    layers: int | Iterable[int] | None = None,
    by_position: bool | None = None,
) -> Sweep:
    """Estimate what `patch` of the same arguments finds, in one forward and one backward pass.

    Args:
        model: The model.
        clean: Where the values come from, any input of `model.trace`.
        corrupted: Where they would be put; as many prompts, and prompt by prompt as many tokens.
        metric: Logits [batch, seq, vocab] to a number, or one for each prompt, in operations of torch.
        over: Which value, as for `patch`.
        layers: Which blocks; all of them by default.
        by_position: Whether positions are told apart. By default they are where the value has no heads and neurons.

    Returns:
        The metric as estimated after each patch; `.effects` are the gradients times the changes.

    Raises:
        AlignmentError: The prompts do not have the same places.
        GradientlessMetric: The metric leaves torch, or takes an argmax or the like.
        Unavailable: The model, as it is loaded, does not have the value.
    """
    first, second = read_pair(model, clean, corrupted)
    at, asked = site(model, over), layers_of(model, layers)
    with torch.no_grad():
        sources = record(model, first.arguments, at, asked)
        target = score(metric, logits_of(model, first.arguments)).item()
    values, gradients, baseline = _with_gradients(model, second, at, asked, metric)
    told_apart = at.unit_axis is None if by_position is None else by_position
    axes = ["layer"] + ([] if at.unit is None else [at.unit]) + (["position"] if told_apart else [])
    effects = [_by_place(gradients[layer] * (sources[layer] - values[layer]), at, told_apart) for layer in asked]
    return Sweep(baseline + torch.stack(effects).cpu(), tuple(axes), asked, baseline, target)


def _with_gradients(
    model: StandardizedTransformer, batch: Batch, at: Site, layers: tuple[int, ...], metric: Metric
) -> tuple[dict[int, Tensor], dict[int, Tensor], float]:
    """The values of blocks, the metric's gradients with respect to them, and the metric.

    The gradient is that of a zero which is added to the value: it is there also where the value is a view that the model
    does not go on with, and where no weight requires a gradient.
    """
    values: dict[int, Tensor] = {}
    zeros: dict[int, Tensor] = {}
    with torch.enable_grad():
        with model.trace(batch.arguments):
            for layer in layers:
                value = at.read(model, layer)
                values[layer], zeros[layer] = value.detach().clone(), torch.zeros_like(value, requires_grad=True)
                at.write(model, layer, value + zeros[layer])
            logits = save(model.logits)
        measured = score(metric, logits)
    if not measured.requires_grad:
        raise GradientlessMetric(
            "no gradient goes through the metric: it takes a number out of torch, or an argmax or a comparison; measure "
            "logits or probabilities, as logit_difference(...) does, or run the patches, `patch`"
        )
    gradients = torch.autograd.grad(measured, list(zeros.values()))
    return values, dict(zip(layers, gradients, strict=True)), measured.item()


def _by_place(products: Tensor, at: Site, by_position: bool) -> Tensor:
    """The sums over everything but unit and position, in this order."""
    kept = [axis for axis in (at.unit_axis, at.position_axis if by_position else None) if axis is not None]
    rest = [axis for axis in range(products.ndim) if axis not in kept]
    return products.permute(*kept, *rest).float().flatten(len(kept)).sum(-1)
