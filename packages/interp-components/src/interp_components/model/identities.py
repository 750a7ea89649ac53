"""What the values of one run have to be from one another, for `model.check()`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import torch
from torch import Tensor

from interp_components.model.joined import Joined, Place
from interp_components.standard import Attention, Layer, Root, support

Seen = Mapping[Place, Any]  # Any: a value is whatever the model serves
Identity = tuple[str, Callable[[], tuple[Tensor, Tensor]]]
"""How an identity reads, and what computes its two sides."""

# The largest difference by the largest number: sums in another order than the model's, in the precision of the weights.
TOLERANCE: Final = {torch.float64: 1e-10, torch.float32: 1e-4, torch.float16: 1e-2, torch.bfloat16: 5e-2}


def look(root: Root, seen: Seen, joined: Joined, bare: Tensor) -> None:
    """Add whether each identity holds whose values were seen; `bare` are the logits of a run without blocks."""
    tolerance = TOLERANCE.get(bare.dtype, TOLERANCE[torch.bfloat16])
    logits = seen.get((None, "logits"))
    if logits is not None:
        same = torch.equal(logits, bare)
        says = "bit for bit" if same else f"differs by {_difference(logits, bare):.1e} from a run without reads"
        joined.add((None, "reading changes nothing"), "ok" if same else "failed", says)
    for index, block in enumerate(root.layers):
        if isinstance(block, Layer):
            values = {name: value for (at, name), value in seen.items() if at == index}
            after = seen.get((index + 1, "layer_input"))
            for identity in _of_block(block, values, after):
                _add(joined, index, identity, tolerance)
    for identity in _of_root(root, seen):
        _add(joined, None, identity, tolerance)


def _add(joined: Joined, block: int | None, identity: Identity, tolerance: float) -> None:
    text, sides = identity
    try:
        off = _difference(*sides())
    except Exception as error:  # a family's own code computes a side; what it raises is a finding about the family
        joined.add((block, text), "failed", f"cannot be computed: {type(error).__name__}: {error}")
        return
    if off <= tolerance:
        joined.add((block, text), "ok", f"within {tolerance:.0e}")
    else:
        joined.add((block, text), "failed", f"off by {off:.1e} of the largest number, more than {tolerance:.0e}")


def _difference(actual: Tensor, expected: Tensor) -> float:
    """The largest difference by the largest number; infinite where one side is not finite or has another shape."""
    if actual.shape != expected.shape:
        raise ValueError(f"{list(actual.shape)} is compared with {list(expected.shape)}")
    one, other = actual.to("cpu", torch.float64), expected.to("cpu", torch.float64)
    off = (one - other).abs().max() / other.abs().max().clamp(min=torch.finfo(torch.float64).tiny)
    return float(off) if bool(off.isfinite()) else float("inf")


def _of_block(block: Layer, values: Mapping[str, Any], after: Tensor | None) -> Iterator[Identity]:
    mixer = next((name for name in ("self_attn", "linear_attn") if f"{name}.attention_output" in values), "self_attn")
    names = ("layer_input", f"{mixer}.attention_output", "mlp.mlp_output", "layer_output")
    if all(name in values for name in names):
        yield _sum(block), lambda: (block.recomposed(*(values[name] for name in names[:3])), values["layer_output"])
    if after is not None and "layer_output" in values:
        yield "layer_output == next layer_input", lambda: (values["layer_output"], after)
    for name, part in support.parts(block):
        of_part = {
            value.removeprefix(f"{name}."): each for value, each in values.items() if value.startswith(f"{name}.")
        }
        if isinstance(part, Attention):
            yield from _of_attention(name, part, of_part)
        yield from _of_experts(name, of_part.get("expert_outputs"), of_part.get("routed_output"))


def _sum(block: Layer) -> str:
    parts = "layer_input, attention_output, mlp_output"
    if type(block).recomposed is Layer.recomposed:
        return f"{' + '.join(parts.split(', '))} == layer_output"
    return f"recomposed({parts}) == layer_output"


def _of_attention(name: str, part: Attention, values: Mapping[str, Any]) -> Iterator[Identity]:
    pattern, scores = values.get("attention_probabilities"), values.get("attention_scores")
    mixed, heads = values.get("attention_values"), values.get("attention_head_outputs")
    if pattern is None:
        return
    if not part.SINK:
        yield f"{name}.attention_probabilities.sum(-1) == 1", lambda: (_sums(pattern), torch.ones(pattern.shape[:-1]))
        if scores is not None:
            yield (
                f"{name}.attention_scores.softmax(-1) == attention_probabilities",
                lambda: (scores.float().softmax(-1), pattern),
            )
    if mixed is not None and heads is not None:
        yield (
            f"{name}.attention_probabilities @ attention_values == attention_head_outputs",
            lambda: (_mixed(pattern, mixed), heads),
        )


def _of_experts(name: str, outputs: Tensor | None, together: Tensor | None) -> Iterator[Identity]:
    if outputs is not None and together is not None:
        yield f"{name}.expert_outputs.sum(-2) == routed_output", lambda: (outputs.sum(-2), together)


def _sums(pattern: Tensor) -> Tensor:
    return pattern.double().sum(-1)


def _mixed(pattern: Tensor, values: Tensor) -> Tensor:
    """What each head reads; heads of a group share their values."""
    groups = pattern.shape[1] // values.shape[1]
    return (pattern.to(values) @ values.repeat_interleave(groups, 1)).transpose(1, 2)


def _of_root(root: Root, seen: Seen) -> Iterator[Identity]:
    last = seen.get((len(root.layers) - 1, "layer_output"))
    normed, logits = seen.get((None, "final_norm_output")), seen.get((None, "logits"))
    probs = seen.get((None, "next_token_probs"))
    if last is not None and normed is not None:
        yield "norm(last layer_output) == final_norm_output", lambda: (root.norm(last), normed)
    if last is not None and logits is not None:
        yield "project_on_vocab(last layer_output) == logits", lambda: (root.project_on_vocab(last), logits)
    if probs is not None:
        yield "next_token_probs.sum(-1) == 1", lambda: (_sums(probs), torch.ones(probs.shape[:-1]))
