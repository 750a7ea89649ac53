"""Models that the tests of traces share: a chain of two layers, and a tiny GPT-2."""

import pytest
import torch
from torch import nn
from transformers import GPT2Config, GPT2LMHeadModel

from interp_components.tracing import Traceable


class Chain(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.second = nn.Linear(4, 4)

    def forward(self, x):
        return self.second(self.first(x))

    def repeat(self, x, times=3):
        for _ in range(times):
            x = self(x)
        return x


@pytest.fixture
def x():
    return torch.arange(8.0).reshape(2, 4) / 8


@pytest.fixture
def chain():
    torch.manual_seed(0)
    return Traceable(Chain())


@pytest.fixture(scope="session")
def gpt2_module():
    torch.manual_seed(0)
    config = GPT2Config(
        n_layer=3, n_embd=32, n_head=4, vocab_size=128, n_positions=64, bos_token_id=0, eos_token_id=1, pad_token_id=1
    )
    return GPT2LMHeadModel(config).eval()


@pytest.fixture
def gpt2(gpt2_module):
    return Traceable(gpt2_module)


@pytest.fixture
def ids():
    return torch.arange(2, 18).reshape(2, 8)


def leftovers(module):
    """What a run has left on the modules: instance forwards and hooks."""
    found = []
    for path, each in module.named_modules():
        found += [f"{path}.{name}" for name in ("forward",) if name in each.__dict__]
        found += [f"{path}.{name}" for name in ("_forward_hooks", "_forward_pre_hooks") if getattr(each, name)]
    return found


@pytest.fixture(name="leftovers")
def leftovers_fixture():
    return leftovers
