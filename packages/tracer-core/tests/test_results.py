"""`Saved`: the names that one run of a block saved."""

import copy
import pickle

import pytest

from tracer_core.results import Saved


def test_a_saved_name_is_an_attribute():
    """Each saved name is an attribute."""
    saved = Saved(total=3)

    assert saved.total == 3


def test_the_whole_is_a_dict_in_binding_order():
    """`asdict` returns all names in the order in which the block bound them."""
    saved = Saved(later=1, first=2)

    assert list(saved.asdict().items()) == [("later", 1), ("first", 2)]


def test_asdict_returns_a_new_dict():
    """Changing what `asdict` returned leaves the saved names alone."""
    saved = Saved(total=3)

    saved.asdict()["total"] = 4

    assert saved.total == 3


def test_a_name_that_is_also_a_method_wins():
    """A saved name that happens to be called like a method is still the saved name."""
    saved = Saved(asdict=3)

    assert (saved.asdict, dict(saved)) == (3, {"asdict": 3})


def test_it_has_a_length_and_members():
    """`len` counts the names and `in` looks for one."""
    saved = Saved(total=3, words=[])

    assert (len(saved), "words" in saved, "other" in saved) == (2, True, False)


def test_the_repr_shows_names_and_values():
    """The repr is a call that shows each name and value."""
    assert repr(Saved(total=3, word="a")) == "Saved(total=3, word='a')"


@pytest.mark.parametrize(
    ("saved", "message"),
    [
        pytest.param(
            Saved(total=3, words=[]),
            "this run of the block saved no 'totals'; it saved total, words. Save it in the block: totals = save(...)",
            id="some",
        ),
        pytest.param(
            Saved(),
            "this run of the block saved no 'totals'; it saved nothing. Save it in the block: totals = save(...)",
            id="none",
        ),
    ],
)
def test_a_missing_name_lists_those_that_were_saved(saved, message):
    """Asking for a name that was not saved says which names were."""
    with pytest.raises(AttributeError) as raised:
        saved.totals  # reading it is the test

    assert str(raised.value) == message


@pytest.mark.parametrize(
    "duplicate", [copy.deepcopy, lambda saved: pickle.loads(pickle.dumps(saved))], ids=["copy", "pickle"]
)
def test_it_can_be_copied_and_pickled(duplicate):
    """A copy and a pickle of the saved names equal them."""
    saved = Saved(total=3, words=["a"])

    assert duplicate(saved) == saved
