"""Many small edits of one run, a batch at a time: what patching and ablation have in common.

Each edit replaces one place (a layer, and a head, a neuron or a position in it) by what a source has there. Edits are the
rows of a batch: one forward holds the prompts once for each of some edits, and every row differs from the plain run in
its own place alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple, TypeVar

import torch
from torch import Tensor
from transformers.utils.logging import tqdm

from interp_components.analysis.inputs import Batch
from interp_components.analysis.metrics import Metric, score
from interp_components.analysis.sites import Site
from interp_components.model import StandardizedTransformer
from interp_components.saving import save

T = TypeVar("T")
Change = Callable[[Tensor], Tensor]


@dataclass(frozen=True, repr=False)
class Sweep:
    """What a metric is after each of many edits.

    Attributes:
        values: The metric, one axis for each of `axes`, in the metric's own unit.
        axes: What the axes are: "layer", then "head" or "neuron", then "position".
        layers: The blocks along the first axis.
        baseline: The metric without an edit.
        target: The metric of the run that the values come from, None where they come from no run.
    """

    values: Tensor
    axes: tuple[str, ...]
    layers: tuple[int, ...]
    baseline: float
    target: float | None = None

    @property
    def effects(self) -> Tensor:
        """How far each edit moved the metric; shaped like `values`."""
        return self.values - self.baseline

    @property
    def recovered(self) -> Tensor:
        """How much of the way from `baseline` to `target` each edit went: 0 none, 1 all; shaped like `values`.

        Raises:
            ValueError: There is no target, or it is where the baseline is.
        """
        if self.target is None or self.target == self.baseline:
            raise ValueError(
                f"there is no way to measure along: the metric is {self.baseline:.4g} without an edit and "
                f"{self.target!r} in the run that the values come from; read .effects"
            )
        return self.effects / (self.target - self.baseline)

    def strongest(self, k: int = 5) -> list[tuple[str, float]]:
        """Return the `k` places with the largest effects, either way: `("L1H3", 2.5)`, `("L4@-1", 0.2)`."""
        effects = self.effects.flatten()
        order = effects.abs().topk(min(k, len(effects))).indices
        places = torch.unravel_index(order, self.effects.shape)
        named = zip(*(axis.tolist() for axis in places), strict=True)
        return [(self._name(place), effects[at].item()) for place, at in zip(named, order.tolist(), strict=True)]

    def _name(self, place: Sequence[int]) -> str:
        marks = {"layer": "L", "head": "H", "neuron": "N", "position": "@"}
        numbers = [self.layers[place[0]], *place[1:]]
        return "".join(f"{marks[axis]}{number}" for axis, number in zip(self.axes, numbers, strict=True))

    def __repr__(self) -> str:
        sizes = " ".join(f"{axis}={size}" for axis, size in zip(self.axes, self.values.shape, strict=True))
        target = "" if self.target is None else f", target {self.target:.4g}"
        strongest = ", ".join(f"{name} {effect:+.3g}" for name, effect in self.strongest(3))
        return f"Sweep[{sizes}] baseline {self.baseline:.4g}{target}; strongest {strongest}"


class Edit(NamedTuple):
    """A change of one value of one block."""

    site: Site
    layer: int
    change: Change


class Place(NamedTuple):
    """Where one edit of a sweep is."""

    layer: int
    unit: int | None
    position: int | None


class Options(NamedTuple):
    """How the edits of a sweep are cut and run.

    Attributes:
        by_position: Whether positions are edited one by one; None for where there are no units.
        batch_size: Rows of a forward, at most; one holds all prompts at least once.
        progress: Whether to show a bar.
    """

    by_position: bool | None
    batch_size: int
    progress: bool


@torch.no_grad()
def logits_of(model: StandardizedTransformer, arguments: dict[str, Tensor], edits: Iterable[Edit] = ()) -> Tensor:
    """Return the logits of a run with edits, which are in the order of the forward."""
    with model.trace(arguments):
        for site, layer, change in edits:
            site.write(model, layer, change(site.read(model, layer)))
        logits: Tensor = save(model.logits)
    return logits


def sweep(
    model: StandardizedTransformer,
    batch: Batch,
    site: Site,
    sources: Mapping[int, Tensor],
    metric: Metric,
    how: Options,
    target: float | None = None,
) -> Sweep:
    """Replace each place of a site by what its source has there, and measure each time.

    Args:
        model: The model.
        batch: The prompts.
        site: Which value of the blocks.
        sources: By block, what replaces the value: of its shape, or what broadcasts to it.
        metric: What is measured.
        how: How the edits are cut and run.
        target: The metric of the run that the sources come from.
    """
    layers = tuple(sources)
    baseline = score(metric, logits_of(model, batch.arguments)).item()
    places, axes, shape = _places(batch, site, sources, how.by_position)
    found: list[float] = []
    for part in chunks(places, how.batch_size // batch.rows, how.progress, f"over {site.name}"):
        edits = [Edit(site, layer, Replace(site, layer, part, sources[layer])) for layer in _layers(part)]
        logits = logits_of(model, batch.repeated(len(part)), edits)
        found += scores(metric, logits, len(part))
    return Sweep(torch.tensor(found).reshape(shape), axes, layers, baseline, target)


def scores(metric: Metric, logits: Tensor, edits: int) -> list[float]:
    """Return what a metric says of each edit, of logits [edits * batch, seq, vocab]."""
    return [score(metric, each).item() for each in logits.chunk(edits)]


def chunks(items: Sequence[T], size: int, progress: bool, what: str) -> Iterator[Sequence[T]]:
    """Yield `items` in parts of at most `size`, with a bar that counts items."""
    with tqdm(total=len(items), desc=what, disable=not progress) as bar:
        for start in range(0, len(items), max(size, 1)):
            part = items[start : start + max(size, 1)]
            yield part
            bar.update(len(part))


def _layers(places: Sequence[Place]) -> list[int]:
    return sorted({place.layer for place in places})


def _places(
    batch: Batch, site: Site, sources: Mapping[int, Tensor], by_position: bool | None
) -> tuple[list[Place], tuple[str, ...], tuple[int, ...]]:
    """Every place of a site, the names of the axes that they make, and how long these are."""
    units: list[int | None] = [None]
    positions: list[int | None] = [None]
    axes: list[str] = ["layer"]
    if site.unit_axis is not None and site.unit is not None:
        units = list(range(next(iter(sources.values())).shape[site.unit_axis]))
        axes.append(site.unit)
    if by_position if by_position is not None else site.unit is None:
        positions = list(range(batch.length))
        axes.append("position")
    sizes = {"layer": len(sources), site.unit: len(units), "position": len(positions)}
    places = [Place(*place) for place in product(sources, units, positions)]
    return places, tuple(axes), tuple(sizes[axis] for axis in axes)


class Replace:
    """Replaces in each row of a batch what the row's place says.

    Args:
        site: which value.
        layer: of which block.
        places: one for each row, or for each run of as many rows as there are prompts; those of other blocks are left.
        source: what replaces the value, [batch, ...].
    """

    def __init__(self, site: Site, layer: int, places: Sequence[Place], source: Tensor) -> None:
        self._site, self._layer, self._places, self._source = site, layer, places, source

    def __call__(self, value: Tensor) -> Tensor:
        """Return the value with the places replaced."""
        rows = value.reshape(len(self._places), -1, *value.shape[1:])
        return torch.where(self._chosen(rows), self._source.to(value), rows).flatten(0, 1)

    def _chosen(self, rows: Tensor) -> Tensor:
        """Which numbers are replaced [edit, 1, ...]: the axes that every place takes whole have size 1."""
        unit, position = self._site.unit_axis, self._site.position_axis
        kept = {0} | ({unit + 1} if unit is not None else set()) | {position + 1}
        shape = [size if axis in kept else 1 for axis, size in enumerate(rows.shape)]
        chosen = torch.zeros(shape, dtype=torch.bool, device=rows.device)
        for row, place in enumerate(self._places):
            if place.layer == self._layer:
                # Any: a slice where the place takes the whole axis.
                at: list[Any] = [row, *[slice(None)] * (rows.ndim - 1)]
                if unit is not None and place.unit is not None:
                    at[unit + 1] = place.unit
                if place.position is not None:
                    at[position + 1] = place.position
                chosen[tuple(at)] = True
        return chosen
