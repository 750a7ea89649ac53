"""Where a module's forward stands, and whether it runs, for `module.source`."""

from __future__ import annotations

from functools import partial
from types import CodeType
from typing import Any

from torch import nn

from interp_components.interleaving import Run


def is_accelerated(module: nn.Module) -> bool:
    """Whether accelerate stands in front of the forward, and calls what it keeps as `_old_forward`."""
    return "_hf_hook" in module.__dict__ and "_old_forward" in module.__dict__


def replace_old_forward(run: Run, module: nn.Module, forward: Any) -> None:
    """Let accelerate call another forward until the run is over."""
    attributes = module.__dict__
    run.on_exit(partial(attributes.__setitem__, "_old_forward", attributes["_old_forward"]))
    attributes["_old_forward"] = forward


def forward_of(module: nn.Module) -> Any:
    """Return the forward that holds the module's operations."""
    return module.__dict__["_old_forward"] if is_accelerated(module) else module.forward


def is_running(run: Run, code: CodeType, module: nn.Module) -> bool:
    """Whether the model is inside the module's forward now, which has the given code."""
    first = code.co_varnames[0] if code.co_varnames else ""
    frame = run.main.gr_frame
    while frame is not None:
        if frame.f_code is code and frame.f_locals.get(first) is module:
            return True
        frame = frame.f_back
    return False
