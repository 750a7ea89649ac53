"""OLMo 2: norms behind the parts and none in front, and one norm on all queries and one on all keys together.

Source: transformers.models.olmo2.modeling_olmo2, transformers 5.24.
"""

from __future__ import annotations

from transformers.models.olmo2 import modeling_olmo2 as native

from interp_components.standard import PostOnlyAttention, PostOnlyLayer, PostOnlyMlp, llama_like

RENAME = llama_like.RENAME
ENVOYS = {
    native.Olmo2DecoderLayer: PostOnlyLayer,
    native.Olmo2Attention: PostOnlyAttention,
    native.Olmo2MLP: PostOnlyMlp,
}
