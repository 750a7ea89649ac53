"""`envoys={GPT2Attention: MyAttention, "mlp": MyMlp}`: which class the envoy of a module gets.

Looked at in this order, first match wins: module classes along the module's MRO; strings as the end of the native path,
component by component, `*` for any one; strings as the end of any spelling of the path with aliases. Of several maps, the
first that says anything about the module wins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from torch import nn

if TYPE_CHECKING:
    from interp_components.envoys.envoy import Envoy
    from interp_components.envoys.tree import Tree

ClassMap: TypeAlias = "Mapping[str | type[nn.Module], type[Envoy]]"
EnvoyMap: TypeAlias = "type[Envoy] | ClassMap"


class EnvoyClasses:
    """The class maps of one tree.

    Args:
        envoys: what a user asks for: a map, a class for all modules that nothing is said about, or None.
        default: that class, where `envoys` is none.
        family: the map of the architecture, for modules that the user's says nothing about.
    """

    def __init__(self, envoys: EnvoyMap | None, default: type[Envoy], family: ClassMap | None = None) -> None:
        self.envoys = envoys
        self._default = envoys if isinstance(envoys, type) else default
        self._maps = [each for each in (envoys, family) if each is not None and not isinstance(each, type)]

    def choose(self, module: nn.Module, tree: Tree) -> type[Envoy]:
        """The class for `module`, which is in `tree`."""
        return next((found for each in self._maps if (found := _named(each, module, tree))), self._default)


def _named(classes: ClassMap, module: nn.Module, tree: Tree) -> type[Envoy] | None:
    """The class that one map has for `module`."""
    for kind in type(module).__mro__:
        if kind in classes:
            return classes[kind]
    for with_aliases in (False, True):
        for key, envoy_class in classes.items():
            if isinstance(key, str) and _is_end(key.split("."), module, tree, with_aliases):
                return envoy_class
    return None


def _is_end(parts: Sequence[str], module: nn.Module, tree: Tree, with_aliases: bool) -> bool:
    """Whether `parts` are the end of a path to `module`; the name of the root is part of none."""
    if not parts:
        return True
    *before, last = parts
    holder = tree.holder(module)
    if holder is None:
        return False
    aliases = tree.aliases
    if last in ("*", tree.name(module)) or (with_aliases and last in aliases.of(module)):
        return _is_end(before, holder, tree, with_aliases)
    return with_aliases and any(
        last == name and _is_end(before, start, tree, with_aliases) for start, name in aliases.mounts(module)
    )
