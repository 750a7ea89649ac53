"""Random programs of reads, writes and skips on random modules do what plain hooks do."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from interp_components.tracing import Traceable
from tracer_core import save

ACTIONS = {"input": ["read", "input", "skip"], "output": ["read", "write", "edit"]}


class Stage(nn.Module):
    """Runs its parts in order, each as often as told, and returns a tensor, a tuple or a dict."""

    def __init__(self, parts, times, form):
        super().__init__()
        self.parts = nn.ModuleList(parts)
        self.times = times
        self.form = form

    def forward(self, x):
        for part, times in zip(self.parts, self.times, strict=True):
            for _ in range(times):
                x = plain(part(x))
        return {"tensor": x, "tuple": (x, 1), "dict": {"value": x}}[self.form]


def plain(value):
    if isinstance(value, dict):
        return value["value"]
    return value[0] if isinstance(value, tuple) else value


def changed(value):
    if isinstance(value, dict):
        return {"value": value["value"] * 2}
    return (value[0] * 2, value[1]) if isinstance(value, tuple) else value * 2


@st.composite
def stages(draw, depth=2):
    shared = nn.Linear(3, 3)
    parts = []
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(["linear", "shared", "stage"] if depth else ["linear", "shared"]))
        parts.append(draw(stages(depth - 1)) if kind == "stage" else shared if kind == "shared" else nn.Linear(3, 3))
    times = [draw(st.integers(1, 2)) for _ in parts]
    return Stage(parts, times, draw(st.sampled_from(["tensor", "tuple", "dict"])))


def events(module, x):
    """The calls and returns of a plain run, in order: (module, end, occurrence)."""
    order, counts, handles = [], {}, []

    def note(end):
        def hook(each, *_):
            counts[each, end] = counts.get((each, end), -1) + 1
            order.append((each, end, counts[each, end]))

        return hook

    for each in module.modules():
        if not isinstance(each, nn.ModuleList):
            handles += [each.register_forward_pre_hook(note("input")), each.register_forward_hook(note("output"))]
    module(x)
    for handle in handles:
        handle.remove()
    return order


def hooked(module, x, program):
    """What the program reads and the model returns, by plain hooks."""
    read, counts, handles = [], {}, []
    wanted = {(each, end, occurrence): action for (each, end, occurrence), action in program}

    def before(each, args):
        counts[each, "input"] = counts.get((each, "input"), -1) + 1
        action = wanted.get((each, "input", counts[each, "input"]))
        if action is not None:
            read.append(args[0].clone())
        return (args[0] * 2,) if action == "input" else None

    def after(each, args, output):
        counts[each, "output"] = counts.get((each, "output"), -1) + 1
        if wanted.get((each, "input", counts[each, "output"])) == "skip":
            output = args[0]
        action = wanted.get((each, "output", counts[each, "output"]))
        if action is not None:
            read.append(plain(output).clone())
        if action == "edit":
            plain(output).mul_(2)
        return changed(output) if action == "write" else output

    for each in module.modules():
        if not isinstance(each, nn.ModuleList):
            handles += [each.register_forward_pre_hook(before), each.register_forward_hook(after)]
    result = module(x)
    for handle in handles:
        handle.remove()
    return read, plain(result)


@settings(max_examples=500, deadline=None)
@given(st.data())
def test_a_program_does_what_plain_hooks_do(data):
    """Reads, assignments, edits in place and skips, in forward order, over nested, shared and repeated modules."""
    torch.manual_seed(0)
    module, x = data.draw(stages()), torch.ones(2, 3)
    with torch.no_grad():
        order = events(module, x)
        chosen = sorted(data.draw(st.sets(st.integers(0, len(order) - 1), max_size=6)))
        program = []
        for place in chosen:
            each, end, _ = order[place]
            is_leaf = isinstance(each, nn.Linear)
            actions = [action for action in ACTIONS[end] if is_leaf or action != "skip"]
            program.append((order[place], data.draw(st.sampled_from(actions))))
        expected, result = hooked(module, x.clone(), program)
        model = Traceable(module)
        envoys = {envoy._module: envoy for _, envoy in model.named_modules()}
        with model.trace(x.clone()) as tracer:
            read = save([])
            for (each, end, occurrence), action in program:
                envoy = envoys[each]
                for _ in tracer.iter[occurrence]:
                    value = envoy.input if end == "input" else envoy.output
                    read.append(plain(value).clone())
                    if action == "input":
                        envoy.input = value * 2
                    elif action == "skip":
                        envoy.skip(value)
                    elif action == "write":
                        envoy.output = changed(value)
                    elif action == "edit":
                        plain(value).mul_(2)
            actual = plain(model.output).clone().save()

    assert all(torch.equal(one, other) for one, other in zip(expected, read, strict=True))
    assert torch.equal(result, actual)
