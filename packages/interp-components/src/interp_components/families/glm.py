"""GLM: llama with one projection for gate and neurons, and rotary on half of each head, in interleaved pairs.

Source: transformers.models.glm.modeling_glm, transformers 5.24.
"""

from __future__ import annotations

from transformers.models.glm import modeling_glm as native

from interp_components.standard import Attention, Layer, Mlp, llama_like

RENAME = llama_like.RENAME
ENVOYS = {native.GlmDecoderLayer: Layer, native.GlmAttention: Attention, native.GlmMLP: Mlp}
