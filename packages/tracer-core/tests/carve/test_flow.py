"""What a block cannot do when it runs apart from its function is refused, with the line."""

import ast
import dis
import sys
import textwrap

import pytest

from tracer_core import bytecode

pytestmark = pytest.mark.skipif(sys.version_info < (3, 11), reason="3.10 has no bytecode that can be carved")

if sys.version_info >= (3, 11):
    from tracer_core.carve.flow import walk
    from tracer_core.carve.instructions import CannotCarve, Instructions

LEAVES = "leaves the block"


def code_of(text):
    """Return the code of the function `around` in `text`."""
    namespace = {}
    exec(compile(textwrap.dedent(text), "<nowhere>", "exec"), namespace)
    return namespace["around"].__code__


def flow_of(code):
    """Return the flow of the first block in `code`."""
    return walk(Instructions(code), next(bytecode.enters(code.co_code)).offset)


REFUSED = {
    "return of a value": ("def around(m):\n  with m:\n    x = 1\n    return x\n", LEAVES, 2),
    "return of a constant": ("def around(m):\n  with m:\n    x = 1\n    return 5\n", LEAVES, 2),
    "return in a loop": ("def around(m):\n  with m:\n    for i in m:\n      if i: return i\n  return 1\n", LEAVES, 2),
    "return in a branch": ("def around(m):\n  with m:\n    if m: return\n    m()\n  m()\n", LEAVES, 2),
    "return in try": ("def around(m):\n  with m:\n    try: return m()\n    finally: m()\n", LEAVES, None),
    "return in a try around": (
        "def around(m):\n  try:\n    with m:\n      return m()\n  finally: m()\n",
        LEAVES,
        None,
    ),
    "break to the same": (
        "def around(m):\n  while True:\n    with m:\n      m()\n      break\n    m(1, 2, 3); m(1, 2, 3); m(1, 2, 3)\n"
        "    return m\n  m(1, 2, 3); m(1, 2, 3); m(1, 2, 3)\n  return m\n",
        LEAVES,
        3,
    ),
    "break": ("def around(m):\n  for i in m:\n    with m:\n      m()\n      break\n  m(1)\n", LEAVES, 3),
    "break in a branch": (
        "def around(m):\n  for i in m:\n    with m:\n      if i: break\n      m(2)\n  m(1)\n",
        LEAVES,
        3,
    ),
    "continue": ("def around(m):\n  for i in m:\n    with m:\n      if i: continue\n    m(i)\n", LEAVES, 3),
    "yield": ("def around(m):\n  with m:\n    yield 1\n", "`yield`s", 3),
    "yield from": ("def around(m):\n  with m:\n    yield from m\n", "`yield`s", 3),
    "await in a plain with": ("async def around(m):\n  with m:\n    await m\n", "`await`s", 3),
    "yield in an async generator": ("async def around(m):\n  async with m:\n    await m\n    yield 1\n", "`yield`s", 4),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_block_that_leaves_or_suspends_its_function_is_refused(name):
    """The reason names the statement, the line is that of it or of the `with`."""
    text, reason, line = REFUSED[name]
    with pytest.raises(CannotCarve, match=reason) as refused:
        flow_of(code_of(text))

    assert line is None or refused.value.line == line


ACCEPTED = {
    "raise": "def around(m):\n  with m:\n    raise m\n",
    "almost as it ends": "def around(m):\n  with m:\n    try: v = [None, None, None, m]\n    finally: m()\n",
    "endless": "def around(m):\n  with m:\n    while True: m()\n",
    "at the end of a loop": "def around(m):\n  while m:\n    with m:\n      m()\n",
    "before a return": "def around(m):\n  with m:\n    v = m()\n  return v\n",
    "before a return in a loop": "def around(m):\n  for i in m:\n    with m:\n      v = m()\n    return v\n",
    "break of an inner loop": "def around(m):\n  for i in m:\n    with m:\n      for j in i: break\n    m()\n",
    "at the end of an else": "def around(m):\n  if m(1): m(2)\n  else:\n    with m: m(3)\n  return 1\n",
    "in a with": "def around(m):\n  with m(1) as n:\n    with n as o:\n      m(2)\n  return o\n",
    "in finally": "def around(m):\n  try: return m(1)\n  finally:\n    with m: m(2)\n",
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_a_block_that_stays_is_accepted_wherever_it_stands(name):
    """What comes after the block, and what the compiler makes of it, does not matter."""
    code = code_of(ACCEPTED[name])

    assert [walk(Instructions(code), enter.offset).stacks for enter in bytecode.enters(code.co_code)]


@pytest.mark.parametrize("target", ["t", "t.x", "t[0]", "(t, *u)", "t[[i for i in m if i][0]]", "t[1 if m else 2]"])
def test_the_body_begins_where_the_target_is_stored(target):
    """Also when storing it takes loops and branches."""
    code = code_of(f"def around(m, t):\n  with m as {target}:\n    m()\n")
    lines = {Instructions(code).line(place) for place in flow_of(code).stacks}

    assert lines == {3}


def test_an_instruction_that_enters_nothing_is_refused():
    """Only the call of `__enter__` that a `with` makes has a block."""
    code = code_of("def around(m):\n  m()\n")

    with pytest.raises(CannotCarve, match="no `with` is entered"):
        walk(Instructions(code), 0)


def test_an_async_with_outside_of_functions_is_refused():
    """Some prompts allow it, but its names live in a mapping."""
    code = compile("async with m: x = 1", "<prompt>", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)

    with pytest.raises(CannotCarve, match="outside of functions"):
        flow_of(code)


DAMAGED = {
    "a path leaves more on the stack": (
        "def around(m, a):\n  with m:\n    if a:\n      m()\n    m()\n",
        "POP_TOP",
        4,
        "different",
    ),
    "the target is never stored": ("def around(m, a):\n  with m as \\\n    a: m()\n", "STORE_FAST", 3, "target"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_bytecode_that_does_not_add_up_is_refused(name):
    """Instructions that no compiler makes are noticed, not guessed at."""
    text, damaged, line, reason = DAMAGED[name]
    code = code_of(text)
    raw = bytearray(code.co_code)
    instructions = Instructions(code)
    place = next(item.place for item in instructions if item.op == damaged and instructions.line(item.place) == line)
    raw[place] = dis.opmap["NOP" if damaged == "POP_TOP" else "RERAISE"]

    with pytest.raises(CannotCarve, match=reason):
        flow_of(code.replace(co_code=bytes(raw)))


def test_a_handler_that_finds_more_than_there_is_is_refused():
    """An exception table that no compiler makes is noticed as well."""
    code = code_of("def around(m):\n  with m:\n    try: m()\n    except KeyError: m()\n")
    instructions = Instructions(code)
    enter = next(bytecode.enters(code.co_code))
    outer = instructions.cover(enter.after)
    instructions._covers = [
        cover if cover.target == outer.target else cover._replace(depth=99) for cover in instructions._covers
    ]

    with pytest.raises(CannotCarve, match=LEAVES):
        walk(instructions, enter.offset)
