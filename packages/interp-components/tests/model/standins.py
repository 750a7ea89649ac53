"""A tiny tokenizer and tiny models, and a folder that looks like the cache of a hub."""

from __future__ import annotations

from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)

END = "<end>"
VOCABULARY = 257
NAME = "someone/tiny-gpt2"
CHAT = "{% for message in messages %}{{ message['role'][0] + message['content'] }}{% endfor %}{% if add_generation_prompt %}a{% endif %}"


def tokenizer(add_prefix_space: bool = False) -> PreTrainedTokenizerFast:
    """One token per byte of the text, and one that ends it. Without a token for padding, as GPT-2's."""
    pieces = [END, *sorted(pre_tokenizers.ByteLevel.alphabet())]
    core = Tokenizer(models.BPE(vocab={piece: number for number, piece in enumerate(pieces)}, merges=[]))
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=add_prefix_space)
    core.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(tokenizer_object=core, eos_token=END)


def gpt2() -> GPT2LMHeadModel:
    """Three layers of GPT-2 with weights that matter."""
    ends = {"bos_token_id": 0, "eos_token_id": 0}
    config = GPT2Config(n_embd=16, n_layer=3, n_head=2, n_positions=128, vocab_size=VOCABULARY, **ends)
    return weighed(GPT2LMHeadModel(config))


def llama() -> LlamaForCausalLM:
    """Two layers of Llama with grouped queries and weights that matter."""
    sizes = {"hidden_size": 32, "intermediate_size": 40, "num_hidden_layers": 2, "max_position_embeddings": 128}
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": VOCABULARY}
    return weighed(LlamaForCausalLM(LlamaConfig(**sizes, **heads, bos_token_id=0, eos_token_id=0)))


def weighed(model: PreTrainedModel) -> PreTrainedModel:
    """The model in evaluation mode, with weights large enough for positions and patterns to matter."""
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in model.parameters():
            scale = 0.1 if parameter.ndim == 1 else parameter.shape[-1] ** -0.5
            parameter.add_(scale * torch.randn(parameter.shape, generator=generator))
    return model.eval()


def save(folder: Path, model: PreTrainedModel, with_tokenizer: bool = True) -> Path:
    """Write a model, and the tokenizer, to a folder."""
    model.save_pretrained(folder)
    if with_tokenizer:
        tokenizer().save_pretrained(folder)
    return folder


def cache(home: Path) -> Path:
    """A cache as the hub's client keeps it, with one repository."""
    repository = home / f"models--{NAME.replace('/', '--')}"
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / "main").write_text("0" * 40)
    save(repository / "snapshots" / ("0" * 40), gpt2())
    return home
