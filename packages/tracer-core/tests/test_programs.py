"""Generated programs: with their blocks deferred they do what they do in place."""

import os
import re
import sys
import textwrap

import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from .matrix.observation import in_place, traced, unit

PROGRAMS = int(os.environ.get("TRACER_CORE_PROGRAMS", "400"))

pytestmark = pytest.mark.filterwarnings("ignore::SyntaxWarning")

# Parts: a form with `@` for an expression, `$` for a name, and `#` on a line of its own for statements.
ATOMS = ("$", "$", "x", "1", "2", "-3", "shared", "($, $)", "[$]", "'text'")
# A comprehension's own variable is none of the others: a function that has a free variable of that name as well cannot be
# written to from outside on 3.13 and later.
EXPRESSIONS = (
    *("(@ + @)", "(@ - @)", "(@ * 2)", "(@ // @)", "(@ == @)", "(@ and @)", "(@ or @)", "(not @)", "(@ if @ else @)"),
    *(
        "($ := @)",
        "[@ for x in (1, 2)]",
        "{$: @ for x in (1, 2) if @}",
        "sum(@ for x in (1, 2))",
        "[$ := @ for _ in (1, 2)]",
    ),
    *("(lambda $=@: @)()", "noted(@)", "f'{@!r:>4}'", "@[0]"),
)
SIMPLE = (
    *("$ = @", "$ = $ = @", "$ += @", "$ -= @", "$ *= 2", "$, *$ = (@, 2)", "($, $), $ = (1, @), 3", "$: int = @"),
    *("log(@)", "@", "pass", "'text'", "import math as $", "from os import path as $", "del d; d = 0"),
    *(
        "raise KeyError(@)",
        "raise ValueError(@) from KeyError(@)",
        "assert @, $",
        "box.content = @",
        "box.content += @",
    ),
)
COMPOUND = (
    *(
        "if @:\n#\nelse:\n#",
        "for $ in (1, 2):\n#\nelse:\n#",
        "while True:\n#\n    break",
        "for $ in (@, 1):\n#\n    continue",
    ),
    *(
        "try:\n#\nexcept {}:\n#",
        "try:\n#\nexcept {} as error:\n#\nelse:\n#\nfinally:\n#",
        "try:\n#\nfinally:\n#",
        "try:\n#\nexcept {}:\n#\n    raise",
    ),
    *(
        "def f($=@):\n#\n    return @\nlog(f(1))",
        "def g():\n    nonlocal $\n#\nlog(g(), $)",
        "def h():\n    global shared\n    shared = @\nh()",
    ),
    *(
        "class C:\n#\nlog(sorted(name for name in vars(C) if len(name) == 1))",
        "match @:\n    case ($, *rest):\n        log(rest)\n    case _:\n        log($)",
    ),
    *(
        "with manager():\n#",
        "with manager() as t:\n#",
        "with manager() as (t, u):\n#",
        "with manager(), other('b') as t:\n#",
    ),
    *("with other('c'), manager():\n#", "with swallow('d'):\n#", "with manager(): @"),
)
ERRORS = ("KeyError", "ValueError", "(TypeError, ArithmeticError)", "Exception")

_NAMES = "a, b, c, d, x, box = 1, 2, 3, [4], 5, Box()"
_END = "log(a, b, c, d)\nsee(dict(locals()))"
FRAMES = (
    f"def case():\n    {_NAMES}\n#\n{textwrap.indent(_END, '    ')}\ncase()",
    f"def around(a, b):\n    def case():\n        nonlocal a, b\n        c, d, x, box = 3, [4], 5, Box()\n"
    f"    #\n{textwrap.indent(_END, '        ')}\n    case()\n    log(a, b)\naround(1, 2)",
    f"def case(n):\n    {_NAMES}\n    yield n\n#\n    yield a\n{textwrap.indent(_END, '    ')}\nlog(list(case(1)))",
    f"{_NAMES}\nif True:\n#\n{_END}",
)


@st.composite
def filled(draw, form, depth):
    """Fill the places of `form`, with statements of at most `depth` blocks in each other."""

    def part(match):
        place = match.group()
        if place == "$":
            return draw(st.sampled_from("abcd"))
        if place == "{}":
            return draw(st.sampled_from(ERRORS))
        if place.endswith("#"):
            return textwrap.indent(draw(statements(depth - 1)), place[:-1] + "    ")
        forms = ATOMS if draw(st.integers(0, 2)) else EXPRESSIONS
        return draw(filled(draw(st.sampled_from(forms)), depth))

    return re.sub(r"^ *#|[$@]|\{\}", part, form, flags=re.MULTILINE)


@st.composite
def statements(draw, depth):
    """Draw some statements, one below the other."""
    forms = SIMPLE + COMPOUND if depth > 0 else SIMPLE
    return "\n".join(draw(filled(draw(st.sampled_from(forms)), depth)) for _ in range(draw(st.integers(1, 3))))


@st.composite
def programs(draw):
    """Draw the text of a program with a block."""
    block = f"with manager():\n{textwrap.indent(draw(statements(3)), '    ')}"
    before, after = draw(statements(0)), draw(statements(0))
    body = "\n".join((before, block, after))
    # A module has no variables for `nonlocal`, and a class in its block looks a name that it binds up in the module itself.
    frames = FRAMES[:-1] if "nonlocal" in body or "class C" in body else FRAMES
    frame = draw(st.sampled_from(frames))
    return re.sub("^ *#", lambda place: textwrap.indent(body, place.group()[:-1] + "    "), frame, flags=re.MULTILINE)


# What is known to differ: see the matrix.
_UNBOUND = re.compile(
    r"cannot access (?:local|free) variable ('\w+') where it is not associated with a value(?: in enclosing scope)?"
    r"|(?:local|free) variable ('\w+') referenced before assignment(?: in enclosing scope)?"
)
_OF_ANNOTATIONS = ("__annotations__", "__annotate__", "__annotate_func__", "__conditional_annotations__")


def alike(seen):
    """Return what was `seen`, without what is known to differ: the words for unbound names, and a module's annotations."""
    if isinstance(seen, dict):
        return {alike(key): alike(part) for key, part in seen.items() if key.strip("'") not in _OF_ANNOTATIONS}
    if isinstance(seen, (list, tuple)):
        return [alike(part) for part in seen]
    if not isinstance(seen, str):
        return seen
    if sys.version_info < (3, 11) and "<locals>" in seen:
        return seen.rpartition(".")[2]
    return _UNBOUND.sub(r"\1\2 is unbound", seen).replace("UnboundLocalError", "NameError")


@given(programs())
@settings(
    max_examples=PROGRAMS,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
def test_a_program_does_the_same_with_its_blocks_deferred(text):
    """What it logs, binds and raises is the same."""
    try:
        program = unit(text, "<generated>")
    except SyntaxError:  # a walrus in a comprehension of a class, a name that is global or not local too late
        reject()

    assert alike(traced(program)) == alike(in_place(program))
