"""The text of a function is found and known to be what runs, or refused."""

import importlib.util
import linecache
import os

import pytest

from interp_components.errors import SourceNotAvailable
from interp_components.sources.definition import read_text


@pytest.fixture
def load(tmp_path):
    """Write a module, import it, and give it back."""

    def load(text):
        path = tmp_path / "forwards_under_test.py"
        path.write_text(text)
        spec = importlib.util.spec_from_file_location("forwards_under_test", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load


def rewrite_file(module, text):
    """Write another text where the module was loaded from, and let linecache see it."""
    with open(module.__file__, "w") as file:
        file.write(text)
    os.utime(module.__file__, ns=(1, 1))
    linecache.checkcache(module.__file__)


@pytest.mark.parametrize(
    ("text", "get"),
    [
        pytest.param("def f(x):\n    return x\n", lambda module: module.f, id="plain"),
        pytest.param("def f(x): return x", lambda module: module.f, id="one_line"),
        pytest.param("def f(\n    x,\n):\n    return (\n0)\n# end\n", lambda module: module.f, id="brackets"),
        pytest.param('def f(x):\n    return """\nnot the end\n"""\n\ng = 1\n', lambda module: module.f, id="string"),
        pytest.param("def f(n):\n    return f(n - 1) if n else 0\n", lambda module: module.f, id="recursive"),
        pytest.param("import math\ndef f(n):\n    return math.sqrt(n)\n", lambda module: module.f, id="imported_name"),
        pytest.param(
            "from __future__ import annotations\ndef f(n: int) -> T:\n    return n\n",
            lambda module: module.f,
            id="future",
        ),
        pytest.param(
            "class C:\n\tdef f(self):\n\t\treturn self.__x, C, super().__init__()\n",
            lambda module: module.C.f,
            id="tabs",
        ),
        pytest.param(
            "class C:\n    class D:\n        def f(self):\n            class E: pass\n            return self.__x, C, D, E\n",
            lambda module: module.C.D.f,
            id="nested_class",
        ),
        pytest.param(
            "def make(a):\n    def f(n):\n        return f(n - 1) + a if n else 0\n    return f\n",
            lambda module: module.make(1),
            id="closure",
        ),
        pytest.param(
            "class C:\n    def m(self):\n        def f():\n            return self.__x\n        return f\n",
            lambda module: module.C().m(),
            id="private_name_in_a_closure",
        ),
        pytest.param("d = lambda g: g\n@d\n\n@d\ndef f(x):\n    return x\n", lambda module: module.f, id="decorated"),
        pytest.param("async def f(x):\n    return [y async for y in x]\n", lambda module: module.f, id="async"),
    ],
)
def test_text_is_found(load, text, get):
    """Wherever a `def` stands, its own lines are found."""
    function = get(load(text))

    assert read_text(function).tree.name == function.__name__


@pytest.mark.parametrize(
    "after",
    [
        pytest.param("def f(x):\n    return x + 2\n", id="constant"),
        pytest.param("def f(x):\n    return x - 1\n", id="operator"),
        pytest.param("def f(y):\n    return y + 1\n", id="name"),
        pytest.param("def f(x):\n    return x + True\n", id="equal_constant"),
        pytest.param("\ndef f(x):\n    return x + 1\n", id="moved"),
        pytest.param("def g(x):\n    return x + 1\n", id="renamed"),
        pytest.param("", id="emptied"),
        pytest.param("def f(x:\n", id="broken"),
    ],
)
def test_a_text_that_is_not_what_runs_is_refused(load, after):
    """A file that was edited after its import is never taken for the running function."""
    module = load("def f(x):\n    return x + 1\n")
    rewrite_file(module, after)

    with pytest.raises(SourceNotAvailable, match=r"forwards_under_test\.py:1"):
        read_text(module.f)


def test_code_without_text_is_refused():
    """A function made by exec has no lines to stand beside."""
    names = {}
    exec("def f(): pass", names)

    with pytest.raises(SourceNotAvailable, match="no text is found there"):
        read_text(names["f"])


def test_a_lambda_is_refused_with_the_way_out():
    """Labels stand beside statements, and a lambda has none."""
    with pytest.raises(SourceNotAvailable, match="write it as a `def`"):
        read_text(lambda x: x)


def asserting(x):
    assert x > 0, "positive"
    return x


def test_asserts_that_pytest_rewrote_do_not_hide_the_text():
    """A model defined in a test file has operations though pytest compiles its asserts anew."""
    assert any(name.startswith("@py_") for name in asserting.__code__.co_varnames)

    assert read_text(asserting).tree.name == "asserting"
