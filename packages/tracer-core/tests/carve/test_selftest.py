"""The trials tell an interpreter whose bytecode means what is thought from one whose bytecode does not."""

import sys

import pytest

from tracer_core.carve import selftest

pytestmark = pytest.mark.skipif(sys.version_info < (3, 11), reason="3.10 has no bytecode that can be carved")


def test_bodies_that_are_taken_out_rightly_pass():
    """Then nothing is said."""
    from tracer_core.carve import _code

    assert selftest.failure(_code) is None


def test_a_body_that_cannot_be_taken_out_or_run_fails():
    """The reason holds the error, whatever its class."""

    def take(code, offset):
        raise OverflowError(offset)

    assert "trial of it fails on this Python" in selftest.failure(take)


def test_a_body_that_does_other_things_fails():
    """The reason holds what came out and what was to come out."""

    def take(code, offset):
        a = b = c = None
        return (lambda: (a, b, c)).__code__

    assert "gives {'a': [0, 1, 2], 'b': 0, 'c': 1} on this Python" in selftest.failure(take)
