"""A captured block: code of its own, on the caller's names, to be run whenever and as often as wanted."""

from __future__ import annotations

import builtins
import threading
import weakref
from collections.abc import Callable, Mapping
from types import CellType, CodeType, FrameType, FunctionType, MappingProxyType
from typing import TYPE_CHECKING, Any

from tracer_core import errors, frames, saving, scope
from tracer_core.results import Saved
from tracer_core.site import FIRST, VALUE, Body, Kind, Site

if TYPE_CHECKING:
    from tracer_core.recipe import Apart, Recipe

_UNBOUND = CellType()


class Block:
    """The body of one `with` statement, captured from one frame.

    `run` may be called never, once or often, from any thread or greenlet; it works on the block's own cells, so it needs
    the caller's frame no more once `open` has read it.
    """

    site: Site
    frame: FrameType | None
    """The caller's frame, until the block has been handed over."""
    _globals: dict[str, Any]
    _values: dict[str, Any] | None = None
    """The names of the caller that `open` has found bound, until there are cells."""
    _cells: dict[str, CellType] | None = None
    _function: Callable[..., Any] | None
    _shared: Mapping[str, CellType] = MappingProxyType({})
    """The cells of the block around it."""
    _namespace: dict[str, Any]
    _first: Any = None
    _tracer: weakref.ref[Any] | None = None
    """The tracer, where the block reads it by its name and has been closed."""

    def open(self, target: Any = None) -> None:
        """Read the caller's names, as they are now; where Python has left before it, store `target` in the `as` target first."""
        frame, site = self.frame, self.site
        assert frame is not None
        self._function = None
        if site.binding is not None:
            self._store_target(frame, site.binding, target)
        around = enclosing(frame) if site.is_nested else None
        if around is not None:
            self._shared = around.cells
        names = frame.f_locals
        if site.is_plain and around is None:
            values: dict[str, Any] = {}
            self._cells, self._values = None, values
            for name in site.names:
                if name in names:
                    values[name] = names[name]
            return
        self._cells = scope.cells(site.names, frame, self._shared)
        if site.body.kind is Kind.NAMESPACE:
            if names is frame.f_globals:
                self._namespace = self._globals = scope.ModuleNames(frame.f_globals, site.body.writes)
            else:
                self._namespace = dict(names)
        if site.body.takes_first:
            self._first = names.get(frame.f_code.co_varnames[0])

    @property
    def cells(self) -> dict[str, CellType]:
        """The variables of the block that are not its own alone, in the order of its code's free variables."""
        if self._cells is None and self._values is None:
            self.open()
        if self._cells is None:
            with _making:
                if self._cells is None:
                    self._cells = scope.filled(self.site.names, self._values or {})
                    self._values = {}  # what the block binds anew does not live on here
        return self._cells

    def run(self) -> Any:
        """Run the block once and let out what it raises; for a block of `async with`, return its coroutine.

        Nothing is written back.
        """
        function = self._function or self._made()
        if self.site.is_plain:
            return function()
        body = self.site.body
        if body.is_async:
            return self._wait(function)
        if body.kind is Kind.NAMESPACE:
            return scope.run_in(function, self._namespace)
        return function(self._first)

    def _made(self) -> Callable[..., Any]:
        """Return the function of the block, made at its first run or after `close`."""
        cells = self.cells
        if self._tracer is not None and self.site.own_name is not None:
            cells[self.site.own_name] = CellType(self._tracer())
        self._function = FunctionType(self.code, self._globals, None, None, tuple(cells.values()))
        return self._function

    async def _wait(self, function: Callable[..., Any]) -> Any:
        """Run the block of an `async with`, from a frame in which `enclosing` finds it."""
        return await (function(self._first) if self.site.body.takes_first else function())

    def replace_code(self, code: CodeType) -> None:
        """Run `code`, which has the same free variables, from now on."""
        cells = tuple(self.cells[name] for name in code.co_freevars)
        self._function = FunctionType(code, self._globals, None, None, cells)

    def _store_target(self, frame: FrameType, binding: Body, value: Any) -> None:
        """Do in `frame` the store of the `as` target."""
        around = enclosing(frame)
        shared = {VALUE: CellType(value), **({} if around is None else around.cells)}
        cells = scope.cells(binding.code.co_freevars, frame, shared)
        function = FunctionType(binding.code, self._globals, None, None, tuple(cells.values()))
        if binding.kind is Kind.NAMESPACE:
            namespace = dict(frame.f_locals)  # that of a class gets names of its own
            scope.run_in(function, namespace)
            bound = {name: namespace[name] for name in binding.writes}
        else:
            function(frame.f_locals[frame.f_code.co_varnames[0]]) if binding.takes_first else function()
            bound = {name: cells[name].cell_contents for name in binding.writes if name not in shared}
        frames.write_locals(frame, bound)

    def bound(self) -> dict[str, Any]:
        """Return the names that the block binds and that are bound now, with their values."""
        body = self.site.body
        if body.kind is Kind.NAMESPACE:
            namespace = self._namespace
            return {name: namespace[name] for name in body.writes if name in namespace}
        cells = self.cells
        return {name: cells[name].cell_contents for name in body.writes if cells[name] != _UNBOUND}

    def saved(self) -> dict[str, Any]:
        """Return what the running trace hands back of the names that the block has bound so far."""
        running = saving.current()
        names = self.bound().items()
        saved_names = self.site.body.saved_names
        return {name: value for name, value in names if running and running.returns(name, value, saved_names)}

    def take(self, saved: Saved) -> None:
        """Bind the names that the block saved elsewhere, as if it had run here."""
        running = saving.current()
        if running is not None:
            running.marks.update(saved)
        if self.site.body.kind is Kind.NAMESPACE:
            self._namespace.update(saved)
        else:
            for name, value in saved:
                self.cells[name].cell_contents = value

    def values(self) -> dict[str, Any]:
        """Return what the names that the block reads are bound to now; a name that is not bound is left out."""
        found: dict[str, Any] = {}
        namespace = self._namespace if self.site.body.kind is Kind.NAMESPACE else {}
        for name in self.recipe.needs():
            cell = self.cells.get(name)
            if cell is not None and cell != _UNBOUND:
                found[name] = cell.cell_contents
            elif name in namespace:
                found[name] = namespace[name]
            elif name == FIRST and self.site.body.takes_first:
                found[name] = self._first
            elif name in self._globals:
                found[name] = self._globals[name]
        return found

    def outer_values(self) -> dict[str, Any]:
        """Return what the names of the block around it that this block only reads are bound to now."""
        names = self._shared.keys() & self.cells.keys() - set(self.site.body.writes)
        return {name: self.cells[name].cell_contents for name in names if self.cells[name] != _UNBOUND}

    def hold(self, cells: Mapping[str, CellType]) -> None:
        """Have these names in cells of its own from now on, whatever becomes of them in the block around it."""
        self._cells = {name: cells.get(name, cell) for name, cell in self.cells.items()}
        self._function = None

    def apart(self, values: Mapping[str, Any]) -> Apart:
        """Return a run of the block on cells of its own that hold `values`."""
        return self.recipe.apart(values, self._globals)

    def __call__(self, /, **names: Any) -> Saved:
        """Run the block with other values for some of the names it reads, and return the names it saved.

        Neither the caller's names nor those of the block itself change, so any number of threads may call. A name not
        given has the value it has in the block: what the caller had, or what a run has bound since.

        Raises:
            TypeError: The block does not read one of `names`.
            SourceNotAvailable: The block was taken from bytecode, and only text can be compiled again.
        """
        self.recipe.check(names, self.reads)
        run = self.apart({**self.values(), **names})
        run.run()
        return Saved(**run.saved())

    @property
    def recipe(self) -> Recipe:
        """The block as text.

        Raises:
            SourceNotAvailable: The block was taken from bytecode.
        """
        if self.site.recipe is None:
            raise errors.no_source(
                self.code,
                self.first_line,
                "only its bytecode, which runs here, but neither elsewhere nor with other values",
            )
        return self.site.recipe

    @property
    def reads(self) -> tuple[str, ...]:
        """The names that the block needs from its caller, in the order in which it meets them; builtins are left out."""
        values = self.values()
        return tuple(
            name
            for name in self.recipe.needs()
            if name not in {FIRST, "__class__"} and (name in values or not hasattr(builtins, name))
        )

    @property
    def module(self) -> str:
        """The name of the module that the block is written in."""
        return str(self._globals.get("__name__"))

    @property
    def is_async(self) -> bool:
        """Whether the block belongs to an `async with`, so that running it makes a coroutine."""
        return self.site.body.is_async

    @property
    def source_text(self) -> str:
        """The text of the `with` statement, as it stands in its file."""
        return self.recipe.text

    @property
    def filename(self) -> str:
        """The file that the block is written in."""
        return self.code.co_filename

    @property
    def first_line(self) -> int:
        """The line, 1-based, of the first statement of the block."""
        return self.site.first_line

    def write_back(self) -> None:
        """Bind in the caller's frame what is to be handed back; the names of a block around it are bound already."""
        body = self.site.body
        if self.frame is None or not body.writes:
            return
        if body.kind is Kind.NAMESPACE and "__classcell__" in self._namespace:
            self.frame.f_locals[scope.ClassCell.NAME] = scope.ClassCell(self._namespace["__classcell__"])
        if saving.nothing_is_saved():
            return
        names, writes = self.bound(), body.writes
        if self._shared or self.site.unread:
            passed_over = self._shared.keys() | self.site.unread
            names = {name: value for name, value in names.items() if name not in passed_over}
            writes = tuple(name for name in writes if name not in passed_over)
        scope.push_result(self.frame, names, body.saved_names, writes)

    def release(self) -> None:
        """Let go of all values: the block can still be looked at, and not be run any more."""
        self._cells, self._values, self._shared, self._function = {}, {}, {}, None
        self._first, self._namespace = None, {}

    def close(self, tracer: object) -> None:
        """Let go of the caller's frame; and of `tracer`, which holds the block, where the block reads it by its name."""
        self.frame = None
        name = self.site.own_name
        # `as (tracer, other)` ends with another value.
        if name is not None and self.cells.get(name) == CellType(tracer):
            self.cells[name] = CellType()
            self._function = None
            self._tracer = weakref.ref(tracer)

    @property
    def writes(self) -> tuple[str, ...]:
        """The names that the block binds for its caller, sorted."""
        return self.site.body.writes

    @property
    def code(self) -> CodeType:
        """The code of the block."""
        return self.site.body.code


# Held while a block makes its cells, which threads that run it at once share.
_making = threading.Lock()
_RUNNERS = frozenset({Block.run.__code__, Block._wait.__code__})


def captured(site: Site, frame: FrameType) -> Block:
    """Return the block of `site` in `frame`; not an `__init__`, which would double the cost."""
    block = Block()
    block.site, block.frame, block._globals, block._function = site, frame, frame.f_globals, None
    return block


def enclosing(frame: FrameType) -> Block | None:
    """Return the block whose body `frame` is running, or None: the frame that called it is that of its `run`."""
    caller = frame.f_back
    if caller is not None and caller.f_code in _RUNNERS:
        block: Block = caller.f_locals["self"]
        if block.code is frame.f_code:
            return block
    return None
