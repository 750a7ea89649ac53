"""The model that a command is about."""

from __future__ import annotations

import io

import pytest

from .ran import Interp


def test_a_folder_is_a_model(interp: Interp, llama_folder: str) -> None:
    """It is loaded with its own tokenizer."""
    assert interp("lens", llama_folder, "ab", "--json").facts["tokens"][1]["text"] == "b"


def test_a_dash_reads_the_prompt(interp: Interp, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the standard input, without the end of its line."""
    monkeypatch.setattr("sys.stdin", io.StringIO("Emma went\n"))

    assert interp("lens", "toy", "-", "--json").facts["prompt"] == "Emma went"


def test_the_type_of_the_weights_can_be_asked_for(interp: Interp) -> None:
    """The toy is single precision otherwise."""
    assert interp("check", "toy", "--dtype", "bfloat16", "--json").facts["about"].endswith("bfloat16")


def test_a_model_without_a_tokenizer_says_so(interp: Interp, wordless_folder: str) -> None:
    """A prompt is a text, which needs one."""
    assert "needs a tokenizer, and this model has none" in interp("lens", wordless_folder, "ab").err
