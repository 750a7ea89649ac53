"""A block taken out of the running bytecode does what it would have done in place."""

import asyncio
import sys
import textwrap
from types import CellType, FunctionType, SimpleNamespace

import pytest

from tracer_core import bytecode, carve

needs_carving = pytest.mark.skipif(sys.version_info < (3, 11), reason="3.10 has no bytecode that can be carved")


class Carved(BaseException):
    """Leaves the function after its block has run, carved."""


class Stays:
    """A manager that does nothing: its block runs in place."""

    def __enter__(self):
        return ("entered", 2)

    def __exit__(self, *error):
        return False

    async def __aenter__(self):
        return self.__enter__()

    async def __aexit__(self, *error):
        return False


class Carves:
    """A manager that carves its block, runs it, keeps what came of it, and leaves the function."""

    def __enter__(self):
        frame = sys._getframe(1)
        self.body = carve.carve(frame.f_code, frame.f_lasti)
        made, cells = made_from(self.body, frame)
        arguments = [frame.f_locals[frame.f_code.co_varnames[0]]] if self.body.takes_first else []
        self.outcome = outcome(lambda: made(*arguments), dict(frame.f_locals), cells)
        raise Carved

    def __exit__(self, *error):
        raise AssertionError("the function was left before its block")

    def __aenter__(self):
        return self.__enter__()

    __aexit__ = __exit__


def made_from(body, frame):
    """Return the function of `body` on cells of its own, and the cells."""
    values = frame.f_locals
    cells = {name: CellType(values[name]) if name in values else CellType() for name in body.code.co_freevars}
    return FunctionType(body.code, frame.f_globals, None, None, tuple(cells.values())), cells


def outcome(run, before, cells):
    """Return the variables after `run`, and how it ended."""
    error = None
    try:
        made = run()
        if made is not None:
            asyncio.run(made)
    except Exception as raised:
        error = raised
    after = {name: value for name, value in before.items() if name not in cells}
    after |= {name: cell.cell_contents for name, cell in cells.items() if cell != CellType()}
    return after, error


def picture(value):
    """Return `value` with functions, classes and the like as what two of them have in common."""
    if isinstance(value, dict):
        return {name: picture(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [picture(each) for each in value]
    if isinstance(value, SimpleNamespace):
        return picture(vars(value))
    if isinstance(value, FunctionType | type):
        return value.__qualname__, value.__module__
    return value if isinstance(value, int | float | str | bytes | set | type(None)) else type(value).__name__


def trail(error, name):
    """Return the type, text and place of `error`, from the function `name` inwards."""
    steps, traceback = [], error.__traceback__
    while traceback is not None:
        code = traceback.tb_frame.f_code
        position = list(code.co_positions())[traceback.tb_lasti // 2]
        steps.append((code.co_qualname, traceback.tb_lineno, position))
        traceback = traceback.tb_next
    here = next(index for index, step in enumerate(steps) if step[0] == name)
    return type(error), error.args, steps[here:]


def function(text, name="around"):
    """Return the function `name` of `text`, which is in no file."""
    namespace = {"__name__": "nowhere"}
    exec(compile(text, "<nowhere>", "exec"), namespace)
    return namespace[name]


def in_place(text):
    """Return the variables of `around` after its block ran in place, and the error that ended it."""
    try:
        return function(text)(Stays(), 1, [3, 1, 2], {"k": 1}, SimpleNamespace(n=0)), None
    except Exception as error:
        return None, error


def carved(text):
    """Return the variables of `around` after its block ran carved, and the error that ended it."""
    manager = Carves()
    with pytest.raises(Carved):
        function(text)(manager, 1, [3, 1, 2], {"k": 1}, SimpleNamespace(n=0))
    return manager.outcome


def site(text, name="around"):
    """Return the code of the function `name` in `text` and where its first `with` is entered."""
    code = function(text, name).__code__
    return code, next(bytecode.enters(code.co_code)).offset


BODIES = {
    "nothing": "pass",
    "assignment": "x = a + 1; y = x * 2",
    "augmented": "a += 5\nb[0] += 2\nc['k'] += 1\no.n += 1",
    "chained and swapped": "x = y = z = a\nx, y = y, x\nx, y, z = z, y, b",
    "unpacking": "x, *y = b\n(p, q), z = (1, 2), 3\nr = [*b, *y]\nk = {'z': 1, 'y': 2}",
    "del": "x = 1\ndel x, a\ndel b[0]",
    "for with continue, break, else": "for i in b:\n  if i == 1: continue\n  if i == 2: break\n  r = i\nelse:\n  r = -1",
    "while with else": "i = 0\nwhile i < 5:\n  i += 1\nelse:\n  r = 1",
    "nested loops": "for i in b:\n  for j in b:\n    if j == i: break\n  else: continue\n  r = (i, j)",
    "if": "if a == 2: x = 1\nelif b: x = 2\nelse: x = 3",
    "try first": "try:\n  r = b[99]\nexcept (KeyError, IndexError) as e:\n  r = str(e)\nelse:\n  r = 1\nfinally:\n  f = 2",
    "raise inside try": "try:\n  try: raise ValueError(a)\n  finally: x = 7\nexcept ValueError as e:\n  r = e.args",
    "loop around try": "while True:\n  try:\n    if a > 3: break\n    a += 1\n  except KeyError: continue\n  finally: r = a",
    "handled exception": "import sys\ntry: raise ValueError\nexcept ValueError: r = sys.exc_info()[0]\ns = sys.exc_info()[0]",
    "except*": "try: raise ExceptionGroup('g', [KeyError(1)])\nexcept* KeyError as e: r = e.exceptions[0].args",
    "with": "from contextlib import suppress, nullcontext as nc\nwith nc(3) as x, nc((1, 2)) as (y, z): r = x + y\n"
    "with suppress(ZeroDivisionError): 1 / 0",
    "break out of an inner with": "while True:\n  with open('/dev/null') as f:\n    if a: break\nf = f.closed",
    "list comprehension": "r = [[i * j for j in b if j] for i in b]",
    "comprehension over its own name": "a = [a for a in b]\ni = 9\nr = [i for i in b], i",
    "set, dict, generator": "r = {i: j for i in b for j in range(i)}\ns = {i for i in b}, sorted(i for i in b if i > a)",
    "walrus in a comprehension": "r = [y := i for i in b]",
    "comprehension that captures": "i = 'outer'\nr = [f() for f in [lambda: i for i in b]]\ng = (lambda: i)()",
    "comprehension that raises": "i = 5\ntry: r = [1 / i for i in (1, 0)]\nexcept ZeroDivisionError: r = i",
    "names seen by locals": "r = a, b, locals()['a'], eval('a + b[0]')",
    "late binding": "fs = []\nfor i in b: fs.append(lambda: i)\nr = [f() for f in fs]",
    "nonlocal": "def f():\n  def g():\n    nonlocal a, b\n    a += 9\n    del b\n  g()\nf()",
    "function with everything": "def deco(f): return f\n@deco\ndef h(x, /, y=a, *p, z: int = 3, **q) -> int: return x + y\nr = h(1)",
    "class": "class K:\n  z = a\n  def m(self): return self.z, a\n  class L: y = a\nr = K().m()\nq = K.L",
    "class with super": "class K(int):\n  def __init__(self):\n    super().__init__()\n    self.v = __class__\nr = K().v",
    "generator": "def g():\n  for i in b: z = yield i\n  yield from b\n  return a\nr = list(g())",
    "coroutine": "import asyncio\nasync def co():\n  async def g(): yield a\n  return [i async for i in g()]\nr = asyncio.run(co())",
    "match": "match c:\n  case {'k': v, **rest}: r = v\nmatch b:\n  case [x, *y] if x > 5: s = 1\n  case [x, *y]: s = 2\n"
    "match o:\n  case str() | int(): t2 = 1\n  case object(n=k): t2 = k",
    "imports": "import os.path\nimport collections as cc\nfrom os import sep as s",
    "f-string": "r = f'{a!r:>{5}} {b} {o.n=}'",
    "assert": "assert a == 1, 'message'",
    "global": "global G\nG = a\nr = G",
    "annotations": "x: int = 3\ny: 'str'",
    "operators": "r = a if b else c\ns = a and b or c\nt2 = not a, 1 < a < 5, a is not None and a in b, b[1:2], -a",
    "calls": "r = max(*b, key=lambda v: -v, **{})\n(lambda *p: None)(None, None, None)",
    "looks like the end": "r = None, None, None\n[None, None, None]",
}
SHAPES = {
    "alone": "def around(m, a, b, c, o):\n  with m:\n@@\n  return locals()",
    "in loops": "def around(m, a, b, c, o):\n  for q in [1]:\n    for w in 'ab':\n      with m as (t, u):\n@@\n"
    "      if w == 'a': return locals()",
    "in finally": "def around(m, a, b, c, o):\n  try: pass\n  finally:\n    with m as o.t:\n@@\n  return locals()",
    "in a handler": "def around(m, a, b, c, o):\n  try: 1 / 0\n  except ZeroDivisionError:\n    with m as a_list[:]:\n@@\n"
    "    return locals()\na_list = []",
    "between items": "from contextlib import nullcontext as n\ndef around(m, a, b, c, o):\n"
    "  with n(4) as n0, m as t, n(5) as n1:\n@@\n  return locals()",
    "on cells": "def around(m, a, b, c, o):\n  def get(): return a, b, x, i, r, e\n  with m as x:\n@@\n  return locals()",
    "among 300 names": f"def around(m, a, b, c, o):\n  {'; '.join(f'v{i} = {i}' for i in range(300))}\n"
    "  with m as t:\n        v299 += v1\n@@\n  return locals()",
    "before break": "def around(m, a, b, c, o):\n  while True:\n    if a:\n      with m as a_dict[[i for i in 'xy'][0]]:\n@@\n"
    "      break\n  return locals()\na_dict = {}",
}
OF_THE_HEADER = {"m", "t", "u", "n1", "get"}


def text_of(shape, body):
    return SHAPES[shape].replace("@@", textwrap.indent(BODIES.get(body, body), "        "))


def variables(outcome, shape):
    names, error = outcome
    assert error is None
    hidden = OF_THE_HEADER | ({"x"} if shape == "on cells" and names.get("x") == ("entered", 2) else set())
    shown = {name: picture(value) for name, value in names.items() if name not in hidden}
    shown["o"].pop("t", None)
    return shown


@needs_carving
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("body", BODIES)
def test_a_carved_block_does_what_the_block_does_in_place(body, shape):
    """Every kind of statement, in every kind of surroundings, leaves the same variables."""
    text = text_of(shape, body)

    assert variables(carved(text), shape) == variables(in_place(text), shape)


@needs_carving
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    "body",
    [
        "1 / 0",
        "raise KeyError(\n  a)",
        "[i\n for i in b\n if i / 0]",
        "assert a == 2, f'not {a}'",
        "def f(q): raise KeyError(q)\nf(\n b)",
    ],
    ids=["expression", "two lines", "comprehension", "assert", "nested function"],
)
def test_an_error_points_at_the_lines_and_columns_of_the_block(body, shape):
    """What a carved block raises has the places that it has when the block runs in place."""
    text = text_of(shape, body)

    assert trail(carved(text)[1], "around") == trail(in_place(text)[1], "around")


@needs_carving
def test_a_body_says_what_it_reads_and_binds():
    """Names bound by a nested function count; those that a nested function keeps to itself do not."""
    code, enter = site(
        """
        def around(m, a, b):
            with m as t:
                x = a + len(b)
                def f():
                    nonlocal b
                    own = b = 1
                del t
        """.replace("\n        ", "\n")
    )

    body = carve.carve(code, enter)

    assert (body.reads, body.binds) == (frozenset({"a", "b", "len"}), frozenset({"x", "b", "f", "t"}))


@needs_carving
def test_only_names_that_the_block_uses_are_free():
    """A body needs a cell for what it uses, and none for the other variables of its function."""
    code, enter = site("def around(m, a, b, c):\n  d = a\n  with m as t:\n    d = c\n")

    assert carve.carve(code, enter).code.co_freevars == ("c", "d")


@needs_carving
@pytest.mark.parametrize("call", ["super().__init__()", "s = super()\n      s.__init__()"], ids=["at once", "kept"])
def test_super_finds_the_first_argument(call):
    """`super()` without arguments works in the block of a method, whichever instructions it compiles to."""
    text = f"""
class Base:
    def __init__(self): self.seen = True
class Derived(Base):
    def around(self, m):
      with m:
        pass
        {call.replace(chr(10) + "      ", chr(10) + "        ")}
"""
    manager, made = Carves(), function(text, "Derived")
    instance = made.__new__(made)
    with pytest.raises(Carved):
        instance.around(manager)

    assert (manager.outcome[1], instance.seen) == (None, True)


@needs_carving
def test_private_names_stay_those_of_the_class():
    """`self.__x` in a block of a method means what it means there."""
    text = "class K:\n  def around(self, m):\n    with m:\n      self.__x = 1\n"
    instance = function(text, "K")()
    with pytest.raises(Carved):
        instance.around(Carves())

    assert vars(instance) == {"_K__x": 1}


@needs_carving
def test_every_value_can_be_saved_by_a_method():
    """`value.save()` calls what the block is given as `.save`, with `copy` where it is said; other calls stay."""
    code, enter = site(
        "def around(m, a, o):\n  with m:\n    x = a.save()\n    y = (a + 1).save(copy=True)\n"
        "    o.save(1)\n    z = [i.save for i in [o]][0]()\n"
    )
    body = carve.carve(code, enter)
    values = {
        ".save": lambda value, **options: (value, options),
        "a": 1,
        "o": SimpleNamespace(save=lambda *given: given),
    }
    cells = {name: CellType(values.get(name)) for name in body.code.co_freevars}
    FunctionType(body.code, {}, None, None, tuple(cells.values()))()

    assert [cells[name].cell_contents for name in "xyz"] == [(1, {}), (2, {"copy": True}), ()]


ASYNC_BODIES = {
    "no await": "r = 1",
    "await": "r = await wait(a)",
    "async for": "r = [0]\nasync for i in count(3):\n  if i == 1: continue\n  r.append(i)\nelse:\n  r.append(9)",
    "async with": "async with m2 as r:\n  await wait(1)",
    "comprehension": "r = [await wait(i) async for i in count(3) if i]",
    "error awaited": "try: await wait(ValueError('v'))\nexcept ValueError as e: r = e.args",
}
AROUND_ASYNC = """
async def wait(x):
    import asyncio
    await asyncio.sleep(0)
    if isinstance(x, Exception): raise x
    return x
async def count(n):
    for i in range(n):
        yield await wait(i)
async def around(m, m2, a):
    for _ in [1]:
        async with m as t:
@@
    return locals()
"""


@needs_carving
@pytest.mark.parametrize("body", ASYNC_BODIES)
def test_the_block_of_an_async_with_is_a_coroutine(body):
    """It awaits what the block awaits, and leaves the same variables."""
    text = AROUND_ASYNC.replace("@@", textwrap.indent(ASYNC_BODIES[body], " " * 12))
    plain = asyncio.run(function(text)(Stays(), Stays(), 1))
    manager = AsyncCarves()
    with pytest.raises(Carved):
        asyncio.run(function(text)(manager, Stays(), 1))
    found, error = manager.outcome

    assert error is None
    assert {n: picture(v) for n, v in found.items() if n not in {"m", "t"}} == {
        n: picture(v) for n, v in plain.items() if n not in {"m", "t"}
    }


@needs_carving
def test_a_coroutine_turns_stop_iteration_into_an_error():
    """As every coroutine does."""
    text = AROUND_ASYNC.replace("@@", " " * 12 + "raise StopIteration")
    manager = AsyncCarves()
    with pytest.raises(Carved):
        asyncio.run(function(text)(manager, Stays(), 1))

    assert isinstance(manager.outcome[1], RuntimeError)


class AsyncCarves(Carves):
    """Runs the carved coroutine to its end, on a loop of another thread."""

    def __aenter__(self):
        frame = sys._getframe(1)
        self.body = carve.carve(frame.f_code, frame.f_lasti)
        self.frame_locals, (self.made, self.cells) = dict(frame.f_locals), made_from(self.body, frame)
        return self._run()

    async def _run(self):
        error = None
        try:
            await self.made()
        except Exception as raised:
            error = raised
        after, _ = outcome(lambda: None, self.frame_locals, self.cells)
        self.outcome = after, error
        raise Carved


@needs_carving
@pytest.mark.parametrize("scope", ["module", "class"])
def test_a_block_outside_of_functions_runs_in_its_mapping(scope):
    """Names of a module and of a class body are looked up and bound in the mapping that `exec` is given."""
    text = "y = 2\nwith m:\n  x = y + 1\n  del y\n  r = [i for i in range(x)]\n  def f(self): return __class__\n"
    if scope == "class":
        text = "class K:\n" + textwrap.indent(text, "  ")
    found = []

    class InMapping(Carves):
        def __enter__(self):
            frame = sys._getframe(1)
            code = carve.carve(frame.f_code, frame.f_lasti).code
            cells = tuple(CellType() for _ in code.co_freevars)
            namespace = dict(frame.f_locals)
            exec(code, namespace if scope == "module" else frame.f_globals, namespace, closure=cells or None)
            found.append({name: namespace.get(name) for name in ("x", "y", "r")})
            raise Carved

    with pytest.raises(Carved):
        exec(compile(text, "<nowhere>", "exec"), {"m": InMapping()})

    assert found == [{"x": 3, "y": None, "r": [0, 1, 2]}]


@needs_carving
def test_line_events_of_a_carved_block_are_those_of_its_lines():
    """A debugger or a coverage tool sees each line of the block once, in order, in the file of the block."""
    code, enter = site("def around(m, a):\n  with m:\n    x = a\n\n    y = x\n    z = [i\n      for i in ()]\n")
    body = carve.carve(code, enter)
    made = FunctionType(body.code, {}, None, None, tuple(CellType(1) for _ in body.code.co_freevars))
    lines = []

    def watch(frame, event, _):
        if frame.f_code is body.code and event == "line":
            lines.append(frame.f_lineno)
        return watch

    before = sys.gettrace()
    sys.settrace(watch)
    try:
        made()
    finally:
        sys.settrace(before)

    assert list(dict.fromkeys(lines)) in ([3, 5, 6, 7, 2], [3, 5, 7, 6, 2])


@needs_carving
def test_a_watched_function_is_carved_as_an_unwatched_one():
    """What `sys.settrace` and `sys.monitoring` do to a running function's instructions does not reach the body."""
    text = text_of("alone", "list comprehension")
    quiet = variables(carved(text), "alone")

    def watch(frame, event, _):
        frame.f_trace_opcodes = True
        return watch

    before = sys.gettrace()
    sys.settrace(watch)
    try:
        watched = carved(text)
    finally:
        sys.settrace(before)

    assert variables(watched, "alone") == quiet


@pytest.mark.skipif(sys.version_info >= (3, 11), reason="is about 3.10")
def test_a_version_without_known_bytecode_is_refused():
    """3.10 says so instead of guessing."""
    with pytest.raises(carve.CannotCarve, match="not known"):
        carve.carve(site.__code__, 0)


@needs_carving
def test_nothing_is_carved_where_a_trial_fails(monkeypatch):
    """An interpreter whose bytecode means something else is found out by the trials, and the error says so."""
    monkeypatch.setattr(carve.selftest, "failure", lambda take: "carving is off: trial")

    with pytest.raises(carve.CannotCarve, match="carving is off"):
        carve.carve(*site("def around(m):\n  with m:\n    pass\n"))
