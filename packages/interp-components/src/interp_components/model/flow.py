"""What a forward adds up, read off its text, for modules that no family describes.

    residual = hidden_states
    hidden_states = self.ln_1(hidden_states)
    attn_output, _ = self.attn(hidden_states)
    return residual + attn_output

returns the sum of the stream and of what `attn` returned. A value here is such a sum: the names of its terms, which are
children of the module, the stream that comes in, or unknown. Whatever is not plainly an addition or a call of a child
makes an unknown term, so a term that is found is there. What is changed in place is unknown too.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias
from weakref import WeakKeyDictionary

from torch import nn

from interp_components.errors import SourceNotAvailable
from interp_components.sources.definition import read_text
from interp_components.sources.peel import peel

Sum: TypeAlias = tuple[str, ...]

STREAM: Final[Sum] = ("<stream>",)
UNKNOWN: Final[Sum] = ("<unknown>",)
_SAME_NUMBERS: Final = frozenset({"contiguous", "to"})


@dataclass
class Flow:
    """What a forward returns first, and what it gives to each child first."""

    output: Sum = UNKNOWN
    returns_tuple: bool = False
    given: dict[str, Sum] = field(default_factory=dict)


# Module to what was read; an entry lives as long as its module; threads may read twice and get the same.
_READ: WeakKeyDictionary[nn.Module, Flow] = WeakKeyDictionary()


def flow_of(module: nn.Module) -> Flow:
    """Return what the module's forward does with its first argument; nothing is known of one without a text."""
    found = _READ.get(module)
    if found is None:
        found = _READ[module] = _read(module)
    return found


def _read(module: nn.Module) -> Flow:
    try:
        tree = read_text(peel(module.forward).function).tree
    except SourceNotAvailable:
        return Flow()
    arguments = [argument.arg for argument in (*tree.args.posonlyargs, *tree.args.args)]
    if len(arguments) < 2:
        return Flow()
    reader = _Reader(module, arguments[0], {arguments[1]: STREAM})
    reader.run(tree.body)
    return reader.flow


class _Reader:
    """Goes through the statements of one forward; `names` are its variables."""

    def __init__(self, module: nn.Module, self_name: str, names: dict[str, Sum]) -> None:
        self.flow = Flow()
        self._module = module
        self._self = self_name
        self._names = names

    def run(self, body: Sequence[ast.stmt]) -> bool:
        """Go through statements; return whether they end in a `return`."""
        return any(self._statement(statement) for statement in body)

    def _statement(self, statement: ast.stmt) -> bool:
        if isinstance(statement, ast.Return):
            self._returned(statement.value)
            return True
        if isinstance(statement, ast.If):
            return self._branch(statement)
        if isinstance(statement, ast.Assign):
            value = self._value(statement.value)
            for target in statement.targets:
                self._bind(target, value)
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            self._bind(statement.target, self._value(statement.value))
        elif isinstance(statement, ast.Expr):
            self._value(statement.value)
        else:
            self._forget(statement)
        return False

    def _returned(self, value: ast.expr | None) -> None:
        self.flow.returns_tuple = isinstance(value, ast.Tuple)
        first = value.elts[0] if isinstance(value, ast.Tuple) and value.elts else value
        self.flow.output = UNKNOWN if first is None else self._value(first)

    def _branch(self, statement: ast.If) -> bool:
        is_taken = self._truth(statement.test)
        if is_taken is not None:
            return self.run(statement.body if is_taken else statement.orelse)
        if any(isinstance(node, ast.Return) for node in ast.walk(statement)):
            return True  # what is returned is not known, as at the start
        before = dict(self._names)
        self.run(statement.body)
        after, self._names = self._names, before
        self.run(statement.orelse)
        for name in {*after, *self._names}:
            if after.get(name) != self._names.get(name):
                self._names[name] = UNKNOWN
        return False

    def _truth(self, test: ast.expr) -> bool | None:
        """What a test comes to that depends on nothing but the module."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            inner = self._truth(test.operand)
            return None if inner is None else not inner
        name = self._own(test)
        value = getattr(self._module, name, None) if name else None
        return value if isinstance(value, bool) else None

    def _forget(self, statement: ast.stmt) -> None:
        """Whatever the statement binds is unknown, and so is what may be the same tensor under another name."""
        stored = [
            node for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        ]
        self._forget_terms({term for name in stored for term in self._names.get(name.id, ())})
        self._names.update(dict.fromkeys((name.id for name in stored), UNKNOWN))

    def _bind(self, target: ast.expr, value: Sum) -> None:
        if isinstance(target, ast.Name):
            self._names[target.id] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            for place, element in enumerate(target.elts):
                self._bind(element, value if place == 0 and len(value) == 1 else UNKNOWN)
        else:
            names = (node.id for node in ast.walk(target) if isinstance(node, ast.Name))
            self._forget_terms({term for name in names for term in self._names.get(name, ())})

    def _forget_terms(self, terms: set[str]) -> None:
        for name, value in self._names.items():
            if not terms.isdisjoint(value):
                self._names[name] = UNKNOWN

    def _value(self, node: ast.expr) -> Sum:
        if isinstance(node, ast.Name):
            return self._names.get(node.id, UNKNOWN)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return tuple(sorted(self._value(node.left) + self._value(node.right)))
        if isinstance(node, ast.Subscript):
            value = self._value(node.value)
            is_first = isinstance(node.slice, ast.Constant) and node.slice.value == 0
            return value if is_first and len(value) == 1 and value != STREAM else UNKNOWN
        if isinstance(node, ast.Call):
            return self._call(node)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self._value(child)
        return UNKNOWN

    def _call(self, call: ast.Call) -> Sum:
        given = [self._value(value) for value in (*call.args, *(keyword.value for keyword in call.keywords))]
        first = given[0] if given else UNKNOWN
        name = self._own(call.func)
        child = getattr(self._module, name, None) if name else None
        if isinstance(child, nn.Dropout):
            return first
        if name and isinstance(child, nn.Module):
            self.flow.given[name] = UNKNOWN if name in self.flow.given else first
            return (name,)
        if isinstance(call.func, ast.Attribute):
            if call.func.attr == "dropout":
                return first
            if call.func.attr in _SAME_NUMBERS:
                return self._value(call.func.value)
        return UNKNOWN

    def _own(self, node: ast.expr) -> str | None:
        """`x` of `self.x`."""
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == self._self:
            return node.attr
        return None
