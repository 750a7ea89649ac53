"""What is lost without a place: `ablate(model, prompt, metric, over="heads")`, and `ablated(model, heads=[(0, 2)])`.

`ablate` takes each place away in turn and measures. `ablated` is the model without some heads or neurons, to be traced
and to generate with.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

import torch
from torch import Tensor

from interp_components.analysis.inputs import AlignmentError, Batch, Inputs, read
from interp_components.analysis.metrics import Metric
from interp_components.analysis.sites import Site, layers_of, record, site
from interp_components.analysis.sweeps import Options, Sweep, sweep
from interp_components.errors import InterpError
from interp_components.model import StandardizedTransformer

By: TypeAlias = Literal["zero", "mean", "resample"]
Numbered: TypeAlias = Iterable[tuple[int, int]]


class AblationError(InterpError, ValueError):
    """It is not said what a place is replaced by, or there is no such place."""


@torch.no_grad()
def ablate(
    model: StandardizedTransformer,
    inputs: Inputs,
    metric: Metric,
    *,
    over: str = "heads",
    by: By = "zero",
    reference: Inputs | None = None,
    layers: int | Iterable[int] | None = None,
    by_position: bool | None = None,
    batch_size: int = 32,
    progress: bool = False,
) -> Sweep:
    """Take each place away, in turn, and measure each time.

    Args:
        model: The model.
        inputs: Any input of `model.trace`.
        metric: Logits [batch, seq, vocab] to a number, or one for each prompt.
        over: Which value, as for `patch`.
        by: What is there instead: "zero"; "mean", over all tokens of the reference; "resample", what is there in the
            reference, at the same position of the same prompt.
        reference: Other prompts. By default the mean is over the inputs themselves, and prompts are resampled from one
            another, each from the one before it.
        layers: Which blocks; all of them by default.
        by_position: Whether positions are ablated one by one. By default they are where the value has no heads and
            neurons.
        batch_size: Rows of a forward, at most.
        progress: Whether to show a bar.

    Returns:
        The metric after each ablation; `.effects` is what each changed.

    Raises:
        AblationError: `by` names no way, or a single prompt is resampled from nothing.
        AlignmentError: The reference to resample from does not have the places of the inputs.
        Unavailable: The model, as it is loaded, does not have the value.
    """
    batch, at = read(model, inputs), site(model, over)
    other = batch if reference is None else read(model, reference)
    recorded = record(model, other.arguments, at, layers_of(model, layers))
    if by == "resample":
        _check_resample(batch, other, is_own=reference is None)
    sources = {layer: _source(value, by, at, other, reference is None) for layer, value in recorded.items()}
    return sweep(model, batch, at, sources, metric, Options(by_position, batch_size, progress))


def _source(value: Tensor, by: By, at: Site, other: Batch, is_own: bool) -> Tensor:
    """What replaces the value of one block."""
    if by == "zero":
        return torch.zeros_like(value[:1]).narrow(at.position_axis, 0, 1)
    if by == "mean":
        return mean_over_tokens(value, at, other.mask)
    if by == "resample":
        return value.roll(1, dims=0) if is_own else value
    raise AblationError(f"by={by!r} names no way to take a place away; there are 'zero', 'mean' and 'resample'")


def mean_over_tokens(value: Tensor, at: Site, mask: Tensor) -> Tensor:
    """Return the mean over all tokens, padding left out; rows and positions are axes of size 1."""
    tokens = value.movedim(at.position_axis, 1)[mask.bool()]
    return tokens.mean(dim=0)[None, None].movedim(1, at.position_axis)


def _check_resample(batch: Batch, other: Batch, is_own: bool) -> None:
    if is_own and batch.rows == 1:
        raise AblationError("by='resample' needs other prompts than this one: give reference=, or several inputs")
    if (batch.rows, batch.length) != (other.rows, other.length):
        raise AlignmentError(
            f"the inputs are {batch.rows} x {batch.length} tokens and the reference {other.rows} x {other.length}: "
            f"by='resample' puts a value in at its own place, so both need the same number of prompts and tokens"
        )


def ablated(
    model: StandardizedTransformer,
    *,
    heads: Numbered = (),
    neurons: Numbered = (),
    by: Literal["zero", "mean"] = "zero",
    reference: Inputs | None = None,
) -> StandardizedTransformer:
    """Return the model without some heads and neurons: another model around the same weights.

    Args:
        model: The model; it stays as it is.
        heads: Pairs of block and head.
        neurons: Pairs of block and neuron.
        by: What is there instead, "zero" or the "mean" over all tokens of the reference.
        reference: Prompts to take the mean over.

    Raises:
        AblationError: A mean without reference, or there is no such head or neuron.
        Unavailable: The model, as it is loaded, does not have the value.
    """
    if by not in {"zero", "mean"} or (by == "mean" and reference is None):
        raise AblationError(f"ablated(by={by!r}, reference={reference!r}): by is 'zero', or 'mean' with a reference=")
    batch = None if by == "zero" or reference is None else read(model, reference)
    edited = model
    for name, numbers in (("heads", heads), ("neurons", neurons)):
        for layer, units in sorted(_by_layer(model, numbers).items()):
            edited = _without(edited, site(model, name), layer, units, _instead(model, name, layer, batch))
    return edited


@torch.no_grad()
def _instead(model: StandardizedTransformer, name: str, layer: int, batch: Batch | None) -> Tensor | None:
    """The mean of all heads or neurons of a block; None for zero."""
    if batch is None:
        return None
    at = site(model, name)
    return mean_over_tokens(record(model, batch.arguments, at, [layer])[layer], at, batch.mask)


def _by_layer(model: StandardizedTransformer, numbers: Numbered) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for layer, unit in numbers:
        found.setdefault(layers_of(model, layer)[0], []).append(unit)
    return found


def _without(
    model: StandardizedTransformer, at: Site, layer: int, units: Sequence[int], instead: Tensor | None
) -> StandardizedTransformer:
    """The model with an edit that replaces units of one block at every step."""
    edited: StandardizedTransformer
    with model.edit() as (tracer, edited):
        for _ in tracer.iter[:]:
            value = at.read(edited, layer)
            at.write(edited, layer, replaced(value, at, units, instead))
    return edited


def replaced(value: Tensor, at: Site, units: Sequence[int], instead: Tensor | None) -> Tensor:
    """Return the value with some of its units replaced, by zero when `instead` is None."""
    axis = at.unit_axis
    assert axis is not None
    outside = [unit for unit in units if not -value.shape[axis] <= unit < value.shape[axis]]
    if outside:
        raise AblationError(f"there is no {at.unit} {outside[0]}: a block has {value.shape[axis]}, from 0")
    chosen = torch.zeros(value.shape[axis], dtype=torch.bool, device=value.device)
    chosen[list(units)] = True
    chosen = chosen.reshape([-1 if number == axis else 1 for number in range(value.ndim)])
    return torch.where(chosen, torch.zeros_like(value) if instead is None else instead.to(value), value)
