"""`with model.generate(...)` - transformers' own generation in every mode, with blocks in it."""

import pytest
import torch
from tests.engine.zoo import CONFIGS, LONG, SHORT
from transformers import StoppingCriteria
from transformers.generation.streamers import BaseStreamer

from tests import models
from tracer_core import save

IDS = torch.tensor([LONG])
GREEDY = {"do_sample": False, "max_new_tokens": 4, "min_new_tokens": 4}
PADDED = torch.tensor([LONG, [0] * 3 + SHORT])


def bare(model, ids=IDS, **options):
    """What transformers alone returns."""
    return model._module.generate(ids, attention_mask=(ids > 0).long(), **options)


def steps(model, read, **options):
    """What `read` gives at each step, and the ids."""
    with model.generate(LONG, **options) as tracer:
        seen = save([])
        for _ in tracer.iter[:]:
            seen.append(read(model))
        result = tracer.result.save()
    return seen, result


# Modes


@pytest.mark.parametrize(
    "options",
    [
        pytest.param(GREEDY, id="greedy"),
        pytest.param({"do_sample": True, "max_new_tokens": 4}, id="sampling"),
        pytest.param({"do_sample": False, "num_beams": 3, "max_new_tokens": 4}, id="beams"),
        pytest.param({"do_sample": True, "num_beams": 2, "max_new_tokens": 4}, id="sampling with beams"),
        pytest.param({"do_sample": True, "num_return_sequences": 3, "max_new_tokens": 4}, id="several sequences"),
        pytest.param({**GREEDY, "use_cache": False}, id="no cache"),
        pytest.param({**GREEDY, "repetition_penalty": 1.5, "no_repeat_ngram_size": 2}, id="processors"),
        pytest.param({**GREEDY, "prompt_lookup_num_tokens": 2}, id="prompt lookup"),
    ],
)
def test_a_traced_generation_gives_the_ids_of_the_bare_model(some, options):
    """With the same seed, whatever the mode, and reading changes nothing."""
    torch.manual_seed(3)
    expected = bare(some, **options)
    torch.manual_seed(3)
    _, result = steps(some, lambda model: model.layers[1].layer_output, **options)

    assert torch.equal(expected, result)


def test_the_logits_of_a_step_are_those_its_token_is_chosen_by(model):
    """The greedy token is the argmax at the last position of each step."""
    chosen, result = steps(model, lambda model: model.lm_head.output[0, -1].argmax(-1), **GREEDY)

    assert torch.stack(chosen).tolist() == result[0, len(LONG) :].tolist()


def test_a_step_means_the_same_with_the_cache_and_without(model):
    """The last position of a step is the same token; with the cache it is the only one after the prompt."""
    cached, _ = steps(model, lambda model: model.layers[1].layer_output, **GREEDY)
    whole, _ = steps(model, lambda model: model.layers[1].layer_output, use_cache=False, **GREEDY)

    assert [hidden.shape[1] for hidden in cached] == [6, 1, 1, 1]
    assert [hidden.shape[1] for hidden in whole] == [6, 7, 8, 9]
    # Other sums of the same numbers, of order 1 to 10, in float32.
    torch.testing.assert_close(
        [hidden[:, -1] for hidden in cached], [hidden[:, -1] for hidden in whole], rtol=1e-4, atol=1e-5
    )


def test_an_edit_of_one_step_leaves_the_steps_before_it(model):
    """Step 2 differs, steps 0 and 1 have every bit of a run without the edit."""

    def edited(model, at):
        with model.generate(LONG, **GREEDY) as tracer:
            seen = save([])
            for step in tracer.iter[:3]:
                if step == at:
                    model.layers[0].layer_output[:] = 0
                seen.append(model.logits[0, -1])
        return seen

    pairs = zip(edited(model, None), edited(model, 2), strict=True)

    assert [torch.equal(one, other) for one, other in pairs] == [True, True, False]


def test_scores_and_states_that_transformers_collects_are_there(some):
    """The output is of transformers' own class, with every part."""
    options = {"output_scores": True, "output_hidden_states": True, "return_dict_in_generate": True}
    expected = bare(some, **options, **GREEDY)
    with some.generate(LONG, **options, **GREEDY) as tracer:
        result = tracer.result.save()

    assert type(result) is type(expected)
    assert torch.equal(torch.stack(expected.scores), torch.stack(result.scores))
    assert torch.equal(expected.hidden_states[3][1], result.hidden_states[3][1])


def test_a_streamer_gets_the_tokens(some):
    """As they come, and its end."""

    class Kept(BaseStreamer):
        def __init__(self):
            self.tokens = []

        def put(self, value):
            self.tokens += value.reshape(-1).tolist()

        def end(self):
            self.tokens.append("end")

    streamer = Kept()
    with some.generate(LONG, streamer=streamer, **GREEDY) as tracer:
        result = tracer.result.save()

    assert streamer.tokens == [*result[0].tolist(), "end"]


@pytest.mark.filterwarnings("ignore:Passing `generation_config` together")  # transformers itself passes both
@pytest.mark.parametrize("architecture", ["gpt2", "llama", "mixtral"])
def test_an_assistant_drafts_for_the_traced_model(build, architecture):
    """The ids are the bare model's; a step is a forward of the model itself, not of its assistant."""
    model, assistant = build(architecture), models.build(CONFIGS[architecture]())
    expected = bare(model, **GREEDY)
    with model.generate(LONG, assistant_model=assistant, **GREEDY) as tracer:
        widths = save([])
        for _ in tracer.iter[:]:
            widths.append(model.layers[0].layer_output.shape[1])
        result = tracer.result.save()

    assert torch.equal(expected, result)
    assert len(widths) == tracer.steps < 4


# The end


def test_a_loop_ends_where_the_model_stops_by_itself(model):
    """At the token that ends the text; what follows the loop runs."""
    eos = int(bare(model, **GREEDY)[0, len(LONG) + 1])
    with model.generate(LONG, do_sample=False, max_new_tokens=6, eos_token_id=eos) as tracer:
        count = 0
        for _ in tracer.iter[:6]:
            model.layers[1].layer_output
            count += 1
        save(count)
        result = tracer.result.save()

    assert count == tracer.steps == result.shape[1] - len(LONG) < 6


def test_a_stopping_criterion_of_the_user_ends_the_loop(llama):
    """It is asked after every step."""

    class Enough(StoppingCriteria):
        def __call__(self, input_ids, scores, **kwargs):
            return torch.tensor([input_ids.shape[1] >= len(LONG) + 2])

    with llama.generate(LONG, stopping_criteria=[Enough()], **GREEDY) as tracer:
        seen = save([])
        for step in tracer.iter[:]:
            llama.layers[0].layer_output
            seen.append(step)

    assert (seen, tracer.steps) == ([0, 1], 2)


def test_a_row_that_has_ended_goes_on_as_padding(llama):
    """One invoke's text ends early, the other's loop has all steps."""
    eos = int(bare(llama, **GREEDY)[0, len(LONG)])
    with llama.generate(do_sample=False, max_new_tokens=4, eos_token_id=eos, pad_token_id=0) as tracer:
        with tracer.invoke(LONG):
            ended = tracer.result.save()
        with tracer.invoke(SHORT):
            other = tracer.result.save()

    assert ended[0, len(LONG) :].tolist() == [eos, *[0] * (other.shape[1] - len(LONG) - 1)]


# Several invokes


@pytest.mark.parametrize("beams", [1, 3])
def test_each_invoke_has_its_rows_at_every_step(model, beams):
    """A row of a prompt is one for each of its beams, also where the model flattens the batch."""
    expected = bare(model, PADDED, num_beams=beams, **GREEDY)
    shapes, results = [], []
    with model.generate(num_beams=beams, **GREEDY) as tracer:
        for prompt in (LONG, SHORT):
            with tracer.invoke(prompt):
                shapes += [model.layers[1].mlp.mlp_output.shape[:2] for _ in tracer.iter[:2]]
                results.append(tracer.result)
        with tracer.invoke():
            whole = tracer.result.save()

    assert shapes == [(beams, 6), (beams, 1)] * 2
    assert torch.equal(expected, whole)
    assert torch.equal(expected, torch.cat(results))


def test_an_edit_in_one_invoke_leaves_the_text_of_the_other(model):
    """At every step."""
    texts = []
    with model.generate(**GREEDY) as tracer:
        with tracer.invoke(LONG):
            for _ in tracer.iter[:]:
                model.layers[0].layer_output[:] = 0
            texts.append(tracer.result)
        with tracer.invoke(SHORT):
            texts.append(tracer.result)

    untouched = bare(model, PADDED, **GREEDY)
    assert [torch.equal(text, row[None]) for text, row in zip(texts, untouched, strict=True)] == [False, True]


# Steps


@pytest.mark.parametrize(
    ("loop", "expected"),
    [
        pytest.param(lambda tracer: tracer.iter[2], [2], id="one"),
        pytest.param(lambda tracer: tracer.iter[1:3], [1, 2], id="slice"),
        pytest.param(lambda tracer: tracer.iter[:], [0, 1, 2, 3], id="all"),
        pytest.param(lambda tracer: tracer.iter, [0, 1, 2, 3], id="iter"),
        pytest.param(lambda tracer: tracer.all(), [0, 1, 2, 3], id="all()"),
        pytest.param(lambda tracer: tracer.iter[[0, 3]], [0, 3], id="list"),
    ],
)
def test_every_form_of_a_loop_reads_the_same_steps(some, loop, expected):
    """A value in a loop over some steps is the one of a loop over all."""
    whole, _ = steps(some, lambda model: model.layers[1].layer_output, **GREEDY)
    with some.generate(LONG, **GREEDY) as tracer:
        seen = save({})
        for step in loop(tracer):
            seen[step] = some.layers[1].layer_output

    assert list(seen) == expected
    assert [torch.equal(whole[step], hidden) for step, hidden in seen.items()] == [True] * len(expected)


def test_loops_follow_one_another_and_nest(some):
    """Each asks for its own steps."""
    whole, _ = steps(some, lambda model: model.layers[0].layer_output, **GREEDY)
    with some.generate(LONG, **GREEDY) as tracer:
        seen = save({})
        for step in tracer.iter[0]:
            seen[step] = some.layers[0].layer_output
            for inner in tracer.iter[1:3]:
                seen[inner] = some.layers[0].layer_output
        for step in tracer.iter[3]:
            seen[step] = some.layers[0].layer_output

    assert [torch.equal(whole[step], seen[step]) for step in range(4)] == [True] * 4


def test_next_walks_from_step_to_step(some):
    """`module.next()` is the following passing."""
    whole, _ = steps(some, lambda model: model.layers[0].layer_output, **GREEDY)
    with some.generate(LONG, **GREEDY):
        first = some.layers[0].layer_output.save()
        second = some.layers[0].next().layer_output.save()
        third = some.layers[0].next().layer_output.save()

    assert [torch.equal(one, other) for one, other in zip(whole, (first, second, third), strict=False)] == [True] * 3


def test_steps_are_counted_as_they_go(llama):
    """`tracer.steps` is the number of forwards so far, and after the run of all."""
    with llama.generate(LONG, **GREEDY) as tracer:
        counts = save([])
        for _ in tracer.iter[:]:
            llama.layers[0].layer_output
            counts.append(tracer.steps)

    assert (counts, tracer.steps) == ([0, 1, 2, 3], 4)


# Without a block


def test_a_run_without_a_block_returns_what_the_model_does(model):
    """`trace=False` runs at once: the forward's output, and the ids of a generation."""
    output = model.trace(LONG, trace=False)
    ids = model.generate(LONG, trace=False, **GREEDY)

    assert torch.equal(model._module(IDS).logits, output.logits)
    assert torch.equal(bare(model, **GREEDY), ids)


def test_a_generation_outside_of_a_with_statement_returns_the_ids(model):
    """As transformers' `generate` does; inside of one it is traced, however the statement is laid out."""
    ids = model.generate(LONG, **GREEDY)
    with (
        torch.no_grad(),
        model.generate(
            LONG,
            **GREEDY,
        ) as tracer,
    ):
        traced = tracer.result.save()

    assert torch.equal(ids, traced)


def test_a_run_without_a_block_is_edited_as_any_other(llama):
    """Edits that the model keeps are in it."""
    with llama.edit() as (_, edited):
        edited.layers[0].layer_output[:] = 0
    with edited.trace(LONG):
        logits = edited.logits.save()

    assert torch.equal(logits, edited.trace(LONG, trace=False).logits)


def test_a_model_generates_by_itself_after_it_was_traced(some):
    """What transformers is called with directly does not know of traces before it."""
    before = bare(some, **GREEDY)
    steps(some, lambda model: model.layers[0].layer_output, **GREEDY)

    assert torch.equal(before, bare(some, **GREEDY))
