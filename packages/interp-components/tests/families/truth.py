"""What the standard values have to be, recorded and recomputed by plain PyTorch.

Hooks on every module record what goes in and out; the modeling file's own `eager_attention_forward` is wrapped to record
what attention is called with. From these, scores, patterns and head outputs are recomputed. Nothing here uses envoys,
families or tracing.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import Any

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class Native:
    """How an architecture calls its parts, as its modeling file has them; the defaults are llama's.

    `attention_output` and `mlp_output` are the modules of a block whose outputs are added to the residual stream; they
    are the attention and the MLP themselves unless a norm stands behind.
    """

    embed_tokens: str = "model.embed_tokens"
    layers: str = "model.layers"
    norm: str = "model.norm"
    attention: str = "self_attn"
    mlp: str = "mlp"
    down_proj: str = "mlp.down_proj"
    attention_output: str | None = None
    mlp_output: str | None = None
    resid_mid: str | None = "post_attention_layernorm"
    """The module of a block that reads the stream between the contributions; None for parallel blocks."""


@dataclass
class Call:
    """One call of a module: its arguments and what it returned, copied as they were at the time."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    output: Any = None

    @property
    def first(self) -> Tensor:
        """The first argument."""
        return self.args[0] if self.args else next(iter(self.kwargs.values()))

    @property
    def tensor(self) -> Tensor:
        """What was returned, or the first of it."""
        return self.output[0] if isinstance(self.output, tuple) else self.output


class Recording:
    """Everything one forward of a model did."""

    def __init__(self, model: nn.Module, inputs: dict[str, Tensor]) -> None:
        self.calls: dict[str, Call] = {}
        self.attention: dict[str, dict[str, Any]] = {}
        with ExitStack() as stack:
            for name, module in model.named_modules():
                stack.enter_context(_hooked(module, name, self.calls))
            for modeling in {sys.modules[type(module).__module__] for module in model.modules()}:
                names = {module: name for name, module in model.named_modules()}
                stack.enter_context(_watched(modeling, names, self.attention))
            with torch.no_grad():
                self.output: Any = model(**inputs)

    @property
    def logits(self) -> Tensor:
        """What the model returned."""
        return self.output.logits


def root_truth(recording: Recording, native: Native) -> dict[str, Tensor]:
    """The values of the root."""
    return {
        "token_embeddings": recording.calls[native.embed_tokens].tensor,
        "final_norm_output": recording.calls[native.norm].tensor,
        "logits": recording.logits,
    }


def block_truth(recording: Recording, native: Native, layer: int) -> dict[str, Tensor]:
    """The values of one block and its parts, by their names from the block."""
    at = f"{native.layers}.{layer}"
    calls = recording.calls
    found = {
        "layer_input": calls[at].first,
        "layer_output": calls[at].tensor,
        "self_attn.attention_input": calls[f"{at}.{native.attention}"].first,
        "self_attn.attention_output": calls[f"{at}.{native.attention_output or native.attention}"].tensor,
        "mlp.mlp_input": calls[f"{at}.{native.mlp}"].first,
        "mlp.mlp_activations": calls[f"{at}.{native.down_proj}"].first,
        "mlp.mlp_output": calls[f"{at}.{native.mlp_output or native.mlp}"].tensor,
    }
    if native.resid_mid is not None:
        found["resid_mid"] = calls[f"{at}.{native.resid_mid}"].first
    attention = recording.attention.get(f"{at}.{native.attention}")
    if attention is not None:
        found |= {f"self_attn.{name}": value for name, value in attention_truth(**attention).items()}
    return found


def attention_truth(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor,
    scaling: float,
    softcap: float | None = None,
    **_: Any,
) -> dict[str, Tensor]:
    """Scores, pattern and head outputs, recomputed from what attention was called with."""
    groups = query.shape[1] // key.shape[1]
    scores = query @ key.repeat_interleave(groups, 1).transpose(-1, -2) * scaling
    if softcap is not None:
        scores = softcap * torch.tanh(scores / softcap)
    scores = scores + attention_mask
    pattern = scores.softmax(-1)
    return {
        "attention_queries": query,
        "attention_keys": key,
        "attention_values": value,
        "attention_mask": attention_mask,
        "attention_scores": scores,
        "attention_probabilities": pattern,
        "attention_head_outputs": (pattern @ value.repeat_interleave(groups, 1)).transpose(1, 2),
    }


@contextmanager
def _hooked(module: nn.Module, name: str, calls: dict[str, Call]) -> Iterator[None]:
    def before(module: nn.Module, args: Any, kwargs: Any) -> None:
        calls[name] = Call(_copied(args), _copied(kwargs))

    def after(module: nn.Module, args: Any, kwargs: Any, output: Any) -> None:
        calls[name].output = _copied(output)

    first = module.register_forward_pre_hook(before, with_kwargs=True)
    second = module.register_forward_hook(after, with_kwargs=True)
    try:
        yield
    finally:
        first.remove()
        second.remove()


@contextmanager
def _watched(modeling: ModuleType, names: dict[nn.Module, str], into: dict[str, dict[str, Any]]) -> Iterator[None]:
    eager: Callable[..., Any] | None = getattr(modeling, "eager_attention_forward", None)
    if not isinstance(eager, FunctionType):
        yield
        return
    signature = inspect.signature(eager)

    def watched(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs).arguments
        bound |= bound.pop("kwargs", {})
        into[names[bound.pop("module")]] = _copied(dict(bound))
        return eager(*args, **kwargs)

    modeling.eager_attention_forward = watched  # type: ignore[attr-defined]  # a function of the module
    try:
        yield
    finally:
        modeling.eager_attention_forward = eager  # type: ignore[attr-defined]  # as above


def _copied(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.clone()
    if type(value) in (tuple, list):
        return type(value)(_copied(each) for each in value)
    if type(value) is dict:
        return {name: _copied(each) for name, each in value.items()}
    return value
