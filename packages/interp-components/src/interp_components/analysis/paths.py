"""`path_patch(model, clean, corrupted, metric, receivers=[(9, 6)], into="queries")`: who tells these heads?

A patched head speaks to everything behind it. Here it speaks to the receivers alone: in a first run the sender says what
it says in the clean run while all other heads repeat what they say in the corrupted one, and what then reaches the
receivers is kept; in a second run the receivers are given that, and all else is free.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product

import torch
from torch import Tensor

from interp_components.analysis.inputs import Batch, Inputs, read_pair
from interp_components.analysis.metrics import Metric, score
from interp_components.analysis.sites import Site, layers_of, record, site
from interp_components.analysis.sweeps import Edit, Place, Replace, Sweep, chunks, logits_of, scores
from interp_components.model import StandardizedTransformer


@torch.no_grad()
def path_patch(
    model: StandardizedTransformer,
    clean: Inputs,
    corrupted: Inputs,
    metric: Metric,
    *,
    receivers: Iterable[tuple[int, int]] | None = None,
    into: str = "queries",
    layers: int | Iterable[int] | None = None,
    freeze_mlps: bool = False,
    batch_size: int = 32,
    progress: bool = False,
) -> Sweep:
    """Let each head of the clean run speak to the receivers alone, in the corrupted run, and measure each time.

    Args:
        model: The model.
        clean: Where the senders' outputs come from, any input of `model.trace`.
        corrupted: All else; as many prompts, and prompt by prompt as many tokens.
        metric: Logits [batch, seq, vocab] to a number, or one for each prompt.
        receivers: Pairs of block and head; None for the last norm and the output head.
        into: What of the receivers is reached: "queries", "keys" or "values". Grouped keys and values have fewer heads,
            and a receiver is numbered among those.
        layers: Blocks of the senders; by default all that are in front of a receiver.
        freeze_mlps: Whether MLPs repeat what they say in the corrupted run, so that a path is direct. By default they
            pass on what they are told.
        batch_size: Rows of a forward, at most.
        progress: Whether to show a bar.

    Returns:
        The metric [layer, head] after each patch.

    Raises:
        AlignmentError: The prompts do not have the same places.
        Unavailable: The model, as it is loaded, does not have a value that is needed.
        ValueError: There is no such receiver, or no block in front of it.
    """
    first, second = read_pair(model, clean, corrupted)
    paths = _Paths(model, first, second, _receivers(model, receivers, into), into, freeze_mlps)
    senders = layers_of(model, range(paths.end) if layers is None else layers)
    places = [Place(layer, head, None) for layer, head in product(senders, range(paths.num_heads))]
    found: list[float] = []
    for part in chunks(places, batch_size // second.rows, progress, f"paths into {into if receivers else 'logits'}"):
        found += scores(metric, paths.logits(part), len(part))
    baseline, target = (score(metric, logits_of(model, batch.arguments)).item() for batch in (second, first))
    values = torch.tensor(found).reshape(len(senders), -1)
    return Sweep(values, ("layer", "head"), senders, baseline, target)


class _Paths:
    """Two prompts of a model, and what is told in the run of the second by heads of the first.

    Args:
        receivers: heads by block; None for the end of the model.
    """

    def __init__(
        self,
        model: StandardizedTransformer,
        clean: Batch,
        corrupted: Batch,
        receivers: Mapping[int, Sequence[int]] | None,
        into: str,
        freeze_mlps: bool,
    ) -> None:
        every = layers_of(model, None)
        self._model, self._batch, self._receivers = model, corrupted, receivers
        self._heads, self._into = site(model, "heads"), site(model, into)
        self._mlp = site(model, "mlp") if freeze_mlps else None
        self._clean = record(model, clean.arguments, self._heads, every)
        self._said = record(model, corrupted.arguments, self._heads, every)
        self._mlps = {} if self._mlp is None else record(model, corrupted.arguments, self._mlp, every)
        self.num_heads = self._said[0].shape[2]
        self.end = len(every) if receivers is None else max(receivers)
        if self.end == 0:
            raise ValueError("the receivers are in block 0, and no head is in front of them")

    def logits(self, senders: Sequence[Place]) -> Tensor:
        """The logits [sender * batch, seq, vocab] when each sender speaks to the receivers alone."""
        arguments = self._batch.repeated(len(senders))
        heard: dict[int, Tensor] = {}
        edits: list[Edit] = []
        for layer in sorted(self._said):
            if self._receivers is not None and layer in self._receivers:
                edits.append(Edit(self._into, layer, _Listen(heard, layer)))
            if layer < self.end:
                edits += self._frozen(layer, senders)
        logits = logits_of(self._model, arguments, edits)
        if self._receivers is None:
            return logits
        told = [
            Edit(self._into, layer, _Hear(self._into, heads, heard[layer]))
            for layer, heads in sorted(self._receivers.items())
        ]
        return logits_of(self._model, arguments, told)

    def _frozen(self, layer: int, senders: Sequence[Place]) -> list[Edit]:
        """A block that repeats itself, but for the senders in it."""
        clean = Replace(self._heads, layer, senders, self._clean[layer])
        edits = [Edit(self._heads, layer, lambda value: clean(_again(self._said[layer], value)))]
        if self._mlp is not None:
            edits.append(Edit(self._mlp, layer, lambda value: _again(self._mlps[layer], value)))
        return edits


class _Listen:
    """Keeps a value, and leaves it."""

    def __init__(self, heard: dict[int, Tensor], layer: int) -> None:
        self._heard, self._layer = heard, layer

    def __call__(self, value: Tensor) -> Tensor:
        self._heard[self._layer] = value.clone()
        return value


class _Hear:
    """Replaces some heads of a value by what was kept."""

    def __init__(self, at: Site, heads: Sequence[int], heard: Tensor) -> None:
        self._at, self._heads, self._heard = at, heads, heard

    def __call__(self, value: Tensor) -> Tensor:
        axis = self._at.unit_axis
        assert axis is not None
        if max(self._heads) >= value.shape[axis]:
            raise ValueError(
                f"there is no receiver {max(self._heads)}: {self._at.value} have {value.shape[axis]} heads"
            )
        chosen = torch.zeros(value.shape[axis], dtype=torch.bool, device=value.device)
        chosen[list(self._heads)] = True
        return torch.where(
            chosen.reshape([-1 if each == axis else 1 for each in range(value.ndim)]), self._heard, value
        )


def _again(said: Tensor, value: Tensor) -> Tensor:
    """What was said once, for each row of a larger batch."""
    return said.to(value).repeat(len(value) // len(said), *[1] * (said.ndim - 1))


def _receivers(
    model: StandardizedTransformer, receivers: Iterable[tuple[int, int]] | None, into: str
) -> dict[int, list[int]] | None:
    if receivers is None:
        return None
    if into not in {"queries", "keys", "values"}:
        raise ValueError(f"into={into!r} is nothing that a head receives; it receives 'queries', 'keys' and 'values'")
    found: dict[int, list[int]] = {}
    for layer, head in receivers:
        if head < 0:
            raise ValueError(f"there is no receiver {head}: heads are numbered from 0")
        found.setdefault(layers_of(model, layer)[0], []).append(head)
    if not found:
        raise ValueError("receivers=[] names nobody; give pairs of block and head, or None for the output head")
    return found
