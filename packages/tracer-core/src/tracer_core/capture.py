"""The caller's frame and the instruction it is at -> the `Block` of the `with` statement there, prepared once per site.

This and all it stands on is imported when there is a first block to capture.
"""

from __future__ import annotations

import ast
import warnings
from types import CodeType, FrameType
from typing import TYPE_CHECKING

from tracer_core import bytecode, errors, locate, scope, skip, source, variables, verify
from tracer_core.block import enclosing
from tracer_core.compile import compile_block, from_carved
from tracer_core.recipe import Recipe
from tracer_core.site import ENTERS, VALUE, Body, Kind, Site
from tracer_core.versions import V311, V314

if TYPE_CHECKING:
    from tracer_core.steps import Steps

TRY_STATEMENTS: tuple[type[ast.stmt], ...] = tuple(
    node for node in (ast.Try, getattr(ast, "TryStar", None)) if node is not None
)


def entering(frame: FrameType) -> tuple[FrameType, bytecode.Enter]:
    """Return the frame that is entering a manager, from `frame` outwards, and how.

    An `__enter__` may be inherited, or called by that of a subclass; any other caller but a `with` has no block.
    Called before there is an enter, from a function in the item's expression, it is the one that comes next.
    """
    start = frame
    while True:
        code = frame.f_code
        enter = bytecode.enter_at(code.co_code, frame.f_lasti) or bytecode.awaited_at(code.co_code, frame.f_lasti)
        if enter is None and frame is start:
            enter = upcoming(frame)
        if enter is not None:
            return frame, enter
        around = frame.f_back
        if around is None or code.co_name not in ENTERS:
            raise errors.not_a_with(code, frame.f_lineno)
        frame = around


def upcoming(frame: FrameType) -> bytecode.Enter | None:
    """Return the enter of the `with` item whose expression `frame` is evaluating, or None if it is doing other things."""
    code, offset = frame.f_code, frame.f_lasti
    enter = next(bytecode.enters(code.co_code, offset), None)
    if enter is None:
        return None
    if not V311:
        line = bytecode.line_at(code, enter.offset)
        return enter if line is not None and line <= frame.f_lineno else None
    here, there = locate.span(bytecode.position(code, offset)), locate.span(bytecode.position(code, enter.offset))
    if here is None or there is None:
        return None
    return enter if there[:2] <= here[:2] and here[2:] <= there[2:] else None


def make_site(frame: FrameType, enter: bytecode.Enter, steps: Steps, overridden: frozenset[str]) -> Site:
    """Return the site of the `with` item that `enter` enters: its block compiled and the way to leave it prepared.

    Raises:
        WithBlockNotFoundError: There is no text for it, or not the one that runs, and the bytecode cannot stand in.
        UnsupportedBody: The block holds what means nothing in code that runs later.
    """
    with warnings.catch_warnings():
        # The text was compiled before, with all its warnings.
        warnings.simplefilter("ignore")
        return _from_text(frame, enter, steps, overridden) or _from_bytecode(frame, enter)


def _from_text(frame: FrameType, enter: bytecode.Enter, steps: Steps, overridden: frozenset[str]) -> Site | None:
    """Return the site as its text has it, or None if there is no text that is what runs."""
    code = frame.f_code
    spellings = scope.spellings(frame)
    for refresh in (False, True):
        lines = _lines(frame, steps, overridden, refresh)
        item = _item(frame, enter, lines, steps, overridden)
        if item is None:
            continue
        module = steps.build(item.alone)
        if overridden:
            ast.fix_missing_locations(module)
        has_work = skippable(item.alone)
        body = compile_block(module.body, code, scope.kind(frame), enter.is_async, lines, frame.f_lineno, spellings)
        if not overridden and not verify.is_running(body, code, enter.after, item):
            continue
        if "compile" in overridden:
            body = body._replace(code=steps.compile(module, frame))
        return _site(frame, enter, body, has_work, Recipe.of(code, item, lines, body, spellings), item)
    return None


def _from_bytecode(frame: FrameType, enter: bytecode.Enter) -> Site:
    """Return the site as the running bytecode has it."""
    from tracer_core import carve  # rarely needed, and a third of the time that the package takes to import

    code = frame.f_code
    try:
        carved = carve.carve(code, enter.offset)
    except carve.CannotCarve as reason:
        lines = source.SOURCES.lines(frame)
        if not lines:
            raise errors.no_source(code, frame.f_lineno, str(reason)) from None
        here = lines[frame.f_lineno - 1] if frame.f_lineno <= len(lines) else ""
        raise errors.stale(code, frame.f_lineno, here, str(reason)) from None
    return _site(frame, enter, from_carved(carved, scope.kind(frame)), True, None, None)


def _lines(frame: FrameType, steps: Steps, overridden: frozenset[str], refresh: bool) -> list[str]:
    if "source" in overridden:
        return source.split(steps.source(frame.f_code.co_filename))
    if refresh:
        source.SOURCES.refresh(frame.f_code.co_filename)
    return source.SOURCES.lines(frame)


def _item(
    frame: FrameType, enter: bytecode.Enter, lines: list[str], steps: Steps, overridden: frozenset[str]
) -> locate.Item | None:
    if not lines:
        return None
    where = locate.place(frame.f_code, enter)
    if "parse" in overridden:
        node = steps.parse("".join(lines), where.line)
        return None if node is None else locate.match(node, where) or locate.Item(node, 0)
    return locate.item(lines, where)


def _site(
    frame: FrameType,
    enter: bytecode.Enter,
    body: Body,
    has_work: bool,
    recipe: Recipe | None,
    item: locate.Item | None,
) -> Site:
    """Return the site, with the frame's skip point found and watched."""
    code = frame.f_code
    store = bytecode.target_store(code.co_code, enter.after)
    offset, binding, way = store.end, None, None
    if has_work:
        if store.has_branches or not bytecode.is_covered(code, enter.after, store.end):
            offset = enter.after
            binding = _binding(code, enter, store, body.kind, None if item is None else item.target)
        way = skip.way(code, offset, starts_line=bytecode.starts_line(code, offset))
        if way is None:
            raise errors.no_tool(code, frame.f_lineno)
    cells = body.code.co_freevars
    own_name = variables.stored_name(code, store.last) if store.last == enter.after else None
    return Site(
        body,
        enter.offset,
        way,
        offset,
        binding=binding,
        recipe=recipe,
        first_line=bytecode.line_at(code, store.end) or code.co_firstlineno,
        own_name=own_name if own_name in cells and own_name not in body.writes else None,
        is_nested=enclosing(frame) is not None,
        unread=variables.unread(code, item.region) if V314 and item is not None else frozenset(),
    )


def _binding(
    code: CodeType, enter: bytecode.Enter, store: bytecode.TargetStore, kind: Kind, target: ast.expr | None
) -> Body | None:
    """Return code that stores its only argument in the `as` target, or None if there is no target."""
    if variables.discards(code, store.last):
        return None
    if target is None:
        name = variables.stored_name(code, store.last) if store.last == enter.after else None
        if name is None:
            raise errors.no_source(
                code,
                bytecode.line_at(code, enter.offset) or 0,
                "and a block that begins with `try` needs it for its target",
            )
        target = ast.Name(name, ast.Store(), lineno=1, col_offset=0, end_lineno=1, end_col_offset=0)
    value = ast.copy_location(ast.Name(VALUE, ast.Load()), target)
    store_target = ast.copy_location(ast.Assign(targets=[target], value=value), target)
    return compile_block([store_target], code, kind, False, [])


def skippable(node: locate.With) -> bool:
    """Return whether the block does anything: more than `pass` and constants such as a docstring or `...`."""
    return any(
        not (isinstance(part, ast.Pass) or (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant)))
        for part in node.body
    )
