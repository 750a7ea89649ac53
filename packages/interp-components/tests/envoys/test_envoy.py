"""`Envoy(module)` - names, paths, children, and what becomes of them when the module changes."""

import copy
import pickle

import pytest
import torch
from torch import nn

from interp_components.envoys import Envoy
from interp_components.envoys.listing import values_of
from interp_components.errors import InterpError
from interp_components.properties import EProperty
from interp_components.tracing import Traceable


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attn = nn.Linear(2, 2)
        self.scale = 3

    def forward(self, x):
        return self.attn(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.h = nn.ModuleList([Block(), Block(), Block()])
        self.tied = self.h[0].attn

    def forward(self, x):
        for block in self.h:
            x = block(x)
        return self.tied(x)


@pytest.fixture
def model():
    return Envoy(Net())


@pytest.mark.parametrize("path", ["h", "h.1", "h.2.attn"])
def test_get_walks_a_dotted_path(model, path):
    """The node has the native path from the root."""
    assert model.get(path).path == f"model.{path}"


def test_a_child_is_an_attribute(model):
    """The same envoy every time."""
    assert model.h[1].attn is model.h[1].attn


def test_a_second_path_leads_to_the_first_envoy(model):
    """Tied modules have one envoy, under the first path in the tree."""
    assert (model.tied is model.h[0].attn, model.tied.path) == (True, "model.h.0.attn")


def test_parent_and_root_lead_up(model):
    """The parent is the envoy of the holding module."""
    assert (model.h[1].attn.parent is model.h[1], model.h[1].attn.root is model, model.parent) == (True, True, None)


def test_a_name_of_the_module_falls_through(model):
    """What is neither a value nor a child is the module's own."""
    assert model.h[1].scale == 3


def test_a_missing_name_suggests_near_ones(model):
    """The error names the path and what may have been meant."""
    with pytest.raises(AttributeError, match=r"model.h.1: 'Block' object .* 'attm'; did you mean 'attn'"):
        model.h[1].attm  # the access is what fails


def test_a_missing_node_is_an_attribute_error(model):
    """`get` gives nodes only."""
    with pytest.raises(AttributeError, match=r"'model.h.1' has no module 'scale'"):
        model.get("h.1.scale")


@pytest.mark.parametrize(
    ("index", "paths"),
    [
        pytest.param(slice(0, 2), ["model.h.0", "model.h.1"], id="slice"),
        pytest.param(slice(None, None, -2), ["model.h.2", "model.h.0"], id="backwards"),
    ],
)
def test_a_slice_gives_a_list_of_envoys(model, index, paths):
    """As a `ModuleList` gives modules."""
    assert [envoy.path for envoy in model.h[index]] == paths


def test_a_negative_index_counts_from_the_end(model):
    """As everywhere in Python."""
    assert model.h[-1].path == "model.h.2"


@pytest.mark.parametrize("index", [3, -4])
def test_an_index_that_is_not_there_says_how_many_are(model, index):
    """The error names the module and the index."""
    with pytest.raises(IndexError, match=rf"^model\.h has 3 modules, and none at {index}$"):
        model.h[index]


def test_a_block_cannot_assign_to_a_name_that_is_not_there():
    """A misspelt value would be set on the envoy, and the model would go on unchanged."""
    model = Traceable(nn.Linear(2, 2))

    with pytest.raises(AttributeError, match=r"^model has no value 'outputz', .* did you mean 'output'\?$"):
        with model.trace(torch.zeros(1, 2)):
            model.outputz = torch.zeros(1, 2)
    assert not hasattr(model, "outputz")


def test_a_note_on_an_envoy_can_be_changed_in_a_block():
    """A name that was set outside is the user's own."""
    model = Traceable(nn.Linear(2, 2))
    model.note = "before"
    with model.trace(torch.zeros(1, 2)):
        model.note = "after"

    assert model.note == "after"


def test_iteration_gives_the_children(model):
    """In the order of the module."""
    assert [envoy.path for envoy in model.h] == ["model.h.0", "model.h.1", "model.h.2"]


def test_the_length_is_the_modules(model):
    """A `ModuleList` has one."""
    assert len(model.h) == 3


def test_named_modules_name_each_module_once(model):
    """Containers included, in the order of the tree."""
    paths = [path for path, _ in model.named_modules()]

    assert paths[:3] == ["model", "model.h", "model.h.0"]
    assert len(paths) == len(set(paths)) == 8


def test_a_module_that_is_set_has_an_envoy(model):
    """It is put on the module as well."""
    model.h[1].extra = nn.Identity()

    assert (model.h[1].extra.path, type(model._module.h[1].extra)) == ("model.h.1.extra", nn.Identity)


def test_a_module_added_to_the_module_has_an_envoy(model):
    """Envoys are made when they are asked for."""
    model._module.h[1].extra = nn.Identity()

    assert model.h[1].extra.path == "model.h.1.extra"


@pytest.mark.parametrize("name", ["output", "input", "source", "path", "skip"])
def test_a_module_with_a_reserved_name_is_reached_under_another(name):
    """The value keeps its name, and a warning says where the module is."""
    module = nn.Module()
    module.add_module(name, nn.Identity())
    with pytest.warns(UserWarning, match=f"`model.E_{name}`"):
        model = Envoy(module)

    assert getattr(model, f"E_{name}")._module is module._modules[name]


def test_wrapping_writes_nothing_on_the_module():
    """The modules are as before, attribute by attribute."""
    module = Net()
    before = [(path, sorted(each.__dict__)) for path, each in module.named_modules()]
    model = Envoy(module)
    model.h[0].attn.location("output")

    assert [(path, sorted(each.__dict__)) for path, each in module.named_modules()] == before


def test_a_module_can_be_wrapped_twice():
    """Each envoy has its own tree."""
    module = Net()
    one, other = Envoy(module), Envoy(module, path="other")

    assert (one.h[0].path, other.h[0].path) == ("model.h.0", "other.h.0")


def test_a_deep_copy_has_its_own_module(model):
    """Names and aliases are kept."""
    copied = copy.deepcopy(model)

    assert (copied._module is not model._module, copied.h[1].attn.path) == (True, "model.h.1.attn")


def test_a_pickle_of_an_envoy_below_brings_its_root(model):
    """The envoy is found again under a root of its own."""
    child = model.h[1]
    restored, root = pickle.loads(pickle.dumps((child, model)))

    assert (restored.path, restored.root is root) == ("model.h.1", True)


def test_an_envoy_does_not_keep_its_root_alive():
    """Its use says what to do."""
    model = Envoy(Net())
    block = model.h[1]
    del model

    with pytest.raises(InterpError, match="Keep the model in a name"):
        block.root  # the access is what fails


def test_update_exchanges_the_modules_in_place(model):
    """Envoys that are held stand for the new modules."""
    attn, fresh = model.h[1].attn, Net()
    model._update(fresh)

    assert (attn._module is fresh.h[1].attn, model.h[1].attn is attn) == (True, True)


def test_to_gives_the_envoy_back(model):
    """Moving and casting reach the module."""
    assert (model.to(torch.float64) is model, model._module.tied.weight.dtype) == (True, torch.float64)


def test_an_envoy_can_be_called_outside_a_trace(model):
    """It is the plain call of the module."""
    x = torch.ones(1, 2)

    assert torch.equal(model._module(x), model(x))


def test_a_module_that_is_no_child_has_an_envoy(model):
    """It is known by the name of the attribute that it was found under."""
    object.__setattr__(model._module.h[0], "beside", nn.Linear(2, 2))

    assert (model.h[0].beside.path, model.h[0].beside) == ("model.h.0.beside", model.h[0].beside)


def test_a_property_that_returns_a_module_leads_to_its_envoy():
    """`base_model` of a model without a head is the model itself."""

    class Named(Net):
        base_model = property(lambda self: self)

    model = Envoy(Named(), rename={"base_model.h": "layers"})

    assert (model.base_model, model.layers) == (model, model.h)


def test_get_reaches_parameters(model):
    """As `get_parameter` does on the module."""
    assert model.get("h.1.attn.weight") is model._module.h[1].attn.weight


def test_devices_are_those_of_all_tensors(model):
    """A module that is spread over devices has several; one without tensors none."""
    model.h[1].to("meta")

    assert model.devices == {torch.device("cpu"), torch.device("meta")}
    assert Envoy(nn.ReLU()).devices == set()


@pytest.mark.parametrize("depth", ["model", "model.inner"])
def test_the_warning_about_a_reserved_name_comes_when_the_tree_is_wrapped(depth):
    """Not when somebody first looks at the envoy in question."""
    module = nn.ModuleDict({"inner": nn.Module()})
    module.get_submodule(depth[6:]).add_module("output", nn.Identity())

    with pytest.warns(UserWarning, match=f"{depth} already serves a value called 'output'"):
        Envoy(module)


def test_a_value_with_two_names_is_listed_once():
    """`@value.transform def _carry_back(...)` binds the descriptor a second time."""

    class Copying(Envoy):
        @EProperty("output")
        def copied(self, value):
            """A copy."""
            return value.clone()

        @copied.transform
        def _carry_back(self, view, raw):
            return view

    assert list(values_of(Copying)) == ["copied"]


def test_a_parameter_is_that_of_the_module(model):
    """Assigned to the envoy, it is what the module computes with."""
    weight = nn.Parameter(torch.zeros(2, 2))
    model.h[1].attn.weight = weight

    assert model._module.h[1].attn.weight is weight
