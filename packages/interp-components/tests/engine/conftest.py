"""Each architecture is built once for all tests of this room."""

from __future__ import annotations

from functools import cache

import pytest
from tests.engine.zoo import CONFIGS

from interp_components.model import StandardizedTransformer
from tests import models


@pytest.fixture(scope="session")
def build():
    """What gives the model of an architecture, the same one each time."""
    return cache(lambda name: StandardizedTransformer(models.build(CONFIGS[name]())))


@pytest.fixture(params=sorted(CONFIGS))
def model(build, request):
    """A model of each architecture."""
    return build(request.param)


@pytest.fixture(params=["gemma2", "gpt2", "mixtral"])
def some(build, request):
    """A model of three of them, for what is about transformers' generation more than about an architecture."""
    return build(request.param)


@pytest.fixture
def llama(build):
    """One model, where the architecture does not matter."""
    return build("llama")


@pytest.fixture(params=["bloom", "falcon", "gemma2", "opt"])
def dense(build, request):
    """A model whose rows meet nowhere: experts sum over the tokens that all rows send them, so bits of a row depend on others."""
    return build(request.param)
