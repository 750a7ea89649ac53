"""Facts about CPython's frames and code."""

import sys

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


def test_the_line_of_no_instruction_is_none():
    """Beyond the end there is no line."""
    code = code_of("def f():\n    return 1\n")

    assert frames.line_at(code, 10**6) is None
    assert not frames.starts_line(code, 10**6)


def test_the_handled_error_can_be_changed():
    """What `sys.exc_info()` shows can be set and forgotten, and the end of the clause puts things right."""
    other = ValueError("other")
    seen = []
    try:
        raise KeyError
    except KeyError:
        frames.forget_handled()
        seen.append(sys.exc_info()[1])
        frames.set_handled(other)
        seen.append(sys.exc_info()[1])

    assert seen == [None, other]
    assert sys.exc_info()[1] is None
