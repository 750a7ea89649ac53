"""Cohere: attention and MLP side by side behind one norm, and logits times `logit_scale`.

An edit in place of `attention_input` reaches the MLP too, since both are given one tensor.
Source: transformers.models.cohere.modeling_cohere, transformers 5.24.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor
from transformers.models.cohere import modeling_cohere as native

from interp_components.standard import Attention, Mlp, ParallelLayer, llama_like

RENAME = llama_like.RENAME
ENVOYS = {native.CohereDecoderLayer: ParallelLayer, native.CohereAttention: Attention, native.CohereMLP: Mlp}


def project_on_vocab(model: Any, hidden: Tensor) -> Tensor:
    """Return the logits, which the model multiplies by `logit_scale`."""
    logits: Tensor = model.lm_head(model.norm(hidden)) * model.text_config.logit_scale
    return logits
