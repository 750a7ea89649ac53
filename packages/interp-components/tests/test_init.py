"""What the package offers at its top."""

import subprocess
import sys

import pytest

import interp_components
from interp_components import layouts


@pytest.mark.parametrize("name", interp_components.__all__)
def test_every_public_name_imports_from_the_top(name: str) -> None:
    """A name that is listed is there."""
    assert getattr(interp_components, name) is not None


def test_every_layout_imports_from_the_top() -> None:
    """No layout is left behind in its module."""
    assert set(layouts.__all__) <= set(interp_components.__all__)


def test_the_names_that_wait_are_the_names_that_are_listed() -> None:
    """The list for people and the table of rooms say the same."""
    assert {*interp_components._HOMES, *interp_components._WHOLE, "__version__"} == set(interp_components.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    """A typing error is told as Python tells it."""
    with pytest.raises(AttributeError, match="has no attribute 'Enovy'"):
        interp_components.Enovy


def test_importing_the_package_imports_no_torch() -> None:
    """What takes seconds waits until it is asked for, and asking for it does import torch."""
    program = (
        "import sys, interp_components; print('torch' in sys.modules, 'transformers' in sys.modules); "
        "interp_components.StandardizedTransformer; print('torch' in sys.modules, 'transformers' in sys.modules)"
    )

    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout

    assert printed.split() == ["False", "False", "True", "True"]


def test_tensors_have_save_wherever_there_is_a_model() -> None:
    """Nobody has to import `save` for `tensor.save()` in a function that a block calls."""
    program = "from interp_components.tracing import Envoy; import torch; print(hasattr(torch.Tensor, 'save'))"

    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout

    assert printed.split() == ["True"]
