"""Labels are what the text says, counted per name, in the order of the tree."""

import ast

import pytest

from interp_components.sources.listing import Kind, list_operations


def names(body):
    """The labels of a function with the given body."""
    definition = ast.parse("def forward(self, x, y):\n" + "\n".join(f"    {line}" for line in body.splitlines())).body[
        0
    ]
    return [operation.name for operation in list_operations(definition)[0]]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param("f(x)", ["f_0"], id="name"),
        pytest.param("torch.nn.functional.relu(x)", ["torch_nn_functional_relu_0"], id="dotted"),
        pytest.param("self.h[0].attn(x)", ["self_h_attn_0"], id="subscripts_vanish"),
        pytest.param("self._f(x)", ["self__f_0"], id="private"),
        pytest.param("f(x)(y)", ["f_0", "call_0"], id="call_of_a_call"),
        pytest.param("(lambda: 1)()", ["call_0"], id="call_of_a_lambda"),
        pytest.param("f(x).view(1)", ["f_0", "view_0"], id="method_of_a_call"),
        pytest.param("(x + y).sum()", ["sum_0"], id="method_of_an_operator"),
        pytest.param("f(g(x), k=h(y))", ["g_0", "h_0", "f_0"], id="arguments_first"),
        pytest.param("y = y.view(1)\ny = y.view(2)", ["y_view_0", "y_0", "y_view_1", "y_1"], id="one_counter_per_name"),
        pytest.param("f = 1\nf(x)", ["f_0", "f_1"], id="calls_and_bindings_share_it"),
        pytest.param("self.cache[0].k = x", ["self_cache_k_0"], id="attribute_target"),
        pytest.param("y[f(x)] = g(x)", ["g_0", "f_0", "y_0"], id="value_before_target"),
        pytest.param("f(x).y = 1", ["f_0"], id="target_without_root"),
        pytest.param("n: int = f(x)", ["f_0", "n_0"], id="annotated"),
        pytest.param("n: f(x)", [], id="declared"),
        pytest.param("f(x) if g(x) else h(x)", ["g_0", "f_0", "h_0"], id="test_first"),
        pytest.param("[f(n) for n in g(x) if h(n)]", ["f_0", "g_0", "h_0"], id="element_before_loops"),
        pytest.param("{f(1): f(2), f(3): f(4)}", ["f_0", "f_1", "f_2", "f_3"], id="dictionary"),
        pytest.param("super().forward(x)", ["forward_0"], id="super"),
        pytest.param("super(A, self).forward(x)", ["super_0", "forward_0"], id="super_with_arguments"),
        pytest.param("for n in f(x): g(n)", ["f_0", "g_0"], id="loop"),
        pytest.param("with f(x) as n: g(n)", ["f_0", "g_0"], id="manager"),
        pytest.param("h = lambda n: f(n)", ["f_0", "h_0"], id="lambda_body"),
        pytest.param("def g(n=f(1)): return f(n)\nf(2)", ["f_0", "f_1", "f_2", "return_0"], id="inner_function"),
        pytest.param("a, b = f(x), g(x)", ["f_0", "g_0", "a_0", "b_0"], id="balanced_tuple"),
        pytest.param("a, (b, c) = x, (y, f(1))", ["f_0", "a_0", "b_0", "c_0"], id="nested_tuple"),
    ],
)
def test_labels_of_the_field(body, expected):
    """What other tools label has their label."""
    assert sorted(expected) == sorted(names(body))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param("a, b = f(x)\na = 1\nb = 2", ["a_0", "b_0"], id="unpacked"),
        pytest.param("a = b = f(x)\na = 1\nb = 2", ["a_0", "b_0"], id="chain"),
        pytest.param("a, *b = x, y\na = 1\nb = 2", ["a_0", "b_0"], id="starred"),
        pytest.param("g(a := 1)\na = 1", ["a_0"], id="walrus"),
    ],
)
def test_what_others_do_not_label_is_numbered_last(body, expected):
    """An unpacking, a chain or a walrus before a plain binding leaves that one its number."""
    definition = ast.parse("def forward(x, y):\n" + "\n".join(f"    {line}" for line in body.splitlines())).body[0]
    operations, _ = list_operations(definition)
    last_lines = {operation.name: operation.line for operation in operations if operation.kind is Kind.ASSIGNMENT}

    assert all(last_lines[f"{name[:-1]}1"] == 2 and last_lines[name] > 2 for name in expected)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param("return x", "return_0", id="return"),
        pytest.param("y += 1", "y_iadd_0", id="augmented"),
        pytest.param("self.total /= 2", "self_total_itruediv_0", id="augmented_attribute"),
        pytest.param("y[:, 0] @= x", "y_imatmul_0", id="augmented_item"),
        pytest.param("a, *b = x", "b_0", id="starred"),
    ],
)
def test_operations_of_our_own(body, expected):
    """Returns, augmented assignments and starred targets are operations."""
    assert expected in names(body)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("class C:\n    n = f(1)\nf(2)", id="class"),
        pytest.param("def g(n: f(1)): pass\nf(2)", id="annotation"),
    ],
)
def test_what_is_no_operation_keeps_its_number(body):
    """A call in a nested class or an annotation is not listed, and the next of its name is `_1`."""
    assert [name for name in names(body) if name.startswith("f")] == ["f_1"]


def test_a_bare_return_is_no_operation():
    """`return` without a value binds nothing that could be read."""
    assert names("return") == []


def test_the_line_of_a_chained_call_is_where_its_name_stands():
    """Each call of a chain over several lines has its own line."""
    definition = ast.parse("def forward(x):\n    y = (x\n         .view(1)\n         .sum())").body[0]

    lines = {operation.name: operation.line for operation in list_operations(definition)[0]}

    assert lines == {"x_view_0": 3, "sum_0": 4, "y_0": 2}
