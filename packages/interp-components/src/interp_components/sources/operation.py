"""One operation of a forward, from `attn.source.nn_functional_softmax_0.output` in a block.

An operation has what a module has: `output`, `input`, `inputs`, `skip`, each to be read, assigned and edited in place.
The input of an assignment, and of a `return`, is the value that is bound or returned.

An operation may fire more than once in a run: in a loop, in a module that is called again, at every step of a
generation. A request asks for the next firing, or in a loop over `tracer.iter` for that of the step; `operation[2]` is
the third firing since the run began, and `for firing in operation` waits for one after the other until the model is
done.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from types import FunctionType
from typing import TYPE_CHECKING, Any, Literal

from torch import nn

from interp_components.errors import InterpError, OutsideTraceError, SourceNotAvailable
from interp_components.interleaving import End, Location, Node, Run, Worker, current
from interp_components.sources.listing import Kind, Listed
from interp_components.sources.margin import one_line
from interp_components.sources.slots import Slots, is_lasting

if TYPE_CHECKING:
    from interp_components.sources.source import DrilledSource, Source


def gone(path: str) -> InterpError:
    """Return the error for what outlived the tree that it belongs to."""
    return InterpError(
        f"the model that {path} belongs to is gone: operations do not keep it alive. Keep the model in a name."
    )


class Passing(Location):
    """A place of an operation: its guard reports there."""

    __slots__ = ("_end", "_name", "_source")

    def __init__(self, source: Source, name: str, end: Literal["input", "output", "fn"]) -> None:
        super().__init__(f"{source.path}.{name}.{end}")
        self._source = weakref.ref(source)
        self._name = name
        self._end = end

    def attach(self, run: Run) -> None:
        """Fill the operation's slot, in the forward that this run guards."""
        source, place = self._source(), run.places[self]
        if source is None:
            raise gone(self.path)
        guard = source.guard(run, self._name)
        if self._end == "output":
            guard.outputs += [place]
            passed = guard.ended
        elif self._end == "input":
            guard.inputs += [place]
            passed = guard.begun
        else:
            guard.callees += [place]
            passed = guard.called
        if guard.is_counted:
            place.count, place.is_counted = passed, True


class _Ends:
    """What a block reads and edits, of an operation or of one firing of it."""

    path: str
    _input: Passing
    _output: Passing
    _firing: int | None = None

    def _arguments(self) -> Any:
        worker = current(self._input.path)
        if self._firing is None:
            return worker.read(self._input)
        with worker.pinned(self._firing):
            return worker.read(self._input)

    def _replace(self, location: Passing, value: Any) -> None:
        worker = current(location.path)
        if self._firing is None:
            worker.replace(location, value)
        else:
            with worker.pinned(self._firing):
                worker.replace(location, value)

    @property
    def output(self) -> Any:
        """What the operation gives. Assign to let the forward go on with something else."""
        worker = current(self._output.path)
        if self._firing is None:
            return worker.read(self._output)
        with worker.pinned(self._firing):
            return worker.read(self._output)

    @output.setter
    def output(self, value: Any) -> None:
        self._replace(self._output, value)

    @property
    def inputs(self) -> Any:
        """The pair `(args, kwargs)` of the call; `((value,), {})` of an assignment."""
        return self._arguments()

    @inputs.setter
    def inputs(self, value: Any) -> None:
        if not (isinstance(value, tuple) and [type(part) for part in value] == [tuple, dict]):
            raise InterpError(
                f"{self.path}.inputs was assigned {value!r}; it takes the pair of a call's arguments, "
                f"`((positional, ...), {{keyword: ...}})`. To replace the first argument alone, assign `.input`."
            )
        self._replace(self._input, value)

    @property
    def input(self) -> Any:
        """The first argument of the call, positional or else by keyword; assign to replace it alone."""
        args, kwargs = self._arguments()
        if not args and not kwargs:
            raise InterpError(f"{self.path} is called without arguments, so it has no `.input`")
        return args[0] if args else next(iter(kwargs.values()))

    @input.setter
    def input(self, value: Any) -> None:
        args, kwargs = self._arguments()
        if args:
            replaced = (value, *args[1:]), kwargs
        elif kwargs:
            replaced = args, {**kwargs, next(iter(kwargs)): value}
        else:
            raise InterpError(f"{self.path} is called without arguments, so it has no `.input` to replace")
        self._replace(self._input, replaced)

    def skip(self, value: Any) -> None:
        """Do not run the operation; the forward goes on with `value` as what it gave."""
        worker = current(f"{self.path}.skip")
        if self._firing is None:
            worker.skip(self._input, value)
        else:
            with worker.pinned(self._firing):
                worker.skip(self._input, value)


class Firing(_Ends):
    """One firing of an operation, `operation[2]`."""

    def __init__(self, operation: Operation, firing: int) -> None:
        self.path = operation.path
        self._input = operation._input
        self._output = operation._output
        self._firing = firing

    def __repr__(self) -> str:
        """Path and number."""
        return f"{self.path}[{self._firing}]"


class Operation(_Ends):
    """One call, assignment or `return` of a forward.

    Attributes:
        name: its label.
        line: the line of the file it stands in.
        path: the source's path and the label.
        is_call: whether it is a call, and no assignment or `return`.
    """

    def __init__(self, parent: Source, listed: Listed) -> None:
        self._parent = weakref.ref(parent)  # a model that is let go of is gone at once, without a garbage collection
        self.name = listed.name
        self.line = listed.line
        self.path = f"{parent.path}.{listed.name}"
        self.is_call = listed.kind is Kind.CALL
        self._listed = listed
        self._input = Passing(parent, listed.name, "input")
        self._output = Passing(parent, listed.name, "output")
        self._callee = Passing(parent, listed.name, "fn")
        self._drilled: DrilledSource | None = None

    @property
    def parent(self) -> Source:
        """The source it is an operation of."""
        source = self._parent()
        if source is None:
            raise gone(self.path)
        return source

    @property
    def root(self) -> Node:
        """The envoy at the top of the tree."""
        return self.parent.root

    def location(self, end: End) -> Location:
        """The place before or after the operation."""
        return self._output if end == "output" else self._input

    def get(self, name: str) -> Node:
        """What the operation calls, as `source`; an operation has nothing else below it.

        Raises:
            AttributeError: another name.
        """
        first, _, rest = name.partition(".")
        if first != "source":
            raise AttributeError(f"{self.path!r} has no {first!r}; what is inside the call is under `source`")
        return self.source.get(rest) if rest else self.source

    @property
    def source(self) -> DrilledSource:
        """The operations of what this one calls: of the function that it is about to call in this run.

        The block waits for the call, unless the call was drilled in this run already; all blocks of a run share the
        drilled function. At later firings it is guarded again when the operation calls the same function.

        Raises:
            SourceNotAvailable: Outside of a trace, or the operation is no call of a Python function.
        """
        if not self.is_call:
            raise SourceNotAvailable(f"{self.path} is {self._listed.kind.value}, and only a call has operations inside")
        try:
            worker = current(f"{self.path}.source")
        except OutsideTraceError as error:
            raise SourceNotAvailable(
                f"{self.path}.source is there only while the model runs, since what the call runs is known when it is "
                f"called. Ask for it inside a trace, `with model.trace(...):`; `print` shows it there."
            ) from error
        slots = self._drill(worker)
        drilled = self._drilled
        if drilled is None or drilled.found is not slots.labelled:
            drilled = self._drilled = self.parent.drilled(self, slots.labelled)
            if is_lasting(slots.target):
                slots.home = drilled  # kept from run to run
        drilled.slots = slots
        return drilled

    def _drill(self, worker: Worker) -> Slots:
        """Return the slots of what the operation calls, waiting for the call when this run has not drilled it yet."""
        guard = self.parent.guard(worker.run, self.name)
        if guard.below is not None:
            return guard.below
        visiting = worker.run.visiting
        if visiting not in guard.inputs or worker.step not in (None, visiting.count):
            worker.look(self._callee)
        if type(guard.callee) is not FunctionType and isinstance(guard.callee, nn.Module):
            raise SourceNotAvailable(
                f"{self.path} calls a submodule, {type(guard.callee).__name__}; ask that module for its `source` instead"
            )
        try:
            return guard.drill(self._drilled)
        except SourceNotAvailable as error:
            raise SourceNotAvailable(f"{self.path}.source cannot be had: {error}") from None

    def __reduce__(self) -> Any:
        """Found again under its source."""
        return getattr, (self.parent, self.name)

    def __getitem__(self, firing: int) -> Firing:
        """One firing, counted from 0 since the run began."""
        if firing < 0:
            raise IndexError(f"{self.path}[{firing}]: firings are counted from the front, the last is not known yet")
        return Firing(self, firing)

    def __iter__(self) -> Iterator[Firing]:
        """Wait for one firing after the other, until the model is done."""
        worker = current(f"iteration over {self.path}")
        firing = 0
        while worker.wait((self._input, firing)):
            yield Firing(self, firing)
            firing += 1

    def __repr__(self) -> str:
        """Path, what it is, and the line that it stands in."""
        return f"{self.path}: {self._listed.kind.value} at {one_line(self.parent.labelled, self._listed)}"
