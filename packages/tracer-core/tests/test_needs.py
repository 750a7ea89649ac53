"""Which names a block needs from its caller."""

import ast
import sys

import pytest

from tracer_core.needs import needed

CASES = {
    "a read": ("f(x)", "f x"),
    "read after binding": ("x = f()\ng(x)", "f g"),
    "read before binding": ("f(x)\nx = 1", "f x"),
    "its own value": ("x = x + 1", "x"),
    "augmented": ("x += 1", "x"),
    "augmented attribute": ("x.n += 1", "x"),
    "attribute assigned": ("x.n = 1", "x"),
    "item assigned": ("x[i] = 1", "x i"),
    "several targets": ("a, (b, *c) = f()\ng(a, b, c)", "f g"),
    "annotated": ("x: int = 1\nf(x)", "int f"),
    "annotated without value": ("x: int\nf(x)", "int f x"),
    "import": ("import os.path\nfrom m import n as k\nf(os, k)", "f"),
    "deleted": ("del x\nf(x)", "x f"),
    "bound and deleted": ("x = 1\ndel x\nf(x)", "f x"),
    "both branches": ("if c:\n    x = 1\nelse:\n    x = 2\nf(x)", "c f"),
    "one branch": ("if c:\n    x = 1\nf(x)", "c f x"),
    "loop variable": ("for x in xs:\n    f(x)", "xs f"),
    "after a loop": ("for x in xs:\n    y = x\nelse:\n    g(x)\nf(y)", "xs g x f y"),
    "loop target": ("for x[i] in xs:\n    pass", "xs x i"),
    "while": ("while c:\n    x = 1\nf(x)", "c f x"),
    "with target": ("with m() as x:\n    y = x\nf(x, y)", "m f y"),
    "try": ("try:\n    x = f()\nexcept E as e:\n    g(e)\nelse:\n    h(x)\nfinally:\n    k()", "E g e f h x k"),
    "match": ("match x:\n    case {'a': y} if c:\n        f(y)", "x c f y"),
    "comprehension": ("[g(x, k) for x in xs if x]", "g k xs"),
    "comprehension over its own name": ("[x for x in x]", "x"),
    "inner comprehension": ("{y: x for x in xs for y in x}", "xs"),
    "function": ("def f(a, *b, c=d, **e):\n    v = a\n    return v, b, c, e, g\nf()", "d g"),
    "function that binds elsewhere": ("def f():\n    global g\n    g = 1\n    return g", "g"),
    "function in a function": ("def f(a):\n    def h(b):\n        return a, b, c\n    return h", "c"),
    "decorator": ("@d\ndef f(): pass", "d"),
    "lambda": ("f(lambda a: a + b)", "f b"),
    "class": ("class C(B):\n    x = y\nC()", "B y"),
    "walrus": ("f(n := g())", "f g"),
    "super": ("super().run()", "super"),
    "nothing": ("pass", ""),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_a_block_needs_what_it_may_read_before_it_binds_it(text, expected):
    """Names are needed unless the block has surely bound them before."""
    assert needed(ast.parse(text).body, None) == expected.split()


@pytest.mark.parametrize(
    ("name", "private", "expected"),
    [
        pytest.param("__x", "_C", "_C__x", id="private"),
        pytest.param("__x__", "C", "__x__", id="dunder"),
        pytest.param("__x", "__", "__x", id="a class of underscores"),
        pytest.param("__x", None, "__x", id="outside of a class"),
    ],
)
def test_private_names_are_those_of_the_class(name, private, expected):
    """A private name is needed as its class spells it."""
    assert needed(ast.parse(f"f = {name}").body, private) == [expected]


@pytest.mark.skipif(sys.version_info < (3, 12), reason="type parameters came with 3.12")
def test_a_bound_of_a_type_parameter_is_needed():
    """What the type parameters of a function are bound by counts as needed."""
    assert needed(ast.parse("def f[T: B](x: T) -> None: pass").body, None) == ["T", "B"]
