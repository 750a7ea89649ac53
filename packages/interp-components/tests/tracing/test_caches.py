"""`cache = tracer.cache()` - what modules return, kept without asking for each."""

import pytest
import torch
from torch import nn

from interp_components.errors import CacheError
from interp_components.tracing import Traceable


def test_every_called_module_is_kept(gpt2, ids):
    """Containers that are never called have no entry."""
    with torch.no_grad(), gpt2.trace(ids) as tracer:
        cache = tracer.cache()

    called = {path for path, envoy in gpt2.named_modules() if type(envoy._module).__name__ != "ModuleList"}
    assert set(cache) == called


def test_what_is_kept_is_what_a_read_gives(chain, x):
    """By path, and by names and indices as on the model."""
    with chain.trace(x) as tracer:
        cache = tracer.cache()
        read = chain.first.output.save()

    assert torch.equal(read, cache["model.first"].output)
    assert torch.equal(read, cache.model.first.output)


def test_the_edited_value_is_kept(chain, x):
    """A cache sees what the model goes on with."""
    with chain.trace(x) as tracer:
        cache = tracer.cache()
        chain.first.output = chain.first.output * 0

    assert not cache.model.first.output.any()


def test_a_later_edit_in_place_does_not_reach_what_is_kept(chain, x):
    """Tensors are copied."""
    with torch.no_grad(), chain.trace(x) as tracer:
        cache = tracer.cache()
        chain.second.input.zero_()

    assert cache.model.first.output.any()


def test_a_module_that_was_called_again_has_a_list(chain, x):
    """One value per call, in order."""
    with chain.trace(x, fn="repeat") as tracer:
        cache = tracer.cache([chain.first])

    assert [each.shape for each in cache.model.first.output] == [(2, 4)] * 3


def test_inputs_are_kept_when_asked_for(chain, x):
    """`include_inputs` keeps the pair of arguments."""
    with chain.trace(x) as tracer:
        cache = tracer.cache(["model.second"], include_inputs=True, include_output=False)

    assert torch.equal(chain._module.first(x), cache.model.second.input)


def test_an_invoke_keeps_its_own_rows(chain, x):
    """A cache declared in an invoke is narrowed like its reads."""
    with chain.trace() as tracer:
        with tracer.invoke(x[:1]):
            cache = tracer.cache()
            chain.output.save()
        with tracer.invoke(x[1:]):
            chain.output.save()

    assert cache.model.first.output.shape == (1, 4)


def test_aliases_lead_to_entries(gpt2_module, ids):
    """A path may be spelled as on the model."""
    model = Traceable(gpt2_module, rename={"transformer.h": "layers"})
    with torch.no_grad(), model.trace(ids) as tracer:
        cache = tracer.cache()

    assert cache.model.layers[1].output.shape == (2, 8, 32)


def test_a_late_cache_is_refused(chain, x):
    """It would miss what ran before."""
    with pytest.raises(CacheError, match="after the model had started"), chain.trace(x) as tracer:
        chain.first.output.save()
        tracer.cache()


def test_what_was_not_kept_is_named(chain, x):
    """The error lists near paths."""
    with chain.trace(x) as tracer:
        cache = tracer.cache()

    with pytest.raises(KeyError, match=r"model.firsd.*did you mean 'model.first'"):
        cache.model.firsd


def test_the_name_of_the_model_may_be_left_out(chain, x):
    """`cache.first` is `cache.model.first`."""
    with chain.trace(x) as tracer:
        cache = tracer.cache()

    assert cache.first.output is cache.model.first.output


def test_an_entry_is_as_long_as_its_module_was_called_often(chain, x):
    """Each call is kept."""
    with chain.trace(x, fn="repeat") as tracer:
        cache = tracer.cache(include_output=False, include_inputs=True)

    assert len(cache["model.first"]) == 3


def test_a_call_without_arguments_has_no_input(x):
    """It is kept all the same."""

    class Constant(nn.Module):
        def forward(self):
            return torch.ones(4)

    class Around(nn.Module):
        def __init__(self):
            super().__init__()
            self.constant = Constant()

        def forward(self, x):
            return x + self.constant()

    with Traceable(Around()).trace(x) as tracer:
        cache = tracer.cache(include_inputs=True)

    assert (cache.constant.input, cache.constant.inputs) == (None, ((), {}))


def test_a_cache_and_a_view_of_it_can_be_saved(chain, x):
    """As any value is, though the cache comes out by itself."""
    with chain.trace(x) as tracer:
        whole = tracer.cache().save()
        view = whole.first.save()

    assert torch.equal(whole["model.first"].output, view.output)
