"""Models that are one file."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM

from interp_components.model import GuessedTokensWarning, StandardizedTransformer
from interp_components.model.gguf import GGUFFile, GGUFFormatError, pieces, shape
from interp_components.model.origins import GGUF

gguf = pytest.importorskip("gguf")

from tests.model.gguf import ggufs  # noqa: E402 - needs the package above

KINDS = gguf.GGMLQuantizationType


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A tiny llama."""
    return ggufs.write(tmp_path / "tiny.gguf")


@pytest.mark.parametrize(
    "kind", [KINDS.F32, KINDS.F16, KINDS.BF16, KINDS.Q8_0, KINDS.Q4_1, KINDS.Q5_0], ids=lambda kind: kind.name
)
@pytest.mark.parametrize("architecture", ["llama", "qwen2", "qwen3"])
def test_weights_are_those_that_transformers_unpacks(tmp_path: Path, architecture: str, kind: KINDS) -> None:
    """Bit for bit, under the same names."""
    pytest.importorskip("accelerate")
    path = ggufs.write(tmp_path / "tiny.gguf", architecture, kind)
    expected = AutoModelForCausalLM.from_pretrained(tmp_path, gguf_file=path.name, dtype=torch.float32).state_dict()
    found = GGUF(path, {}).load().state_dict()

    assert found.keys() == expected.keys()
    assert [name for name in expected if not torch.equal(found[name], expected[name])] == []


@pytest.mark.parametrize("architecture", ["llama", "qwen2", "qwen3"])
def test_the_model_computes_what_transformers_computes(tmp_path: Path, architecture: str) -> None:
    """The sizes, the rotation and the norm that the metadata gives are right, too."""
    pytest.importorskip("accelerate")
    path = ggufs.write(tmp_path / "tiny.gguf", architecture)
    ids = torch.arange(6)[None]
    with torch.no_grad():
        expected = AutoModelForCausalLM.from_pretrained(tmp_path, gguf_file=path.name, dtype=torch.float32)(ids).logits
        found = GGUF(path, {}).load()(ids).logits

    assert torch.equal(found, expected)


def test_a_file_without_an_output_head_ties_it_to_the_embeddings(tmp_path: Path) -> None:
    """The tensor that is not there is the one of the embeddings."""
    model = GGUF(ggufs.write(tmp_path / "tied.gguf", is_tied=True), {}).load()

    assert model.lm_head.weight is model.model.embed_tokens.weight


def test_accelerate_is_not_needed(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the package that knows the block formats is."""
    monkeypatch.setitem(sys.modules, "accelerate", None)

    assert GGUF(file, {}).load().dtype == torch.float32


def test_a_model_of_one_file_is_traced_with_its_own_tokenizer(file: Path) -> None:
    """Weights, tokenizer and names all come from the file."""
    model = StandardizedTransformer(str(file))
    with model.trace("ab"):
        hidden = model.layers[1].layer_output.save()

    assert hidden.shape == (1, 1, ggufs.SIZES["width"])


def test_the_precision_is_chosen_as_for_other_models(file: Path) -> None:
    """float32 is the default, since it is what the blocks unpack to."""
    assert GGUF(file, {"dtype": torch.bfloat16}).load().dtype == torch.bfloat16


def test_text_is_split_as_the_file_says(file: Path) -> None:
    """Digits are words of their own in this file, so the merge of two of them is never used."""
    tokenizer = pieces.tokenizer_of(GGUFFile(file), {})

    assert tokenizer.tokenize("ab12") == ["ab", "1", "2"]


def test_control_tokens_are_found_in_text_and_named(file: Path) -> None:
    """The tokens that begin and end a text are the file's."""
    tokenizer = pieces.tokenizer_of(GGUFFile(file), {})

    assert tokenizer.tokenize("ab</s>") == ["ab", "</s>"]
    assert (tokenizer.bos_token, tokenizer.eos_token) == ("<s>", "</s>")


def test_the_chat_template_of_the_file_is_kept(file: Path) -> None:
    """A chat becomes the text that the model was trained on."""
    assert pieces.tokenizer_of(GGUFFile(file), {}).chat_template == "{{ messages[0]['content'] }}"


def test_a_way_of_splitting_that_is_not_known_is_said(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other tokens without an error would be found out late."""
    monkeypatch.delitem(pieces.SPLITTERS, "smollm")
    with pytest.warns(GuessedTokensWarning, match="tiny.gguf: it splits text in the way 'smollm', which is not known"):
        GGUF(file, {}).tokenizer({})


@pytest.mark.parametrize(
    ("entry", "reason"),
    [({"llama__rope__scaling__type": "yarn"}, "stretches its rotary positions"), ({}, None)],
    ids=["stretched", "plain"],
)
def test_what_is_not_understood_is_left_to_transformers(
    tmp_path: Path, entry: dict[str, str], reason: str | None
) -> None:
    """A config that is almost right would give almost right numbers."""
    found = shape.unread(GGUFFile(ggufs.write(tmp_path / "tiny.gguf", **entry)))

    assert found is None if reason is None else reason in str(found)


@pytest.mark.parametrize("length", [0, 3, 7, 30, 200, 2000])
def test_a_file_that_ends_too_soon_is_refused(file: Path, tmp_path: Path, length: int) -> None:
    """Wherever it is cut, the error is one sentence with the file in it."""
    cut = tmp_path / "cut.gguf"
    cut.write_bytes(file.read_bytes()[:length])
    with pytest.raises(GGUFFormatError, match=r"cut\.gguf"):
        GGUFFile(cut)


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    """The name alone makes no GGUF file."""
    (tmp_path / "notes.gguf").write_text("a text")
    with pytest.raises(GGUFFormatError, match="does not begin with b'GGUF'"):
        GGUFFile(tmp_path / "notes.gguf")


def test_a_version_of_the_future_is_refused(tmp_path: Path) -> None:
    """Its layout is not known."""
    (tmp_path / "new.gguf").write_bytes(b"GGUF" + (9).to_bytes(4, "little") + bytes(16))
    with pytest.raises(GGUFFormatError, match="is of GGUF version 9"):
        GGUFFile(tmp_path / "new.gguf")
