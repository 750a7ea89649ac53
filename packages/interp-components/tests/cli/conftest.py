"""`interp`, run in this process."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.model import standins
from transformers import MambaConfig, MambaForCausalLM, Qwen3NextConfig, Qwen3NextForCausalLM

from interp_components.cli import main

from .ran import Interp, Ran


@pytest.fixture
def interp(capsys: pytest.CaptureFixture[str]) -> Interp:
    """`interp(*arguments)`; the streams are no terminals."""

    def run(*arguments: str) -> Ran:
        try:
            code = main(arguments)
        except SystemExit as left:  # as argparse leaves
            code = int(str(left.code))
        return Ran(code, *capsys.readouterr())

    return run


@pytest.fixture(scope="session")
def llama_folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A saved tiny Llama, whose tokens are bytes."""
    return str(standins.save(tmp_path_factory.mktemp("llama"), standins.llama()))


@pytest.fixture(scope="session")
def wordless_folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A saved tiny GPT-2 without a tokenizer."""
    folder: Path = standins.save(tmp_path_factory.mktemp("gpt2"), standins.gpt2(), with_tokenizer=False)
    return str(folder)


@pytest.fixture(scope="session")
def mixed_folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A saved tiny model whose layers have no attention, then attention."""
    sizes = {"hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 3, "vocab_size": standins.VOCABULARY}
    heads = {"num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 16}
    states = {
        "linear_num_value_heads": 2,
        "linear_num_key_heads": 2,
        "linear_key_head_dim": 8,
        "linear_value_head_dim": 8,
    }
    experts = {"num_experts": 2, "moe_intermediate_size": 16, "shared_expert_intermediate_size": 16}
    kinds = ["linear_attention", "full_attention", "full_attention"]
    config = Qwen3NextConfig(**sizes, **heads, **states, **experts, num_experts_per_tok=1, layer_types=kinds)
    return str(standins.save(tmp_path_factory.mktemp("mixed"), Qwen3NextForCausalLM(config)))


@pytest.fixture(scope="session")
def stateful_folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A saved tiny Mamba."""
    config = MambaConfig(hidden_size=32, num_hidden_layers=2, vocab_size=standins.VOCABULARY, state_size=4)
    return str(standins.save(tmp_path_factory.mktemp("mamba"), MambaForCausalLM(config)))
