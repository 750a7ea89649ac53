"""GPT-NeoX: one projection for queries, keys and values, rotary on a part of each head, attention and MLP side by side.

Both read the stream that enters the block, each through a norm of its own, unless `use_parallel_residual=False`.
Source: transformers.models.gpt_neox.modeling_gpt_neox, transformers 5.24.
"""

from __future__ import annotations

from transformers.models.gpt_neox import modeling_gpt_neox as native

from interp_components import standard
from interp_components.standard import Attention, Mlp

RENAME = {
    "gpt_neox.embed_in": "embed_tokens",
    "gpt_neox.layers": "layers",
    "gpt_neox.final_layer_norm": "norm",
    "attention": "self_attn",
    "attention.dense": "attention.o_proj",
    "mlp.dense_4h_to_h": "mlp.down_proj",
}


class Layer(standard.Layer):
    """GPT-NeoX's block, which runs attention and MLP side by side in most of the models."""

    @property
    def is_parallel(self) -> bool:
        """Whether this model runs attention and MLP side by side."""
        return bool(self.config.use_parallel_residual)


ENVOYS = {native.GPTNeoXLayer: Layer, native.GPTNeoXAttention: Attention, native.GPTNeoXMLP: Mlp}
