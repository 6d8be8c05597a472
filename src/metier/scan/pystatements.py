"""What each kind of Python statement means to the taint walk."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from metier.scan import pyfold, pynames as n
from metier.scan.pytaint import Value

if TYPE_CHECKING:
    from metier.scan.pytaint import Statements, Walk


def _expr(walk: Walk, node: ast.Expr) -> None:
    if not isinstance(node.value, ast.Constant):
        walk.ev(node.value)


def _assign(walk: Walk, node: ast.Assign) -> None:
    value = walk.ev(node.value)
    for target in node.targets:
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple) and len(target.elts) == len(node.value.elts):
            for part, given in zip(target.elts, node.value.elts, strict=True):
                walk.bind(part, walk.ev(given))
        else:
            walk.bind(target, value)


def _ann_assign(walk: Walk, node: ast.AnnAssign) -> None:
    if node.value is not None:
        walk.bind(node.target, walk.ev(node.value))


def _aug_assign(walk: Walk, node: ast.AugAssign) -> None:
    old, new = walk.ev(node.target), walk.ev(node.value)
    const = pyfold.add(old.const, new.const) if isinstance(node.op, ast.Add) and not walk.branch else None
    walk.bind(node.target, walk.text(const, old.labels | new.labels | n.BUILT))


def _import(walk: Walk, node: ast.Import) -> None:
    for alias in node.names:
        top = alias.name.partition(".")[0]
        walk.scopes[-1][alias.asname or top] = Value(0, None, alias.name if alias.asname else top)
        _module(walk, alias.name, node)


def _import_from(walk: Walk, node: ast.ImportFrom) -> None:
    module = node.module or ""
    for alias in node.names:
        full = f"{module}.{alias.name}" if module else alias.name
        if alias.name == "*":
            _star(walk, module)
        elif full == "os.environ":
            walk.scopes[-1][alias.asname or alias.name] = Value(n.ENV_ALL, None, full)
        elif full == "sys.argv":
            walk.scopes[-1][alias.asname or alias.name] = Value(n.INPUT, None, full)
        else:
            walk.scopes[-1][alias.asname or alias.name] = Value(0, None, full.removeprefix("builtins."))
    _module(walk, module, node)


def _star(walk: Walk, module: str) -> None:
    """Bind what a star brings, as far as the tables know the module."""
    for name in n.ROLES:
        head, _, last = name.rpartition(".")
        if head == module:
            walk.scopes[-1].setdefault(last, Value(0, None, name))


def _module(walk: Walk, module: str, node: ast.AST) -> None:
    top = module.partition(".")[0]
    if top in {"pynput", "pyxhook", "pyHook", "keyboard", "pyperclip", "mss", "pyautogui", "socket", "pty", "setuptools", "ctypes"}:
        walk.fact("import " + top, node)


def _define(walk: Walk, node: Any) -> None:
    for decorator in node.decorator_list:
        walk.ev(decorator)
    walk.define(node, node.name)
    walk.scopes[-1][node.name] = Value(0, None, "def:" + node.name)


def _class(walk: Walk, node: ast.ClassDef) -> None:
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
    walk.scopes[-1][node.name] = Value(0, None, "class:" + node.name)


def _return(walk: Walk, node: ast.Return) -> None:
    walk.give_back(walk.ev(node.value))


def _if(walk: Walk, node: ast.If) -> None:
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


def _is_guard(walk: Walk, test: ast.expr) -> bool:
    """Tell whether a condition compares the clock or this machine's identity with something written down."""
    labels = walk.ev(test).labels
    if labels & n.WATCHED:
        walk.hit("SC325", test)
    if not labels & (n.DATE | n.HOST) or not isinstance(test, ast.Compare):
        return False
    sides = [test.left, *test.comparators]
    return any(_is_written(walk, side) for side in sides)


def _is_written(walk: Walk, node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return walk.ev(node.func).name in {"datetime.datetime", "datetime.date", "datetime", "date"} and all(
            isinstance(arg, ast.Constant) for arg in node.args
        )
    value = walk.ev(node).const
    return (isinstance(value, int) and value > 1_500_000_000) or (isinstance(value, str | tuple) and bool(value))


def _loop(walk: Walk, node: ast.For | ast.AsyncFor) -> None:
    value = walk.ev(node.iter)
    walk.bind(node.target, Value(value.labels, None, ""))
    walk.inner(node.body, node.orelse)


def _while(walk: Walk, node: ast.While) -> None:
    walk.ev(node.test)
    walk.inner(node.body, node.orelse)


def _with(walk: Walk, node: ast.With | ast.AsyncWith) -> None:
    for entry in node.items:
        value = walk.ev(entry.context_expr)
        if entry.optional_vars is not None:
            walk.bind(entry.optional_vars, value)
    walk.block(node.body)


def _try(walk: Walk, node: ast.Try) -> None:
    walk.block(node.body)
    walk.inner(*(handler.body for handler in node.handlers), node.orelse)
    walk.block(node.finalbody)


def _match(walk: Walk, node: ast.Match) -> None:
    walk.ev(node.subject)
    for case in node.cases:
        walk.ev(case.guard)
    walk.inner(*(case.body for case in node.cases))


def _global(walk: Walk, node: ast.Global) -> None:
    walk.globals.update(node.names)


def _others(walk: Walk, node: ast.stmt) -> None:
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
    ast.Return: _return,
    ast.If: _if,
    ast.For: _loop,
    ast.AsyncFor: _loop,
    ast.While: _while,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.Try: _try,
    ast.TryStar: _try,
    ast.Match: _match,
    ast.Global: _global,
    ast.Raise: _others,
    ast.Assert: _others,
    ast.Delete: _others,
}
