"""`with model.generate("The Eiffel Tower is in", max_new_tokens=8) as tracer:`: the forwards of transformers' `generate`.

Everything that transformers' `generate` takes, this takes. The ids it returns are `tracer.result`.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from interp_components.model.inputs import Arguments
from interp_components.model.rows import Padding, positions


def generate(module: nn.Module, padding: Padding, **arguments: Any) -> Any:
    """What `module.generate` returns, told what to pad with if its own settings do not say it."""
    run: Any = module.generate  # Any: transformers mixes `generate` into the models that have it
    settings = getattr(module, "generation_config", None)
    if getattr(settings, "pad_token_id", None) is None:
        arguments.setdefault("pad_token_id", padding.token)
    return run(**_without_derived(arguments))


def _without_derived(arguments: Arguments) -> Arguments:
    """Without positions that follow from the mask: `generate` makes its own, one step after the other."""
    given, mask = arguments.get("position_ids"), arguments.get("attention_mask")
    if given is None or mask is None or not torch.equal(given, positions(mask)):
        return arguments
    return {name: value for name, value in arguments.items() if name != "position_ids"}
