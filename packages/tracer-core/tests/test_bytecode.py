"""Facts about CPython's code objects."""

from tracer_core import bytecode


def code_of(text):
    """Return the code of the function `f` in `text`."""
    names = {}
    exec(text, names)
    return names["f"].__code__


def test_no_instruction_but_an_enter_enters():
    """Calls and loads are no enters."""
    code = code_of("def f(a):\n    a()\n    return a.b\n")

    assert list(bytecode.enters(code.co_code)) == []
    assert all(bytecode.enter_at(code.co_code, offset) is None for offset, *_ in bytecode.instructions(code.co_code))


def test_the_line_of_no_instruction_is_none():
    """Beyond the end there is no line."""
    code = code_of("def f():\n    return 1\n")

    assert bytecode.line_at(code, 10**6) is None
    assert not bytecode.starts_line(code, 10**6)
