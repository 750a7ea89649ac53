"""The steps that a `with` statement is traced in, one after the other, each on its own: what a subclass can build on."""

import ast
import sys
from pathlib import Path

import pytest

from tracer_core import Tracer, save, saving, tracer
from tracer_core.skip import monitoring

NAMES = [
    *("TRY_STATEMENTS", "ExitTracingException", "WithBlockNotFoundError", "Tracer", "skip_context", "skippable"),
    *("enter", "leave", "mark", "save", "push_result"),
]


@pytest.mark.parametrize("name", NAMES)
def test_the_steps_are_in_one_module(name):
    """Whoever changes what a trace is finds its words beside `Tracer`."""
    assert hasattr(tracer, name)


def test_try_statements_are_all_that_begin_with_try():
    """`except*` has a node of its own where Python knows it."""
    assert {node.__name__ for node in tracer.TRY_STATEMENTS} == {"Try", "TryStar"}.intersection(dir(ast))


# Capture


def test_the_text_of_a_file_is_its_source():
    """Whole, as it was read."""
    assert Tracer.source(__file__) == Path(__file__).read_text()


def test_a_name_without_text_has_an_empty_source():
    """The error comes where the text is needed."""
    assert Tracer.source("<nowhere>") == ""


TEXT = "import os\nwith a(), b():\n    one = 1\n\nasync def f():\n    async with c():\n        pass\n"


@pytest.mark.parametrize(("line", "kind"), [(1, type(None)), (2, ast.With), (3, type(None)), (6, ast.AsyncWith)])
def test_a_statement_is_found_by_its_line(line, kind):
    """A line without a `with` has none."""
    assert type(Tracer().parse(TEXT, line)) is kind


def test_what_is_built_is_the_block_without_its_with_line():
    """Its lines are those of the file."""
    module = Tracer().build(Tracer().parse(TEXT, 2))

    assert (ast.unparse(module), module.body[0].lineno) == ("one = 1", 3)


# Skip


class Alone(Tracer):
    """Does the steps of an enter by itself."""

    def __enter__(self):
        self.capture()
        tracer.skip_context(self)
        return "entered"


def test_an_enter_is_a_capture_and_a_skip():
    """A subclass may do them by itself, and enter as anything."""
    with Alone() as entered:
        kept = save([1])

    assert (entered, kept) == ("entered", [1])


def test_a_skip_sets_the_trace_function_that_it_takes(monkeypatch):
    """So the block is left where no tool id is free, too."""
    monkeypatch.setattr(monitoring, "_tool", lambda kind: None)
    before = sys.gettrace()

    def here():
        with Alone():
            kept = save([1])
        return kept

    assert (here(), sys.gettrace()) == ([1], before)


def test_there_is_nothing_to_skip_in_an_empty_block():
    """It runs, and the backend is called all the same."""
    seen = []
    with Alone(seen.append) as entered:
        pass

    assert (entered, len(seen)) == ("entered", 1)


BLOCKS = {
    "pass": ("pass", False),
    "docstring": ("'words'", False),
    "dots": ("...\n    pass\n    1", False),
    "name": ("x", True),
    "call after pass": ("pass\n    f()", True),
}


@pytest.mark.parametrize(("block", "has_work"), BLOCKS.values(), ids=BLOCKS)
def test_a_block_has_work_if_it_has_more_than_constants(block, has_work):
    """Only such a block is skipped."""
    assert tracer.skippable(Tracer().parse(f"with a():\n    {block}\n", 1)) is has_work


# Scopes and what they hand back


def test_a_scope_is_deeper_by_one():
    """And the one around it is as before when it is left."""
    before = saving.depth()
    token = tracer.enter()
    inside = saving.depth()
    tracer.leave(token)

    assert (inside, saving.depth()) == (before + 1, before)


@pytest.mark.parametrize(("depth", "expected"), [(1, {"kept"}), (2, {"kept", "other"})], ids=["outermost", "nested"])
def test_results_are_pushed_by_depth(depth, expected):
    """The outermost trace hands back what is marked, any other hands all names to the block around it."""
    kept = other = None
    tokens = [tracer.enter() for _ in range(depth)]
    tracer.push_result(sys._getframe(), {"kept": tracer.mark([1]), "other": [2]})
    for token in reversed(tokens):
        tracer.leave(token)

    assert {name for name, value in {"kept": kept, "other": other}.items() if value} == expected
