"""StableLM: llama with LayerNorms that have biases, and rotary on a part of each head.

With `use_parallel_residual=True` (the 12B model) attention and MLP run side by side behind one norm; an edit in place of
`attention_input` then reaches the MLP too, since both are given one tensor.
Source: transformers.models.stablelm.modeling_stablelm, transformers 5.24.
"""

from __future__ import annotations

from transformers.models.stablelm import modeling_stablelm as native

from interp_components import standard
from interp_components.standard import Attention, Mlp, llama_like

RENAME = llama_like.RENAME


class Layer(standard.Layer):
    """StableLM's block, which runs attention and MLP one after the other in most of the models."""

    @property
    def is_parallel(self) -> bool:
        """Whether this model runs attention and MLP side by side."""
        return bool(self.config.use_parallel_residual)


ENVOYS = {native.StableLmDecoderLayer: Layer, native.StableLmAttention: Attention, native.StableLmMLP: Mlp}
