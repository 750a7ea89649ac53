"""What is known of code lives as long as the code."""

import gc
import weakref

from interp_components.sources import percode
from interp_components.sources.percode import PerCode


def make_function():
    names = {}
    exec(compile("def f(): pass", "somewhere", "exec"), names)
    return names["f"]


class Known:
    pass


def test_it_is_made_once():
    """Functions that share their code share what is known of it."""
    known = PerCode(lambda function: Known())

    def make():
        def f():
            pass

        return f

    assert known(make()) is known(make())


def test_equal_code_is_not_the_same_code():
    """Code of two files can be equal, and is not one."""
    known = PerCode(lambda function: Known())
    one, other = make_function(), make_function()
    assert one.__code__ == other.__code__

    assert known(one) is not known(other)


def test_it_goes_with_the_code():
    """Nothing is kept of code that is gone."""
    known = PerCode(lambda function: Known())
    function = make_function()
    kept = weakref.ref(known(function))

    del function
    gc.collect()

    assert kept() is None


def test_the_oldest_goes(monkeypatch):
    """The memory is bounded."""
    monkeypatch.setattr(percode, "_LIMIT", 2)
    known = PerCode(lambda function: Known())
    functions = [make_function() for _ in range(3)]
    first = known(functions[0])

    for function in functions:
        known(function)

    assert known(functions[0]) is not first
