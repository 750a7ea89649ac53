"""OPT: learned positions, scores scaled by way of the queries, and an MLP without a module of its own.

The block holds the MLP's two projections itself and runs them on one list of tokens, `[batch * seq, ...]`. So `mlp` is
the last projection, `fc2`, and its values are served by row and position, as copies that are carried back.

The 350M model has its norms behind attention and MLP (`do_layer_norm_before=False`), none behind the last block, and
embeddings that are narrower than the stream. What the parts of a block are given is then the stream itself. Since norms
stand in different places, they keep their native names.

Source: OPTDecoderLayer.forward and OPTDecoder.forward, transformers 5.24.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor
from transformers.models.opt import modeling_opt as native

from interp_components import standard
from interp_components.layouts import Neurons, Residual
from interp_components.properties import CopyEProperty, EProperty
from interp_components.properties.eproperty import V
from interp_components.standard import LooseMlp
from interp_components.standard.calls import per_call

RENAME = {
    "model.decoder.embed_tokens": "embed_tokens",
    "model.decoder.layers": "layers",
    "model.decoder.final_layer_norm": "norm",
    "model.decoder.project_out": "project_out",
    "self_attn.out_proj": "self_attn.o_proj",
    "fc2": "mlp",
}


def _positions(mlp: Mlp) -> int:
    """How many tokens a row has; asked before anything of the MLP, since later the block does not know any more."""
    layer: Any = mlp.parent  # Any: the envoy of a block
    return per_call(layer, "positions", lambda: int(layer.source.hidden_states_shape_0.output[1]))


class _FlatEProperty(EProperty[V]):
    """A value of all tokens in one list, served by row and position."""

    # Any: the host is whatever component carries the value.
    _transform = staticmethod(lambda obj, view, raw: view.flatten(0, 1))
    _postprocess = staticmethod(lambda obj, value: value.flatten(0, 1))

    def __get__(self, obj: Any, owner: type | None = None) -> Any:
        if obj is not None:
            _positions(obj)
        return super().__get__(obj, owner)

    def __set__(self, obj: Any, value: Any) -> None:
        _positions(obj)
        super().__set__(obj, value)

    def _viewed(self, obj: Any, raw: Any) -> Any:
        return super()._viewed(obj, raw).clone().unflatten(0, (-1, _positions(obj)))


class Attention(standard.Attention):
    """OPT's attention."""

    @CopyEProperty("input")
    def attention_input(self, value: Tensor) -> Residual:
        """What the module is given: the residual stream, after the norm where one is in front."""
        return value


class Mlp(LooseMlp):
    """OPT's MLP, carried by its last projection."""

    @_FlatEProperty("../fc1.input")
    def mlp_input(self, value: Tensor) -> Residual:
        """What the first projection is given: the residual stream, after the norm where one is in front."""
        return value

    @_FlatEProperty("input")
    def mlp_activations(self, value: Tensor) -> Neurons:
        """Neurons: after the nonlinearity, ahead of the last projection."""
        return value

    @_FlatEProperty("output")
    def mlp_output(self, value: Tensor) -> Residual:
        """What the MLP adds to the residual stream."""
        return value


def _between(layer: Layer) -> str:
    return "source.hidden_states_2.output" if layer.has_norms_in_front else "self_attn_layer_norm.output"


class Layer(standard.Layer):
    """OPT's block."""

    sourced = True

    @property
    def has_norms_in_front(self) -> bool:
        """Whether the norms stand in front of attention and MLP, and not behind."""
        return bool(self._module.do_layer_norm_before)

    @EProperty(_between)
    def resid_mid(self, value: Tensor) -> Residual:
        """The residual stream between attention and MLP, after the norm where one is behind attention."""
        return value

    def recomposed(self, layer_input: Tensor, attention_output: Tensor, mlp_output: Tensor) -> Tensor:
        """Return the block's output from the stream and the two contributions, through the norms behind them."""
        if self.has_norms_in_front:
            return super().recomposed(layer_input, attention_output, mlp_output)
        middle: Tensor = self.self_attn_layer_norm(layer_input + attention_output)
        output: Tensor = self.final_layer_norm(middle + mlp_output)
        return output


ENVOYS = {native.OPTDecoderLayer: Layer, native.OPTAttention: Attention, "fc2": Mlp}


def intermediate_size(model: Any) -> int:
    """Return `ffn_dim`."""
    return int(model.text_config.ffn_dim)


def project_on_vocab(model: Any, hidden: Tensor) -> Tensor:
    """Return the logits, by the last norm and the projection to the embeddings' width where the model has them."""
    for name in ("norm", "project_out"):
        module = getattr(model, name, None)
        hidden = hidden if module is None else module(hidden)
    logits: Tensor = model.lm_head(hidden)
    return logits
