"""Wrappers are taken off and put around the guarded function again."""

import functools
from contextlib import contextmanager

import pytest

from interp_components.errors import SourceNotAvailable
from interp_components.sources.peel import peel


def forward(x):
    """Add one."""
    return x + 1


def wrapping(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs) * 10

    return wrapper


def with_manager(function):
    @contextmanager
    def manager():
        yield

    entered = manager

    @functools.wraps(function)
    def wrapper(*args):
        with entered():
            return function(*args)

    return wrapper


def dispatching(function):
    def wrapper(x):
        return {"eager": function}["eager"](x)

    return wrapper


def passing_on(function):
    def wrapper(x):
        return functools.partial(function, x)()

    return wrapper


class Instance:
    def __call__(self, x):
        return x + 1

    def method(self, x):
        return x + 1


def replaced(x):
    return x + 2


@pytest.mark.parametrize(
    ("target", "name", "result"),
    [
        pytest.param(forward, "forward", 3, id="function"),
        pytest.param(wrapping(forward), "forward", 30, id="wrapper"),
        pytest.param(wrapping(wrapping(forward)), "forward", 300, id="wrapper_of_a_wrapper"),
        pytest.param(functools.partial(forward), "forward", 3, id="partial"),
        pytest.param(functools.partial(wrapping(forward)), "forward", 30, id="partial_of_a_wrapper"),
    ],
)
def test_what_is_around_stays_around(target, name, result):
    """The function inside is found, and another in its place is called through the same wrappers."""
    peeled = peel(target)

    assert (name, result) == (peeled.function.__name__, peeled.around(replaced)(1))


def calling(function):
    def forward(x, *rest):
        return function(x) + len([*rest])

    return forward


@pytest.mark.parametrize(
    "target",
    [
        pytest.param(calling(forward), id="calls_with_its_own"),
        pytest.param(dispatching(forward), id="chooses"),
        pytest.param(passing_on(forward), id="passes_on"),
        pytest.param(with_manager(forward), id="calls_two"),
    ],
)
def test_a_dispatcher_is_a_forward_of_its_own(target):
    """What hands its function on, calls two, or calls one with arguments of its own, is not taken off."""
    assert peel(target).function is target


@pytest.mark.parametrize("get", [lambda one: one, lambda one: one.method], ids=["instance", "bound_method"])
def test_objects_stay_bound(get):
    """An object with a `__call__`, and a bound method, keep their object."""
    instance = Instance()

    peeled = peel(get(instance))

    assert peeled.around(lambda self, x: (self, x))(1) == (instance, 1)


def test_a_rebuilt_wrapper_looks_like_the_wrapper():
    """Name, docstring and `__wrapped__` are those of the wrapper, which itself is left alone."""
    wrapper = wrapping(forward)

    rebuilt = peel(wrapper).around(replaced)

    assert (rebuilt.__name__, rebuilt.__doc__, rebuilt.__wrapped__, wrapper(1)) == (
        "forward", "Add one.", forward, 20,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        pytest.param(len, "'len' has no Python source", id="builtin"),
        pytest.param([].append, "'list.append' has no Python source", id="c_method"),
        pytest.param(dict, "class dict", id="class"),
        pytest.param(3, "'int' has no Python source", id="no_callable"),
        pytest.param(functools.lru_cache(forward), "has no Python source", id="c_wrapper"),
    ],
)
def test_what_runs_no_python_is_refused(target, reason):
    """The error says what it is."""
    with pytest.raises(SourceNotAvailable, match=reason):
        peel(target)


def test_a_compiled_forward_is_refused():
    """What torch.compile returns is marked, and its text is not what runs."""

    def compiled(x):
        return x

    compiled._torchdynamo_orig_callable = forward

    with pytest.raises(SourceNotAvailable, match=r"torch\.compile"):
        peel(compiled)
