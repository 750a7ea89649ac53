"""The tensors of a GGUF file -> the parameters of a transformers model, unpacked to float32.

Two things differ between the two worlds. Names: one table. Rotary order: a `llama` file stores the rows of the query and
key projections so that the two halves of a rotated pair are neighbours; transformers keeps them half a head apart.
"""

from __future__ import annotations

import re
from typing import Any, Final

import numpy
import torch
from transformers.utils import logging

from interp_components.model.gguf.reader import GGUFFile, GGUFFormatError, StoredTensor

_NAMES: Final = {
    "token_embd": "model.embed_tokens",
    "output_norm": "model.norm",
    "output": "lm_head",
}
_BLOCK_NAMES: Final = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
_IN_BLOCK: Final = re.compile(r"blk\.(\d+)\.(\w+)")
_ROTATED: Final = {"attn_q": "head_count", "attn_k": "head_count_kv"}


def parameters(file: GGUFFile) -> dict[str, torch.Tensor]:
    """Every parameter by its name in transformers, float32.

    Raises:
        GGUFFormatError: The file holds a tensor that its architecture does not have, or in an unknown block format.
        ImportError: The package `gguf` is not installed.
    """
    # Any: transformers' own bar, which its users can switch off, is not annotated.
    bar: Any = logging.tqdm
    progress = bar(file.tensors.items(), desc=f"unpacking {file.path.name}", leave=False)
    return {_parameter_name(file, name): _unpacked(file, name, tensor) for name, tensor in progress}


def _parameter_name(file: GGUFFile, name: str) -> str:
    stem, _, end = name.rpartition(".")
    block = _IN_BLOCK.fullmatch(stem)
    if block is None and stem in _NAMES:
        return f"{_NAMES[stem]}.{end}"
    if block is not None and block[2] in _BLOCK_NAMES:
        return f"model.layers.{block[1]}.{_BLOCK_NAMES[block[2]]}.{end}"
    raise GGUFFormatError(f"{str(file.path)!r} holds {name!r}, which a {file.architecture!r} model does not have")


def _unpacked(file: GGUFFile, name: str, tensor: StoredTensor) -> torch.Tensor:
    values = torch.from_numpy(_dequantized(file, name, tensor))
    stem = name.split(".")[-2]
    if file.architecture == "llama" and stem in _ROTATED:
        num_heads = file.of_architecture("attention.head_count")
        return _halves_apart(values, file.of_architecture(f"attention.{_ROTATED[stem]}", num_heads))
    return values


def _dequantized(
    file: GGUFFile, name: str, tensor: StoredTensor
) -> numpy.ndarray[tuple[int, ...], numpy.dtype[numpy.float32]]:
    import gguf

    try:
        kind = gguf.GGMLQuantizationType(tensor.kind)
        per_block, block_bytes = gguf.GGML_QUANT_SIZES[kind]
    except (ValueError, KeyError) as error:
        raise GGUFFormatError(f"{str(file.path)!r} holds {name!r} in the unknown block format {tensor.kind}") from error
    row_bytes = tensor.shape[-1] // per_block * block_bytes
    rows = int(numpy.prod(tensor.shape[:-1]))
    stored = numpy.frombuffer(file.stored, numpy.uint8, rows * row_bytes, tensor.start)
    # A copy, as the unpacking of float32 is a view of the file, which torch must not write into.
    return numpy.array(gguf.dequantize(stored.reshape(rows, row_bytes), kind), numpy.float32).reshape(tensor.shape)


def _halves_apart(rows: torch.Tensor, num_heads: int) -> torch.Tensor:
    """Rows of each head from pair by pair to all first halves, then all second halves."""
    paired = rows.reshape(num_heads, -1, 2, *rows.shape[1:])
    return paired.transpose(1, 2).reshape(rows.shape)
