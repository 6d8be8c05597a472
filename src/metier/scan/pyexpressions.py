"""What each kind of Python expression means to the taint walk."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from metier.scan import pyfold, pynames as n, pytext
from metier.scan.pycalls import call, named, variable
from metier.scan.pytaint import NOTHING, Value, attribute, merge

if TYPE_CHECKING:
    from metier.scan.pytaint import Expressions, Walk

COMPREHENSION_ITEMS = 2_000
ELEMENT_CHARS = 200
"""A longer expression is not worked out for each item: scrambled text is put together by short ones."""


def _constant(walk: Walk, node: ast.Constant) -> Value:
    value = node.value
    if isinstance(value, str):
        if len(value) < 3:
            return Value(0, value)
        # Escapes, joined literals and several lines make a literal longer or shorter than its text and its quotes.
        plain = node.lineno == node.end_lineno and (node.end_col_offset or 0) - node.col_offset - len(value) in {2, 3}
        if (walk.mining or walk.watchers or not plain) and value not in walk.texts:
            _words(walk, value, node)
        return walk.literal(value, plain=plain and value.isascii())
    return Value(0, value) if isinstance(value, int | bytes) else NOTHING


def _words(walk: Walk, value: str, node: ast.AST) -> None:
    if pytext.MINING.search(value, 0, pytext.TEXT_CHARS):
        walk.hit("SC328", node)
    watcher = pytext.WATCHERS.search(value, 0, 200) if len(value) < 60 else None
    if watcher:
        walk.fact("watcher " + watcher[0].lower(), node)


def _name(walk: Walk, node: ast.Name) -> Value:
    return walk.lookup(node.id)


def _attribute(walk: Walk, node: ast.Attribute) -> Value:
    if node.attr in n.INSIDES:
        walk.hit("SC313", node, node.attr)
    return attribute(walk, walk.ev(node.value), node.attr)


def _binary(walk: Walk, node: ast.BinOp) -> Value:
    """Work out `+` chains in a loop: a text may be joined from thousands of parts."""
    right: list[tuple[ast.operator, ast.expr]] = []
    left: ast.expr = node
    while isinstance(left, ast.BinOp):
        right.append((left.op, left.right))
        left = left.left
    value = walk.ev(left)
    if all(isinstance(operator, ast.Add) for operator, _ in right):
        return _sum(walk, [value, *(walk.ev(part) for _, part in reversed(right))])
    for operator, part in reversed(right):
        value = _operate(walk, operator, value, walk.ev(part))
    return value


def _sum(walk: Walk, values: list[Value]) -> Value:
    """Join all parts at once: joining them one by one would cost the square of their number."""
    labels = 0
    for value in values:
        labels |= value.labels
    if any(isinstance(value.const, str) for value in values):
        parts = [value.const if isinstance(value.const, str) else pyfold.HOLE for value in values]
        known = "".join(parts) if sum(map(len, parts)) <= pyfold.MOST else None
        return walk.text(known, labels | n.BUILT)
    const = values[0].const
    for value in values[1:]:
        const = walk.text(pyfold.add(const, value.const)).const
    return walk.text(const, labels)


def _operate(walk: Walk, operator: ast.operator, left: Value, right: Value) -> Value:
    labels = left.labels | right.labels
    if isinstance(operator, ast.Add):
        const = pyfold.add(left.const, right.const)
        return walk.text(const, labels | (n.BUILT if isinstance(const, str) else 0))
    if isinstance(operator, ast.Mod):
        return walk.text(pyfold.percent(left.const, right.const), labels | n.BUILT)
    if isinstance(operator, ast.Div):
        name = left.name if left.name.startswith("pathlib.") else ""
        return walk.text(pyfold.path(left.const, right.const), labels & ~n.SELF, name)
    if isinstance(operator, ast.Mult):
        return walk.text(pyfold.times(left.const, right.const), labels)
    if isinstance(operator, ast.BitXor):
        return Value(labels | n.DECODED, pyfold.bits(left.const, right.const))
    if isinstance(operator, ast.Sub) and isinstance(left.const, int) and isinstance(right.const, int):
        return Value(labels, pyfold.add(left.const, -right.const))
    return Value(labels)


def _joined(walk: Walk, node: ast.JoinedStr) -> Value:
    labels, parts, size, plain = n.BUILT, [], 0, True
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            value = walk.ev(part.value)
            labels |= value.labels
            known = str(value.const) if isinstance(value.const, str | int) else pyfold.HOLE
            plain = plain and known == pyfold.HOLE
        else:
            # The text between the braces is judged as a part of the whole, below.
            known = str(getattr(part, "value", ""))
            plain = plain and walk.spells(known)
        size += len(known)
        parts.append(known if size <= pyfold.MOST else "")
    text = "".join(parts)
    return walk.literal(text, plain=True)._replace(labels=labels | walk.texts[text]) if plain else walk.text(text, labels)


def _subscript(walk: Walk, node: ast.Subscript) -> Value:
    owner = walk.ev(node.value)
    if isinstance(node.slice, ast.Slice):
        ends = [walk.ev(end).const for end in (node.slice.lower, node.slice.upper, node.slice.step)]
        const = pyfold.cut(owner.const, *ends)
        return walk.text(const, owner.labels | (n.BUILT if const is not None else 0))
    index = walk.ev(node.slice)
    return item(walk, owner, index, node)


def item(walk: Walk, owner: Value, index: Value, node: ast.AST) -> Value:
    """Take an item: of the environment, of the table of modules, of a namespace, of a constant."""
    if owner.name == "os.environ":
        return variable(walk, index, node)
    if owner.name == "sys.modules":
        return named(walk, "", index, node)
    if owner.name.endswith((".__dict__", "()")) and owner.name.removesuffix(".__dict__").removesuffix("()") != owner.name:
        base = owner.name.removesuffix(".__dict__").removesuffix("()")
        if base in {"globals", "locals", "vars", "__builtins__", "builtins"}:
            return named(walk, "", index, node)
        if owner.name.endswith(".__dict__"):
            return named(walk, base, index, node)
    if owner.name in {"__builtins__", "builtins"}:
        return named(walk, "", index, node)
    return walk.text(pyfold.item(owner.const, index.const), owner.labels)


def _sequence(walk: Walk, node: ast.List | ast.Tuple | ast.Set) -> Value:
    labels, consts = 0, []
    for part in node.elts:
        value = walk.ev(part)
        labels |= value.labels
        consts.append(value.const)
    return Value(labels, tuple(consts))


def _dict(walk: Walk, node: ast.Dict) -> Value:
    labels = 0
    before = len(walk.secrets)
    for key, value in zip(node.keys, node.values, strict=True):
        labels |= walk.ev(key).labels & ~n.PATHS
        labels |= walk.ev(value).labels
    if len(walk.secrets) > before + 1:
        gathered = list(walk.secrets)[before:]
        if len({name.partition("_")[0] for name in gathered}) > 1:
            walk.hit("SC348", node, ", ".join(gathered)[:160])
    return Value(labels)


def _comprehension(walk: Walk, node: Any) -> Value:
    walk.scopes.append({})
    labels = 0
    first = NOTHING
    for generator in node.generators:
        value = walk.ev(generator.iter)
        first = first if first is not NOTHING else value
        labels |= value.labels
        walk.bind(generator.target, Value(value.labels))
        for test in generator.ifs:
            walk.ev(test)
    const = _each(walk, node, first)
    parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
    for part in parts:
        labels |= walk.ev(part).labels
    walk.scopes.pop()
    return Value(labels, const)


def _each(walk: Walk, node: Any, first: Value) -> pyfold.Const:
    """Work out a comprehension over a constant: how scrambled text is put together."""
    items = first.const
    if (
        not isinstance(items, str | bytes | tuple)
        or not 0 < len(items) <= min(COMPREHENSION_ITEMS, walk.steps)
        or not _is_simple(node)
    ):
        return None
    walk.steps -= len(items)
    found = []
    for one in items:
        walk.scopes[-1][node.generators[0].target.id] = Value(first.labels, one if isinstance(one, str | bytes | int) else None)
        value = walk.ev(node.elt).const
        if value is None:
            return None
        found.append(value)
    return tuple(found)


def _is_simple(node: Any) -> bool:
    """Tell whether a comprehension has one loop, one variable, no condition and a short call or sum."""
    if isinstance(node, ast.DictComp) or len(node.generators) != 1 or not isinstance(node.elt, ast.Call | ast.BinOp):
        return False
    loop, what = node.generators[0], node.elt
    short = what.lineno == what.end_lineno and (what.end_col_offset or 0) - what.col_offset <= ELEMENT_CHARS
    return short and not loop.ifs and isinstance(loop.target, ast.Name)


def _lambda(walk: Walk, node: ast.Lambda) -> Value:
    name = f"<lambda {node.lineno}:{node.col_offset}>"
    walk.define(node, name)
    return Value(0, None, "def:" + name)


def _if_else(walk: Walk, node: ast.IfExp) -> Value:
    walk.ev(node.test)
    return merge(walk.ev(node.body), walk.ev(node.orelse))


def _bool(walk: Walk, node: ast.BoolOp) -> Value:
    values = [walk.ev(part) for part in node.values]
    labels = 0
    for value in values:
        labels |= value.labels
    named = [value for value in values if value.const is not None or value.name]
    return Value(labels, values[-1].const if isinstance(node.op, ast.Or) else None, named[0].name if named else "")


def _compare(walk: Walk, node: ast.Compare) -> Value:
    labels = walk.ev(node.left).labels
    for part in node.comparators:
        labels |= walk.ev(part).labels
    return Value(labels & (n.DATE | n.HOST | n.WATCHED))


def _unary(walk: Walk, node: ast.UnaryOp) -> Value:
    value = walk.ev(node.operand)
    const = -value.const if isinstance(node.op, ast.USub) and isinstance(value.const, int) else None
    return Value(value.labels, const)


def _inner(walk: Walk, node: Any) -> Value:
    return walk.ev(node.value)


def _yield(walk: Walk, node: Any) -> Value:
    walk.give_back(walk.ev(node.value))
    return NOTHING


def _walrus(walk: Walk, node: ast.NamedExpr) -> Value:
    value = walk.ev(node.value)
    walk.bind(node.target, value)
    return value


EXPRESSIONS: Expressions = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Call: call,
    ast.BinOp: _binary,
    ast.JoinedStr: _joined,
    ast.Subscript: _subscript,
    ast.List: _sequence,
    ast.Tuple: _sequence,
    ast.Set: _sequence,
    ast.Dict: _dict,
    ast.ListComp: _comprehension,
    ast.SetComp: _comprehension,
    ast.GeneratorExp: _comprehension,
    ast.DictComp: _comprehension,
    ast.Lambda: _lambda,
    ast.IfExp: _if_else,
    ast.BoolOp: _bool,
    ast.Compare: _compare,
    ast.UnaryOp: _unary,
    ast.Await: _inner,
    ast.Starred: _inner,
    ast.FormattedValue: _inner,
    ast.YieldFrom: _yield,
    ast.Yield: _yield,
    ast.NamedExpr: _walrus,
}
