"""The operations of a forward, from `model.transformer.h[0].attn.source`.

`print(module.source)` shows the code with a label beside every operation, in a trace or outside of one. In a block,
`module.source.split_0` is an operation to be read and edited. The first request guards the module's forward for the run
(see `rewrite`), as an instance attribute that goes with the run; every other module runs as it is.

A forward that already runs cannot be guarded any more, so an operation has to be asked for before its module begins. An
envoy that is always asked late (a block's own operations, after something inside the block) is prepared when anything
in it is first asked for: `ModuleOutput.preparations` holds its `source.prepare`.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence
from functools import partial
from types import CodeType, MethodType
from typing import Any

from torch import nn

from interp_components import display
from interp_components.errors import SourceNotAvailable
from interp_components.interleaving import Node, Run, current
from interp_components.sources.forward import forward_of, is_accelerated, is_running, replace_old_forward
from interp_components.sources.labelled import Labelled, label
from interp_components.sources.listing import Listed
from interp_components.sources.margin import with_margin
from interp_components.sources.operation import Operation, gone
from interp_components.sources.parts import candidates
from interp_components.sources.peel import Peeled, behind_gates, peel
from interp_components.sources.slots import Guard, Slots, slots_in

# Run -> the sources whose forwards it guards; an entry goes with its run, on every path. A run belongs to one thread,
# and no thread looks at another's.
_guarded: dict[Run, list[ModuleSource]] = {}


class Source:
    """The operations of one function.

    Attributes:
        path: the parent's path and `source`.
        idle: slots that no run uses now, for the next one.
    """

    idle: Slots | None

    def __init__(self, parent: Node) -> None:
        self.idle = None
        self._parent = weakref.ref(parent)  # what is above holds what is below, and not the other way round
        self.path = f"{parent.path}.source"

    @property
    def labelled(self) -> Labelled:
        """The function's text, labels and guarded code."""
        raise NotImplementedError

    def guard(self, run: Run, name: str) -> Guard:
        """The guard of the operation called `name` in a run, which is asked from now on."""
        raise NotImplementedError

    @property
    def parent(self) -> Node:
        """The envoy, or the operation, whose function it is."""
        parent = self._parent()
        if parent is None:
            raise gone(self.path)
        return parent

    @property
    def root(self) -> Node:
        """The envoy at the top of the tree."""
        return self.parent.root

    @property
    def names(self) -> tuple[str, ...]:
        """The labels of the operations, in order."""
        return tuple(self.labelled.places)

    def get(self, name: str) -> Node:
        """The operation called `name`, or what is below it when the name goes on after a dot.

        Raises:
            AttributeError: There is none; the message lists them.
        """
        first, _, rest = name.partition(".")
        operation: Operation = getattr(self, first)
        return operation.get(rest) if rest else operation

    def playing(self, label: str, is_call: bool) -> Operation:
        """The operation that a key means by `label`; where the label has moved, the only one that can be meant.

        Args:
            label: a label that the forward had when the key was written.
            is_call: whether the key asks for what only a call has.

        Raises:
            AttributeError: There is none, or more than one; the message lists them.
        """
        found: Operation | None = self.__dict__.get(label)
        if found is None and label in self:
            found = getattr(self, label)
        if found is not None and (found.is_call or not is_call):
            return found
        others = candidates(self.labelled.operations, label, is_call)
        if len(others) == 1:
            found = getattr(self, others[0].name)
        if found is None:
            raise AttributeError(self._no_such(label, others))
        return found

    def _no_such(self, name: str, others: Sequence[Listed] = ()) -> str:
        places = self.labelled.places
        which = ", ".join(f"{one.name!r} at line {one.line}" for one in others)
        near = f"; it may be one of {which}" if which else display.suggestion(name, places)
        return f"{self.path!r} has no operation {name!r}{near}; available: {', '.join(places) or '(none)'}"

    def location(self, end: str) -> Any:
        """A source is a way, and no place: it raises."""
        raise SourceNotAvailable(f"{self.path} has no `{end}` of its own; name one of its operations before it")

    def drilled(self, operation: Operation, labelled: Labelled) -> DrilledSource:
        """The source of what an operation calls."""
        return DrilledSource(operation, labelled)

    def __getattr__(self, name: str) -> Operation:
        """The operation called `name`; once found it is a plain attribute."""
        if name.startswith("_") and not name[-1].isdigit():
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        labelled = self.labelled
        place = labelled.places.get(name)
        if place is None:
            raise AttributeError(self._no_such(name))
        operation = self.__dict__[name] = Operation(self, labelled.operations[place])
        return operation

    def __iter__(self) -> Iterator[Operation]:
        """The operations, in order."""
        return iter([getattr(self, name) for name in self.names])

    def __len__(self) -> int:
        """How many operations there are."""
        return len(self.labelled.operations)

    def __bool__(self) -> bool:
        """True, also without operations: a source is there."""
        return True

    def __contains__(self, name: str) -> bool:
        """Whether an operation is called `name`."""
        return name in self.labelled.places

    def __dir__(self) -> list[str]:
        """The labels besides the source's own names."""
        return [*super().__dir__(), *self.names]

    def __repr__(self) -> str:
        """The code with the labels in the margin."""
        return f"{self.path}: {with_margin(self.labelled)}"


class ModuleSource(Source):
    """The operations of a module's forward.

    Args:
        parent: the module's envoy.
        module: the module.
    """

    def __init__(self, parent: Node, module: nn.Module) -> None:
        super().__init__(parent)
        self._module = module
        self._output: Any = parent.location("output")
        self._open: dict[Run, Slots] = {}
        """Run -> the slots it uses, until it is over."""

    @property
    def labelled(self) -> Labelled:
        """The text, labels and guarded code of the module's forward.

        Raises:
            SourceNotAvailable: The forward has no Python source.
        """
        return self._label(self._peel(behind_gates(forward_of(self._module))))

    def _peel(self, forward: Any) -> Peeled:
        try:
            return peel(forward)
        except SourceNotAvailable as error:
            raise self._missing(error) from None

    def _label(self, peeled: Peeled) -> Labelled:
        try:
            return label(peeled.function)
        except SourceNotAvailable as error:
            raise self._missing(error) from None

    def _missing(self, reason: SourceNotAvailable) -> SourceNotAvailable:
        return SourceNotAvailable(f"{self.path} cannot be had: {reason}")

    def guard(self, run: Run, name: str) -> Guard:
        """The guard of an operation in the forward that the run guards."""
        slots = self._open[run] if run in self._open else self._install(run)
        if slots.missed is not None and self._is_too_late(run, slots.missed):
            raise SourceNotAvailable(
                f"{self.path}.{name} was asked for while {self.parent.path} was already running, without labels. "
                f"Ask for an operation of it before anything that is inside of it, or give it an envoy class that says "
                f"`sourced = True`, which labels it before it begins."
            )
        if name in slots.guards:
            return slots.guards[name]
        if name not in slots.labelled.places:
            raise SourceNotAvailable(f"{self.path}.{name}: the module has been given another forward, without {name!r}")
        return slots.fill(run, name)

    def prepare(self, run: Run) -> None:
        """Guard the forward for the calls of this run that begin from now on, so that late requests find it guarded."""
        if run not in self._open:
            self._install(run)

    def _install(self, run: Run) -> Slots:
        """Put the guarded forward behind the module's gate for the run."""
        gate = self._output.gate(run)  # with what is around it: the block may go on to ask for that
        if run in self._open:  # the gate has prepared this source
            return self._open[run]
        if "_hf_hook" in self._module.__dict__ and is_accelerated(self._module):
            slots = self._slots_for(forward_of(self._module))
            replace_old_forward(run, self._module, slots.guarded)
        else:
            slots = self._slots_for(gate.forward)
            gate.forward = slots.guarded
        if run not in _guarded:
            _guarded[run] = []
            run.on_exit(partial(_close, run))
        _guarded[run] += [self]
        self._open[run] = slots
        slots.run = run
        if run.has_started and is_running(run, slots.code, self._module):
            slots.missed = slots.code
        return slots

    def _slots_for(self, forward: Any) -> Slots:
        """Return slots for the forward: those of an earlier run, unless another run uses them or the forward is new."""
        if type(forward) is not MethodType:
            forward = behind_gates(forward)
        is_own = type(forward) is MethodType and forward.__self__ is self._module
        target = forward.__func__ if is_own else forward
        slots, self.idle = self.idle, None
        if slots is not None and slots.target is target:
            slots.home = self
            return slots
        peeled = self._peel(forward)
        return slots_in(peeled.function) or Slots(self._label(peeled), target, peeled, self)

    def close(self, run: Run) -> None:
        """Let go of the run."""
        self._open[run].close()
        del self._open[run]

    def _is_too_late(self, run: Run, missed: CodeType) -> bool:
        """Whether the firing that is asked for belongs to the call that runs without guards."""
        step = current(self.path).step
        return (step is None or step <= run.forwards) and is_running(run, missed, self._module)

    def __reduce__(self) -> Any:
        """Found again on its envoy."""
        return getattr, (self.parent, "source")


class DrilledSource(Source):
    """The operations of what an operation calls, found when it called it.

    Args:
        parent: the operation.
        labelled: what was found.
    """

    def __init__(self, parent: Operation, labelled: Labelled) -> None:
        super().__init__(parent)
        self._operation = weakref.ref(parent)
        self.found = labelled
        self.slots: Slots | None = None
        """The slots of the run that drilled last."""

    @property
    def labelled(self) -> Labelled:
        """The text, labels and guarded code of the function."""
        return self.found

    def guard(self, run: Run, name: str) -> Guard:
        """The guard of an operation in the function, which this run has drilled."""
        below = self.slots
        if below is None or below.run is not run:
            operation = self._operation()
            below = None if operation is None else operation.parent.guard(run, operation.name).below
        if below is None or below.labelled is not self.found:
            raise SourceNotAvailable(
                f"{self.path} was found in another run, and what a call runs may change: write "
                f"`{self.path}.{name}` out in this block, so that this run looks what is called."
            )
        return below.guards[name] if name in below.guards else below.fill(run, name)


def _close(run: Run) -> None:
    for source in _guarded.pop(run):
        source.close(run)
