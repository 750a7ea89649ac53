"""`with model.scan(x):` - the shapes of a run without its work: the model runs on fake tensors, which hold no data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: PLC2701  # the name that torch documents it under

from interp_components.interleaving.rows import map_tensors


def without_work(function: Callable[..., Any], device: torch.device | None) -> Callable[..., Any]:
    """The function run on fake copies of its arguments; on a model without weights, on meta tensors."""

    def scan(*args: Any, **kwargs: Any) -> Any:
        if device is not None and device.type == "meta":
            args, kwargs = map_tensors((args, kwargs), lambda tensor: tensor.to("meta"))
            return function(*args, **kwargs)
        with FakeTensorMode(allow_non_fake_inputs=True) as mode:
            args, kwargs = map_tensors((args, kwargs), mode.from_tensor)
            return function(*args, **kwargs)

    return scan
