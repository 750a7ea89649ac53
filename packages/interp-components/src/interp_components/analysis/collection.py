"""`collect(model, texts, "activations", over=["residual"])`: activations of a data set, in files.

Each batch of texts is one safetensors file, written whole or not at all. A collection that was interrupted goes on with the
first batch whose file is not there. What was asked for is kept beside the files, so that another collection cannot be
mixed with them.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor

from interp_components.analysis.inputs import Batch, Inputs, read
from interp_components.analysis.sites import Site, layers_of, sites
from interp_components.analysis.sweeps import chunks
from interp_components.errors import InterpError
from interp_components.model import StandardizedTransformer

Positions: TypeAlias = Literal["last", "mean", "all"]
_ASKED: Final = "collection.json"


class CollectionError(InterpError, ValueError):
    """A folder does not hold the collection that was asked for, or what was asked for cannot be collected."""


@dataclass(frozen=True)
class Collected:
    """What a folder holds.

    Attributes:
        over: Names of sites.
        layers: Numbers of blocks.
        positions: Which tokens of a text: its last, the mean over all, or each.
        texts: How many texts.
        batch_size: How many texts a file has.
        fingerprint: A hash of the texts.
        model: What the model is.
    """

    over: list[str]
    layers: list[int]
    positions: Positions
    texts: int
    batch_size: int
    fingerprint: str
    model: str


class Activations:
    """A folder of activations that `collect` wrote.

    Args:
        folder: The folder.

    Raises:
        CollectionError: The folder holds none.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        file = self.folder / _ASKED
        if not file.is_file():
            raise CollectionError(f"{self.folder} holds no collection: there is no {_ASKED} in it")
        self.collected = Collected(**json.loads(file.read_text(encoding="utf-8")))

    @property
    def files(self) -> list[Path]:
        """The files that are there, in the order of the texts."""
        return sorted(self.folder.glob("[0-9]*.safetensors"))

    @property
    def is_complete(self) -> bool:
        """Whether every text is in a file."""
        return len(self.files) == -(-self.collected.texts // self.collected.batch_size)

    def load(self, over: str, layer: int) -> Tensor:
        """Return a value of a block [row, ...], rows in the order of the texts: one for each text, or for each token."""
        if over not in self.collected.over or layer not in self.collected.layers:
            raise CollectionError(
                f"{self.folder} holds {self.collected.over} of the blocks {self.collected.layers}, not {over!r} of {layer}"
            )
        return self._joined(f"{over}.{layer}")

    def texts(self) -> Tensor:
        """Return the number of the text that each row is of [row]."""
        return self._joined("text")

    def tokens(self) -> Tensor:
        """Return the token that each row is of [row]; of a mean, the last of the text."""
        return self._joined("token")

    def _joined(self, name: str) -> Tensor:
        parts = []
        for file in self.files:
            with safe_open(file, framework="pt") as opened:
                parts.append(opened.get_tensor(name))
        if not parts:
            raise CollectionError(f"{self.folder} holds no activations yet")
        return torch.cat(parts)

    def __repr__(self) -> str:
        asked = self.collected
        return f"Activations[{asked.texts} texts] {', '.join(asked.over)} of blocks {asked.layers}, {asked.positions}"


@torch.no_grad()
def collect(
    model: StandardizedTransformer,
    texts: Sequence[Any] | Tensor,  # Any: a text, or its token ids
    folder: str | Path,
    *,
    over: str | Iterable[str] = "residual",
    layers: int | Iterable[int] | None = None,
    positions: Positions = "last",
    batch_size: int = 32,
    dtype: torch.dtype | None = None,
    progress: bool = False,
) -> Activations:
    """Write activations of a data set into a folder, or go on where an interrupted call of the same arguments ended.

    Args:
        model: The model.
        texts: Texts, or their token ids.
        folder: Where the files go; made if need be.
        over: Which values, as for `patch`, but patterns.
        layers: Which blocks; all of them by default.
        positions: "last" token of each text, "mean" over its tokens, or "all" of them.
        batch_size: Texts of a forward, and of a file.
        dtype: What the values are cast to; None for as they are.
        progress: Whether to show a bar.

    Raises:
        CollectionError: The folder holds another collection, there are no texts, or what is asked for cannot be
            collected.
        Unavailable: The model, as it is loaded, does not have a value.
    """
    at, asked = sites(model, [over] if isinstance(over, str) else over), layers_of(model, layers)
    _check(at, positions, len(texts))
    names = [each.name for each in at]
    name = str(model.config._name_or_path or type(model._module).__name__)
    wanted = Collected(names, list(asked), positions, len(texts), batch_size, _fingerprint(texts), name)
    place = Path(folder)
    _claim(place, wanted)
    for part in chunks(range(0, len(texts), batch_size), 1, progress, "batches"):
        file = place / f"{part[0] // batch_size:06}.safetensors"
        if not file.exists():
            found = _batch(model, texts[part[0] : part[0] + batch_size], at, asked, positions)
            found["text"] += part[0]
            _write(file, {key: _cast(value, dtype) for key, value in found.items()})
    return Activations(place)


def _check(at: Sequence[Site], positions: str, texts: int) -> None:
    if positions not in {"last", "mean", "all"}:
        raise CollectionError(f"positions={positions!r} names no tokens; there are 'last', 'mean' and 'all'")
    if any(each.name == "patterns" for each in at):
        raise CollectionError("patterns are as long as their text, so those of a data set are no one tensor")
    if not texts:
        raise CollectionError("there are no texts to collect activations of")


def _claim(folder: Path, wanted: Collected) -> None:
    """Make the folder one of this collection, or see that it is."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / _ASKED
    if not file.exists():
        file.write_text(json.dumps(asdict(wanted), indent=1), encoding="utf-8")
        return
    found, asked = json.loads(file.read_text(encoding="utf-8")), asdict(wanted)
    other = [name for name in asked if found.get(name) != asked[name]]
    if other:
        differences = "; ".join(f"{name} is {found.get(name)!r} there and {asked[name]!r} here" for name in other)
        raise CollectionError(f"{folder} holds another collection: {differences}. Choose another folder")


def _batch(
    model: StandardizedTransformer, texts: Inputs, at: Sequence[Site], layers: Sequence[int], positions: Positions
) -> dict[str, Tensor]:
    """What one file holds."""
    batch = read(model, texts)
    found = _rows_of(batch, positions)
    with model.trace(batch.arguments) as tracer:
        for layer in layers:
            for each in at:
                value = each.read(model, layer).movedim(each.position_axis, 1)
                found[f"{each.name}.{layer}"] = _chosen(value, batch.mask.bool(), positions)
        tracer.stop()
    return found


def _rows_of(batch: Batch, positions: Positions) -> dict[str, Tensor]:
    """The number of the text, and the token, that each row is of."""
    ids, numbers = batch.arguments["input_ids"], torch.arange(batch.rows, device=batch.mask.device)
    if positions != "all":
        return {"text": numbers, "token": ids[:, -1]}
    is_token = batch.mask.bool()
    return {"text": numbers[:, None].expand_as(ids)[is_token], "token": ids[is_token]}


def _chosen(value: Tensor, is_token: Tensor, positions: Positions) -> Tensor:
    """The chosen tokens of a value [batch, seq, ...]."""
    if positions == "last":
        return value[:, -1].clone()
    if positions == "all":
        return value[is_token]
    return torch.stack([row[kept].mean(0) for row, kept in zip(value, is_token, strict=True)])


def _cast(value: Tensor, dtype: torch.dtype | None) -> Tensor:
    return value.to("cpu", dtype if value.is_floating_point() else None).contiguous()


def _write(file: Path, tensors: dict[str, Tensor]) -> None:
    """Write a file that is there whole or not at all."""
    unfinished = file.with_suffix(".unfinished")
    save_file(tensors, unfinished)
    os.replace(unfinished, file)


def _fingerprint(texts: Sequence[Any] | Tensor) -> str:
    digest = hashlib.sha256()
    for text in texts:
        digest.update(repr(text.tolist() if isinstance(text, Tensor) else text).encode() + b"\n")
    return digest.hexdigest()
