"""The sections of a Markdown body, by its headings: each can be listed and loaded alone. Pure.

One pass over the lines, whatever they hold. What looks like a heading inside fenced code, an HTML
comment or `<pre>` is none.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from metier.errors import NotFoundError
from metier.fast import NamedTuple
from metier.standard.plain_text import estimate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from metier.model import Texts

MAX_SECTIONS = 10_000
"""Headings beyond this many are no sections of their own: they stay in the last one."""
MAX_HEADING_CHARS = 200
"""Characters of a heading that name its section."""
UNTITLED = "untitled"
MAX_HINTED_HEADINGS = 20
MAX_LISTED_HEADINGS = 100
"""How many headings a hint names, and how many the details of an error."""
PATH_SEPARATOR = " > "

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r|\Z)")
_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t](.*))?\Z")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*\Z")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})(.*)\Z")
_ITEM = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])(?:[ \t]|\Z)")
_RULES = ({"-"}, {"*"}, {"_"})
_RAW = re.compile(r" {0,3}<(pre|script|style|textarea)(?=[\s>]|\Z)", re.IGNORECASE)


class SectionPart(NamedTuple):
    """One section: from its heading to the next of the same or a higher level, so that a parent
    holds its children.
    """

    heading: str
    """The heading as written, and ` (2)` after it when it is the second of its kind; nothing before
    the first heading."""
    level: int
    line: int
    content: str
    tokens: int
    path: Texts
    """The headings above it, then its own, all as written."""


class _HeadingMark(NamedTuple):
    heading: str
    level: int
    line: int
    at: int
    written: str = ""


def sections(body: str, count: Callable[[str], int] = estimate) -> list[SectionPart]:
    """Take a body apart; a body without headings is one section without a name."""
    marks = _named(_marks(body))
    starts = [mark.at for mark in marks]
    found: list[SectionPart] = []
    before = body[: starts[0]] if starts else body
    if before.strip():
        found.append(SectionPart("", 0, 1, before, count(before), ("",)))
    above: list[_HeadingMark] = []
    for mark, end in zip(marks, _ends(marks, len(body)), strict=True):
        while above and above[-1].level >= mark.level:
            above.pop()
        above.append(mark)
        content = body[mark.at : end]
        found.append(
            SectionPart(
                mark.heading,
                mark.level,
                mark.line,
                content,
                count(content),
                tuple(one.written for one in above),
            )
        )
    return found


def section_named(name: str, wanted: str, parts: Sequence[SectionPart]) -> SectionPart:
    """Find a section by its heading, by `Parent > Heading`, by either in any case, or by its
    slug.
    """
    for part in parts:
        if part.heading == wanted:
            return part
    asked = wanted.strip().lstrip("#").strip()
    for fold in (str, _folded, heading_slug):
        whole = fold(asked)
        key = tuple(fold(word) for word in asked.split(PATH_SEPARATOR))
        if (
            asked and not whole
        ):  # nothing is left of it: that must not mean what stands before the first heading
            break
        for part in parts:
            if fold(part.heading) == whole or (
                len(key) > 1 and tuple(map(fold, part.path))[-len(key) :] == key
            ):
                return part
    raise _unknown(name, wanted, parts)


def heading_slug(heading: str) -> str:
    """Give the last part of a link to a heading: small letters, digits and hyphens."""
    kept = "".join(char for char in heading.casefold() if char.isalnum() or char in " -_")
    return "-".join(kept.split())


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _unknown(name: str, wanted: str, parts: Sequence[SectionPart]) -> NotFoundError:
    headings = [part.heading for part in parts if part.heading]
    hint = "its body has no headings: show all of it"
    if headings:
        hint = f"available: {'; '.join(headings[:MAX_HINTED_HEADINGS])}"
    if len(headings) > MAX_HINTED_HEADINGS:
        hint += f" and {len(headings) - MAX_HINTED_HEADINGS:,} more"
    error = NotFoundError(f"'{name}' has no section '{wanted[:MAX_HEADING_CHARS]}'", hint=hint)
    error.details["available_sections"] = headings[:MAX_LISTED_HEADINGS]
    return error


def _named(marks: list[_HeadingMark]) -> list[_HeadingMark]:
    """Give every section a name of its own: the second `Usage` is `Usage (2)`, unless a heading is
    written so.
    """
    written = {mark.heading for mark in marks}
    used: set[str] = set()
    times: dict[str, int] = {}
    named = []
    for mark in marks:
        heading = mark.heading
        while heading in used or (heading != mark.heading and heading in written):
            times[mark.heading] = times.get(mark.heading, 1) + 1
            heading = f"{mark.heading} ({times[mark.heading]})"
        used.add(heading)
        named.append(mark._replace(heading=heading, written=mark.heading))
    return named


def _ends(marks: list[_HeadingMark], length: int) -> list[int]:
    """Give where each section ends, from the last to the first: only six levels can be open at
    once.
    """
    ends = [length] * len(marks)
    nearest = [length] * 7  # where the next heading of each level begins
    for at in range(len(marks) - 1, -1, -1):
        mark = marks[at]
        ends[at] = min(nearest[1 : mark.level + 1])
        nearest[mark.level] = mark.at
    return ends


def _marks(body: str) -> list[_HeadingMark]:
    """Find the headings."""
    found = islice(_HeadingReader(body).headings(), MAX_SECTIONS)
    return [mark._replace(heading=_title(mark.heading)) for mark in found]


def _title(text: str) -> str:
    return " ".join(text[: 4 * MAX_HEADING_CHARS].split())[:MAX_HEADING_CHARS].strip() or UNTITLED


class _HeadingReader:
    """Where in a body the reader is: in a paragraph, a list, or something whose lines are no
    Markdown.
    """

    def __init__(self, body: str) -> None:
        """Begin before the first line."""
        self.body = body
        self.last_comment_end = body.rfind("-->")
        self.fence = ""
        self.until = ""
        """What ends a stretch of HTML."""
        self.in_list = False
        self.paragraph: tuple[int, int] | None = None
        """Line and offset at which a paragraph began that an underline would make a heading."""
        self.open = False
        """Whether the line before belongs to a paragraph, of whatever kind."""

    def headings(self) -> Iterator[_HeadingMark]:
        """Read line by line."""
        for number, found in enumerate(_LINE.finditer(self.body), 1):
            line = found.group().rstrip("\r\n")
            if self._is_raw(line, found.start()):
                self._end_paragraph()
                continue
            atx = _ATX.match(line)
            if atx:
                yield _HeadingMark(
                    _without_closing(atx[2] or ""), len(atx[1]), number, found.start()
                )
                self._end_paragraph()
                self.in_list = False
            elif self.paragraph and _UNDERLINE.match(line):
                first, start = self.paragraph
                text = self.body[start : min(found.start(), start + 4 * MAX_HEADING_CHARS)]
                yield _HeadingMark(text, 1 if "=" in line else 2, first, start)
                self._end_paragraph()
            else:
                self._text(line, number, found.start())
            self._comment(line, found.start())

    def _is_raw(self, line: str, at: int) -> bool:
        """Tell whether a line is code or HTML, or begins it."""
        if self.until:
            self._end_html(line, at)
            return True
        fence = _FENCE.match(line)
        if self.fence:
            if fence and fence[1].startswith(self.fence) and not fence[2].strip():
                self.fence = ""
            return True
        if (
            fence
            and not (fence[1][0] == "`" and "`" in fence[2])
            and (self.in_list or _indent(line) < 4)
        ):
            self.fence = fence[1]
            return True
        raw = _RAW.match(line)
        if raw:
            self.until = f"</{raw[1].lower()}"
            self._end_html(line, at)
        return raw is not None

    def _end_html(self, line: str, at: int) -> None:
        """See whether HTML ends on a line, and whether a comment begins after it."""
        end = line.lower().find(self.until)
        if end >= 0:
            self.until = ""
            self._comment(line, at, end)

    def _text(self, line: str, number: int, at: int) -> None:
        """Keep in mind which kind of text a line is."""
        was_open = self.open
        if not line.strip() or _is_rule(line):
            self._end_paragraph()
            self.in_list = self.in_list and not line.strip()
            return
        self.open = True
        if _ITEM.match(line):
            self.paragraph = None
            self.in_list = True
        elif line.lstrip(" ").startswith(">"):
            self.paragraph = None
        elif not was_open:  # otherwise it goes on with whatever began
            self.in_list = self.in_list and line[0] in " \t"
            plain = not self.in_list and _indent(line) < 4 and not line.lstrip().startswith("<")
            self.paragraph = (number, at) if plain else None

    def _end_paragraph(self) -> None:
        self.paragraph = None
        self.open = False

    def _comment(self, line: str, at: int, after: int = 0) -> None:
        """Begin a comment that does not end on its own line; one that never ends is none, unless it
        begins a line.
        """
        begin = line.rfind("<!--", after)
        if begin < 0 or "-->" in line[begin + 4 :] or line.count("`", 0, begin) % 2:
            return
        if (begin < 4 and not line[:begin].strip()) or self.last_comment_end > at + begin:
            self.until = "-->"


def _is_rule(line: str) -> bool:
    """Tell whether a line is a thematic break: three or more of one sign and nothing else."""
    signs = line.replace(" ", "").replace("\t", "")
    return len(signs) >= 3 and set(signs) in _RULES and _indent(line) < 4


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" ")) if not line.startswith("\t") else 4


def _without_closing(text: str) -> str:
    """Take the hashes away that close a heading."""
    text = text.strip()
    bare = text.rstrip("#")
    return bare.rstrip() if not bare or bare[-1] in " \t" else text
