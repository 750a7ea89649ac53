"""`with model.generate("The Eiffel Tower is in", max_new_tokens=8) as tracer:`: the forwards of transformers' `generate`.

Everything that transformers' `generate` takes, this takes. The ids it returns are `tracer.result`.
"""

from __future__ import annotations

from types import FrameType
from typing import Any

import torch
from torch import nn

from interp_components.model.inputs import Arguments
from interp_components.model.rows import Padding, positions
from interp_components.tracing import Trace
from tracer_core import WithBlockNotFoundError


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


def has_block(model: object, trace: Trace, caller: FrameType) -> bool:
    """Return whether the caller is evaluating the item of a `with` statement, the block of which is captured then.

    Methods of subclasses that override `generate` are between the statement and the model's own method, and are passed.
    """
    try:
        trace.capture(_outside(model, caller))
    except WithBlockNotFoundError as error:
        if type(error) is not WithBlockNotFoundError:
            raise  # there is one, and its text is not to be had
        return False
    return True


def _outside(model: object, frame: FrameType) -> FrameType:
    """The first frame from `frame` outwards that is not running a `generate` of the model itself."""
    while frame.f_back is not None and frame.f_code.co_name == "generate" and frame.f_code.co_argcount:
        if frame.f_locals.get(frame.f_code.co_varnames[0]) is not model:
            break
        frame = frame.f_back
    return frame
