"""The greenlets of blocks: what torch does with their stacks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

from interp_components.interleaving import seats
from interp_components.tracing import Traceable

PROGRAM = Path(__file__).with_name("torch_errors.py")


def test_an_error_of_torch_in_a_block_is_an_exception():
    """torch walks the stack for each error; that of a greenlet has no end, and the process could go with it."""
    repeats = 100

    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", PROGRAM, str(repeats)], capture_output=True, text=True, check=False
    )

    kinds = ("shapes", "view", "index", "second_backward", "second_pass", "block_of_a_pass")
    assert (done.returncode, done.stdout.strip()) == (0, str(dict.fromkeys(kinds, repeats))), done.stderr


def test_walking_all_of_the_stack_is_warned_of(monkeypatch):
    """`TORCH_SHOW_CPP_STACKTRACES` lets torch walk on where a block's stack ends."""
    monkeypatch.setenv("TORCH_SHOW_CPP_STACKTRACES", "1")
    monkeypatch.setattr(seats._seats, "kept", type(seats._seats.kept)())
    model = Traceable(nn.Linear(2, 2))

    with (
        pytest.warns(UserWarning, match="Unset it, or run the failing code outside of the trace"),
        model.trace(torch.ones(1, 2)),
    ):
        pass
