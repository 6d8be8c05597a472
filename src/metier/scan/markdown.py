"""Where things stand in a Markdown file: what is prose, what is code, and what a reader of the page would never see.

One pass over the lines, without a Markdown library: the question is who reads a stretch and how, not how it is drawn.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from metier.scan.text import Text, edited

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HINT_CHARS = 400  # how far above a stretch its introduction is looked for


class Segment(NamedTuple):
    """A stretch of the text. Blocks do not overlap; the inline ones lie inside the block that holds them."""

    place: str
    """frontmatter, heading, prose, list, quote, fence, code, table, html-comment, html;
    inline: code-span, alt, link-title, image-url, link-url."""
    start: int
    end: int
    lang: str = ""
    """The first word after the fence."""
    heading: int = -1
    """Where the heading above begins."""
    quoted: bool = False
    """The fence stands in a quotation, so its lines begin with `>`."""


_FRONT = re.compile(r"\ufeff?(?:[ \t]*\r?\n)*---[ \t]*\r?\n")
_FRONT_END = re.compile(r"^---[ \t]*\r?$", re.MULTILINE)
_LIST = r"(?:[-*+]|\d{1,9}[.)])(?=[ \t])"
_LINE = re.compile(
    rf"""[ \t]*(?:
      (?P<fence>(?P<lead>(?:>[> \t]*)?(?:{_LIST}[ \t]+)?)
        (?:(?P<ticks>`{{3,}})(?=[^`\n]*$)|(?P<tildes>~{{3,}}))[ \t]*(?P<lang>[^\s`{{,]*)[^\n]*)
    | (?P<heading>\#{{1,6}}(?=[ \t\r]|$)[^\n]*)
    | (?P<quote>>[^\n]*)
    | (?P<rule>(?:=+|-+)[ \t\r]*$)
    | (?P<list>{_LIST}[^\n]*)
    | (?P<table>\|[^\n]*)
    | (?P<html></?[a-zA-Z][^\n]*)
    | (?P<define>\[(?P<label>[^\[\]\n]*)\]:[ \t]*(?P<target>[^\n]*))
    | (?P<prose>[^\s][^\n]*)
    | (?P<blank>[^\n]*)
    )$""",
    re.VERBOSE | re.MULTILINE,
)
_UNQUOTED = re.compile(r"^(?![ \t]*>)", re.MULTILINE)
_QUOTING = re.compile(r"^[ \t]*>[ \t]?", re.MULTILINE)
_INDENT = re.compile(r"^[ \t]*(?=[^\s])", re.MULTILINE)
_TARGET = re.compile(r"<?([^\s>]*)>?(?:[ \t]+[\"'(]([^\n]*))?")
_INLINE = re.compile(
    r"""`(?P<span>[^`\n]+)`
    | \[(?P<alt>[^\[\]]*)\]\([ \t]*<?(?P<url>[^)>\s]*)>?(?:[ \t]+["'(](?P<title>[^"'()\n]*))?
    | \]\([ \t]*<?(?P<outer>[^)>\s]*)
    | <(?P<auto>https?://[^\s<>]*)
    | <(?P<tag>img|a)[ \t\n](?P<attributes>[^<>]*)
    """,
    re.VERBOSE,
)
_ATTRIBUTE = re.compile(r"\b(alt|title|src|href)[ \t]{0,9}=[ \t]{0,9}[\"']([^\"']*)", re.IGNORECASE)
_ATTRIBUTES = {"alt": "alt", "title": "link-title", "src": "image-url", "href": "link-url"}
_WITH_INLINE = frozenset(("heading", "prose", "list", "quote", "table", "html"))
_EXAMPLE = re.compile(
    r"\b(?:examples?|samples?|e\.g\.|for instance|bad|unsafe|vulnerable|insecure|avoid|don'?t|do not|never|anti-?patterns?|wrong"
    r"|incorrect|attack(?:s|er|ers)?|malicious|exploits?|payloads?|red flags?|dangerous|suspicious|detect(?:s|ed|ion|ing)?"
    r"|test cases?|fixtures?|refuse|reject|block(?:s|ed)?|forbidden|prohibited)\b|[\u274c\u26d4\u2717\u2718\U0001f6ab]",
    re.IGNORECASE,
)
_NOT = re.compile(r"\b(?:never|don'?t|do not|avoid|must not|refuse)\b", re.IGNORECASE)
_AGAINST = re.compile(r"\b(?:never|don'?t|do not|avoid|must not|refuse to)[ \t]+(?:\w+[ \t]+){0,4}$", re.IGNORECASE)
_REMARK = ("#", "//", "--", ";", "<!--")
_TOLD = re.compile(
    r"\b(?:run|execut(?:e|es|ing)|running|paste|install(?:s|ing|ation)?|copy|type|enter|launch|invoke|issue|perform|start|use|call|do)\b",
    re.IGNORECASE,
)


def segments(text: str) -> list[Segment]:
    """Cut a Markdown text into its stretches, in order of their beginnings."""
    found: list[Segment] = []
    for block in _Blocks(text).cut():
        found.append(block)
        if block.place in _WITH_INLINE:
            found += _inline(text, block)
    return found


def code_of(text: str, segment: Segment) -> Text:
    """Give a fence's code without the indentation and quotation marks of what it stands in; places count from its start."""
    code = text[segment.start:segment.end]
    first = code.lstrip("\n")[:1]
    if segment.quoted:
        return edited(Text(code), ((found.start(), found.end(), "") for found in _QUOTING.finditer(code)))
    if first not in (" ", "\t"):
        return Text(code)
    width = min((len(found[0]) for found in _INDENT.finditer(code)), default=0)
    return edited(Text(code), ((found.start(), found.start() + width, "") for found in _INDENT.finditer(code)))


def context(text: str, segment: Segment) -> frozenset[str]:
    """Say how a stretch is introduced: shown as an `example`, or the reader is `told` to run it."""
    code = segment.place in ("fence", "code")
    above = _line_above(text, segment)
    heading = "" if segment.heading < 0 else _first_line(text, segment.heading)
    first = _first_line(text, segment.start).lstrip() if code else ""
    hints = {"example"} if segment.place == "code-span" and _AGAINST.search(_before(text, segment.start)) else set()
    if _EXAMPLE.search(heading) or _EXAMPLE.search(above) or (first.startswith(_REMARK) and _EXAMPLE.search(first)):
        hints.add("example")
    if code and _TOLD.search(above) and not _NOT.search(above):
        hints.add("told")
    return frozenset(hints)


def _line_above(text: str, segment: Segment) -> str:
    """Give the last line above that says something; a fence's own line says nothing."""
    above = text[max(0, segment.start - HINT_CHARS):segment.start].rpartition("\n")[0]
    if segment.place == "fence":
        above = above.rpartition("\n")[0]
    return above.rstrip().rpartition("\n")[2]


def _before(text: str, at: int) -> str:
    """Give what stands on a line before a code span, without the mark that opens it."""
    return text[max(0, at - 80) : at].rpartition("\n")[2].rstrip("`")


def _first_line(text: str, at: int) -> str:
    return text[at:at + HINT_CHARS].partition("\n")[0]


class _Blocks:
    """The pass over the lines: which block is open, and which heading stands above it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.found: list[Segment] = []
        self.place = ""  # the open block, when there is one
        self.start = self.end = 0
        self.heading = -1
        self.in_list = False
        self.after_blank = True
        self.comment = text.find("<!--")  # the next one
        self.quote_end = -1

    def cut(self) -> list[Segment]:
        """Give the blocks in order."""
        text, size = self.text, len(self.text)
        at, line_end = self._frontmatter(), -1
        while at < size:
            if at > line_end:
                line_end = text.find("\n", at)
                line_end = size if line_end < 0 else line_end
            hole = self._hole(at, line_end)
            line = _line(text, at, line_end if hole < 0 else hole)
            if line.lastgroup == "fence":
                at = self._fence(line if hole < 0 else _line(text, at, line_end))
            elif hole < 0:
                self._take(line)
                at = line_end + 1
            else:
                if line.lastgroup != "blank":
                    self._take(line)
                at = self._comment(hole)
        self._flush()
        return self.found

    def _frontmatter(self) -> int:
        opening = _FRONT.match(self.text)
        closing = opening and _FRONT_END.search(self.text, opening.end())
        if opening is None or closing is None:
            return 0
        self.found.append(Segment("frontmatter", opening.end(), closing.start()))
        return closing.end() + 1

    def _flush(self) -> None:
        if self.place:
            if self.place == "heading":
                self.heading = self.start
            self.found.append(Segment(self.place, self.start, self.end, "", self.heading))
            self.place = ""

    def _hole(self, at: int, end: int) -> int:
        """Give the place of a comment that begins on this line, outside a code span; -1 when there is none."""
        while -1 < self.comment < end:
            if self.comment < at:
                self.comment = self.text.find("<!--", at)
                continue
            close = self.text.find("`", self.comment, end) if self.text.count("`", at, self.comment) % 2 else -1
            if close < 0:
                return self.comment
            at = close + 1
        return -1

    def _comment(self, start: int) -> int:
        self._flush()
        close = self.text.find("-->", start + 4)
        end = len(self.text) if close < 0 else close + 3
        self.found.append(Segment("html-comment", start, end, "", self.heading))
        return end

    def _fence(self, line: re.Match[str]) -> int:
        """Take the code up to the fence that closes it, to the end of the quotation it stands in, or to the end of all."""
        self._flush()
        text, start = self.text, min(line.end() + 1, len(self.text))
        limit = len(text)
        if ">" in line["lead"]:
            if start > self.quote_end:
                outside = _UNQUOTED.search(text, start)
                self.quote_end = outside.start() if outside else limit
            limit = self.quote_end
        end, after = _closing(text, line["ticks"] or line["tildes"], start, limit)
        self.found.append(Segment("fence", start, end, line["lang"].lower(), self.heading, ">" in line["lead"]))
        self.after_blank = True
        return after

    def _take(self, line: re.Match[str]) -> None:
        """Take one line into the open block, or close that one and open another."""
        kind = line.lastgroup
        if kind == "blank":
            self.after_blank = True
            if self.place != "code":
                self._flush()
            return
        if kind == "rule" and self.place == "prose":  # underlined: what looked like prose was a heading
            self.place, self.end = "heading", line.end()
            self._flush()
        elif kind == "define":
            self._flush()
            self.found += _definition(line, self.heading)
        elif kind != "rule":
            self._grow(self._kind(line, kind or "prose"), line)
        self.after_blank = False

    def _grow(self, place: str, line: re.Match[str]) -> None:
        if self.place != place or place == "heading":
            self._flush()
            self.place, self.start = place, line.start()
        self.end = line.end()

    def _kind(self, line: re.Match[str], kind: str) -> str:
        """Say what a line is, given the lines before it."""
        lead = line.string[line.start():line.start() + 4]
        indented = lead[:1] in (" ", "\t")
        if (lead == "    " or lead[:1] == "\t") and not self.in_list and (self.after_blank or self.place == "code"):
            return "code"
        if kind == "list":
            self.in_list = True
        elif kind == "prose" and not self.after_blank and self.place in ("list", "quote"):
            return self.place
        elif kind == "prose" and self.in_list and indented:
            return "list"
        elif not indented:
            self.in_list = False
        return kind


def _line(text: str, at: int, end: int) -> re.Match[str]:
    found = _LINE.match(text, at, end)
    assert found is not None  # its last alternative takes anything
    return found


def _closing(text: str, mark: str, at: int, limit: int) -> tuple[int, int]:
    """Find the line that closes a fence: where the code ends, and where the text goes on. Each line is looked at once."""
    while (found := text.find(mark, at, limit)) >= 0:
        begin = text.rfind("\n", at - 1, found) + 1 or at
        end = text.find("\n", found, limit)
        end = limit if end < 0 else end
        if not text[begin:found].strip(" \t>") and not text[found:end].lstrip(mark[0]).strip():
            return begin, end + 1
        at = end + 1
    return limit, limit


def _definition(line: re.Match[str], heading: int) -> Iterator[Segment]:
    """Read a reference definition; one that leads nowhere, or says whole sentences, is a comment that no page shows."""
    start, end = line.span("define")
    target = _TARGET.match(line.string, line.start("target"), end)
    if line["label"].startswith("^") or target is None:
        yield Segment("prose", start, end, "", heading)
        return
    if target[1] in ("", "#", "<") or line["label"].count(" ") > 5:
        yield Segment("html-comment", start, end, "", heading)
        return
    yield Segment("link-url", *target.span(1), "", heading)
    if target[2]:
        yield Segment("link-title", *target.span(2), "", heading)


def _inline(text: str, block: Segment) -> Iterator[Segment]:
    """Find what is set inside a block's lines."""
    heading = block.heading
    for found in _INLINE.finditer(text, block.start, block.end):
        if found["span"]:
            yield Segment("code-span", *found.span("span"), "", heading)
        elif found["tag"]:
            yield from _attributes(text, found, heading)
        elif found["alt"] is not None and text.startswith("!", found.start() - 1):
            yield Segment("alt", *found.span("alt"), "", heading)
            yield Segment("image-url", *found.span("url"), "", heading)
        else:
            name = found.lastgroup if found.lastgroup in ("outer", "auto") else "url"
            yield Segment("link-url", *found.span(name), "", heading)
        if found["title"]:
            yield Segment("link-title", *found.span("title"), "", heading)


def _attributes(text: str, tag: re.Match[str], heading: int) -> Iterator[Segment]:
    for found in _ATTRIBUTE.finditer(text, *tag.span("attributes")):
        yield Segment(_ATTRIBUTES[found[1].lower()], *found.span(2), "", heading)


BLOCKS = frozenset(("frontmatter", "heading", "prose", "list", "quote", "fence", "code", "table", "html-comment", "html"))


def block_at(cut: Sequence[Segment], at: int) -> Segment | None:
    """Give the block that a place lies in; nothing between blocks."""
    number = bisect_right(cut, at, key=lambda segment: segment.start) - 1
    while number >= 0 and (cut[number].place not in BLOCKS or cut[number].end <= at):
        if cut[number].place in BLOCKS:
            return None
        number -= 1
    return cut[number] if number >= 0 else None
