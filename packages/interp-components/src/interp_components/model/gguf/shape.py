"""The metadata of a GGUF file -> the transformers config of its architecture.

Only architectures whose every entry is understood are read here. `unread` says why a file is not, so that the caller
can let transformers read it.
"""

from __future__ import annotations

from typing import Final

from transformers import AutoConfig, PretrainedConfig

from interp_components.model.gguf.reader import GGUFFile

ARCHITECTURES: Final = {"llama": "llama", "qwen2": "qwen2", "qwen3": "qwen3"}
"""What a file calls an architecture -> the `model_type` of transformers."""

_SIZES: Final = {
    "num_hidden_layers": "block_count",
    "hidden_size": "embedding_length",
    "intermediate_size": "feed_forward_length",
    "num_attention_heads": "attention.head_count",
    "max_position_embeddings": "context_length",
    "rms_norm_eps": "attention.layer_norm_rms_epsilon",
}
_ROPE_FACTORS = "rope_freqs.weight"


def unread(file: GGUFFile) -> str | None:
    """Why this module does not read the file, or None when it does."""
    if file.architecture not in ARCHITECTURES:
        return f"its architecture is {file.architecture!r}, and {', '.join(ARCHITECTURES)} are read without help"
    if file.of_architecture("rope.scaling.type", "none") != "none" or _ROPE_FACTORS in file.tensors:
        return "it stretches its rotary positions"
    if file.of_architecture("expert_count"):
        return "it is a mixture of experts"
    missing = [key for key in _SIZES.values() if file.of_architecture(key) is None]
    return f"its metadata lacks {', '.join(missing)}" if missing else None


def config_of(file: GGUFFile) -> PretrainedConfig:
    """The config of a file that `unread` has nothing against."""
    sizes = {name: file.of_architecture(key) for name, key in _SIZES.items()}
    num_heads = sizes["num_attention_heads"]
    return AutoConfig.for_model(
        ARCHITECTURES[file.architecture],
        **sizes,
        num_key_value_heads=file.of_architecture("attention.head_count_kv", num_heads),
        head_dim=file.of_architecture("attention.key_length", sizes["hidden_size"] // num_heads),
        vocab_size=file.tensors["token_embd.weight"].shape[0],
        rope_parameters={"rope_type": "default", "rope_theta": file.of_architecture("rope.freq_base", 10_000.0)},
        tie_word_embeddings="output.weight" not in file.tensors,
        attention_bias="blk.0.attn_output.bias" in file.tensors,
        bos_token_id=file.metadata.get("tokenizer.ggml.bos_token_id"),
        eos_token_id=file.metadata.get("tokenizer.ggml.eos_token_id"),
        pad_token_id=file.metadata.get("tokenizer.ggml.padding_token_id"),
        architectures=None,
        dtype="float32",
    )
