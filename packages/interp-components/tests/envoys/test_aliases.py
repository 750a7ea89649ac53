"""`rename=` - further names for modules."""

import pytest
from torch import nn

from interp_components.envoys import Envoy
from interp_components.errors import AliasError


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.c_proj = nn.Linear(2, 2)


def block():
    return nn.ModuleDict({"attn": Attention(), "mlp": nn.ModuleDict({"c_proj": nn.Linear(2, 2)})})


def net():
    return nn.ModuleDict({"transformer": nn.ModuleDict({"h": nn.ModuleList([block(), block()])})})


@pytest.mark.parametrize(
    ("rename", "spelled", "native"),
    [
        pytest.param({"transformer.h": "layers"}, "layers.0", "transformer.h.0", id="dotted"),
        pytest.param({"attn": "self_attn"}, "transformer.h.1.self_attn", "transformer.h.1.attn", id="name"),
        pytest.param({Attention: "self_attn"}, "transformer.h.0.self_attn", "transformer.h.0.attn", id="class"),
        pytest.param(
            {"attn.c_proj": "attn.o_proj"},
            "transformer.h.0.attn.o_proj",
            "transformer.h.0.attn.c_proj",
            id="dotted alias",
        ),
        pytest.param({"*.c_proj": "x"}, None, None, id="wildcard that is ambiguous"),
        pytest.param({"transformer.*": "list"}, "list.1", "transformer.h.1", id="wildcard"),
        pytest.param({"transformer.h": ["layers", "blocks"]}, "blocks.1", "transformer.h.1", id="several"),
    ],
)
def test_an_alias_leads_to_the_module(rename, spelled, native):
    """The envoy keeps its native path."""
    if spelled is None:
        with pytest.raises(AliasError, match="matches 2 modules under"):
            Envoy(net(), rename=rename)
        return
    assert Envoy(net(), rename=rename).get(spelled).path == f"model.{native}"


def test_a_key_that_leads_nowhere_is_skipped():
    """One table serves models with and without a part."""
    assert Envoy(net(), rename={"visual": "tower"}).get("transformer").path == "model.transformer"


@pytest.mark.parametrize(
    ("rename", "message"),
    [
        pytest.param({"attn": "mlp"}, "would shadow the child module model.transformer.h.0.mlp", id="child"),
        pytest.param({"attn": "output"}, "would shadow Envoy.output, a name that every envoy has", id="value"),
        pytest.param(
            {"attn": "training"},
            "would shadow model.transformer.h.0.training, an attribute of ModuleDict",
            id="attribute",
        ),
        pytest.param(
            {"transformer": "it", "transformer.h": "it"},
            "would shadow model.transformer, which model.it is already bound to",
            id="alias",
        ),
        pytest.param({"attn.c_proj": "mlp.o_proj"}, "not where the key starts", id="prefix"),
    ],
)
def test_an_alias_that_hides_a_name_is_refused(rename, message):
    """The message names the path, what is there, and the entry."""
    with pytest.raises(AliasError, match=message):
        Envoy(net(), rename=rename)


def test_aliases_stand_before_native_names_in_the_tree():
    """`print(model)` shows both."""
    assert "(self_attn/attn): Attention(" in repr(Envoy(net(), rename={"attn": "self_attn"}))


def test_aliases_that_lead_further_down_have_lines_of_their_own():
    """They are listed under the module they are bound on."""
    assert "(layers): transformer.h" in repr(Envoy(net(), rename={"transformer.h": "layers"}))
