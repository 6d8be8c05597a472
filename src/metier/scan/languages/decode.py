"""What encoded stretches of a text say: base64, hex, escapes, entities, rotated and reversed
strings, packed or nested.

A stretch counts only when what comes out reads as text or is a program or an archive, so that
digests, keys, tokens and pictures, which are encoded too, stay silent. Every kind is looked for in
one pass, and what comes out is bounded.
"""

from __future__ import annotations

import re
import zlib
from binascii import a2b_base64
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from metier.scan.languages.kinds import magic_of, wide

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MIN_ENCODED_CHARS = 24  # characters of base64 or hex that are worth a look
MAX_STRETCH_CHARS = 64 * 1024  # characters that one stretch may give
MAX_TOTAL_CHARS = 256 * 1024  # and all of them together
NEAR_CHARS = 400  # characters between a word such as "rot13" and the string that it is about
MAX_STRETCHES = 1000  # stretches told of in one text
LEFT_OUT = "left out"  # the kind of a last, empty one that stands for what was not decoded


class Decoded(NamedTuple):
    """What a stretch of the text says once decoded."""

    kind: str
    """base64, hex, escape, url, entity, charcode, rot13, reversed; nested ones joined by `>`, and
    `>gzip`, `>executable`…"""
    start: int
    end: int
    text: str
    """Empty when it is a program or an archive."""


_Stretch = tuple[str, int, int, "str | bytes"]

_DIGITS = b"0123456789abcdefABCDEF"
_LETTERS = b"ghijklmnopqrstuvwxyzGHIJKLMNOPQRSTUVWXYZ+/-_"
_IN_BASE64 = bytes(120 if code in _DIGITS + _LETTERS else 32 for code in range(256))
_IN_HEX = bytes(120 if code in _DIGITS else 32 for code in range(256))
_JOINT = re.compile(r"[\"'\s+\\]{1,40}")
_TAIL = re.compile(
    r"[\"'\s+\\]{1,40}([A-Za-z0-9+/_-]{1,23})(={0,2})(?![^\s\"'])"
)  # the last line of a wrapped run is short
_HEX_BYTES = re.compile(r"0x[0-9a-fA-F]{2}(?:[,\s]{1,4}0x[0-9a-fA-F]{2}){5,}")
_ESCAPED = r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|u\{[0-9a-fA-F]{1,6}\}|[0-3][0-7]{2})"
_ESCAPES = re.compile(f"{_ESCAPED}(?:{_ESCAPED}){{3,}}")
_ESCAPE = re.compile(r"\\(?:[xu]\{?([0-9a-fA-F]{1,6})\}?|([0-7]{3}))")
_URL = re.compile(r"%[0-9a-fA-F]{2}(?:[\w.~/&=+?:-]{0,40}%[0-9a-fA-F]{2}){5,}")
_ENTITIES = re.compile(
    r"&#(?:[xX][0-9a-fA-F]{1,6}|\d{1,7});(?:[^\n&]{0,3}&#(?:[xX][0-9a-fA-F]{1,6}|\d{1,7});){3,}"
)
_ENTITY = re.compile(r"&#(?:[xX]([0-9a-fA-F]{1,6})|(\d{1,7}));")
_CODES = re.compile(r"\b\d{2,3}(?:[ ]?,[ ]?\d{2,3}){5,}")
_QUOTED = re.compile(r"\"([^\"\n]{8,400})\"|'([^'\n]{8,400})'|`([^`\n]{8,400})`")
_TURNS = (
    ("rot13", (b"rot13", b"rot-13", b"rot_13", b"codecs", b"n-za-m")),
    ("reversed", (b"[::-1]", b"revers", b"strrev", b"| rev", b"|rev", b"rev <<<")),
)
_SIGN_PATTERNS = {sign: re.compile(re.escape(sign)) for _, signs in _TURNS for sign in signs}
_BY_NUMBER = (b"charcode", b"chr(", b"[char", b"codepoint")
_WORDS = re.compile(
    r"\b(?:the|and|you|your|all|not|this|that|with|from|import|eval|exec|system|curl|wget|bash|https?|ignore|previous|instructions?"
    r"|send|file|key|secret|token|password|print|open|read|write|run|user|agent|echo|python|node|chmod|sudo|os|sh|rm|base64)\b",
    re.IGNORECASE,
)
_ROT13 = str.maketrans(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
    "NOPQRSTUVWXYZABCDEFGHIJKLMnopqrstuvwxyzabcdefghijklm",
)
_CONTROLS = dict.fromkeys((*range(9), 11, *range(14, 32), *range(127, 160), 0xFFFD))
_CONTROL_BYTES = bytes(code for code in _CONTROLS if code < 0x80)
_MAX_CONTROL_SHARE = 0.05
_SAMPLE_CHARS = 2048
_PAYLOADS = frozenset(("executable", "archive", "bytecode", "document"))
_PACKED = (b"\x1f\x8b", b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")
_URLSAFE = str.maketrans("-_", "+/")


def layers(text: str, depth: int = 3) -> list[Decoded]:
    """Decode what is encoded in a text, and what is encoded in that, to a depth; places are those
    of the outermost stretch.
    """
    left = min(MAX_TOTAL_CHARS, 4 * len(text) + 4096)
    found: list[Decoded] = []
    cut = False
    waiting = [("", 0, 0, text, depth)]
    while waiting and len(found) < MAX_STRETCHES and left > 0:
        outer, start, end, inner, depth_left = waiting.pop()
        for kind, first, last, raw in _stretches(inner):
            if left <= 0 or len(found) == MAX_STRETCHES:
                cut = True
                break
            said, how, cost = _said(raw, min(left, MAX_STRETCH_CHARS))
            left -= cost
            if said is None:
                continue
            cut = cut or cost >= MAX_STRETCH_CHARS
            whole = f"{outer}>{kind}{how}" if outer else f"{kind}{how}"
            place = (start, end) if outer else (first, last)
            found.append(Decoded(whole, *place, said))
            if said and depth_left <= 1:
                cut = cut or any(
                    _said(more, NEAR_CHARS)[0] is not None
                    for _, _, _, more in islice(_stretches(said), 8)
                )
            elif said:
                waiting.append((whole, *place, said, depth_left - 1))
    found.sort(key=lambda one: one.start)
    if cut or waiting:
        found.append(Decoded(LEFT_OUT, 0, len(text), ""))
    return found


def _stretches(text: str) -> Iterator[_Stretch]:
    """Go through a text once per kind, and only for the kinds whose mark it holds at all."""
    flat = text.encode("ascii", "replace")  # one byte to a character, so that places stay
    yield from _base64(text, flat)
    yield from _hex(text, flat)
    for kind, sign, pattern, decode in _MARKED:
        for found in pattern.finditer(text) if sign in text else ():
            said = decode(found[0])
            if isinstance(said, bytes) or kind == "entity" or _plain(said):
                yield kind, *found.span(), said
    low = flat.lower()
    if any(sign in low for sign in _BY_NUMBER):
        yield from _charcodes(text)
    yield from _turned(text, low)


def _said(raw: str | bytes, most: int) -> tuple[str | None, str, int]:
    """Give what decoded bytes say, None when nobody can read it; then how they were packed, and
    what finding out has cost.
    """
    if isinstance(raw, str):
        text = raw[:most]
        return (text, "", len(text)) if _reads(text) else (None, "", 0)
    if raw.startswith(_PACKED):
        inflated = _inflated(raw, most)
        if inflated:
            said, how, _ = _said(inflated, most)
            return said or "", f">gzip{how}", len(inflated)
    kind = magic_of(raw)
    if kind:
        return ("", f">{kind}", 0) if kind in _PAYLOADS else (None, "", 0)
    encoding = wide(raw[:512])
    if not encoding and len(raw) <= min(_SAMPLE_CHARS, most):
        # as most letters and digits that are no code at all; decoding those would cost more
        controls = len(raw) - len(raw.translate(None, _CONTROL_BYTES))
        if controls > len(raw) * _MAX_CONTROL_SHARE:
            return None, "", 0
    return _said(raw.decode(encoding or "utf-8", "replace"), most)


def _reads(text: str) -> bool:
    """Tell text from noise: hardly a character in it that nobody writes."""
    sample = text[:_SAMPLE_CHARS]
    return (
        len(sample) >= 4
        and len(sample.translate(_CONTROLS)) >= len(sample) * (1 - _MAX_CONTROL_SHARE)
        and any(map(str.isalpha, sample))
    )


def _inflated(data: bytes, most: int) -> bytes:
    try:
        return zlib.decompressobj(47).decompress(data, most)
    except zlib.error:
        return b""


def _runs(flat: bytes, table: bytes) -> Iterator[tuple[int, int]]:
    """Find long runs of one alphabet at the speed of a substring search."""
    mask = flat.translate(table) + b" "
    at = mask.find(b"x" * MIN_ENCODED_CHARS)
    while at >= 0:
        end = mask.find(b" ", at)
        yield at, end
        at = mask.find(b"x" * MIN_ENCODED_CHARS, end)


def _base64(text: str, flat: bytes) -> Iterator[_Stretch]:
    """Decode runs of base64, in either alphabet; lines and strings that continue one another are
    one run.
    """
    pending: list[tuple[int, int]] = []
    for start, end in _runs(flat, _IN_BASE64):
        if pending and not _JOINT.fullmatch(text, pending[-1][1], start):
            yield from _decoded64(text, pending)
            pending = []
        pending.append((start, end))
    if pending:
        yield from _decoded64(text, pending)


def _decoded64(text: str, runs: list[tuple[int, int]]) -> Iterator[_Stretch]:
    start = runs[0][0]
    end = runs[-1][1]
    if text.startswith("eyJ", start) and (
        text.startswith(".", end) or text.startswith(".", start - 1)
    ):
        return  # a signed token: its parts are readable, and no secret
    letters = "".join(text[first:last] for first, last in runs)
    tail = _TAIL.match(text, end)
    if tail and len(letters) % 4 == 0 and len(tail[1] + tail[2]) % 4 == 0:
        letters = letters + tail[1]
        end = tail.end(1)
    letters = letters[: MAX_STRETCH_CHARS * 4 // 3]
    whole = letters[:-1] if len(letters) % 4 == 1 else letters
    yield "base64", start, end, a2b_base64(whole.translate(_URLSAFE) + "=" * (-len(whole) % 4))


def _hex(text: str, flat: bytes) -> Iterator[_Stretch]:
    for start, end in _runs(flat, _IN_HEX):
        length = min((end - start) // 2, MAX_STRETCH_CHARS) * 2
        yield "hex", start, end, bytes.fromhex(text[start : start + length])


def _unescaped(escape: re.Match[str]) -> str:
    code = int(escape[1], 16) if escape[1] else int(escape[2], 10 if escape[0][0] == "&" else 8)
    return chr(code) if code < 0x110000 else "\ufffd"


def _plain(said: str) -> bool:
    """Tell letters that needed no escape from another language's, which many tools write
    escaped.
    """
    return sum(letter < "\x7f" for letter in said) * 2 > len(said)


_MARKED: tuple[tuple[str, str, re.Pattern[str], Callable[[str], str | bytes]], ...] = (
    (
        "hex",
        "0x",
        _HEX_BYTES,
        lambda text: bytes.fromhex("".join(re.findall(r"0x(..)", text)[:MAX_STRETCH_CHARS])),
    ),
    ("escape", "\\", _ESCAPES, lambda text: _ESCAPE.sub(_unescaped, text)),
    ("url", "%", _URL, lambda text: re.sub(r"%(..)", lambda code: chr(int(code[1], 16)), text)),
    ("entity", "&#", _ENTITIES, lambda text: _ENTITY.sub(_unescaped, text)),
)
"""Kinds of stretches that a sign gives away: the sign, how they look, and what they say."""


def _charcodes(text: str) -> Iterator[_Stretch]:
    for found in _CODES.finditer(text):
        codes = [int(code) for code in re.findall(r"\d+", found[0])[:MAX_STRETCH_CHARS]]
        if all(code in (9, 10, 13) or 32 <= code < 127 for code in codes):
            yield "charcode", *found.span(), "".join(map(chr, codes))


def _near(low: bytes, signs: tuple[bytes, ...]) -> Iterator[tuple[int, int]]:
    """Give the surroundings of some words, those that meet as one."""
    places = sorted(
        found.start()
        for sign in signs
        if sign in low
        for found in _SIGN_PATTERNS[sign].finditer(low)
    )
    begin = end = -1
    for place in places:
        if place - NEAR_CHARS > end:
            if end >= 0:
                yield begin, end
            begin = max(place - NEAR_CHARS, 0)
        end = place + NEAR_CHARS
    if end >= 0:
        yield begin, end


def _turned(text: str, low: bytes) -> Iterator[_Stretch]:
    """Turn strings back that stand near a word for rotating or reversing, when they read better
    so.
    """
    for kind, signs in _TURNS:
        for begin, end in _near(low, signs):
            for quoted in _QUOTED.finditer(text, begin, end):
                string = quoted[quoted.lastindex or 0]
                turned = string.translate(_ROT13) if kind == "rot13" else string[::-1]
                if len(_WORDS.findall(turned)) > len(_WORDS.findall(string)):
                    yield kind, *quoted.span(quoted.lastindex or 0), turned
