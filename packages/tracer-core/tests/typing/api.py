"""What an editor knows of tracer_core: read by type checkers, never run."""

from __future__ import annotations

from typing import Any

from typing_extensions import assert_type

from tracer_core import Backend, Block, Tracer, mark, save


class Twice:
    """A backend of one's own is anything that can be called with a tracer."""

    def __call__(self, tracer: Tracer, /) -> None:
        """Run the block two times."""
        assert_type(tracer.block, Block)
        tracer.execute()
        tracer.execute()


def compute() -> list[int]:
    """A value with a type."""
    return [1]


backend: Backend = Twice()
with Tracer(backend) as tracer:
    assert_type(save(compute()), list[int])
    assert_type(save(compute(), copy=True), list[int])
    assert_type(mark(compute()), list[int])
assert_type(tracer, Tracer)


def rerun(block: Block) -> None:
    """A block says what it reads and writes."""
    bound: dict[str, Any] = block.bound()
    print(bound, block.source_text.upper())
