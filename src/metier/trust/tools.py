"""Which tools a skill of a given trust may not use (ZE-22), and which of those it declares (ZE-9,
ZE-23). Pure.

A confirmed call is no exception, so there is no argument for it: a person who says yes to one call
has not looked at the skill. Names are compared by their words, because agents and MCP servers write
one tool in many ways.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from metier.standard.plain_text import words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from metier.model import Texts, Trust

DENIED_TOOLS = (
    "bash",
    "write",
    "edit",
    "delete_path",
    "move_path",
    "copy_path",
    "create_directory",
    "web_scrape",
    "fetch",
    "memory_save",
)
"""What a quarantined skill may not do, by the names that stand for each (ZE-22)."""

_ALSO = words(
    "shell sh zsh powershell pwsh cmd terminal exec execute eval run_command run_code "
    "run_script spawn subprocess repl append editor insert replace patch create_file save_file "
    "delete remove rm unlink move rename mv copy cp mkdir create_dir scrape crawl browse "
    "browser web_search http_request curl wget download upload send memory_write save_memory "
    "memory_store store_memory memory_add add_memory remember"
)
"""The same deeds under the names that other agents give them."""

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_PLAIN_WORDS = re.compile(r"[a-z]+|[0-9]+")
_MAX_NAME_CHARACTERS = 200
_ENDINGS = ("file", "files", "tool", "path", "command")


class Escalation(NamedTuple):
    """A tool that a skill declares and its trust denies."""

    tool: str
    """As declared."""
    level: Trust
    message: str


def denial(tool: str | None, level: Trust, mcp_tools: Iterable[str] = ()) -> str:
    """Say why a call is denied, in ZE-22's words; nothing when it is not. No tool stands for a
    fenced block that is run.
    """
    if level not in {"quarantined", "blocked"}:
        return ""
    if tool is None or not tool.strip():
        return f"tool execution denied (trust={level})"
    if level == "blocked":
        return "all tools blocked (trust=blocked)"
    return f"{tool} denied (trust=quarantined)" if _is_cut(tool, mcp_tools) else ""


def escalations(
    declared: Iterable[str], level: Trust, mcp_tools: Iterable[str] = ()
) -> tuple[Escalation, ...]:
    """Give the declared tools that this trust denies; every one of them for a blocked skill
    (ZE-23).
    """
    registered = tuple(mcp_tools)
    return tuple(
        Escalation(tool, level, message)
        for tool in declared
        if tool.strip() and (message := denial(tool, level, registered))
    )


def _is_cut(tool: str, mcp_tools: Iterable[str]) -> bool:
    """Tell whether quarantine cuts a tool off. What cannot be read as a name is cut off as well."""
    name = _bare(tool)
    readings = _readings(name)
    return (
        not readings[0]
        or len(name) > _MAX_NAME_CHARACTERS
        or not name.isascii()
        or "*" in name
        or readings[0][0] == "mcp"
        # a denied name anywhere among the words: `filesystem_write_file`, `fs.write`, `MultiEdit`
        or not all(
            _GLUED.isdisjoint(words) and _PAIRS.isdisjoint(pairwise(words)) for words in readings
        )
        or _is_registered(readings, mcp_tools)
    )


def _bare(tool: str) -> str:
    """Drop the pattern of `Bash(git:*)`, and all that only makes a name look like another one."""
    name = tool[: _MAX_NAME_CHARACTERS * 8].partition("(")[0]
    return "".join(
        char
        for char in unicodedata.normalize("NFKC", name)
        if unicodedata.category(char) not in {"Cf", "Mn"}
    ).strip()


def _readings(name: str) -> tuple[Texts, ...]:
    """Cut a name into words, once at capitals as in `WebFetch`, and once without regard to case as
    in `bAsH`.
    """
    return tuple(word.lower() for word in _WORDS.findall(name)), tuple(
        _PLAIN_WORDS.findall(name.lower())
    )


def _glued(names: Iterable[str]) -> frozenset[str]:
    """Give the names without separators, alone and before the nouns that often follow: `writefile`,
    `deletepath`.
    """
    joined = {name.replace("_", "") for name in names}
    return frozenset(joined | {name + ending for name in joined for ending in _ENDINGS})


_PHRASES = tuple(tuple(name.split("_")) for name in (*DENIED_TOOLS, *_ALSO))
_PAIRS = frozenset(phrase for phrase in _PHRASES if len(phrase) == 2)
_GLUED = _glued((*DENIED_TOOLS, *_ALSO)) | {
    "webfetch",
    "multiedit",
    "notebookedit",
    "strreplace",
    "websearch",
}


def _is_registered(readings: tuple[Texts, ...], mcp_tools: Iterable[str]) -> bool:
    """Tell whether a name is that of a registered MCP tool, with or without the prefix that one
    side may leave out.
    """
    for registered in mcp_tools:
        for theirs in _readings(_bare(registered)):
            for ours in readings:
                shorter, longer = sorted((ours, theirs), key=len)
                if ours == theirs or (len(shorter) > 1 and longer[-len(shorter) :] == shorter):
                    return True
    return False
