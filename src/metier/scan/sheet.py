"""One file of a skill, ready for the analyzers: what it is, its text as a reader sees it, and its stretches of code.

Everything is found in the normalised text; `place` leads back to the line and column of the file as it lies on disk.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from metier.scan.kinds import claim_of, decoded, kind_of
from metier.scan.markdown import Segment, code_of, context, segments
from metier.scan.snippets import SIGNS, snippets
from metier.scan.text import Hidden, Lines, Text, hidden, normalise

if TYPE_CHECKING:
    from metier.scan.tree import Piece

SCRIPTS = frozenset(("shell", "python", "javascript", "typescript", "powershell", "ruby", "php", "perl", "lua", "batch",
                     "applescript"))  # fmt: skip
TEXTS = SCRIPTS | {"markdown", "json", "yaml", "toml", "html", "css", "xml", "text", "svg", "csv"}
_FENCES = {
    **dict.fromkeys(("", "bash", "sh", "shell", "zsh", "console", "terminal", "shell-session", "shellsession", "fish", "ksh",
                     "dockerfile", "makefile", "command", "cli", "text", "txt", "plaintext", "plain"), "shell"),
    **dict.fromkeys(("python", "py", "python3", "py3", "ipython", "pycon", "jupyter"), "python"),
    **dict.fromkeys(("javascript", "js", "jsx", "mjs", "cjs", "node", "nodejs"), "javascript"),
    **dict.fromkeys(("typescript", "ts", "tsx", "mts", "deno"), "typescript"),
    **dict.fromkeys(("powershell", "ps1", "pwsh", "ps"), "powershell"),
    **dict.fromkeys(("ruby", "rb"), "ruby"),
    **dict.fromkeys(("batch", "bat", "cmd", "dos"), "batch"),
    **dict.fromkeys(("php", "perl", "lua", "applescript"), ""),
}  # fmt: skip
MAX_SPANS = 2000
"""Commands in one text, in its sentences and in its settings each; what lies beyond is told of as not judged."""
ODD = 512 * 1024  # bytes read, in a whole tree, of what is text by its name alone
LEFT_OUT = "left out"
"""The place of an empty stretch that stands for those beyond."""


class Stretch(NamedTuple):
    """A stretch of code: in which language, where it begins in the text, and how it is presented."""

    lang: str
    code: Text
    """Without the indentation of a list or the marks of a quotation."""
    start: int
    place: str
    """script, fence, code or code-span."""
    hints: frozenset[str]


class Sheet(NamedTuple):
    """One file that can be read as text."""

    path: str
    kind: str
    original: str
    text: Text
    segments: tuple[Segment, ...]
    """Only Markdown has them."""
    hidden: tuple[Hidden, ...]
    problem: str
    """What is wrong with its encoding."""


def sheet_of(piece: Piece, kind: str) -> Sheet:
    """Read a piece as text of a kind."""
    original, problem = decoded(piece.data)
    text = normalise(original)
    cut = tuple(segments(text.plain)) if kind == "markdown" else ()
    return Sheet(piece.path, kind, original, text, cut, tuple(hidden(original)), problem)


def kind_of_piece(piece: Piece) -> str:
    """Say what a piece is by its content."""
    return "unknown" if piece.fault else kind_of(piece.path, piece.data)


def reading_of(piece: Piece) -> str:
    """Say as what a piece that is no text is read: a name that promises text is taken at its word, whatever the bytes are."""
    claimed = "" if piece.fault else claim_of(piece.path)
    return claimed if claimed in TEXTS else ""


def stretches(sheet: Sheet) -> list[Stretch]:
    """Cut out the code of a file: all of a script, the fenced and inline code of a Markdown file, and commands in others."""
    plain = sheet.text.plain
    if sheet.kind in SCRIPTS:
        return [Stretch(sheet.kind, Text(plain), 0, "script", frozenset())]
    found: list[Stretch] = []
    spans = 0
    for segment in sheet.segments:
        code = plain[segment.start : segment.end]
        if segment.place in {"fence", "code"}:
            lang = _FENCES.get(segment.lang.lower(), "" if segment.lang else "shell") or segment.lang.lower()
            found.append(Stretch(lang, code_of(plain, segment), segment.start, segment.place, context(plain, segment)))
        elif segment.place == "code-span" and any(sign in code for sign in SIGNS):
            spans += 1
            if spans > MAX_SPANS:
                continue
            found.append(Stretch("shell", Text(code), segment.start, segment.place, context(plain, segment)))
    more = snippets(sheet.path, sheet.kind, plain, sheet.segments)
    found += (Stretch(*one) for one in islice(more, MAX_SPANS))
    if spans > MAX_SPANS or next(more, None) is not None:
        found.append(Stretch("", Text(""), 0, LEFT_OUT, frozenset()))
    return found


def lines_of(sheet: Sheet) -> Lines:
    """Give the lines of the file as it lies on disk."""
    return Lines(sheet.original)
