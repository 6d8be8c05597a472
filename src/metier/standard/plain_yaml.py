"""Reads the plain part of YAML that almost all frontmatter is written in, strictly.

It answers only when its reading is certainly the one YAML gives (every scalar kept as text); on
anything unusual it answers `None` and the full reader in `full_yaml` takes over. It exists for
speed: reading frontmatter is most of what a first listing costs. Tests hold it equal to PyYAML on
real files and on generated ones.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from metier.standard.plain_text import words

if TYPE_CHECKING:
    from collections.abc import Callable


MAX_DEPTH = 8
NULLS = frozenset({"", "~", "null", "Null", "NULL"})
"""What YAML reads as nothing: it becomes an empty text."""
LONGEST_KEY = 160
"""YAML takes no key of more than 1,024 characters as written, of which an escaped one shows up to
six times fewer here."""
NOT_TEXT_KEYS = words("on off yes no true false null y n")

_FLOW_TOKEN = re.compile(
    r""" *(?:([\[\]{},])|(?:"([^"\\]*)"|'((?:[^']|'')*)')( *:)?|([A-Za-z0-9_./$+(][^\[\]{},"'#&*!|%@`:]*)(:(?= ))?) *"""
)
_WORDS = re.compile(r"\[ *[A-Za-z0-9(/][\w ./+()\-]*(?:, *[A-Za-z0-9(/][\w ./+()\-]*)*\]$")


Fields = dict[str, Any]
Tokens = list[tuple[str, str]]
_END = ("end", "")
"""Stands after the last token."""


class NotPlainError(Exception):
    """The text leaves the plain subset."""


def read_flow(text: str) -> Any:
    """Read a one-line `[a, b]` or `{k: v}` of simple scalars."""
    if _WORDS.match(text):
        items = [item.strip(" ") for item in text[1:-1].split(",")]
        return (
            items if NULLS.isdisjoint(items) else ["" if item in NULLS else item for item in items]
        )
    if text[:2] == '{"' and "\\" not in text:
        # It is JSON as well, and read in C; every scalar stays the text it was written as.
        try:
            return _json_decoder()(text)
        except (ValueError, RecursionError):
            raise NotPlainError from None
    tokens = _flow_tokens(text)
    value, at = _flow_value(tokens, 0, 0)
    if tokens[at] != _END:
        raise NotPlainError
    return value


@cache
def _json_decoder() -> Callable[[str], Any]:
    import json  # most skills have no flow map

    decoder = json.JSONDecoder(
        object_pairs_hook=_textual, parse_float=str, parse_int=str, parse_constant=_not_json
    )
    return decoder.decode


def _not_json(_word: str) -> Any:
    raise NotPlainError


def _textual(pairs: list[tuple[str, Any]]) -> Fields:
    found = {key: value if value.__class__ is str else _as_written(value) for key, value in pairs}
    if len(found) != len(pairs) or any(len(key) > LONGEST_KEY for key in found):
        raise NotPlainError
    return found


def _as_written(value: Any) -> Any:
    if value.__class__ is list:
        return [_as_written(item) for item in value]
    return (
        "true" if value is True else "false" if value is False else "" if value is None else value
    )


def _flow_tokens(text: str) -> Tokens:
    """Split into (kind, text): a punctuation mark, `scalar`, or `key` for a scalar followed by a
    colon.
    """
    tokens: Tokens = []
    at = 0
    while at < len(text):
        token = _FLOW_TOKEN.match(text, at)
        if token is None:
            raise NotPlainError
        mark, double, single, quoted_key, plain, plain_key = token.groups()
        if mark is not None:
            tokens.append((mark, ""))
        elif plain is not None:
            word = plain.strip(" ")
            tokens.append(("key", word) if plain_key else ("scalar", "" if word in NULLS else word))
        else:
            scalar = double if double is not None else single.replace("''", "'")
            tokens.append(("key" if quoted_key else "scalar", scalar))
        at = token.end()
    tokens.append(_END)
    return tokens


def _flow_value(tokens: Tokens, at: int, depth: int) -> tuple[Any, int]:
    if depth > MAX_DEPTH:
        raise NotPlainError
    kind, text = tokens[at]
    if kind == "scalar":
        return text, at + 1
    if kind == "[":
        return _flow_list(tokens, at + 1, depth)
    if kind == "{":
        return _flow_map(tokens, at + 1, depth)
    raise NotPlainError


def _flow_list(tokens: Tokens, at: int, depth: int) -> tuple[list[Any], int]:
    items: list[Any] = []
    while tokens[at][0] != "]":
        value, at = _flow_value(tokens, at, depth + 1)
        items.append(value)
        at = _after_item(tokens, at, "]")
    return items, at + 1


def _flow_map(tokens: Tokens, at: int, depth: int) -> tuple[Fields, int]:
    found: Fields = {}
    while tokens[at][0] != "}":
        kind, key = tokens[at]
        if (
            kind != "key"
            or key in found
            or key.lower() in NOT_TEXT_KEYS
            or not key[:1].isalpha()
            or len(key) > LONGEST_KEY
        ):
            raise NotPlainError
        found[key], at = _flow_value(tokens, at + 1, depth + 1)
        at = _after_item(tokens, at, "}")
    return found, at + 1


def _after_item(tokens: Tokens, at: int, closing: str) -> int:
    """Pass over the comma after an item; what else follows must be the end."""
    kind = tokens[at][0]
    if kind not in {",", closing}:
        raise NotPlainError
    return at + (kind == ",")


# --- block mappings

UNUSUAL = re.compile(
    "[^\\n\\x20-\\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
"""Characters that YAML forbids, or that break lines for some readers only, and tabs."""
MAX_LINES = 1_000
"""A longer text is left to the full reader, which counts what it builds."""
# YAML takes no key of more than 1,024 characters: a longer one is for the full reader to refuse.
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_.\-]{0,999}\Z")
_USUAL_KEYS = words("name description license version author allowed-tools compatibility homepage")
_MAY_CONTINUE = frozenset({"", " ", "-", "#"})
"""How a line begins that may belong to the value above it, or at least must be looked at."""
_PAIR = re.compile(r"( *)([A-Za-z_][A-Za-z0-9_.\-]{0,999}):(?: +([^ ].*))?$")
_ITEM = re.compile(r"( *)- +([^ ].*)$")
_DOUBLE = re.compile(r'"([^"\\]*(?:\\["\\/nt][^"\\]*)*)"$')
_SINGLE = re.compile(r"'((?:[^']|'')*)'$")
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"n": "\n", "t": "\t"}
_BLOCK_STYLES = frozenset({"|", ">", "|-", ">-", "|+", ">+"})
_RESERVED_START = frozenset("&*!%@`,?-#|>[]{}\"':~=< ")

Spans = dict[str, tuple[int, int]]
Fault = tuple[str, str, int, int]
"""Code, message, line, column."""


class YamlValues(NamedTuple):
    """What a YAML text holds. `spans` gives the line and column of each value down to the third
    level, by dotted path.

    A sequence's items count from 0 in such a path: `dependencies.tools.0`.
    """

    value: Any
    spans: Spans
    faults: tuple[Fault, ...]
    error: tuple[str, int, int] | None


def read_plain(
    text: str, first_line: int = 1, *, clean: bool = False, positions: bool = True
) -> tuple[Fields, Spans] | None:
    """Read a block mapping; `None` when any of it is beyond the plain subset. `text` ends with a
    newline.

    `clean` says that the caller has already seen that there are only printable ASCII characters and
    newlines. Without `positions` the second value is empty wherever that saves work.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    if not clean and UNUSUAL.search(text):
        return None
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    if len(lines) > MAX_LINES:
        return None
    found: Fields = {}
    spans: Spans = {}
    at = _read_simple_lines(lines, first_line, found, spans if positions else None)
    if at < len(lines):
        reader = _PlainReader(lines, first_line, spans)
        try:
            at = reader.mapping(found, at, 0, "", 0)
        except NotPlainError:
            return None
    return (found, spans) if at == len(lines) else None


def _read_simple_lines(
    lines: list[str], first_line: int, found: Fields, spans: Spans | None
) -> int:
    """Read as many one-line fields as come first, without patterns; give the index of the line
    after them.
    """
    last = len(lines) - 1
    for at, line in enumerate(lines):
        key, colon, value = line.partition(": ")
        if (
            not colon
            or key in found
            or (key not in _USUAL_KEYS and (not _KEY.match(key) or key.lower() in NOT_TEXT_KEYS))
        ):
            return at
        if at < last and lines[at + 1][:1] in _MAY_CONTINUE:
            return at
        first = value[:1]
        if first not in _RESERVED_START:
            if (
                not first
                or value[-1] in " :"
                or ": " in value
                or " #" in value
                or (len(value) < 5 and value in NULLS)
            ):
                return at
        elif (
            first in "\"'"
            and value[-1] == first
            and len(value) > 1
            and first not in (bare := value[1:-1])
            and "\\" not in bare
        ):
            value = bare
        else:
            return at
        found[key] = value
        if spans is not None:
            spans[key] = (first_line + at, len(key) + 3)
    return last + 1


class _PlainReader:
    """One pass over the lines; every method returns the value and the index of the next unread
    line.
    """

    __slots__ = ("first_line", "lines", "spans")

    def __init__(self, lines: list[str], first_line: int, spans: Spans) -> None:
        self.lines = lines
        self.first_line = first_line
        self.spans = spans

    def mapping(self, found: Fields, at: int, indent: int, prefix: str, depth: int) -> int:
        """Read `key: value` lines at exactly this indentation."""
        if depth > MAX_DEPTH:
            raise NotPlainError
        lines = self.lines
        spans = self.spans
        total = len(self.lines)
        while at < total:
            line = lines[at]
            pair = _PAIR.match(line)
            if pair is None:
                if _is_blank_or_comment(line):
                    at += 1
                    continue
                if _indent(line) < indent:
                    return at
                raise NotPlainError
            lead, key, value = pair.groups()
            if len(lead) != indent:
                if len(lead) < indent:
                    return at
                raise NotPlainError
            if key in found or key.lower() in NOT_TEXT_KEYS:
                raise NotPlainError
            path = prefix + key
            at += 1
            if value is None:
                spans[path] = (at + self.first_line - 1, len(line.rstrip(" ")) + 1)
                found[key], at = self.nested(at, indent, path + ".", depth)
            else:
                spans[path] = (at + self.first_line - 1, pair.start(3) + 1)
                found[key], at = self.value(value.rstrip(" "), at, indent)
        return at

    def nested(self, at: int, indent: int, prefix: str, depth: int) -> tuple[Any, int]:
        """Read what follows a key without a value: a deeper mapping, a list, or nothing."""
        lines = self.lines
        peek = at
        while peek < len(lines) and _is_blank_or_comment(lines[peek]):
            peek += 1
        if peek == len(lines):
            return "", at
        line = lines[peek]
        lead = _indent(line)
        if line.startswith("-", lead) and lead >= indent:
            return self.sequence(peek, lead)
        if lead <= indent:
            return "", at
        if _PAIR.match(line) is None and line[lead] not in _RESERVED_START:
            text = line[lead:].rstrip(" ")
            if _is_odd(text) or peek != at:
                raise NotPlainError
            self.spans[prefix[:-1]] = (peek + self.first_line, lead + 1)
            return self.continued(text, peek + 1, indent)
        below: Fields = {}
        at = self.mapping(below, peek, lead, prefix, depth + 1)
        return below, at

    def sequence(self, at: int, indent: int) -> tuple[list[Any], int]:
        """Read `- scalar` lines at exactly this indentation."""
        lines = self.lines
        total = len(self.lines)
        found: list[Any] = []
        while at < total:
            line = lines[at]
            item = _ITEM.match(line)
            if item is None:
                if _is_blank_or_comment(line):
                    at += 1
                    continue
                if _indent(line) <= indent and not line.startswith("-", indent):
                    return found, at
                raise NotPlainError
            if len(item[1]) != indent:
                if len(item[1]) < indent:
                    return found, at
                raise NotPlainError
            at += 1
            value, at = self.value(item[2].rstrip(" "), at, indent)
            found.append(value)
        return found, at

    def value(self, text: str, at: int, indent: int) -> tuple[Any, int]:
        """Read a value, by the shortest way when the next line cannot continue it."""
        lines = self.lines
        if at >= len(lines) or lines[at][: indent + 1].strip(" "):
            if text[0] not in _RESERVED_START:
                if _is_odd(text):
                    raise NotPlainError
                return ("" if text in NULLS else text), at
            if text[0] == '"' and (quoted := _DOUBLE.match(text)):
                return _unescaped(quoted[1]), at
        return self.scalar(text, at, indent)

    def scalar(self, text: str, at: int, indent: int) -> tuple[Any, int]:
        """Read the value that starts on this line, and the lines it runs on to."""
        first = text[0]
        if first in _RESERVED_START:
            if first == '"':
                value, at = self.quoted(_DOUBLE, text, at, indent)
                return _unescaped(value), at
            if first == "'":
                value, at = self.quoted(_SINGLE, text, at, indent)
                return value.replace("''", "'"), at
            if text in _BLOCK_STYLES:
                return self.block(text, at, indent)
            if first in "[{":
                self.ended(at, indent)
                return read_flow(text), at
            raise NotPlainError
        if _is_odd(text):
            raise NotPlainError
        return self.continued(text, at, indent)

    def quoted(self, pattern: re.Pattern[str], text: str, at: int, indent: int) -> tuple[str, int]:
        """Take a quoted text, folded when it runs over several lines."""
        whole = pattern.match(text)
        if whole is None:
            rows = [text]
            while whole is None:
                if at >= len(self.lines) or text.count(text[0]) == 2:
                    raise NotPlainError
                line = self.lines[at]
                if line.strip(" ") and _indent(line) <= indent:
                    raise NotPlainError
                rows.append(line.strip(" "))
                at += 1
                if rows[-1].endswith(text[0]):
                    whole = pattern.match(_fold(rows))
        self.ended(at, indent)
        return whole[1], at

    def ended(self, at: int, indent: int) -> None:
        """Make sure that the next line does not continue this value."""
        following = next((line for line in self.lines[at:] if line.strip(" ")), "")
        if _indent(following) > indent and not _is_blank_or_comment(following):
            raise NotPlainError

    def continued(self, text: str, at: int, indent: int) -> tuple[str, int]:
        """Join a plain text with the deeper lines below it."""
        lines = self.lines
        total = len(self.lines)
        if at >= total or not lines[at].startswith(" ") or _indent(lines[at]) <= indent:
            self.ended(at, indent)
            return ("" if text in NULLS else text), at
        parts = [text]
        while at < total:
            line = lines[at]
            more = line.strip(" ")
            if not more or _indent(line) <= indent:
                break
            if _is_odd(more) or more[0] in "#-?:":
                raise NotPlainError
            parts.append(more)
            at += 1
        self.ended(at, indent)
        return " ".join(parts), at

    def block(self, style: str, at: int, indent: int) -> tuple[str, int]:
        """Read a literal (`|`) or folded (`>`) block."""
        lines = self.lines
        total = len(self.lines)
        start = at
        while at < total:
            line = lines[at]
            if line.strip(" ") and _indent(line) <= indent:
                break
            at += 1
        rows = lines[start:at]
        if not rows or not rows[0].strip(" "):
            raise NotPlainError
        margin = _indent(rows[0])
        texts: list[str] = []
        for row in rows:
            body = row[margin:]
            blank = not row.strip(" ")
            if (blank and body) or (not blank and _indent(row) < margin):
                raise NotPlainError
            texts.append(body)
        return (_fold(texts) if style[0] == ">" else "\n".join(texts)).rstrip("\n") + _ending(
            style, texts
        ), at


def _unescaped(text: str) -> str:
    return (
        _ESCAPE.sub(lambda escape: _ESCAPED.get(escape[1], escape[1]), text)
        if "\\" in text
        else text
    )


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _is_odd(text: str) -> bool:
    """Tell whether YAML may read a text without quotes as something else than a text."""
    return ": " in text or " #" in text or text[-1] == ":"


def _is_blank_or_comment(line: str) -> bool:
    stripped = line.lstrip(" ")
    return not stripped or stripped[0] == "#"


def _fold(texts: list[str]) -> str:
    folded = ""
    breaks = 0
    for text in texts:
        if not text:
            breaks += 1
            continue
        if text[0] == " ":
            raise NotPlainError
        folded += ("\n" * breaks if breaks else " ") + text if folded else text
        breaks = 0
    return folded


def _ending(style: str, texts: list[str]) -> str:
    if style.endswith("-"):
        return ""
    if not style.endswith("+"):
        return "\n"
    whole = "\n".join(texts)
    return whole[len(whole.rstrip("\n")) :] + "\n"
