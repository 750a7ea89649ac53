"""The gate in front of a module's forward is there for a run, and gone after it."""

import inspect

import pytest
from torch import nn

from interp_components.interleaving import ModuleInput, ModuleOutput, Run
from interp_components.interleaving.gates import Gate


@pytest.fixture
def module():
    return nn.Linear(2, 2)


@pytest.fixture
def make(module):
    root = ModuleInput("model", ModuleOutput("model", module))
    return lambda: Gate(Run(root, []), module)


def test_a_gate_has_the_signature_of_the_forward(module, make):
    """Whoever looks at a forward's parameters sees them through the gate."""
    gate = make()
    signature = inspect.signature(module.forward)
    Gate.remove({module: gate})

    assert signature == inspect.signature(module.forward)


def test_a_removed_gate_leaves_no_attribute(module, make):
    """The class's own forward is back."""
    Gate.remove({module: make()})

    assert "forward" not in module.__dict__


def test_a_forward_of_the_instance_is_given_back(module, make):
    """What somebody put there before is there afterwards."""
    own = module.__dict__["forward"] = lambda x: x
    Gate.remove({module: make()})

    assert module.__dict__["forward"] is own


@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["inner first", "outer first"])
def test_two_gates_can_go_in_either_order(module, make, order):
    """Two runs over one module may end in any order."""
    gates = [make(), make()]
    for index in order:
        Gate.remove({module: gates[index]})

    assert "forward" not in module.__dict__
