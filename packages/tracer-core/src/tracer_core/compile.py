"""A block's statements -> a function that runs them at full speed, with the names it reads and binds known.

The block of

    def user():
        total = 0
        with Tracer():
            total += read(path)

becomes the code of the function `user` in

    def <outer>(total, path):
        def user():
            nonlocal total
            total += read(path)

so every name of the caller is a true closure cell: as fast as a local, seen by nested functions and comprehensions, and
readable after an error. `read` stays a global. A block in a class body, or in `exec` with separate locals, becomes the
body of a class instead, because names there are looked up in a mapping that nested functions do not see.

Wrappers have the names that make qualified names, private names (`self.__x`), `super()` and `__class__` come out as they
would in place.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from types import CodeType
from typing import TYPE_CHECKING, Any

from tracer_core import variables
from tracer_core.body import Survey
from tracer_core.bytecode import qualified_name
from tracer_core.site import FIRST, SAVE, UNPACKED, VALUE, Body, Kind
from tracer_core.versions import V311, V312, V314

if TYPE_CHECKING:
    from tracer_core.carve import CarvedBody

_OUTER = ".tracer_core"
_BODY = ".body"
_NO_TYPE_PARAMETERS: dict[str, Any] = {"type_params": []} if V312 else {}
_FUTURE = 0
for _name in __import__("__future__").all_feature_names:
    _FUTURE |= getattr(__import__("__future__"), _name).compiler_flag


def compile_block(
    block: list[ast.stmt],
    code: CodeType,
    kind: Kind,
    is_async: bool,
    text: Sequence[str],
    line: int = 0,
    spellings: Sequence[str] = (),
) -> Body:
    """Return `block`, a part of the code `code`, as code of its own.

    Rewrites `block` in place.

    Args:
        block: The statements.
        code: The code around them.
        kind: Where that keeps its names.
        is_async: Whether the block may await.
        text: The lines of the file, for errors.
        line: The line that the block's function begins and ends on, 1-based, that of the `with`. So a debugger sees the
            block left, and branch coverage sees where the last `if` of a block leads, as in place; and a leading `try`
            is not on a line that has no instruction but the function's start.
        spellings: What `save` is called there beside that.

    Raises:
        UnsupportedBody: The block leaves itself (`return`, `yield`, `break` ...).
    """
    is_namespace = kind is Kind.NAMESPACE
    private = qualified_name(code).rpartition(".")[2] if is_namespace else private_class(code)
    found = Survey(
        code.co_filename,
        text,
        private=private,
        is_async=is_async,
        keeps_annotations=is_namespace and not V314,
        spellings=spellings,
    )
    found.block(block)
    line = line or max(1, block[0].lineno - 1)
    body = (_namespace if is_namespace else _function)(block, code, kind, is_async, found, line)
    if kind is Kind.MODULE and not is_async and not _looked_up(body.code).isdisjoint(body.writes):
        return _namespace(block, code, Kind.NAMESPACE, is_async, found, line)
    return body


def _looked_up(code: CodeType) -> set[str]:
    """Return the names that classes in `code` read and bind themselves: what they have not bound yet is a global to them."""
    found: set[str] = set()
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            found |= _looked_up(inner)
            found.update(variables.looked_up(inner))
    return found


def _function(block: list[ast.stmt], code: CodeType, kind: Kind, is_async: bool, found: Survey, line: int) -> Body:
    known = found.bound - found.declared_global if kind is Kind.MODULE else local_names(code)
    nonlocals = sorted((found.bound | found.bound_inside) & known - found.declared_global)
    global_names = sorted(found.bound - known)
    takes_first = found.uses_super and "__class__" in code.co_freevars and code.co_argcount > 0
    qualname = qualified_name(code)
    # A function that has a variable of its own name: the name is given afterwards.
    name = _BODY if qualname in known else qualname
    declarations: list[ast.stmt] = []
    if nonlocals:
        declarations.append(ast.Nonlocal(names=nonlocals, **_at(line)))
    if global_names:
        declarations.append(ast.Global(names=global_names, **_at(line)))
    body = [*declarations, *block] if declarations or not _is_docstring(block) else [ast.Pass(**_at(line)), *block]
    body.append(ast.Pass(**_at(line)))  # as in place, the last thing that is heard of a block is the line of its `with`
    make = ast.AsyncFunctionDef if is_async else ast.FunctionDef
    inner: ast.stmt = _def(make, name, [FIRST] if takes_first else [], body, line)
    private = private_class(code)
    if private is not None:
        inner = _class(private, [ast.Global(names=[name], **_at(1)), inner])
    compiled = _compile(_outer([*known, SAVE, UNPACKED, VALUE], [ast.Global(names=[name], **_at(1)), inner]), code)
    made = _find(compiled, name)
    if name != qualname:
        made = _renamed(made, name, qualname)
    if qualname == "<module>":
        made = _renamed(made, f"{qualname}.<locals>.", "")
    made = made.replace(co_name=code.co_name)
    return Body(
        made,
        kind,
        tuple(nonlocals),
        frozenset(found.saved_names),
        takes_first,
        is_async,
        frozenset(found.rewritten),
        tuple(found.dropped) if kind is Kind.MODULE else (),
    )


def _namespace(block: list[ast.stmt], code: CodeType, kind: Kind, is_async: bool, found: Survey, line: int) -> Body:
    qualname = qualified_name(code)
    is_class = qualname != "<module>"
    parent, _, name = qualname.rpartition(".") if is_class else ("", "", "_")
    inner = _class(name, [ast.Pass(**_at(line)), *block, ast.Pass(**_at(line))])
    if parent:
        inner = _class(parent, [inner])
    known = [name for name in code.co_freevars if not name.startswith(".")]
    compiled = _compile(
        _outer([*known, SAVE, UNPACKED, VALUE], [ast.Global(names=[parent or name], **_at(1)), inner]), code
    )
    body = _find(_find(compiled, parent) if parent else compiled, name)
    if not is_class:
        body = _renamed(body, "_.", "")
        if V311:
            body = body.replace(co_qualname=qualname)  # type: ignore[call-arg]  # 3.10 has no such field
    body = body.replace(co_name=code.co_name)
    writes = tuple(sorted(found.bound - found.declared_global))
    return Body(
        body,
        kind,
        writes,
        frozenset(found.saved_names),
        False,
        is_async,
        frozenset(found.rewritten),
        tuple(found.dropped),
    )


def _is_docstring(block: list[ast.stmt]) -> bool:
    first = block[0]
    return isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)


def _at(line: int) -> dict[str, Any]:  # Any: values of the keywords of any node
    return {"lineno": line, "col_offset": 0, "end_lineno": line, "end_col_offset": 0}


def _def(
    make: type[ast.FunctionDef | ast.AsyncFunctionDef],
    name: str,
    parameters: Sequence[str],
    body: list[ast.stmt],
    line: int,
) -> ast.stmt:
    arguments = ast.arguments(
        posonlyargs=[],
        args=[ast.arg(arg=parameter, annotation=None, **_at(line)) for parameter in parameters],
        vararg=None,
        kwonlyargs=[],
        kw_defaults=[],
        kwarg=None,
        defaults=[],
    )
    return make(name=name, args=arguments, body=body, decorator_list=[], **_NO_TYPE_PARAMETERS, **_at(line))


def _outer(names: Sequence[str], body: list[ast.stmt]) -> ast.Module:
    return ast.Module(body=[_def(ast.FunctionDef, _OUTER, names, body, 1)], type_ignores=[])


def _class(name: str, body: list[ast.stmt]) -> ast.ClassDef:
    return ast.ClassDef(name=name, bases=[], keywords=[], body=body, decorator_list=[], **_NO_TYPE_PARAMETERS, **_at(1))


def compile_alone(module: ast.Module, code: CodeType) -> CodeType:
    """Return `module` as code for `exec`, under the name and file of `code`."""
    return _compile(ast.fix_missing_locations(module), code).replace(co_name=code.co_name)


def _compile(module: ast.Module, code: CodeType) -> CodeType:
    compiled: CodeType = compile(module, code.co_filename, "exec", flags=code.co_flags & _FUTURE, dont_inherit=True)
    return compiled


def _find(code: CodeType, name: str) -> CodeType:
    """Return the code object called `name` that `code` makes, itself or inside the wrappers."""
    inner = next(constant for constant in code.co_consts if isinstance(constant, CodeType))
    return inner if inner.co_name == name else _find(inner, name)


def _renamed(code: CodeType, prefix: str, replacement: str) -> CodeType:
    """Return `code` with `prefix` of the qualified names inside it replaced."""
    constants = tuple(
        _renamed(constant, prefix, replacement)
        if isinstance(constant, CodeType)
        else replacement + constant[len(prefix) :]
        if isinstance(constant, str) and constant.startswith(prefix)
        else constant
        for constant in code.co_consts
    )
    changes: dict[str, object] = {}
    if any(made is not constant for made, constant in zip(constants, code.co_consts, strict=True)):
        changes["co_consts"] = constants
    qualname = qualified_name(code)
    if V311 and qualname.startswith(prefix):
        changes["co_qualname"] = replacement + qualname[len(prefix) :]
    return code.replace(**changes) if changes else code  # type: ignore[arg-type]  # one value per field's own type


def local_names(code: CodeType) -> set[str]:
    """Return the variables of the function `code`, hidden ones left out.

    Comprehensions that 3.12 inlines leave their variables among `co_varnames`, where a global of the same name may be
    meant; what the code reaches by a `*_GLOBAL` instruction is none of its variables.
    """
    names = {*code.co_varnames, *code.co_cellvars, *code.co_freevars}
    return {name for name in names - variables.global_names(code) if not name.startswith(".")}


def private_class(code: CodeType) -> str | None:
    """Return the class whose private names (`__x`) are meant in `code`, or None outside of a class.

    From the qualified name (`Class.method`, with any functions in between); on 3.10 from a name that was made private.
    """
    if V311:
        parts = qualified_name(code).split(".")[:-1]
        while parts and parts[-1] == "<locals>":
            del parts[-2:]
        return parts[-1] if parts else None
    for name in (*code.co_names, *code.co_varnames, *code.co_freevars, *code.co_cellvars):
        head, separator, _ = name[1:].partition("__")
        if name.startswith("_") and separator and head.strip("_"):
            return head
    return None


def from_carved(carved: CarvedBody, kind: Kind) -> Body:
    """Return what was taken out of the running bytecode as a compiled block.

    What the block saves by name is not known, so every name that it binds may stand for an equal value that it saved.
    """
    if kind is Kind.MODULE:
        kind = Kind.NAMESPACE
    return Body(carved.code, kind, tuple(sorted(carved.binds)), carved.binds, carved.takes_first, carved.is_async)
