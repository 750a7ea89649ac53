"""What `print(module.source)` shows."""

from interp_components.sources.labelled import label
from interp_components.sources.margin import with_margin


def forward(x):
    y = x.view(2).sum()

    return y


EXPECTED = """\
{file}:7, forward
          7 | def forward(x):
x_view_0  8 |     y = x.view(2).sum()
sum_0       |
y_0         |
          9 |
return_0 10 |     return y"""


def test_labels_stand_beside_their_lines():
    """Each line has its labels in order, more than one below each other."""
    assert EXPECTED.format(file=__file__) == with_margin(label(forward))
