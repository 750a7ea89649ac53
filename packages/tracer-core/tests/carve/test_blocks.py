"""A block whose text is not there, or is another one by now, is the code that runs."""

import asyncio
import linecache
import os
import subprocess
import sys
import textwrap
import traceback

import pytest

import tracer_core
from tracer_core import SourceNotAvailable, StaleSource, Tracer, save

needs_carving = pytest.mark.skipif(sys.version_info < (3, 11), reason="3.10 has no bytecode that can be carved")


def run(text):
    """Run `text`, which is in no file, and return its globals."""
    names = {"Tracer": Tracer, "save": save, "__name__": "nowhere"}
    exec(compile(textwrap.dedent(text), "<nowhere>", "exec"), names)
    return names


def kept(text, *names):
    """Return which of `names` are bound after `text` has run, with their values."""
    found = run(text)
    return {name: found[name] for name in names if name in found}


@needs_carving
def test_a_function_made_by_exec_is_traced():
    """Saved names come back to its variables, the others do not."""
    text = """
    def f(a):
        with Tracer():
            x = a + 1
            y = save([x])
        return locals()
    result = f(1)
    """

    assert run(text)["result"] == {"a": 1, "y": [2]}


@needs_carving
def test_a_module_made_by_exec_is_traced():
    """Functions and comprehensions of the block see what the block binds; only saved names come back."""
    text = """
    k = 2
    with Tracer():
        n = k + 1
        def double():
            return 2 * n
        values = save([n * i for i in range(3)])
        later = save([double() for _ in range(2)])
        k = 0
    """

    assert kept(text, "k", "n", "values", "later", "double") == {"k": 2, "values": [0, 3, 6], "later": [6, 6]}


@needs_carving
def test_a_block_of_a_module_can_delete_and_add_to_its_globals():
    """What it binds begins with the value in the module; a function sees later changes of the others."""
    text = """
    a, b, c = 1, 2, 3
    with Tracer():
        a += 1
        del b
        globals()["late"] = 5
        seen = save([a, "b" in dir(), c, late])
    """

    assert kept(text, "seen", "a", "b") == {"seen": [2, False, 3, 5], "a": 1, "b": 2}


@needs_carving
def test_a_class_body_made_by_exec_is_traced():
    """Names of the class come back to the class."""
    text = """
    class K:
        one = 1
        with Tracer():
            two = save([one])
    """

    assert run(text)["K"].two == [1]


@needs_carving
@pytest.mark.parametrize("place", ["module", "function"])
def test_blocks_inside_carved_blocks_are_carved(place):
    """The inner block gives all its names to the outer one, and sees what the outer one bound."""
    text = "with Tracer():\n  x = 1\n  with Tracer():\n    y = x + 1\n    x = 5\n  z = save([x, y])\n"
    if place == "function":
        text = "def f():\n" + textwrap.indent(text, "  ") + "  return z\nz = f()"

    assert run(text)["z"] == [5, 2]


@needs_carving
def test_a_value_is_saved_by_its_method():
    """`value.save()` works for values whose type has no `save`."""
    assert kept("with Tracer():\n  n = (3).save()\n  m = [n].save()\n", "n", "m") == {"n": 3, "m": [3]}


@needs_carving
@pytest.mark.parametrize("target", ["", " as t"])
def test_a_block_that_begins_with_try_is_traced(target):
    """It is left before the store of its target, which is done all the same."""
    text = f"with Tracer(){target}:\n  try: r = save([1 / 0])\n  except ZeroDivisionError as e: r = save([str(e)])\n"
    found = run(text)

    assert (found["r"], "t" in found) == (["division by zero"], bool(target))


@needs_carving
def test_an_error_has_the_lines_of_the_text_that_is_gone():
    """The last step is the user's line, and what was saved before it has come back."""
    text = "with Tracer():\n  a = save([1])\n\n  1 / 0\n"
    names = {"Tracer": Tracer, "save": save}
    with pytest.raises(ZeroDivisionError) as raised:
        exec(compile(text, "<nowhere>", "exec"), names)
    last = traceback.extract_tb(raised.value.__traceback__)[-1]

    assert (last.filename, last.lineno, names["a"]) == ("<nowhere>", 4, [1])


@needs_carving
def test_a_method_finds_its_class():
    """`super()` and private names work in a block without text."""
    text = """
    class Base:
        def f(self): return 1
    class K(Base):
        def f(self):
            self.__x = 2
            with Tracer():
                r = save([super().f(), self.__x])
            return r
    r = K().f()
    """

    assert run(text)["r"] == [1, 2]


@needs_carving
def test_a_backend_runs_a_carved_block_as_often_as_it_likes():
    """Never, or twice on the same variables."""
    text = """
    def f(backend):
        n = 0
        with Tracer(backend) as t:
            n += 1
            seen.append(n)
        return n
    never = f(lambda tracer: None)
    twice = f(lambda tracer: (tracer.block.run(), tracer.block.run()))
    """
    names = {"Tracer": Tracer, "seen": []}
    exec(compile(textwrap.dedent(text), "<nowhere>", "exec"), names)

    assert (names["never"], names["twice"], names["seen"]) == (0, 0, [1, 2])


@needs_carving
def test_the_block_of_an_async_with_awaits():
    """An awaiting body is awaited by an awaiting backend."""
    text = """
    import asyncio
    async def f(tracer, a):
        async with tracer:
            await asyncio.sleep(0)
            r = save([a])
        return r
    """
    names = run(text)

    assert asyncio.run(names["f"](Tracer(), 1)) == [1]


@needs_carving
@pytest.mark.parametrize(
    ("body", "what"),
    [("return 1", "leaves the block"), ("yield 1", "yield")],
    ids=["return", "yield"],
)
def test_what_cannot_be_deferred_is_refused_before_anything_runs(body, what):
    """The error names the reason; nothing of the block has run."""
    text = f"seen = []\ndef f():\n  with Tracer():\n    seen.append(1)\n    {body}\n  seen.append(2)\n"
    names = run(text)
    with pytest.raises(SourceNotAvailable, match=what):
        list(names["f"]() or ())

    assert names["seen"] == []


def imported(folder, text):
    """Return the globals of a module in `folder` that was imported when its text was `text`."""
    path = folder / "edited.py"
    path.write_text(text)
    names = {"Tracer": Tracer, "save": save, "__name__": "edited", "__file__": str(path)}
    exec(compile(text, str(path), "exec"), names)
    return path, names


TEXT = "def f(a):\n    with Tracer():\n        r = save([a + 1])\n    return r\n"
EDITS = {
    "another operator": TEXT.replace("+", "-"),
    "moved down": "import sys\n\n" + TEXT,
    "another block there": TEXT.replace("[a + 1]", "[a, 2]"),
    "no block there": "x = 1\n",
    "gone": None,
}


@pytest.mark.parametrize("was_read", [True, False], ids=["read before", "first read after"])
@pytest.mark.parametrize("edit", EDITS)
def test_a_file_that_was_edited_gives_the_code_that_runs(tmp_path, edit, was_read):
    """Never the text of another block; where nothing can be carved, an error."""
    path, names = imported(tmp_path, TEXT)
    if was_read:
        linecache.getlines(str(path))
    if EDITS[edit] is None:
        path.unlink()
    else:
        path.write_text(EDITS[edit])
        os.utime(path, (1, 1))
    try:
        found = names["f"](1)
    except (SourceNotAvailable, StaleSource):
        found = None

    assert found == [2] or (found is None and sys.version_info < (3, 11))


@needs_carving
@pytest.mark.parametrize("way", ["piped", "pyc"])
def test_a_program_without_text_is_traced(tmp_path, way):
    """Piped into stdin, or compiled and its source deleted."""
    program = "from tracer_core import Tracer, save\nwith Tracer():\n    r = save([1])\nprint(r)\n"
    folder = os.path.dirname(os.path.dirname(tracer_core.__file__))
    command, given = [sys.executable, "-W", "error"], program
    if way == "pyc":
        source = tmp_path / "program.py"
        source.write_text(program)
        compiled = tmp_path / "program.pyc"
        make = f"import py_compile; py_compile.compile({str(source)!r}, {str(compiled)!r})"
        subprocess.run([sys.executable, "-c", make], check=True)
        source.unlink()
        command, given = [*command, str(compiled)], ""
    done = subprocess.run(
        command, input=given, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": folder}, timeout=60
    )

    assert (done.stdout, done.stderr) == ("[1]\n", "")
