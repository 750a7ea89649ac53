"""The token that a word begins with: `first_tokens(model, " Mary")`.

What a model says next is one token, so a word is looked for by its first. A word is taken as it stands in the text, with
its space: `"Mary"` and `" Mary"` begin with different tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from torch import Tensor

from interp_components.errors import InterpError
from interp_components.model import InputError, StandardizedTransformer

Words: TypeAlias = str | int | Sequence[str | int] | Tensor


class TargetCollision(InterpError, ValueError):
    """Two targets begin with the same token, so what the model says next cannot tell them apart."""


def first_tokens(model: StandardizedTransformer, words: Words) -> tuple[int, ...]:
    """Return the first token of each word; numbers are token ids already.

    Raises:
        InputError: A word has no tokens.
        TokenizerNeeded: There are words, and no tokenizer.
    """
    one = [words] if isinstance(words, str | int) else words
    listed = one.reshape(-1).tolist() if isinstance(one, Tensor) else one
    if not any(isinstance(word, str) for word in listed):
        return tuple(int(word) for word in listed)
    # Llama's likes put a space in front of a text that has none, and a second one in front of one that has.
    tokenizer = model.add_prefix_false_tokenizer
    return tuple(
        _first(word, tokenizer(word, add_special_tokens=False).input_ids) if isinstance(word, str) else int(word)
        for word in listed
    )


def _first(word: str, ids: Sequence[int]) -> int:
    if not ids:
        raise InputError(f"the word {word!r} has no tokens, so there is nothing to look for")
    return ids[0]
