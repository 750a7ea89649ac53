"""What is linear in a norm and a projection, from `attribution = direct_logit_attribution(model, ...)`.

A norm divides by a scale that depends on all of the stream. At the scale that a run had, it is a linear map: subtract the
mean or not, divide by that scale, multiply by the weight, add the bias. Which of these a norm does, under whatever names,
is found by giving it vectors whose result tells; that the map gives the run's own output is checked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from interp_components.errors import Unavailable

_LARGE = 64.0
"""Next to the square of this the epsilon of a norm is nothing; float16 holds the square."""


@dataclass(frozen=True)
class LinearNorm:
    """A norm at the scale of one run.

    Attributes:
        weight: What the scaled stream is multiplied by [hidden].
        bias: What is added last [hidden].
        scale: What the stream is divided by [..., 1].
        is_centred: Whether the mean over the stream is subtracted first.
    """

    weight: Tensor
    bias: Tensor
    scale: Tensor
    is_centred: bool

    def __call__(self, hidden: Tensor) -> Tensor:
        """Return what the norm makes of a part of the stream [..., hidden], without the bias."""
        return self.weight * _centred(hidden, self.is_centred) / self.scale

    def back(self, direction: Tensor) -> Tensor:
        """Return the direction ahead of the norm that reads what `direction` [..., hidden] reads behind it."""
        return _centred(self.weight * direction, self.is_centred) / self.scale


def at_scale_of(norm: Callable[[Tensor], Tensor], name: str, given: Tensor, returned: Tensor) -> LinearNorm:
    """Return a norm as the linear map that took `given` to `returned`, both [..., hidden], in float32.

    Raises:
        Unavailable: It is no such map.
    """
    weight, bias = _weight_and_bias(norm, given)
    before, after = given.float(), returned.float() - bias
    fits = [_fitted(before, after, weight, bias, is_centred) for is_centred in (True, False)]
    best = min(fits, key=lambda fit: _error(fit(before), after))
    if not is_close(best(before), after, given.dtype):
        raise Unavailable(
            f"{name} is neither a layer norm nor a root mean square norm, so what goes into it cannot be told apart "
            f"behind it; attribute with gradients instead, see `attribution_patch`"
        )
    return best


def is_close(found: Tensor, expected: Tensor, dtype: torch.dtype) -> bool:
    """Whether two results are the same up to the rounding of a model that computes in `dtype`."""
    tolerance = torch.finfo(dtype).eps ** 0.5 * max(expected.abs().max().item(), 1e-6)
    return bool(((found - expected).abs() <= tolerance).all())


def pulled_back(projection: Callable[[Tensor], Tensor], width: int, direction: Tensor) -> Tensor:
    """Return the direction ahead of an affine projection that reads what `direction` [..., out] reads behind it.

    Works for any projection (a bias, transposed weights, an adapter beside it), since it asks autograd.
    """
    given = torch.zeros(
        *direction.shape[:-1], width, dtype=direction.dtype, device=direction.device, requires_grad=True
    )
    with torch.enable_grad():
        read: Tensor = (projection(given) * direction).sum()
    return torch.autograd.grad(read, given)[0]


def _fitted(before: Tensor, after: Tensor, weight: Tensor, bias: Tensor, is_centred: bool) -> LinearNorm:
    """The map whose scale fits best."""
    unscaled = weight * _centred(before, is_centred)
    scale = (unscaled * unscaled).sum(-1, keepdim=True) / (unscaled * after).sum(-1, keepdim=True)
    return LinearNorm(weight, bias, scale, is_centred)


def _weight_and_bias(norm: Callable[[Tensor], Tensor], like: Tensor) -> tuple[Tensor, Tensor]:
    """What a norm multiplies by and adds, read off what it makes of nothing and of +1, -1, +1, -1 ..."""
    width = like.shape[-1]
    even = width - width % 2
    signs = torch.zeros(width, device=like.device)
    signs[:even:2], signs[1:even:2] = 1.0, -1.0
    # Of an odd width one place is left out, so a second probe covers it.
    probes = torch.stack([torch.zeros_like(signs), signs, signs.roll(1)])
    nothing, *answers = norm((_LARGE * probes).to(like.dtype)).float()
    size = (even / width) ** 0.5
    weights = [(answer - nothing) * probe * size for answer, probe in zip(answers, probes[1:], strict=True)]
    return torch.where(signs != 0, weights[0], weights[1]), nothing


def _centred(hidden: Tensor, is_centred: bool) -> Tensor:
    return hidden - hidden.mean(-1, keepdim=True) if is_centred else hidden


def _error(found: Tensor, expected: Tensor) -> float:
    error = (found - expected).square().sum().item()
    return error if error == error else float("inf")  # a scale of nothing by nothing fits nothing
