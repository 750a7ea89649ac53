"""What an editor knows of a tensor that the model serves: `model.layers[0].output[:, -1].save()`.

Type checkers read this; in a program that runs it is a tensor. Tensors that are computed otherwise have no `save` to a
type checker; `save(value)` is known for values of every type.
"""

from collections.abc import Callable
from typing import TypeAlias

import torch
from torch import Tensor

_Made: TypeAlias = Callable[..., "ServedTensor"]  # what each takes is said in torch

class ServedTensor(Tensor):
    """A tensor that can be saved, and so can what is made of it in the ways that are usual."""

    def save(self, copy: bool = False, device: torch.device | str | None = None) -> ServedTensor:
        """Mark the tensor to be handed back by the outermost trace, and return it."""

    __getitem__: _Made
    __neg__: _Made
    __add__: _Made
    __radd__: _Made
    __iadd__: _Made
    __sub__: _Made
    __rsub__: _Made
    __isub__: _Made
    __mul__: _Made
    __rmul__: _Made
    __imul__: _Made
    __truediv__: _Made
    __matmul__: _Made
    argmax: _Made
    clone: _Made
    cpu: _Made
    detach: _Made
    mean: _Made
    norm: _Made
    softmax: _Made
    sum: _Made
