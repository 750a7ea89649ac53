"""Gemma 2: norms in front of and behind each part, capped scores and logits, every other block sees a window.

`post_attention_layernorm` is the norm behind attention here, so it keeps its native name and the norm in front of the MLP
is `pre_feedforward_layernorm`. Source: transformers.models.gemma2.modeling_gemma2, transformers 5.24.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from transformers.models.gemma2 import modeling_gemma2 as native

from interp_components import standard
from interp_components.layouts import Residual
from interp_components.standard import PostNormAttention, PostNormMlp, ResidualEProperty, llama_like

RENAME = llama_like.RENAME


class Layer(standard.Layer):
    """A block whose second stream enters the norm in front of the MLP."""

    @ResidualEProperty("pre_feedforward_layernorm.input")
    def resid_mid(self, value: Tensor) -> Residual:
        """The residual stream between attention and MLP."""
        return value


ENVOYS = {native.Gemma2DecoderLayer: Layer, native.Gemma2Attention: PostNormAttention, native.Gemma2MLP: PostNormMlp}


def project_on_vocab(model: Any, hidden: Tensor) -> Tensor:
    """Return the logits, which the model caps at the very end."""
    logits: Tensor = model.lm_head(model.norm(hidden))
    cap = model.text_config.final_logit_softcapping
    return logits if cap is None else cap * torch.tanh(logits / cap)
