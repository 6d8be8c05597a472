"""One-line flow collections of plain YAML: `[a, b]` and `{k: v}`, every scalar kept as the text it was written as."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_DEPTH = 8
NULLS = frozenset({"", "~", "null", "Null", "NULL"})
"""What YAML reads as nothing: it becomes an empty text."""
LONGEST_KEY = 160
"""YAML takes no key of more than 1,024 characters as written, of which an escaped one shows up to six times fewer here."""
NOT_TEXT_KEYS = frozenset({"on", "off", "yes", "no", "true", "false", "null", "y", "n"})

_FLOW_TOKEN = re.compile(
    r""" *(?:([\[\]{},])|(?:"([^"\\]*)"|'((?:[^']|'')*)')( *:)?|([A-Za-z0-9_./$+(][^\[\]{},"'#&*!|%@`:]*)(:(?= ))?) *"""
)
_WORDS = re.compile(r"\[ *[A-Za-z0-9(/][\w ./+()\-]*(?:, *[A-Za-z0-9(/][\w ./+()\-]*)*\]$")


class NotPlainError(Exception):
    """The text leaves the plain subset."""


def read_flow(text: str) -> Any:
    """Read a one-line `[a, b]` or `{k: v}` of simple scalars."""
    if _WORDS.match(text):
        items = [item.strip(" ") for item in text[1:-1].split(",")]
        return items if NULLS.isdisjoint(items) else ["" if item in NULLS else item for item in items]
    if text[:2] == '{"' and "\\" not in text:
        return _json_as_text(text)
    tokens = _flow_tokens(text)
    value, at = _flow_value(tokens, 0, 0)
    if at != len(tokens):
        raise NotPlainError
    return value


def _json_as_text(text: str) -> Any:
    """Read a flow map that is also JSON, in C; every scalar stays the text it was written as."""
    try:
        return _json_decoder()(text)
    except (ValueError, RecursionError):
        raise NotPlainError from None


@cache
def _json_decoder() -> Callable[[str], Any]:
    import json  # most skills have no flow map

    decoder = json.JSONDecoder(object_pairs_hook=_textual, parse_float=str, parse_int=str, parse_constant=_not_json)
    return decoder.decode


def _not_json(_word: str) -> Any:
    raise NotPlainError


def _textual(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = {key: value if value.__class__ is str else _as_written(value) for key, value in pairs}
    if len(found) != len(pairs) or any(len(key) > LONGEST_KEY for key in found):
        raise NotPlainError
    return found


def _as_written(value: Any) -> Any:
    if value.__class__ is list:
        return [_as_written(item) for item in value]
    return "true" if value is True else "false" if value is False else "" if value is None else value


def _flow_tokens(text: str) -> list[tuple[str, str]]:
    """Split into (kind, text): a punctuation mark, `scalar`, or `key` for a scalar followed by a colon."""
    tokens: list[tuple[str, str]] = []
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
    return tokens


def _flow_value(tokens: list[tuple[str, str]], at: int, depth: int) -> tuple[Any, int]:
    if depth > MAX_DEPTH or at >= len(tokens):
        raise NotPlainError
    kind, text = tokens[at]
    if kind == "scalar":
        return text, at + 1
    if kind == "[":
        return _flow_list(tokens, at + 1, depth)
    if kind == "{":
        return _flow_map(tokens, at + 1, depth)
    raise NotPlainError


def _flow_list(tokens: list[tuple[str, str]], at: int, depth: int) -> tuple[list[Any], int]:
    items: list[Any] = []
    while at < len(tokens):
        if tokens[at][0] == "]":
            return items, at + 1
        value, at = _flow_value(tokens, at, depth + 1)
        items.append(value)
        if at < len(tokens) and tokens[at][0] == ",":
            at += 1
        elif at >= len(tokens) or tokens[at][0] != "]":
            break
    raise NotPlainError


def _flow_map(tokens: list[tuple[str, str]], at: int, depth: int) -> tuple[dict[str, Any], int]:
    found: dict[str, Any] = {}
    while at < len(tokens):
        kind, key = tokens[at]
        if kind == "}":
            return found, at + 1
        if kind != "key" or key in found or key.lower() in NOT_TEXT_KEYS or not key[:1].isalpha() or len(key) > LONGEST_KEY:
            raise NotPlainError
        found[key], at = _flow_value(tokens, at + 1, depth + 1)
        if at < len(tokens) and tokens[at][0] == ",":
            at += 1
        elif at >= len(tokens) or tokens[at][0] != "}":
            break
    raise NotPlainError
