"""The text of a running function, for `print(model.transformer.h[0].attn.source)`.

The text is looked up where the code object says it stands, parsed, and compiled as it is: only when that gives the code
that is running is it the function's text. So a file that was edited after its import, or a cell that was run again, is
never taken for what runs.
"""

from __future__ import annotations
import __future__

import ast
import dis
import linecache
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any

from interp_components.errors import SourceNotAvailable
from interp_components.sources.listing import Definition

# CO_NESTED shares its bit with the oldest future; the other flags of a code object describe the function.
_FUTURES = sum(
    getattr(__future__, name).compiler_flag for name in __future__.all_feature_names if name != "nested_scopes"
)
# pytest compiles the asserts of a test file anew; the names that it puts in start like this.
_PYTEST = "@py_"
_LOCALS = "<locals>"
_VARYING = frozenset(
    [*dis.hasjrel, *dis.hasjabs, dis.EXTENDED_ARG]
    + [
        dis.opmap[name]
        for name in ("CACHE", "LOAD_ATTR", "LOAD_GLOBAL", "LOAD_METHOD", "NOP", "PUSH_NULL")
        if name in dis.opmap
    ]
    + [dis.opmap[name] for name in ("CALL", "CALL_FUNCTION", "CALL_METHOD", "PRECALL") if name in dis.opmap]
)


@dataclass(frozen=True)
class Text:
    """The text of one function: its lines, and its syntax tree with the positions of the file."""

    lines: tuple[str, ...]
    first_line: int
    tree: Definition
    class_name: str | None
    """The class whose private names (`self.__x`) the function spells."""


def read_text(function: FunctionType) -> Text:
    """Return the text of the function, which is known to be what runs.

    Raises:
        SourceNotAvailable: There is no text, it holds no such `def`, or it is not the text of the running code.
    """
    code = function.__code__
    if code.co_name == "<lambda>":
        raise SourceNotAvailable(
            f"the lambda at {_place(code)} has no statements that labels could stand beside: write it as a `def`, or "
            f"read the call's own input and output"
        )
    lines = linecache.getlines(code.co_filename, function.__globals__)
    if not lines:
        raise SourceNotAvailable(
            f"`{function.__qualname__}` says it stands at {_place(code)}, and no text is found there"
        )
    class_name = _class_name(function.__qualname__)
    tree = _definition_at(lines, code.co_firstlineno)
    if tree is None or tree.name != code.co_name or not _is_same(compile_definition(tree, function, class_name), code):
        raise SourceNotAvailable(
            f"the text at {_place(code)} is not that of the running `{function.__qualname__}`: the file was edited after it "
            f"was imported, or the function was made by other means. Import it again, or restart Python"
        )
    end = tree.end_lineno or code.co_firstlineno
    return Text(tuple(lines[code.co_firstlineno - 1 : end]), code.co_firstlineno, tree, class_name)


def compile_definition(tree: Definition, function: FunctionType, class_name: str | None, *more_free: str) -> CodeType:
    """Return the code of the definition, compiled where the function's was: same file, futures, names.

    Args:
        tree: The definition, at the positions of its file.
        function: The running function.
        class_name: The class around the definition, which makes names private.
        more_free: Names that are to be free besides those that are free in the function.
    """
    code = function.__code__
    module = ast.parse("def around():\n class _:\n  class _: pass")
    around = module.body[0]
    assert isinstance(around, ast.FunctionDef)
    around.args.args = [ast.arg(name) for name in (*code.co_freevars, *more_free)]
    # What a class body binds is not seen from inside of functions. So neither the definition's own name nor its class's
    # becomes a free name of the function; in the file they are names of the module. A class called `_` makes no name
    # private.
    nameless = around.body[0]
    assert isinstance(nameless, ast.ClassDef)
    inside = nameless.body[0]
    assert isinstance(inside, ast.ClassDef)
    inside.name = class_name or nameless.name
    inside.body = [tree]
    ast.fix_missing_locations(module)
    compiled: CodeType = compile(module, code.co_filename, "exec", flags=code.co_flags & _FUTURES, dont_inherit=True)
    for name in (around.name, nameless.name, inside.name, tree.name):
        compiled = next(const for const in compiled.co_consts if isinstance(const, CodeType) and const.co_name == name)
    around_it = f"{around.name}.{_LOCALS}.{nameless.name}.{inside.name}.{tree.name}"
    return _renamed(compiled, around_it, function.__qualname__)


def _renamed(code: CodeType, before: str, after: str) -> CodeType:
    """Return the code with qualified names, its own and of all in it, that start with `after` instead of `before`."""

    def constant(value: Any) -> Any:
        if isinstance(value, CodeType):
            return _renamed(value, before, after)
        return after + value[len(before) :] if isinstance(value, str) and value.startswith(before) else value

    changes: dict[str, Any] = {"co_consts": tuple(map(constant, code.co_consts))}
    if hasattr(code, "co_qualname"):  # kept by code objects from Python 3.11 on
        changes["co_qualname"] = constant(code.co_qualname)
    return code.replace(**changes)


def _definition_at(lines: list[str], first_line: int) -> Definition | None:
    """Return the definition that starts on the line, decorators included; None when none does.

    The block ends before some line that is not indented deeper, but not every such line ends it: brackets and strings
    go on. The first end that gives a whole statement is the one.
    """
    for end in _ends(lines, first_line - 1):
        text = "".join(lines[first_line - 1 : end])
        is_indented = text[:1] in (" ", "\t")
        try:
            parsed = ast.parse(f"if 1:\n{text}" if is_indented else text).body
        except SyntaxError:
            continue
        tree = parsed[0].body[0] if parsed and isinstance(parsed[0], ast.If) else next(iter(parsed), None)
        if not isinstance(tree, ast.FunctionDef | ast.AsyncFunctionDef):
            return None
        ast.increment_lineno(tree, first_line - 1 - is_indented)
        return tree
    return None


def _ends(lines: list[str], start: int) -> Iterator[int]:
    """Yield the places where the block that starts at `start` can end."""
    indent = _indent(lines[start]) if start < len(lines) else 0
    for end in range(start + 1, len(lines)):
        if lines[end].strip() and not lines[end].lstrip().startswith("#") and _indent(lines[end]) <= indent:
            yield end
    yield len(lines)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _class_name(qualname: str) -> str | None:
    """Return the innermost class around a function: `Block` for `Block.forward.<locals>.inner`."""
    parts = qualname.split(".")
    while len(parts) > 1:
        parts.pop()
        if parts[-1] != _LOCALS:
            return parts[-1]
        parts.pop()
    return None


def _is_same(text: CodeType, running: CodeType) -> bool:
    """Whether the code compiled from the text is the code that runs."""
    if any(name.startswith(_PYTEST) for name in running.co_varnames):
        # An assert that pytest rewrote is other code; all that the text names is in it nevertheless.
        return set(text.co_names) <= set(running.co_names) and set(text.co_varnames) <= set(running.co_varnames)
    return (
        text.co_names == running.co_names
        and text.co_varnames == running.co_varnames
        and len(text.co_consts) == len(running.co_consts)
        and all(map(_is_same_constant, text.co_consts, running.co_consts))
        and _instructions(text) == _instructions(running)
    )


def _instructions(code: CodeType) -> list[tuple[int, int]]:
    """Return what the code does, without what depends on the rest of its file.

    From Python 3.11 on `torch.matmul(...)` is compiled as a method call unless the file imports `torch` at its top, and
    that moves the jumps.
    """
    pairs = zip(code.co_code[::2], code.co_code[1::2], strict=True)
    return [(operation, argument) for operation, argument in pairs if operation not in _VARYING]


def _is_same_constant(text: object, running: object) -> bool:
    if isinstance(text, CodeType) and isinstance(running, CodeType):
        return _is_same(text, running)
    return repr(text) == repr(running)  # 0.0 is not -0.0, and 1 is not True


def _place(code: CodeType) -> str:
    return f"{code.co_filename}:{code.co_firstlineno}"
