"""What variables are called."""

import pytest

from tracer_core import bytecode, variables


def code_of(text):
    """Return the code of the function `f` in `text`."""
    names = {}
    exec(text, names)
    return names["f"].__code__


@pytest.mark.parametrize(("target", "name"), [("x", "x"), ("x.y", None), ("x[a if b else c]", None)], ids=str)
def test_the_last_name_of_a_target_is_known(target, name):
    """The store of the target ends where the body begins."""
    code = code_of(f"def f(a, b, c):\n    x = y = None\n    with a as {target}:\n        b()\n    return x, y\n")
    enter = next(bytecode.enters(code.co_code))
    store = bytecode.target_store(code.co_code, enter.after)

    assert variables.stored_name(code, store.last) == name
    assert bytecode.line_at(code, store.end) == 4


@pytest.mark.parametrize("where", ["cell", "global", "module"])
def test_a_target_may_be_any_kind_of_name(where):
    """A cell, a global and a name of a module are known by name as well."""
    if where == "module":
        code = compile("with a as x:\n    b\n", "text.py", "exec")
    else:
        declared = "global x" if where == "global" else "g = lambda: x"
        code = code_of(f"def f(a):\n    {declared}\n    with a as x:\n        a\n")
    enter = next(bytecode.enters(code.co_code))

    assert variables.stored_name(code, bytecode.target_store(code.co_code, enter.after).last) == "x"


def test_names_reached_as_globals_are_no_variables():
    """A comprehension's variable of the same name does not make a global a variable."""
    code = code_of("def f():\n    r = [x for x in [1]]\n    return x, r\n")

    assert "x" not in {*code.co_varnames} - variables.global_names(code)
