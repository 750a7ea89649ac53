"""The calls of `save` in a block: which they are, and what becomes of them.

    hidden = layer.output.save()     # hidden = .save(layer.output): every type can be saved
    a, b = save(pair)                # .saved = save(pair); a, b = .saved; .unpacked(.saved, a=a, b=b)

The hidden names stand for functions of `saving`, which the block's code has as cells.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection

from tracer_core.site import SAVE, UNPACKED

SAVED_VALUE = ".saved"


def unpacking(statement: ast.Assign, spell: Callable[[str], str]) -> list[ast.stmt]:
    """Return `statement` with a call after it that remembers what the names, as `spell` spells them, were bound to."""
    names = dict.fromkeys(
        node.id
        for target in statement.targets
        for node in ast.walk(target)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
    keep = ast.Assign(targets=[ast.Name(SAVED_VALUE, ast.Store())], value=statement.value)
    spread = ast.Assign(targets=statement.targets, value=ast.Name(SAVED_VALUE, ast.Load()))
    note = ast.Call(
        func=ast.Name(UNPACKED, ast.Load()),
        args=[ast.Name(SAVED_VALUE, ast.Load())],
        keywords=[ast.keyword(arg=spell(name), value=ast.Name(name, ast.Load())) for name in names],
    )
    made: list[ast.stmt] = [keep, spread, ast.Expr(note)]
    return [ast.fix_missing_locations(ast.copy_location(part, statement)) for part in made]


def turn_into_function(call: ast.Call) -> None:
    """Make `value.save()` a call of the hidden function with `value`, in place."""
    method = call.func
    assert isinstance(method, ast.Attribute)
    call.args = [method.value]
    call.func = ast.copy_location(ast.Name(SAVE, ast.Load()), method)


def is_save_method(call: ast.Call) -> bool:
    """Return whether the call is `value.save()` or `value.save(copy=...)`."""
    return (
        isinstance(call.func, ast.Attribute)
        and call.func.attr == "save"
        and not call.args
        and all(keyword.arg == "copy" for keyword in call.keywords)
    )


def is_save(value: ast.expr, spellings: Collection[str]) -> bool:
    """Return whether the value of the expression can be that of a call of `save`, by a method or by one of its `spellings`."""
    if isinstance(value, ast.Call):
        function = value.func
        if isinstance(function, ast.Name):
            return function.id in spellings
        return isinstance(function, ast.Attribute) and function.attr == "save"
    if isinstance(value, ast.NamedExpr | ast.Await):
        return is_save(value.value, spellings)
    if isinstance(value, ast.IfExp):
        return is_save(value.body, spellings) or is_save(value.orelse, spellings)
    return isinstance(value, ast.BoolOp) and any(is_save(part, spellings) for part in value.values)
