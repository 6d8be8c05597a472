"""Reads a Python file for how its functions can be called: who calls whom, with whose results, and
which options it has. Pure.

It is a part of the program that calls them inside the sandbox: it imports the standard library
alone.
"""

from __future__ import annotations

import ast
import contextlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

PATH_WORDS = ("path", "file", "dir", "folder", "input", "source", "src", "filename", "target")
VALUES: tuple[tuple[tuple[str, ...], Any], ...] = (
    (("url", "uri", "endpoint"), "https://service.example.org/in"),
    (("host", "hostname", "server", "domain"), "service.example.org"),
    (
        ("count", "limit", "size", "num", "number", "n", "max", "days", "seconds", "delay", "port"),
        3,
    ),
    (("data", "payload", "config", "params", "options", "context", "record"), {"name": "sample"}),
    (("items", "rows", "values", "list", "args", "files", "lines", "paths", "argv"), ["sample"]),
    (("expression", "formula", "expr"), "1 + 1"),
    (("flag", "verbose", "enabled", "dry_run"), True),
)
QUIET = frozenset({
    "dry", "help", "version", "quiet", "no", "check", "simulate", "preview", "offline", "skip",
    "disable", "list", "only"
})  # fmt: skip
"""First words of switches that keep a script from doing what it is for."""


MAX_DEPTH = 12
"""How many calls deep functions are put in order."""


def made_up(name: str, sample: str, other: Any = "sample") -> Any:
    """Make a value up, by what it is called."""
    words = name.lower().strip("_").split("_")
    if any(word in words for word in PATH_WORDS) or name.endswith(("path", "file")):
        return sample
    for some, value in VALUES:
        if any(word in words for word in some):
            return value
    return other


def is_told(name: str) -> bool:
    """Tell whether a switch lets a script do what it is for."""
    return name.strip("-_").replace("-", "_").split("_", maxsplit=1)[0] not in QUIET


class FunctionOutline:
    """The functions of a file: how deep they call, what they are handed, and its options."""

    def __init__(self, tree: ast.Module, sample: str) -> None:
        """Read the file."""
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
        defined = [one for one in ast.walk(tree) if isinstance(one, kinds)]
        classes = {one.name for one in ast.walk(tree) if isinstance(one, ast.ClassDef)}
        self.names = {one.name for one in defined} | classes
        self.calls = {one.name: self.called(one) - {one.name} for one in defined}
        called = self.called(tree)
        loaded = {
            _last_name(one) for one in ast.walk(tree) if isinstance(one, (ast.Name, ast.Attribute))
        }
        self.passed_on = (loaded & self.names) - called
        """Those that are named and never called by their names: in a table, or for a thread."""
        self.flows: dict[tuple[str, int | str], set[str]] = {}
        for scope in (tree, *defined):
            self._read_flows(scope)
        self._depths: dict[str, int] = {}
        self.asked = {one.name: _asked(one) for one in defined}
        """By function: what is asked of each of its parameters, as an attribute or as a key."""
        self.options = dict(filter(None, (_option(one, sample) for one in ast.walk(tree))))

    def called(self, node: ast.AST) -> set[str]:
        """Give the file's own functions that are called below a node."""
        some = (one for one in ast.walk(node) if isinstance(one, ast.Call))
        return {_last_name(one.func) for one in some} & self.names

    def depth(self, name: str) -> int:
        """Say how many calls lie below a function, up to some limit: they may go round in a circle."""
        if not self._depths:
            found = dict.fromkeys(self.calls, 0)
            for _pass in range(MAX_DEPTH):
                found = {
                    one: 1 + max((found.get(each, 0) for each in below), default=-1)
                    for one, below in self.calls.items()
                }
            self._depths = found
        return self._depths.get(name, 0)

    def _read_flows(self, scope: ast.AST) -> None:
        """Learn in one scope whose results are handed to whom."""
        held: dict[str, set[str]] = {}
        nodes = list(ast.walk(scope))
        for _pass in range(3):
            for targets, value in filter(None, map(_handed, nodes)):
                sources = self._sources(value, held)
                for name in _base_names(targets) if sources else ():
                    held.setdefault(name, set()).update(sources)
        for one in nodes:
            if isinstance(one, ast.Call) and _last_name(one.func) in self.names:
                given: list[tuple[int | str | None, ast.AST]] = [*enumerate(one.args)]
                given += [(word.arg, word.value) for word in one.keywords]
                for place, value in given:
                    sources = self._sources(value, held)
                    if place is not None and sources:
                        key = (_last_name(one.func), place)
                        self.flows.setdefault(key, set()).update(sources)

    def _sources(self, value: ast.AST, held: dict[str, set[str]]) -> set[str]:
        found = self.called(value)
        for one in ast.walk(value):
            if isinstance(one, ast.Name):
                found |= held.get(one.id, set())
        return found


def _asked(function: ast.AST) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for one in ast.walk(function):
        if isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name):
            found.setdefault(one.value.id, set()).add(one.attr)
        elif isinstance(one, ast.Subscript) and isinstance(one.value, ast.Name):
            key = one.slice.value if isinstance(one.slice, ast.Constant) else None
            if isinstance(key, str):
                found.setdefault(one.value.id, set()).add("get")
    return found


def _handed(one: ast.AST) -> tuple[list[ast.expr], ast.AST] | None:
    """Give what a node writes to, and what it puts there."""
    if isinstance(one, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr)) and one.value:
        return (one.targets if isinstance(one, ast.Assign) else [one.target]), one.value
    if isinstance(one, (ast.For, ast.AsyncFor, ast.comprehension)):
        return [one.target], one.iter
    if isinstance(one, ast.withitem) and one.optional_vars is not None:
        return [one.optional_vars], one.context_expr
    if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute):
        return [one.func.value], ast.Tuple(elts=one.args, ctx=ast.Load())
    return None


def _last_name(node: ast.AST) -> str:
    return getattr(node, "attr", "") or getattr(node, "id", "")


def _base_names(targets: Iterable[ast.AST]) -> set[str]:
    """Give the variables that are written to: of `box.parts[0]`, it is `box`."""
    return {one.id for each in targets for one in ast.walk(each) if isinstance(one, ast.Name)}


def _option(node: ast.AST, sample: str) -> tuple[str, Any] | None:
    """Give an option that a file reads from its command line, with a value for it."""
    if not (isinstance(node, ast.Call) and _last_name(node.func) == "add_argument"):
        return None
    names = [str(one.value) for one in node.args if isinstance(one, ast.Constant)]
    said = {one.arg or "": one.value for one in node.keywords}
    if not names:
        return None
    long = next((one for one in names if one.startswith("--")), names[0])
    with contextlib.suppress(ValueError):
        plain = {
            name: ast.literal_eval(one) for name, one in said.items() if name not in {"", "type"}
        }
        kind = getattr(said.get("type"), "id", "str")
        name = str(plain.get("dest", long.lstrip("-").replace("-", "_")))
        return name, option_value(name, plain, kind, sample)
    return None


def option_value(name: str, said: dict[str, Any], kind: str, sample: str) -> Any:
    """Make a value up for an option: switches are set, and what has a usual value keeps it."""
    action = said.get("action")
    if action in {"store_true", "store_false"}:
        return (is_told(name)) is (action == "store_true")
    usual = said.get("default")
    if usual is not None and usual is not False and usual not in (0, ""):
        return usual
    if said.get("choices"):
        return next(iter(said["choices"]))
    value = made_up(name, sample, other=sample)
    if kind in {"int", "float"}:
        value = value if isinstance(value, int) else 3
    elif not isinstance(value, str):
        value = str(value) if kind == "str" and isinstance(value, int) else sample
    return [value] if said.get("nargs") in {"+", "*"} or action == "append" else value
