"""Keyword arguments of `model.trace(...)` that nobody takes: `trace("Emma", output_hiden_states=True)`.

A forward of transformers ends in `**kwargs`, and what it does not know it hands on until nobody looks at it any more. So a
name that no part of it knows is refused here. A forward that is not transformers' own may do with its `**kwargs` what it
likes, and takes any.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any

from torch import nn
from transformers.utils.generic import TransformersKwargs

from interp_components.display import suggestion
from interp_components.errors import InterpError

# Of a tokenizer's output, and of the decorators around a forward. Source: utils/generic.py (`can_return_tuple`,
# `merge_with_config_defaults`), utils/output_capturing.py and integrations/sdpa_attention.py, transformers 5.24.
_EVERYWHERE = frozenset(
    {
        "attention_mask",
        "token_type_ids",
        "special_tokens_mask",
        "offset_mapping",
        "length",
        "overflow_to_sample_mapping",
    }
    | {"past_key_values", "cache_params", "return_dict", "is_causal", "debug_io", "debug_io_dir", "prune_layers"}
    | {"add_special_tokens", "truncation", "max_length"}
)
_OURS = ("backend", "eager", "fn", "strict", "trace")
_ELSEWHERE = {
    "remote": "A block runs on any executor of concurrent.futures: see ExecutorBackend of tracer_core.",
    "scan": "Write `with model.scan(...):` to compute shapes only.",
    "validate": "Write `with model.scan(...):` to compute shapes only.",
}


class UnknownKeyword(InterpError, TypeError):
    """A keyword argument that neither a trace nor the model's forward knows."""


def check(modules: Iterable[nn.Module], names: Iterable[str]) -> None:
    """Refuse a name that no forward of `modules` takes.

    Raises:
        UnknownKeyword: There is one; the message says which names are near.
    """
    kinds: list[type] = [type(module) for module in modules]
    takers = [_taken(kind) for kind in kinds]
    if None in takers:
        return
    known = frozenset[str]().union(*(taken for taken in takers if taken is not None))
    for name in names:
        if name not in known:
            way_out = _ELSEWHERE.get(name, "An invoke or a trace takes the keyword arguments of the model's forward.")
            near = suggestion(name, sorted({*known, *_OURS})) or "."
            raise UnknownKeyword(
                f"{name}= is known neither to trace() nor to the forward of {kinds[0].__name__}, which would pass over it in "
                f"silence{near} {way_out}"
            )


@lru_cache(maxsize=64)  # by class, which a process has a few of
def _taken(kind: type) -> frozenset[str] | None:
    """The names that the forward of a class takes; None where it takes any."""
    forward: Callable[..., Any] = kind.forward  # type: ignore[attr-defined]  # a module's, which mypy would not let be a key
    parameters = inspect.signature(forward).parameters.values()
    takes_more = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)
    if takes_more and not kind.__module__.startswith("transformers."):
        return None
    named = frozenset(parameter.name for parameter in parameters) - {"self", "kwargs"}
    return named.union(TransformersKwargs.__annotations__, _EVERYWHERE, _former(forward))


def _former(function: Callable[..., Any] | None) -> Iterator[str]:
    """The former names of arguments. Source: `deprecate_kwarg` of utils/deprecation.py, transformers 5.24, which keeps each."""
    while function is not None:
        former = inspect.getclosurevars(function).nonlocals.get("old_name")
        if isinstance(former, str):
            yield former
        function = getattr(function, "__wrapped__", None)
