"""Which of the caller's names a block needs: those it may read before it binds them itself.

    with Tracer() as tracer:
        page = fetch(url)
        text = save(page.decode())

needs `fetch`, `url` and `save`, not `page`: `tracer.reads`.  They are what travels when the block goes elsewhere, so a
name too few would be an error there, and a name too many is a value sent for nothing.  Where the order is not plain
(loops, `try`, nested functions that run later) a name counts as needed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TypeAlias

_Names: TypeAlias = "frozenset[str]"
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_SCOPES = (*_FUNCTIONS, *_COMPREHENSIONS, ast.ClassDef)


def needed(block: Sequence[ast.stmt], private: str | None) -> list[str]:
    """Return the names that `block` may read before it binds them, in the order in which it meets them.

    `private` is the class around the block, as which names like `__x` are meant.
    """
    needs = _Needs()
    needs.statements(block, frozenset())
    return [_mangled(name, private) for name in needs.found]


def _mangled(name: str, private: str | None) -> str:
    owner = private.lstrip("_") if private else ""
    return f"_{owner}{name}" if owner and name.startswith("__") and not name.endswith("__") else name


class _Needs:
    """One walk over a block; `bound` is always what is surely bound by the block itself at that point."""

    def __init__(self) -> None:
        self.found: dict[str, None] = {}

    def statements(self, block: Sequence[ast.stmt], bound: _Names) -> _Names:
        """Walk statements in order and return what is bound after them."""
        for statement in block:
            bound = self.statement(statement, bound)
        return bound

    def statement(self, node: ast.stmt, bound: _Names) -> _Names:
        """Walk one statement and return what is bound after it."""
        if isinstance(node, ast.If):
            self.expression(node.test, bound)
            return self.statements(node.body, bound) & self.statements(node.orelse, bound)
        if isinstance(node, (ast.With, ast.AsyncWith)):
            # A manager may swallow what its body raises, so what the body binds is not sure afterwards.
            for item in node.items:
                self.expression(item, bound)
                bound |= _stored(item)
            self.statements(node.body, bound)
            return bound
        if isinstance(node, (ast.For, ast.AsyncFor)):
            self.expression(node.iter, bound)
            self.expression(node.target, bound)
            self.statements(node.body, bound | _stored(node.target))
            self.statements(node.orelse, bound)
            return bound
        if any(isinstance(getattr(node, field, None), list) for field in ("handlers", "cases", "orelse")):
            self.branches(node, bound)
            return bound
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            self.need(node.target.id, bound)
        self.expression(node, bound)
        if isinstance(node, ast.Delete):
            return bound - {target.id for target in node.targets if isinstance(target, ast.Name)}
        return bound | _bound_by(node)

    def branches(self, node: ast.AST, bound: _Names) -> None:
        """Walk the parts of a `try`, `while` or `match`, each as if it came first."""
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.ExceptHandler, ast.match_case)):
                self.branches(child, bound)
            elif not isinstance(child, ast.stmt):
                self.expression(child, bound)
        for field in ("body", "orelse", "finalbody"):
            self.statements(getattr(node, field, ()), bound)

    def expression(self, node: ast.AST, bound: _Names) -> None:
        """Walk everything below `node` that holds no statements of the block itself."""
        if isinstance(node, ast.Name):
            if not isinstance(node.ctx, ast.Store):
                self.need(node.id, bound)
        elif isinstance(node, _FUNCTIONS):
            self.function(node, bound)
        elif isinstance(node, _COMPREHENSIONS):
            self.comprehension(node, bound)
        else:
            for child in ast.iter_child_nodes(node):
                self.expression(child, bound)

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, bound: _Names) -> None:
        """Walk a nested function: its own variables are no names of the caller."""
        body = node.body if isinstance(node.body, list) else [node.body]
        for child in ast.iter_child_nodes(node):
            if child not in body:
                self.expression(child, bound)
        for child in body:
            self.expression(child, bound | _variables(node))

    def comprehension(self, node: ast.expr, bound: _Names) -> None:
        """Walk a comprehension: what its `for` parts bind is its own."""
        own = bound
        for child in ast.walk(node):
            if isinstance(child, ast.comprehension):
                own |= _stored(child.target)
        for child in ast.iter_child_nodes(node):
            self.expression(child, own)
        first: ast.comprehension = node.generators[0]  # type: ignore[attr-defined]  # every comprehension has one
        self.expression(first.iter, bound)

    def need(self, name: str, bound: _Names) -> None:
        """Note `name`, unless the block itself has bound it."""
        if name not in bound:
            self.found[name] = None


def _bound_by(node: ast.stmt) -> _Names:
    """Return the names that a statement without branches binds."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return frozenset({node.name})
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return frozenset(alias.asname or alias.name.partition(".")[0] for alias in node.names)
    if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if node.value else []
        return frozenset().union(*map(_stored, targets))
    return frozenset()


def _stored(node: ast.AST) -> _Names:
    return frozenset(
        child.id for child in ast.walk(node) if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store)
    )


def _variables(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> _Names:
    """Return the parameters and variables of a function."""
    arguments = node.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    names = {argument.arg for argument in every if argument}
    elsewhere: set[str] = set()
    for child in _inside(node):
        if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            names.add(child.id)
        elif isinstance(child, (ast.Global, ast.Nonlocal)):
            elsewhere.update(child.names)
        elif isinstance(child, ast.stmt):
            names |= _bound_by(child)
    return frozenset(names - elsewhere)


def _inside(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what is in the scope of `node` itself, not in the scopes nested in it."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, _SCOPES):
            yield from _inside(child)
