"""Parcels: named values as bytes."""

import json
import math
import pickle
import sys
import threading
from types import ModuleType

import pytest

from tracer_core import parcels
from tracer_core.failures import NotPortable


@pytest.fixture(params=["with cloudpickle", "pickle alone"])
def pickling(request, monkeypatch):
    """Both picklers in turn."""
    if request.param == "pickle alone":
        monkeypatch.setattr(parcels, "_cloudpickle", lambda: None)
    parcels._pickler_class.cache_clear()
    yield request.param
    parcels._pickler_class.cache_clear()


@pytest.fixture
def main_names(tmp_path):
    """Run a text as if it were the file of `__main__`, and return its globals."""

    def run(text):
        path = tmp_path / "program.py"
        path.write_text(text)
        names = {"__name__": "__main__"}
        exec(compile(text, path, "exec", dont_inherit=True), names)
        return names

    return run


def trip(**values):
    return parcels.unpack(parcels.pack(values, "the block"), "the block")


class Stubborn:
    """Cannot be made again."""

    def __reduce__(self):
        return json.loads, ("not json",)


@pytest.mark.usefixtures("pickling")
def test_values_arrive_under_their_names():
    """Values arrive equal and under their names, in order."""
    assert list(trip(b=[1], a="x").items()) == [("b", [1]), ("a", "x")]


@pytest.mark.usefixtures("pickling")
def test_two_names_of_one_object_stay_one_object():
    """Two names that share an object share one at the other end."""
    shared = [1]

    arrived = trip(a=shared, b={"inside": shared})

    assert arrived["a"] is arrived["b"]["inside"]


@pytest.mark.usefixtures("pickling")
def test_a_module_travels_by_name():
    """A module is imported at the other end, not copied."""
    assert trip(math=math)["math"] is math


def test_a_module_that_cannot_be_imported_is_left_to_cloudpickle():
    """A module made at run time has no name to import, so it travels by value."""
    made = ModuleType("made_at_run_time")
    made.x = 3

    assert trip(made=made)["made"].x == 3


@pytest.mark.usefixtures("pickling")
def test_a_function_of_main_travels_with_what_it_reads(main_names):
    """A function of `__main__` works at the other end without that `__main__`."""
    names = main_names(
        "import math\nfactor = 2\n\ndef area(r, *, more=1):\n    return math.floor(math.pi * r * factor) + more\n"
    )

    area = trip(area=names["area"])["area"]

    assert (area(1), area(1, more=0), area.__globals__ is names["area"].__globals__) == (7, 6, False)


@pytest.mark.usefixtures("pickling")
def test_functions_of_main_may_call_each_other(main_names):
    """Functions of `__main__` that read each other's names find each other at the other end."""
    names = main_names(
        "def even(n):\n    return n == 0 or odd(n - 1)\n\ndef odd(n):\n    return n != 0 and even(n - 1)\n"
    )

    assert trip(even=names["even"])["even"](10)


@pytest.mark.usefixtures("pickling")
def test_functions_of_main_share_their_globals(main_names):
    """A global that one function of `__main__` sets is what another one reads."""
    names = main_names("n = 0\n\ndef up():\n    global n\n    n += 1\n\ndef read():\n    return n\n")

    arrived = trip(up=names["up"], read=names["read"])
    arrived["up"]()

    assert arrived["read"]() == 1


@pytest.mark.usefixtures("pickling")
def test_names_read_inside_a_nested_function_travel_too(main_names):
    """What an inner function of a function of `__main__` reads travels with it."""
    names = main_names("factor = 2\n\ndef outer(xs):\n    return [(lambda x: x * factor)(x) for x in xs]\n")

    assert trip(outer=names["outer"])["outer"]([1, 2]) == [2, 4]


@pytest.mark.usefixtures("pickling")
def test_a_function_of_main_keeps_its_future_flags(main_names):
    """`from __future__ import annotations` holds at the other end as well."""
    names = main_names(
        "from __future__ import annotations\n\ndef f(x: undefined) -> undefined:\n    y: undefined = x\n    return y\n"
    )

    assert trip(f=names["f"])["f"](3) == 3


@pytest.mark.parametrize(
    ("text", "name"),
    [
        pytest.param("def make():\n    n = 2\n    return lambda x: x * n\nf = make()\n", "f", id="closure"),
        pytest.param("f = lambda x: x * 2\n", "f", id="lambda"),
        pytest.param("class C:\n    def f(self):\n        return self\nf = C.f\n", "f", id="method"),
    ],
)
def test_a_function_without_text_of_its_own_is_left_to_cloudpickle(main_names, text, name):
    """What is no function at the top level of `__main__` travels by value with cloudpickle."""
    assert callable(trip(f=main_names(text)[name])["f"])


@pytest.mark.parametrize("edited", ["def f():\n    return 'edited'\n", "def f(:\n"], ids=["other code", "no code"])
def test_text_that_is_not_the_running_code_does_not_travel(main_names, edited):
    """A function of an edited file travels by value, so that what arrives is what runs here."""
    names = main_names("def f():\n    return 'running'\n")
    with open(names["f"].__code__.co_filename, "w") as file:
        file.write(edited)

    assert trip(f=names["f"])["f"]() == "running"


@pytest.mark.usefixtures("pickling")
def test_a_function_of_an_importable_module_travels_by_reference():
    """A function that the other end can import is imported there."""
    assert trip(f=json.dumps)["f"] is json.dumps


@pytest.mark.usefixtures("pickling")
def test_a_value_that_cannot_leave_is_named():
    """The error says which name could not travel, what it is, why, and the way out."""
    with pytest.raises(NotPortable) as raised:
        parcels.pack({"fine": 1, "lock": threading.Lock()}, "the block at app.py:3")

    assert str(raised.value).startswith(
        "the value of 'lock' of the block at app.py:3 cannot travel to another process: it is a _thread.lock "
        "(TypeError: cannot pickle '_thread.lock' object). Make it inside the block instead, or run the block on "
        "threads, which share it."
    )


def test_cloudpickle_is_offered_only_where_it_is_missing(pickling):
    """The error offers cloudpickle to those who do not have it."""
    with pytest.raises(NotPortable) as raised:
        parcels.pack({"lock": threading.Lock()}, "the block")

    assert ("pip install" in str(raised.value)) == (pickling == "pickle alone")


def test_not_portable_is_a_pickling_error():
    """Code that handles `pickle.PicklingError` handles this one."""
    assert issubclass(NotPortable, pickle.PicklingError)


@pytest.mark.usefixtures("pickling")
def test_a_value_that_cannot_be_made_again_is_named():
    """The error at the other end says which name could not be made again and why."""
    parcel = parcels.pack({"fine": 1, "stubborn": Stubborn()}, "the block at app.py:3")

    with pytest.raises(
        NotPortable, match=r"'stubborn' of the block at app.py:3 cannot be made again .*JSONDecodeError"
    ):
        parcels.unpack(parcel, "the block at app.py:3")


def test_without_cloudpickle_nothing_is_imported(monkeypatch):
    """Where cloudpickle is not installed, plain pickle takes its place."""
    monkeypatch.setitem(sys.modules, "cloudpickle", None)

    assert parcels._cloudpickle() is None
