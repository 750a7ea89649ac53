"""The programs around the block of the matrix."""

SCOPES = {
    "module": """\
<names>
<block>
<end>
""",
    "executed": """\
<names>
<block>
<end>
""",
    "class": """\
class Case:
    <names>
    <block>
    <end>
""",
    "function": """\
def case():
    <names>
    <block>
    <end>
case()
""",
    "closure": """\
def around():
    total, outer = 10, []
    def case():
        nonlocal total
        <names>
        <block>
        <end>
        log(total)
    case()
    see(dict(locals()))
around()
""",
    "method": """\
class Base:
    def greet(self):
        return "base"
class Case(Base):
    def case(self):
        <names>
        <block>
        <end>
        log(vars(self))
Case().case()
""",
    "generator": """\
def case():
    <names>
    yield n
    <block>
    <end>
    yield xs
log(list(case()))
""",
    "coroutine": """\
async def answered(x):
    return x + 1
async def counted():
    yield 1
    yield 2
async def case():
    <names>
    <block>
    <end>
drive(case())
""",
    "finally": """\
def case():
    <names>
    try:
        log("try")
    finally:
        <block>
    <end>
case()
""",
    "handler": """\
def case():
    <names>
    try:
        raise IndexError(n)
    except IndexError as caught:
        <block>
        <end>
case()
""",
    "loop": """\
def case():
    <names>
    for turn in "ab":
        <block>
        <end>
case()
""",
}
FUNCTIONS = frozenset(SCOPES) - {"module", "executed", "class"}
