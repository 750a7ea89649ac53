"""Which family describes a model, and under which names its parts are found from the root."""

from __future__ import annotations

from typing import Any

from torch import nn
from transformers import PreTrainedConfig

from interp_components import families
from interp_components.model import failures
from interp_components.model.inner import inner_model
from interp_components.standard.family import Family, Rename


def family_of(config: PreTrainedConfig, asked: Family | str | None) -> Family | None:
    """The family that was asked for, or that the text part of the config names; None when none describes it.

    Raises:
        UnsupportedFamily: None is known under the name that was asked for.
    """
    if asked is not None and not isinstance(asked, str):
        return asked
    name = asked or config.get_text_config().model_type
    found = families.lookup(name)
    if found is None and asked is not None:
        raise failures.unsupported_family(name, families.known())
    return found


def at_root(rename: Rename, module: nn.Module) -> dict[Any, Any]:
    """A family's names, also bound on what wraps the model, so that `model.layers` is there with adapters too."""
    inner = inner_model(module)
    prefix = next(name for name, each in module.named_modules() if each is inner)
    if not prefix:
        return dict(rename)
    paths = {
        f"{prefix}.{key}": alias for key, alias in rename.items() if isinstance(key, str) and isinstance(alias, str)
    }
    return {**rename, **{path: alias for path, alias in paths.items() if "." not in alias}}
