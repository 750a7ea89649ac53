"""Whether the text found for a block is what is running: never a stale body.

A file may have been edited since it was imported, a cell magic may move lines, a generator may reuse a file name. So the
block compiled from the text is held against the running code: over the lines of the block, both must do the same
operations with the same names and constants at the same columns. How a name is reached does not count (a local there is a
cell here), nor do jumps, which the optimizer places as it likes. 3.10 knows no columns, so it compares by line.
"""

from __future__ import annotations

import dis
from collections.abc import Hashable, Iterator
from types import CodeType
from typing import TypeAlias

from tracer_core import bytecode, variables
from tracer_core.locate import Item, Position, Region
from tracer_core.site import Body
from tracer_core.versions import V311, V312, V315

_Entry: TypeAlias = "tuple[int | None, int, Hashable, Position]"

_Pair: TypeAlias = "tuple[int | None, int, str]"

_OPTIMIZED = 1  # CO_OPTIMIZED: a function, whose names are variables of its own

_IGNORED, _LOAD, _STORE, _DELETE, _NAMED, _CONSTANT, _INTEGER, _PAIR, _PREFIX, _PLAIN = range(10)


def _shift(name: str) -> int:
    """Return by how many bits the index of a name is shifted in the argument of an operation."""
    if name in {"LOAD_GLOBAL", "LOAD_ATTR"}:
        return 1 if V312 or (V311 and name == "LOAD_GLOBAL") else 0
    if name == "LOAD_SUPER_ATTR":
        return 2
    return 2 if name == "IMPORT_NAME" and V315 else 0


# Where the optimizer has its way, or how a name is reached decides; by the beginnings of their names.
_UNCOMPARED = (
    *(
        "JUMP",
        "POP_",
        "FOR_ITER",
        "NOT_TAKEN",
        "TO_BOOL",
        "SEND",
        "END_",
        "YIELD",
        "GET_AWAITABLE",
        "CLEANUP",
        "RETURN",
    ),
    *(
        "RESUME",
        "CACHE",
        "NOP",
        "GEN_START",
        "COPY",
        "SWAP",
        "ROT_",
        "DUP_",
        "PUSH_NULL",
        "PRECALL",
        "KW_NAMES",
        "CALL",
    ),
    *("MAKE_", "COPY_FREE_VARS", "SET_FUNCTION_ATTRIBUTE", "BUILD_TUPLE", "LOAD_CLOSURE", "LOAD_FAST_AND_CLEAR"),
    *("PUSH_EXC_INFO", "RERAISE", "CHECK_EXC", "WITH_", "BEFORE_", "SETUP_", "LOAD_SPECIAL", "LOAD_LOCALS"),
    *("LOAD_COMMON_CONSTANT", "LOAD_ASSERTION_ERROR", "INSTRUMENTED", "ENTER_EXECUTOR"),
)


def _class_of(name: str) -> int:
    if name in {"STORE_FAST_STORE_FAST", "STORE_FAST_LOAD_FAST"} or name.count("LOAD_FAST") > 1:
        return _PAIR
    if name in {"LOAD_CONST", "RETURN_CONST"}:
        return _CONSTANT
    if name == "LOAD_SMALL_INT":
        return _INTEGER
    if name == "EXTENDED_ARG":
        return _PREFIX
    if name.startswith(_UNCOMPARED):
        return _IGNORED
    kind, _, rest = name.partition("_")
    if rest.startswith(("FAST", "DEREF", "NAME", "GLOBAL", "CLASSDEREF", "FROM_DICT")) and kind in {
        "LOAD",
        "STORE",
        "DELETE",
    }:
        return {"LOAD": _LOAD, "STORE": _STORE, "DELETE": _DELETE}[kind]
    if rest in {"ATTR", "METHOD", "SUPER_ATTR", "NAME", "FROM"} and kind in {"LOAD", "STORE", "DELETE", "IMPORT"}:
        return _NAMED
    return _PLAIN


_CLASSES = [_class_of(name) for name in dis.opname]
_SHIFTS = [_shift(name) for name in dis.opname]
_IN_NAMES = frozenset(dis.hasname)
_CELLS = frozenset(opcode for opcode, name in enumerate(dis.opname) if "DEREF" in name)
_FAST = frozenset(opcode for opcode, name in enumerate(dis.opname) if "_FAST" in name)


# The two accesses of an operation that does two.
_PAIRS = {
    opcode: tuple(_LOAD if "LOAD" in half else _STORE for half in (name[:5], name[5:]))
    for opcode, name in enumerate(dis.opname)
    if _CLASSES[opcode] == _PAIR
}

_NOWHERE: Position = (None, None, None, None)
# What the compiler stores in every class body of its own accord.
_SYNTHETIC = frozenset({"__classcell__", "__classdictcell__", "__static_attributes__", "__firstlineno__"})


def is_running(body: Body, code: CodeType, after_enter: int, item: Item) -> bool:
    """Return whether `body`, compiled from the text of `item`, does what `code` does there."""
    region = item.region
    ours, our_pairs = _entries(body.code, 0, region, body.rewritten)
    theirs, their_pairs = _entries(code, after_enter, region, body.rewritten)
    if ours == theirs:
        return True
    # The end of an `except` clause unbinds its name, once for each way out of it; where, is the optimizer's affair.
    unbound = {entry[2] for entry in ours if entry[1] == _DELETE}
    only_ours = {entry for entry in ours - theirs if not (entry[-1] in body.rewritten or entry[2] in unbound)}
    only_theirs = {entry for entry in theirs - ours if entry[2] not in unbound}
    dropped = [Region(*part) for part in body.dropped]
    if not V311:  # the line of the header, if the block begins there, does more than the block
        dropped.append(Region(region.start, (item.node.items[item.number].context_expr.end_lineno or 0, 0)))
    for part in dropped:
        only_theirs = {entry for entry in only_theirs if not part.holds(entry[-1])}
    return _covered(only_ours, their_pairs) and _covered(only_theirs, our_pairs)


def _covered(entries: set[_Entry], pairs: set[_Pair]) -> bool:
    """Return whether every entry is an access to a variable that the other side does in a pair."""
    return not entries or all(entry[:3] in pairs for entry in entries)


def _entries(
    code: CodeType, start: int, region: Region, rewritten: frozenset[object]
) -> tuple[set[_Entry], set[_Pair]]:
    """Return what `code`, from the byte `start` on, and the code in it do in `region`; and what is done in pairs."""
    found: set[_Entry] = set()
    pairs: set[_Pair] = set()
    names, slots = code.co_names, variables.slots(code)
    raw = code.co_code[start:]
    extended = 0
    previous: object = None
    for opcode, low, position in zip(raw[::2], raw[1::2], bytecode.positions(code, start), strict=True):
        kind = _CLASSES[opcode]
        if not kind:
            extended = 0
            continue
        arg = extended | low
        extended = arg << 8 if kind == _PREFIX else 0
        if kind == _PREFIX:
            continue
        line = position[0]
        if kind == _PAIR:  # the first access may be the last of what comes before the block
            pairs.update(
                (line, way, slots.fast[slot]) for way, slot in zip(_PAIRS[opcode], (arg >> 4, arg & 15), strict=True)
            )
            continue
        if not region.holds(position) or (V311 and position in rewritten):
            continue
        if kind <= _DELETE:
            row = names if opcode in _IN_NAMES else slots.cells if opcode in _CELLS else slots.fast
            name = row[arg >> _SHIFTS[opcode]]
            if name in _SYNTHETIC or name[0] == "." or (opcode in _FAST and name in slots.closed):
                continue
            if opcode in _FAST and not code.co_flags & _OPTIMIZED and name in names:
                # A comprehension inlined into a module puts names back, also that of a walrus, which it never moved.
                pairs.add((line, kind, name))
            else:
                found.add((line, kind, name, position))
        elif kind == _CONSTANT:
            constant = code.co_consts[arg]
            if isinstance(constant, CodeType):
                inner, inner_pairs = _entries(constant, 0, region, rewritten)
                found |= inner
                pairs |= inner_pairs
            else:
                found.update(_constant(constant, previous, position))
            previous = constant
        elif kind == _INTEGER:
            found.add((line, _CONSTANT, repr(arg), position))
        elif position not in rewritten:
            found.add((line, kind, names[arg >> _SHIFTS[opcode]] if kind == _NAMED else (opcode, arg), position))
    return found, pairs


def _constant(constant: object, previous: object, position: Position) -> Iterator[_Entry]:
    """Yield what stands for a constant, unless the compiler put it there."""
    if constant is None or constant == ():
        return  # what functions return, and `__static_attributes__`
    if V312 and type(constant) is tuple and all(type(part) is str for part in constant):
        # Names of keyword arguments: where they are depends on whether the compiler has seen an import.
        yield None, _CONSTANT, constant, _NOWHERE
    elif (V311 or not isinstance(previous, CodeType)) and "<locals>" not in str(constant):
        # Otherwise a qualified name, which on 3.10 comes after the code of each function.
        yield position[0], _CONSTANT, repr(constant), position
