"""How a block reads the names of its caller, and how what it binds comes back to them."""

import sys

import pytest

from tracer_core import Tracer, save


def executed(tmp_path, text):
    """Run `text` as a module and return its names."""
    file = tmp_path / "module.py"
    file.write_text(text)
    names = {"Tracer": Tracer, "save": save}
    exec(compile(text, str(file), "exec"), names)
    return names


CLASS = "x = 'module'\nwith Tracer():\n    x = 'block'\n    class C:\n        {}\n        x = 'class'\n    kept = save([C.y])\n"
CLASSES = {
    "the class itself": "y = x",
    "a class in it": "class D:\n            y = x\n            x = 'inner'\n        y = D.y",
}


@pytest.mark.parametrize("lines", CLASSES.values(), ids=CLASSES)
def test_a_class_in_a_block_of_a_module_reads_what_the_block_bound(tmp_path, lines):
    """A name that a class has not bound yet is a global to it: that of the block, which is not the module's yet."""
    names = executed(tmp_path, CLASS.format(lines))

    assert (names["kept"], names["x"]) == (["block"], "module")


def test_a_function_in_such_a_block_sees_its_names(tmp_path):
    """The block has globals of its own, and the module's show through."""
    text = CLASS.format("y = x") + "    def read():\n        return x, later\n    save(read)\nlater = 5\n"

    assert executed(tmp_path, text)["read"]() == ("block", 5)


def test_a_free_variable_is_bound_beside_a_comprehension_variable_of_its_name():
    """They are two variables; the name belongs to the one that is free."""
    x = 0

    def inner():
        nonlocal x
        squares = [x * x for x in range(3)]
        with Tracer():
            x = save([1])
        return squares, x

    assert (inner(), x) == (([0, 1, 4], [1]), [1])


def unbinds_a_variable():
    """Unbind a variable in a block, and tell whether it is bound."""
    x = 1
    with Tracer():
        del x
    return "x" in locals()


def unbinds_a_cell():
    """Unbind a variable that a function closes over."""
    x = 1
    with Tracer():
        del x
    try:
        return bool((lambda: x)())  # noqa: F821  # whether it is bound is the question
    except NameError:
        return False


@pytest.mark.parametrize("function", [unbinds_a_variable, unbinds_a_cell])
def test_an_inner_trace_unbinds_what_its_block_does(function):
    """A function called in a block finds its variable unbound after a block of its own, where Python can do that."""
    with Tracer():
        bound = save([function()])

    assert bound == [sys.version_info >= (3, 12)]


@pytest.mark.parametrize("around", ["", "class C:\n    "], ids=["module", "class"])
def test_an_inner_trace_unbinds_a_name_of_a_namespace(tmp_path, around):
    """In a module and in a class."""
    text = f"x = 1\n{around}x = 2\n{around and '    '}with Tracer():\n{around and '    '}    del x\n"
    with Tracer():
        names = executed(tmp_path, text)
        bound = save(["x" in (vars(names["C"]) if around else names)])

    assert bound == [False]


def test_the_outermost_trace_unbinds_nothing():
    """It hands back what was saved, and no more."""
    x = 1
    with Tracer():
        del x

    assert x == 1  # noqa: F821  # it is still bound


def test_a_function_made_before_a_block_keeps_the_variables_of_its_caller():
    """The block works on variables of its own: neither sees what the other binds, as the page on limits says."""
    seen = "before"

    def read():
        return seen

    def bind():
        nonlocal other
        other = "by the function"

    other = "before"
    with Tracer():
        seen = "in the block"
        bind()
        found = save([read(), other])

    assert (found, seen, other) == (["before", "before"], "before", "by the function")


def test_a_function_made_in_a_block_shares_its_variables():
    """Both see what the other binds."""
    n = 1
    with Tracer():

        def grow():
            nonlocal n
            n += 1
            return n

        n = 10
        found = save([grow(), n])

    assert (found, n) == ([11, 11], 1)
