"""Cohere 2: Cohere with a window in three of four blocks, and no rotary positions in the others.

Source: transformers.models.cohere2.modeling_cohere2, transformers 5.24.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor
from transformers.models.cohere2 import modeling_cohere2 as native

from interp_components.standard import Attention, Mlp, ParallelLayer, llama_like

RENAME = llama_like.RENAME
ENVOYS = {native.Cohere2DecoderLayer: ParallelLayer, native.Cohere2Attention: Attention, native.Cohere2MLP: Mlp}


def project_on_vocab(model: Any, hidden: Tensor) -> Tensor:
    """Return the logits, which the model multiplies by `logit_scale`."""
    logits: Tensor = model.lm_head(model.norm(hidden)) * model.text_config.logit_scale
    return logits
