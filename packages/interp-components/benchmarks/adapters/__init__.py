"""One adapter per library: each method does one whole job and returns the tensors that it obtained."""

from __future__ import annotations

import importlib
from typing import Any

# Name in the tables -> module here, class in it.
ADAPTERS = {
    "hooks": ("hooks", "Hooks"),
    "Envoy": ("ours", "Plain"),
    "StandardizedTransformer": ("ours", "Standard"),
    "nnsight": ("nnsight", "Plain"),
    "nnsight TransformersModel": ("nnsight", "Transformers"),
    "nnterp": ("nnterp", "Standard"),
    "TransformerLens": ("transformer_lens", "Bridge"),
}


def adapter(name: str) -> Any:
    """The class of an adapter; its library is imported now."""
    module, kind = ADAPTERS[name]
    return getattr(importlib.import_module(f"adapters.{module}"), kind)
