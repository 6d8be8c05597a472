"""Where things stand in a Markdown file: what is prose, what is code, and what a reader of the page
would never see.

One pass over the lines, without a Markdown library: the question is who reads a stretch and how,
not how it is drawn.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from metier.scan.languages.text import MappedText, edited
from metier.scan.model import word_set
from metier.scan.tongues import says_attack, says_example, says_to_run

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from metier.scan.model import RuleHit

HINT_CHARS = 400  # how far above a stretch its introduction is looked for
MAX_KNOWN_LINES = 1 << 10
"""Headings and introductions of which it is kept whether they announce an example."""


class MarkdownSegment(NamedTuple):
    """A stretch of the text. Blocks do not overlap; the inline ones lie inside the block that holds
    them.
    """

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
_INLINE_SIGNS = ("`", "](", "<")
"""What stands in all of these."""
_ATTRIBUTE = re.compile(r"\b(alt|title|src|href)[ \t]{0,9}=[ \t]{0,9}[\"']([^\"']*)", re.IGNORECASE)
_ATTRIBUTES = {"alt": "alt", "title": "link-title", "src": "image-url", "href": "link-url"}
_WITH_INLINE = word_set("heading prose list quote table html")
_EXAMPLE = re.compile(
    r"\b(?:examples?|samples?|e\.g\.|for instance|bad|unsafe|vulnerable|insecure|avoid|don'?t|do not|never|anti-?patterns?|wrong"
    r"|incorrect|attack(?:s|er|ers)?|malicious|exploits?|payloads?|red flags?|dangerous|suspicious|detect(?:s|ed|ion|ing)?"
    r"|test cases?|fixtures?|refuse|reject|block(?:s|ed)?|forbidden|prohibited)\b|\bnot\b\W{0,4}$|[\u274c\u26d4\u2717\u2718\U0001f6ab]",
    re.IGNORECASE,
)
_WORD_OR_SIGN = re.compile(r"[^\W\d_]+|[\u274c\u26d4\u2717\u2718\U0001f6ab]")
_EXAMPLE_WORDS = word_set(
    "example examples sample samples e for bad unsafe vulnerable insecure avoid don dont do never "
    "anti antipattern antipatterns wrong incorrect attack attacks attacker attackers malicious "
    "exploit exploits payload payloads red dangerous suspicious detect detects detected detection "
    "detecting test fixture fixtures refuse reject block blocks blocked forbidden prohibited not "
    "\u274c \u26d4 \u2717 \u2718 \U0001f6ab"
)
"""One of them, or a part of it, stands in whatever that pattern finds."""
_NOT = re.compile(r"\b(?:never|don'?t|do not|avoid|must not|refuse)\b", re.IGNORECASE)
_AGAINST = re.compile(
    r"\b(?:never|don'?t|do not|avoid|must not|refuse to)[ \t]+(?:\w+[ \t]+){0,4}$", re.IGNORECASE
)
_REMARK = ("#", "//", "--", ";", "<!--")
_TOLD = re.compile(
    r"\b(?:run|execut(?:e|es|ing)|running|paste|install(?:s|ing|ation)?|copy|type|enter|launch|invoke|issue|perform|start|use|call|do)\b",
    re.IGNORECASE,
)


def segments(text: str) -> list[MarkdownSegment]:
    """Cut a Markdown text into its stretches, in order of their beginnings."""
    found = []
    for block in _Blocks(text).cut():
        found.append(block)
        if block.place in _WITH_INLINE and any(
            text.find(sign, block.start, block.end) >= 0 for sign in _INLINE_SIGNS
        ):
            found += _inline(text, block)
    return found


def code_of(text: str, segment: MarkdownSegment) -> MappedText:
    """Give a fence's code without the indentation and quotation marks of what it stands in; places
    count from its start.
    """
    code = text[segment.start : segment.end]
    first = code.lstrip("\n")[:1]
    if segment.quoted:
        return edited(
            MappedText(code),
            ((found.start(), found.end(), "") for found in _QUOTING.finditer(code)),
        )
    if first not in (" ", "\t"):
        return MappedText(code)
    width = min((len(found[0]) for found in _INDENT.finditer(code)), default=0)
    return edited(
        MappedText(code),
        ((found.start(), found.start() + width, "") for found in _INDENT.finditer(code)),
    )


def context(text: str, segment: MarkdownSegment) -> frozenset[str]:
    """Say how a stretch is introduced: shown as an `example`, or the reader is `told` to run it."""
    code = segment.place in ("fence", "code")
    above = _line_above(text, segment)
    heading = "" if segment.heading < 0 else _first_line(text, segment.heading)
    first = _first_line(text, segment.start).lstrip() if code else ""
    before = text[max(0, segment.start - 80) : segment.start].rpartition("\n")[2].rstrip("`")
    hints = set()
    if (
        (segment.place == "code-span" and _AGAINST.search(before))
        or _shows(heading)
        or _shows(above)
        or (first.startswith(_REMARK) and _EXAMPLE.search(first))
    ):
        hints.add("example")
    if code and (_TOLD.search(above) or says_to_run(above)) and not _NOT.search(above):
        hints.add("told")
    return frozenset(hints)


@lru_cache(MAX_KNOWN_LINES)  # all that stands under a heading asks for it
def _shows(line: str) -> bool:
    """Tell whether a line says that what follows is shown and not told."""
    said = _WORD_OR_SIGN.findall(line.lower())
    shown = not _EXAMPLE_WORDS.isdisjoint(said) and _EXAMPLE.search(line) is not None
    return shown or says_example(line)


def _line_above(text: str, segment: MarkdownSegment) -> str:
    """Give the last line above that says something; a fence's own line says nothing."""
    above = text[max(0, segment.start - HINT_CHARS) : segment.start].rpartition("\n")[0]
    if segment.place == "fence":
        above = above.rpartition("\n")[0]
    return above.rstrip().rpartition("\n")[2]


def _first_line(text: str, at: int) -> str:
    return text[at : at + HINT_CHARS].partition("\n")[0]


class _Blocks:
    """The pass over the lines: which block is open, and which heading stands above it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.found: list[MarkdownSegment] = []
        self.place = ""  # the open block, when there is one
        self.start = self.end = 0
        self.heading = -1
        self.in_list = False
        self.after_blank = True
        self.comment = text.find("<!--")  # the next one
        self.quote_end = -1

    def cut(self) -> list[MarkdownSegment]:
        """Give the blocks in order."""
        text = self.text
        size = len(self.text)
        at = self._frontmatter()
        line_end = -1
        while at < size:
            if at > line_end:
                line_end = text.find("\n", at)
                line_end = size if line_end < 0 else line_end
            if text[at].isalpha() and not -1 < self.comment < line_end:
                self._take("prose", at, line_end)  # as most lines are: there is nothing to look for
                at = line_end + 1
                continue
            hole = self._hole(at, line_end)
            line = _line(text, at, line_end if hole < 0 else hole)
            if line.lastgroup == "fence":
                at = self._fence(line if hole < 0 else _line(text, at, line_end))
            elif hole < 0:
                self._take_line(line)
                at = line_end + 1
            else:
                if line.lastgroup != "blank":
                    self._take_line(line)
                at = self._comment(hole)
        self._flush()
        return self.found

    def _frontmatter(self) -> int:
        opening = _FRONT.match(self.text)
        closing = opening and _FRONT_END.search(self.text, opening.end())
        if opening is None or closing is None:
            return 0
        self.found.append(MarkdownSegment("frontmatter", opening.end(), closing.start()))
        return closing.end() + 1

    def _flush(self) -> None:
        if self.place:
            if self.place == "heading":
                self.heading = self.start
            self.found.append(
                MarkdownSegment(self.place, self.start, self.end, heading=self.heading)
            )
            self.place = ""

    def _hole(self, at: int, end: int) -> int:
        """Give the place of a comment that begins on this line, outside a code span; -1 when there
        is none.
        """
        while -1 < self.comment < end:
            if self.comment < at:
                self.comment = self.text.find("<!--", at)
                continue
            close = (
                self.text.find("`", self.comment, end)
                if self.text.count("`", at, self.comment) % 2
                else -1
            )
            if close < 0:
                return self.comment
            at = close + 1
        return -1

    def _comment(self, start: int) -> int:
        self._flush()
        close = self.text.find("-->", start + 4)
        end = len(self.text) if close < 0 else close + 3
        self.found.append(MarkdownSegment("html-comment", start, end, heading=self.heading))
        return end

    def _fence(self, line: re.Match[str]) -> int:
        """Take the code up to the fence that closes it, to the end of the quotation it stands in,
        or to the end of all.
        """
        self._flush()
        text = self.text
        start = min(line.end() + 1, len(self.text))
        limit = len(text)
        if ">" in line["lead"]:
            if start > self.quote_end:
                outside = _UNQUOTED.search(text, start)
                self.quote_end = outside.start() if outside else limit
            limit = self.quote_end
        end, after = _closing(text, line["ticks"] or line["tildes"], start, limit)
        self.found.append(
            MarkdownSegment(
                "fence", start, end, line["lang"].lower(), self.heading, ">" in line["lead"]
            )
        )
        self.after_blank = True
        return after

    def _take_line(self, line: re.Match[str]) -> None:
        """Take one line of any kind."""
        kind = line.lastgroup or "prose"
        if kind == "blank":
            self.after_blank = True
            if self.place != "code":
                self._flush()
            return
        if (
            kind == "rule" and self.place == "prose"
        ):  # underlined: what looked like prose was a heading
            self.place, self.end = "heading", line.end()
            self._flush()
        elif kind == "define":
            self._flush()
            self.found += _definition(line, self.heading)
        elif kind != "rule":
            self._take(kind, *line.span())
        self.after_blank = False

    def _take(self, kind: str, start: int, end: int) -> None:
        """Take a line into the open block, or close that one and open another."""
        place = self._kind(start, kind)
        if self.place != place or place == "heading":
            self._flush()
            self.place, self.start = place, start
        self.end = end
        self.after_blank = False

    def _kind(self, start: int, kind: str) -> str:
        """Say what a line is, given the lines before it."""
        lead = self.text[start : start + 4]
        indented = lead[:1] in (" ", "\t")
        if (
            (lead == "    " or lead[:1] == "\t")
            and not self.in_list
            and (self.after_blank or self.place == "code")
        ):
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
    """Find the line that closes a fence: where the code ends, and where the text goes on. Each line
    is looked at once.
    """
    while (found := text.find(mark, at, limit)) >= 0:
        begin = text.rfind("\n", at - 1, found) + 1 or at
        end = text.find("\n", found, limit)
        end = limit if end < 0 else end
        if not text[begin:found].strip(" \t>") and not text[found:end].lstrip(mark[0]).strip():
            return begin, end + 1
        at = end + 1
    return limit, limit


def _definition(line: re.Match[str], heading: int) -> Iterator[MarkdownSegment]:
    """Read a reference definition; one that leads nowhere, or says whole sentences, is a comment
    that no page shows.
    """
    start, end = line.span("define")
    target = _TARGET.match(line.string, line.start("target"), end)
    if line["label"].startswith("^") or target is None:
        yield MarkdownSegment("prose", start, end, heading=heading)
        return
    if target[1] in ("", "#", "<") or line["label"].count(" ") > 5:
        yield MarkdownSegment("html-comment", start, end, heading=heading)
        return
    yield MarkdownSegment("link-url", *target.span(1), heading=heading)
    if target[2]:
        yield MarkdownSegment("link-title", *target.span(2), heading=heading)


def _inline(text: str, block: MarkdownSegment) -> Iterator[MarkdownSegment]:
    """Find what is set inside a block's lines."""
    heading = block.heading
    for found in _INLINE.finditer(text, block.start, block.end):
        if found["span"]:
            yield MarkdownSegment("code-span", *found.span("span"), heading=heading)
        elif found["tag"]:
            for attribute in _ATTRIBUTE.finditer(text, *found.span("attributes")):
                place = _ATTRIBUTES[attribute[1].lower()]
                yield MarkdownSegment(place, *attribute.span(2), heading=heading)
        elif found["alt"] is not None and text.startswith("!", found.start() - 1):
            yield MarkdownSegment("alt", *found.span("alt"), heading=heading)
            yield MarkdownSegment("image-url", *found.span("url"), heading=heading)
        else:
            name = found.lastgroup if found.lastgroup in ("outer", "auto") else "url"
            yield MarkdownSegment("link-url", *found.span(name), heading=heading)
        if found["title"]:
            yield MarkdownSegment("link-title", *found.span("title"), heading=heading)


BLOCKS = word_set("frontmatter heading prose list quote fence code table html-comment html")


def block_at(cut: Sequence[MarkdownSegment], at: int) -> MarkdownSegment | None:
    """Give the block that a place lies in; nothing between blocks."""
    number = bisect_right(cut, at, key=lambda segment: segment.start)
    before = (cut[index] for index in range(number - 1, -1, -1))
    block = next((one for one in before if one.place in BLOCKS), None)
    return block if block is not None and at < block.end else None


# --- told, or taught

_SENTENCE_START = re.compile(
    r"[.!?;:]\s|[\u3002\u0964\u061f]|\n[ \t]*(?:\n|[-*+>#|]|\d{1,3}[.)])|\|"
)
_SENTENCE_STOP = re.compile(
    r"[.!?](?:\s|$)|[\u3002\u0964\u061f]|\n[ \t]*(?:\n|[-*+>#|]|\d{1,3}[.)])"
)
_AGAINST_IT = re.compile(
    r"(?i)\b(?:never|not|don'?t|doesn'?t|mustn'?t|shouldn'?t|cannot|can'?t|won'?t|avoid|refuses?|without|nothing|no|nor"
    r"|instead of|rather than|prevents?|rejects?|excluding|excludes?|except|forbidden|prohibited|stop if)\b"
    r"(?!\s+(?:forget|fail|skip|hesitate|only|wait|stop|matter|exceptions?|later)\b)(?:[^.!?]{0,70})$"
)
_REFUSES = re.compile(
    r"(?i)(?:reject|refuse|never|do not|don't|avoid|decline|ignore) (?!tell|mention|ask|all|any|every|tou|tod)"
)
_DESCRIBES = re.compile(
    r"(?i)\b(?:attack(?:s|ers?|er's|ing)?|malicious\w*|adversar\w+|injections?|phish\w+|exploit\w*|vulnerab\w+"
    r"|malware|threats?|detect(?:s|ed|ion|ing)?|suspicious|red.?team\w*|penetration|pentest\w*|attempts? to|tr(?:y|ies) to"
    r"|trying to|hunting|analysts?|forensic\w*|untrusted|hijack\w*|anywhere else|exfiltration|steals?|stolen"
    r"|is a scam|if (?:a|any|some) (?:page|site|text|message|skill))\b"
    r"|[\u274c\u26d4\u2717\u2718\U0001f6ab]"
)
_DENIES = re.compile(r"(?i)\b(?:was|were|is|are|been)\s+not\s+\w+|\bnever\s+\w+")
_QUOTE_MARKS = (('"', '"'), ("\u201c", "\u201d"), ("`", "`"), ("\u300c", "\u300d"))


_TELLS_TO = re.compile(r"\b(?:users?|them|people)\s+(?:to|what|how|which)\b")


def is_taught(text: str, hit: RuleHit) -> bool:
    """Tell whether a sentence speaks of something rather than ordering it: it is quoted, forbidden,
    or what others do.
    """
    start, end = hit.start, hit.end
    low = max(0, start - 240)
    opening = low
    for found in _SENTENCE_START.finditer(text, low, start):
        opening = found.end()
    stop = _SENTENCE_STOP.search(text, end, end + 200)
    close = stop.start() if stop else min(len(text), end + 200)
    before = text[opening:start]
    if _DENIES.search(text, start, end) and hit.rule in ("SC121", "SC104"):
        return True
    if _AGAINST_IT.search(before) or (hit.rule != "SC101" and _REFUSES.match(text, start)):
        return True
    clause = text.rfind("\n", low, opening) + 1 or low  # what a colon introduces belongs to it
    told_from = clause if text[opening - 2 : opening - 1] == ":" else opening
    if _DESCRIBES.search(text, told_from, close) or says_attack(text[told_from:close]):
        return True
    if hit.rule == "SC105" and _TELLS_TO.search(text, start, end + 6):
        return True  # not to leave something to the user is no secret
    paragraph = max(low, text.rfind("\n\n", low, start))
    line = max(low, text.rfind("\n", low, start))
    return any(
        _is_open(text[line if left == "`" else paragraph : start], left, right)
        and right in text[start : end + 200]
        for left, right in _QUOTE_MARKS
    )


_TITLE = re.compile(r"\]\([^)\s]*[ \t]+\"[^\"]*$")


def _is_open(before: str, left: str, right: str) -> bool:
    """Tell whether a quotation is open; a link's title is none."""
    if left == right:
        return before.count(left) % 2 == 1 and not (left == '"' and _TITLE.search(before))
    return before.count(left) > before.count(right)


# --- marks that are forged, and addresses that carry data

# Marks that separate system, user, tool and skill in one agent or another (ZE-27, HE-16). The
# tokens of chat templates are forged wherever they stand aloud; tags that honest prompts also use,
# only where an order follows them.
_ORDER = (
    r"(?=[\s\S]{0,160}?\b(?i:ignore|disregard|forget|override|obey|you are now|new instructions?"
    r"|from now on|comply with|do not tell|without asking))"
)
_MARKS = re.compile(
    r"<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id)\|?>"
    r"|\[/?(?:INST|SYSTEM OVERRIDE)(?:[:\]]| [A-Z])|<</?SYS>>"
    r"|\[/?(?:SYSTEM|TOOL_RESPONSE|TOOL_RESULT|TOOL_OUTPUT|ADMIN)(?:[:\]]| [A-Z])"
    + _ORDER
    + r"|</?(?:system|system_prompt|system-reminder|system_message|tool_result|tool_output|tool_response"
    r"|function_results|assistant|admin|override)>"
    + _ORDER
    + r"|</(?:external[-_]data|available_skills|skill|instructions)>"
    + _ORDER
    + r"|(?:^|[-=#* ]{2,20})(?:END OF|BEGIN|START OF|END) (?:THE )?(?:SYSTEM|SKILL|USER|HIDDEN|ADMIN|ORIGINAL)[ A-Z]{0,40}"
    r"(?:PROMPT|OVERRIDE|INSTRUCTIONS?|DEFINITION|MESSAGE|INPUT|SKILL|MODE)"
    r"|^[ \t#*>]{0,8}(?:SYSTEM|ASSISTANT|HUMAN|USER)(?: OVERRIDE| MESSAGE| NOTICE| UPDATE)?:(?=[ \t]*\S)"
    + _ORDER
    + r"|\]\]>"
    + _ORDER,
    re.MULTILINE,
)
_IMAGE = re.compile(
    r"(?:!\[[^\]\n]{0,200}\]\(|<img[^>\n]{0,200}?src=[\"']?)"
    r"(https?://[^\s)>\"']{1,300}[?&/=](?:\$?\{[^}\n]{1,60}\}?|%s)[^\s)>\"']{0,100}|"
    r"https?://[^\s)>\"'?]{1,200}\?(?:[^\s)>\"'&]{0,60}&){0,6}"
    r"(?:(?:data|secret|token|cookie|history|prompt|exfil|leak|steal)=[^\s)>\"']{0,200}"
    r"|(?:key|q|d|c|p|s|u|v|id|ref|env|msg|body|text|content|info)=[\[<$][^\s)\"']{0,200}))"
)
_LINK = re.compile(
    r"\]\((https?://[^\s)]{1,300}[?&](?:data|secret|token|cookie|history|prompt|key|env|content)=[^\s)]{0,10}[{<\[$][^\s)]{1,100})\)"
)
_SECOND_HEADER = re.compile(
    r"\n---[ \t]*\n(?:#[^\n]{0,200}\n){0,4}(?:[ \t]*(?:name|description|content)[ \t]*:[^\n]{0,300}\n){0,4}"
    r"[ \t]*(?:allowed-tools|role|system|permissions?|safety|mode|filters?)[ \t]*:[^\n]{0,300}\n"
    r"(?:[ \t]*(?:name|description|allowed-tools|role|system|permissions?|safety|mode|content|filters?)"
    r"[ \t]*:[^\n]{0,300}\n){0,12}---"
)
# Each alternative begins as one of the marks does, and with a letter of its own: so the search skips
# from one such letter to the next.
_MARK_SIGN = re.compile(
    r"<\||<</?SYS>|\]\]>|\[/?(?:INST|SYSTEM|TOOL_|ADMIN)|END |BEGIN |START OF "
    r"|SYSTEM[: ]|ASSISTANT[: ]|HUMAN[: ]|USER[: ]"
    r"|</?(?:system|tool_|function_results>|assistant>|admin>|override>)"
    r"|</(?:external|available_skills>|skill>|instructions>)"
)
MARK_PATTERNS = (
    ("SC161", _MARKS, _MARK_SIGN),
    ("SC125", _IMAGE, re.compile("http")),
    ("SC125", _LINK, re.compile(r"\]\(http")),
    ("SC166", _SECOND_HEADER, re.compile(r"\n---")),
)
"""Each rule with its pattern, and a sign without which there is nothing to look for."""
