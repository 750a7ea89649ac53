"""A direction added to the stream: `steered = steer(model, vector, layers=8)`, then `steered.generate(...)`.

`model.steer(...)` does this inside one block. Here it is the model itself that is steered: another one around the same
weights, which adds the direction in every run and at every step of a generation.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

from interp_components.analysis.inputs import Inputs, read
from interp_components.analysis.sites import layers_of, record, site
from interp_components.errors import InterpError
from interp_components.model import StandardizedTransformer


class SteeringError(InterpError, ValueError):
    """A vector is no direction of this model's stream."""


def steer(
    model: StandardizedTransformer,
    vector: Tensor,
    layers: int | Iterable[int],
    *,
    factor: float = 1.0,
    positions: int | slice | None = None,
) -> StandardizedTransformer:
    """Return the model with `factor * vector` added to the output of blocks, in every run.

    Args:
        model: The model; it stays as it is.
        vector: A direction of the stream [hidden].
        layers: One block or several; negative numbers count from the last.
        factor: How much of it.
        positions: Which positions of each forward; all of them by default. A generation comes to the prompt first, and
            then to one token at a time, which is position 0 and -1 of its forward.

    Raises:
        SteeringError: The vector is not as wide as the stream.
        ValueError: There is no such block.
    """
    if vector.shape != (model.hidden_size,):
        raise SteeringError(f"the vector has the shape {tuple(vector.shape)}, and the stream is [{model.hidden_size}]")
    asked = layers_of(model, layers)
    edited: StandardizedTransformer
    with model.edit() as (tracer, edited):
        for _ in tracer.iter[:]:
            edited.steer(asked, vector, factor, positions)
    return edited


@torch.no_grad()
def steering_vector(
    model: StandardizedTransformer, positive: Inputs, negative: Inputs, layer: int, *, position: int = -1
) -> Tensor:
    """Return the direction from some prompts to others: the difference of their mean streams [hidden].

    Args:
        model: The model.
        positive: Prompts that the direction leads to, any input of `model.trace`.
        negative: Prompts that it leads away from.
        layer: Behind which block; negative numbers count from the last.
        position: At which position.

    Raises:
        ValueError: There is no such block.
    """
    (number,) = layers_of(model, layer)
    means = []
    for inputs in (positive, negative):
        streams = record(model, read(model, inputs).arguments, site(model, "residual"), [number])
        means.append(streams[number][:, position].mean(dim=0))
    return means[0] - means[1]
