"""What `model.trace("The Eiffel Tower is in")` takes, made ready for the model's forward.

A text, several texts, token ids in any nesting, a tensor, what a tokenizer returned, a chat: all become one `Prepared`,
the keyword arguments of the forward and the number of rows they hold. `batches` joins the ones of several invokes.

An input that arrives as tensors by name, as a tokenizer returns them, goes to the model as it is. Nothing is cut or
padded anew, and nothing is added but positions where rows are padded and the model does not find them by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import torch
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from interp_components.errors import InterpError
from interp_components.model.rows import Padding, pad_rows, positions

# Any: the values of a forward's keyword arguments are the model's own affair.
Arguments: TypeAlias = dict[str, Any]
_MAIN: Final = ("input_ids", "inputs_embeds")
_PER_TOKEN: Final = ("attention_mask", "token_type_ids", "position_ids", "labels")
TEXT_FORMS: Final = "a text, a list of texts, token ids, a tensor of token ids, what a tokenizer returned, or a chat"


class InputError(InterpError, ValueError):
    """An input that no model can run on: empty, of no known form, or with token ids that it does not have."""


class TokenizerNeeded(InterpError, ValueError):
    """Text was given to a model without a tokenizer."""


@dataclass(frozen=True)
class Prepared:
    """Keyword arguments of the forward, and how many rows of the batch they fill."""

    arguments: Arguments
    rows: int


@dataclass(frozen=True)
class Reader:
    """How inputs are read for one model."""

    load_tokenizer: Callable[[], PreTrainedTokenizerBase | None]
    """Called when an input is text, and not before."""
    find_padding: Callable[[], Padding]
    """Called when rows have to be padded, and not before."""
    vocabulary: int
    """How many tokens have an embedding."""
    longest: int | None = None
    """How many positions have an embedding; None where positions need none."""

    def read(self, inputs: Sequence[object], arguments: Arguments) -> Prepared:
        """Make one invoke's input ready.

        Args:
            inputs: what stands in the call without a name: nothing, or one input.
            arguments: what stands there by name; `input_ids=` and its like are the input when `inputs` is empty.
                `add_special_tokens=` and `truncation=`, with it `max_length=`, are about how a text becomes tokens.

        Raises:
            InputError: The input is empty, has an unknown form, or holds token ids that the model does not have.
            TokenizerNeeded: It is text, and there is no tokenizer.
        """
        if len(inputs) > 1:
            raise InputError(
                f"got {len(inputs)} inputs; an invoke takes one: {TEXT_FORMS}. Several texts go in one list, "
                f"or in an invoke each"
            )
        options = {name: arguments[name] for name in _text_options(arguments)}
        if options and not (inputs and _is_text(inputs[0])):
            raise InputError(f"{', '.join(options)} say how a text becomes tokens, and this input is no text")
        given = {name: value for name, value in arguments.items() if name not in options}
        read = self._named(inputs[0], options) if inputs else self._from_mapping(given)
        has_own_mask = any(isinstance(one, Mapping) and "attention_mask" in one for one in (*inputs, given))
        if not has_own_mask and given.get("past_key_values") is not None:
            read.pop("attention_mask", None)  # a mask for these tokens alone would hide those in the cache
        named = _in_rows({**read, **given} if inputs else read)
        rows = row_count(named)
        if rows is None:
            return Prepared(named, 0)
        self._check(named, rows)
        return Prepared(named, rows)

    def _named(self, given: object, options: Arguments) -> Arguments:
        """The input as keyword arguments; `options` are the tokenizer's."""
        if isinstance(given, Mapping):
            if not any(name in given for name in _MAIN):
                raise InputError(
                    f"a mapping is the input by its {' or '.join(_MAIN)}, and this one has {sorted(given)}"
                )
            return self._from_mapping(given)
        if isinstance(given, str):
            return self._from_rows(self._tokenized([given], options))
        if isinstance(given, Tensor):
            return _whole(given)
        if isinstance(given, Sequence):
            return self._from_sequence(given, options)
        if hasattr(given, "__array__"):
            return _whole(torch.as_tensor(given))
        raise InputError(f"cannot run a model on a {type(given).__name__}: an input is {TEXT_FORMS}")

    def _from_sequence(self, given: Sequence[Any], options: Arguments) -> Arguments:
        if not given:
            raise InputError(f"the input {given!r} is empty: a model needs at least one token")
        first = given[0]
        if isinstance(first, int):
            return self._from_rows([given])
        if isinstance(first, str):
            return self._from_rows(self._tokenized(given, options))
        if isinstance(first, Mapping):
            return self._from_rows([self._chat(given)])
        if isinstance(first, Sequence) and first and isinstance(first[0], Mapping):
            return self._from_rows([self._chat(messages) for messages in given])
        return self._from_rows(given)

    def _from_mapping(self, given: Mapping[str, Any]) -> Arguments:
        """What a tokenizer returned: tensors stay as they are, lists become padded rows."""
        ids = given.get("input_ids")
        if ids is None or isinstance(ids, Tensor):
            return dict(given)
        if not len(ids) or isinstance(ids[0], int):
            ids = [ids]
        others = {name: value for name, value in given.items() if name not in {"input_ids", "attention_mask"}}
        masks = given.get("attention_mask")
        return {**self._from_rows(ids, masks if masks is None or len(masks) == len(ids) else [masks]), **others}

    def _from_rows(self, rows: Sequence[Any], masks: Sequence[Any] | None = None) -> Arguments:
        """Token ids, one row each, padded to the longest."""
        try:
            ids = [torch.as_tensor(row) for row in rows]
        except (TypeError, ValueError) as error:
            raise InputError(f"cannot read {rows!r:.80} as rows of token ids: {error}") from error
        for number, row in enumerate(ids):
            if row.numel() == 0:
                raise InputError(f"row {number} of the input is empty: a model needs at least one token")
            if row.ndim != 1:
                raise InputError(f"row {number} of the input has {row.ndim} axes; a row is a list of token ids")
        kept = [torch.ones_like(row) for row in ids] if masks is None else [torch.as_tensor(mask) for mask in masks]
        padding = self.find_padding()
        return {
            "input_ids": pad_rows(ids, padding.token, padding.side),
            "attention_mask": pad_rows(kept, 0, padding.side),
        }

    def _tokenized(self, texts: Sequence[Any], options: Arguments) -> list[list[int]]:
        strangers = [text for text in texts if not isinstance(text, str)]
        if strangers:
            raise InputError(f"a list of texts holds a {type(strangers[0]).__name__}: {strangers[0]!r:.80}")
        tokenizer = self.needed_tokenizer(f"the text {texts[0]!r:.60}")
        rows: list[list[int]] = tokenizer(list(texts), **options).input_ids
        for text, row in zip(texts, rows, strict=True):
            if not row:
                raise InputError(
                    f"the text {text!r} has no tokens, and a model needs at least one: give it a text, "
                    f"or begin with the tokenizer's first token, [[tokenizer.bos_token_id]]"
                )
        return rows

    def _chat(self, messages: Sequence[Mapping[str, Any]]) -> list[int]:
        """Token ids of a conversation, up to where the model's answer begins."""
        tokenizer = self.needed_tokenizer("a chat")
        if not tokenizer.chat_template:
            raise InputError("the tokenizer has no chat template: give the text itself, or set tokenizer.chat_template")
        # Any: what it returns depends on its arguments; with these it is a mapping of lists.
        encoded: Any = tokenizer.apply_chat_template([dict(each) for each in messages], add_generation_prompt=True)
        ids: list[int] = encoded["input_ids"]
        return ids

    def needed_tokenizer(self, wanted: str) -> PreTrainedTokenizerBase:
        """The tokenizer, for what is `wanted` of it.

        Raises:
            TokenizerNeeded: There is none.
        """
        tokenizer = self.load_tokenizer()
        if tokenizer is None:
            raise TokenizerNeeded(
                f"{wanted} needs a tokenizer, and this model has none: give one as "
                f"StandardizedTransformer(..., tokenizer=tokenizer), or give token ids in place of text"
            )
        return tokenizer

    def _check(self, named: Arguments, rows: int) -> None:
        ids = named.get("input_ids")
        if not isinstance(ids, Tensor):
            return
        if rows == 0 or ids.numel() == 0:
            raise InputError(f"input_ids is empty, of shape {tuple(ids.shape)}: a model needs at least one token")
        if ids.is_floating_point():
            raise InputError(f"input_ids is {ids.dtype}; vectors in place of token ids are given as inputs_embeds=")
        if self.longest is not None and ids.shape[-1] > self.longest:
            raise InputError(
                f"the input has {ids.shape[-1]} tokens, and this model has embeddings for {self.longest} positions: "
                f"shorten it, or take the last of them, ids[:, -{self.longest}:]"
            )
        least, most = ids.aminmax()
        if least < 0 or most >= self.vocabulary:
            outside = ((ids < 0) | (ids >= self.vocabulary)).nonzero()
            place = tuple(outside[0].tolist())
            raise InputError(
                f"token id {ids[place].item()} at row {place[0]}, position {place[-1]} has no embedding: "
                f"this model has {self.vocabulary} tokens, 0 to {self.vocabulary - 1}"
            )


def _in_rows(arguments: Arguments) -> Arguments:
    """What is given for the one row of a batch without an axis for it, with that axis; lists of numbers as tensors."""
    shaped = {
        name: torch.as_tensor(value) if name in _PER_TOKEN and isinstance(value, Sequence) else value
        for name, value in arguments.items()
    }
    embeds = shaped.get("inputs_embeds")
    if isinstance(embeds, Tensor) and embeds.ndim == 2:
        shaped["inputs_embeds"] = embeds[None]
    ids = shaped.get("input_ids")
    if isinstance(ids, Tensor) and ids.ndim == 1:
        shaped["input_ids"] = ids = ids[None]
    length = None if not isinstance(ids, Tensor) or len(ids) != 1 else ids.shape[-1]
    for name in _PER_TOKEN:
        value = shaped.get(name)
        if isinstance(value, Tensor) and value.shape == (length,):
            shaped[name] = value[None]
    return shaped


def _text_options(arguments: Arguments) -> list[str]:
    """The names of those arguments that are the tokenizer's; a `max_length` alone is that of `generate`."""
    names = ["add_special_tokens", "truncation", *(["max_length"] if "truncation" in arguments else [])]
    return [name for name in names if name in arguments]


def _is_text(given: object) -> bool:
    return isinstance(given, str) or (isinstance(given, Sequence) and bool(given) and isinstance(given[0], str))


def with_positions(arguments: Arguments) -> Arguments:
    """With positions that count from the first token of each row, where one is padded on the left.

    Source: GPT2Model.forward, transformers 5.24, numbers the columns of the batch, so that a row with two tokens of
    padding on the left differs from the row alone by 0.25 in its logits. An input with a cache is left alone.
    """
    mask = arguments.get("attention_mask")
    untouched = "position_ids" in arguments or arguments.get("past_key_values") is not None
    if untouched or not isinstance(mask, Tensor) or mask.ndim != 2 or bool(mask[:, 0].all()):
        return arguments
    return {**arguments, "position_ids": positions(mask)}


def _whole(ids: Tensor) -> Arguments:
    """A tensor of token ids as a batch in which every token counts."""
    if ids.ndim not in {1, 2}:
        raise InputError(f"a tensor of token ids has the axes [batch, seq] or [seq], not the shape {tuple(ids.shape)}")
    batch = ids if ids.ndim == 2 else ids[None]
    return {"input_ids": batch, "attention_mask": torch.ones_like(batch)}


def row_count(arguments: Mapping[str, Any]) -> int | None:
    """How many rows the main input holds; None when there is none among the arguments."""
    for name in _MAIN:
        value = arguments.get(name)
        if isinstance(value, Tensor):
            return len(value)
    return None
