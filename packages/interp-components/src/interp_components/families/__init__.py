"""The architectures, one module each, from `from interp_components.families import gpt2`.

A family is called like the `model_type` of the text config that it describes, so loading a model looks for the module of
that name and imports nothing else. A module says how the architecture calls its parts (`RENAME`), which component
describes which module class (`ENVOYS`), and what it does unlike the others. `register` takes families from elsewhere.
"""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType
from typing import Any

from interp_components.standard.family import Family

# model_type -> family from elsewhere; for the life of the process, written by `register` alone, one dict write each.
REGISTRY: dict[str, Family] = {}


def register(family: Family, *model_types: str) -> None:
    """Let `family` describe the model types, or the one that it is called after; it comes before one of ours.

    Raises:
        TypeError: The family has no `__name__` to be called by.
    """
    name = getattr(family, "__name__", None)
    if not isinstance(name, str):
        raise TypeError(f"a family is called by its __name__, and {family!r} has none; pass a module or a class")
    for model_type in model_types or (name.rpartition(".")[2],):
        REGISTRY[model_type] = family


def lookup(model_type: str) -> Family | None:
    """Return the family that describes this `model_type`, or None when none does."""
    if model_type in REGISTRY:
        return REGISTRY[model_type]
    return _load(model_type) if model_type in _ours() else None


def known() -> list[str]:
    """Return every `model_type` that a family describes, sorted; imports none of them."""
    return sorted({*_ours(), *REGISTRY})


def all_families() -> dict[str, Family]:
    """Return every family by `model_type`; imports all of them."""
    return {model_type: family for model_type in known() if (family := lookup(model_type)) is not None}


def __getattr__(name: str) -> ModuleType:
    """Import `families.<name>` on first use: a family imports its architecture's code, which takes a while."""
    if name in _ours():
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no family {name!r}; there are {', '.join(_ours())}")


def __dir__() -> list[str]:
    """Return the names of this module and of the families."""
    return sorted({*globals(), *_ours()})


def _load(model_type: str) -> Family:
    # Any: a module is a family by what it defines, which no type says.
    family: Any = importlib.import_module(f"{__name__}.{model_type}")
    found: Family = family
    return found


def _ours() -> list[str]:
    return [module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_")]
