"""`cache = tracer.cache()`: what the modules return in a run, kept without asking for each.

After the run, `cache["model.transformer.h.0"].output`, or by names as on the model:
`cache.model.transformer.h[0].output`, aliases included.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import torch
from torch import nn

from interp_components import display
from interp_components.envoys import Envoy
from interp_components.errors import CacheError
from interp_components.interleaving import Rows, Run
from interp_components.interleaving.rows import map_tensors
from interp_components.properties import selection
from tracer_core import mark


class Entry:
    """What one module took and returned, in each of its calls."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.all_outputs: list[Any] = []
        self.all_inputs: list[Any] = []

    @property
    def output(self) -> Any:
        """What the module returned; a list when it was called more than once."""
        return self._only(self.all_outputs, "include_output")

    @property
    def inputs(self) -> Any:
        """The pair `(args, kwargs)` of its call; a list when it was called more than once."""
        return self._only(self.all_inputs, "include_inputs")

    @property
    def input(self) -> Any:
        """The first argument of its call, None without one; a list when it was called more than once."""
        firsts = [selection.pick("input", pair, None) if any(pair) else None for pair in self.all_inputs]
        return self._only(firsts, "include_inputs")

    def _only(self, visits: list[Any], option: str) -> Any:
        if not visits:
            raise CacheError(f"{self.path!r}: nothing was kept; declare the cache with `{option}=True`")
        return visits[0] if len(visits) == 1 else visits

    def __len__(self) -> int:
        """How often the module was called."""
        return max(len(self.all_outputs), len(self.all_inputs))

    def __repr__(self) -> str:
        return f"<{self.path}: {len(self.all_outputs)} outputs, {len(self.all_inputs)} inputs>"


class Cache(Mapping[str, Entry]):
    """The entries of a run by path; a path is also walked by attributes and indices.

    Args:
        entries: what is kept, by native path.
        aliases: the native path of each path that is spelled with an alias, and of the module it is on.
        root: the path of the model.
        prefix: the path this view stands at, empty above the model, where the model's own name may be left out.
    """

    def __init__(
        self, entries: dict[str, Entry], aliases: Mapping[str, Mapping[str, str]], root: str, prefix: str = ""
    ) -> None:
        self._entries = entries
        self._aliases = aliases
        self._root = root
        self._prefix = prefix

    def __getitem__(self, key: str | int) -> Any:
        """The entry at a path, or the view below an index."""
        if isinstance(key, int):
            return self._below(str(key))
        if key not in self._entries:
            raise KeyError(f"{key!r} was not cached{display.suggestion(key, self._entries)}")
        return self._entries[key]

    def __getattr__(self, name: str) -> Any:
        """A value of the entry this view stands at, or the view below a name."""
        if name.startswith("_"):
            raise AttributeError(name)
        if name in ("output", "input", "inputs"):
            if not self._prefix:
                raise KeyError("the cache root is not a module; name one below it")
            return getattr(self[self._prefix], name)
        return self._below(name)

    def save(self) -> Cache:
        """The cache, saved: as a whole it is by itself, a view of it when it is told to."""
        return mark(self)

    def _below(self, name: str) -> Cache:
        prefixes = [self._prefix] if self._prefix else ["", self._root]
        for prefix in prefixes:
            path = self._aliases.get(prefix, {}).get(name) or (f"{prefix}.{name}" if prefix else name)
            if any(known == path or known.startswith(f"{path}.") for known in self._entries):
                return Cache(self._entries, self._aliases, self._root, path)
        raise KeyError(f"{path!r} was not cached{display.suggestion(path, self._entries)}")

    def __iter__(self) -> Iterator[str]:
        """The paths, in the order of the tree."""
        return iter(self._entries)

    def __len__(self) -> int:
        """How many modules are kept."""
        return len(self._entries)

    def __repr__(self) -> str:
        return f"<cache of {len(self)} modules{' at ' + self._prefix if self._prefix else ''}>"


class Recorder:
    """What a cache keeps, and how.

    Args:
        modules: envoys or paths; None for every module.
        convert: what becomes of each tensor.
        include_output, include_inputs: what is kept of a call.
    """

    def __init__(
        self,
        root: Envoy,
        modules: Iterable[Envoy | str] | None,
        convert: Callable[[torch.Tensor], torch.Tensor],
        include_output: bool,
        include_inputs: bool,
    ) -> None:
        envoys = dict(root.named_modules()) if modules is None else dict(_named(root, modules))
        called = {path: envoy for path, envoy in envoys.items() if type(envoy._module).forward is not nn.Module.forward}
        self._envoys = called
        self._convert = convert
        self._include_output = include_output
        self._include_inputs = include_inputs
        tree = root._tree
        aliases = {
            path: {name: tree.paths[module] for name, module in tree.aliases.on(holder).items()}
            for holder, path in tree.paths.items()
            if tree.aliases.on(holder)
        }
        self._entries = {path: Entry(path) for path in called}
        self.cache = Cache(self._entries, aliases, root.path)

    def install(self, run: Run, rows: Rows | None) -> None:
        """Keep what passes in the run; a batched value narrowed to `rows`."""
        if run.has_started:
            raise CacheError(
                "tracer.cache() was declared after the model had started, so it would miss what ran before. "
                "Declare it at the top of the block, before reading or modifying anything."
            )
        for path, envoy in self._envoys.items():
            entry = self._entries[path]
            if self._include_output:
                run.attach(envoy.location("output")).watchers.append(self._record(entry.all_outputs, rows))
            if self._include_inputs:
                run.attach(envoy.location("input")).watchers.append(self._record(entry.all_inputs, rows))

    def _record(self, visits: list[Any], rows: Rows | None) -> Callable[[Any], None]:
        convert = self._convert

        def record(value: Any) -> None:
            own = value if rows is None else rows.narrow(value)
            visits.append(convert(own) if isinstance(own, torch.Tensor) else map_tensors(own, convert))

        return record


def _named(root: Envoy, modules: Iterable[Envoy | str]) -> Iterator[tuple[str, Envoy]]:
    for module in modules:
        envoy = module if isinstance(module, Envoy) else root
        if isinstance(module, str) and module != root.path:
            found = root.get(module.removeprefix(f"{root.path}."))
            assert isinstance(found, Envoy)
            envoy = found
        yield envoy.path, envoy


def conversion(
    device: torch.device | str | None, dtype: torch.dtype | None, detach: bool, non_blocking: bool
) -> Callable[[torch.Tensor], torch.Tensor]:
    """What becomes of each tensor that is kept: a copy, so that later edits in place do not reach it."""

    def convert(tensor: torch.Tensor) -> torch.Tensor:
        own = tensor.detach() if detach else tensor
        kind = dtype if dtype is not None and own.is_floating_point() else None
        return own.to(device=device, dtype=kind, non_blocking=non_blocking, copy=True)

    return convert
