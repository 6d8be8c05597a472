"""Prepares one file of a skill for the analyzers: what kind it is, its text as a reader sees it,
and its stretches of code.

Code is also found in files that are no scripts: scripts in pages, commands in settings and on lines
of their own. Everything is found in the normalised text; `place` leads back to the line and column
of the file as it lies on disk.
"""

from __future__ import annotations

import re
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple

from metier.scan.languages.kinds import CODE_KINDS, PROSE_KINDS, claim_of, decoded, kind_of
from metier.scan.languages.markdown import MarkdownSegment, code_of, context, segments
from metier.scan.languages.text import (
    HiddenText,
    MappedText,
    edited,
    find_hidden,
    normalise,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from metier.scan.model import ScanEntry


COMMAND_SIGNS = (
    "curl",
    "wget",
    "|",
    "&&",
    "$(",
    "rm ",
    "sudo",
    "bash",
    "pip ",
    "npm ",
    "npx ",
    "eval",
    "base64",
    "nc ",
    "chmod",
    "~/.",
    "cat ",
    "iwr",
    "iex",
    "python",
    "ssh",
    "crontab",
    "dig ",
    ">>",
    "/dev/tcp",
    "exec",
)
"""What a command worth a look holds."""
_SIGN = re.compile("|".join(map(re.escape, COMMAND_SIGNS)))
SOURCES = {
    "go": "go",
    "rs": "rust",
    "java": "java",
    "cs": "csharp",
    "c": "c",
    "h": "c",
    "cc": "cpp",
    "cpp": "cpp",
    "hpp": "cpp",
    "kt": "kotlin",
    "swift": "swift",
    "dart": "dart",
    "scala": "scala",
}
_SCRIPT = re.compile(r"(?i)<script\b[^<>]{0,400}>")
_SCRIPT_END = re.compile(r"(?i)</script")
# Strings of JSON; one without an end is taken up to its line's end, so that every character is
# looked at once.
_STRING = re.compile(r'"((?:[^"\\\n]|\\.)*+)"?')
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))")
_PLAIN = {"n": "\n", "t": "\t", "r": "\n", "b": " ", "f": " "}
_PAIR = re.compile(
    r"^[ \t]*+(?:-[ \t]{1,8})?(?:[\"']?[\w.-]{1,60}[\"']?[ \t]{0,8}[:=][ \t]{1,8})?[\"'\[]{0,2}([^\n]{8,})",
    re.MULTILINE,
)
_LINE = re.compile(
    r"^[ \t]*+(?:(?:[-*+>$%#]|\d{1,3}[.)])[ \t]++){0,3}(?:<!--[ \t]*+)?"
    r"((?:bash|sh|zsh|curl|wget|nc|ncat|netcat|socat|python3?|node|perl|ruby|php|eval|exec|echo|printf|sudo|rm|chmod|crontab|dd|mkfifo"
    r"|powershell|pwsh|iwr|iex|env|cat|tar|zip|scp|ssh|rsync|dig|openssl|base64|source|nohup|export)[ \t][^\n]{4,})",
    re.MULTILINE,
)
_LINED = frozenset(("prose", "list", "quote", "html", "html-comment"))
_TRAIL = "\"',]} \t"


class CodeStretch(NamedTuple):
    """A stretch of code: in which language, where it begins in the text, and how it is presented
    and introduced.
    """

    lang: str
    code: MappedText
    """Without the indentation of a list or the marks of a quotation."""
    start: int
    place: str
    """script, fence, code or code-span."""
    hints: frozenset[str] = frozenset()


def snippets(
    path: str, kind: str, plain: str, cut: Sequence[MarkdownSegment]
) -> Iterator[CodeStretch]:
    """Find the code in a file that is no script, beyond what Markdown marks as code."""
    lang = SOURCES.get(path.rpartition(".")[2].lower(), "") if kind == "text" else ""
    if lang:
        yield CodeStretch(lang, MappedText(plain), 0, "script")
    elif kind in {"html", "svg", "xml"}:
        yield from _pages(plain)
    elif kind == "json":
        yield from _cells(plain) if path.endswith(".ipynb") else _strings(plain)
    elif kind in {"yaml", "toml"}:
        yield from _values(plain, 0, len(plain))
        yield from _blocks(plain)
    elif kind == "text":
        yield from _lines(plain, 0, len(plain), "code", frozenset())
    for segment in cut:
        if segment.place == "frontmatter":
            yield from _values(plain, segment.start, segment.end)
        elif segment.place in _LINED:
            yield from _told_lines(plain, segment)


def _pages(plain: str) -> Iterator[CodeStretch]:
    opening = _SCRIPT.search(plain)
    while opening:
        closing = _SCRIPT_END.search(plain, opening.end())
        end = closing.start() if closing else len(plain)
        yield CodeStretch(
            "javascript", MappedText(plain[opening.end() : end]), opening.end(), "script"
        )
        opening = _SCRIPT.search(plain, end)


def _strings(plain: str) -> Iterator[CodeStretch]:
    for found in _STRING.finditer(plain):
        if _signed(found[1]) or "\\u00" in found[1]:
            yield CodeStretch(
                "shell", edited(MappedText(found[1]), _unescaped(found[1])), found.start(1), "code"
            )


_SOURCE = re.compile(
    r'"source"\s*:\s*\[([^\[\]]{0,100000})\]|"source"\s*:\s*("(?:[^"\\\n]|\\.)*+")'
)
_MARKDOWN_CELL = re.compile(r'"cell_type"\s*:\s*"(\w+)"')


def _cells(plain: str) -> Iterator[CodeStretch]:
    """Find the code of a notebook's cells, each as one script."""
    for found in _SOURCE.finditer(plain):
        before = _MARKDOWN_CELL.findall(plain, max(0, found.start() - 4000), found.start())
        if before and before[-1] != "code":
            continue
        start, end = found.span(1) if found[1] is not None else found.span(2)
        raw = plain[start:end]
        yield CodeStretch("python", edited(MappedText(raw), _joined_lines(raw)), start, "script")


def _joined_lines(raw: str) -> Iterator[tuple[int, int, str]]:
    """Join the strings of a list: what stands between them goes, and escapes become what they
    say.
    """
    done = 0
    for found in _STRING.finditer(raw):
        yield done, found.start(1), ""
        for start, end, said in _unescaped(found[1]):
            yield found.start(1) + start, found.start(1) + end, said
        done = found.end(1)
    yield done, len(raw), ""


_BLOCK = re.compile(r"^([ \t]*)(?:- )?[\w.-]{1,60}:[ \t]*[|>][-+]?[ \t]*\n", re.MULTILINE)


def _blocks(plain: str) -> Iterator[CodeStretch]:
    """Find the commands that YAML keeps in blocks of several lines, each block as one script."""
    for found in _BLOCK.finditer(plain):
        margin = len(found[1])
        at = found.end()
        while at < len(plain):
            end = plain.find("\n", at)
            line = plain[at : end if end >= 0 else len(plain)]
            if line.strip() and len(line) - len(line.lstrip(" \t")) <= margin:
                break
            at = end + 1 if end >= 0 else len(plain)
        code = plain[found.end() : at]
        if "\n" in code.strip() and _signed(code):
            yield CodeStretch("shell", MappedText(code), found.end(), "code")


def _unescaped(raw: str) -> Iterator[tuple[int, int, str]]:
    for found in _ESCAPE.finditer(raw):
        yield (
            found.start(),
            found.end(),
            chr(int(found[1], 16)) if found[1] else _PLAIN.get(found[2], found[2]),
        )


def _values(plain: str, start: int, end: int) -> Iterator[CodeStretch]:
    for found in _PAIR.finditer(plain, start, end):
        if _signed(found[1]):
            yield CodeStretch("shell", MappedText(found[1].rstrip(_TRAIL)), found.start(1), "code")


def _lines(
    plain: str, start: int, end: int, place: str, hints: frozenset[str]
) -> Iterator[CodeStretch]:
    for found in _LINE.finditer(plain, start, end):
        if _signed(found[1]):
            yield CodeStretch("shell", MappedText(found[1]), found.start(1), place, hints)


def _told_lines(plain: str, segment: MarkdownSegment) -> Iterator[CodeStretch]:
    """Find the commands among the lines of a block; how it is introduced is asked only if it has
    any.
    """
    place = "html-comment" if segment.place == "html-comment" else "code"
    hints = None
    for line in _lines(plain, segment.start, segment.end, place, frozenset()):
        hints = context(plain, segment) if hints is None else hints
        yield line._replace(hints=hints)


def _signed(text: str) -> bool:
    return _SIGN.search(text) is not None


def _in_settings(fence: CodeStretch, named: str) -> Iterator[CodeStretch]:
    """Find the commands in a fence of settings; they are presented as the fence is."""
    code = fence.code
    values = chain(_values(code.plain, 0, len(code.plain)), _blocks(code.plain))
    inner = _strings(code.plain) if named.startswith("json") else values
    for one in islice(inner, MAX_FENCED_VALUES):
        if _REFUSES.search(code.plain, max(0, one.start - 200), one.start):
            continue
        start = code.origin(one.start)
        yield one._replace(start=fence.start + start, place=fence.place, hints=fence.hints)


_REFUSES = re.compile(
    r"(?i)\b(?:deny|denied|block|blocked|forbid|forbidden|disallow\w*|banned|prohibit\w*|dangerous\w*)\b"
)
"""How settings name what must not be run."""
_SETTINGS = frozenset(("json", "yaml", "toml"))
_SETTINGS_NAMES = (".ini", ".cfg", ".conf", "gitconfig", ".git/config", ".gitattributes")
MAX_FENCED_VALUES = 200
"""Commands looked at in one fence of settings."""
TEXT_KINDS = CODE_KINDS | PROSE_KINDS
_FENCES = {
    name: lang
    for lang, names in {
        "shell": "bash sh shell zsh console terminal shell-session shellsession fish ksh dockerfile "
        "makefile command cli text txt plaintext plain",
        "python": "python py python3 py3 ipython pycon jupyter",
        "javascript": "javascript js jsx mjs cjs node nodejs",
        "typescript": "typescript ts tsx mts deno",
        "powershell": "powershell ps1 pwsh ps",
        "settings": "json jsonc json5 yaml yml toml ini conf cfg config gitconfig properties env",
        "ruby": "ruby rb",
        "batch": "batch bat cmd dos",
    }.items()
    for name in names.split()
}
MAX_SPANS = 2000
"""Commands in one text, in its sentences and in its settings each; what lies beyond is told of as
not judged."""
MAX_ODD_BYTES = 512 * 1024  # bytes read, in a whole tree, of what is text by its name alone
LEFT_OUT = "left out"
"""The place of an empty stretch that stands for those beyond."""


class FileText(NamedTuple):
    """One file that can be read as text."""

    path: str
    kind: str
    original: str
    text: MappedText
    segments: tuple[MarkdownSegment, ...]
    """Only Markdown has them."""
    hidden: tuple[HiddenText, ...]
    problem: str
    """What is wrong with its encoding."""


def read_file_text(piece: ScanEntry, kind: str) -> FileText:
    """Read a piece as text of a kind."""
    original, problem = decoded(piece.data)
    text = normalise(original)
    cut = tuple(segments(text.plain)) if kind == "markdown" else ()
    return FileText(
        path=piece.path,
        kind=kind,
        original=original,
        text=text,
        segments=cut,
        hidden=tuple(find_hidden(original)),
        problem=problem,
    )


def kind_of_piece(piece: ScanEntry) -> str:
    """Say what a piece is by its content."""
    return "unknown" if piece.fault else kind_of(piece.path, piece.data)


def reading_of(piece: ScanEntry) -> str:
    """Say as what a piece that is no text is read: a name that promises text is taken at its word,
    whatever the bytes are.
    """
    claimed = "" if piece.fault else claim_of(piece.path)
    return claimed if claimed in TEXT_KINDS else ""


def stretches(file: FileText) -> list[CodeStretch]:
    """Cut out the code of a file: all of a script, the fenced and inline code of a Markdown file,
    and commands in others.
    """
    plain = file.text.plain
    if file.kind in CODE_KINDS:
        script = CodeStretch(file.kind, MappedText(plain), 0, "script")
        return [script, script._replace(lang="settings")]
    found = []
    spans = 0
    for segment in file.segments:
        code = plain[segment.start : segment.end]
        if segment.place in {"fence", "code"}:
            named = segment.lang.lower()
            lang = _FENCES.get(named, named) if named else "shell"
            whole = CodeStretch(
                lang,
                code_of(plain, segment),
                segment.start,
                segment.place,
                context(plain, segment),
            )
            found.append(whole)
            if lang == "settings":
                found += _in_settings(whole, named)
            else:
                found.append(whole._replace(lang="settings"))
        elif segment.place == "code-span" and _signed(code):
            spans += 1
            if spans > MAX_SPANS:
                continue
            found.append(
                CodeStretch(
                    "shell", MappedText(code), segment.start, segment.place, context(plain, segment)
                )
            )
    if file.kind in _SETTINGS or file.path.lower().endswith(_SETTINGS_NAMES):
        found.append(CodeStretch("settings", MappedText(plain), 0, "code"))
    more = snippets(file.path, file.kind, plain, file.segments)
    found += islice(more, MAX_SPANS)
    if spans > MAX_SPANS or next(more, None) is not None:
        found.append(CodeStretch("", MappedText(""), 0, LEFT_OUT))
    return found
