"""`model.transformer.h[0].attn`: the mirror of one module, by which a block reads and edits it.

An envoy is made when it is first asked for, and then found as a plain attribute. A name is looked for among the envoy's
own values, then the children, then the aliases, then on the module itself. Nothing is written on modules.
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, ClassVar, TypeVar, cast, overload

import torch
from torch import nn

from interp_components import display
from interp_components.envoys.aliases import Aliases, Rename
from interp_components.envoys.classes import EnvoyClasses, EnvoyMap
from interp_components.envoys.listing import listing
from interp_components.envoys.tree import Tree
from interp_components.errors import InterpError
from interp_components.interleaving import End, Location, Node, Run, current
from interp_components.properties import selection
from interp_components.sources import ModuleSource

Self = TypeVar("Self", bound="Envoy")


class Envoy:
    """The mirror of a module, and of all modules in it.

    Args:
        module: any module.
        path: how the root is called in paths and messages.
        rename: further names for modules (see `aliases`).
        envoys: envoy classes by module class, path or alias (see `classes`).

    Attributes:
        path: native path from the root.
        sourced: whether the operations of the forward are at hand as soon as anything in the module is asked for; else
            they have to be asked for before the module begins.
    """

    sourced: ClassVar[bool] = False

    _module: nn.Module
    path: str

    def __init__(
        self, module: nn.Module, path: str = "model", rename: Rename | None = None, envoys: EnvoyMap | None = None
    ) -> None:
        aliases = Aliases(rename, reserved_names(type(self)))
        self._own_tree = Tree(module, path, aliases, EnvoyClasses(envoys, self._default_class()))
        self._mount(module, path, self, None)

    @classmethod
    def _default_class(cls) -> type[Envoy]:
        """The class of envoys that `envoys=` says nothing about."""
        return Envoy

    def _mount(self, module: nn.Module, path: str, root: Envoy, parent: Envoy | None) -> None:
        """Stand for `module` in the tree of `root`; also the way to make an envoy that is no root."""
        self._module = module
        self.path = path
        self._root = weakref.ref(root)
        self._parent = None if parent is None else weakref.ref(parent)
        tree = root._own_tree
        self._output = tree.output(module)
        self._input = tree.input(module)
        for name in module._modules:
            if name in reserved_names(type(self)):
                warnings.warn(
                    f"{path} has a module called {name!r}, which is a value of every envoy. "
                    f"It is reached as `{path}.E_{name}`.",
                    stacklevel=4,
                )
        self._mounted()

    def _mounted(self) -> None:
        """Called when the envoy stands in its tree, and again when its module was exchanged; for subclasses."""
        if self.sourced:
            self._output.preparations = (partial(_prepare_source, weakref.ref(self)),)

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

    def location(self, end: End) -> Location:
        """The place the model passes before or after the module."""
        return self._output if end == "output" else self._input

    def get(self, name: str) -> Node:
        """The node at the dotted path: child modules, aliases, `source`, operations.

        Raises:
            AttributeError: there is no such node; the message lists near names.
        """
        node: Node = self
        first, _, rest = name.partition(".")
        node = self.source if first == "source" else self._child(first)
        return node.get(rest) if rest else node

    # What a block reads and edits

    @property
    def output(self) -> Any:
        """What the module returns. Assign to let the model go on with something else."""
        return current(self._output.path).read(self._output)

    @output.setter
    def output(self, value: Any) -> None:
        current(self._output.path).replace(self._output, value)

    @property
    def inputs(self) -> Any:
        """The pair `(args, kwargs)` that the module is called with."""
        return current(f"{self.path}.inputs").read(self._input)

    @inputs.setter
    def inputs(self, value: Any) -> None:
        current(f"{self.path}.inputs").replace(self._input, value)

    @property
    def input(self) -> Any:
        """The first argument that the module is called with; assign to replace it alone."""
        return selection.pick("input", current(self._input.path).read(self._input), None)

    @input.setter
    def input(self, value: Any) -> None:
        worker = current(self._input.path)
        worker.replace(self._input, selection.put("input", worker.read(self._input), None, value))

    @property
    def source(self) -> ModuleSource:
        """The operations of the module's forward; `print` it to see them beside its code."""
        sources = self._tree.sources
        if self._module not in sources:
            sources[self._module] = ModuleSource(self, self._module)
        return sources[self._module]

    def skip(self, value: Any) -> None:
        """Do not run the module; the model goes on with `value` as its output."""
        current(f"{self.path}.skip").skip(self._input, value)

    def next(self: Self, steps: int = 1) -> Self:
        """Let the block's further requests ask for the passing `steps` after the one that was served last."""
        worker = current(f"{self.path}.next")
        worker.run.count_passings()
        served = 0 if worker.served is None else worker.served.occurrence or 0
        worker.step = (served if worker.step is None else worker.step) + steps
        return self

    def __call__(self, *args: Any, hook: bool = False, **kwargs: Any) -> Any:
        """Run the module. In a block nobody watches the call, unless `hook=True` lets other blocks do so."""
        if hook:
            return current(f"{self.path}(hook=True)").watched(lambda: self._module(*args, **kwargs))
        return self._module(*args, **kwargs)

    # Children

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "_module" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        module = self._module_called(name)
        if module is not None:
            envoy = self.__dict__[name] = self._envoy_of(module)
            return envoy
        try:
            return getattr(self._module, name)
        except AttributeError:
            raise AttributeError(self._no_such(name)) from None

    def _no_such(self, name: str) -> str:
        known = [
            *self._module._modules,
            *self._tree.aliases.on(self._module),
            *(n for n in dir(type(self)) if n[0] != "_"),
        ]
        return f"{self.path}: {type(self._module).__name__!r} object (nor its module) has attribute {name!r}{display.suggestion(name, known)}"

    def _module_called(self, name: str) -> nn.Module | None:
        if name.startswith("E_") and name[2:] in reserved_names(type(self)):
            name = name[2:]
        return self._module._modules.get(name) or self._tree.aliases.on(self._module).get(name)

    def _child(self, name: str) -> Envoy:
        """The envoy of the child or alias `name`."""
        module = self._module_called(name)
        if module is None:
            known = [*self._module._modules, *self._tree.aliases.on(self._module)]
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
            name = next(name for name, child in self._module._modules.items() if child is module)
            tree.add(module, f"{self.path}.{name}", self._module)
        path = tree.paths[module]
        holder = tree.holders[module][0]
        parent = self._envoy_of(holder)
        spellings = [*parent._spellings(), (path.rpartition(".")[2], *tree.aliases.of(module))]
        envoy_class = tree.classes.choose(module, spellings)
        envoy = envoy_class.__new__(envoy_class)
        envoy._mount(module, path, root, parent)
        return envoy

    def _spellings(self) -> list[tuple[str, ...]]:
        """For each component of the path below the root, its name and its aliases."""
        parent = self.parent
        if parent is None:
            return []
        return [*parent._spellings(), (self.path.rpartition(".")[2], *self._tree.aliases.of(self._module))]

    def __setattr__(self, name: str, value: Any) -> None:
        """Put a module under this one, on the module too; anything else is set on the envoy."""
        if isinstance(value, nn.Module) and name != "_module":
            setattr(self._module, name, value)
            self.__dict__.pop(name, None)
            self._tree.add(value, f"{self.path}.{name}", self._module)
        else:
            object.__setattr__(self, name, value)

    # As a container

    def children(self) -> list[Envoy]:
        """The envoys of the child modules, in order; a module that stands there twice, once."""
        found = (child for child in self._module._modules.values() if child is not None)
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
        children = [child for child in self._module._modules.values() if child is not None]
        return iter([known[child] if child in known else self._envoy_of(child) for child in children])

    def __len__(self) -> int:
        """The length of the wrapped module."""
        return len(self._module)  # type: ignore[arg-type]  # a TypeError says that this module has none

    def __bool__(self) -> bool:
        """True, also for an empty `ModuleList`: an envoy is there."""
        return True

    @overload
    def __getitem__(self, index: int | str) -> Envoy: ...
    @overload
    def __getitem__(self, index: slice) -> list[Envoy]: ...
    def __getitem__(self, index: int | str | slice) -> Envoy | list[Envoy]:
        """The envoy at a place or name, the envoys of a slice."""
        if isinstance(index, str):
            return self._child(index)
        found = list(self._module._modules.values())
        chosen = found[index]
        if isinstance(chosen, list):
            return [self._envoy_of(child) for child in chosen if child is not None]
        return self._envoy_of(cast(nn.Module, chosen))

    # As a module

    @property
    def device(self) -> torch.device | None:
        """The device of the first parameter or buffer; None when there is none."""
        for tensor in (*self._module.parameters(), *self._module.buffers()):
            return tensor.device
        return None

    def to(self: Self, *args: Any, **kwargs: Any) -> Self:
        """Move or cast the module, as `nn.Module.to` does."""
        self._module.to(*args, **kwargs)
        return self

    def cpu(self: Self) -> Self:
        """Move the module to the CPU."""
        return self.to("cpu")

    def cuda(self: Self, device: int | None = None) -> Self:
        """Move the module to a GPU."""
        return self.to("cuda" if device is None else f"cuda:{device}")

    def _update(self, module: nn.Module) -> None:
        """Exchange the module, as when weights take the place of a model that was built without them."""
        tree = self._tree
        fresh = Tree(module, self.path, Aliases(tree.aliases.rename, reserved_names(type(self))), tree.classes)
        kept = {envoy.path: envoy for envoy in (self, *tree.envoys.values())}
        object.__setattr__(self, "_own_tree", fresh)
        for each, path in fresh.paths.items():
            if path in kept:
                envoy = kept[path]
                if envoy is not self:
                    fresh.envoys[each] = envoy
                envoy._module, envoy._output, envoy._input = each, fresh.output(each), fresh.input(each)
        for envoy in (self, *fresh.envoys.values()):
            for name in [key for key, value in envoy.__dict__.items() if isinstance(value, Envoy)]:
                del envoy.__dict__[name]
            envoy._mounted()

    def _shallow_copy(self: Self) -> Self:
        """Another root around the same module, with a tree of its own."""
        copied = type(self).__new__(type(self))
        copied.__dict__.update({name: value for name, value in self.__dict__.items() if not isinstance(value, Envoy)})
        tree = self._tree
        aliases = Aliases(tree.aliases.rename, reserved_names(type(self)))
        copied._own_tree = Tree(self._module, self.path, aliases, tree.classes)
        copied._mount(self._module, self.path, copied, None)
        return copied

    def __reduce__(self) -> Any:
        """A root is made again around its module; any other envoy is found again under its root."""
        root = self.root
        if root is not self:
            return _find, (root, self.path)
        tree = self._own_tree
        return _wrap, (type(self), self._module, self.path, tree.aliases.rename, tree.classes.envoys)

    def __dir__(self) -> list[str]:
        """The names of the envoy, its children and its aliases."""
        return sorted(
            {*super().__dir__(), *self._module._modules, *self._tree.aliases.on(self._module), *dir(self._module)}
        )

    def __repr__(self) -> str:
        """The tree, as torch prints it, with aliases and named values."""
        return listing(self)


def reserved_names(envoy_class: type[Envoy]) -> frozenset[str]:
    """The names that mean something on an envoy of this class, so that no module can be reached by them."""
    names = _reserved.get(envoy_class)
    if names is None:
        names = frozenset(name for name in (*dir(envoy_class), "path") if not name.startswith("_"))
        _reserved[envoy_class] = names
    return names


# Envoy class -> its public names; as long as the class, written once per class, the same by whichever thread.
_reserved: weakref.WeakKeyDictionary[type, frozenset[str]] = weakref.WeakKeyDictionary()


def _prepare_source(envoy: weakref.ref[Envoy], run: Run) -> None:
    """Instrument the forward of a `sourced` envoy before its module begins."""
    there = envoy()
    if there is not None:
        there.source.prepare(run)


def _wrap(
    envoy_class: type[Envoy], module: nn.Module, path: str, rename: Rename, envoys: Mapping[Any, Any] | None
) -> Envoy:
    return envoy_class(module, path, rename=rename, envoys=envoys)


def _find(root: Envoy, path: str) -> Envoy:
    below = path[len(root.path) + 1 :]
    return cast(Envoy, root.get(below)) if below else root
