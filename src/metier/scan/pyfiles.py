"""What Python code does to files: the readers of calls that read, write or delete them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from metier.scan import pyfold, pynames as n
from metier.scan.pycalls import ROOTS, Call, fill
from metier.scan.pytaint import NOTHING, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from metier.scan.pytaint import Walk

_VARIABLE = "\0var:"
"""Begins the stand-in for a path of which only the variable's name is known."""


def fetched(walk: Walk, node: ast.AST, path: Value) -> None:
    """Remember a file that now holds what the network answered."""
    if isinstance(node, ast.Name):
        walk.add_labels(node.id, n.FETCHED_PATH)
    if isinstance(path.const, str) and path.const.startswith(_VARIABLE):
        walk.add_labels(path.const.removeprefix(_VARIABLE), n.FETCHED_PATH)
    elif isinstance(path.const, str) and len(path.const) > 3 and pyfold.HOLE not in path.const and len(walk.fetched) < 20:
        walk.fetched.add(path.const)


def read(walk: Walk, node: ast.AST, path: Value) -> int:
    """Note that a file is read, and tell what its content counts as."""
    if path.labels & n.CRED_PATH:
        walk.hit("SC305", node)
        return n.CRED
    if path.labels & n.WEAK_PATH:
        walk.hit("SC306", node)
        return n.WEAK
    if path.labels & n.FETCHED_PATH or path.const in walk.fetched:
        return n.NET | n.FILE
    return n.FILE


def write(walk: Walk, node: ast.AST, path: Value) -> None:
    """Note that a file is written."""
    walk.hit("SC393", node)
    walk.fact("write", node)
    if path.labels & n.START_PATH:
        walk.hit("SC309", node)
    if path.labels & n.AGENT_PATH:
        walk.hit("SC310", node)
    if path.labels & n.SELF and not isinstance(path.const, str):
        walk.hit("SC344", node)


def _open(walk: Walk, it: Call) -> Value:
    path = it.first
    mode = it.kwargs.get("mode", it.args[1] if len(it.args) > 1 else NOTHING).const
    argument = it.node.args[0] if it.node.args else None
    key = path.const if isinstance(path.const, str) else _VARIABLE + argument.id if isinstance(argument, ast.Name) else None
    if isinstance(mode, str) and set(mode) & set("wax+"):
        write(walk, it.node, path)
        return Value(path.labels & n.PATHS, key, "open()")
    return Value(read(walk, it.node, path), key, "open()")


def _path_open(walk: Walk, it: Call) -> Value:
    if not it.owner.name.startswith("pathlib.") and not it.owner.labels & n.PATHS:
        return Value(it.labels | it.owner.labels, None, f"{it.name}()"[-120:] if it.name else "")
    if it.attr != "open":
        if it.owner.labels & n.CRED_PATH:
            walk.hit("SC305", it.node)
        walk.fact("walk", it.node)
        return Value(it.owner.labels | it.labels, None, "pathlib.Path()")
    func = it.node.func
    owner = func.value if isinstance(func, ast.Attribute) else it.node
    node = ast.copy_location(ast.Call(func, [owner, *it.node.args], it.node.keywords), it.node)
    return _open(walk, it._replace(node=node, args=[it.owner, *it.args]))


def _path_read(walk: Walk, it: Call) -> Value:
    return Value(read(walk, it.node, it.owner))


def _path_write(walk: Walk, it: Call) -> Value:
    write(walk, it.node, it.owner)
    func = it.node.func
    if it.labels & n.NET and isinstance(func, ast.Attribute):
        fetched(walk, func.value, it.owner)
    return NOTHING


def _stream_write(walk: Walk, it: Call) -> Value:
    """Write to an open file, an archive or a buffer."""
    if it.owner.name == "open()" and it.labels & n.NET:
        fetched(walk, it.node, Value(0, it.owner.const))
    if it.labels & n.CRED_PATH and it.owner.name.startswith(("zipfile.", "tarfile.")):
        walk.hit("SC305", it.node)
        fill(walk, it.node.func, n.CRED)
    else:
        fill(walk, it.node.func, it.labels)
    return NOTHING


def _reader(walk: Walk, it: Call) -> Value:
    """Copy, list or open a database."""
    if it.first.labels & n.CRED_PATH:
        walk.hit("SC305", it.node)
    if it.name.endswith((".walk", ".glob", ".iglob")):
        walk.fact("walk", it.node)
    if it.name.startswith("shutil.") and len(it.args) > 1:
        write(walk, it.node, it.args[1])
    content = n.CRED if it.first.labels & n.CRED_PATH and it.name.startswith("sqlite3") else 0
    return Value(it.labels | content, None, f"{it.name}()")


def _rmtree(walk: Walk, it: Call) -> Value:
    walk.hit("SC396", it.node)
    if isinstance(it.first.const, str) and it.first.const in ROOTS:
        walk.hit("SC311", it.node)
    return NOTHING


def _delete(walk: Walk, it: Call) -> Value:
    path = it.owner if it.attr in {"unlink", "rmdir"} and not it.args else it.first
    walk.hit("SC396", it.node)
    walk.fact("delete", it.node)
    if path.labels & n.SELF and not isinstance(path.const, str):
        walk.hit("SC344", it.node)
    return NOTHING


FILES: dict[str, Callable[[Walk, Call], Value]] = {
    "open": _open,
    "path_open": _path_open,
    "path_read": _path_read,
    "path_write": _path_write,
    "path_delete": _delete,
    "stream_write": _stream_write,
    "reader": _reader,
    "rmtree": _rmtree,
    "delete": _delete,
}
"""Role -> reader, of all that is about files."""
