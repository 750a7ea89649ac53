"""CodeGen: GPT-J with one projection for queries, values and keys, in that order, cut into four shards.

Source: transformers.models.codegen.modeling_codegen, transformers 5.24.
"""

from __future__ import annotations

from transformers.models.codegen import modeling_codegen as native

from interp_components.standard import Attention, Mlp, ParallelLayer, gpt2_like

RENAME = gpt2_like.PARALLEL_RENAME
ENVOYS = {native.CodeGenBlock: ParallelLayer, native.CodeGenAttention: Attention, native.CodeGenMLP: Mlp}

intermediate_size = gpt2_like.intermediate_size
