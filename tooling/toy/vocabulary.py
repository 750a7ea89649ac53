"""The toy model's tokenizer: 2048 byte-level pieces, in which every name of the sentences is one token.

A space is put before the first word, so that a name is the same token at the start of a prompt and inside it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from sentences import HELD_OUT_NAMES, NAMES, alone, control, sentence
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

END = "<|endoftext|>"
SIZE = 2048


def vocabulary(novels: list[str], seed: int = 0) -> Tokenizer:
    """Byte-pair pieces of the novels and of the sentences."""
    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    core.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=SIZE, special_tokens=[END], initial_alphabet=alphabet, show_progress=False)
    core.train_from_iterator([*novels, *_examples(random.Random(seed))], trainer)
    for name in NAMES + HELD_OUT_NAMES:
        if len(core.encode(name).ids) != 1:
            raise ValueError(f"the name {name!r} is {core.encode(name).tokens}, not one token")
    return core


def _examples(chance: random.Random) -> Iterator[str]:
    """Enough sentences that their words, and each name, earn a piece of their own."""
    for _ in range(30_000):
        yield sentence(chance).prompt
        yield control(chance).prompt
        yield alone(chance)
    for name in NAMES + HELD_OUT_NAMES:
        yield f" {name}" * 4_000


def for_transformers(core: Tokenizer) -> PreTrainedTokenizerFast:
    """The same tokenizer as transformers knows it."""
    make: Any = PreTrainedTokenizerFast  # Any: transformers does not annotate how it is made
    made: PreTrainedTokenizerFast = make(
        tokenizer_object=core, bos_token=END, eos_token=END, unk_token=END, pad_token=END, model_max_length=128
    )
    return made
