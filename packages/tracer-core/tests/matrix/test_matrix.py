"""A block of any beginning, under any header, in any scope: deferred, it does what it does in place; not run, nothing."""

import pytest

from .observation import dry, in_place, traced

pytestmark = pytest.mark.filterwarnings("ignore::SyntaxWarning", "ignore::DeprecationWarning")


def test_a_deferred_block_does_what_it_does_in_place(case):
    """What it logs, binds and raises is the same, down to the line and the chain of each error."""
    expected = in_place(case.as_deferred())

    assert traced(case.program()) == case.with_known_names(expected)


def test_a_block_that_is_not_run_leaves_no_effect(case):
    """The header is as it is around a block that is never reached."""
    assert dry(case.program()) == in_place(case.without_block())
