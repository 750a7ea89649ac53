"""`direct_logit_attribution(model, prompt, " Mary", " John")`: what each part says about the answer by itself.

The stream that leaves the last block is the sum of what the blocks added to it. The last norm, at the scale that it had in
this run, and the output head are linear, so a difference of two logits is a sum of what each part contributes: exactly,
and checked on every call.

What the family does to logits after the head (a scale, a cap) is not in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import torch
from torch import Tensor

from interp_components.analysis import branches
from interp_components.analysis.inputs import Inputs, read
from interp_components.analysis.linear import at_scale_of, pulled_back
from interp_components.analysis.metrics import one_for_each, refuse_equal
from interp_components.analysis.tokens import Words, first_tokens
from interp_components.model import StandardizedTransformer


@dataclass(frozen=True, repr=False)
class Attribution:
    """What each part contributes to a logit, or to a difference of two, in logits ahead of the family's scale or cap.

    `embedding + attention.sum(0) + mlp.sum(0) + constant == total`, and `heads.sum(1) + attention_bias == attention`.

    Attributes:
        total: The difference at the output head [batch].
        embedding: Of the stream that enters the first block [batch].
        attention: Of each block's attention [layer, batch].
        mlp: Of each block's MLP [layer, batch].
        constant: Of the biases of the last norm and the head [batch].
        heads: Of each head [layer, head, batch], None unless asked for.
        attention_bias: What of `attention` is of no head [layer, batch], None without `heads`.
        neurons: Of each neuron [layer, neuron, batch], None unless asked for.
        mlp_bias: What of `mlp` is of no neuron [layer, batch], None without `neurons`.
    """

    total: Tensor
    embedding: Tensor
    attention: Tensor
    mlp: Tensor
    constant: Tensor
    heads: Tensor | None = None
    attention_bias: Tensor | None = None
    neurons: Tensor | None = None
    mlp_bias: Tensor | None = None

    def strongest(self, k: int = 5) -> list[tuple[str, float]]:
        """Return the parts that contribute most, either way, in the mean over prompts: `("L2H1", 3.1)`, `("mlp 3", -2)`."""
        parts = {"embedding": self.embedding.mean().item()}
        attention = {"L{}H{}": self.heads} if self.heads is not None else {"attention {}": self.attention}
        mlp = {"L{}N{}": self.neurons} if self.neurons is not None else {"mlp {}": self.mlp}
        for name, values in {**attention, **mlp}.items():
            means = values.mean(dim=-1)
            places = product(*map(range, means.shape))
            parts |= {name.format(*at): mean for at, mean in zip(places, means.flatten().tolist(), strict=True)}
        return sorted(parts.items(), key=lambda part: -abs(part[1]))[:k]

    def __repr__(self) -> str:
        strongest = ", ".join(f"{name} {value:+.3g}" for name, value in self.strongest())
        return f"Attribution of {self.total.mean().item():.4g} logits: {strongest}, ..."


@torch.no_grad()
def direct_logit_attribution(
    model: StandardizedTransformer,
    inputs: Inputs,
    correct: Words,
    wrong: Words | None = None,
    *,
    position: int = -1,
    heads: bool = True,
    neurons: bool = False,
) -> Attribution:
    """Return what each part contributes to the logit of `correct`, less that of `wrong`.

    Args:
        model: The model.
        inputs: Any input of `model.trace`.
        correct: A token as text with its space, or as id, for all prompts or one each.
        wrong: Likewise; None for the logit alone.
        position: Where the logits are.
        heads: Whether attention is split by head.
        neurons: Whether MLPs are split by neuron.

    Raises:
        Unavailable: The model does not have a value that is needed, its blocks do more than add two contributions, or a
            norm is of another kind.
        TargetCollision: Both words begin with the same token.
    """
    batch = read(model, inputs)
    run = branches.record(model, batch.arguments, position, heads, neurons)
    branches.check_sum(run)
    readout = _readout(model, run.normed, correct, wrong)
    norm = at_scale_of(model.norm, model.norm.path, run.left, run.normed)
    direction = norm.back(readout.direction)
    attention = torch.stack([_dot(branch.added, direction) for branch in run.attention])
    mlp = torch.stack([_dot(branch.added, direction) for branch in run.mlp])
    by_head = torch.stack([branch.by_unit(direction) for branch in run.attention]) if heads else None
    by_neuron = torch.stack([branch.by_unit(direction) for branch in run.mlp]) if neurons else None
    return Attribution(
        total=_dot(run.normed, readout.direction) + readout.bias,
        embedding=_dot(run.entered, direction),
        attention=attention,
        mlp=mlp,
        constant=_dot(norm.bias, readout.direction) + readout.bias,
        heads=by_head,
        attention_bias=None if by_head is None else attention - by_head.sum(1),
        neurons=by_neuron,
        mlp_bias=None if by_neuron is None else mlp - by_neuron.sum(1),
    )


class _Readout(NamedTuple):
    """What the output head reads: a direction behind the last norm [batch, hidden], and a number to add [batch]."""

    direction: Tensor
    bias: Tensor


def _readout(model: StandardizedTransformer, normed: Tensor, correct: Words, wrong: Words | None) -> _Readout:
    """How the output head makes the logit, or the difference of two, of each prompt."""
    nothing = torch.zeros_like(normed)
    of_nothing: Tensor = model.lm_head(nothing)
    wanted = torch.zeros_like(of_nothing)
    ids = first_tokens(model, correct)
    _add(wanted, ids, 1.0)
    if wrong is not None:
        others = first_tokens(model, wrong)
        refuse_equal(correct, wrong, ids, others)
        _add(wanted, others, -1.0)
    direction = pulled_back(model.lm_head, normed.shape[-1], wanted).float()
    return _Readout(direction, _dot(of_nothing, wanted))


def _add(wanted: Tensor, ids: tuple[int, ...], sign: float) -> None:
    tokens = torch.tensor(one_for_each(ids, len(wanted)), device=wanted.device)
    wanted[torch.arange(len(wanted), device=wanted.device), tokens] += sign


def _dot(values: Tensor, direction: Tensor) -> Tensor:
    return (values.float() * direction).sum(-1)
