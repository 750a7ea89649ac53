"""What the statements of a block bind, save and may not do, found in one walk.

    with Tracer():
        total, n = save(measure())      # binds `total` and `n`, both by a save
        hidden = layer.output.save()    # becomes `hidden = <save>(layer.output)`, so every type can be saved
        return total                    # refused: there is no function left to return from

The walk follows Python's scopes: what a nested function, class or comprehension does inside is its own affair, except that
a walrus in a comprehension binds here. It rewrites the tree in place, because a node is only worth one look.
"""

from __future__ import annotations

import ast
import enum
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tracer_core import errors
from tracer_core.saves import is_save, is_save_method, turn_into_function, unpacking
from tracer_core.site import SAVE, Position
from tracer_core.versions import V311

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)


class _Level(enum.IntEnum):
    """Where a node is, seen from the block: in it, in a comprehension of it, in a function or class inside it."""

    BLOCK = 0
    COMPREHENSION = 1
    NESTED = 2


class Survey:
    """The findings about one block; names are as the code spells them, private ones (`__x`) already made so."""

    def __init__(
        self,
        filename: str,
        lines: Sequence[str],
        *,
        private: str | None,
        is_async: bool,
        keeps_annotations: bool,
        spellings: Iterable[str] = (),
    ) -> None:
        self.bound: set[str] = set()
        self.bound_inside: set[str] = set()
        self.declared_global: set[str] = set()
        self.saved_names: set[str] = set()
        self.uses_super = False
        self.rewritten: set[Position] = set()
        self.dropped: list[tuple[tuple[int, int], tuple[int, int]]] = []
        self._filename = filename
        self._lines = lines
        self._private = private
        self._is_async = is_async
        self._keeps_annotations = keeps_annotations
        self._spellings = {"save", SAVE, *spellings}

    def block(self, statements: list[ast.stmt]) -> None:
        """Look at `statements`, the block, and rewrite them."""
        self._statements(statements, _Level.BLOCK, False)

    def mangled(self, name: str) -> str:
        """Return `name` as the class around the block spells it."""
        if self._private is None or not name.startswith("__") or name.endswith("__"):
            return name
        owner = self._private.lstrip("_")
        return f"_{owner}{name}" if owner else name

    # Statements

    def _statements(self, statements: list[ast.stmt], level: _Level, in_loop: bool) -> None:
        index = 0
        while index < len(statements):
            statement = statements[index]
            if level is _Level.BLOCK:
                replacement = self._assignment(statement)
                if replacement is not None:
                    statements[index : index + 1] = replacement
                    index += len(replacement) - 1
                    for made in replacement:
                        self._visit(made, level, in_loop)
                    index += 1
                    continue
            self._visit(statement, level, in_loop)
            index += 1

    def _assignment(self, statement: ast.stmt) -> list[ast.stmt] | None:
        """Return what takes the place of an assignment, or None if it stays."""
        replacement: list[ast.stmt] | None = None
        if (
            isinstance(statement, ast.AnnAssign)
            and isinstance(statement.target, ast.Name)
            and not self._keeps_annotations
        ):
            self.dropped.append(((statement.lineno, statement.col_offset), _end(statement)))
            # A variable of a function has no annotation at run time, and one that is a cell must not be given any.
            if statement.value is None:
                return [ast.copy_location(ast.Pass(), statement)]
            assign = ast.Assign(targets=[statement.target], value=statement.value)
            statement = ast.copy_location(assign, statement)
            replacement = [statement]
        if isinstance(statement, ast.Assign) and self._saves(statement.targets, statement.value):
            self._rewrites(statement)
            return unpacking(statement, self.mangled)
        return replacement

    def _saves(self, targets: Iterable[ast.expr], value: ast.expr) -> bool:
        """Note the names that `targets = value` binds by a save; return whether some are unpacked from a saved value."""
        unpacks = False
        for target in targets:
            if isinstance(target, ast.Tuple | ast.List):
                if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts):
                    for part, single in zip(target.elts, value.elts, strict=True):
                        self._saves([part], single)
                elif is_save(value, self._spellings):
                    unpacks = True
            elif isinstance(target, ast.Name) and is_save(value, self._spellings):
                self.saved_names.add(self.mangled(target.id))
        return unpacks

    def _rewrites(self, node: ast.expr | ast.stmt) -> None:
        """Note that what stands at `node` is done another way."""
        if V311:
            self.rewritten.add((node.lineno, node.end_lineno, node.col_offset, node.end_col_offset))
        else:
            self.rewritten.update((line, line, None, None) for line in range(node.lineno, _end(node)[0] + 1))

    # Nodes

    def _visit(self, node: ast.AST, level: _Level, in_loop: bool) -> None:
        handler = _HANDLERS.get(type(node))
        if handler is None:
            self._children(node, level, in_loop)
        else:
            handler(self, node, level, in_loop)

    def _children(self, node: ast.AST, level: _Level, in_loop: bool) -> None:
        for field in node._fields:
            self._field(getattr(node, field, None), level, in_loop)

    def _field(self, value: Any, level: _Level, in_loop: bool) -> None:
        if isinstance(value, list):
            if value and isinstance(value[0], ast.stmt):
                self._statements(value, level, in_loop)
            else:
                for entry in value:
                    if isinstance(entry, ast.AST):
                        self._visit(entry, level, in_loop)
        elif isinstance(value, ast.AST):
            self._visit(value, level, in_loop)

    def _bind(self, name: str, level: _Level) -> None:
        if level is _Level.BLOCK:
            self.bound.add(self.mangled(name))

    def _name(self, node: ast.Name, level: _Level, in_loop: bool) -> None:
        if isinstance(node.ctx, ast.Load):
            if node.id in {"super", "__class__"}:
                self.uses_super = True
        elif not node.id.startswith("."):
            self._bind(node.id, level)

    def _constant(self, node: ast.Constant, level: _Level, in_loop: bool) -> None:
        """Constants bind nothing."""

    def _call(self, node: ast.Call, level: _Level, in_loop: bool) -> None:
        function = node.func
        if isinstance(function, ast.Name) and function.id == "super" and not node.args:
            # Its implicit arguments are read at its own place.
            self._rewrites(node)
            self._rewrites(function)
        if is_save_method(node):
            self._rewrites(function)
            turn_into_function(node)
        if is_save(node, self._spellings) and node.args and isinstance(node.args[0], ast.Name):
            self.saved_names.add(self.mangled(node.args[0].id))
        self._children(node, level, in_loop)

    def _walrus(self, node: ast.NamedExpr, level: _Level, in_loop: bool) -> None:
        if level is not _Level.NESTED:
            self.bound.add(self.mangled(node.target.id))
            self._saves([node.target], node.value)
        self._visit(node.value, level, in_loop)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, level: _Level, in_loop: bool) -> None:
        self._bind(node.name, level)
        for field in ("decorator_list", "args", "returns"):
            self._field(getattr(node, field), level, in_loop)
        self._field(getattr(node, "type_params", None), _Level.NESTED, False)
        self._statements(node.body, _Level.NESTED, False)

    def _lambda(self, node: ast.Lambda, level: _Level, in_loop: bool) -> None:
        self._visit(node.args, level, in_loop)
        self._visit(node.body, _Level.NESTED, False)

    def _class(self, node: ast.ClassDef, level: _Level, in_loop: bool) -> None:
        self._bind(node.name, level)
        for field in ("decorator_list", "bases", "keywords"):
            self._field(getattr(node, field), level, in_loop)
        self._field(getattr(node, "type_params", None), _Level.NESTED, False)
        self._statements(node.body, _Level.NESTED, False)

    def _comprehension(self, node: Any, level: _Level, in_loop: bool) -> None:
        inner = max(level, _Level.COMPREHENSION)
        first, *rest = node.generators
        self._visit(first.iter, level, in_loop)
        if any(part.is_async for part in node.generators) and not isinstance(node, ast.GeneratorExp):
            self._needs_async(node, level, "an asynchronous comprehension")
        self._visit(first.target, inner, in_loop)
        self._field(first.ifs, inner, in_loop)
        for part in rest:
            self._children(part, inner, in_loop)
        for field in ("elt", "key", "value"):
            self._field(getattr(node, field, None), inner, in_loop)

    def _import(self, node: ast.Import | ast.ImportFrom, level: _Level, in_loop: bool) -> None:
        for alias in node.names:
            if alias.name == "*":
                self._refuse(node, level, "`from ... import *` in a traced block: its names cannot be known beforehand")
            else:
                self._bind(alias.asname or alias.name.partition(".")[0], level)
                if alias.name == "save" and alias.asname:
                    self._spellings.add(alias.asname)

    def _handler(self, node: ast.ExceptHandler, level: _Level, in_loop: bool) -> None:
        if node.name:
            self._bind(node.name, level)
        self._children(node, level, in_loop)

    def _capture_pattern(self, node: ast.MatchAs | ast.MatchStar, level: _Level, in_loop: bool) -> None:
        if node.name:
            self._bind(node.name, level)
        self._children(node, level, in_loop)

    def _mapping_pattern(self, node: ast.MatchMapping, level: _Level, in_loop: bool) -> None:
        if node.rest:
            self._bind(node.rest, level)
        self._children(node, level, in_loop)

    def _global(self, node: ast.Global, level: _Level, in_loop: bool) -> None:
        if level is _Level.BLOCK:
            self.declared_global.update(map(self.mangled, node.names))

    def _nonlocal(self, node: ast.Nonlocal, level: _Level, in_loop: bool) -> None:
        """A function in the block binds names of a function around it; of which one, the caller's variables tell."""
        if level is _Level.NESTED:
            self.bound_inside.update(map(self.mangled, node.names))

    # What a block may not do

    def _return(self, node: ast.AST, level: _Level, in_loop: bool) -> None:
        self._refuse(node, level, "`return` in a traced block: the block runs apart from its function; return after it")
        self._children(node, level, in_loop)

    def _yield(self, node: ast.AST, level: _Level, in_loop: bool) -> None:
        self._refuse(node, level, "`yield` in a traced block: the block runs apart from its function; yield after it")
        self._children(node, level, in_loop)

    def _await(self, node: ast.AST, level: _Level, in_loop: bool) -> None:
        names = {ast.Await: "`await`", ast.AsyncFor: "`async for`", ast.AsyncWith: "`async with`"}
        self._needs_async(node, level, names[type(node)])
        if isinstance(node, ast.AsyncFor):
            self._loop(node, level, in_loop)
        else:
            self._children(node, level, in_loop)

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While, level: _Level, in_loop: bool) -> None:
        for field in node._fields:
            self._field(getattr(node, field, None), level, in_loop or field == "body")

    def _break(self, node: ast.AST, level: _Level, in_loop: bool) -> None:
        word = "break" if isinstance(node, ast.Break) else "continue"
        if not in_loop:
            self._refuse(node, level, f"`{word}` of a loop around a traced block: the block runs apart from the loop")

    def _needs_async(self, node: ast.AST, level: _Level, what: str) -> None:
        if not self._is_async:
            self._refuse(node, level, f"{what} in a traced block: only a block of `async with` can wait")

    def _refuse(self, node: Any, level: _Level, what: str) -> None:
        if level is _Level.NESTED:
            return
        line = node.lineno
        text = self._lines[line - 1] if line <= len(self._lines) else None
        position = (line, node.col_offset, node.end_lineno, node.end_col_offset)
        raise errors.unsupported(what, self._filename, position, text)


_Handler = Callable[[Survey, Any, _Level, bool], None]
_HANDLERS: dict[type[ast.AST], _Handler] = {
    ast.Name: Survey._name,
    ast.Constant: Survey._constant,
    ast.Call: Survey._call,
    ast.NamedExpr: Survey._walrus,
    ast.FunctionDef: Survey._function,
    ast.AsyncFunctionDef: Survey._function,
    ast.Lambda: Survey._lambda,
    ast.ClassDef: Survey._class,
    ast.ListComp: Survey._comprehension,
    ast.SetComp: Survey._comprehension,
    ast.DictComp: Survey._comprehension,
    ast.GeneratorExp: Survey._comprehension,
    ast.Import: Survey._import,
    ast.ImportFrom: Survey._import,
    ast.ExceptHandler: Survey._handler,
    ast.MatchAs: Survey._capture_pattern,
    ast.MatchStar: Survey._capture_pattern,
    ast.MatchMapping: Survey._mapping_pattern,
    ast.Global: Survey._global,
    ast.Nonlocal: Survey._nonlocal,
    ast.Return: Survey._return,
    ast.Yield: Survey._yield,
    ast.YieldFrom: Survey._yield,
    ast.Await: Survey._await,
    ast.AsyncFor: Survey._await,
    ast.AsyncWith: Survey._await,
    ast.For: Survey._loop,
    ast.While: Survey._loop,
    ast.Break: Survey._break,
    ast.Continue: Survey._break,
}


def _end(node: ast.expr | ast.stmt) -> tuple[int, int]:
    return node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
