"""`interp source`: the operations of a module's forward."""

from __future__ import annotations

import pytest

from interp_components.model import StandardizedTransformer

from .ran import Interp


@pytest.mark.parametrize(
    "path",
    ["layers.0.mlp", "layers[0].mlp", "transformer.h.0.mlp", "model.transformer.h.0.mlp", "model.layers[0].mlp"],
)
def test_a_module_is_found_under_all_its_names(interp: Interp, path: str) -> None:
    """As it is written in Python, as the tree shows it, standard or native."""
    assert interp("source", "toy", path, "--json").facts["module"] == "model.transformer.h.0.mlp"


@pytest.mark.parametrize("path", ["model.layers.0.mlp", "model.model.layers.0.mlp"])
def test_a_module_called_like_the_root_is_found(interp: Interp, llama_folder: str, path: str) -> None:
    """The first module of a Llama is called `model`, as the root is."""
    assert interp("source", llama_folder, path, "--json").facts["module"] == "model.model.layers.0.mlp"


@pytest.mark.parametrize("path", ["model", ""])
def test_the_root_has_a_source(interp: Interp, path: str) -> None:
    """It is a module like others."""
    assert interp("source", "toy", path, "--json").facts["class"] == "GPT2LMHeadModel"


def test_operations_are_those_of_the_source(interp: Interp) -> None:
    """By name and in order, each with its line."""
    facts = interp("source", "toy", "layers.0.self_attn", "--json").facts
    model = StandardizedTransformer("toy")

    assert [each["name"] for each in facts["operations"]] == list(model.layers[0].self_attn.source.names)
    line = next(each["line"] for each in facts["operations"] if each["name"] == "self_c_proj_0")
    assert "self.c_proj(" in facts["lines"][line - facts["first_line"]]


def test_labels_stand_beside_their_lines(interp: Interp) -> None:
    """Further labels of a line stand below the first."""
    printed = interp("source", "toy", "layers.0.mlp").out

    assert "hidden_states = self.c_fc(hidden_states)\nhidden_states_0\n" in printed


def test_a_list_of_modules_has_no_source(interp: Interp) -> None:
    """It is never called; the message names one that is."""
    assert "which has no forward: name a module in it, as 'layers.0'" in interp("source", "toy", "layers").err


def test_what_is_no_module_is_refused(interp: Interp) -> None:
    """A parameter has no forward."""
    assert "'lm_head.weight' is a Parameter, and no module" in interp("source", "toy", "lm_head.weight").err
