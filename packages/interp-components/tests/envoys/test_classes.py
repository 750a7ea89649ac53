"""`envoys=` - which class an envoy gets."""

import pytest
from torch import nn

from interp_components.envoys import Envoy


class One(Envoy):
    pass


class Other(Envoy):
    pass


def net():
    return nn.ModuleDict({"h": nn.ModuleList([nn.ModuleDict({"proj": nn.Linear(2, 2)})])})


@pytest.mark.parametrize(
    ("envoys", "expected"),
    [
        pytest.param(None, Envoy, id="nothing"),
        pytest.param(One, One, id="one class"),
        pytest.param({nn.Linear: One}, One, id="module class"),
        pytest.param({nn.Module: One, nn.Linear: Other}, Other, id="nearest class"),
        pytest.param({"proj": One}, One, id="name"),
        pytest.param({"h.*.proj": One}, One, id="wildcard"),
        pytest.param({"layers.*.o_proj": One}, One, id="aliases"),
        pytest.param({"o_proj": One, "proj": Other}, Other, id="native before alias"),
        pytest.param({"proj": One, nn.Linear: Other}, Other, id="class before path"),
        pytest.param({"h.1.proj": One}, Envoy, id="another path"),
    ],
)
def test_the_first_match_decides(envoys, expected):
    """Module classes, then native paths, then paths with aliases."""
    model = Envoy(net(), rename={"h": "layers", "proj": "o_proj"}, envoys=envoys)

    assert type(model.h[0].proj) is expected


def test_a_map_of_the_user_comes_before_that_of_the_family():
    """Also where the user's key is a path and the family's a class."""

    class Family(Envoy):
        def _family_classes(self):
            return {nn.Linear: Other, nn.ModuleList: Other}

    model = Family(net(), envoys={"proj": One})

    assert (type(model.h[0].proj), type(model.h)) == (One, Other)


@pytest.mark.parametrize("key", ["blocks.*", "blocks.0"])
def test_an_alias_of_several_components_is_a_spelling(key):
    """A path may begin where the alias leads."""
    model = Envoy(nn.ModuleDict({"body": net()}), rename={"body.h": "blocks"}, envoys={key: One})

    assert (type(model.body.h[0]), type(model.body.h)) == (One, Envoy)
