"""What a sweep measures: `metric = logit_difference(model, " Mary", " John")`.

A metric is any function of logits [batch, seq, vocab] that returns a number, or one for each prompt, of which the mean
is taken. It should work on tensors all the way, so that gradients can go through it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch
from torch import Tensor

from interp_components.analysis.tokens import TargetCollision, Words, first_tokens
from interp_components.model import StandardizedTransformer

# Any: what a metric returns is a tensor or a plain number.
Metric: TypeAlias = Callable[[Tensor], Any]


@dataclass(frozen=True)
class LogitDifference:
    """The logit of one token less that of another, at the last position, for each prompt [batch].

    Attributes:
        correct: Token ids, one for all prompts or one each.
        wrong: Token ids likewise.
    """

    correct: tuple[int, ...]
    wrong: tuple[int, ...]

    def __call__(self, logits: Tensor) -> Tensor:
        """Return the difference [batch] of logits [batch, seq, vocab]."""
        last = logits[:, -1].float()
        return _picked(last, self.correct) - _picked(last, self.wrong)


def logit_difference(model: StandardizedTransformer, correct: Words, wrong: Words) -> LogitDifference:
    """Return a metric: how much larger the logit of `correct` is than that of `wrong`, at the last position.

    Args:
        model: The model, for its tokenizer.
        correct: A token as text with its space, `" Mary"`, or as id; a list has one for each prompt.
        wrong: Likewise.

    Raises:
        TargetCollision: Both begin with the same token.
    """
    pair = first_tokens(model, correct), first_tokens(model, wrong)
    refuse_equal(correct, wrong, *pair)
    return LogitDifference(*pair)


def score(metric: Metric, logits: Tensor) -> Tensor:
    """Return what a metric says of logits as one number.

    Raises:
        ValueError: It says something else than a number or one for each prompt.
    """
    value = torch.as_tensor(metric(logits))
    if value.ndim > 1:
        raise ValueError(
            f"the metric returned a tensor of shape {tuple(value.shape)} for logits of shape {tuple(logits.shape)}; "
            f"it should return a number, or one for each prompt, [batch]"
        )
    return value.float().mean()


def _picked(last: Tensor, ids: Sequence[int]) -> Tensor:
    tokens = torch.tensor(one_for_each(ids, len(last)), device=last.device)
    return last.gather(1, tokens[:, None])[:, 0]


def one_for_each(ids: Sequence[int], prompts: int) -> list[int]:
    """Return a token for each prompt, of one for all or one for each."""
    if len(ids) not in {1, prompts}:
        raise ValueError(f"{len(ids)} tokens for {prompts} prompts: give one for all, or one for each")
    return list(ids) * (prompts if len(ids) == 1 else 1)


def refuse_equal(correct: Words, wrong: Words, first: tuple[int, ...], second: tuple[int, ...]) -> None:
    """Raise `TargetCollision` where both are the same token."""
    count = max(len(first), len(second))
    pairs = zip(*(ids * count if len(ids) == 1 else ids for ids in (first, second)), strict=False)
    equal = next((a for a, b in pairs if a == b), None)
    if equal is not None:
        raise TargetCollision(f"{correct!r} and {wrong!r} both begin with token {equal}, so no logit tells them apart")
