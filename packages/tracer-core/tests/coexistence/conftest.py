"""A program that traces in many ways, run in a process of its own beside whatever else listens to Python."""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import tracer_core

PROGRAM = """\
from helper import called
from tracer_core import Tracer, save


def simple(n):
    with Tracer():
        a = n + 1
        b = save([a])
    c = called(b)
    return c


def in_a_loop():
    total = 0
    for i in range(3):
        with Tracer() as tracer:
            x = called([i])
            if i == 1:
                y = save([x, i])
            else:
                y = save([i])
        total += y[-1]
    return total


def begins_with_try():
    with Tracer():
        try:
            r = called(None)
        except TypeError as error:
            r = save([str(error)])
        finally:
            s = 1
    return r


def on_one_line():
    with Tracer(): r = save([called([1])])
    return r


def ends_with_a_branch(given):
    with Tracer():
        r = save([given])
        for item in given:
            if item:
                r = save([item])
    return r


def nested():
    with Tracer():
        a = 1
        with Tracer():
            b = a + 1
            called([b])
        c = save([a, b])
    return c


def fails():
    try:
        with Tracer():
            kept = save([1])
            called(kept)
            raise KeyError("k")
    except KeyError:
        after = kept
    return after


def generates():
    for i in range(2):
        with Tracer():
            v = save([called([i])])
        yield v


class Body:
    one = 1
    with Tracer():
        two = save([one + 1])
    three = two[0] + 1


with (
    Tracer()
    as top
):
    level = save(
        [called([1])]
    )
result = (
    simple(1),
    in_a_loop(),
    begins_with_try(),
    on_one_line(),
    ends_with_a_branch([0, 2]),
    nested(),
    fails(),
    list(generates()),
    Body.three,
    level,
)
"""
HELPER = """\
def called(value):
    if value is None:
        raise TypeError("none")
    first = [
        item
        for item in value
    ]
    return first[0]
"""
RESULT = [2, 3, ["none"], [1], [2], [1, 2], [1], [[0], [1]], 3, [1]]


@pytest.fixture(scope="session")
def program(tmp_path_factory):
    """The program as a file, with the helper module that it calls beside it."""
    folder = tmp_path_factory.mktemp("program")
    (folder / "helper.py").write_text(HELPER)
    path = folder / "program.py"
    path.write_text(PROGRAM)
    return path


@pytest.fixture(scope="session")
def run(program):
    """Run a driver beside the program in a clean process, and return what it prints as JSON."""

    def run_driver(driver, *, stdin="", parse=True, **environment):
        source = Path(tracer_core.__file__).parents[1]
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("COV_", "COVERAGE_"))}
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", textwrap.dedent(driver)],
            input=stdin,
            capture_output=True,
            text=True,
            cwd=program.parent,
            env={**kept, "PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1", **environment},
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout) if parse else done.stdout

    return run_driver


@pytest.fixture
def expected():
    """What the program's `result` is, as JSON has it."""
    return RESULT
