"""`rename={"transformer.h": "layers"}`: further names for modules, bound once when the tree is wrapped.

A key is a name, a dotted path, either with `*` for any one component, or a module class. It is tried from every module:
where it leads to a module, its alias is bound. An alias without dots is bound where the key starts; a dotted alias is
bound on the module its own prefix leads to, and that prefix has to be the start of the key (`"attn.c_proj":
"attn.o_proj"`). A key that leads nowhere is skipped, so one table serves a family with optional parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from torch import nn

from interp_components.envoys.children import children_of
from interp_components.errors import AliasError

if TYPE_CHECKING:
    from interp_components.envoys.tree import Tree

Rename: TypeAlias = Mapping["str | type[nn.Module]", "str | Sequence[str]"]


class Aliases:
    """The aliases of one tree.

    Args:
        rename: the table as the user wrote it.
        reserved: names that mean something on every envoy.
    """

    def __init__(self, rename: Rename | None, reserved: frozenset[str]) -> None:
        self.rename: Rename = {} if rename is None else rename
        self._reserved = reserved
        self._bound: dict[nn.Module, dict[str, nn.Module]] = {}
        self._names: dict[nn.Module, list[str]] = {}
        self._mounts: dict[nn.Module, list[tuple[nn.Module, str]]] = {}

    def on(self, module: nn.Module) -> Mapping[str, nn.Module]:
        """The aliases bound on `module`, and where they lead."""
        return self._bound.get(module, {})

    def of(self, module: nn.Module) -> Sequence[str]:
        """The aliases that stand in the place of the module's own name."""
        return self._names.get(module, ())

    def mounts(self, module: nn.Module) -> Sequence[tuple[nn.Module, str]]:
        """The aliases that lead further down to `module` than one child: where each is bound, and its name."""
        return self._mounts.get(module, ())

    def bind(self, tree: Tree) -> None:
        """Bind every key wherever it leads to a module of `tree`.

        Raises:
            AliasError: an alias would mean two modules, or hide a name that is there.
        """
        for key, aliases in self.rename.items():
            for alias in [aliases] if isinstance(aliases, str) else aliases:
                for start in list(tree.paths):
                    self._bind_from(tree, start, key, alias)

    def _bind_from(self, tree: Tree, start: nn.Module, key: str | type[nn.Module], alias: str) -> None:
        *prefix, name = alias.lstrip(".").split(".")
        parts = [key] if isinstance(key, type) else list(key.lstrip(".").split("."))
        if parts[: len(prefix)] != prefix or len(prefix) >= len(parts):
            raise AliasError(
                f"rename={{{key!r}: {alias!r}}}: the dotted alias starts at {'.'.join(prefix)!r}, which is not where the "
                f"key starts. Write the alias with the key's own beginning, or without dots."
            )
        found = list(dict.fromkeys(_follow(start, parts)))
        if not found:
            return
        if len(found) > 1:
            above = len(tree.paths[start]) + 1
            paths = ", ".join(tree.paths[one][above:] for one in found)
            raise AliasError(
                f"rename={{{key!r}: {alias!r}}}: the key matches {len(found)} modules under `{tree.paths[start]}` ({paths}). "
                f"One name means one module; write the key with the name of the one that is meant."
            )
        holder = start
        for part in prefix:
            holder = children_of(holder)[part]  # type: ignore[assignment]  # on the way of a key that was followed
        self._bind(tree, holder, name, found[0], key)
        if len(parts) == len(prefix) + 1:
            self._names.setdefault(found[0], []).append(name)
        else:
            self._mounts.setdefault(found[0], []).append((holder, name))

    def _bind(self, tree: Tree, holder: nn.Module, name: str, module: nn.Module, key: object) -> None:
        bound = self._bound.setdefault(holder, {})
        there = bound.get(name, children_of(holder).get(name))
        if there is module:
            return
        found = None
        if name in bound:
            found = f"{tree.paths[bound[name]]}, which {tree.paths[holder]}.{name} is already bound to"
        elif there is not None:
            found = f"the child module {tree.paths[there]}"
        elif name in self._reserved:
            found = f"Envoy.{name}, a name that every envoy has"
        elif hasattr(holder, name):
            found = f"{tree.paths[holder]}.{name}, an attribute of {type(holder).__name__}"
        if found is not None:
            raise AliasError(
                f"rename={{{key!r}: {name!r}}}: the alias for {tree.paths[module]} would shadow {found}. "
                f"Choose another alias."
            )
        bound[name] = module


def _follow(start: nn.Module, parts: Sequence[str | type[nn.Module]]) -> Iterator[nn.Module]:
    """The modules that `parts` lead to from `start`."""
    part, *rest = parts
    if isinstance(part, str) and part != "*":
        children = [_child(start, part)]
    else:
        children = [child for child in children_of(start).values() if part == "*" or isinstance(child, part)]  # type: ignore[arg-type]  # a class, when it is not a string
    for child in children:
        if child is not None:
            if rest:
                yield from _follow(child, rest)
            else:
                yield child


def _child(module: nn.Module, name: str) -> nn.Module | None:
    """The child of that name, or the module that a property of that name returns (`base_model`)."""
    child = children_of(module).get(name)
    if child is None and isinstance(getattr(type(module), name, None), property):
        found = getattr(module, name)
        return found if isinstance(found, nn.Module) else None
    return child
