"""The operations of real forwards, as they are nested there."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from transformers import BloomConfig, FalconConfig, Gemma2Config, GPT2Config, LlamaConfig, PreTrainedConfig

from interp_components import StandardizedTransformer
from interp_components.errors import OutOfOrderError
from tests import models

CONFIGS: list[Callable[[], PreTrainedConfig]] = [
    lambda: BloomConfig(vocab_size=models.VOCAB, hidden_size=24, n_layer=1, n_head=2),
    lambda: FalconConfig(vocab_size=models.VOCAB, hidden_size=24, num_hidden_layers=1, num_attention_heads=2),
    lambda: Gemma2Config(**models.llama_like(num_hidden_layers=1)),
    lambda: GPT2Config(vocab_size=models.VOCAB, n_embd=24, n_layer=1, n_head=2),
    lambda: LlamaConfig(**models.llama_like(num_hidden_layers=1)),
]


@pytest.mark.parametrize("part", ["", "self_attn", "mlp"], ids=["block", "attention", "mlp"])
@pytest.mark.parametrize("config", CONFIGS, ids=["bloom", "falcon", "gemma2", "gpt2", "llama"])
def test_one_block_reads_every_operation_that_fires(config: Callable[[], PreTrainedConfig], part: str) -> None:
    """In their order, with calls inside of calls."""
    model = StandardizedTransformer(models.build(config()))
    host = model.layers[0].get(part) if part else model.layers[0]
    ids = torch.tensor([[3, 5, 7]])

    def fires(name: str) -> bool:
        try:
            with model.trace(ids):
                _ = host.source.get(name).output
        except OutOfOrderError:
            return False
        return True

    firing = [name for name in host.source.names if fires(name)]
    with model.trace(ids) as tracer:
        for name in firing:
            _ = host.source.get(name).output

    assert [entry.location for entry in tracer.receipt] == [f"{host.path}.source.{name}.output" for name in firing]
