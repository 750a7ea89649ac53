"""OLMo: llama with norms that have no weights, and queries, keys and values that can be clipped.

`clip_qkv` clips the outputs of `q_proj`, `k_proj` and `v_proj` in place: what a block saves of those outputs is clipped
too, whenever it was read. The standard values come after the clip.

Source: transformers.models.olmo.modeling_olmo, transformers 5.24.
"""

from __future__ import annotations

from transformers.models.olmo import modeling_olmo as native

from interp_components.standard import Attention, Layer, Mlp, llama_like

RENAME = llama_like.RENAME
ENVOYS = {native.OlmoDecoderLayer: Layer, native.OlmoAttention: Attention, native.OlmoMLP: Mlp}
