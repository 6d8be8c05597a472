"""Tells the taint walk what each kind of Python statement and expression means."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from metier.scan.languages.python import fold, names
from metier.scan.languages.python.calls import named, read_call, variable
from metier.scan.languages.python.names import (
    BUILT,
    DATE,
    DECODED,
    HOST,
    PATHS,
    SELF,
    WATCHED,
)
from metier.scan.languages.python.taint import (
    NOTHING,
    SOURCES,
    TaintValue,
    attribute,
    labels_of,
    merge,
)
from metier.scan.model import word_set

if TYPE_CHECKING:
    from metier.scan.languages.python.taint import Expressions, Statements, TaintWalk


def _expr(walk: TaintWalk, node: ast.Expr) -> None:
    if not isinstance(node.value, ast.Constant):
        walk.unused = node.value.value if isinstance(node.value, ast.Await) else node.value
        walk.ev(node.value)
        walk.unused = None


def _assign(walk: TaintWalk, node: ast.Assign) -> None:
    value = walk.ev(node.value)
    for target in node.targets:
        if (
            isinstance(target, ast.Tuple)
            and isinstance(node.value, ast.Tuple)
            and len(target.elts) == len(node.value.elts)
        ):
            for part, given in zip(target.elts, node.value.elts, strict=True):
                walk.bind(part, walk.ev(given))
        else:
            walk.bind(target, value)


def _ann_assign(walk: TaintWalk, node: ast.AnnAssign) -> None:
    if node.value is not None:
        walk.bind(node.target, walk.ev(node.value))


def _aug_assign(walk: TaintWalk, node: ast.AugAssign) -> None:
    old = walk.ev(node.target)
    new = walk.ev(node.value)
    const = (
        fold.add(old.const, new.const) if isinstance(node.op, ast.Add) and not walk.branch else None
    )
    walk.bind(node.target, walk.text(const, old.labels | new.labels | BUILT))


def _import(walk: TaintWalk, node: ast.Import) -> None:
    for alias in node.names:
        top = alias.name.partition(".")[0]
        walk.scopes[-1][alias.asname or top] = TaintValue(name=alias.name if alias.asname else top)
        _module(walk, alias.name, node)


def _import_from(walk: TaintWalk, node: ast.ImportFrom) -> None:
    module = node.module or ""
    for alias in node.names:
        full = f"{module}.{alias.name}" if module else alias.name
        if alias.name == "*":
            _star(walk, module)
        else:
            walk.scopes[-1][alias.asname or alias.name] = TaintValue(
                SOURCES.get(full, 0), None, full.removeprefix("builtins.")
            )
    _module(walk, module, node)


def _star(walk: TaintWalk, module: str) -> None:
    """Bind what a star brings, as far as the tables know the module."""
    for name in names.ROLES:
        head, _, last = name.rpartition(".")
        if head == module:
            walk.scopes[-1].setdefault(last, TaintValue(name=name))


_TOLD_MODULES = word_set(
    "pynput pyxhook pyHook keyboard pyperclip mss pyautogui socket pty setuptools ctypes"
)


def _module(walk: TaintWalk, module: str, node: ast.AST) -> None:
    top = module.partition(".")[0]
    if top in _TOLD_MODULES:
        walk.fact("import " + top, node)


def _define(walk: TaintWalk, node: Any) -> None:
    for decorator in node.decorator_list:
        if walk.ev(decorator).name == "atexit.register":
            walk.fact("atexit", node)
    for decorator in node.decorator_list:
        walk.ev(decorator)
    walk.define(node, node.name)
    walk.scopes[-1][node.name] = TaintValue(name="def:" + node.name)


def _class(walk: TaintWalk, node: ast.ClassDef) -> None:
    bases = [walk.ev(base).name for base in node.bases]
    for part in (*node.decorator_list, *(keyword.value for keyword in node.keywords)):
        walk.ev(part)
    if any(base.startswith(("setuptools.command.", "distutils.command.")) for base in bases):
        walk.fact("install command", node)
    if any(base.endswith(("MetaPathFinder", "SourceLoader")) for base in bases):
        walk.hit("SC345", node)
    walk.scopes.append({})
    walk.inner(node.body)
    walk.scopes.pop()
    walk.scopes[-1][node.name] = TaintValue(name="class:" + node.name)


def _if(walk: TaintWalk, node: ast.If) -> None:
    """Walk a chain of `elif` in a loop: a chain may be longer than the stack."""
    while True:
        guarded = _is_guard(walk, node.test)
        walk.guard += guarded
        walk.inner(node.body)
        walk.guard -= guarded
        rest = node.orelse
        if len(rest) != 1 or not isinstance(rest[0], ast.If):
            walk.inner(rest)
            return
        node = rest[0]


def _is_guard(walk: TaintWalk, test: ast.expr) -> bool:
    """Tell whether a condition compares the clock or this machine's identity with something written
    down.
    """
    labels = walk.ev(test).labels
    if labels & WATCHED:
        walk.hit("SC325", test)
    if not labels & (DATE | HOST) or not isinstance(test, ast.Compare):
        return False
    return any(_is_written(walk, side) for side in (test.left, *test.comparators))


def _is_written(walk: TaintWalk, node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return walk.ev(node.func).name in {
            "datetime.datetime",
            "datetime.date",
            "datetime",
            "date",
        } and all(isinstance(arg, ast.Constant) for arg in node.args)
    value = walk.ev(node).const
    return (isinstance(value, int) and value > 1_500_000_000) or (
        isinstance(value, str | tuple) and bool(value)
    )


def _loop(walk: TaintWalk, node: ast.For | ast.AsyncFor) -> None:
    value = walk.ev(node.iter)
    walk.bind(node.target, TaintValue(value.labels))
    walk.inner(node.body, node.orelse)


def _while(walk: TaintWalk, node: ast.While) -> None:
    walk.ev(node.test)
    walk.inner(node.body, node.orelse)


def _with(walk: TaintWalk, node: ast.With | ast.AsyncWith) -> None:
    for entry in node.items:
        value = walk.ev(entry.context_expr)
        if entry.optional_vars is not None:
            walk.bind(entry.optional_vars, value)
    quiet = any(
        isinstance(entry.context_expr, ast.Call)
        and walk.ev(entry.context_expr.func).name.endswith("suppress")
        for entry in node.items
    )
    walk.quiet += quiet
    walk.block(node.body)
    walk.quiet -= quiet


def _try(walk: TaintWalk, node: ast.Try) -> None:
    quiet = bool(node.handlers) and all(
        isinstance(statement, ast.Pass | ast.Continue)
        or (isinstance(statement, ast.Return) and statement.value is None)
        or (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
        for handler in node.handlers
        for statement in handler.body
    )
    walk.quiet += quiet
    walk.block(node.body)
    walk.quiet -= quiet
    walk.inner(*(handler.body for handler in node.handlers), node.orelse)
    walk.block(node.finalbody)


def _match(walk: TaintWalk, node: ast.Match) -> None:
    walk.ev(node.subject)
    for case in node.cases:
        walk.ev(case.guard)
    walk.inner(*(case.body for case in node.cases))


def _others(walk: TaintWalk, node: ast.stmt) -> None:
    for child in ast.iter_child_nodes(node):
        walk.ev(child)


STATEMENTS: Statements = {
    ast.Expr: _expr,
    ast.Assign: _assign,
    ast.AnnAssign: _ann_assign,
    ast.AugAssign: _aug_assign,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.FunctionDef: _define,
    ast.AsyncFunctionDef: _define,
    ast.ClassDef: _class,
    ast.Return: lambda walk, node: walk.give_back(walk.ev(node.value)),
    ast.If: _if,
    ast.For: _loop,
    ast.AsyncFor: _loop,
    ast.While: _while,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.Try: _try,
    ast.TryStar: _try,
    ast.Match: _match,
    ast.Global: lambda walk, node: walk.globals.update(node.names),
    ast.Raise: _others,
    ast.Assert: _others,
    ast.Delete: _others,
}


# --- expressions

COMPREHENSION_ITEMS = 2_000
ELEMENT_CHARS = 200
"""A longer expression is not worked out for each item: scrambled text is put together by short
ones."""


def _constant(walk: TaintWalk, node: ast.Constant) -> TaintValue:
    value = node.value
    if isinstance(value, str):
        if len(value) < 3:
            return TaintValue(0, value)
        # Escapes, joined literals and several lines make a literal longer or shorter than its text
        # and its quotes.
        plain = node.lineno == node.end_lineno and (
            node.end_col_offset or 0
        ) - node.col_offset - len(value) in {2, 3}
        if (walk.mining or walk.watchers or not plain) and value not in walk.texts:
            _words(walk, value, node)
        return walk.literal(value, plain=plain and value.isascii())
    return TaintValue(0, value) if isinstance(value, int | bytes) else NOTHING


def _words(walk: TaintWalk, value: str, node: ast.AST) -> None:
    if names.MINING.search(value, 0, names.MAX_TEXT_CHARS):
        walk.hit("SC328", node)
    watcher = names.WATCHERS.search(value, 0, 200) if len(value) < 60 else None
    if watcher:
        walk.fact("watcher " + watcher[0].lower(), node)


def _attribute(walk: TaintWalk, node: ast.Attribute) -> TaintValue:
    if node.attr in names.INSIDES:
        walk.hit("SC313", node, node.attr)
    return attribute(walk, walk.ev(node.value), node.attr)


def _binary(walk: TaintWalk, node: ast.BinOp) -> TaintValue:
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


def _sum(walk: TaintWalk, values: list[TaintValue]) -> TaintValue:
    """Join all parts at once: joining them one by one would cost the square of their number."""
    labels = labels_of(values)
    if any(isinstance(value.const, str) for value in values):
        parts = [value.const if isinstance(value.const, str) else fold.HOLE for value in values]
        known = "".join(parts) if sum(map(len, parts)) <= fold.MAX_FOLDED_CHARS else None
        return walk.text(known, labels | BUILT)
    const = values[0].const
    for value in values[1:]:
        const = walk.text(fold.add(const, value.const)).const
    return walk.text(const, labels)


def _operate(
    walk: TaintWalk, operator: ast.operator, left: TaintValue, right: TaintValue
) -> TaintValue:
    labels = left.labels | right.labels
    if isinstance(operator, ast.Add):
        const = fold.add(left.const, right.const)
        return walk.text(const, labels | (BUILT if isinstance(const, str) else 0))
    if isinstance(operator, ast.Mod):
        return walk.text(fold.percent(left.const, right.const), labels | BUILT)
    if isinstance(operator, ast.Div):
        name = left.name if left.name.startswith("pathlib.") else ""
        return walk.text(fold.path(left.const, right.const), labels & ~SELF, name)
    if isinstance(operator, ast.Mult):
        return walk.text(fold.times(left.const, right.const), labels)
    if isinstance(operator, ast.BitXor):
        return TaintValue(labels | DECODED, fold.bits(left.const, right.const))
    if (
        isinstance(operator, ast.Sub)
        and isinstance(left.const, int)
        and isinstance(right.const, int)
    ):
        return TaintValue(labels, fold.add(left.const, -right.const))
    return TaintValue(labels)


def _joined(walk: TaintWalk, node: ast.JoinedStr) -> TaintValue:
    labels, parts, size, plain = BUILT, [], 0, True
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            value = walk.ev(part.value)
            labels |= value.labels
            known = str(value.const) if isinstance(value.const, str | int) else fold.HOLE
            plain = plain and known == fold.HOLE
        else:
            # The text between the braces is judged as a part of the whole, below.
            known = str(getattr(part, "value", ""))
            plain = plain and walk.spells(known)
        size += len(known)
        parts.append(known if size <= fold.MAX_FOLDED_CHARS else "")
    text = "".join(parts)
    return (
        walk.literal(text, plain=True)._replace(labels=labels | walk.texts[text])
        if plain
        else walk.text(text, labels)
    )


def _subscript(walk: TaintWalk, node: ast.Subscript) -> TaintValue:
    owner = walk.ev(node.value)
    if isinstance(node.slice, ast.Slice):
        ends = [walk.ev(end).const for end in (node.slice.lower, node.slice.upper, node.slice.step)]
        const = fold.cut(owner.const, *ends)
        return walk.text(const, owner.labels | (BUILT if const is not None else 0))
    index = walk.ev(node.slice)
    return item(walk, owner, index, node)


def item(walk: TaintWalk, owner: TaintValue, index: TaintValue, node: ast.AST) -> TaintValue:
    """Take an item: of the environment, of the table of modules, of a namespace, of a constant."""
    if owner.name == "os.environ":
        return variable(walk, index, node)
    if owner.name in _NAMESPACES:
        return named(walk, "", index, node)
    if owner.name.endswith(".__dict__"):
        base = owner.name.removesuffix(".__dict__").removesuffix("()")
        return named(walk, "" if f"{base}()" in _NAMESPACES else base, index, node)
    return walk.text(fold.item(owner.const, index.const), owner.labels)


_NAMESPACES = word_set(
    "sys.modules globals() locals() vars() __builtins__ builtins __builtins__() builtins()"
)
"""What holds names without a module before them."""


def _sequence(walk: TaintWalk, node: ast.List | ast.Tuple | ast.Set) -> TaintValue:
    values = [walk.ev(part) for part in node.elts]
    return TaintValue(labels_of(values), tuple([value.const for value in values]))


def _dict(walk: TaintWalk, node: ast.Dict) -> TaintValue:
    labels = 0
    before = len(walk.secrets)
    for key, value in zip(node.keys, node.values, strict=True):
        labels |= walk.ev(key).labels & ~PATHS
        labels |= walk.ev(value).labels
    if len(walk.secrets) > before + 1:
        gathered = list(walk.secrets)[before:]
        if len({name.partition("_")[0] for name in gathered}) > 1:
            walk.hit("SC348", node, ", ".join(gathered)[:160])
    return TaintValue(labels)


def _comprehension(walk: TaintWalk, node: Any) -> TaintValue:
    walk.scopes.append({})
    labels = 0
    first = NOTHING
    for generator in node.generators:
        value = walk.ev(generator.iter)
        first = first if first is not NOTHING else value
        labels |= value.labels
        walk.bind(generator.target, TaintValue(value.labels))
        for test in generator.ifs:
            walk.ev(test)
    const = _each(walk, node, first)
    parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
    labels |= labels_of([walk.ev(part) for part in parts])
    walk.scopes.pop()
    return TaintValue(labels, const)


def _each(walk: TaintWalk, node: Any, first: TaintValue) -> fold.Const:
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
        walk.scopes[-1][node.generators[0].target.id] = TaintValue(
            first.labels, one if isinstance(one, str | bytes | int) else None
        )
        value = walk.ev(node.elt).const
        if value is None:
            return None
        found.append(value)
    return tuple(found)


def _is_simple(node: Any) -> bool:
    """Tell whether a comprehension has one loop, one variable, no condition and a short call or
    sum.
    """
    if (
        isinstance(node, ast.DictComp)
        or len(node.generators) != 1
        or not isinstance(node.elt, ast.Call | ast.BinOp)
    ):
        return False
    loop = node.generators[0]
    what = node.elt
    short = (
        what.lineno == what.end_lineno
        and (what.end_col_offset or 0) - what.col_offset <= ELEMENT_CHARS
    )
    return short and not loop.ifs and isinstance(loop.target, ast.Name)


def _lambda(walk: TaintWalk, node: ast.Lambda) -> TaintValue:
    name = f"<lambda {node.lineno}:{node.col_offset}>"
    walk.define(node, name)
    return TaintValue(name="def:" + name)


def _if_else(walk: TaintWalk, node: ast.IfExp) -> TaintValue:
    walk.ev(node.test)
    return merge(walk.ev(node.body), walk.ev(node.orelse))


def _bool(walk: TaintWalk, node: ast.BoolOp) -> TaintValue:
    values = [walk.ev(part) for part in node.values]
    named = [value for value in values if value.const is not None or value.name]
    return TaintValue(
        labels_of(values),
        values[-1].const if isinstance(node.op, ast.Or) else None,
        named[0].name if named else "",
    )


def _compare(walk: TaintWalk, node: ast.Compare) -> TaintValue:
    labels = labels_of(walk.ev(part) for part in (node.left, *node.comparators))
    return TaintValue(labels & (DATE | HOST | WATCHED))


def _unary(walk: TaintWalk, node: ast.UnaryOp) -> TaintValue:
    value = walk.ev(node.operand)
    const = -value.const if isinstance(node.op, ast.USub) and isinstance(value.const, int) else None
    return TaintValue(value.labels, const)


def _yield(walk: TaintWalk, node: Any) -> TaintValue:
    walk.give_back(walk.ev(node.value))
    return NOTHING


def _walrus(walk: TaintWalk, node: ast.NamedExpr) -> TaintValue:
    value = walk.ev(node.value)
    walk.bind(node.target, value)
    return value


EXPRESSIONS: Expressions = {
    ast.Constant: _constant,
    ast.Name: lambda walk, node: walk.lookup(node.id),
    ast.Attribute: _attribute,
    ast.Call: read_call,
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
    **dict.fromkeys(
        (ast.Await, ast.Starred, ast.FormattedValue), lambda walk, node: walk.ev(node.value)
    ),
    ast.YieldFrom: _yield,
    ast.Yield: _yield,
    ast.NamedExpr: _walrus,
}
