"""Code in files that are no scripts: other languages' sources, scripts in pages, commands in settings and on lines of their own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from metier.scan.markdown import context
from metier.scan.text import Text, edited

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from metier.scan.markdown import Segment

SIGNS = ("curl", "wget", "|", "&&", "$(", "rm ", "sudo", "bash", "pip ", "npm ", "npx ", "eval", "base64", "nc ", "chmod",
         "~/.", "cat ", "iwr", "iex", "python", "ssh", "crontab", "dig ", ">>", "/dev/tcp", "exec")  # fmt: skip
"""What a command worth a look holds."""
SOURCES = {
    "go": "go", "rs": "rust", "java": "java", "cs": "csharp", "c": "c", "h": "c", "cc": "cpp", "cpp": "cpp", "hpp": "cpp",
    "kt": "kotlin", "swift": "swift", "dart": "dart", "scala": "scala",
}  # fmt: skip
_SCRIPT = re.compile(r"(?i)<script\b[^<>]{0,400}>")
_SCRIPT_END = re.compile(r"(?i)</script")
# Strings of JSON; one without an end is taken up to its line's end, so that every character is looked at once.
_STRING = re.compile(r'"((?:[^"\\\n]|\\.)*+)"?')
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))")
_PLAIN = {"n": "\n", "t": "\t", "r": "\n", "b": " ", "f": " "}
_PAIR = re.compile(
    r"^[ \t]*+(?:-[ \t]{1,8})?(?:[\"']?[\w.-]{1,60}[\"']?[ \t]{0,8}[:=][ \t]{1,8})?[\"'\[]{0,2}([^\n]{8,})", re.MULTILINE
)
_LINE = re.compile(
    r"^[ \t]*+(?:(?:[-*+>$%#]|\d{1,3}[.)])[ \t]++){0,3}(?:<!--[ \t]*+)?"
    r"((?:bash|sh|zsh|curl|wget|nc|ncat|netcat|socat|python3?|node|perl|ruby|php|eval|exec|echo|printf|sudo|rm|chmod|crontab|dd|mkfifo"
    r"|powershell|pwsh|iwr|iex|env|cat|tar|zip|scp|ssh|rsync|dig|openssl|base64|source|nohup|export)[ \t][^\n]{4,})",
    re.MULTILINE,
)
_LINED = frozenset(("prose", "list", "quote", "html", "html-comment"))
_TRAIL = "\"',]} \t"


class Snippet(NamedTuple):
    """A stretch of code: its language, its text, where that begins, how it is presented and introduced."""

    lang: str
    code: Text
    start: int
    place: str
    hints: frozenset[str] = frozenset()


def snippets(path: str, kind: str, plain: str, cut: Sequence[Segment]) -> Iterator[Snippet]:
    """Find the code in a file that is no script, beyond what Markdown marks as code."""
    lang = SOURCES.get(path.rpartition(".")[2].lower(), "") if kind == "text" else ""
    if lang:
        yield Snippet(lang, Text(plain), 0, "script")
    elif kind in {"html", "svg", "xml"}:
        yield from _pages(plain)
    elif kind == "json":
        yield from _strings(plain)
    elif kind in {"yaml", "toml"}:
        yield from _values(plain, 0, len(plain))
    elif kind == "text":
        yield from _lines(plain, 0, len(plain), "code", frozenset())
    for segment in cut:
        if segment.place == "frontmatter":
            yield from _values(plain, segment.start, segment.end)
        elif segment.place in _LINED:
            place = "html-comment" if segment.place == "html-comment" else "code"
            yield from _lines(plain, segment.start, segment.end, place, context(plain, segment))


def _pages(plain: str) -> Iterator[Snippet]:
    opening = _SCRIPT.search(plain)
    while opening:
        closing = _SCRIPT_END.search(plain, opening.end())
        end = closing.start() if closing else len(plain)
        yield Snippet("javascript", Text(plain[opening.end() : end]), opening.end(), "script")
        opening = _SCRIPT.search(plain, end)


def _strings(plain: str) -> Iterator[Snippet]:
    for found in _STRING.finditer(plain):
        if _signed(found[1]):
            yield Snippet("shell", edited(Text(found[1]), _unescaped(found[1])), found.start(1), "code")


def _unescaped(raw: str) -> Iterator[tuple[int, int, str]]:
    for found in _ESCAPE.finditer(raw):
        yield found.start(), found.end(), chr(int(found[1], 16)) if found[1] else _PLAIN.get(found[2], found[2])


def _values(plain: str, start: int, end: int) -> Iterator[Snippet]:
    for found in _PAIR.finditer(plain, start, end):
        if _signed(found[1]):
            yield Snippet("shell", Text(found[1].rstrip(_TRAIL)), found.start(1), "code")


def _lines(plain: str, start: int, end: int, place: str, hints: frozenset[str]) -> Iterator[Snippet]:
    for found in _LINE.finditer(plain, start, end):
        if _signed(found[1]):
            yield Snippet("shell", Text(found[1]), found.start(1), place, hints)


def _signed(text: str) -> bool:
    return any(sign in text for sign in SIGNS)
