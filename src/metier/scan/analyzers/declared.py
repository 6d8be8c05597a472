"""Hold what a skill declares against what was found in it."""

from __future__ import annotations

import re
from typing import NamedTuple

from metier.scan.rule import Hit
from metier.scan.rules import places


class Declared(NamedTuple):
    """What the frontmatter says. `network`: whether a network is declared, or None when nothing is said."""

    tools: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    network: bool | None = None
    compatibility: str = ""
    description: str = ""


class Found(NamedTuple):
    """What the other analyzers found: names of variables read, hosts, and what is done at all."""

    env: tuple[str, ...] = ()
    network: bool = False
    runs: bool = False
    writes: bool = False
    credential: bool = False
    hosts: tuple[str, ...] = ()


_OFFLINE = re.compile(
    r"^\s*offline\b|\b(?:offline[ -]only|(?:works?|runs?|fully|completely|entirely) offline"
    r"|no (?:network|internet)(?: access| connection)?|without (?:a )?(?:network|internet)"
    r"|air[- ]?gapped|network (?:is )?not (?:needed|required)|(?:does not|never) (?:use|need"
    r"|access) the (?:network|internet)|local[- ]only)\b"
)
_RUNNERS = frozenset(
    ("bash", "shell", "sh", "terminal", "execute", "exec", "run", "powershell", "computer", "code_execution", "runcommand",
     "python")
)
_WRITERS = frozenset(
    ("write", "edit", "multiedit", "notebookedit", "applypatch", "create", "str_replace_based_edit_tool", "filesystem")
)
_READERS = frozenset(("read", "grep", "glob", "ls", "notebookread", "view", "search", "list", "webfetch", "websearch"))


def find(declared: Declared, found: Found) -> list[Hit]:
    """Return where the two part, each with what it was; offsets are nought, since a declaration is a whole."""
    hits: list[Hit] = []
    names = tuple(tool_name(tool) for tool in declared.tools)
    if names and "*" not in names:
        hits += _tools(names, found)
    broad = [tool for tool in declared.tools if _unlimited(tool)]
    if broad:
        hits.append(Hit("SC703", 0, 0, ", ".join(broad)[:200]))
    hits += _environment(declared, found)
    if found.network and (
        declared.network is False or _OFFLINE.search(f"{declared.compatibility} {declared.description}".lower()[:4000])
    ):
        hits.append(Hit("SC702", 0, 0, ", ".join(found.hosts)[:200]))
    return hits


def tool_name(tool: str) -> str:
    """Return a declared tool's bare name in lower case: `Bash(git:*)` is bash, `mcp__files__write` is write (ZE-22)."""
    bare = tool.strip().partition("(")[0].strip().lower()
    return bare.rpartition("__")[2] if bare.startswith("mcp__") else bare.rpartition(":")[2] if ":" in bare else bare


def _tools(names: tuple[str, ...], found: Found) -> list[Hit]:
    hits: list[Hit] = []
    shown = ", ".join(names)[:200]
    runs, writes = bool(_RUNNERS.intersection(names)), bool(_WRITERS.intersection(names))
    reads_only = all(name in _READERS for name in names)
    if found.runs and not runs:
        hits.append(Hit("SC700", 0, 0, shown))
    if found.writes and reads_only and not (runs or writes):
        hits.append(Hit("SC704", 0, 0, shown))
    if reads_only and found.credential and found.network and not {"webfetch", "websearch"}.intersection(names):
        hits.append(Hit("SC705", 0, 0, shown))
    return hits


def _unlimited(tool: str) -> bool:
    name, _, limit = tool.strip().partition("(")
    if name.strip() == "*":
        return True
    return name.strip().lower() in _RUNNERS and limit.rstrip(") ") in ("", "*", "*:*", "**")


def _environment(declared: Declared, found: Found) -> list[Hit]:
    """Report secrets read and not declared; where nothing is declared at all, a name in the texts counts as declared."""
    known = {name.upper() for name in declared.env}
    said = f"{declared.compatibility} {declared.description}".upper()[:8000]
    missing = [name for name in found.env if name.upper() not in known and name.upper() not in said and places.secret_name(name)]
    return [Hit("SC701", 0, 0, ", ".join(sorted(set(missing)))[:200])] if missing else []
