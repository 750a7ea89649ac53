"""One block, from `model.layers[0].layer_output`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import Tensor

from interp_components.layouts import Residual
from interp_components.properties import FIRST, EProperty
from interp_components.standard.base import Standard
from interp_components.standard.residual import ResidualEProperty

if TYPE_CHECKING:
    from interp_components.standard.attention import Attention
    from interp_components.standard.mlp import Mlp
    from interp_components.standard.parts import OneTensor, TensorEnvoy


def _no_stream_between(layer: Layer) -> str | None:
    if not layer.is_parallel:
        return None
    return "attention and MLP of this block both read the stream that enters it, so there is none between them"


class Layer(Standard):
    """A block that reads the residual stream and adds to it."""

    input: OneTensor
    output: OneTensor
    self_attn: Attention
    mlp: Mlp
    input_layernorm: TensorEnvoy
    post_attention_layernorm: TensorEnvoy

    @property
    def is_parallel(self) -> bool:
        """Whether the MLP reads the same stream as attention, and not the one that attention has added to."""
        return False

    @EProperty("input")
    def layer_input(self, value: Tensor) -> Residual:
        """The residual stream entering the block."""
        return value

    @ResidualEProperty("post_attention_layernorm.input", unavailable=_no_stream_between)
    def resid_mid(self, value: Tensor) -> Residual:
        """The residual stream between attention and MLP."""
        return value

    @EProperty("output", select=FIRST)
    def layer_output(self, value: Tensor) -> Residual:
        """The residual stream leaving the block, a tensor also where the block returns a tuple."""
        return value

    def skip_with(self, hidden: Tensor) -> None:
        """Leave the block out of this run; `hidden` is what it returns instead."""
        value: Any = (hidden, None) if self.returns_tuple else hidden
        self.skip(value)

    def recomposed(self, layer_input: Tensor, attention_output: Tensor, mlp_output: Tensor) -> Tensor:
        """Return the block's output from the stream and the two contributions: the residual identity of the family."""
        return layer_input + attention_output + mlp_output


class ParallelLayer(Layer):
    """A block whose attention and MLP both read the stream that enters it."""

    is_parallel = True
