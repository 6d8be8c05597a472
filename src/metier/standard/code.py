"""Python code skills: one file with a top-level `run`, its metadata read from the syntax tree and
never by import.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from metier.model import Diagnostic
from metier.standard.names import one_line
from metier.standard.plain_text import words

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator

    from metier.model import JsonObject, Texts

MAX_BYTES = 1024 * 1024

# Cheap enough to run on every .py file of a folder; only what passes is parsed.
_MENTIONS = re.compile(rb"SKILL_|def[\s\\]+run")
# PEP 263. Another encoding could hide code from whoever reads the file as UTF-8.
_CODING = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_COMMENT = re.compile(rb"^[ \t\f]*(?:#.*)?$")
_READABLE = frozenset((b"utf-8", b"utf8", b"u8", b"ascii", b"us-ascii"))

_KNOWN = words(
    "SKILL_NAME SKILL_DESCRIPTION SKILL_TRIGGERS SKILL_MCP_EXPOSE SKILL_OBSERVATION_TRIGGER "
    "SKILL_NEEDS_OBSERVATION SKILL_DESTRUCTIVE SKILL_PERMISSIONS"
)
_RESTRICTING = {"SKILL_DESTRUCTIVE": True, "SKILL_MCP_EXPOSE": False}
"""Names that restrict, with the value taken when they cannot be read (MT-11)."""


class CodeFacts(NamedTuple):
    """What a code skill says of itself. `run_line` is 0 when it has no top-level `run`; `expose`
    None means unsaid.
    """

    name: str
    description: str
    triggers: Texts = ()
    expose: bool | None = None
    observation: JsonObject | None = None
    needs_observation: bool = False
    destructive: bool = False
    permissions: Texts = ()
    run_line: int = 0
    is_async: bool = False
    diagnostics: tuple[Diagnostic, ...] = ()


class _GivenValue(NamedTuple):
    """One name's last assignment: its value where it is a literal, and where it stands."""

    value: Any
    literal: bool
    line: int
    column: int


def read_code(data: bytes, stem: str) -> CodeFacts | None:
    """Read a Python file as a skill; None when it is plainly something else."""
    if not _MENTIONS.search(data[:MAX_BYTES]):
        return None
    path = one_line(f"{stem}.py")
    tree = _parse(data, path)
    if isinstance(tree, Diagnostic):
        name = one_line(stem)
        return CodeFacts(
            name=name, description=name, expose=False, destructive=True, diagnostics=(tree,)
        )
    run_line, is_async = _run(tree)
    given = dict(_assignments(tree))
    if not run_line and not given:
        return None
    return _facts(_Metadata(given, path), stem, run_line, is_async=is_async)


def custom_triggers(data: bytes) -> dict[str, Texts]:
    """Read the user's own triggers by skill name; they replace the declared ones. A malformed file
    has none (CO-8).
    """
    import json  # only users who have such a file pay for it

    try:
        value = json.loads(data.decode("utf-8-sig")) if len(data) <= MAX_BYTES else {}
    except (ValueError, RecursionError, MemoryError):
        return {}
    if not isinstance(value, dict):
        return {}
    found = {one_line(name): _words(entry) for name, entry in value.items()}
    return {name: words for name, words in found.items() if words}


def _words(entry: object) -> Texts:
    listed = entry.get("triggers") if isinstance(entry, dict) else None
    items = [listed] if isinstance(listed, str) else listed if isinstance(listed, list) else []
    words = (one_line(str(item)) for item in items if isinstance(item, (str, int, float)))
    return tuple(dict.fromkeys(filter(None, words)))


def _parse(data: bytes, path: str) -> ast.Module | Diagnostic:
    import ast  # most libraries hold no code skill
    import warnings

    try:
        text = _decode(data)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except SyntaxError as fault:
        return _broken(path, fault.msg, fault.lineno or 1, fault.offset or 1)
    except UnicodeDecodeError as fault:
        return _broken(path, "not UTF-8", data.count(b"\n", 0, fault.start) + 1, 1)
    except ValueError as fault:
        return _broken(path, str(fault), 1, 1)
    except (RecursionError, MemoryError):
        return _broken(path, "nested too deeply to be read", 1, 1)


def _decode(data: bytes) -> str:
    if len(data) > MAX_BYTES:
        message = f"larger than {MAX_BYTES // 1024} KiB"
        raise ValueError(message)
    for line in data.removeprefix(b"\xef\xbb\xbf").splitlines()[:2]:
        declared = _CODING.match(line)
        encoding = declared[1].lower().replace(b"_", b"-") if declared else b"utf-8"
        if declared and encoding not in _READABLE and not encoding.startswith(b"utf-8-"):
            message = (
                f"declares the encoding {declared[1][:40].decode('ascii', 'replace')}, only "
                f"UTF-8 is read"
            )
            raise ValueError(message)
        if declared or not _COMMENT.match(line):
            break
    return data.decode("utf-8-sig")


def _broken(path: str, why: str, line: int, column: int) -> Diagnostic:
    hint = "correct the file; until then it is not offered"
    message = f"code skill does not parse: {one_line(why)}"
    return Diagnostic("SK090", "error", message, path, line, max(column, 1), hint=hint)


def _run(tree: ast.Module) -> tuple[int, bool]:
    import ast

    for node in reversed(tree.body):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == "run":
            return node.lineno, isinstance(node, ast.AsyncFunctionDef)
    return 0, False


def _assignments(tree: ast.Module) -> Iterator[tuple[str, _GivenValue]]:
    """Give each metadata name set by a top-level statement, in order, so that the last one wins."""
    import ast

    for node in tree.body:
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, (ast.AnnAssign, ast.AugAssign)) and node.value is not None:
            targets = [node.target]
        else:
            continue
        for target in targets:
            # `A, B = …` and `A += …` are not worked out: the names count as set to something that
            # is no literal.
            whole = isinstance(target, ast.Name) and not isinstance(node, ast.AugAssign)
            for part in ast.walk(target):
                if (
                    isinstance(part, ast.Name)
                    and part.id in _KNOWN
                    and isinstance(part.ctx, ast.Store)
                ):
                    yield part.id, _given(node.value if whole else None, part)


def _given(value: ast.expr | None, target: ast.Name) -> _GivenValue:
    import ast

    at = value or target  # a name is no literal either
    literal = None
    try:
        literal = ast.literal_eval(at)
        is_literal = True
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        is_literal = False
    # The tree counts columns in bytes; the name before the value is ASCII in all but perverse
    # files.
    return _GivenValue(literal, is_literal, at.lineno, at.col_offset + 1)


class _Metadata:
    """The assignments of one file, read by type; collects what is wrong with them."""

    def __init__(self, given: dict[str, _GivenValue], path: str) -> None:
        self._given = given
        self.path = path
        self.notes: list[Diagnostic] = []

    def text(self, name: str, default: str) -> str:
        value = self._literal(name)
        line = one_line(value) if isinstance(value, str) else ""
        if line or name not in self._given:
            return line or default
        if self._given[name].literal:
            self._wrong(name, "text that is not empty")
        return default

    def texts(self, name: str) -> Texts:
        value = self._literal(name)
        if value is None and not (name in self._given and self._given[name].literal):
            return ()
        items = (
            [value] if isinstance(value, str) else value if isinstance(value, (list, tuple)) else []
        )
        kept = tuple(
            dict.fromkeys(
                one_line(item) for item in items if isinstance(item, str) and item.strip()
            )
        )
        if isinstance(value, str) or len(kept) < len(items) or not isinstance(value, (list, tuple)):
            self._wrong(name, "a list of texts")
        return kept

    def flag(self, name: str, *, default: bool | None) -> bool | None:
        if name not in self._given:
            return default
        given = self._given[name]
        if given.literal and (
            type(given.value) is bool or (given.value is None and default is None)
        ):
            return bool(given.value) if given.value is not None else None
        if name not in _RESTRICTING:
            self._literal(name)
            if given.literal:
                self._wrong(name, "True or False")
            return default
        strict = _RESTRICTING[name]
        self.note("SK094", name, f"{name} is not True or False as written; taken as {strict}")
        return strict

    def mapping(self, name: str) -> JsonObject | None:
        value = self._literal(name)
        if value is None:
            return None
        if isinstance(value, dict) and _is_plain(value):
            return value
        self._wrong(name, "a dict of plain values")
        return None

    def note(
        self, code: str, name: str, message: str, hint: str = "write the value out as a literal"
    ) -> None:
        given = self._given[name]
        self.notes.append(
            Diagnostic(code, "warning", message, self.path, given.line, given.column, hint=hint)
        )

    def _literal(self, name: str) -> Any:
        if name not in self._given:
            return None
        given = self._given[name]
        if not given.literal:
            self.note("SK092", name, f"{name} is not a literal and is ignored")
        return given.value

    def _wrong(self, name: str, wanted: str) -> None:
        self.note("SK093", name, f"{name} should be {wanted}", f"write it as {wanted}")


def _facts(metadata: _Metadata, stem: str, run_line: int, *, is_async: bool) -> CodeFacts:
    name = metadata.text("SKILL_NAME", one_line(stem))
    facts = CodeFacts(
        name=name,
        description=metadata.text("SKILL_DESCRIPTION", name),
        triggers=metadata.texts("SKILL_TRIGGERS"),
        expose=metadata.flag("SKILL_MCP_EXPOSE", default=None),
        observation=metadata.mapping("SKILL_OBSERVATION_TRIGGER"),
        needs_observation=bool(metadata.flag("SKILL_NEEDS_OBSERVATION", default=False)),
        destructive=bool(metadata.flag("SKILL_DESTRUCTIVE", default=False)),
        permissions=metadata.texts("SKILL_PERMISSIONS"),
        run_line=run_line,
        is_async=is_async,
    )
    notes = metadata.notes
    if not run_line:
        hint = "define `def run(task, …)` at the top level"
        message = "code skill has no top-level run"
        notes.append(Diagnostic("SK091", "error", message, metadata.path, 1, 1, hint=hint))
    return facts._replace(diagnostics=tuple(notes))


def _is_plain(value: object) -> bool:
    """Tell whether a value can be shown as JSON: text keys, and no bytes, sets or halves of
    surrogate pairs.
    """
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            waiting += [*item.keys(), *item.values()]
            if not all(isinstance(key, str) for key in item):
                return False
        elif isinstance(item, (list, tuple)):
            waiting += item
        elif isinstance(item, str):
            if not item.isascii() and any("\ud800" <= char <= "\udfff" for char in item):
                return False
        elif not (item is None or isinstance(item, (bool, int, float))):
            return False
    return True
