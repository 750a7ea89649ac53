"""Facts about CPython's frames and code."""

import sys

import pytest

from tracer_core import frames


def code_of(text):
    """Return the code of the function `f` in `text`."""
    names = {}
    exec(text, names)
    return names["f"].__code__


def test_no_instruction_but_an_enter_enters():
    """Calls and loads are no enters."""
    code = code_of("def f(a):\n    a()\n    return a.b\n")

    assert list(frames.enters(code.co_code)) == []
    assert all(frames.enter_at(code.co_code, offset) is None for offset, *_ in frames.instructions(code.co_code))


@pytest.mark.parametrize(("target", "name"), [("x", "x"), ("x.y", None), ("x[a if b else c]", None)], ids=str)
def test_the_last_name_of_a_target_is_known(target, name):
    """The store of the target ends where the body begins."""
    code = code_of(f"def f(a, b, c):\n    x = y = None\n    with a as {target}:\n        b()\n    return x, y\n")
    enter = next(frames.enters(code.co_code))
    store = frames.target_store(code.co_code, enter.after)

    assert frames.stored_name(code, store.last) == name
    assert frames.line_at(code, store.end) == 4


@pytest.mark.parametrize("where", ["cell", "global", "module"])
def test_a_target_may_be_any_kind_of_name(where):
    """A cell, a global and a name of a module are known by name as well."""
    if where == "module":
        code = compile("with a as x:\n    b\n", "text.py", "exec")
    else:
        declared = "global x" if where == "global" else "g = lambda: x"
        code = code_of(f"def f(a):\n    {declared}\n    with a as x:\n        a\n")
    enter = next(frames.enters(code.co_code))

    assert frames.stored_name(code, frames.target_store(code.co_code, enter.after).last) == "x"


def test_the_line_of_no_instruction_is_none():
    """Beyond the end there is no line."""
    code = code_of("def f():\n    return 1\n")

    assert frames.line_at(code, 10**6) is None
    assert not frames.starts_line(code, 10**6)


def test_the_handled_error_can_be_changed():
    """`set_handled` decides what `sys.exc_info()` shows, and the end of the clause puts things right."""
    other = ValueError("other")
    seen = []
    try:
        raise KeyError
    except KeyError:
        frames.set_handled(None)
        seen.append(sys.exc_info()[1])
        frames.set_handled(other)
        seen.append(sys.exc_info()[1])

    assert seen == [None, other]
    assert sys.exc_info()[1] is None


def test_names_reached_as_globals_are_no_variables():
    """A comprehension's variable of the same name does not make a global a variable."""
    code = code_of("def f():\n    r = [x for x in [1]]\n    return x, r\n")

    assert "x" not in {*code.co_varnames} - frames.global_names(code)
