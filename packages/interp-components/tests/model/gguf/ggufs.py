"""Small GGUF files, written by the package that defines the format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gguf
import numpy

SIZES: dict[str, Any] = {"width": 64, "layers": 2, "heads": 4, "kv_heads": 2, "neurons": 96, "words": 300}


def write(
    path: Path,
    architecture: str = "llama",
    kind: gguf.GGMLQuantizationType = gguf.GGMLQuantizationType.Q8_0,
    is_tied: bool = False,
    **entries: Any,
) -> Path:
    """A model with random weights in one block format, and a vocabulary of bytes."""
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_name("tiny")
    writer.add_block_count(SIZES["layers"])
    writer.add_context_length(128)
    writer.add_embedding_length(SIZES["width"])
    writer.add_feed_forward_length(SIZES["neurons"])
    writer.add_head_count(SIZES["heads"])
    writer.add_head_count_kv(SIZES["kv_heads"])
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(5000.0)
    writer.add_vocab_size(SIZES["words"])
    if architecture == "qwen3":
        writer.add_key_length(head_width(architecture))
    vocabulary(writer)
    for key, value in entries.items():
        writer.add_string(key.replace("__", "."), value)
    for name, shape in shapes(architecture, is_tied).items():
        generator = numpy.random.default_rng(sum(name.encode()))
        values = generator.standard_normal(shape).astype(numpy.float32)
        stored = gguf.GGMLQuantizationType.F32 if len(shape) == 1 else kind
        writer.add_tensor(name, gguf.quantize(values, stored), raw_dtype=stored)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def vocabulary(writer: gguf.GGUFWriter) -> None:
    """The bytes, two merges, and two control tokens."""
    from tokenizers.pre_tokenizers import ByteLevel

    pieces = [*sorted(ByteLevel.alphabet()), "ab", "12"]
    controls = ["<s>", "</s>"]
    rest = [f"<unused{number}>" for number in range(SIZES["words"] - len(pieces) - len(controls))]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list([*pieces, *controls, *rest])
    writer.add_token_types([1] * len(pieces) + [3] * len(controls) + [1] * len(rest))
    writer.add_token_merges(["a b", "1 2"])
    writer.add_bos_token_id(len(pieces))
    writer.add_eos_token_id(len(pieces) + 1)
    writer.add_chat_template("{{ messages[0]['content'] }}")


def head_width(architecture: str) -> int:
    """How wide a head is; transformers 5.24 reads no Qwen 3 file whose heads are not 128 wide."""
    return 128 if architecture == "qwen3" else int(SIZES["width"] // SIZES["heads"])


def shapes(architecture: str, is_tied: bool) -> dict[str, tuple[int, ...]]:
    """The tensors of the model, by the names of the format."""
    width = SIZES["width"]
    q_width, kv_width = (head_width(architecture) * SIZES[name] for name in ("heads", "kv_heads"))
    found: dict[str, tuple[int, ...]] = {"token_embd.weight": (SIZES["words"], width), "output_norm.weight": (width,)}
    if not is_tied:
        found["output.weight"] = (SIZES["words"], width)
    for layer in range(SIZES["layers"]):
        block = {"attn_norm": (width,), "ffn_norm": (width,), "attn_output": (width, q_width)}
        block |= {"attn_q": (q_width, width), "attn_k": (kv_width, width), "attn_v": (kv_width, width)}
        block |= {"ffn_gate": (SIZES["neurons"], width), "ffn_up": (SIZES["neurons"], width)}
        block |= {"ffn_down": (width, SIZES["neurons"])}
        if architecture == "qwen3":
            block |= {"attn_q_norm": (head_width(architecture),), "attn_k_norm": (head_width(architecture),)}
        found |= {f"blk.{layer}.{name}.weight": shape for name, shape in block.items()}
        if architecture == "qwen2":
            biases = {"attn_q": (q_width,), "attn_k": (kv_width,), "attn_v": (kv_width,)}
            found |= {f"blk.{layer}.{name}.bias": shape for name, shape in biases.items()}
    return found
