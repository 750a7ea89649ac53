"""The operations of a function, from `print(model.transformer.h[0].attn.source)`.

The print shows the function's code with a label beside every call, assignment and `return`. A label is what the line
says and how often it said so before: `self.c_attn(x)` is `self_c_attn_0`, the second `y.view(...)` is `y_view_1`. One
counter per name is shared by calls and assignments, so in `y = y.view(2)` the call is `y_view_0` and the binding `y_0`.

The order is that of the syntax tree: a call comes after its arguments, an assignment after its value, a conditional
expression starts with its test. Two things follow the tree and not the clock, since the field's labels do: a
comprehension's element is numbered before its loops, and a dictionary's keys before its values.

Names that no other tool of the field knows are numbered after all others of their name, so they shift nothing:
`return_0`, augmented assignments (`y += 1` is `y_iadd_0`), walrus targets, the targets of a chain (`a = b = v`), and those
that take a value apart which the text does not spell out (`a, b = f()`).

Not operations: zero-argument `super()`, loop and `with` targets, what decides the function's own signature, whatever
stands in a nested class or in an annotation, and targets that name nothing (`make().x = 1`). Those in a signature or a
class are numbered all the same, so that later labels keep their place.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

Definition: TypeAlias = "ast.FunctionDef | ast.AsyncFunctionDef"

UNNAMED_CALL = "call"
RETURN = "return"
_INPLACE = {
    ast.Add: "iadd",
    ast.Sub: "isub",
    ast.Mult: "imul",
    ast.MatMult: "imatmul",
    ast.Div: "itruediv",
    ast.FloorDiv: "ifloordiv",
    ast.Mod: "imod",
    ast.Pow: "ipow",
    ast.LShift: "ilshift",
    ast.RShift: "irshift",
    ast.BitOr: "ior",
    ast.BitXor: "ixor",
    ast.BitAnd: "iand",
}


class Kind(Enum):
    """What an operation is in the text; the value is how an error names it."""

    CALL = "a call"
    ASSIGNMENT = "an assignment"
    AUGMENTED = "an augmented assignment"
    RETURN = "a return"


@dataclass(frozen=True)
class Listed:
    """One operation of a function: its label, what it is, and the line of the file it stands in."""

    name: str
    kind: Kind
    line: int
    sees_receiver: bool
    """Whether its guard sees the receiver of a method call, `receiver.name(...)`, and not what is called."""


@dataclass
class _Found:
    """An operation on the way to its number."""

    base: str
    kind: Kind
    node: ast.AST
    line: int
    late: bool
    """Whether it is numbered after all others of its name."""
    served: bool
    """Whether it is an operation at all, or only takes its number."""


def list_operations(definition: Definition) -> tuple[tuple[Listed, ...], dict[ast.AST, int]]:
    """Return the function's operations in order, and for each node that is one its place among them.

    The node of an assignment is the target it binds, so `a, b = pair` has two.
    """
    walk = _Walk()
    walk.signature(definition)
    for statement in definition.body:
        walk.visit(statement)
    numbers = _numbered(walk.found)
    served = [(found, number) for found, number in zip(walk.found, numbers, strict=True) if found.served]
    listed = tuple(
        Listed(f"{found.base}_{number}", found.kind, found.line, sees_receiver(found.node)) for found, number in served
    )
    return listed, {found.node: index for index, (found, _) in enumerate(served)}


def sees_receiver(node: ast.AST) -> bool:
    """Whether the node is a method call without operations in its arguments."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not calls_first(node)


def calls_first(call: ast.Call) -> int:
    """Return how many of the arguments there are up to the last that has an operation in it.

    These come when Python has the callee already.
    """
    arguments = (*call.args, *call.keywords)
    return max(
        (
            count
            for count, argument in enumerate(arguments, 1)
            if any(isinstance(one, ast.Call | ast.NamedExpr) for one in ast.walk(argument))
        ),
        default=0,
    )


def _numbered(found: list[_Found]) -> list[int]:
    """Return each operation's number among those of its name, late ones after the others."""
    counter: Counter[str] = Counter()
    numbers = [0] * len(found)
    for late in (False, True):
        for index, operation in enumerate(found):
            if operation.late is late:
                numbers[index] = counter[operation.base]
                counter[operation.base] += 1
    return numbers


def chain(node: ast.expr) -> str | None:
    """Return the dotted chain that a callee or target spells, joined by `_`; None when it spells nothing.

    Subscripts vanish (`self.h[0].attn` is `self_h_attn`) and whatever stands before a call or an operator does too
    (`self.q(x).view` is `view`).
    """
    parts: list[str] = []
    while isinstance(node, ast.Attribute | ast.Subscript):
        if isinstance(node, ast.Attribute):
            parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        parts.append(node.id)
    return "_".join(reversed(parts)) or None


def is_plain_super(node: ast.AST) -> bool:
    """Whether the node is `super()` without arguments, which the compiler looks for by that spelling."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args


def leaves(target: ast.expr) -> Iterator[ast.expr]:
    """Yield the single targets of an assignment's target, from left to right; a starred one as its `Starred` node."""
    if isinstance(target, ast.Tuple | ast.List):
        for element in target.elts:
            yield from leaves(element)
    else:
        yield target


def _matched(target: ast.expr, value: ast.expr | None) -> Iterator[tuple[ast.expr, bool]]:
    """Yield the single targets, and whether the text spells out the value of each: in `a, b = f()` it does not."""
    if not isinstance(target, ast.Tuple | ast.List):
        yield target, value is not None
        return
    values: list[ast.expr | None] = [*value.elts] if isinstance(value, ast.Tuple | ast.List) else []
    is_starred = any(isinstance(element, ast.Starred) for element in (*target.elts, *values))
    if is_starred or len(values) != len(target.elts):
        values = [None] * len(target.elts)
    for element, one in zip(target.elts, values, strict=True):
        yield from _matched(element, one)


class _Walk(ast.NodeVisitor):
    """Finds the operations in the order in which they are numbered."""

    def __init__(self) -> None:
        self.found: list[_Found] = []
        self._served = True

    @contextmanager
    def _only_numbered(self) -> Iterator[None]:
        before, self._served = self._served, False
        try:
            yield
        finally:
            self._served = before

    def _add(self, base: str, kind: Kind, node: ast.AST, line: int, late: bool = False) -> None:
        self.found.append(_Found(base, kind, node, line, late, self._served))

    def _bind(self, target: ast.expr, late: bool) -> None:
        named = target.value if isinstance(target, ast.Starred) else target
        base = chain(named)
        # `make().x = 1` has a name at its end but none at its root; the field labels calls of that form, not targets.
        if base is not None and isinstance(_root(named), ast.Name):
            self._add(base, Kind.ASSIGNMENT, target, target.lineno, late)

    def signature(self, definition: Definition) -> None:
        """Count what decides the function's own signature: it has run before any forward does."""
        with self._only_numbered():
            self.visit(definition.args)

    def visit_Call(self, node: ast.Call) -> None:
        self.generic_visit(node)
        if not is_plain_super(node):
            # Of a chain of calls over several lines, the line where this one's name stands.
            self._add(chain(node.func) or UNNAMED_CALL, Kind.CALL, node, node.func.end_lineno or node.lineno)

    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        singles = [pair for target in node.targets for pair in _matched(target, node.value)]
        for target, _ in singles:
            self.visit(target)
        for target, is_spelled in singles:
            self._bind(target, late=len(node.targets) > 1 or not is_spelled)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)
            self.visit(node.target)
            self._bind(node.target, late=False)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.generic_visit(node)
        base = chain(node.target)
        if base is not None and isinstance(_root(node.target), ast.Name):
            self._add(f"{base}_{_INPLACE[type(node.op)]}", Kind.AUGMENTED, node, node.lineno, late=True)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.visit(node.value)
        self._add(node.target.id, Kind.ASSIGNMENT, node, node.lineno, late=True)

    def visit_Return(self, node: ast.Return) -> None:
        self.generic_visit(node)
        if node.value is not None:
            self._add(RETURN, Kind.RETURN, node, node.lineno, late=True)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        for part in (node.test, node.body, node.orelse):
            self.visit(part)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        with self._only_numbered():
            self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> None:
        if node.annotation is not None:
            self._annotation(node.annotation)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._function(node)

    def _function(self, node: Definition) -> None:
        self.visit(node.args)
        for part in (*node.body, *node.decorator_list):
            self.visit(part)
        if node.returns is not None:
            self._annotation(node.returns)

    def _annotation(self, node: ast.expr) -> None:
        with self._only_numbered():
            self.visit(node)


def _root(node: ast.expr) -> ast.expr:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node
