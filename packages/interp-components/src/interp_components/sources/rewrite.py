"""A function's text with a guard at every operation, for `model.transformer.h[0].attn.source.split_0.output`.

Every operation gets a slot in one list that the rewritten function closes over. While the slot holds None, which is to
say while nobody asked, the function does what it did before at the cost of looking at the slot (some 10 to 25 ns) and
without a call. Once the slot holds something, that is called with what the operation works on and its result is used
instead. A slot may be filled at any moment, also by a request that arrives while the function runs.

| in the text | becomes (`A` is the list) |
|---|---|
| `f(x)` | `(f if A[3] is None else A[3](f))(x)` |
| `y.view(x)` | `(y if A[3] is None else A[3](y)).view(x)` |
| `f(g(x), y)` | `(c if ((c := f) is not A and (a := g(x)) is not A and A[3] is None) else A[3](c))(a, y)` |
| `y = v` | the same, then `if A[4] is not None: y = A[4](y)` |
| `o[k] += v` | the same in steps, with `o`, `k` and the item in names until the item is stored again |
| `self.y = v`, `return v` | `self.y = (t if ((t := v) is not A and A[4] is None) else A[4](t))` |

A block may ask for `f` while `g` runs, when Python has taken `f` already: so where the arguments have calls in them, what
Python evaluates up to the last of these is held in names, and the slot is looked at behind it.

Else a method's receiver is guarded, and not the method, since the interpreter binds no method object for `y.view(x)` and
would have to for `(y.view)(x)`. What the slot returns for a receiver has the method as an attribute.

The last form evaluates what it guards once: `t` holds it from the test to the branch (`is not A` is always true and
costs no call). What is held is let go of at once, so no tensor lives longer than before: a call's first argument does that
(`(t := None) or x`), the last of those that are held (`(a, a := None, c := None)[0]`), and a call without arguments is put
into a pair with it. A comprehension may not bind names in what it loops over, so there the guarded expression is written
into both branches, and a call is looked at before its arguments are.

All positions are those of the original text, so a traceback points where it pointed.
"""

from __future__ import annotations

import ast
from typing import TypeVar

from interp_components.sources.listing import Definition, calls_first, leaves, sees_receiver

# No source text can spell these, so they never meet a name of the function.
SLOTS = "<slots>"
HELD = "<held>"
_ELEMENT = "<element {}>"
_GIVEN = "<given {} {}>"

NodeT = TypeVar("NodeT", bound=ast.AST)


def rewrite(definition: Definition, places: dict[ast.AST, int]) -> Definition:
    """Put the guards into the definition's body, in place, and return it.

    Args:
        definition: The function, as it was listed.
        places: For each node that is an operation, the slot it looks at.
    """
    guards = _Guards(places)
    body: list[ast.stmt] = []
    for statement in definition.body:
        after = guards.visit(statement)
        body.extend(after if isinstance(after, list) else [after])
    definition.body = body
    return definition


class _Guards(ast.NodeTransformer):
    """Rewrites statements and expressions; nodes that are no operations pass as they are."""

    def __init__(self, places: dict[ast.AST, int]) -> None:
        self._places = places
        self._may_bind = True
        """Whether the expression that is being rewritten may hold a value in a name."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        place = self._places.get(node)
        is_plain = not any(inner in self._places for inner in ast.walk(_subject(node)))
        count = calls_first(node)
        self.generic_visit(node)
        if place is None:
            return node
        if count and self._may_bind:
            _hold_arguments(node, place, count)
            return node
        if is_plain or not self._may_bind:
            _set_subject(node, _either(place, _subject(node)))
            return node
        _set_subject(node, _held(place, _subject(node)))
        return _letting_go(node)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
        self.generic_visit(node)
        place = self._places.get(node)
        return node if place is None else _held(place, node.value, node.target.id, rebind=True)

    def visit_Assign(self, node: ast.Assign) -> list[ast.stmt]:
        singles = [leaf for target in node.targets for leaf in leaves(target)]
        self.generic_visit(node)
        if not any(single in self._places for single in singles):
            return [node]
        if all(isinstance(_bound(single), ast.Name) for single in singles):
            return [node, *self._after(singles, singles)]
        if len(singles) == 1:
            node.value = _held(self._places[singles[0]], node.value)
            return [node, _at(node, _let_go(HELD))]
        return self._one_by_one(node, singles)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> list[ast.stmt]:
        place = self._places.get(node.target)
        if node.value is None:
            return [node]
        node.value, node.target = self.visit(node.value), self.visit(node.target)
        if place is None:
            return [node]
        if isinstance(node.target, ast.Name):
            return [node, _rebind(place, node.target)]
        node.value = _held(place, node.value)
        return [node, _at(node, _let_go(HELD))]

    def visit_AugAssign(self, node: ast.AugAssign) -> list[ast.stmt]:
        self.generic_visit(node)
        place = self._places.get(node)
        if place is None:
            return [node]
        if isinstance(node.target, ast.Name):
            return [node, _rebind(place, node.target)]
        return _augmented(node, place)

    def visit_Return(self, node: ast.Return) -> ast.Return:
        self.generic_visit(node)
        place = self._places.get(node)
        if place is not None and node.value is not None:
            node.value = _held(place, node.value)
        return node

    def visit_comprehension(self, node: ast.comprehension) -> ast.comprehension:
        may_bind, self._may_bind = self._may_bind, False
        node.iter = self.visit(node.iter)
        self._may_bind = may_bind
        node.target = self.visit(node.target)
        node.ifs = [self.visit(test) for test in node.ifs]
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        """Leave a nested class alone: nothing in it is an operation."""
        return node

    def _after(self, singles: list[ast.expr], names: list[ast.expr]) -> list[ast.stmt]:
        """Return the guards of names that have just been bound, for those targets that are operations."""
        return [
            _rebind(self._places[single], _bound(name))
            for single, name in zip(singles, names, strict=True)
            if single in self._places
        ]

    def _one_by_one(self, node: ast.Assign, singles: list[ast.expr]) -> list[ast.stmt]:
        """Return an unpacking into more than names: first into names, then each target in its turn.

        Guarding `self.a, b = pair` by reading `self.a` back would run what stands behind the attribute.
        """
        element = {single: _ELEMENT.format(index) for index, single in enumerate(singles)}
        node.targets = [_renamed(target, element) for target in node.targets]
        statements: list[ast.stmt] = [node]
        for single, name in element.items():
            if single in self._places:
                statements.append(_rebind(self._places[single], _at(single, ast.Name(name, ast.Store()))))
            statements.append(_at(single, ast.Assign([_bound(single)], ast.Name(name, ast.Load()))))
        return [*statements, _at(node, _let_go(*element.values()))]


def _augmented(node: ast.AugAssign, place: int) -> list[ast.stmt]:
    """Return `o[k] += v` in its steps: `o` and `k` are held, the item is taken, changed, guarded and put back."""
    parts: list[ast.expr] = []

    def held(part: ast.expr) -> ast.expr:
        if isinstance(part, ast.Tuple):
            return ast.Tuple([held(one) for one in part.elts], ast.Load())
        if isinstance(part, ast.Slice):
            ends = (part.lower, part.upper, part.step)
            return ast.Slice(*[end if end is None else held(end) for end in ends])
        if isinstance(part, ast.Constant):
            return part
        parts.append(part)
        return ast.Name(_ELEMENT.format(len(parts)), ast.Load())

    target: ast.Attribute | ast.Subscript
    if isinstance(node.target, ast.Attribute):
        target = ast.Attribute(held(node.target.value), node.target.attr, ast.Store())
    else:
        assert isinstance(node.target, ast.Subscript)
        target = ast.Subscript(held(node.target.value), held(node.target.slice), ast.Store())
    names = [_ELEMENT.format(index) for index, _ in enumerate(parts, 1)]
    steps: list[ast.stmt] = [_bind(name, part) for name, part in zip(names, parts, strict=True)]
    item = _at(node.target, ast.Name(_ELEMENT.format(0), ast.Store()))
    steps.append(_bind(item.id, _at(node.target, _loaded(target))))
    node.target = item
    steps += [node, _rebind(place, item)]
    steps.append(_at(node, ast.Assign([_at(item, target)], _loaded(item))))
    return [*steps, _at(node, _let_go(item.id, *names))]


def _bind(name: str, value: ast.expr) -> ast.stmt:
    return _at(value, ast.Assign([ast.Name(name, ast.Store())], value))


def _subject(call: ast.Call) -> ast.expr:
    """Return what the call's guard looks at: the receiver of a method, else the callee."""
    return call.func.value if isinstance(call.func, ast.Attribute) and sees_receiver(call) else call.func


def _set_subject(call: ast.Call, subject: ast.expr) -> None:
    if isinstance(call.func, ast.Attribute) and sees_receiver(call):
        call.func.value = subject
    else:
        call.func = subject


def _hold_arguments(call: ast.Call, place: int, count: int) -> None:
    """Hold the callee and the first `count` arguments of the call in names, and look at the slot behind these."""
    names = [_GIVEN.format(place, index) for index in range(count + 1)]
    held = [_named(names[0], call.func)]
    arguments: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
    for index, argument in enumerate(arguments[:count], 1):
        value = argument.value if isinstance(argument, ast.Starred | ast.keyword) else argument
        given: ast.expr = ast.Name(names[index], ast.Load())
        if index == count:
            letting_go = [_named(name, ast.Constant(None)) for name in names]
            given = ast.Subscript(ast.Tuple([given, *letting_go], ast.Load()), ast.Constant(0), ast.Load())
        given = _at(value, given)
        if isinstance(argument, ast.Starred):
            value, argument.value = ast.Tuple([ast.Starred(value, ast.Load())], ast.Load()), given
        elif isinstance(argument, ast.keyword):
            value, argument.value = value if argument.arg else ast.Dict([None], [value]), given
        else:
            call.args[index - 1] = given
        held.append(_at(given, _named(names[index], value)))
    tests = [ast.Compare(one, [ast.IsNot()], [ast.Name(SLOTS, ast.Load())]) for one in held]
    callee = ast.Name(names[0], ast.Load())
    test = ast.BoolOp(ast.And(), [*tests, _is_idle(place)])
    call.func = _at(call.func, ast.IfExp(test, callee, _asked(place, callee)))


def _named(name: str, value: ast.expr) -> ast.expr:
    return ast.NamedExpr(ast.Name(name, ast.Store()), value)


def _slot(place: int) -> ast.expr:
    return ast.Subscript(ast.Name(SLOTS, ast.Load()), ast.Constant(place), ast.Load())


def _is_idle(place: int) -> ast.expr:
    return ast.Compare(_slot(place), [ast.Is()], [ast.Constant(None)])


def _asked(place: int, value: ast.expr) -> ast.expr:
    return ast.Call(_slot(place), [value], [])


def _either(place: int, value: ast.expr) -> ast.expr:
    """Return `value if A[place] is None else A[place](value)`; one of the two is evaluated."""
    return _at(value, ast.IfExp(_is_idle(place), value, _asked(place, value)))


def _held(place: int, value: ast.expr, name: str = HELD, rebind: bool = False) -> ast.expr:
    """Return the same for a value that contains operations itself: evaluated once, and held in `name` meanwhile."""
    bound = ast.NamedExpr(ast.Name(name, ast.Store()), value)
    is_bound = ast.Compare(bound, [ast.IsNot()], [ast.Name(SLOTS, ast.Load())])
    asked = _asked(place, ast.Name(name, ast.Load()))
    if rebind:
        asked = ast.NamedExpr(ast.Name(name, ast.Store()), asked)
    test = ast.BoolOp(ast.And(), [is_bound, _is_idle(place)])
    return _at(value, ast.IfExp(test, ast.Name(name, ast.Load()), asked))


def _letting_go(call: ast.Call) -> ast.expr:
    """Return the call such that the held receiver is let go of once the call has it."""
    if call.args:
        first = call.args[0]
        if isinstance(first, ast.Starred):
            first.value = _none_held_or(first.value)
        else:
            call.args[0] = _none_held_or(first)
    elif call.keywords:
        call.keywords[0].value = _none_held_or(call.keywords[0].value)
    else:
        pair = ast.Tuple([call, _nothing_held()], ast.Load())
        return _at(call, ast.Subscript(pair, ast.Constant(0), ast.Load()))
    return call


def _nothing_held() -> ast.expr:
    return ast.NamedExpr(ast.Name(HELD, ast.Store()), ast.Constant(None))


def _none_held_or(value: ast.expr) -> ast.expr:
    return _at(value, ast.BoolOp(ast.Or(), [_nothing_held(), value]))


def _let_go(*names: str) -> ast.stmt:
    return ast.Assign([ast.Name(name, ast.Store()) for name in names], ast.Constant(None))


def _rebind(place: int, target: ast.expr) -> ast.stmt:
    """Return `if A[place] is not None: target = A[place](target)`."""
    test = ast.Compare(_slot(place), [ast.IsNot()], [ast.Constant(None)])
    return _at(target, ast.If(test, [ast.Assign([target], _asked(place, _loaded(target)))], []))


def _bound(target: ast.expr) -> ast.expr:
    """Return what a target binds: `rest` of `*rest`."""
    return target.value if isinstance(target, ast.Starred) else target


def _loaded(target: ast.expr) -> ast.expr:
    """Return the expression that reads what the target has bound."""
    if isinstance(target, ast.Attribute):
        return ast.Attribute(target.value, target.attr, ast.Load())
    if isinstance(target, ast.Subscript):
        return ast.Subscript(target.value, target.slice, ast.Load())
    assert isinstance(target, ast.Name)
    return ast.Name(target.id, ast.Load())


def _renamed(target: ast.expr, names: dict[ast.expr, str]) -> ast.expr:
    """Return the target with each of its single targets replaced by a name."""
    if isinstance(target, ast.Tuple | ast.List):
        target.elts = [_renamed(element, names) for element in target.elts]
        return target
    name = _at(target, ast.Name(names[target], ast.Store()))
    return ast.Starred(name, ast.Store()) if isinstance(target, ast.Starred) else name


def _at(where: ast.AST, node: NodeT) -> NodeT:
    """Return the node placed where another one stands; what it is made of follows when the whole is compiled."""
    return ast.copy_location(node, where)
