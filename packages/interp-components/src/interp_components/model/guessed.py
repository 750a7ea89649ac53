"""A model whose `model_type` no family describes, from `StandardizedTransformer("somebody/new-architecture")`.

Where the parts of the model are is found by the names that architectures use, and by reading the forwards of a block: the
stream between the contributions is what the norm in front of the MLP is given. A contribution is served when the block's forward
shows that it is one; otherwise the value says why not.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from torch import Tensor, nn
from transformers import PreTrainedModel

from interp_components import standard
from interp_components.errors import SourceNotAvailable
from interp_components.layouts import Neurons, Residual
from interp_components.model import failures
from interp_components.model.flow import STREAM, Flow, flow_of
from interp_components.properties import FIRST, EProperty
from interp_components.standard import ResidualEProperty

NEEDED: Final = ("embed_tokens", "layers", "norm", "lm_head")
_LAYERS: Final = ("layers", "h", "blocks", "block")
_NORMS: Final = ("norm", "ln_f", "norm_f", "final_layer_norm", "final_layernorm", "final_norm", "layer_norm")
_NO_FAMILY: Final = "no family describes this architecture"
_PARTS: Final = {
    "self_attn": ("self_attn", "self_attention", "attention", "attn"),
    "mlp": ("mlp", "feed_forward", "ffn"),
}


@dataclass(frozen=True)
class Guessed:
    """The description that was made for one model."""

    model_type: str
    RENAME: Mapping[str | type[nn.Module], str]
    ENVOYS: Mapping[str | type[nn.Module], type[standard.Standard]]

    @property
    def __name__(self) -> str:
        """What a family is called by."""
        return self.model_type


def guess(model: PreTrainedModel) -> Guessed:
    """Return a description of the model, and warn that it is a guess.

    Raises:
        UnsupportedFamily: Embeddings, blocks, last norm or head are nowhere to be found.
    """
    model_type = model.config.get_text_config().model_type
    found = _ends(model)
    missing = [name for name in NEEDED if name not in found]
    if missing:
        raise failures.unguessed_family(model_type, type(model).__name__, found, missing)
    failures.warn_of_guess(model_type)
    rename: dict[str | type[nn.Module], str] = {path: name for name, path in found.items() if path != name}
    envoys: dict[str | type[nn.Module], type[standard.Standard]] = {}
    for block in model.get_submodule(found["layers"]).children():
        envoys[type(block)] = Layer
        for name, component, inside in (("self_attn", Attention, "o_proj"), ("mlp", Mlp, "down_proj")):
            part = _part(block, name)
            if part is not None:
                module = block.get_submodule(part)
                envoys[type(module)] = component
                rename.update(_inside(part, name, _last(module), inside))
    return Guessed(model_type, rename, envoys)


def _ends(model: PreTrainedModel) -> dict[str, str]:
    """The native paths of what was found of embeddings, blocks, last norm and head, by standard name."""
    transformer: Any = model  # Any: to the type checker its embeddings are a Tensor or a Module
    given = {"embed_tokens": transformer.get_input_embeddings(), "lm_head": transformer.get_output_embeddings()}
    found = {name: path for name, each in given.items() for path, module in model.named_modules() if module is each}
    for path, module in model.named_modules():
        around, _, name = path.rpartition(".")
        if isinstance(module, nn.ModuleList) and name in _LAYERS:
            found["layers"] = path
            holder = model.get_submodule(around)._modules
            norm = next((norm for norm in _NORMS if holder.get(norm) is not None), None)
            if norm is not None:
                found["norm"] = f"{around}.{norm}".lstrip(".")
            break
    return {name: found[name] for name in NEEDED if name in found}


def _inside(part: str, name: str, last: str | None, standard_last: str) -> dict[str, str]:
    """The aliases of a part of a block and of its last projection, where they are called otherwise."""
    aliases = {part: name}
    if last is not None:
        aliases[f"{part}.{last}"] = f"{part}.{standard_last}"
    return {key: alias for key, alias in aliases.items() if key != alias}


def _part(block: nn.Module, name: str) -> str | None:
    return next((spelling for spelling in _PARTS[name] if block._modules.get(spelling) is not None), None)


def _last(module: nn.Module) -> str | None:
    """The child whose output the module returns."""
    output = flow_of(module).output
    return output[0] if len(output) == 1 and module._modules.get(output[0]) is not None else None


def _around(part: standard.Standard) -> tuple[Flow, str]:
    """What the block around a part does, and what it calls the part."""
    block: Any = part.parent  # Any: a part is inside a block
    return flow_of(block._module), part.path.rpartition(".")[2]


def _not_added(part: standard.Standard) -> str | None:
    flow, name = _around(part)
    if flow.output.count(name) == 1 and set(STREAM) <= set(flow.output):
        return None
    return (
        f"{_NO_FAMILY}, and the forward of the block does not show that it adds what {name!r} "
        f"returns to the stream; read {part.path}.output for what it returns, or write a family and register it with "
        f"interp_components.families.register"
    )


def _no_last_projection(part: standard.Standard) -> str | None:
    if _last(part._module) is not None:
        return None
    return f"{_NO_FAMILY}, and the forward of the MLP does not end in one projection"


class Attention(standard.Attention):
    """Attention of a block that no family describes."""

    def off_interface(self) -> str | None:
        """Return why this module does not call the attention interface, or None when it does."""
        with suppress(SourceNotAvailable, AttributeError):
            self.source.playing("attention_interface_1", is_call=True)
            return None
        return f"{_NO_FAMILY}, and the forward of its attention does not show that it calls the attention interface"

    @EProperty("output", select=FIRST, unavailable=_not_added)
    def attention_output(self, value: Tensor) -> Residual:
        """What attention adds to the residual stream."""
        return value


class Mlp(standard.Mlp):
    """MLP of a block that no family describes."""

    @EProperty("down_proj.input", unavailable=_no_last_projection)
    def mlp_activations(self, value: Tensor) -> Neurons:
        """What the last projection is given."""
        return value

    @EProperty("output", select=FIRST, unavailable=_not_added)
    def mlp_output(self, value: Tensor) -> Residual:
        """What the MLP adds to the residual stream."""
        return value


def _between(layer: Layer) -> str | None:
    """The child that is given the stream between the two contributions, on the way to the MLP."""
    flow = flow_of(layer._module)
    attention, mlp = _part(layer._module, "self_attn"), _part(layer._module, "mlp")
    given = flow.given.get(mlp or "", ())
    norm = given[0] if len(given) == 1 else ""
    return norm if sorted(flow.given.get(norm, ())) == sorted((*STREAM, attention or "")) else None


def _nothing_between(layer: Layer) -> str | None:
    if _between(layer) is not None:
        return None
    return f"{_NO_FAMILY}, and the forward of the block does not show a stream in front of its MLP"


class Layer(standard.Layer):
    """A block that no family describes."""

    @ResidualEProperty(lambda layer: f"{_between(layer)}.input", unavailable=_nothing_between)
    def resid_mid(self, value: Tensor) -> Residual:
        """The residual stream between attention and MLP."""
        return value

    def skip_with(self, hidden: Tensor) -> None:
        """Leave the block out of this run; `hidden` is what it returns instead."""
        self.skip((hidden, None) if flow_of(self._module).returns_tuple else hidden)
