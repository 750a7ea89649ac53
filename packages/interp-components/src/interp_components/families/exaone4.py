"""EXAONE 4: norms behind the parts and none in front, norms on each head's queries and keys, a window in most blocks.

In models with windows, the blocks that see everything are left without rotary positions.

Source: transformers.models.exaone4.modeling_exaone4, transformers 5.24.
"""

from __future__ import annotations

from transformers.models.exaone4 import modeling_exaone4 as native

from interp_components.standard import PostOnlyAttention, PostOnlyLayer, PostOnlyMlp, llama_like

RENAME = llama_like.RENAME
ENVOYS = {
    native.Exaone4DecoderLayer: PostOnlyLayer,
    native.Exaone4Attention: PostOnlyAttention,
    native.Exaone4MLP: PostOnlyMlp,
}
