"""Models with random weights, so that nothing is downloaded: GPT-2's modules in three sizes, and one linear layer."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn


class Shape(NamedTuple):
    """A size, and how many tokens its prompts have."""

    layers: int
    width: int
    heads: int
    vocabulary: int
    tokens: int


SHAPES = {
    "toy": Shape(1, 4, 1, 0, 1),
    "tiny": Shape(2, 64, 4, 256, 8),
    # GPT-2 small's module tree with small tensors: what a library does per module shows, what torch computes does not.
    "deep": Shape(12, 64, 4, 256, 8),
    "small": Shape(12, 768, 12, 50257, 8),
}


class Toy(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Any:
        return self.linear(x)


def build(name: str, attention: str) -> nn.Module:
    """The model of a shape, with the same weights each time."""
    torch.manual_seed(0)
    if name == "toy":
        return Toy().eval()
    from transformers import GPT2Config, GPT2LMHeadModel

    shape = SHAPES[name]
    settings: Any = GPT2Config  # Any: its own arguments are typed, those of every config are not
    config = settings(
        n_layer=shape.layers, n_embd=shape.width, n_head=shape.heads, vocab_size=shape.vocabulary, n_positions=256,
        bos_token_id=0, eos_token_id=0, pad_token_id=0, attn_implementation=attention,
    )  # fmt: skip
    model: nn.Module = GPT2LMHeadModel(config)
    return model.eval()


def prompt(name: str, seed: int) -> Tensor:
    """One prompt: token ids [1, seq], or the input of the linear layer."""
    generator = torch.Generator().manual_seed(seed)
    if name == "toy":
        return torch.randn(1, 4, generator=generator)
    shape = SHAPES[name]
    return torch.randint(1, shape.vocabulary, (1, shape.tokens), generator=generator)


def tokenizer(name: str) -> Any:
    """A tokenizer made in memory, for wrappers that insist on one."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    words = {f"t{number}": number for number in range(SHAPES[name].vocabulary)}
    made = Tokenizer(models.WordLevel(words, unk_token="t0"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    wrap: Any = PreTrainedTokenizerFast  # Any: its arguments are not typed
    return wrap(tokenizer_object=made, unk_token="t0", pad_token="t0", eos_token="t0", bos_token="t0")
