"""The statements that a block of the matrix begins with."""

import sys
from typing import NamedTuple

from .scopes import FUNCTIONS, SCOPES

EVERYWHERE = frozenset(SCOPES)
_ANNOTATED = frozenset({"module", "class", "executed"} if sys.version_info >= (3, 14) else {"module"})
_EMPTY_CELL = (
    "cannot access free variable 'late' where it is not associated with a value in enclosing scope"
    if sys.version_info >= (3, 11)
    else "free variable 'late' referenced before assignment in enclosing scope"
)


class Statement(NamedTuple):
    """The first statement of a block, with what shows its effect after it.

    Where it is known to mean something else in a deferred block, `deferred` says what, for the scopes `differs_in`.
    """

    text: str
    scopes: frozenset[str] = EVERYWHERE
    awaits: bool = False
    deferred: str = ""
    differs_in: frozenset[str] = frozenset()

    @property
    def is_simple(self) -> bool:
        """Whether it can stand on the line of the `with`."""
        return "\n" not in self.text


STATEMENTS = {
    "call": Statement("log(n)"),
    "assign": Statement("n = log(n) or 4"),
    "assign-new": Statement("fresh = [n]; log(fresh)"),
    "chain": Statement("n = m = n + 1"),
    "augment": Statement("n += 1"),
    "augment-item": Statement("xs[0] += n"),
    # An annotation belongs to the module or class, whose own code evaluates it (since 3.14 also for a class).
    "annotate": Statement("size: int = n", deferred="size = n\nif never:\n    size: int", differs_in=_ANNOTATED),
    "annotate-only": Statement("unbound: int", deferred="if never:\n    unbound: int", differs_in=_ANNOTATED),
    "unpack": Statement("n, *others = (7, 8, 9)"),
    "set-attribute": Statement("box.content = n"),
    "set-item": Statement("table['key'] = n"),
    # From 3.12 on Python can not unbind a variable of another frame, so what a block unbinds stays bound outside of it.
    "delete": Statement(
        "del n",
        EVERYWHERE - {"loop"},
        deferred="n",
        differs_in=FUNCTIONS if sys.version_info >= (3, 12) else frozenset(),
    ),
    "delete-and-bind": Statement("del n; n = 5"),
    "delete-attribute": Statement("del box.content"),
    "unbound": Statement("missing"),
    # The variables of a block are cells, and Python has other words for an empty one.
    "read-before-bound": Statement(
        "late = late + 1", deferred=f"raise NameError({_EMPTY_CELL!r})", differs_in=FUNCTIONS | {"module"}
    ),
    "global": Statement("global shared; shared = n"),
    "import": Statement("import math, os.path as path"),
    "import-from": Statement("from math import floor as down"),
    "string": Statement("'a string'; log(n)"),
    "long-string": Statement('"""A string,\n   on two lines."""\nlog(n)'),
    "pass": Statement("pass"),
    "ellipsis": Statement("..."),
    "pass-and-more": Statement("pass; log(n)"),
    "walrus": Statement("log(found := n + 1)"),
    "walrus-in-comprehension": Statement("log([last := x for x in xs])", EVERYWHERE - {"class", "executed"}),
    "comprehensions": Statement("made = [{x: y + n for y in xs} for x in xs]", EVERYWHERE - {"class", "executed"}),
    "generator-expression": Statement("log(sum(x for x in xs))"),
    "lambdas": Statement("calls = [lambda x=x: x for x in xs]; log([call() for call in (*calls,)])"),
    "assert": Statement("assert n > 5, 'too small'"),
    "raise": Statement("raise ValueError(n)"),
    "raise-from": Statement("raise ValueError('outer') from KeyError('cause')"),
    "raise-again": Statement("raise"),
    "handled": Statement("import sys; log(sys.exc_info()[1])"),
    "if": Statement("if n > 2:\n    big = True\nelse:\n    small = True"),
    "for-else": Statement("for x in xs:\n    if x == 2:\n        continue\n    n += x\nelse:\n    n += 10"),
    "while": Statement("while True:\n    n += 1\n    if n > 5:\n        break"),
    "try-except": Statement(
        "try:\n    log(n)\n    raise KeyError(n)\nexcept KeyError as error:\n    caught = [error]\nlog(caught)"
    ),
    "try-finally": Statement("try:\n    log(n)\n    raise KeyError(n)\nfinally:\n    log('finally')"),
    "try-pass": Statement(
        "try:\n    pass\nexcept ValueError:\n    log('no')\nelse:\n    log('else')\nfinally:\n    n = 6"
    ),
    "try-context": Statement("try:\n    raise KeyError(n)\nexcept KeyError:\n    raise ValueError('while handling')"),
    "with": Statement("with other('inner') as name:\n    log(name)"),
    "with-manager": Statement("with manager() as nested:\n    n = n + 1\n    deep = [n]\nlog(n, deep)"),
    "match": Statement("match table:\n    case {'no': n}:\n        log('no')\n    case {**rest}:\n        log(rest)"),
    "function": Statement("def made(x: int = n):\n    return x, n\nn = 8\nlog(made())", FUNCTIONS | {"module"}),
    "decorated": Statement("@log\ndef made():\n    pass"),
    "class": Statement(
        "class Made:\n    size = 3\n    def double(self):\n        return self.size * 2\nlog(Made().double())"
    ),
    "recursion": Statement("def down(k):\n    return k and down(k - 1)\nlog(down(3))", FUNCTIONS | {"module"}),
    "coroutine-function": Statement("async def answer():\n    return 42\nlog(drive(answer()))"),
    "nonlocal": Statement("def grow():\n    nonlocal n\n    n += 1\n    return n\nlog(grow(), n)", FUNCTIONS),
    "free-variable": Statement("total += n; outer.append(total)", frozenset({"closure"})),
    "super": Statement("log(super().greet(), __class__)", frozenset({"method"})),
    "private": Statement("self.__hidden = n; __own = 1; log(__own)", frozenset({"method"})),
    "await": Statement("n = await answered(n)", frozenset({"coroutine"}), awaits=True),
    "async-for": Statement(
        "async for x in counted():\n    xs.append([y async for y in counted()])", frozenset({"coroutine"}), awaits=True
    ),
}

if sys.version_info >= (3, 11):
    STATEMENTS["try-star"] = Statement(
        "try:\n    raise ExceptionGroup('both', [KeyError(n), ValueError(n)])\nexcept* KeyError as group:\n    log(group)"
    )
if sys.version_info >= (3, 12):
    # Under locals of its own, such a block is taken from bytecode, which knows no target that is more than a name.
    _PARAMETRIZED = EVERYWHERE - {"executed"}
    STATEMENTS["type-alias"] = Statement("type Pair[T] = tuple[T, T]; log(Pair)", _PARAMETRIZED)
    STATEMENTS["generic"] = Statement("def same[T](x: T) -> T:\n    return x\nlog(same(n))", _PARAMETRIZED)
