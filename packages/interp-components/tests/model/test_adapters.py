"""An adapter is loaded by its own name, into the model that it was trained for."""

from __future__ import annotations

import json
from pathlib import Path

import peft
import pytest
import torch
from tests.model import standins
from transformers import GPT2LMHeadModel

from interp_components.model import LoadError, StandardizedTransformer, adapters

# peft reads it.
pytestmark = pytest.mark.filterwarnings("ignore:.is_gradient_checkpointing. is deprecated:FutureWarning")

IDS = torch.tensor([[2, 5, 7, 3]])


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A folder with a small GPT-2 and its tokenizer."""
    return standins.save(tmp_path / "base", standins.gpt2())


@pytest.fixture
def adapter(base: Path, tmp_path: Path) -> Path:
    """A folder with an adapter for it, whose weights are not zero."""
    config = peft.LoraConfig(r=2, target_modules=["c_attn"], fan_in_fan_out=True, init_lora_weights=False)
    folder = tmp_path / "adapter"
    peft.get_peft_model(GPT2LMHeadModel.from_pretrained(base), config).save_pretrained(folder)
    return folder


def test_an_adapter_is_in_the_model_that_its_name_loads(adapter: Path, base: Path) -> None:
    """The logits are those that peft's own wrapper computes."""
    plain = StandardizedTransformer(base)
    with plain.trace(IDS):
        without = plain.logits.save()
    wrapped = peft.PeftModel.from_pretrained(plain._module, adapter)

    model = StandardizedTransformer(adapter)
    with model.trace(IDS):
        adapted = model.logits.save()

    assert torch.equal(adapted, wrapped(IDS).logits)
    assert not torch.equal(adapted, without)


def test_the_parts_of_an_adapter_are_modules_of_the_tree(adapter: Path) -> None:
    """What the low rank passes on can be read in place."""
    model = StandardizedTransformer(adapter)
    with model.trace(IDS):
        inner = model.layers[1].attn.c_attn.lora_A.default.output.save()

    assert inner.shape == (1, 4, 2)


def test_the_tokenizer_is_that_of_the_base_where_the_adapter_has_none(adapter: Path) -> None:
    """Text can be traced without a tokenizer in the adapter's folder."""
    assert StandardizedTransformer(adapter).tokenizer is not None


def test_the_tokenizer_of_the_adapter_goes_before_that_of_the_base(adapter: Path, base: Path) -> None:
    """Training may have added tokens."""
    tokenizer = StandardizedTransformer(base).tokenizer
    tokenizer.add_tokens(["<new>"])
    tokenizer.save_pretrained(adapter)

    assert "<new>" in StandardizedTransformer(adapter).tokenizer.get_vocab()


def test_an_adapter_that_names_no_base_is_refused(adapter: Path) -> None:
    """The way out is to load the base, and then the adapter."""
    file = adapter / "adapter_config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"base_model_name_or_path": None}))

    with pytest.raises(LoadError, match=r"does not say which model it was trained for.*model\.load_adapter"):
        StandardizedTransformer(adapter)


def test_without_peft_an_adapter_is_refused(adapter: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What to install is said."""
    monkeypatch.setattr(adapters, "is_peft_available", lambda: False)

    with pytest.raises(LoadError, match="pip install peft"):
        StandardizedTransformer(adapter)
