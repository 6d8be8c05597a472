"""Turns a skill's Markdown into a page's HTML that can do nothing.

Only elements that are named here come out, whatever goes in: the parser gives tokens, and each
token is written by a rule of this file or as escaped text. No address in a skill is ever followed or
loaded by itself. Findings are marked where they are.
"""

from __future__ import annotations

import posixpath
import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, unquote, urlencode

from markupsafe import Markup, escape

from metier.disclose.sections import heading_slug
from metier.web.visible import plain, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from markdown_it import MarkdownIt
    from markdown_it.token import Token

    from metier.model import Finding

MAX_NESTING = 60
"""Lists and quotations inside each other that are read."""
MAX_BRACKETS, MAX_SIGNS = 3_000, 8_000
"""Brackets, and other signs of Markdown, in one text beyond which it is shown as it is written: the
parser would take too long."""
MAX_UNCLOSED = 300
KEPT_TEXTS = 16
"""Texts that were written lately, and are not written again while nothing in them changes."""
MAX_SHOWN_ADDRESS = 200
MAX_DEFINITIONS = 100
OUT_SCHEMES = ("http://", "https://", "mailto:", "//")
LEAST_EVIDENCE = 24
"""Characters of evidence that are enough to find its place, where a text does not have all of it."""
TAGS = {
    "paragraph": "p",
    "bullet_list": "ul",
    "list_item": "li",
    "blockquote": "blockquote",
    "table": "table",
    "thead": "thead",
    "tbody": "tbody",
    "tr": "tr",
    "th": "th",
    "td": "td",
    "strong": "strong",
    "em": "em",
    "s": "s",
}
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:")
_LONE_RETURN = re.compile("\r(?!\n)")


class MarkedFinding(NamedTuple):
    """A finding with the number that the page gives it."""

    number: int
    finding: Finding
    waived: str = ""
    """Why it does not count; nothing where it does."""


class SkillFindings(NamedTuple):
    """What was found in one skill, numbered for the page."""

    marked: tuple[MarkedFinding, ...]
    level: str
    score: int

    def in_file(self, path: str) -> tuple[MarkedFinding, ...]:
        """Give what was found in one file."""
        return tuple(one for one in self.marked if one.finding.path == path)


class SkillLinks(NamedTuple):
    """Where links inside a skill lead."""

    base: str
    """The address of the skill."""
    files: frozenset[str] = frozenset()
    folder: str = ""
    """The folder of the file that is shown, below the skill's."""

    def to_file(self, path: str) -> str:
        """Give the address of a file's page."""
        return f"{self.base}/files/{quote_path(path)}"

    def named(self, href: str) -> str:
        """Give the file that a link means; nothing where the skill has none such."""
        path = unquote(href.partition("#")[0].partition("?")[0])
        found = posixpath.normpath(posixpath.join(self.folder, path)) if path else ""
        return found if found in self.files else ""


def quote_path(path: str) -> str:
    """Write a file's path for an address, whatever bytes it is made of."""
    return quote(path.encode("utf-8", "surrogateescape"))


def settle_lines(text: str) -> str:
    """Have lines end where the scan has them end, and show what would be taken out."""
    return _LONE_RETURN.sub("␍", text).replace("\r\n", "\n").replace("\0", "␀")


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    options = {"html": False, "linkify": False, "typographer": False, "maxNesting": MAX_NESTING}
    return MarkdownIt("commonmark", options).enable(["table", "strikethrough"])


@lru_cache(KEPT_TEXTS)
def render_markdown(
    text: str, links: SkillLinks, findings: tuple[MarkedFinding, ...] = (), first_line: int = 1
) -> Markup:
    """Write a text as HTML, with findings at their lines, which count from `first_line`."""
    text = settle_lines(text)
    if _takes_long(text):
        return source_block(text, findings, first_line)
    known: dict[str, object] = {}
    tokens = _parser().parse(text, known)
    if any(token.level >= MAX_NESTING - 2 for token in tokens):  # what lies deeper is left out
        return source_block(text, findings, first_line)
    writer = _Writer(links, findings, first_line)
    writer.blocks(tokens)
    writer.definitions(known.get("references"))
    writer.leftovers()
    return Markup("".join(writer.out))  # noqa: S704 - every part was escaped when it was added


def _takes_long(text: str) -> bool:
    opened, closed = map(text.count, "[]")
    return (
        opened + closed > MAX_BRACKETS
        or abs(opened - closed) > MAX_UNCLOSED
        or sum(map(text.count, "*_~|")) > MAX_SIGNS
    )


def source_block(text: str, findings: Sequence[MarkedFinding], first_line: int) -> Markup:
    """Write a text as it is, with findings at their lines."""
    writer = _Writer(SkillLinks(""), findings, first_line)
    writer.code(settle_lines(text), first_line)
    writer.leftovers()
    return Markup("".join(writer.out))  # noqa: S704 - as above


def note_of(marked: MarkedFinding, base: str = "") -> Markup:
    """Say what was found, beside its place; `base` is the page that lists all findings."""
    found = marked.finding
    waived = Markup("<p>Does not count: {}</p>").format(visible(marked.waived))
    return Markup(
        '<aside class="note {0}" id="note-{1}" aria-label="Finding {1}">'
        '<p><a href="{7}#finding-{1}">{1}</a> <strong>{0}</strong> <code>{2}</code>{3} {4}</p>{5}{6}'
        "</aside>"
    ).format(
        found.severity,
        marked.number,
        found.rule,
        f" line {found.line}:" if found.line else "",
        visible(found.why),
        Markup('<p class="hint">{}</p>').format(visible(found.hint)) if found.hint else "",
        waived if marked.waived else "",
        base,
    )


def flag_of(marked: MarkedFinding) -> Markup:
    """Give the small link from a place to what was found there."""
    found = marked.finding
    return Markup(
        '<a class="flag {0}" href="#note-{1}" aria-label="Finding {1}, {0}: {2}">{1}</a>'
    ).format(found.severity, marked.number, found.rule)


def mark_spans(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Escape a text with some of it marked."""
    done, parts = 0, []
    for start, end in sorted(spans):
        if end <= done:
            continue
        at = max(start, done)
        parts += [visible(text[done:at]), "<mark>", visible(text[at:end]), "</mark>"]
        done = end
    return "".join((*parts, visible(text[done:])))


def span_of(text: str, finding: Finding) -> tuple[int, int] | None:
    """Find what a finding saw in a text; nothing where it is not there as such."""
    seen = finding.evidence
    if not seen:
        return None
    at = text.find(seen)
    if at < 0:
        at = text.find(seen[:LEAST_EVIDENCE])
    if at >= 0:
        return at, min(len(text), at + len(seen))
    kept = text.strip()
    return (0, len(text)) if len(kept) > 3 and kept in seen else None


class _TextPiece(NamedTuple):
    """A text inside a block, with the line it is on."""

    at: int
    line: int
    text: str


class _Writer:
    """Writes tokens one after the other, and what was found where it stands."""

    def __init__(
        self, links: SkillLinks, findings: Sequence[MarkedFinding], first_line: int
    ) -> None:
        self.links = links
        self.first_line = first_line
        self.out: list[str] = []
        self.waiting = sorted(findings, key=lambda one: one.finding.line)
        self.notes: list[MarkedFinding] = []
        """What was marked, and is said as soon as a block ends."""
        self.flags: list[str] = []
        """Links that wait for another link to end."""
        self.ids: dict[str, int] = {}
        self.row_line = first_line
        self.in_table = False
        self.linked: list[str] = []
        """How each link that is open will be closed."""

    # --- blocks

    def blocks(self, tokens: Iterable[Token]) -> None:
        for token in tokens:
            self._block(token)

    def _block(self, token: Token) -> None:
        kind, _line, edge = token.type.rpartition("_")
        if token.map is not None:
            self.row_line = self.first_line + token.map[0]
        if token.type == "inline":
            self._inline(token)
        elif token.type in {"fence", "code_block"}:
            self.code(token.content, self.row_line + (token.type == "fence"))
        elif token.type == "hr":
            self.out.append("<hr>\n")
        elif kind == "heading":
            self._heading(token, is_open=edge == "open")
        elif kind == "ordered_list":
            start = str(token.attrs.get("start", ""))
            number = f' start="{start}"' if start.isdigit() and len(start) < 10 else ""
            self.out.append(f"<ol{number}>" if edge == "open" else "</ol>\n")
        elif kind in TAGS:
            self._element(kind, token, is_open=edge == "open")
        else:
            self.out.append(visible(token.content))

    def _element(self, kind: str, token: Token, *, is_open: bool) -> None:
        if not token.hidden:
            self.out.append(f"<{'' if is_open else '/'}{TAGS[kind]}>")
        if kind == "table":
            self.in_table = is_open
        if not is_open and kind in {"paragraph", "table"}:
            self._say_notes()

    def _heading(self, token: Token, *, is_open: bool) -> None:
        level = min(6, int(token.tag[1]) + 2)
        if not is_open:
            self.out.append(f"</h{level}>\n")
            self._say_notes()
            return
        self.out.append(f"<h{level} id=@>")  # its name comes with its text

    def code(self, text: str, line: int) -> None:
        """Write lines as they are."""
        lines = text.removesuffix("\n").split("\n")
        here = self._take(line, line + len(lines))
        by_line: dict[int, list[MarkedFinding]] = {}
        for one in here:
            by_line.setdefault(one.finding.line, []).append(one)
        self.out.append('<pre class="wrap" tabindex="0"><code>')
        for number, words in enumerate(lines, line):
            found = by_line.get(number, ())
            spans = [span_of(words, one.finding) or (0, len(words)) for one in found]
            self.out += [mark_spans(words, spans), *map(flag_of, found), "\n"]
        self.out.append("</code></pre>\n")
        self.notes += here
        self._say_notes()

    def _take(self, start: int, end: int) -> list[MarkedFinding]:
        """Take what was found on some lines; each is taken once."""
        found = [one for one in self.waiting if start <= one.finding.line < end]
        if found:
            self.waiting = [one for one in self.waiting if one not in found]
        return found

    def _say_notes(self) -> None:
        if self.in_table or not self.notes:
            return
        self.out += map(note_of, self.notes)
        self.notes = []

    def leftovers(self) -> None:
        """Say what was found where nothing is shown."""
        self.notes += self.waiting
        self.waiting = []
        self._say_notes()

    def definitions(self, known: object) -> None:
        """Show the addresses that links by name go to: they may hold words too."""
        if not isinstance(known, dict) or not known:
            return
        self.out.append('<ul class="definitions">')
        for label, one in list(known.items())[:MAX_DEFINITIONS]:
            told = f"[{label}]: {one.get('href', '')} {one.get('title', '')}"
            self.out += ["<li><code>", visible(told[:2_000]), "</code></li>"]
        self.out.append("</ul>\n")

    # --- words in a block

    def _inline(self, token: Token) -> None:
        children = token.children or []
        start = self.first_line + token.map[0] if token.map else self.row_line
        end = self.first_line + token.map[1] if token.map else start + 1
        here = self._take(start, end)
        spans, flags = _place(children, start, here) if here else ({}, {})
        if self.out and self.out[-1].endswith("id=@>"):
            self.out[-1] = self.out[-1].replace("@", f'"{self._id_of(children)}"')
        for at, child in enumerate(children):
            self._word(child, spans.get(at, ()))
            if at in flags:
                self.flags += map(flag_of, flags[at])
            if self.flags and not self.linked:
                self.out += self.flags
                self.flags = []
        self.notes += here

    def _word(self, token: Token, spans: Iterable[tuple[int, int]]) -> None:
        kind, _line, edge = token.type.rpartition("_")
        if token.type == "text":
            self.out.append(mark_spans(token.content, spans))
        elif token.type == "code_inline":
            self.out += ["<code>", mark_spans(token.content, spans), "</code>"]
        elif token.type == "softbreak":
            self.out.append("\n")
        elif token.type == "hardbreak":
            self.out.append("<br>\n")
        elif token.type == "image":
            self._image(token)
        elif kind == "link":
            self._link(token, is_open=edge == "open")
        elif kind in TAGS:
            self.out.append(f"<{'' if edge == 'open' else '/'}{TAGS[kind]}>")
        else:
            self.out.append(visible(token.content))

    def _id_of(self, children: Iterable[Token]) -> str:
        text = "".join(one.content for one in children if one.type in {"text", "code_inline"})
        slug = heading_slug(text)[:80] or "part"
        count = self.ids[slug] = self.ids.get(slug, 0) + 1
        return str(escape(f"t-{slug}" + (f"-{count}" if count > 1 else "")))

    def _link(self, token: Token, *, is_open: bool) -> None:
        if not is_open:
            self.out.append(self.linked.pop() if self.linked else "")
            return
        href = str(token.attrs.get("href", ""))
        title = str(token.attrs.get("title", ""))
        opening, closing = _link_tags(href, self.links)
        if title:
            closing += Markup(" <small>“{}”</small>").format(visible(title[:MAX_SHOWN_ADDRESS]))
        self.out.append(opening)
        self.linked.append(closing)

    def _image(self, token: Token) -> None:
        """Stand in for an image: nothing is loaded before somebody asks for it."""
        href = str(token.attrs.get("src", ""))
        words = visible(token.content or "without a description")
        if self.linked or href.startswith("data:"):
            self.out.append(Markup('<span class="image">Image: {}</span>').format(words))
            return
        opening, closing = _link_tags(href, self.links)
        self.out.append(
            Markup('<span class="image">Image: {}{}{}</span>').format(opening, words, closing)
        )


def _place(
    children: Sequence[Token], start: int, findings: Sequence[MarkedFinding]
) -> tuple[dict[int, list[tuple[int, int]]], dict[int, list[MarkedFinding]]]:
    """Find which words of a block were meant, by their line and by what was seen; where that says
    nothing, all words of the line are marked.
    """
    pieces, line = [], start
    for at, child in enumerate(children):
        if child.type in {"text", "code_inline"} and child.content:
            pieces.append(_TextPiece(at, line, child.content))
        line += child.type in {"softbreak", "hardbreak"}
    spans: dict[int, list[tuple[int, int]]] = {}
    flags: dict[int, list[MarkedFinding]] = {}
    for one in findings:
        own = [piece for piece in pieces if piece.line == one.finding.line] or pieces
        found = _spans_in(own, one.finding) or _spans_in(pieces, one.finding)
        if not found:
            found = [(piece.at, (0, len(piece.text))) for piece in own]
        for at, span in found:
            spans.setdefault(at, []).append(span)
        last = found[-1][0] if found else len(children) - 1
        flags.setdefault(last, []).append(one)
    return spans, flags


def _spans_in(pieces: Iterable[_TextPiece], finding: Finding) -> list[tuple[int, tuple[int, int]]]:
    found = ((piece.at, span_of(piece.text, finding)) for piece in pieces)
    return [(at, span) for at, span in found if span is not None]


def _link_tags(href: str, links: SkillLinks) -> tuple[Markup, Markup]:
    """Give what stands before and after the words of a link."""
    told = plain(href)[:MAX_SHOWN_ADDRESS]
    if href.startswith("#"):
        return Markup('<a href="#t-{}">').format(heading_slug(unquote(href[1:]))), Markup("</a>")
    if href.lower().startswith(OUT_SCHEMES):
        where = "/leave?" + urlencode({"to": href[:2_000]}, errors="replace")
        opening = Markup('<a class="out" href="{}" title="{}" rel="nofollow noreferrer">')
        return opening.format(where, told), Markup("</a>")
    file = "" if _SCHEME.match(href) else links.named(href)
    if file:
        return Markup('<a href="{}">').format(links.to_file(file)), Markup("</a>")
    return Markup('<span class="nolink">'), Markup(" (<code>{}</code>)</span>").format(told)


def finding_lines(findings: Iterable[MarkedFinding]) -> Mapping[int, list[MarkedFinding]]:
    """Give findings by the line they are on."""
    found: dict[int, list[MarkedFinding]] = {}
    for one in findings:
        found.setdefault(one.finding.line, []).append(one)
    return found
