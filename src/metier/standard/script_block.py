"""What a Python script declares about itself: the `script` block of inline script metadata (PEP
723). Pure.

A script is a stranger's text, and what it declares ends up as arguments of an installer. So a
dependency is a name, extras, versions and a marker, and nothing else: no address, no path, no
option.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from metier.standard.plain_text import words

MOST_BLOCK = 64 * 1024
"""Characters of a block that is read."""
MOST_DEPENDENCIES = 64
MOST_REQUIREMENT = 512
"""Characters of one dependency, and of `requires-python`."""

_OPENING = re.compile(r"# /// ([a-zA-Z0-9-]+)")
_CLOSING = "# ///"
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
_EXTRAS = re.compile(r"\s*\[([^\][]*)\]")
_CLAUSE = re.compile(
    r"\s*(===|~=|==|!=|<=|>=|<|>)\s*([A-Za-z0-9](?:[A-Za-z0-9.*+!_-]*[A-Za-z0-9*])?)\s*"
)
_MARKER = re.compile(r"""\s*(?:([a-z_.]+)|"[^"\\]*"|'[^'\\]*'|===?|~=|!=|<=?|>=?|[()])\s*""")
_MARKER_WORDS = words(
    "and or in not extra os_name sys_platform platform_machine platform_python_implementation "
    "platform_release platform_system platform_version python_version python_full_version "
    "implementation_name implementation_version"
)
_ARCHIVES = (
    ".whl",
    ".zip",
    ".tar",
    ".tgz",
    ".tbz",
    ".txz",
    ".tlz",
    ".gz",
    ".bz2",
    ".xz",
    ".lz",
    ".lzma",
)
"""An installer takes a name that ends like this for a file."""
_RELEASE = re.compile(r"v?(\d{1,6}(?:\.\d{1,6}){0,5})(\.\*)?")


class ScriptBlock(NamedTuple):
    """What a script declares."""

    requires_python: str = ""
    dependencies: tuple[str, ...] = ()
    """Each as it is handed to an installer, without spaces that mean nothing; in the script's
    order."""
    problem: str = ""
    """Why the block cannot be used; then there is nothing else here."""


def read_block(text: str) -> ScriptBlock | None:
    """Read the `script` block of a script; nothing when it has none."""
    blocks = _blocks(text.replace("\r\n", "\n").split("\n"))
    if not blocks:
        return None
    if len(blocks) > 1:
        return ScriptBlock(
            problem=f"it has {len(blocks)} blocks of script metadata; one is allowed"
        )
    if len(blocks[0]) > MOST_BLOCK:
        return ScriptBlock(problem=f"its script metadata has more than {MOST_BLOCK:,} characters")
    try:
        return _declared(_parsed(blocks[0]))
    except ValueError as error:
        return ScriptBlock(problem=str(error))


def unfit(requires: str, version: tuple[int, ...]) -> str:
    """Say why a version of Python is not among those that `requires-python` names; nothing when it
    is.
    """
    for clause in requires.split(",") if requires.strip() else ():
        match = _CLAUSE.fullmatch(clause)
        fits = _fits(match[1], match[2], version) if match else None
        if fits is None:
            return f"its requires-python '{_short(requires)}' is not understood"
        if not fits:
            return (
                f"it needs Python {_short(requires)}, and this is Python "
                f"{'.'.join(map(str, version))}"
            )
    return ""


def requirement(text: str) -> str:
    """Give a dependency in the one form in which it is handed on; `ValueError` says what is wrong
    with it.
    """
    if len(text) > MOST_REQUIREMENT:
        raise ValueError(
            f"a dependency has more than {MOST_REQUIREMENT} characters: '{_short(text)}'"
        )
    stripped = text.strip()
    name = _NAME.match(stripped)
    if name is None or name[0].lower().endswith(_ARCHIVES):
        raise ValueError(f"'{_short(text)}' is no name of a package")
    at = name.end()
    extras = _EXTRAS.match(stripped, at)
    at = extras.end() if extras else at
    versions, semicolon, marker = stripped[at:].partition(";")
    if "@" in versions:
        raise ValueError(
            f"'{_short(text)}' names an address; only packages of an index are installed"
        )
    named = _extras(extras[1]) if extras else ""
    if named is None or (semicolon and not _is_marker(marker)):
        raise ValueError(f"'{_short(text)}' is no dependency that is understood")
    condition = f"; {marker.strip()}" if semicolon else ""
    return f"{name[0]}{named}{_versions(versions, text)}{condition}"


def _blocks(lines: list[str]) -> list[str]:
    """Find the `script` blocks as the specification's expression does, but in one pass.

    A block ends at the last closing line that follows before a line that is no comment.
    """
    ends = _ends(lines)
    found: list[str] = []
    at = 0
    while at < len(lines):
        opening = _OPENING.fullmatch(lines[at])
        end = ends[at + 1] if opening and at + 1 < len(lines) else -1
        if not opening or end < at + 2:
            at += 1
            continue
        if opening[1] == "script":
            found.append(
                "\n".join(
                    line[2:] if line.startswith("# ") else line[1:] for line in lines[at + 1 : end]
                )
            )
        at = end + 1
    return found


def _ends(lines: list[str]) -> list[int]:
    """Give for each line the last closing line among the comments that it belongs to; -1 without
    one.
    """
    ends = [-1] * len(lines)
    last = -1
    for at in range(len(lines) - 1, -1, -1):
        line = lines[at]
        if line != "#" and not line.startswith("# "):
            last = -1
        elif line == _CLOSING and last < 0:
            last = at
        ends[at] = last
    return ends


def _parsed(block: str) -> dict[str, Any]:
    import tomllib  # few scripts have a block

    try:
        return tomllib.loads(block)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"its script metadata is no TOML: {_short(str(error))}") from error


def _declared(table: dict[str, Any]) -> ScriptBlock:
    requires = table.get("requires-python", "")
    listed = table.get("dependencies", [])
    if not isinstance(requires, str) or len(requires) > MOST_REQUIREMENT:
        raise ValueError("its requires-python is no short text")
    if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
        raise ValueError("its dependencies are no list of texts")
    if len(listed) > MOST_DEPENDENCIES:
        raise ValueError(
            f"it has {len(listed)} dependencies; at most {MOST_DEPENDENCIES} are installed"
        )
    return ScriptBlock(requires.strip(), tuple(dict.fromkeys(map(requirement, listed))))


def _extras(text: str) -> str | None:
    names = [name.strip() for name in text.split(",")] if text.strip() else []
    return (f"[{','.join(names)}]" if names else "") if all(map(_NAME.fullmatch, names)) else None


def _versions(text: str, whole: str) -> str:
    """Give the clauses of a dependency without spaces; they may stand in brackets."""
    inner = text.strip()
    if inner.startswith("(") and inner.endswith(")"):
        inner = inner[1:-1]
    clauses = [_CLAUSE.fullmatch(clause) for clause in inner.split(",")] if inner.strip() else []
    if not all(clauses):
        raise ValueError(f"'{_short(whole)}' is no dependency that is understood")
    return ",".join(f"{clause[1]}{clause[2]}" for clause in clauses if clause)


def _is_marker(text: str) -> bool:
    """Tell whether a marker is made of nothing but the words and signs of markers; the installer
    minds their order.
    """
    at = 0
    while at < len(text):
        token = _MARKER.match(text, at)
        if token is None or (token[1] and token[1] not in _MARKER_WORDS):
            return False
        at = token.end()
    return bool(text.strip()) and text.isprintable()


def _fits(operator: str, wanted: str, version: tuple[int, ...]) -> bool | None:
    """Compare as versions are compared, where missing parts are zero; nothing when the wanted
    version is not a plain one.
    """
    match = _RELEASE.fullmatch(wanted)
    if match is None or (match[2] and operator not in {"==", "!="}):
        return None
    parts = tuple(map(int, match[1].split(".")))
    if operator == "~=":
        return (
            _compared(version, parts) >= 0 and version[: len(parts) - 1] == parts[:-1]
            if len(parts) > 1
            else None
        )
    if match[2]:
        return (_compared(version[: len(parts)], parts) == 0) is (operator == "==")
    order = _compared(version, parts)
    return {
        "==": order == 0,
        "===": order == 0,
        "!=": order != 0,
        "<=": order <= 0,
        ">=": order >= 0,
        "<": order < 0,
        ">": order > 0,
    }[operator]


def _compared(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    size = max(len(one), len(other))
    first, second = (parts + (0,) * (size - len(parts)) for parts in (one, other))
    return (first > second) - (first < second)


def _short(text: str) -> str:
    """Give a stranger's text fit for a message: one line, not long."""
    line = "".join(char if char.isprintable() else "\ufffd" for char in text)
    return line if len(line) <= 80 else f"{line[:80]}…"
