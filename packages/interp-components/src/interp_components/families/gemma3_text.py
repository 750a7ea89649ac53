"""Gemma 3: Gemma 2 with norms on each head's queries and keys, and a window in five of six blocks; nothing is capped.

A config can still ask for capped logits. Blocks with and without a window rotate by different frequencies.
Source: transformers.models.gemma3.modeling_gemma3, transformers 5.24.
"""

from __future__ import annotations

from transformers.models.gemma3 import modeling_gemma3 as native

from interp_components.standard import PostNormAttention, PostNormMlp, SandwichLayer, llama_like, softcap

RENAME = llama_like.RENAME
ENVOYS = {
    native.Gemma3DecoderLayer: SandwichLayer,
    native.Gemma3Attention: PostNormAttention,
    native.Gemma3MLP: PostNormMlp,
}

project_on_vocab = softcap.project_on_vocab
