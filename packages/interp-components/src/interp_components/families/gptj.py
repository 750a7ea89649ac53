"""GPT-J: attention and MLP side by side behind one norm, rotary in interleaved pairs on a part of each head.

An edit in place of `attention_input` reaches the MLP too, since both are given one tensor.
Source: transformers.models.gptj.modeling_gptj, transformers 5.24.
"""

from __future__ import annotations

from transformers.models.gptj import modeling_gptj as native

from interp_components.standard import Attention, Mlp, ParallelLayer, gpt2_like

RENAME = gpt2_like.PARALLEL_RENAME
ENVOYS = {native.GPTJBlock: ParallelLayer, native.GPTJAttention: Attention, native.GPTJMLP: Mlp}

intermediate_size = gpt2_like.intermediate_size
