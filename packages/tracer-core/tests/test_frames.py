"""What is done to CPython's frames."""

import sys

from tracer_core import frames


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
