"""What a block may hold, and what it is found to bind and to save."""

import pytest

from tracer_core import Tracer, UnsupportedBody, save


def define(tmp_path, text):
    """Return the names that the module `text` defines, from a file."""
    file = tmp_path / "program.py"
    file.write_text(text)
    names = {"Tracer": Tracer, "save": save}
    exec(compile(text, str(file), "exec"), names)
    return names


@pytest.mark.parametrize(
    ("statement", "word", "line"),
    [
        ("return 1", "return", 5),
        ("yield 1", "yield", 5),
        ("x = yield from ()", "yield", 5),
        ("break", "break", 5),
        ("if log: continue", "continue", 5),
        ("for x in []: pass\n            else: break", "break", 6),
    ],
    ids=["return", "yield", "yield from", "break", "continue", "break in else"],
)
def test_a_statement_that_leaves_the_block_is_refused_before_anything_runs(tmp_path, statement, word, line):
    """The error is a SyntaxError with the place of the statement, and the block has not begun."""
    names = define(
        tmp_path,
        f"def f(log):\n    for _ in [1]:\n        with Tracer():\n            log.append(1)\n            {statement}\n",
    )
    log = []

    with pytest.raises(UnsupportedBody, match=word) as caught:
        list(names["f"](log) or ())

    assert isinstance(caught.value, SyntaxError)
    assert (caught.value.filename, caught.value.lineno) == (str(tmp_path / "program.py"), line)
    assert caught.value.text.strip()
    assert log == []


@pytest.mark.parametrize(
    ("statement", "word"),
    [
        ("await x", "await"),
        ("async with x: pass", "async with"),
        ("async for y in x: pass", "async for"),
        ("z = [y async for y in x]", "comprehension"),
    ],
    ids=["await", "async with", "async for", "comprehension"],
)
def test_waiting_in_a_plain_with_is_refused(tmp_path, statement, word):
    """Only the block of `async with` can wait."""
    names = define(tmp_path, f"async def f(x):\n    with Tracer():\n        {statement}\n")

    with pytest.raises(UnsupportedBody, match=word):
        names["f"](None).send(None)


def test_an_import_of_everything_is_refused(tmp_path):
    """`from module import *` binds names that cannot be known."""
    with pytest.raises(UnsupportedBody, match="import"):
        define(tmp_path, "with Tracer():\n    from os import *\n")


BINDING = {
    "assignment": "x = [1]",
    "annotated": "x: list = [1]",
    "augmented": "x = []\n        x += [1]",
    "walrus": "print((x := [1]), end='')",
    "walrus in a comprehension": "[x := [y] for y in [1]]",
    "for": "for x in [[1]]: pass",
    "with": "import contextlib\n        with contextlib.nullcontext([1]) as x: pass",
    "match": "match [1]:\n            case x: pass",
    "match star": "match [1]:\n            case [*x]: pass",
    "match rest": "match {'a': 1}:\n            case {**x}: pass",
    "function": "def x(): return [1]",
    "class": "class x: pass",
    "import": "import os as x",
    "import of a part": "import os.path\n        x = os",
    "from import": "from os import path as x",
    "nested function with nonlocal": "x = 0\n        def g():\n            nonlocal x\n            x = [1]\n        g()",
    "loop with break": "while True:\n            x = [1]\n            break",
    "lambda default": "x = (lambda y=[1]: y)()",
    "dictionary comprehension": "x = {y: [z for z in [y]] for y in [1] for w in [2]}",
}


@pytest.mark.parametrize("statement", BINDING.values(), ids=BINDING.keys())
def test_every_kind_of_binding_comes_back(tmp_path, statement):
    """However a block binds a name, the name can be saved."""
    names = define(tmp_path, f"def f():\n    with Tracer():\n        {statement}\n        save(x)\n    return x\n")

    found = names["f"]()

    assert found in ([1], {"a": 1}, {1: [1]}) or callable(found) or hasattr(found, "__name__")


def test_the_name_of_an_exception_is_unbound_after_its_clause(tmp_path):
    """As in place, the name of an `except` clause does not outlive it."""
    names = define(
        tmp_path,
        "def f():\n    with Tracer():\n        try: 1 / 0\n        except ZeroDivisionError as e: kept = save([e])\n"
        "    return kept, 'e' in locals()\n",
    )

    kept, bound = names["f"]()

    assert isinstance(kept[0], ZeroDivisionError)
    assert not bound


@pytest.mark.parametrize(
    "expression",
    ["save(3) if x else save(4)", "0 or save(3)", "(y := save(3))", "tracer_core.save(3)"],
    ids=["conditional", "or", "walrus", "attribute"],
)
def test_a_save_inside_an_expression_names_its_target(tmp_path, expression):
    """A name bound to the value of a save comes back, whatever stands around the call."""
    names = define(
        tmp_path,
        f"import tracer_core\ndef f(x):\n    with Tracer():\n        n = {expression}\n        m = 3\n    return n, 'm' in locals()\n",
    )

    assert names["f"](1) == (3, False)


def test_a_declared_annotation_binds_nothing(tmp_path):
    """An annotation without a value is no statement of the block."""
    names = define(tmp_path, "def f():\n    with Tracer():\n        x: int\n        y: int = save(1)\n    return y\n")

    assert names["f"]() == 1


def test_a_global_of_the_block_is_bound(tmp_path):
    """`global` in the block binds the global at once."""
    names = define(tmp_path, "def f():\n    with Tracer():\n        global g\n        g = 1\n")

    names["f"]()

    assert names["g"] == 1
