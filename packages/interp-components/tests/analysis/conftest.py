"""Models that the tests of this folder share."""

from __future__ import annotations

import pytest

from interp_components.model import StandardizedTransformer

from . import subjects


@pytest.fixture(scope="session", params=sorted(subjects.CONFIGS))
def model(request: pytest.FixtureRequest) -> StandardizedTransformer:
    """A tiny model of each of some families."""
    return subjects.model(request.param)


@pytest.fixture(scope="session")
def llama() -> StandardizedTransformer:
    """A tiny Llama under the fused kernel."""
    return subjects.model("llama", "sdpa")


@pytest.fixture(scope="session")
def toy() -> StandardizedTransformer:
    """The small trained model that comes with the package."""
    return StandardizedTransformer("toy", dispatch=True)
