"""Granite: llama with four multipliers, of embeddings, scores, contributions and logits.

A block adds `residual_multiplier` times what its parts return, and that is their contribution. `token_embeddings` are as
the embedding gives them; the first block's `layer_input` is `embedding_multiplier` times as large.
Source: transformers.models.granite.modeling_granite, transformers 5.24.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor
from transformers.models.granite import modeling_granite as native

from interp_components import standard
from interp_components.layouts import Residual
from interp_components.properties import FIRST
from interp_components.standard import Layer, ScaledEProperty, llama_like

RENAME = llama_like.RENAME


def _multiplier(part: standard.Standard) -> float:
    return float(part.config.residual_multiplier)


class Attention(standard.Attention):
    """Attention whose output is scaled as it is added."""

    @ScaledEProperty("output", _multiplier, select=FIRST)
    def attention_output(self, value: Tensor) -> Residual:
        """What attention adds to the residual stream, the multiplier included."""
        return value


class Mlp(standard.Mlp):
    """An MLP whose output is scaled as it is added."""

    @ScaledEProperty("output", _multiplier, select=FIRST)
    def mlp_output(self, value: Tensor) -> Residual:
        """What the MLP adds to the residual stream, the multiplier included."""
        return value


ENVOYS = {native.GraniteDecoderLayer: Layer, native.GraniteAttention: Attention, native.GraniteMLP: Mlp}


def project_on_vocab(model: Any, hidden: Tensor) -> Tensor:
    """Return the logits, which the model divides by `logits_scaling`."""
    logits: Tensor = model.lm_head(model.norm(hidden)) / model.text_config.logits_scaling
    return logits
