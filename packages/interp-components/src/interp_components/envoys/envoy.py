"""`model.transformer.h[0].attn`: the mirror of one module, by which a block reads and edits it.

Its values are here: what the module takes and returns, its operations, its copies. How envoys find one another is said
in `branch`.
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Mapping
from functools import partial
from itertools import chain
from typing import Any, ClassVar, TypeVar, cast

import torch
from torch import nn

from interp_components.envoys.aliases import Aliases, Rename
from interp_components.envoys.branch import Branch, reserved_names
from interp_components.envoys.children import children_of
from interp_components.envoys.classes import ClassMap, EnvoyClasses, EnvoyMap
from interp_components.envoys.listing import listing
from interp_components.envoys.tree import Tree
from interp_components.interleaving import End, Kind, Location, Node, Run, current
from interp_components.interleaving.seats import Seat, getcurrent
from interp_components.properties import selection
from interp_components.sources import ModuleSource

Self = TypeVar("Self", bound="Envoy")


class Envoy(Branch):
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

    def __init__(
        self, module: nn.Module, path: str = "model", rename: Rename | None = None, envoys: EnvoyMap | None = None
    ) -> None:
        aliases = Aliases(rename, reserved_names(type(self)))
        self._own_tree = Tree(
            module, path, aliases, EnvoyClasses(envoys, self._default_class(), self._family_classes())
        )
        for each, where in self._own_tree.paths.items():
            _warn_of_hidden(where, each, reserved_names(Envoy))
        self._mount(module, path, self, None)

    @classmethod
    def _default_class(cls) -> type[Envoy]:
        """The class of envoys that `envoys=` says nothing about."""
        return Envoy

    def _family_classes(self) -> ClassMap | None:
        """The classes that the architecture of the model has for its modules; `envoys=` comes first."""
        return None

    def _mount(self, module: nn.Module, path: str, root: Envoy, parent: Envoy | None) -> None:
        """Stand for `module` in the tree of `root`; also the way to make an envoy that is no root."""
        self._module = module
        self.path = path
        self._root = weakref.ref(root)
        self._parent = None if parent is None else weakref.ref(parent)
        tree = root._own_tree
        self._output = tree.output(module)
        self._input = tree.input(module)
        if type(self) is not Envoy:
            _warn_of_hidden(path, module, reserved_names(type(self)) - reserved_names(Envoy))
        self._mounted()

    def _mounted(self) -> None:
        """Called when the envoy stands in its tree, and again when its module was exchanged; for subclasses."""
        if self.sourced:
            self._output.preparations = (partial(_prepare_source, weakref.ref(self)),)

    def location(self, end: End) -> Location:
        """The place the model passes before or after the module."""
        return self._output if end == "output" else self._input

    def get(self, name: str) -> Any:
        """The node at the dotted path: child modules, aliases, `source`, operations; or a parameter or buffer.

        Raises:
            AttributeError: there is no such node; the message lists near names.
        """
        first, _, rest = name.partition(".")
        if not rest and isinstance(tensor := getattr(self._module, first, None), torch.Tensor):
            return tensor
        node: Node = self.source if first == "source" else self._child(first)
        return node.get(rest) if rest else node

    # What a block reads and edits

    @property
    def output(self) -> Any:
        """What the module returns. Assign to let the model go on with something else."""
        seat = getcurrent()  # as `current` does: what every block asks for goes through no more calls than it takes
        worker = seat.worker if type(seat) is Seat else None
        return (worker or current(self._output.path)).ask(Kind.READ, self._output)

    @output.setter
    def output(self, value: Any) -> None:
        seat = getcurrent()
        worker = seat.worker if type(seat) is Seat else None
        (worker or current(self._output.path)).ask(Kind.WRITE, self._output, value)

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
        worker.replace(self._input, selection.put("input", worker.look(self._input), None, value))

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

    # As a module

    @property
    def device(self) -> torch.device | None:
        """The device of the first parameter or buffer; None when there is none."""
        for tensor in chain(self._module.parameters(), self._module.buffers()):  # no further than to the first
            return tensor.device
        return None

    @property
    def devices(self) -> set[torch.device]:
        """The devices of all parameters and buffers."""
        return {tensor.device for tensor in (*self._module.parameters(), *self._module.buffers())}

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
            {*super().__dir__(), *children_of(self._module), *self._tree.aliases.on(self._module), *dir(self._module)}
        )

    def __repr__(self) -> str:
        """The tree, as torch prints it, with aliases and named values."""
        return listing(self)


def _warn_of_hidden(path: str, module: nn.Module, reserved: frozenset[str]) -> None:
    """Say where the children of a module are whose names are those of values."""
    for name in reserved.intersection(children_of(module)):
        warnings.warn(
            f"the envoy of {path} already serves a value called {name!r}, so its module of that name is reached as "
            f"`{path}.E_{name}`.",
            stacklevel=5,
        )


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
