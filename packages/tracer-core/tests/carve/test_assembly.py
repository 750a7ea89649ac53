"""Instructions written down run, and are read by Python, as the ones they were read from."""

import dis
import sys
from types import SimpleNamespace

import pytest

pytestmark = pytest.mark.skipif(sys.version_info < (3, 11), reason="3.10 has other code objects")

if sys.version_info >= (3, 11):
    from tracer_core.carve.assembly import Emitted, assemble
    from tracer_core.carve.instructions import PAIRS, Instructions


def written_again(code):
    """Return `code` with its instructions, exception table and positions read and written again."""
    instructions = Instructions(code)
    items = list(instructions)
    positions = instructions.positions([item.place for item in items])
    made = assemble(
        [
            Emitted(
                item.op,
                item.arg,
                item.caches,
                positions[item.place],
                item.place,
                item.target,
                instructions.cover(item.place),
            )
            for item in items
        ],
        code.co_firstlineno,
    )
    return code.replace(co_code=made.code, co_exceptiontable=made.exception_table, co_linetable=made.line_table)


def function_of(count):
    """Return a function with `count` names, a loop and branches around all of them, and a handler that is reached."""
    names = "\n".join(f"      x{n} = a + {n}; o.n{n} = x{n}" for n in range(count))
    text = f"""
def long(a, o):
  for _ in [1, 2]:
    try:
{names}
      if a:
        a -= 1
        continue
      o.missing
    except AttributeError as error:
      return {" + ".join(f"x{n}" for n in range(0, count, 97))}, error.name
"""
    namespace = {}
    exec(compile(text, "<nowhere>", "exec"), namespace)
    return namespace["long"]


def seen(code):
    """Return operations and positions, as `dis` reads them; a pair is two, a prefix none."""
    return [
        (op, tuple(item.positions))
        for item in dis.get_instructions(code)
        for op in PAIRS.get(item.opname, (item.opname,))
        if op not in {"EXTENDED_ARG", "CACHE"}
    ]


COUNTS = pytest.mark.parametrize("count", [1, 40, 300, 4000], ids="{} names".format)


@COUNTS
def test_code_written_again_runs_as_before(count):
    """With arguments of one, two and three bytes; jumps over them, forwards and backwards; and handlers."""
    plain, again = function_of(count), function_of(count)
    again.__code__ = written_again(plain.__code__)

    assert again(1, SimpleNamespace()) == plain(1, SimpleNamespace())


@COUNTS
def test_code_written_again_has_the_same_positions(count):
    """Lines and columns, also of instructions that are longer than one entry of the line table, and of those without."""
    code = function_of(count).__code__

    assert seen(written_again(code)) == seen(code)


def test_positions_that_are_not_whole_are_kept():
    """A line below the first line of the code object, a line without columns, and no line at all."""
    positions = [(5, 5, 1, 2), (3, 3, 0, 9), (3, None, None, None), (None, None, None, None), (70, 90, 200, 3)]
    nothing = [Emitted("NOP", position=position) for position in positions]
    made = assemble([*nothing, Emitted("RETURN_VALUE", position=(4, 4, 0, 0))], 5)
    code = function_of(1).__code__.replace(co_code=made.code, co_linetable=made.line_table, co_firstlineno=5)

    assert list(code.co_positions()) == [(5, 5, 1, 2), (3, 3, 0, 9), (3, 3, None, None), *positions[3:], (4, 4, 0, 0)]


@pytest.mark.parametrize("distance", [255, 256, 70_000])
def test_a_jump_is_as_long_as_its_target_is_far(distance):
    """What it needs to reach over others is known when these are laid out; a jump may itself be what makes one longer."""
    far = Emitted("JUMP_FORWARD", label=0, target=2)
    over = Emitted("JUMP_FORWARD", label=1, target=3)
    nothing = [Emitted("NOP")] * (distance - 1)
    made = assemble([far, over, *nothing, Emitted("NOP", label=2), Emitted("RETURN_VALUE", label=3)], 1)
    code = function_of(1).__code__.replace(co_code=made.code, co_linetable=made.line_table, co_exceptiontable=b"")
    jumps = [item for item in Instructions(code) if item.op == "JUMP_FORWARD"]

    assert [item.target for item in jumps] == [len(made.code) - 4, len(made.code) - 2]
