"""`with model.trace(x, eager=[3]):` - attention written out in Python, for one run, in all layers or in some.

A module reads on each call which kernel it runs, from its config. For all layers the configs say `"eager"` during the
run. For some layers, their attention is given a view of its config that says so, and the mask that the eager forward
adds to the scores in place of the one that was made for the kernel of the others.

Source: create_causal_mask and sdpa_attention_forward, transformers 5.24. Without padding sdpa is given no mask and goes
by the number of queries; otherwise it is given a bool mask, True where a query may look.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn
from transformers import PreTrainedConfig

from interp_components.envoys import Envoy
from interp_components.standard import Root

Eager: TypeAlias = bool | Iterable[int]

_NAME = "_attn_implementation_internal"  # the public name is a property, which also sets the configs of other parts
_MASK = "attention_mask"


def setting(model: Root, eager: Eager) -> AbstractContextManager[None] | None:
    """What sets the model to `eager=` while it is entered; None where nothing is to be set.

    Raises:
        ValueError: there is no such layer, a layer has no attention, or another kernel than sdpa runs in the others.
    """
    if eager is True:
        return _eager_everywhere(model._module)
    layers = list(eager or ())
    return _eager_in([_attention(model, layer, layers) for layer in layers]) if layers else None


def _attention(model: Root, layer: int, asked: Sequence[int]) -> nn.Module:
    """The module of the self-attention of a layer."""
    count = model.num_layers
    if not -count <= layer < count:
        raise ValueError(f"eager={asked} names layer {layer}; the model has {count}, from 0 to {count - 1}")
    block: Envoy = model.layers[layer]
    attention = block._module_called("self_attn")
    if attention is None:
        raise ValueError(f"eager={asked}: layer {layer} has no self-attention, it is {type(block._module).__name__}")
    name = _config(attention)._attn_implementation
    if name not in {"eager", "sdpa"}:
        raise ValueError(
            f"eager={asked}: the other layers run {name!r}, whose masks the eager forward cannot be given. "
            f"Ask for all layers, eager=True, or load with attn_implementation='sdpa'."
        )
    return attention


def _config(attention: nn.Module) -> Any:  # Any: a config has the fields of its architecture
    return attention.config


@contextmanager
def _eager_everywhere(module: nn.Module) -> Iterator[None]:
    """Run every attention of the model in Python inside."""
    own = (getattr(each, "config", None) for each in module.modules())
    configs = {id(config): config for config in own if isinstance(config, PreTrainedConfig)}
    before = [(config, getattr(config, _NAME)) for config in configs.values()]
    try:
        for config, _ in before:
            setattr(config, _NAME, "eager")
        yield
    finally:
        for config, name in before:
            setattr(config, _NAME, name)


@contextmanager
def _eager_in(attentions: Iterable[nn.Module]) -> Iterator[None]:
    """Run these attention modules in Python inside."""
    with ExitStack() as stack:
        for module in attentions:
            config = _config(module)
            if config._attn_implementation == "eager":
                continue
            view = copy.copy(config)
            setattr(view, _NAME, "eager")
            stack.callback(setattr, module, "config", config)
            module.config = view
            stack.callback(module.register_forward_pre_hook(_adds_mask(module), prepend=True, with_kwargs=True).remove)
        yield


def _adds_mask(module: nn.Module) -> Callable[..., Any]:
    """The hook that gives an attention module a mask to be added to the scores, whatever mask it is called with."""
    signature = inspect.signature(type(module).forward)

    def hook(module: nn.Module, args: Any, kwargs: Any) -> tuple[Any, Any]:
        call = signature.bind(module, *args, **kwargs)
        queries = next(each for each in (*args, *kwargs.values()) if torch.is_tensor(each))
        is_causal = getattr(module, "is_causal", True)
        call.arguments[_MASK] = added(call.arguments.get(_MASK), queries, is_causal=is_causal)
        return call.args[1:], call.kwargs

    return hook


def added(mask: Tensor | None, queries: Tensor, is_causal: bool = True) -> Tensor | None:
    """The mask [batch or 1, 1, query, key] to add to the scores: 0 where a query may look, very negative elsewhere.

    Args:
        mask: What the kernel of the other layers is given: None, a bool mask, or one that is added already.
        queries: What the queries are made from, [batch, query, hidden].
        is_causal: Whether no mask means that a query sees no later position.
    """
    count = queries.shape[1]
    if mask is None:
        if not is_causal or count == 1:
            return None
        mask = torch.ones(1, 1, count, count, dtype=torch.bool, device=queries.device).tril()
    if mask.dtype is not torch.bool:
        return mask
    zeros = torch.zeros(mask.shape, dtype=queries.dtype, device=mask.device)
    return zeros.masked_fill(~mask, torch.finfo(queries.dtype).min)
