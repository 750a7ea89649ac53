"""`envoys={GPT2Attention: MyAttention, "mlp": MyMlp}`: which class the envoy of a module gets.

Looked at in this order, first match wins: module classes along the module's MRO; strings as the end of the native path,
component by component, `*` for any one; strings as the end of any spelling of the path with aliases.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from torch import nn

if TYPE_CHECKING:
    from interp_components.envoys.envoy import Envoy

EnvoyMap: TypeAlias = "type[Envoy] | Mapping[str | type[nn.Module], type[Envoy]]"


class EnvoyClasses:
    """The class map of one tree.

    Args:
        envoys: a class for every module, a map, or None.
        default: the class of modules that nothing is said about.
    """

    def __init__(self, envoys: EnvoyMap | None, default: type[Envoy]) -> None:
        self.envoys = envoys
        self._default = default
        self._types: dict[type, type[Envoy]] = {}
        self._paths: dict[tuple[str, ...], type[Envoy]] = {}
        if isinstance(envoys, type):
            self._default = envoys
        elif envoys is not None:
            for key, envoy_class in envoys.items():
                if isinstance(key, str):
                    self._paths[tuple(key.split("."))] = envoy_class
                else:
                    self._types[key] = envoy_class

    def choose(self, module: nn.Module, spellings: Sequence[Sequence[str]]) -> type[Envoy]:
        """The class for `module`.

        Args:
            module: the module.
            spellings: for each component of its path, the native name and then the aliases of that component.
        """
        for kind in type(module).__mro__:
            if kind in self._types:
                return self._types[kind]
        for native in (True, False):
            for pattern, envoy_class in self._paths.items():
                if _is_end(pattern, spellings, native):
                    return envoy_class
        return self._default


def _is_end(pattern: tuple[str, ...], spellings: Sequence[Sequence[str]], native: bool) -> bool:
    if len(pattern) > len(spellings):
        return False
    end = spellings[len(spellings) - len(pattern) :]
    return all(
        part in ("*", names[0]) if native else part == "*" or part in names
        for part, names in zip(pattern, end, strict=True)
    )
