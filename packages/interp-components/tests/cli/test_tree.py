"""`interp tree`: modules, their names, their values."""

from __future__ import annotations

import re
from typing import Any

import pytest

from interp_components.model import StandardizedTransformer

from .ran import Interp


@pytest.fixture
def modules(interp: Interp) -> dict[str, Any]:
    """The modules of the toy by path."""
    return {module["path"]: module for module in interp("tree", "toy", "--json").facts["modules"]}


def test_every_module_is_there_once(modules: dict[str, Any]) -> None:
    """The paths are those of the envoys, in order."""
    assert list(modules) == [path for path, _ in StandardizedTransformer("toy").named_modules()]


def test_standard_names_lead_to_their_modules(modules: dict[str, Any]) -> None:
    """Both those of the root and those of a block."""
    assert modules["model.transformer.h"]["names"] == ["layers"]
    assert modules["model.transformer.h.0.attn"]["names"] == ["self_attn"]


def test_a_value_has_its_layout_and_why_it_is_not_there(modules: dict[str, Any]) -> None:
    """A reason is null for what is there."""
    values = {value["name"]: value for value in modules["model.transformer.h.3.attn"]["values"]}

    assert values["attention_output"]["reason"] is None
    assert values["attention_scores"]["dims"] == ["batch", "num_heads", "query", "key"]
    assert "eager" in values["attention_scores"]["reason"]


def test_eager_has_scores(interp: Interp) -> None:
    """Attention that is written out lacks nothing, and nothing points at the option any more."""
    printed = interp("tree", "toy", "--eager").out

    assert re.search(r"\.attention_scores .* yes$", printed, re.MULTILINE)
    assert "--eager" not in printed


def test_equal_blocks_are_one(interp: Interp) -> None:
    """A reason that many values share is said once."""
    printed = interp("tree", "toy").out

    assert re.search(r"^ +0-3 +4 x GPT2Block$", printed, re.MULTILINE)
    assert re.findall(r"no (\[\d\])$", printed, re.MULTILINE) == ["[1]"] * 3
    assert printed.count("\n[1] read inside the eager attention forward") == 1


@pytest.mark.filterwarnings("default:no family describes")
def test_a_size_that_a_model_does_not_have_is_null(interp: Interp, stateful_folder: str) -> None:
    """A Mamba has no heads, and is listed all the same."""
    facts = interp("tree", stateful_folder, "--json").facts

    assert (facts["sizes"]["num_heads"], facts["sizes"]["num_layers"]) == (None, 2)


@pytest.mark.filterwarnings("default:no family describes")
def test_what_all_layers_lack_is_said_once(interp: Interp, mixed_folder: str) -> None:
    """A reason that names the layer is that of its neighbours, too."""
    printed = interp("tree", mixed_folder).out

    assert printed.count("does not show that it adds what 'self_attn' returns") == 1
    assert "read model.model.layers.*.self_attn.output" in printed


def test_sizes_are_the_model_s(interp: Interp, llama_folder: str) -> None:
    """Also where heads share keys and values."""
    facts = interp("tree", llama_folder, "--json").facts

    assert facts["family"] == "llama"
    assert facts["sizes"] == {
        "num_layers": 2,
        "hidden_size": 32,
        "num_heads": 4,
        "num_kv_heads": 2,
        "head_dim": 8,
        "intermediate_size": 40,
        "vocab_size": 257,
    }
