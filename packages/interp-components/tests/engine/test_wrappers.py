"""What others put around modules stays in place and is served: offloading, adapters, compilation, checkpoints, hooks."""

import pytest
import torch
from tests.engine.zoo import CONFIGS, LONG, SHORT
from torch import nn

from interp_components.model import StandardizedTransformer
from interp_components.tracing import Traceable
from tests import models
from tracer_core import save

IDS = torch.tensor([LONG])
ARCHITECTURES = ["falcon", "gpt2", "llama", "mixtral"]


@pytest.fixture(params=ARCHITECTURES)
def architecture(request):
    return request.param


@pytest.fixture
def module(architecture):
    """A model of its own, to be wrapped."""
    return models.build(CONFIGS[architecture]())


@pytest.fixture
def expected(module):
    """Its logits before anybody wraps it."""
    with torch.no_grad():
        return module(IDS).logits


def read(model, value):
    """A value of the second block, and the logits of the same run."""
    host, _, name = value.rpartition(".")
    with torch.no_grad(), model.trace(LONG):
        seen = getattr(model.get(f"layers.1.{host}" if host else "layers.1"), name).save()
        logits = model.logits.save()
    return seen, logits


VALUES = ["layer_input", "self_attn.attention_queries", "self_attn.attention_probabilities", "layer_output"]


def offload_to_cpu(module, folder):
    pytest.importorskip("accelerate").cpu_offload(module, execution_device="cpu")


def offload_to_disk(module, folder):
    pytest.importorskip("accelerate").disk_offload(module, str(folder), execution_device="cpu")


def dispatch(module, folder):
    pytest.importorskip("accelerate").dispatch_model(module, {"": "cpu"}, force_hooks=True)


# accelerate


@pytest.mark.parametrize("offload", [offload_to_cpu, offload_to_disk, dispatch])
def test_weights_that_are_kept_elsewhere_come_when_they_are_needed(build, architecture, module, tmp_path, offload):
    """Run after run, with the values of the model that has them."""
    plain = build(architecture)
    offload(module, tmp_path)
    model = StandardizedTransformer(module)
    for value in VALUES:
        for one, other in zip(read(plain, value), read(model, value), strict=True):
            torch.testing.assert_close(one, other, rtol=0, atol=0)


def test_an_edit_reaches_a_model_whose_weights_are_kept_elsewhere(architecture, module, expected, tmp_path):
    """And is gone with the trace; accelerate's wrappers stay."""
    offload_to_cpu(module, tmp_path)
    wrapped = {path: each.__dict__.get("forward") for path, each in module.named_modules()}
    model = StandardizedTransformer(module)
    with torch.no_grad(), model.trace(LONG):
        model.layers[0].layer_output[:] = 0
        logits = model.logits.save()

    assert not torch.allclose(logits, expected)
    with torch.no_grad():
        assert torch.equal(module(IDS).logits, expected)
    assert wrapped == {path: each.__dict__.get("forward") for path, each in module.named_modules()}


# peft

TARGETS = {"gpt2": "c_attn", "falcon": "query_key_value"}


@pytest.mark.filterwarnings("ignore:.is_gradient_checkpointing. is deprecated:FutureWarning")  # peft reads it
@pytest.mark.filterwarnings("ignore:fan_in_fan_out is set to False:UserWarning")  # peft sets it by itself then
def test_adapters_are_in_the_tree_and_in_the_values(architecture, module, expected):
    """What an adapter adds is what its own modules give, and without it the model is as it was."""
    peft = pytest.importorskip("peft")
    target = TARGETS.get(architecture, "v_proj")
    config = peft.LoraConfig(target_modules=[target], r=2, lora_alpha=6, init_lora_weights=False)
    wrapper = peft.get_peft_model(module, config).eval()
    model = StandardizedTransformer(wrapper)
    adapted = next(envoy for path, envoy in model.named_modules() if path.endswith(f".{target}"))
    with torch.no_grad(), model.trace(LONG):
        base = adapted.base_layer.output.save()
        low = adapted.get("lora_A.default").output.save()
        added = adapted.get("lora_B.default").output.save()
        whole = adapted.output.save()
        logits = model.logits.save()

    assert low.shape[-1] == 2
    torch.testing.assert_close(base + 3 * added, whole)
    with torch.no_grad():
        assert torch.equal(wrapper(IDS).logits, logits)
        with wrapper.disable_adapter(), model.trace(LONG):
            without = model.logits.save()
    assert torch.equal(without, expected)


# Compilation


@pytest.fixture
def dynamo():
    """torch.compile as if for the first time, and without what it says about greenlets."""
    import torch._dynamo as dynamo

    dynamo.reset()
    yield
    dynamo.reset()


@pytest.mark.filterwarnings("ignore:Dynamo does not know how to trace:UserWarning")
@pytest.mark.usefixtures("dynamo")
def test_a_compiled_block_is_read_and_edited_as_any(build, architecture):
    """At its ends and inside it; compiled by its own method, it stays the module it is."""
    plain = build(architecture)
    model = StandardizedTransformer(models.build(CONFIGS[architecture]()))
    model.layers[1]._module.compile(backend="eager")
    for value in ("layer_input", "self_attn.attention_output", "layer_output"):
        torch.testing.assert_close(read(plain, value), read(model, value), rtol=1e-4, atol=1e-5)
    with torch.no_grad(), model.trace(LONG):
        model.layers[1].layer_output[:] = 0
        final = model.final_norm_output.save()

    assert bool((final == final[:, :1]).all())


@pytest.mark.usefixtures("dynamo")
@pytest.mark.filterwarnings("ignore:Dynamo does not know how to trace:UserWarning")
def test_a_compiled_wrapper_in_the_tree_is_read_at_its_ends():
    """`torch.compile(block)` is a module around the block."""
    torch.manual_seed(0)
    layers = nn.Sequential(nn.Linear(4, 4), torch.compile(nn.Linear(4, 4), backend="eager"))
    x = torch.randn(2, 4)
    model = Traceable(layers)
    with torch.no_grad():
        expected, given = layers(x), layers[0](x)
        with model.trace(x):
            entered = model[1].input.save()
            model[1].output *= 2
            result = model.output.save()

    assert torch.equal(entered, given)
    assert torch.equal(result, expected * 2)


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")
def test_a_scripted_module_is_read_and_edited_at_its_ends():
    """It has no Python forward, and is called as any module is."""
    torch.manual_seed(0)
    layers = nn.Sequential(nn.Linear(4, 4), torch.jit.script(nn.Linear(4, 4)), nn.Linear(4, 4))
    x = torch.randn(2, 4)
    expected = layers(x)
    model = Traceable(layers)
    with model.trace(x):
        entered = model[1].input.save()
        given = model[1].output.save()
        result = model.output.save()
    with model.trace(x):
        model[1].output = given * 0
        edited = model.output.save()

    assert torch.equal(entered, layers[0](x))
    assert torch.equal(result, expected)
    assert torch.equal(edited, layers[2](given * 0))


# Checkpoints


@pytest.mark.filterwarnings("ignore:.gradient_checkpointing_enable. is deprecated:FutureWarning")
@pytest.mark.filterwarnings("ignore:.is_gradient_checkpointing. is deprecated:FutureWarning")
@pytest.mark.parametrize("is_reentrant", [True, False], ids=["reentrant", "not reentrant"])
def test_a_forward_that_runs_again_for_its_gradient_is_no_new_occurrence(architecture, module, is_reentrant):
    """Every place is passed once, and parameters get the gradients they get without checkpoints."""

    def run(model):
        with model.trace(LONG, use_cache=False) as tracer:
            model.layers[1].layer_input
            model.layers[1].self_attn.attention_output
            model.logits.sum().backward()
        gradients = [parameter.grad for parameter in model._module.parameters()]
        model._module.zero_grad()
        return [gradient.clone() for gradient in gradients], [entry.occurrence for entry in tracer.receipt]

    module.train()
    for each in module.modules():
        if isinstance(each, nn.Dropout):
            each.p = 0.0
    model = StandardizedTransformer(module)
    expected, occurrences = run(model)
    module.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": is_reentrant})
    gradients, again = run(model)

    torch.testing.assert_close(gradients, expected)
    assert again == occurrences == [0, 0, 0]


# Hooks


def test_hooks_of_others_see_and_do_what_they_would_without_us():
    """In torch's order: pre-hooks before what a block reads, forward hooks before it, in front of the next module."""
    torch.manual_seed(0)
    layer = nn.Linear(4, 4)
    model = Traceable(nn.Sequential(layer, nn.ReLU()))
    x, seen = torch.randn(2, 4, requires_grad=True), []
    handles = [
        layer.register_forward_pre_hook(lambda module, args: (args[0] + 1,)),
        layer.register_forward_pre_hook(lambda module, args, kwargs: seen.append("pre"), with_kwargs=True),
        layer.register_forward_hook(lambda module, args, output: output * 2),
        layer.register_forward_hook(lambda module, args, kwargs, output: seen.append("post"), with_kwargs=True),
        layer.register_forward_hook(lambda module, args, output: seen.append("always"), always_call=True),
        layer.register_full_backward_hook(lambda module, gradients, given: seen.append("backward")),
    ]
    expected = model._module(x)
    before, hooks = seen.copy(), dict(layer._forward_hooks)
    seen.clear()
    with model.trace(x):
        entered = model[0].input.save()
        left = model[0].output.save()
        result = model.output.save()
        result.sum().backward()

    assert torch.equal(entered, x + 1)
    assert torch.equal(left, 2 * nn.functional.linear(x + 1, layer.weight, layer.bias))
    assert torch.equal(result, expected)
    assert seen == [*before, "backward"]
    assert dict(layer._forward_hooks) == hooks
    assert all(
        handle.id in {**layer._forward_hooks, **layer._forward_pre_hooks, **layer._backward_hooks} for handle in handles
    )


def test_a_hook_of_others_that_fails_is_the_error_of_the_trace():
    """`always_call` hooks run in spite of it, and nothing of ours stays."""
    layer, seen = nn.Linear(4, 4), []

    def fail(module, args, output):
        raise KeyError("hook")

    layer.register_forward_hook(fail)
    layer.register_forward_hook(lambda module, args, output: seen.append("always"), always_call=True)
    model = Traceable(nn.Sequential(layer))
    with pytest.raises(KeyError, match="hook"), model.trace(torch.ones(1, 4)):
        model[0].input.save()
        model[0].output.save()

    assert seen == ["always"]
    assert len(layer._forward_hooks) == 2
    assert "forward" not in layer.__dict__


def test_a_hook_that_is_put_up_in_a_trace_by_the_user_works(llama):
    """For as long as the user wants it."""
    seen = []
    with llama.trace(LONG):
        handle = save(llama.layers[1]._module.register_forward_hook(lambda *given: seen.append(1)))
        llama.layers[0].layer_output.save()
    handle.remove()
    with llama.trace(SHORT):
        llama.layers[1].layer_output.save()

    assert seen == [1]
