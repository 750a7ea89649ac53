"""The scope of saves."""

import contextvars
import threading

import pytest

from tracer_core import SaveOutsideTrace, mark, save, saving


def test_depth_counts_the_open_scopes():
    """Each `enter` opens a scope inside the one before, and `leave` closes it."""
    depths = [saving.depth()]
    outer = saving.enter()
    depths.append(saving.depth())
    inner = saving.enter()
    depths.append(saving.depth())
    saving.leave(inner)
    saving.leave(outer)
    depths.append(saving.depth())

    assert depths == [0, 1, 2, 0]


def test_an_inner_scope_shares_the_marks():
    """What is marked inside is marked outside."""
    value = []
    outer = saving.enter()
    inner = saving.enter()
    save(value)
    saving.leave(inner)
    scope = saving.current()
    saving.leave(outer)

    assert scope.returns("any", value, ())


def test_a_mark_outside_of_a_trace_is_harmless():
    """`mark` returns its value, and marks where there is a scope."""
    value = []

    assert mark(value) is value

    token = saving.enter()
    mark(value)
    scope = saving.current()
    saving.leave(token)
    assert scope.returns("any", value, ())


def test_a_marked_object_is_held():
    """The scope holds what it marks, so an address cannot be used again."""
    token = saving.enter()
    address = id(save([]))
    others = [[] for _ in range(100)]
    saving.leave(token)

    assert address not in map(id, others)


def test_a_thread_has_no_scope_of_its_maker():
    """A new thread is outside of the trace; a copied context is inside."""
    seen = []
    token = saving.enter()
    context = contextvars.copy_context()
    for target in (saving.depth, lambda: context.run(saving.depth)):
        thread = threading.Thread(target=lambda target=target: seen.append(target()))
        thread.start()
        thread.join()
    saving.leave(token)

    assert seen == [0, 1]


def test_save_without_a_trace_is_an_error():
    """The error is also a ValueError."""
    with pytest.raises(ValueError, match="outside a trace") as caught:
        save(1)

    assert isinstance(caught.value, SaveOutsideTrace)


def test_the_unpacked_names_of_an_unsaved_value_are_not_noted():
    """A function that is called `save` but does not save names nothing."""
    token = saving.enter()
    saving.unpacked([1], a=1)
    scope = saving.current()
    saving.leave(token)

    assert not scope.returns("a", 1, ())


def test_a_type_can_say_how_it_is_copied():
    """`detached` takes registrations for types that know better than `copy.copy`."""

    class Own:
        pass

    saving.detached.register(Own, lambda value: "copied")
    token = saving.enter()
    try:
        assert save(Own(), copy=True) == "copied"
    finally:
        saving.leave(token)
