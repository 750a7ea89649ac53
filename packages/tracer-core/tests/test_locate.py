"""From a place in the code to its `with` item."""

import ast

import pytest

from tracer_core import Tracer, bytecode, locate, save


def items(text):
    """Return the line and number of the item of every enter in `text`, in the order of the bytecode."""
    code = compile(text, "text.py", "exec")
    lines = text.splitlines(keepends=True)
    found = [locate.item(lines, locate.place(code, enter)) for enter in bytecode.enters(code.co_code)]
    return [item and (item.node.lineno, item.number) for item in found]


SHAPES = {
    "one": ("with a: pass\n", [(1, 0)]),
    "several": ("with a, b as c, d(): pass\n", [(1, 0), (1, 1), (1, 2)]),
    "same expression": ("with a, a, a: pass\n", [(1, 0), (1, 1), (1, 2)]),
    "parentheses": ("with (\n    a,\n    b as c,\n):\n    pass\n", [(1, 0), (1, 1)]),
    "backslash": ("with a, \\\n     b:\n    pass\n", [(1, 0), (1, 1)]),
    "nested": ("with a:\n    with b:\n        x\n    with c: y\n", [(1, 0), (2, 0), (4, 0)]),
    "string that looks like one": ("x = '''\nwith a:\n'''\nwith b: pass\n", [(4, 0)]),
    "string in the block": ("with a:\n    x = '''\nwith b:\n'''\n", [(1, 0)]),
    "comment at the margin": ("with a:\n    x\n# comment\n    y\nz\n", [(1, 0)]),
    "conditional expression": ("with (a if b else c), d: pass\n", [(1, 0), (1, 1)]),
    "split keyword": ("async def f():\n    async \\\n    with a: pass\nwith b: pass\n", [(4, 0)]),
    "tabs and form feed": ("if 1:\n\twith a:\n\t\tx\n\x0c\nwith b: pass\n", [(2, 0), (5, 0)]),
}


@pytest.mark.parametrize(("text", "expected"), SHAPES.values(), ids=SHAPES.keys())
def test_each_enter_has_its_item(text, expected):
    """Whatever the header looks like, the item is the one that is entered."""
    assert items(text) == expected


def test_a_block_in_a_finally_clause_is_compiled_twice_and_found_twice():
    """A `finally` body has two copies; both are the same items."""
    assert set(items("try: x\nfinally:\n    with a, b: pass\n")) == {(3, 0), (3, 1)}


def test_a_keyword_on_a_line_of_its_own_is_found_in_the_whole_file():
    """`async \\` on one line and `with` on the next: the statement begins before its `with`."""
    text = "async def f():\n    async \\\n    with a: pass\n"
    code = next(c for c in compile(text, "text.py", "exec").co_consts if hasattr(c, "co_code"))
    enter = next(bytecode.enters(code.co_code))

    item = locate.item(text.splitlines(keepends=True), locate.place(code, enter))

    assert item is not None
    assert isinstance(item.node, ast.AsyncWith)


@pytest.mark.parametrize("text", ["", "x = 1\n", "with b:\n    (\n", "with other(): pass\n" * 3], ids=repr)
def test_other_text_has_no_item(text):
    """Where the text is not that of the code, there is nothing to be found, or another item."""
    code = compile("\n\n\nwith a:\n    pass\n", "text.py", "exec")
    enter = next(bytecode.enters(code.co_code))

    assert locate.item(text.splitlines(keepends=True), locate.place(code, enter)) is None


def test_a_statement_is_found_by_a_line_of_its_items():
    """`on_line` knows the line of the statement and of each item."""
    text = "x\nwith (\n    a,\n    b,\n): pass\n"

    assert [locate.on_line(text, line) is not None for line in (1, 2, 3, 4)] == [False, True, True, True]
    assert locate.on_line("(", 1) is None


def test_many_items_of_one_line_are_traced_each_with_its_rest():
    """A tracer's block is what its item guards, in a frame that runs a block as well."""
    with Tracer() as a, Tracer() as b, Tracer() as c:
        found = save([a, b, c])

    assert len(set(map(id, found))) == 3
