"""`print(model)`: the tree as torch prints it, with aliases before native names and the named values of each envoy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from interp_components.envoys.children import children_of
from interp_components.properties import EProperty

if TYPE_CHECKING:
    from interp_components.envoys.envoy import Envoy

T = TypeVar("T")


def listing(envoy: Envoy) -> str:
    """The lines of `envoy` and all below it; runs of equal children are one line."""
    return "\n".join(_lines(envoy))


def _lines(envoy: Envoy) -> list[str]:
    module = envoy._module
    extra = module.extra_repr()
    inner = [line for label, count, lines in runs(envoy, _lines) for line in _headed(label, count, *lines)]
    inner += [f"({name}): {path}" for name, path in mounts(envoy)]
    inner += [str(value) for value in values_of(type(envoy)).values() if value.description]
    head = f"{type(module).__name__}({extra}"
    if not inner:
        return [f"{head})"]
    return [head, *(f"  {line}" for line in inner), ")"]


def _headed(label: str, count: int, first: str, *rest: str) -> list[str]:
    """The lines of a child under its label, `(0-11): 12 x Block(` for a run of children."""
    return [f"({label}): {first if count == 1 else f'{count} x {first}'}", *rest]


def runs(envoy: Envoy, made: Callable[[Envoy], T]) -> Iterator[tuple[str, int, T]]:
    """Label, length and what is `made` of the children; neighbours of which it is equal are one run, `0-11`, 12 long."""
    found: list[tuple[list[str], T]] = []
    for name, module in children_of(envoy._module).items():
        if module is not None:
            one = made(envoy._envoy_of(module))
            label = "/".join([*envoy._tree.aliases.of(module), name])
            if found and found[-1][1] == one and name.isdigit() and found[-1][0][-1].isdigit():
                found[-1][0].append(label)
            else:
                found.append(([label], one))
    for labels, one in found:
        yield labels[0] if len(labels) == 1 else f"{labels[0]}-{labels[-1]}", len(labels), one


def mounts(envoy: Envoy) -> list[tuple[str, str]]:
    """Each alias that leads further down than one child, with where it leads."""
    tree = envoy._tree
    children = children_of(envoy._module).values()
    found = tree.aliases.on(envoy._module).items()
    return [(name, tree.paths[module][len(envoy.path) + 1 :]) for name, module in found if module not in children]


def values_of(envoy_class: type) -> dict[str, EProperty[Any]]:
    """The named values of an envoy class, those of its bases first.

    A descriptor that is bound a second time, as `@value.transform def _carry_back(...)` does, is listed once.
    """
    found: dict[str, EProperty[Any]] = {}
    for kind in reversed(envoy_class.__mro__):
        for name, value in vars(kind).items():
            if isinstance(value, EProperty) and value.name == name:
                found[name] = value
            else:
                found.pop(name, None)
    return found
