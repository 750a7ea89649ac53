"""The model that a command is about, from `interp lens toy ...`."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from transformers.utils import logging

from interp_components.analysis.inputs import Batch, read
from interp_components.model import StandardizedTransformer


def opened(asked: Namespace, **options: Any) -> StandardizedTransformer:
    """The model that was asked for; its weights come when they are needed.

    Args:
        asked: What stands on the command line.
        options: Further options of loading, over which the command line wins.
    """
    # Any: whatever loading takes.
    given = {name: getattr(asked, name) for name in ("revision", "device") if getattr(asked, name) is not None}
    if asked.dtype is not None:
        given["dtype"] = getattr(torch, asked.dtype)
    if getattr(asked, "eager", False):
        given["attn_implementation"] = "eager"
    return StandardizedTransformer(asked.model, trust_remote_code=asked.trust_remote_code, **{**options, **given})


def prompted(asked: Namespace, model: StandardizedTransformer) -> tuple[str, Batch]:
    """The prompt as a text, and as the model is given it; `-` stands for the standard input."""
    text = sys.stdin.read().removesuffix("\n") if asked.prompt == "-" else asked.prompt
    return text, read(model, text)


OPTION = "On the command line, --eager loads the model with attention written out."


def needs_option(reason: str) -> bool:
    """Whether a value is not there for want of `--eager`; the reason says how it is asked for in Python."""
    return "attn_implementation='eager'" in reason


@contextmanager
def bars() -> Iterator[None]:
    """Show the bars of loading and sweeps where somebody sits in front of them, and nowhere else."""
    if sys.stderr.isatty() or not logging.is_progress_bar_enabled():
        yield
        return
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]  # transformers' own
    try:
        yield
    finally:
        logging.enable_progress_bar()  # type: ignore[no-untyped-call]  # transformers' own
