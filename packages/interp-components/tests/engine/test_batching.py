"""`with tracer.invoke(prompt):` - prompts of different lengths in one batch have the numbers of single runs."""

import pytest
import torch
from tests.engine.zoo import LONG, OTHER, SHORT
from transformers import BatchEncoding

from interp_components.errors import BatchError
from tracer_core import save

PROMPTS = (LONG, SHORT, OTHER)

# float32 sums over other rows in one matrix product; values are of order 1 to 10.
ROWS = {"rtol": 0.0, "atol": 5e-6}


def alone(model, read, prompt, **options):
    """What `read` gives in a trace of one prompt."""
    with model.trace(prompt, **options):
        value = save(read(model))
    return value


def own(value, prompt, axes):
    """The places of the prompt in a value whose rows are padded on the left."""
    for axis in axes:
        value = value.narrow(axis, value.shape[axis] - len(prompt), len(prompt))
    return value


READS = {
    "layer_input": (lambda model: model.layers[1].layer_input, [1]),
    "attention_output": (lambda model: model.layers[1].self_attn.attention_output, [1]),
    "attention_queries": (lambda model: model.layers[1].self_attn.attention_queries, [2]),
    "attention_keys": (lambda model: model.layers[1].self_attn.attention_keys, [2]),
    "attention_probabilities": (lambda model: model.layers[1].self_attn.attention_probabilities, [2, 3]),
    "attention_head_outputs": (lambda model: model.layers[1].self_attn.attention_head_outputs, [1]),
    "mlp_output": (lambda model: model.layers[1].mlp.mlp_output, [1]),
    "logits": (lambda model: model.logits, [1]),
}


@pytest.mark.parametrize("name", READS)
def test_a_value_of_an_invoke_is_that_of_its_prompt_alone(model, name):
    """Padding and the rows of others change nothing, whatever the layout."""
    read, axes = READS[name]
    values = []
    with model.trace() as tracer:
        for prompt in PROMPTS:
            with tracer.invoke(prompt):
                values.append(read(model))

    for prompt, value in zip(PROMPTS, values, strict=True):
        torch.testing.assert_close(own(value, prompt, axes), alone(model, read, prompt), **ROWS)


FORMS = {
    "ids": LONG,
    "lists": [LONG, SHORT],
    "tensor": torch.tensor(LONG),
    "tensor of rows": torch.tensor([LONG, LONG]),
    "list of tensors": [torch.tensor(LONG), torch.tensor(SHORT)],
    "encoding of lists": BatchEncoding({"input_ids": [LONG, SHORT]}),
    "padded on the left": BatchEncoding(
        {
            "input_ids": torch.tensor([LONG, [0] * 3 + SHORT]),
            "attention_mask": torch.tensor([[1] * 6, [0] * 3 + [1] * 3]),
        }
    ),
    "padded on the right": BatchEncoding(
        {
            "input_ids": torch.tensor([LONG, SHORT + [0] * 3]),
            "attention_mask": torch.tensor([[1] * 6, [1] * 3 + [0] * 3]),
        }
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_an_input_of_any_form_is_an_invoke_of_a_batch(some, form):
    """Each of its rows has the numbers of the row alone, beside another invoke."""
    given = FORMS[form]
    with some.trace() as tracer:
        with tracer.invoke(given):
            logits = some.logits.save()
        with tracer.invoke(OTHER):
            other = some.logits.save()

    expected = alone(some, lambda model: model.logits, LONG)[0]
    torch.testing.assert_close(logits[0], expected, **ROWS)
    torch.testing.assert_close(own(other, OTHER, [1]), alone(some, lambda model: model.logits, OTHER), **ROWS)
    if form not in {"ids", "tensor", "tensor of rows"}:
        places = slice(0, 3) if form == "padded on the right" else slice(3, 6)
        short = alone(some, lambda model: model.logits, SHORT)[0]
        torch.testing.assert_close(logits[1, places], short, **ROWS)


def test_vectors_in_place_of_ids_are_inputs_of_a_batch(model):
    """`inputs_embeds=` of different lengths are padded as ids are."""
    vectors = model.embed_tokens._module(torch.tensor([LONG])).detach()
    read = {}
    with model.trace() as tracer:
        with tracer.invoke(inputs_embeds=vectors):
            read["long"] = model.logits
        with tracer.invoke(inputs_embeds=vectors[:, :3]):
            read["short"] = model.logits

    with model.trace(inputs_embeds=vectors[:, :3]):
        short = model.logits.save()
    with model.trace(inputs_embeds=vectors):
        expected = model.logits.save()
    torch.testing.assert_close(read["long"], expected, **ROWS)
    torch.testing.assert_close(read["short"][:, -3:], short, **ROWS)


@pytest.mark.parametrize("inplace", [True, False], ids=["in place", "assigned"])
@pytest.mark.parametrize(
    "name", ["layer_output", "self_attn.attention_head_outputs", "self_attn.attention_probabilities", "mlp.mlp_output"]
)
def test_an_edit_in_one_invoke_leaves_every_bit_of_the_others(dense, name, inplace):
    """Of the batch without the edit."""

    def logits(is_edited):
        found = []
        with dense.trace() as tracer:
            for prompt in PROMPTS:
                with tracer.invoke(prompt):
                    host, _, last = f"layers.0.{name}".rpartition(".")
                    envoy = dense.get(host)
                    if is_edited and prompt is SHORT and inplace:
                        getattr(envoy, last)[:] = 0
                    elif is_edited and prompt is SHORT:
                        setattr(envoy, last, getattr(envoy, last) * 2)
                    found.append(dense.logits)
        return found

    same = [torch.equal(one, other) for one, other in zip(logits(False), logits(True), strict=True)]
    assert same == [True, False, True]


def test_an_invoke_without_input_sees_the_whole_batch(model):
    """Rows of all, in the order of the invokes."""
    parts = []
    with model.trace() as tracer:
        for prompt in PROMPTS:
            with tracer.invoke(prompt):
                parts.append(model.layers[0].layer_output)
        with tracer.invoke():
            whole = model.layers[0].layer_output.save()

    assert torch.equal(whole, torch.cat(parts))


def test_an_empty_invoke_edits_the_rows_of_all(model):
    """What it assigns the other invokes go on with."""
    with model.trace() as tracer:
        with tracer.invoke():
            model.layers[1].layer_output[:] = 0
        with tracer.invoke(LONG):
            one = model.layers[1].layer_output.save()
        with tracer.invoke(SHORT):
            two = model.layers[1].layer_output.save()

    assert not one.any()
    assert not two.any()


def test_a_router_that_sees_a_list_of_tokens_serves_those_of_the_invoke(build):
    """Mixtral's gate is given batch*seq rows, and gives three values of them."""
    model = build("mixtral")
    found = []
    with model.trace() as tracer:
        for prompt in PROMPTS:
            with tracer.invoke(prompt):
                found.append(model.layers[1].mlp.gate.output)

    for prompt, values in zip(PROMPTS, found, strict=True):
        expected = alone(model, lambda model: model.layers[1].mlp.gate.output, prompt)
        torch.testing.assert_close(tuple(value[-len(prompt) :] for value in values), expected, **ROWS)


def test_containers_of_values_are_narrowed_through(model):
    """The output of the model, its hidden states and its cache are all of the rows of the invoke."""
    outputs = []
    with model.trace(output_hidden_states=True, use_cache=True) as tracer:
        for prompt in PROMPTS:
            with tracer.invoke(prompt):
                outputs.append(model.output)
    expected = model._module(torch.tensor([LONG]), output_hidden_states=True, use_cache=True)

    assert [type(output) for output in outputs] == [type(expected)] * 3
    assert [len(state) for output in outputs for state in output.hidden_states] == [1] * 9
    torch.testing.assert_close(outputs[0].hidden_states, expected.hidden_states, **ROWS)
    keys = [next(value for value in output.values() if hasattr(value, "layers")) for output in outputs]
    there = next(value for value in expected.values() if hasattr(value, "layers"))
    torch.testing.assert_close(keys[0].layers[1].keys, there.layers[1].keys, **ROWS)


def test_a_cache_that_is_passed_in_goes_on_from_it(model):
    """Of a run of one prompt: the logits are those of the whole text."""
    whole = model._module(torch.tensor([LONG + SHORT])).logits
    with model.trace(LONG, use_cache=True):
        output = model.output.save()
    cache = next(value for value in output.values() if hasattr(value, "layers"))
    mask = torch.ones(1, len(LONG + SHORT), dtype=torch.long)
    with model.trace(torch.tensor([SHORT]), attention_mask=mask, cache=cache):
        logits = model.logits.save()

    torch.testing.assert_close(logits, whole[:, len(LONG) :], **ROWS)


def test_caches_of_several_invokes_are_refused(llama):
    """Each has rows of its own, in layers that cannot be told apart."""
    with llama.trace(LONG, use_cache=True):
        cache = llama.output.cache.save()
    with pytest.raises(BatchError, match="DynamicCache for some and missing for others"), llama.trace() as tracer:
        with tracer.invoke(torch.tensor([SHORT]), cache=cache):
            pass
        with tracer.invoke(OTHER):
            pass


def test_a_backward_pass_per_invoke_gives_the_gradients_of_single_runs(model):
    """Each of its own loss."""

    def gradient(prompt):
        with model.trace(prompt):
            hidden = model.layers[0].layer_output
            with model.logits[0, -1].sum().backward():
                found = hidden.grad.save()
        return found

    found = []
    with model.trace() as tracer:
        for prompt in PROMPTS:
            with tracer.invoke(prompt):
                hidden = model.layers[0].layer_output
                with model.logits[0, -1].sum().backward():
                    found.append(hidden.grad)

    for prompt, value in zip(PROMPTS, found, strict=True):
        # Gradients are of order 1 to 10, and sums over as many numbers as the values.
        torch.testing.assert_close(own(value, prompt, [1]), gradient(prompt), rtol=0.0, atol=2e-5)


def test_options_of_the_trace_hold_for_all_invokes(llama):
    """An invoke's own keyword tensors are its rows of the batch."""
    labels = torch.tensor([LONG])
    with llama.trace(output_hidden_states=True) as tracer:
        with tracer.invoke(LONG, labels=labels):
            output = llama.output.save()
        with tracer.invoke(SHORT):
            pass
    with llama.trace(LONG, labels=labels):
        loss = llama.output.loss.save()

    assert len(output.hidden_states) == 3
    torch.testing.assert_close(output.loss, loss, **ROWS)
