"""`for step in tracer.iter[:8]:` - a step means the same in every loop, and a loop ends well."""

import pytest
import torch
from torch import nn

from interp_components.errors import OutOfOrderError
from interp_components.tracing import Traceable
from tracer_core import save


def shapes(gpt2, ids, loop, **options):
    with gpt2.trace(ids[:1], fn="generate", max_new_tokens=4, do_sample=False, **options) as tracer:
        found = save({})
        for step in loop(tracer):
            found[step] = gpt2.transformer.h[0].output.shape[1]
        after = save(True)
    return found, after, tracer.steps


@pytest.mark.parametrize(
    ("loop", "steps"),
    [
        pytest.param(lambda tracer: tracer.iter[:], [0, 1, 2, 3], id="all"),
        pytest.param(lambda tracer: tracer.all(), [0, 1, 2, 3], id="all()"),
        pytest.param(lambda tracer: tracer.iter[:2], [0, 1], id="first two"),
        pytest.param(lambda tracer: tracer.iter[1:3], [1, 2], id="slice"),
        pytest.param(lambda tracer: tracer.iter[2], [2], id="one"),
        pytest.param(lambda tracer: tracer.iter[[0, 3]], [0, 3], id="list"),
        pytest.param(lambda tracer: tracer.iter[::2], [0, 2], id="every other"),
        pytest.param(lambda tracer: tracer.iter[:9], [0, 1, 2, 3], id="more than there are"),
        pytest.param(lambda tracer: tracer.iter[7:9], [], id="none of those there are"),
    ],
)
def test_a_loop_goes_over_the_steps_there_are(gpt2, ids, loop, steps):
    """Steps that never come end the loop, and the code after it runs."""
    found, after, count = shapes(gpt2, ids, loop)

    assert (list(found), after, count) == (steps, True, 4)


def test_a_step_is_the_forward_of_that_number(gpt2, ids):
    """The prompt is step 0, and every later step has one token with the cache."""
    assert shapes(gpt2, ids, lambda tracer: tracer.iter[:])[0] == {0: 8, 1: 1, 2: 1, 3: 1}


def test_a_step_means_the_same_without_the_cache(gpt2, ids):
    """Without the cache step k sees the prompt and k tokens."""
    assert shapes(gpt2, ids, lambda tracer: tracer.iter[:], use_cache=False)[0] == {0: 8, 1: 9, 2: 10, 3: 11}


def test_a_generation_that_stops_early_ends_the_loop(chain, x):
    """The loop is over with the last real step, and the result is there."""
    with chain.trace(x, fn="repeat", times=2) as tracer:
        found = save([])
        for _ in tracer.iter[:6]:
            found.append(chain.first.output)
        result = tracer.result.save()

    assert (len(found), torch.equal(chain._module.repeat(x, 2), result), tracer.steps) == (2, True, 2)


def test_a_loop_can_ask_for_a_module_that_was_not_asked_before(chain, x):
    """A module asked for the first time at step 1 is served its passing of step 1."""
    with chain.trace(x, fn="repeat") as tracer:
        for step in tracer.iter[:2]:
            chain.first.output  # the read is what happens
            if step == 1:
                read = chain.second.output.save()

    assert torch.equal(chain._module.repeat(x, 2), read)


class Twice(nn.Module):
    """Calls one of its modules twice in a forward, and does so again and again."""

    def __init__(self):
        super().__init__()
        self.before = nn.Identity()
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        return self.layer(self.layer(self.before(x)))

    def repeat(self, x, times=3):
        for _ in range(times):
            x = self(x)
        return x


@pytest.mark.parametrize("asked", [pytest.param(0, id="early"), pytest.param(1, id="late")])
@pytest.mark.parametrize("is_hooked", [pytest.param(False, id="bare"), pytest.param(True, id="hooked")])
def test_a_step_of_a_repeated_module_is_its_first_call_in_that_forward(x, asked, is_hooked):
    """Whether it was asked for from the start or from step 1 on, and whoever else has a hook on it."""
    torch.manual_seed(0)
    model = Traceable(Twice())
    if is_hooked:
        model._module.layer.register_forward_hook(lambda module, args, output: None)

    with model.trace(x, fn="repeat") as tracer:
        found = save({})
        for step in tracer.iter[:]:
            model.before.output  # the read is what happens
            if step >= asked:
                found[step] = model.layer.output

    expected = {step: model._module.layer(model._module.repeat(x, step)) for step in range(asked, 3)}
    assert found.keys() == expected.keys()
    assert all(torch.equal(found[step], expected[step]) for step in expected)


def test_a_module_that_a_step_leaves_out_is_refused_when_its_forward_is_over(x):
    """The value of a later step is not served in its place."""

    class Sometimes(nn.Module):
        def __init__(self):
            super().__init__()
            self.always, self.sometimes = nn.Identity(), nn.Identity()
            self.calls = 0

        def forward(self, x):
            self.calls += 1
            return self.sometimes(self.always(x)) if self.calls % 2 else self.always(x)

        def repeat(self, x, times=4):
            return [self(x + time) for time in range(times)]

    model = Traceable(Sometimes())
    with model.trace(x, fn="repeat") as tracer:
        found = save({})
        for step in tracer.iter[:]:
            model.always.output  # the read is what happens
            try:
                found[step] = model.sometimes.output
            except OutOfOrderError:
                found[step] = None

    assert {step: None if value is None else torch.equal(value, x + step) for step, value in found.items()} == {
        0: True,
        1: None,
        2: True,
        3: None,
    }


def test_an_order_error_is_never_another_steps_value(chain, x):
    """A module that the step has passed is not served at the next step instead."""
    with pytest.raises(OutOfOrderError, match=r"'model.first.output.i0' was requested"):
        with chain.trace(x, fn="repeat") as tracer:
            for _ in tracer.iter[:2]:
                chain.second.output.save()
                chain.first.output.save()


def test_a_loop_goes_over_the_passings_of_one_place(x):
    """In a single forward the steps are those of the module that is asked for."""

    class Thrice(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)

        def forward(self, x):
            return self.layer(self.layer(self.layer(x)))

    model = Traceable(Thrice())
    with model.trace(x) as tracer:
        found = save([])
        for _ in tracer.iter[:]:
            found.append(model.layer.output)

    assert len(found) == 3


def test_an_edit_in_a_loop_reaches_its_step_alone(chain, x):
    """Other steps run as they are."""
    with torch.no_grad(), chain.trace(x, fn="repeat", times=2) as tracer:
        for _ in tracer.iter[1]:
            chain.first.output = x
        result = tracer.result.save()

    assert torch.equal(chain._module.second(x), result)


def test_next_moves_on_by_one_step(chain, x):
    """`module.next()` asks for the following passing from there on."""
    with chain.trace(x, fn="repeat") as tracer:
        first = chain.output.save()
        second = chain.next().output.save()
        tracer.stop()

    assert (torch.equal(chain._module(x), first), torch.equal(chain._module.repeat(x, 2), second)) == (True, True)


def test_a_loop_in_a_loop_gives_the_step_back(chain, x):
    """After an inner loop requests ask for the outer step again."""
    with chain.trace(x, fn="repeat") as tracer:
        for _ in tracer.iter[0]:
            for _ in tracer.iter[1]:
                inner = chain.first.output.save()
        for _ in tracer.iter[2]:
            outer = chain.first.output.save()

    module = chain._module
    assert torch.equal(module.first(module.repeat(x, 1)), inner)
    assert torch.equal(module.first(module.repeat(x, 2)), outer)


def test_a_break_ends_the_loop(chain, x):
    """After a break the block goes on."""
    with chain.trace(x, fn="repeat") as tracer:
        for _ in tracer.all():
            first = chain.first.output.save()
            break
        result = tracer.result.save()

    assert (first.shape, torch.equal(chain._module.repeat(x), result)) == ((2, 4), True)


@pytest.mark.parametrize("steps", [-1, slice(-2, None), slice(0, -1), [0, -1]], ids=str)
def test_negative_steps_are_refused(chain, x, steps):
    """How many steps there will be is known at the end only."""
    with pytest.raises(ValueError, match="negative"), chain.trace(x) as tracer:
        tracer.iter[steps]


def test_the_same_ids_come_out_of_a_traced_generation(gpt2, ids):
    """Reading in a generation changes nothing in it."""
    options = {"max_new_tokens": 4, "do_sample": False, "attention_mask": torch.ones(1, 8)}
    expected = gpt2._module.generate(ids[:1], **options)
    with gpt2.trace(ids[:1], fn="generate", **options) as tracer:
        for _ in tracer.all():
            gpt2.transformer.h[1].output.save()
        result = tracer.result.save()

    assert torch.equal(expected, result)


def test_steps_are_no_context(gpt2, ids):
    """`with tracer.iter[...]:` says what to write."""
    with pytest.raises(TypeError, match=r"write `for step in tracer\.iter\[\.\.\.\]:`"):
        with gpt2.trace(ids) as tracer:
            with tracer.iter[:]:
                _ = 1
