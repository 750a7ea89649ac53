"""Whether a value is there, and what is said when it is not."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from interp_components.properties.availability import Unavailable, reason_for, require

HOST = SimpleNamespace(path="model.h.0.attn", kernel="sdpa")


def needs_eager(host: Any) -> str | None:
    return None if host.kernel == "eager" else f"runs {host.kernel}"


def mistaken(host: Any) -> str | None:
    return str(host.no_such_thing)


@pytest.mark.parametrize(
    ("availability", "expected"),
    [
        pytest.param(None, None, id="always"),
        pytest.param("dropped", "dropped", id="reason"),
        pytest.param(needs_eager, "runs sdpa", id="predicate"),
        pytest.param(lambda host: None, None, id="predicate_that_holds"),
    ],
)
def test_a_reason_is_a_sentence_or_what_a_predicate_says(availability: Any, expected: str | None) -> None:
    """None means that the value is there."""
    assert reason_for(availability, HOST, "scores") == expected


def test_a_value_that_is_not_there_names_path_value_and_reason() -> None:
    """The error says which value of which module, and why."""
    with pytest.raises(Unavailable) as caught:
        require(needs_eager, HOST, "scores")

    assert str(caught.value) == "model.h.0.attn.scores is not available: runs sdpa"


def test_unavailable_is_not_an_attribute_error() -> None:
    """An AttributeError would fall through to the wrapped module and come back as `no attribute`."""
    assert issubclass(Unavailable, RuntimeError)
    assert not issubclass(Unavailable, AttributeError)


def test_a_mistake_in_a_predicate_is_not_hidden() -> None:
    """An AttributeError inside a predicate comes out as an error of the check."""
    with pytest.raises(
        RuntimeError, match=r"the availability check of model\.h\.0\.attn\.scores failed: .*no_such_thing"
    ):
        require(mistaken, HOST, "scores")
