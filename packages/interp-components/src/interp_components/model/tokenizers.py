"""The tokenizer of a model: how it pads, and how it spells a word inside a text."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from typing import Any

from tokenizers import Tokenizer
from transformers import PreTrainedConfig, PreTrainedTokenizerBase

from interp_components.errors import InterpError
from interp_components.model.rows import Padding


class PrefixError(InterpError, TypeError):
    """A tokenizer whose handling of the first word cannot be changed."""


def ready_to_pad(tokenizer: PreTrainedTokenizerBase, options: Mapping[str, Any]) -> PreTrainedTokenizerBase:
    """Let a tokenizer that we loaded pad on the left, with its end-of-text token if it has none for padding."""
    tokenizer.padding_side = options.get("padding_side", "left")
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return tokenizer


def padding_of(tokenizer: PreTrainedTokenizerBase | None, config: PreTrainedConfig, vocabulary: int) -> Padding:
    """With what rows are padded: the token for it, else the one that ends a text, else 0. It is masked in any case."""
    candidates: list[Any] = [config.get_text_config().pad_token_id, config.get_text_config().eos_token_id]
    if tokenizer is not None:
        candidates = [tokenizer.pad_token_id, tokenizer.eos_token_id, *candidates]
    inside = [token for token in candidates if isinstance(token, int) and 0 <= token < vocabulary]
    return Padding(inside[0] if inside else 0)


def without_prefix(tokenizer: PreTrainedTokenizerBase) -> PreTrainedTokenizerBase:
    """A copy that puts no space before the first word, so that "Paris" and " Paris" are two words.

    Tokenizers of the Llama kind read "Paris" as " Paris"; with this copy one asks for the tokens of either.

    Raises:
        PrefixError: The tokenizer is not one of the `tokenizers` library.
    """
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if not isinstance(backend, Tokenizer):
        raise PrefixError(
            f"cannot change how a {type(tokenizer).__name__} begins a text: it is written in Python. "
            f"Load it anew with tokenizer_kwargs={{'add_prefix_space': False}}"
        )
    changed = copy.deepcopy(tokenizer)
    state = json.loads(backend.to_str())
    for part in ("normalizer", "pre_tokenizer"):
        state[part] = _unprefixed(state[part])
    changed._tokenizer = Tokenizer.from_str(json.dumps(state))
    return changed


# Any: the parts of a tokenizer as its own JSON holds them.
def _unprefixed(part: Any) -> Any:
    """One step of the tokenizer, and the steps in it, without what adds a space in front.

    Source: tokenizers 0.23. ByteLevel has `add_prefix_space`, Metaspace `prepend_scheme`, and older Llama files put
    the mark of a space in front by a `Prepend` normalizer.
    """
    if isinstance(part, list):
        return [_unprefixed(step) for step in part if step.get("type") != "Prepend"]
    if not isinstance(part, dict) or part.get("type") == "Prepend":
        return None
    changed = {key: _unprefixed(value) if isinstance(value, list) else value for key, value in part.items()}
    if "add_prefix_space" in changed:
        changed["add_prefix_space"] = False
    if "prepend_scheme" in changed:
        changed["prepend_scheme"] = "never"
    return changed
