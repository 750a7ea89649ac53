"""Of transformers' caches, too, a block sees its own rows."""

import pytest
import torch
from tests.engine.zoo import CONFIGS
from transformers import DynamicCache, EncoderDecoderCache, StaticCache

from interp_components.errors import RowsError
from interp_components.interleaving import Batch, Rows
from tests import models

KEYS = torch.arange(24.0).reshape(2, 1, 4, 3)


@pytest.fixture
def rows():
    return Rows(1, 1, Batch(2))


def dynamic():
    cache = DynamicCache()
    cache.update(KEYS.clone(), KEYS + 100, 0)
    return cache


def static():
    cache = StaticCache(config=CONFIGS["llama"](), max_cache_len=4)
    for layer in range(models.LAYERS):
        cache.update(KEYS.clone(), KEYS + 100, layer)
    return cache


@pytest.mark.parametrize("cache", [dynamic, static, lambda: EncoderDecoderCache(dynamic(), dynamic())])
def test_a_block_is_served_its_rows_of_every_layer(rows, cache):
    """In a cache of the same class; the model's own keeps all rows."""
    whole = cache()
    own = rows.narrow(whole)
    one, all_ = (getattr(each, "self_attention_cache", each).layers[0] for each in (own, whole))

    assert type(own) is type(whole)
    assert torch.equal(KEYS[1:], one.keys)
    assert torch.equal(KEYS[1:] + 100, one.values)
    assert torch.equal(KEYS, all_.keys)


def test_an_edit_in_place_reaches_the_model(rows):
    """The served tensors are views."""
    whole = dynamic()
    rows.narrow(whole).layers[0].keys[:] = 7

    assert torch.equal(torch.cat([KEYS[:1], torch.full((1, 1, 4, 3), 7.0)]), whole.layers[0].keys)


def test_what_the_model_appends_does_not_reach_what_was_read(rows):
    """A cache grows with every forward."""
    whole = dynamic()
    own = rows.narrow(whole)
    whole.update(KEYS, KEYS, 0)

    assert (own.get_seq_length(), whole.get_seq_length()) == (4, 8)


def test_an_assigned_cache_is_taken_over_by_the_one_there_is(rows):
    """The model holds its cache by more than one name, so it stays the object that it is."""
    whole = dynamic()
    own = rows.narrow(whole)
    own.layers[0].values = torch.zeros(1, 1, 4, 3)

    assert rows.widen((whole, KEYS), (own, KEYS[1:]), "here")[0] is whole
    assert torch.equal(torch.cat([KEYS[:1] + 100, torch.zeros(1, 1, 4, 3)]), whole.layers[0].values)


def test_rows_of_another_length_are_refused(rows):
    """Layers of a cache are tensors of the batch."""
    whole = dynamic()
    own = rows.narrow(whole)
    own.crop(-1)

    with pytest.raises(RowsError, match=r"here has the shape \(1, 1, 4, 3\) in this invoke, and \(1, 1, 3, 3\)"):
        rows.widen(whole, own, "here")
