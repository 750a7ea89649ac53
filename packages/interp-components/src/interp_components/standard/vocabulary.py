"""Distributions over tokens as text, from `model.probs_to_dict(probs)`."""

from __future__ import annotations

from typing import Any

from torch import Tensor


def topk_by_text(tokenizer: Any, probs: Tensor, k: int) -> dict[str, float]:
    """Return the `k` likeliest tokens of a distribution [vocab], likeliest first.

    Two tokens can decode to one text (parts of a character do). The later one is then called what the vocabulary calls
    it, or its id when that is taken as well, so that no probability is lost.
    """
    # Any: transformers' tokenizers share no typed base class.
    top = probs.topk(min(k, probs.shape[-1]))
    named: dict[str, float] = {}
    for prob, token in zip(top.values.tolist(), top.indices.tolist(), strict=True):
        names = (tokenizer.decode([token]), tokenizer.convert_ids_to_tokens(token), f"#{token}")
        named[next(name for name in names if name is not None and name not in named)] = prob
    return named
