"""`print(model.check())`: whether a checkpoint, as it is loaded, has what its family says.

The model runs twice on a short prompt: once bare, once with a block for each value of each component. Then every value
is held against its layout, and against what it has to be from the other values: the stream and the contributions add up
to the block's output, a pattern mixes the values into what the heads read, the last stream projects to the logits. What
a checkpoint does not have is named with its reason, and is no failure.

Nothing is recomputed that costs more than one more block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import torch
from torch import Tensor, nn

from interp_components import layouts
from interp_components.display import Report
from interp_components.interleaving import Run, Worker
from interp_components.model import identities
from interp_components.model.joined import Joined, Place
from interp_components.properties import EProperty
from interp_components.standard import Layer, Root, Standard, support

if TYPE_CHECKING:
    from interp_components.model.transformer import StandardizedTransformer

PROMPT: Final = "The Eiffel Tower is in the city of"
ROWS, LENGTH = 2, 7
# The sizes that give an axis its length, asked of the component, then of the root.
AXES: Final = {
    "hidden": ("hidden_size",),
    "vocab": ("vocab_size",),
    "num_heads": ("num_heads",),
    # Some forwards repeat keys and values for all heads before anything can be read.
    "num_kv_heads": ("num_kv_heads", "num_heads"),
    "head_dim": ("head_dim",),
    "qk_head_dim": ("qk_head_dim",),
    "intermediate": ("intermediate_size",),
    "experts": ("num_experts",),
    "top_k": ("top_k",),
}


def check(model: StandardizedTransformer, prompt: Any = None) -> Report:
    """Run the model on a short prompt, and return whether each value is what its family says.

    Args:
        model: The model; its weights are loaded if they are not yet.
        prompt: Any input of a trace; a short text, or token ids where there is no tokenizer, when None.
    """
    # Any: whatever a trace takes.
    model.dispatch()
    call = model._prepare((_prompt(model) if prompt is None else prompt,), {})
    with _evaluating(model._module), torch.no_grad():
        bare: Any = model._module(*call.args, **call.kwargs)
        values = Values(model)
        values.read(lambda: model._module(*call.args, **call.kwargs))
        joined = Joined()
        _look_at_layouts(model, values, joined, bare.logits.shape[:2])
        identities.look(model, values.seen, joined, bare.logits)
    return Report(_title(model), joined.findings())


class Values:
    """The values of all components of a model, as one run has them.

    Attributes:
        hosts: The component that carries the values of a part, by block (None for the root) and name of the part.
        seen: What was read, by block and name of the value from the block.
        failed: Why a value could not be read, alike.
        absent: Why a value is not there, alike.
    """

    def __init__(self, root: Root) -> None:
        self.hosts: dict[tuple[int | None, str], Standard] = {(None, ""): root}
        for index, block in enumerate(root.layers):
            if isinstance(block, Layer):
                self.hosts |= {(index, ""): block, **{(index, name): part for name, part in support.parts(block)}}
        self.seen: dict[Place, Any] = {}  # Any: a value is whatever the model serves
        self.failed: dict[Place, str] = {}
        self.absent: dict[Place, str] = {}
        self._root = root

    def read(self, forward: Callable[[], object]) -> None:
        """Run the model with a block for each value, so that none depends on the order of the others."""
        workers = []
        for place, host, descriptor in self:
            reason = descriptor.reason(host)
            if reason is None:
                workers.append(Worker(self._reader(place, host, descriptor.name)))
            else:
                self.absent[place] = reason
        Run(self._root._input, workers).execute(forward)

    def __iter__(self) -> Iterator[tuple[Place, Standard, EProperty[Any]]]:
        """Each value with its place, the component that carries it and its descriptor."""
        for (block, part), host in self.hosts.items():
            for name, descriptor in host.values().items():
                yield (block, f"{part}.{name}" if part else name), host, descriptor

    def _reader(self, place: Place, host: Standard, name: str) -> Callable[[], None]:
        def read() -> None:
            try:
                value = getattr(host, name)
            except Exception as error:  # whatever a value of the user's own raises is a finding about this value
                self.failed[place] = f"{type(error).__name__}: {error}"
            else:
                self.seen[place] = value.clone() if isinstance(value, Tensor) else value

        return read


def _look_at_layouts(root: Root, values: Values, joined: Joined, size: torch.Size) -> None:
    for place, host, descriptor in values:
        if place in values.absent:
            joined.add(place, "absent", values.absent[place])
        elif place in values.failed:
            joined.add(place, "failed", values.failed[place])
        elif place in values.seen:
            value = values.seen[place]
            wrong = _wrong(value, descriptor, {**_sizes(root, host, descriptor), **_given(size)})
            joined.add(place, "failed" if wrong else "ok", wrong or _described(value))
        else:
            joined.add(place, "failed", "the block that reads it was not served")


def _wrong(value: Any, descriptor: EProperty[Any], sizes: dict[str, set[int]]) -> str | None:
    """What a value has otherwise than its layout says; axes of unknown size have any."""
    layout, axes = descriptor.layout, descriptor.dims
    if not axes or (value is None and descriptor.is_optional):
        return None
    expected = f"{layouts.layout_name(layout)} [{' '.join(axes)}]"
    if not isinstance(value, layout):
        return f"{_described(value)} is no {expected}"
    if layout is layouts.Mask:  # a mask is broadcast over rows and heads that do not differ
        sizes = {axis: known and {*known, 1} for axis, known in sizes.items()}
    off = [
        f"{axis} is {length}, not {' or '.join(map(str, sorted(sizes[axis])))}"
        for axis, length in zip(axes, value.shape, strict=True)
        if sizes.get(axis) and length not in sizes[axis]
    ]
    return f"{_described(value)} as {expected}: {', '.join(off)}" if off else None


def _given(size: torch.Size) -> dict[str, set[int]]:
    batch, positions = size
    return {"batch": {batch}, "seq": {positions}, "query": {positions}, "key": {positions}}


def _sizes(root: Root, host: Standard, descriptor: EProperty[Any]) -> dict[str, set[int]]:
    known: dict[str, set[int]] = {}
    for axis in set(descriptor.dims) & AXES.keys():
        lengths = (_size(host, name) or _size(root, name) for name in AXES[axis])
        known[axis] = {length for length in lengths if length is not None}
    if host is root and descriptor.name == "token_embeddings":  # narrower than the stream in some models
        width = getattr(root.embed_tokens._module, "embedding_dim", None)
        return known if width is None else {**known, "hidden": {width}}
    return known


def _size(host: Standard, name: str) -> int | None:
    try:
        found = getattr(host, name)
    except (AttributeError, NotImplementedError):
        return None
    return found if isinstance(found, int) else None


def _described(value: Any) -> str:
    if not isinstance(value, Tensor):
        return f"{type(value).__name__} {tuple(value)}" if isinstance(value, tuple) else type(value).__name__
    return f"{str(value.dtype).removeprefix('torch.')} {list(value.shape)}"


def _prompt(model: StandardizedTransformer) -> Any:
    """A text, or, where there is no tokenizer, ids from all over the vocabulary."""
    if model.tokenizer is not None:
        return PROMPT
    count = ROWS * LENGTH
    return (torch.arange(count) * model.vocab_size // count).reshape(ROWS, LENGTH)


def _title(model: StandardizedTransformer) -> str:
    family = getattr(model.family, "__name__", "?").rpartition(".")[2]
    dtype = str(next(model._module.parameters()).dtype).removeprefix("torch.")
    return f"{type(model._module).__name__} as {family}, {model.attn_implementation} attention, {dtype}"


@contextmanager
def _evaluating(module: nn.Module) -> Iterator[None]:
    """Without dropout, which would make two runs differ; each module is given back its own mode."""
    training = [each for each in module.modules() if each.training]
    module.eval()
    try:
        yield
    finally:
        for each in training:
            each.training = True
