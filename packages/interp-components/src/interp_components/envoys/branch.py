"""The place of an envoy in the tree of its model: its root, its parent, its children, by attribute, index or name.

An envoy is made when it is first asked for, and then found as a plain attribute. A name is looked for among the envoy's
own values, then the children, then the aliases, then on the module itself. Nothing is written on modules but what the
user puts there.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, cast, overload

from torch import Tensor, nn

from interp_components import display
from interp_components.envoys.children import children_of
from interp_components.envoys.tree import Tree
from interp_components.errors import InterpError
from interp_components.interleaving import is_block_running

if TYPE_CHECKING:
    from interp_components.envoys.envoy import Envoy


_VALUES = frozenset({"output", "input", "inputs"})
"""What every envoy has."""


class Branch:
    """What an envoy is as a part of a tree.

    Attributes:
        path: native path from the root.
    """

    path: str
    _module: nn.Module
    _own_tree: Tree
    _root: weakref.ref[Envoy]
    _parent: weakref.ref[Envoy] | None

    # Where it stands

    @property
    def root(self) -> Envoy:
        """The envoy at the top of the tree."""
        root = self._root()
        if root is None:
            raise InterpError(
                f"the model that {self.path} belongs to is gone: envoys do not keep it alive. Keep the model in a name."
            )
        return root

    @property
    def parent(self) -> Envoy | None:
        """The envoy of the module around this one; None for the root."""
        return None if self._parent is None else self._parent()

    @property
    def _tree(self) -> Tree:
        return self.root._own_tree

    # Children

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "_module" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        module = self._module_called(name)
        if module is not None:
            envoy = self.__dict__[name] = self._envoy_of(module)
            return envoy
        try:
            value = getattr(self._module, name)
        except AttributeError:
            raise AttributeError(self._no_such(name)) from None
        return self._known(name, value) if isinstance(value, nn.Module) else value

    def _no_such(self, name: str) -> str:
        return f"{self.path}: {type(self._module).__name__!r} object (nor its module) has attribute {name!r}{self._near(name)}"

    def _near(self, name: str) -> str:
        known = [
            *children_of(self._module),
            *self._tree.aliases.on(self._module),
            *(n for n in dir(type(self)) if n[0] != "_"),
        ]
        return display.suggestion(name, known)

    def _known(self, name: str, module: nn.Module) -> Envoy:
        """The envoy of a module that is an attribute and no child: of another place in the tree, or known from now on."""
        tree = self._tree
        if module not in tree.paths:
            tree.add(module, f"{self.path}.{name}", self._module)
        return self._envoy_of(module)

    def _module_called(self, name: str) -> nn.Module | None:
        if name.startswith("E_") and name[2:] in reserved_names(type(self)):
            name = name[2:]
        child = children_of(self._module).get(name)
        return self._tree.aliases.on(self._module).get(name) if child is None else child

    def _child(self, name: str) -> Envoy:
        """The envoy of the child or alias `name`."""
        module = self._module_called(name)
        if module is None:
            known = [*children_of(self._module), *self._tree.aliases.on(self._module)]
            raise AttributeError(f"{self.path!r} has no module {name!r}{display.suggestion(name, known)}")
        return self._envoy_of(module)

    def _envoy_of(self, module: nn.Module) -> Envoy:
        root = self.root
        tree = root._own_tree
        envoy = root if module is root._module else tree.envoys.get(module)
        if envoy is None:
            envoy = tree.envoys[module] = self._make(root, module)
        return envoy

    def _make(self, root: Envoy, module: nn.Module) -> Envoy:
        """The envoy of a module below, made with the envoys on the way to it."""
        tree = root._own_tree
        if module not in tree.paths:  # put there since the tree was walked
            name = next(name for name, child in children_of(self._module).items() if child is module)
            tree.add(module, f"{self.path}.{name}", self._module)
        envoy_class = tree.classes.choose(module, tree)
        envoy = envoy_class.__new__(envoy_class)
        envoy._mount(module, tree.paths[module], root, self._envoy_of(tree.holders[module][0]))
        return envoy

    def __setattr__(self, name: str, value: Any) -> None:
        """Put a module under this one, on the module too, or give it another parameter; anything else is set on the envoy.

        Raises:
            AttributeError: a block assigns a tensor to a name that is not there, which would change nothing in the model.
        """
        if type(value) is Tensor or isinstance(value, Tensor):  # first: it is what blocks assign
            if name not in _VALUES and not hasattr(type(self), name) and name not in self.__dict__:
                if name in self._module._parameters or name in self._module._buffers:
                    setattr(self._module, name, value)
                    return
                if is_block_running():
                    raise AttributeError(
                        f"{self.path} has no value {name!r}, so assigning it would change nothing{self._near(name)}"
                    )
        elif isinstance(value, nn.Module) and name != "_module":
            setattr(self._module, name, value)
            self.__dict__.pop(name, None)
            self._tree.add(value, f"{self.path}.{name}", self._module)
            return
        object.__setattr__(self, name, value)

    # As a container

    def children(self) -> list[Envoy]:
        """The envoys of the child modules, in order; a module that stands there twice, once."""
        found = (child for child in children_of(self._module).values() if child is not None)
        return [self._envoy_of(child) for child in dict.fromkeys(found)]

    def named_modules(self) -> Iterator[tuple[str, Envoy]]:
        """Path and envoy of this module and all below, in the order of the tree, each module once."""
        tree = self._tree
        for module in self._module.modules():
            if module in tree.paths:
                yield tree.paths[module], self._envoy_of(module)

    def modules(self, include_fn: Callable[[Envoy], bool] | None = None) -> list[Envoy]:
        """The envoys of this module and all below that `include_fn` is true for."""
        return [envoy for _, envoy in self.named_modules() if include_fn is None or include_fn(envoy)]

    def __iter__(self) -> Iterator[Envoy]:
        """The envoys of the child modules, as the module itself gives them."""
        known = self._tree.envoys
        children = [child for child in children_of(self._module).values() if child is not None]
        return iter([known[child] if child in known else self._envoy_of(child) for child in children])

    def __len__(self) -> int:
        """The length of the wrapped module."""
        return len(self._module)  # type: ignore[arg-type]  # a TypeError says that this module has none

    def __bool__(self) -> bool:
        """The truth of the wrapped module: an empty `ModuleList` has none."""
        return bool(self._module)

    @overload
    def __getitem__(self, index: int | str) -> Envoy: ...
    @overload
    def __getitem__(self, index: slice) -> list[Envoy]: ...
    def __getitem__(self, index: int | str | slice) -> Envoy | list[Envoy]:
        """The envoy at a place or name, the envoys of a slice."""
        if isinstance(index, str):
            return self._child(index)
        found = list(children_of(self._module).values())
        if isinstance(index, int) and not -len(found) <= index < len(found):
            raise IndexError(f"{self.path} has {len(found)} modules, and none at {index}")
        chosen = found[index]
        if isinstance(chosen, list):
            return [self._envoy_of(child) for child in chosen if child is not None]
        return self._envoy_of(cast(nn.Module, chosen))


def reserved_names(envoy_class: type[Branch]) -> frozenset[str]:
    """The names that mean something on an envoy of this class, so that no module can be reached by them."""
    names = _reserved.get(envoy_class)
    if names is None:
        names = frozenset(name for name in (*dir(envoy_class), "path") if not name.startswith("_"))
        _reserved[envoy_class] = names
    return names


# Envoy class -> its public names; as long as the class, written once per class, the same by whichever thread.
_reserved: weakref.WeakKeyDictionary[type, frozenset[str]] = weakref.WeakKeyDictionary()
