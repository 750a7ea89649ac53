"""The transformers model inside whatever module is wrapped, and what its inputs may be."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from torch import nn
from transformers import PreTrainedModel


def inner_model(module: nn.Module) -> PreTrainedModel:
    """The transformers model: the module itself, or the first one inside what wraps it."""
    if isinstance(module, PreTrainedModel):
        return module
    return next(each for each in module.modules() if isinstance(each, PreTrainedModel))


def longest_input(module: nn.Module) -> int | None:
    """How many tokens a row may have where each position has an embedding of its own; None where none has.

    Source: GPT-2, GPT-Neo and GPT-BigCode call that embedding `wpe`, OPT calls it `embed_positions`, transformers 5.24.
    """
    tables = (name.rpartition(".")[2] for name, each in module.named_modules() if isinstance(each, nn.Embedding))
    if {"wpe", "embed_positions"}.isdisjoint(tables):
        return None
    return int(inner_model(module).config.get_text_config().max_position_embeddings)


@lru_cache(maxsize=64)
def takes_positions(forward: Callable[..., Any]) -> bool:
    """Whether a forward takes `position_ids` that number the tokens of a row; those of images and text differ."""
    names = inspect.signature(forward).parameters
    return "position_ids" in names and "pixel_values" not in names
