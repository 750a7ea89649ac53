"""OLMo 3: OLMo 2 with a window in three of four blocks.

Source: transformers.models.olmo3.modeling_olmo3, transformers 5.24.
"""

from __future__ import annotations

from transformers.models.olmo3 import modeling_olmo3 as native

from interp_components.standard import PostOnlyAttention, PostOnlyLayer, PostOnlyMlp, llama_like

RENAME = llama_like.RENAME
ENVOYS = {
    native.Olmo3DecoderLayer: PostOnlyLayer,
    native.Olmo3Attention: PostOnlyAttention,
    native.Olmo3MLP: PostOnlyMlp,
}
