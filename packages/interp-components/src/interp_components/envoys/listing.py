"""`print(model)`: the tree as torch prints it, with aliases before native names and the named values of each envoy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from interp_components.envoys.children import children_of
from interp_components.properties import EProperty

if TYPE_CHECKING:
    from interp_components.envoys.envoy import Envoy


def listing(envoy: Envoy) -> str:
    """The lines of `envoy` and all below it; runs of equal children are one line."""
    return "\n".join(_lines(envoy))


def _lines(envoy: Envoy) -> list[str]:
    module = envoy._module
    extra = module.extra_repr()
    inner = [line for block in _children(envoy) for line in block]
    inner += _mounts(envoy)
    inner += [str(value) for value in values_of(type(envoy)).values() if value.description]
    head = f"{type(module).__name__}({extra}"
    if not inner:
        return [f"{head})"]
    return [head, *(f"  {line}" for line in inner), ")"]


def _children(envoy: Envoy) -> Iterator[list[str]]:
    """The lines of each child, `(0-11): 12 x Block(` for a run of children that print alike."""
    runs: list[tuple[list[str], list[str]]] = []
    for name, module in children_of(envoy._module).items():
        if module is not None:
            lines = _lines(envoy._envoy_of(module))
            label = "/".join([*envoy._tree.aliases.of(module), name])
            if runs and runs[-1][1] == lines and name.isdigit() and runs[-1][0][-1].isdigit():
                runs[-1][0].append(label)
            else:
                runs.append(([label], lines))
    for labels, (first, *rest) in runs:
        if len(labels) == 1:
            yield [f"({labels[0]}): {first}", *rest]
        else:
            yield [f"({labels[0]}-{labels[-1]}): {len(labels)} x {first}", *rest]


def _mounts(envoy: Envoy) -> list[str]:
    """A line for each alias that leads further down than one child."""
    tree = envoy._tree
    children = children_of(envoy._module).values()
    found = tree.aliases.on(envoy._module).items()
    return [
        f"({name}): {tree.paths[module][len(envoy.path) + 1 :]}" for name, module in found if module not in children
    ]


def values_of(envoy_class: type) -> dict[str, EProperty]:
    """The named values of an envoy class, those of its bases first.

    A descriptor that is bound a second time, as `@value.transform def _carry_back(...)` does, is listed once.
    """
    found: dict[str, EProperty] = {}
    for kind in reversed(envoy_class.__mro__):
        for name, value in vars(kind).items():
            if isinstance(value, EProperty) and value.name == name:
                found[name] = value
            else:
                found.pop(name, None)
    return found
