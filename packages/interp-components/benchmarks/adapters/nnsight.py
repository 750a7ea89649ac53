"""nnsight by its two doors. It is imported by name: the environment of the type checker does not have it."""

from __future__ import annotations

import importlib
from typing import Any

from shapes import tokenizer

from adapters.traced import Generating, Traced

nnsight: Any = importlib.import_module("nnsight")


class Plain(Traced):
    needs_transformer = False
    save = staticmethod(nnsight.save)

    def set_up(self) -> None:
        self.model: Any = nnsight.NNsight(self.module)


class Transformers(Generating):
    save = staticmethod(nnsight.save)

    def set_up(self) -> None:
        self.model: Any = nnsight.TransformersModel(self.module, task="text-generation", tokenizer=tokenizer(self.name))
