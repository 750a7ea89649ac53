"""A guarded function does what the function did, asked or not."""

import sys
import traceback
import weakref

import pytest
from tests.sources import forwards

from interp_components.sources.labelled import label
from interp_components.sources.listing import Kind


def guarded(function):
    """The function guarded, its slots, and its operations."""
    labelled = label(function)
    slots = [None] * len(labelled.operations)
    return labelled.with_slots(function, slots), slots, labelled.operations


def outcome(function, *args):
    """What a call returns, and what it wrote down on the way."""
    log = []

    def f(value):
        log.append(repr(value) if not isinstance(value, tuple) else tuple(map(type, value)))
        return value

    return repr(function(*args, f)), log


class Receiver:
    """Passes every attribute on, as a slot does for a method's receiver."""

    def __init__(self, receiver):
        self._receiver = receiver

    def __getattr__(self, name):
        return getattr(self._receiver, name)


@pytest.mark.parametrize("function", forwards.FORWARDS, ids=lambda function: function.__name__)
def test_unasked_it_does_the_same(function):
    """Result and order of effects are those of the function while all slots are empty."""
    assert outcome(function) == outcome(guarded(function)[0])


@pytest.mark.parametrize("function", forwards.FORWARDS, ids=lambda function: function.__name__)
def test_asked_for_everything_it_does_the_same(function):
    """Result and order of effects are those of the function when every slot passes on what it is given."""
    copy, slots, operations = guarded(function)
    for place, operation in enumerate(operations):
        slots[place] = Receiver if operation.sees_receiver else lambda subject: subject

    assert outcome(function) == outcome(copy)


@pytest.mark.parametrize("is_asked", [False, True], ids=["unasked", "asked"])
def test_a_method_keeps_its_class(is_asked):
    """Zero-argument super(), `__class__` and private names mean what they meant."""
    copy, slots, operations = guarded(forwards.Derived.forward)
    for place, operation in enumerate(operations):
        slots[place] = (Receiver if operation.sees_receiver else lambda subject: subject) if is_asked else None

    expected = outcome(forwards.Derived.forward, forwards.Derived())

    assert expected == outcome(copy, forwards.Derived())


@pytest.mark.parametrize("function", forwards.FORWARDS, ids=lambda function: function.__name__)
def test_every_operation_that_ran_was_looked_at(function):
    """Each slot that is filled is called, but for those in branches that are not taken."""
    copy, slots, operations = guarded(function)
    seen = set()

    def slot(name, wrap):
        def look(subject):
            seen.add(name)
            return wrap(subject)

        return look

    for place, operation in enumerate(operations):
        slots[place] = slot(operation.name, Receiver if operation.sees_receiver else lambda subject: subject)
    outcome(copy)

    missed = {operation.name for operation in operations} - seen
    assert all(is_not_reached(function, name) for name in missed), missed


def is_not_reached(function, name):
    """Whether the corpus has the operation in a branch that does not run."""
    not_reached = {
        "branches": {"f_5"},
        "exceptions": {"f_3"},
        "matching": {"return_1"},
        "walrus": {"return_1"},
        "conditions": {"f_1", "f_6"},
    }
    return name in not_reached.get(function.__name__, ())


def calls(function):
    """How many calls, of Python and of C, one run of the function makes."""
    count = 0

    def profile(frame, event, argument):
        nonlocal count
        count += event in {"call", "c_call"}

    sys.setprofile(profile)
    try:
        function(int)
    finally:
        sys.setprofile(None)
    return count


def plain_forward(f):
    n = f(1)
    n += f(2)
    text = str(n).strip().join(["a", str(n)]).upper()
    a, b = [f(m) for m in range(2)]
    return f(len(text) + a + b)


def test_unasked_it_calls_nothing_more():
    """While nobody asks, a guarded function makes the calls of the function and no other."""
    assert calls(plain_forward) == calls(guarded(plain_forward)[0])


def test_a_slot_filled_while_the_function_runs_is_looked_at():
    """A request that comes late is served by what is still ahead."""
    copy, slots, operations = guarded(plain_forward)
    place = next(place for place, operation in enumerate(operations) if operation.name == "text_0")

    def f(value):
        slots[place] = lambda text: "late"
        return value

    assert copy(f) == len("late") + 1


@pytest.mark.parametrize("name", ["f_1", "text_strip_0", "print_0"])
def test_a_slot_filled_while_an_argument_is_computed_is_looked_at(name):
    """Python has the outer callee by then; the slot is looked at behind the arguments."""

    def nested(f, print=max):
        text = "z"
        return f(f("a")) + text.strip(f("b")) + print(f("c"), "a")

    copy, slots, operations = guarded(nested)
    place = next(place for place, operation in enumerate(operations) if operation.name == name)
    seen = []

    def f(value):
        slots[place] = lambda callee: lambda *args: seen.append(args) or callee(*args)
        return value

    assert (copy(f), len(seen)) == ("azc", 1)


class Value:
    """Something that can be seen to die."""

    def __init__(self, died):
        self._watch = weakref.finalize(self, died, None)

    def next(self, *args, **kwargs):
        return self

    def number(self):
        return 1


def dropping(make, check):
    n = make().next(1).next(a=2).next().number()
    check()
    make().next(make().next(), make().number(), a=make(), b=make().number()).number()
    check()
    box = forwards.Box(lambda value: value)
    box.total = make().next().number()
    check()
    return n + len([make().next().number() for _ in range(2)]) + check()


def test_nothing_lives_longer():
    """A receiver in the middle of a line is let go of at the end of the line, as it was."""
    copy, _, _ = guarded(dropping)
    alive = []

    def make():
        alive.append(1)
        return Value(alive.remove_one)

    class Alive(list):
        def remove_one(self, _):
            self.pop()

    alive = Alive()

    def check():
        assert alive == []
        return 0

    assert copy(make, check) == 3


def failing(f):
    values = f(1)
    return values.missing(
        f(2),
    )  # fmt: skip


def test_a_traceback_points_where_it_pointed():
    """File, line and columns of an error in a guarded function are those of the text."""

    def position(function):
        try:
            function(int)
        except AttributeError as error:
            frame = traceback.TracebackException.from_exception(error).stack[-1]
            return (
                frame.filename,
                frame.name,
                frame.lineno,
                getattr(frame, "colno", None),
                getattr(frame, "end_lineno", None),
            )
        return None

    assert position(failing) == position(guarded(failing)[0])


def test_a_guarded_function_keeps_defaults_and_signature():
    """Defaults, keyword defaults, names and annotations are those of the function."""
    import inspect

    def function(a: int, b: int = 2, *, c: str = "c") -> int:
        return len([a, b, c])

    copy, _, _ = guarded(function)

    assert (copy(1), copy.__qualname__, inspect.signature(copy)) == (
        3,
        function.__qualname__,
        inspect.signature(function),
    )


def test_kinds_say_what_an_operation_is():
    """A call, a binding, an augmented assignment and a return are told apart."""
    kinds = {operation.name: operation.kind for operation in label(plain_forward).operations}

    expected = (Kind.CALL, Kind.ASSIGNMENT, Kind.AUGMENTED, Kind.RETURN)
    assert expected == (kinds["f_0"], kinds["n_0"], kinds["n_iadd_0"], kinds["return_0"])
