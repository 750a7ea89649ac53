"""The vocabulary in a GGUF file -> a transformers tokenizer.

A file names the way in which text is split into words before pieces are merged (`tokenizer.ggml.pre`). Splitting
otherwise gives other tokens without any error, so a name that is not known here is said.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models
from tokenizers.pre_tokenizers import ByteLevel, Digits, PreTokenizer, Punctuation, Sequence, Split
from transformers import PreTrainedTokenizerFast

from interp_components.model.gguf.reader import GGUFFile

_NORMAL, _CONTROL, _USER_DEFINED = 1, 3, 4
_CASED_WORDS: Final = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{DIGITS}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
    r"|\s+(?!\S)|\s+"
)


def _bytes() -> PreTokenizer:
    return ByteLevel(add_prefix_space=False)


def _words(digits: str) -> PreTokenizer:
    """Words of any case, numbers of at most so many digits."""
    pattern = Regex(_CASED_WORDS.replace("{DIGITS}", digits))
    return Sequence([Split(pattern, "isolated"), ByteLevel(add_prefix_space=False, use_regex=False)])


def _falcon() -> PreTokenizer:
    groups = Split(Regex("[0-9][0-9][0-9]"), "isolated")
    return Sequence([Punctuation("contiguous"), _bytes(), Digits(individual_digits=False), groups])


SPLITTERS: Final[dict[str, Callable[[], PreTokenizer]]] = {
    "gpt-2": _bytes,
    "smollm": lambda: Sequence([Digits(individual_digits=True), _bytes()]),
    "llama-bpe": lambda: _words("{1,3}"),
    "qwen2": lambda: _words(""),
    "falcon": _falcon,
}
"""How text is split, by the name in the file. Source: llama.cpp, llm_tokenizer_bpe."""


def unread(file: GGUFFile) -> str | None:
    """Why this module does not build the tokenizer of the file, or None when it does."""
    kind, pre = file.metadata.get("tokenizer.ggml.model"), file.metadata.get("tokenizer.ggml.pre")
    if kind != "gpt2":
        return f"its pieces are of the kind {kind!r}"
    return None if pre in SPLITTERS else f"it splits text in the way {pre!r}"


def tokenizer_of(file: GGUFFile, options: Mapping[str, Any]) -> PreTrainedTokenizerFast:
    """The tokenizer of a file that `unread` has nothing against; `options` are those of transformers."""
    entries = {key.removeprefix("tokenizer.ggml."): value for key, value in file.metadata.items()}
    pieces: list[str] = entries["tokens"]
    merges = [(left, right) for left, _, right in (line.partition(" ") for line in entries["merges"])]
    core = Tokenizer(models.BPE(vocab={piece: number for number, piece in enumerate(pieces)}, merges=merges))
    core.pre_tokenizer = SPLITTERS[entries["pre"]]()
    core.decoder = decoders.ByteLevel()
    kinds: list[int] = entries.get("token_type") or [_NORMAL] * len(pieces)
    for piece, kind in zip(pieces, kinds, strict=True):
        if kind in {_CONTROL, _USER_DEFINED}:
            core.add_tokens([AddedToken(piece, special=kind == _CONTROL, normalized=False)])
    named = {**_named_tokens(entries, pieces), **options}
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, **named)  # type: ignore[no-untyped-call]  # transformers' own
    tokenizer.chat_template = file.metadata.get("tokenizer.chat_template")
    return tokenizer


def _named_tokens(entries: dict[str, Any], pieces: list[str]) -> dict[str, str]:
    """The pieces that begin and end a text, fill rows and stand for the unknown, as far as the file names them."""
    roles = {"bos_token": "bos", "eos_token": "eos", "pad_token": "padding", "unk_token": "unknown"}
    numbers = {name: entries.get(f"{role}_token_id") for name, role in roles.items()}
    return {name: pieces[number] for name, number in numbers.items() if number is not None}
