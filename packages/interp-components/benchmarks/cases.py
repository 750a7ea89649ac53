"""What is measured: each case is a method of the adapters, and the plain torch run that it is compared with."""

from __future__ import annotations

from typing import NamedTuple

EVERY = ("tiny", "deep", "small")
FLAT = ("tiny", "deep")


class Case(NamedTuple):
    """One line of a table.

    Attributes:
        title: what a user does.
        method: of an adapter, called with a list of prompts.
        shapes: the models it is measured on.
        bare: the method of the hooks' adapter that does without any interpretation.
        prompts: how many there are.
        attention: how attention is computed.
    """

    title: str
    method: str
    shapes: tuple[str, ...]
    bare: str = "forward"
    prompts: int = 1
    attention: str = "sdpa"


CASES = {
    "idle": Case("the wrapped model, called outside a trace", "idle", FLAT),
    "empty": Case("a trace that asks for nothing", "empty", ("toy", *EVERY)),
    "save_one": Case("save one layer", "save_one", ("toy", *EVERY)),
    "save_all": Case("save all layers", "save_all", EVERY),
    "save_parts": Case("save attention, MLP and layer, all layers", "save_parts", FLAT),
    "edit_one": Case("edit one layer", "edit_one", FLAT),
    "edit_all": Case("edit all layers", "edit_all", EVERY),
    "pattern_one": Case("attention pattern of one layer", "pattern_one", FLAT, attention="eager"),
    "pattern_all": Case("attention patterns of all layers", "pattern_all", FLAT, attention="eager"),
    "cache_all": Case("cache every module", "cache_all", FLAT),
    "gradients": Case("gradients of all layers", "gradients", FLAT, bare="forward_backward"),
    "session": Case("two traces, the first one's layer in the second", "session", FLAT, bare="two_forwards"),
    "invokes_4": Case("4 prompts, an invoke each", "invokes", FLAT, prompts=4),
    "invokes_16": Case("16 prompts, an invoke each", "invokes", FLAT, prompts=16),
    "invokes_64": Case("64 prompts, an invoke each", "invokes", ("tiny",), prompts=64),
    "generate": Case("32 tokens, nothing asked", "generate", ("tiny",), bare="write_on"),
    "generate_save": Case("32 tokens, one layer saved at each", "generate_save", ("tiny",), bare="write_on"),
    "generate_steer": Case("32 tokens, one layer steered at each", "generate_steer", ("tiny",), bare="write_on"),
    "harvest": Case("one layer of 256 prompts, 32 at a time", "harvest", FLAT, bare="batches", prompts=256),
    "head_patching": Case("patch each head in turn", "head_patching", ("tiny",), bare="forward_per_head"),
    "logit_lens": Case("logit lens over all layers", "logit_lens", FLAT, bare="lens"),
}
