"""The MLP of a block, from `model.layers[0].mlp.mlp_activations`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch import Tensor

from interp_components.layouts import Neurons, Residual
from interp_components.properties import FIRST, EProperty
from interp_components.standard import sizes
from interp_components.standard.base import Standard

if TYPE_CHECKING:
    from interp_components.standard.parts import OneTensor, TensorEnvoy


class Mlp(Standard):
    """The MLP of a block: widen, bend, narrow."""

    input: OneTensor
    output: OneTensor
    down_proj: TensorEnvoy

    @EProperty("input")
    def mlp_input(self, value: Tensor) -> Residual:
        """What the module is given: the residual stream, after the norm in front."""
        return value

    @EProperty("down_proj.input")
    def mlp_activations(self, value: Tensor) -> Neurons:
        """Neurons: after the nonlinearity and the gate, ahead of the last projection."""
        return value

    @EProperty("output", select=FIRST)
    def mlp_output(self, value: Tensor) -> Residual:
        """What the MLP adds to the residual stream."""
        return value

    @property
    def intermediate_size(self) -> int:
        """Number of neurons."""
        return sizes.module_int(self._module, "intermediate_size", "ffn_dim") or sizes.in_width(
            self, "intermediate_size", "down_proj", "c_proj", "dense_4h_to_h", "fc2", "fc_out", "w2"
        )


class LooseMlp(Mlp):
    """The MLP of a block that has no module for it: two projections in the block itself, carried by the last one.

    So the family calls this projection `mlp`. The module is no more than that: skipping it skips the last projection.
    """

    @EProperty("../fc1.input")
    def mlp_input(self, value: Tensor) -> Residual:
        """What the first projection is given: the residual stream, after the norm in front."""
        return value

    @EProperty("input")
    def mlp_activations(self, value: Tensor) -> Neurons:
        """Neurons: after the nonlinearity, ahead of the last projection."""
        return value

    @property
    def intermediate_size(self) -> int:
        """Number of neurons."""
        return sizes.require(self, "intermediate_size", sizes.width_in(self._module))
