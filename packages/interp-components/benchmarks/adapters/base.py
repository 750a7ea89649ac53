"""What every adapter has: a model of its own, and what to add to a layer."""

from __future__ import annotations

import time
from typing import Any

import torch
from shapes import SHAPES, build
from torch import Tensor

GENERATION: dict[str, Any] = {"max_new_tokens": 32, "min_new_tokens": 32, "do_sample": False, "use_cache": True}
BATCH = 32


class Adapter:
    """A library on a model of its own.

    Attributes:
        needs_transformer: the library takes no other module.
        wrapping: seconds that it took to wrap the model.

    Args:
        shape: which one.
        attention: how attention is computed.
    """

    needs_transformer = True

    def __init__(self, shape: str, attention: str) -> None:
        self.name = shape
        self.shape = SHAPES[shape]
        self.module: Any = build(shape, attention)  # Any: a model of transformers, or the linear one
        self.middle = self.shape.layers // 2
        self.head_size = self.shape.width // self.shape.heads
        self.step = torch.randn(self.shape.width, generator=torch.Generator().manual_seed(7)) * 0.01
        begun = time.process_time()
        self.set_up()
        self.wrapping = time.process_time() - begun

    def set_up(self) -> None:
        """Wrap the model."""

    def idle(self, prompts: list[Tensor]) -> Any:
        """The user's own model, after the library has wrapped it."""
        with torch.no_grad():
            return self.module(prompts[0]).logits

    def heads(self) -> list[tuple[int, slice]]:
        """Each head: its layer, and its columns where the heads stand side by side."""
        size = self.head_size
        return [
            (layer, slice(head * size, (head + 1) * size))
            for layer in range(self.shape.layers)
            for head in range(self.shape.heads)
        ]


def batches(prompts: list[Tensor]) -> list[Tensor]:
    """The prompts, as many at a time as one forward takes."""
    return [torch.cat(prompts[start : start + BATCH]) for start in range(0, len(prompts), BATCH)]
