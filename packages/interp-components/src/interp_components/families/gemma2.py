"""Gemma 2: norms in front of and behind each part, capped scores and logits, every other block sees a window.

`post_attention_layernorm` is the norm behind attention here, so it keeps its native name and the norm in front of the MLP
is `pre_feedforward_layernorm`. Source: transformers.models.gemma2.modeling_gemma2, transformers 5.24.
"""

from __future__ import annotations

from transformers.models.gemma2 import modeling_gemma2 as native

from interp_components.standard import PostNormAttention, PostNormMlp, SandwichLayer, llama_like, softcap

RENAME = llama_like.RENAME
ENVOYS = {
    native.Gemma2DecoderLayer: SandwichLayer,
    native.Gemma2Attention: PostNormAttention,
    native.Gemma2MLP: PostNormMlp,
}

project_on_vocab = softcap.project_on_vocab
