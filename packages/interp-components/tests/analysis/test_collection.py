"""Activations of a data set, in files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from interp_components.analysis import Activations, CollectionError, collect
from interp_components.model import StandardizedTransformer
from tests import models

from . import subjects

TEXTS = ["Emma went to the garden", "It was", "When Mary and John went to the shop, John gave", "Jack", "She said that"]


def test_each_token_has_what_it_has_in_a_text_alone(toy: StandardizedTransformer, tmp_path: Path) -> None:
    """Padding leaves no trace, and rows say which token of which text they are."""
    found = collect(toy, TEXTS, tmp_path, over=["residual", "queries"], layers=[1, 3], positions="all", batch_size=2)
    streams, queries, ids, numbers = [], [], [], []
    for number, text in enumerate(TEXTS):
        with toy.trace(text):
            tokens = toy.input_ids[0].save()
            query = toy.layers[1].self_attn.attention_queries[0].save()
            stream = toy.layers[3].layer_output[0].save()
        streams.append(stream.detach())
        queries.append(query.detach().movedim(1, 0))
        ids += tokens.tolist()
        numbers += [number] * len(tokens)

    torch.testing.assert_close(found.load("residual", 3), torch.cat(streams), rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(found.load("queries", 1), torch.cat(queries), rtol=1e-4, atol=1e-4)
    assert (found.tokens().tolist(), found.texts().tolist()) == (ids, numbers)


@pytest.mark.parametrize("positions", ["last", "mean"])
def test_a_text_can_be_one_row(toy: StandardizedTransformer, tmp_path: Path, positions: Any) -> None:
    """Its last token, or the mean over its tokens."""
    whole = collect(toy, TEXTS, tmp_path / "all", positions="all", layers=2)
    found = collect(toy, TEXTS, tmp_path / "one", positions=positions, layers=2)
    rows = [whole.load("residual", 2)[whole.texts() == number] for number in range(len(TEXTS))]
    expected = torch.stack([row[-1] if positions == "last" else row.mean(0) for row in rows])

    torch.testing.assert_close(found.load("residual", 2), expected, rtol=1e-4, atol=1e-4)
    assert found.texts().tolist() == [0, 1, 2, 3, 4]


def test_all_values_of_a_block_are_collected_in_one_forward(model: StandardizedTransformer, tmp_path: Path) -> None:
    """In every family, asked for in any order."""
    over = ["residual", "mlp", "neurons", "attention", "heads", "values", "keys", "queries", "residual_in"]
    calls: list[int] = []
    handle = model.layers[1]._module.register_forward_hook(lambda *_: calls.append(1))
    found = collect(model, subjects.prompts(0), tmp_path, over=over, layers=[-1])
    handle.remove()

    assert calls == [1]
    assert {name: len(found.load(name, models.LAYERS - 1)) for name in over} == dict.fromkeys(over, 2)


def test_an_interrupted_collection_goes_on_where_it_ended(toy: StandardizedTransformer, tmp_path: Path) -> None:
    """Files that are there are not made again, and the whole is what an uninterrupted call makes."""
    rows: list[int] = []

    class Interrupted(Exception):
        pass

    def interrupt(_: Any, args: Any) -> None:
        rows.append(len(args[0]))
        if len(rows) == 2:
            raise Interrupted

    handle = toy.layers[0]._module.register_forward_pre_hook(interrupt)
    try:
        with pytest.raises(Interrupted):
            collect(toy, TEXTS, tmp_path / "parts", batch_size=2)
        first = Activations(tmp_path / "parts")
        interrupted_at = [file.name for file in first.files]
        found = collect(toy, TEXTS, tmp_path / "parts", batch_size=2)
    finally:
        handle.remove()
    whole = collect(toy, TEXTS, tmp_path / "whole", batch_size=2)

    assert interrupted_at == ["000000.safetensors"]
    assert rows == [2, 2, 2, 1]
    assert found.is_complete
    assert torch.equal(found.load("residual", 0), whole.load("residual", 0))


def test_values_are_cast_as_asked(llama: StandardizedTransformer, tmp_path: Path) -> None:
    """Tokens stay whole numbers."""
    found = collect(llama, subjects.prompts(0), tmp_path, dtype=torch.float16)

    assert (found.load("residual", 0).dtype, found.tokens().dtype) == (torch.float16, torch.int64)


def test_a_folder_holds_one_collection(llama: StandardizedTransformer, tmp_path: Path) -> None:
    """Another one is refused, with how it differs."""
    collect(llama, subjects.prompts(0), tmp_path, layers=[0])

    with pytest.raises(CollectionError, match=r"layers is \[0\] there and \[1\] here"):
        collect(llama, subjects.prompts(0), tmp_path, layers=[1])
    with pytest.raises(CollectionError, match="fingerprint"):
        collect(llama, subjects.prompts(1), tmp_path, layers=[0])


def test_what_was_not_collected_is_refused(llama: StandardizedTransformer, tmp_path: Path) -> None:
    """With what was."""
    found = collect(llama, subjects.prompts(0), tmp_path, layers=[0])

    with pytest.raises(CollectionError, match=r"holds \['residual'\] of the blocks \[0\], not 'mlp' of 0"):
        found.load("mlp", 0)
    assert repr(found) == "Activations[2 texts] residual of blocks [0], last"


def test_an_empty_folder_holds_none(tmp_path: Path) -> None:
    """It says which file is missing."""
    with pytest.raises(CollectionError, match=r"there is no collection\.json"):
        Activations(tmp_path)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"positions": "first"}, "'last', 'mean' and 'all'"), ({"over": "patterns"}, "no one tensor")],
    ids=["positions", "patterns"],
)
def test_what_cannot_be_collected_is_refused(
    llama: StandardizedTransformer, tmp_path: Path, options: Any, message: str
) -> None:
    """Before anything runs."""
    with pytest.raises(CollectionError, match=message):
        collect(llama, subjects.prompts(0), tmp_path, **options)
