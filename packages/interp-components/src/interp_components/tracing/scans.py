"""`with model.scan(x):` - the shapes of a run without its work: the model runs on fake tensors, which hold no data."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: PLC2701  # the name that torch documents it under

from interp_components.interleaving.rows import map_tensors


class Scan:
    """A module run on fake copies of its arguments.

    A module that is built without weights, on the meta device, runs on fake weights on the CPU: meta tensors have no
    data to ask either, but what asks the device of a tensor whether it may be asked is told so by fake ones only.
    """

    def __init__(self, module: nn.Module) -> None:
        self._module = module

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the module."""
        with FakeTensorMode(allow_non_fake_inputs=True) as mode:
            args, kwargs = map_tensors((args, kwargs), mode.from_tensor)
            weights = {
                name: torch.empty_like(tensor, device="cpu")
                for name, tensor in (*self._module.named_parameters(), *self._module.named_buffers())
                if tensor.is_meta
            }
            if weights:
                return torch.func.functional_call(self._module, weights, args, kwargs)
            return self._module(*args, **kwargs)
