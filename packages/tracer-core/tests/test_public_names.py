"""What `import tracer_core` gives, and what it costs."""

import subprocess
import sys

import pytest

import tracer_core

LOADED = "import sys, tracer_core{}; print('concurrent.futures' in sys.modules, 'asyncio' in sys.modules)"


@pytest.mark.parametrize("name", tracer_core.__all__)
def test_a_public_name_is_there(name):
    """Every name in `__all__` can be had from the package."""
    assert getattr(tracer_core, name) is not None


def test_public_names_are_sorted():
    """`__all__` lists each name once, in order."""
    assert tracer_core.__all__ == sorted(set(tracer_core.__all__))


def test_an_unknown_name_is_an_attribute_error():
    """A name that the package does not have is an AttributeError that says so."""
    with pytest.raises(AttributeError, match="module 'tracer_core' has no attribute 'Traser'"):
        tracer_core.Traser  # reading it is the test


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        pytest.param("", "False False", id="the package"),
        pytest.param(".deferred", "True False", id="the part that needs it"),
    ],
)
def test_importing_the_package_does_not_import_what_executors_need(more, expected):
    """`concurrent.futures` and `asyncio` are imported only by who uses them."""
    done = subprocess.run([sys.executable, "-c", LOADED.format(more)], capture_output=True, text=True, check=True)

    assert done.stdout.split() == expected.split()


def test_importing_the_package_does_not_import_what_makes_blocks():
    """Half of the package waits for the first block."""
    program = "import sys, tracer_core; print('tracer_core.capture' in sys.modules); tracer_core.tracer.skippable; "
    program += "print('tracer_core.capture' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.split() == ["False", "True"]


def test_a_word_that_no_step_has_is_said_to_be_missing():
    """As any module says it."""
    with pytest.raises(AttributeError, match=r"module 'tracer_core\.tracer' has no attribute 'skippble'"):
        tracer_core.tracer.skippble  # reading it is the test
