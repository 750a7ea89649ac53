"""Cohere 2: Cohere with a window in three of four blocks, and no rotary positions in the others.

Source: transformers.models.cohere2.modeling_cohere2, transformers 5.24.
"""

from __future__ import annotations

from transformers.models.cohere2 import modeling_cohere2 as native

from interp_components.families import cohere
from interp_components.standard import Attention, Mlp, ParallelLayer, llama_like

RENAME = llama_like.RENAME
ENVOYS = {native.Cohere2DecoderLayer: ParallelLayer, native.Cohere2Attention: Attention, native.Cohere2MLP: Mlp}

project_on_vocab = cohere.project_on_vocab
