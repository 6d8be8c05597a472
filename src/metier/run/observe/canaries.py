"""Finds canaries in what was sent: as they are, encoded, packed, reversed, or in pieces over several
requests. Pure.

A canary is a secret of the stage that exists nowhere else, so one that is found was taken from
there. What is encrypted with a key of its own cannot be found; `is_opaque` says that it may hold
anything.
"""

from __future__ import annotations

import base64
import binascii
import bz2
import lzma
import re
import zlib
from collections import Counter
from functools import lru_cache
from itertools import islice
from math import log2
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from metier.run.observe.model import Canary

MAX_DEPTH = 4
"""How many encodings are undone, one inside the other."""
MAX_VIEWS = 256
"""How many texts are looked at for one stream."""
MAX_VIEWED_BYTES = 1024 * 1024
MAX_UNPACKED_BYTES = 512 * 1024
MAX_SHIFTED_BYTES = 32 * 1024
TELLING_CHARS, PART_STEP = 16, 4
"""How many letters in a row of a canary prove that it was taken, and how far apart what was sent is
looked at."""
WINDOW_BYTES, WINDOW_SHARED, WINDOW_VIEWED = 64 * 1024, 8 * 1024, 4
"""Pieces of what is long: their size, how much of one is in the next as well, and how many times its
size is looked at."""
MAX_SINGLE_VIEWS = 4
"""How many decoded words are looked at one by one; all of them are looked at joined."""
MAX_PACKED_PARTS = 16
MAX_PACK_ENTRIES = 2_000
MAX_UNPACKER_BYTES = 64 * 1024 * 1024
MAX_NUMBER_CHARS, MAX_DIGITS = 16, 4000
MAX_KEY_BYTES, MAX_KEYED_BYTES, MAX_KEYED_VIEWS = 32, 4096, 4
"""Of what was combined with a key over and over: how long the key may be, how much of what was sent
is looked at, and how many times."""
TELLING_DIFFERENCES = 8
"""How many differences in a row prove that a canary is there."""
PIECE_CHARS = 6
"""The shortest piece of a canary that says something by itself."""
COVERED_SHARE = 0.8
"""How much of a canary must have gone out in pieces."""
MIN_OPAQUE_BYTES = 48
OPAQUE_BITS = 5.6
"""Bits a byte above which text is none that anybody reads; of short texts, in share of what their
length allows."""

_BASE64 = re.compile(rb"[A-Za-z0-9+/_-]{12,}(?:(?:\r?\n|%0[Aa]|\\n)[A-Za-z0-9+/_-]+)*={0,2}")
_BASE32 = re.compile(rb"(?:[A-Z2-7]{16,}|[a-z2-7]{16,})=*")
_HEX = re.compile(rb"(?:[0-9a-fA-F]{2}[\s:,]?){12,}")
_ESCAPED = re.compile(rb"\\x([0-9a-fA-F]{2})|\\u00([0-9a-fA-F]{2})")
_PERCENT = re.compile(rb"%([0-9a-fA-F]{2})")
_NUMBERS = re.compile(rb"(?:\d{2,3}[\s,;._:|-]{1,8}){12,}\d{2,3}")
_BASE85 = re.compile(rb"[!#-&(-+\--;<-Z^-z{|}~-]{20,}")
_ASCII85 = re.compile(rb"[!-u]{20,}")
_PACKED = re.compile(rb"\x1f\x8b\x08|\x78[\x01\x9c\xda]|BZh[1-9]1AY|\xfd7zXZ\0")
_UNPACK: dict[bytes, Callable[[], Any]] = {
    b"\x1f\x8b": lambda: zlib.decompressobj(31),
    **dict.fromkeys((b"\x78\x01", b"\x78\x9c", b"\x78\xda"), lambda: zlib.decompressobj(15)),
    b"BZ": bz2.BZ2Decompressor,
    b"\xfd7": lambda: lzma.LZMADecompressor(memlimit=MAX_UNPACKER_BYTES),
}
_SEPARATOR = re.compile(rb"\r?\n|\\r|\\n|%0[AaDd]")
_NOISE = re.compile(rb"[^A-Za-z0-9]+")
_WORD_BREAK = re.compile(rb"[&?\s\"{},;]+")
_LABEL = re.compile(rb"^[\w-]{1,16}[=:]")
_DIGITS = re.compile(rb"\d+")
_RUN = re.compile(rb"[A-Za-z0-9+/=_%-]+")


def find_canaries(data: bytes, canaries: Sequence[Canary]) -> tuple[str, ...]:
    """Give the places of the canaries that are in some bytes, in the order of the stage."""
    telling: dict[bytes, list[str]] = {}
    for one in canaries:
        for part in _telling_parts(one.value):
            telling.setdefault(part, []).append(one.place)
    short = [part for part in telling if len(part) < TELLING_CHARS]
    found: set[str] = set()
    keyed = 0
    for window in _windows(data):
        most = MAX_VIEWED_BYTES if window is data else WINDOW_VIEWED * len(window)
        for view in _views(window, most):
            flat = _NOISE.sub(b"", view).lower()
            last = max(len(flat) - TELLING_CHARS, 0)
            for at in (*range(0, last, PART_STEP), last):
                found.update(telling.get(flat[at : at + TELLING_CHARS], ()))
            found.update(place for part in short if part in flat for place in telling[part])
            content = view.partition(b"\r\n\r\n")[2] or view
            hidden = keyed < MAX_KEYED_VIEWS and is_opaque(content) and not _PACKED.match(content)
            keyed += hidden
            longest = MAX_KEY_BYTES if hidden else 1
            found.update(_keyed(content[:MAX_KEYED_BYTES], canaries, longest))
    return tuple(dict.fromkeys(one.place for one in canaries if one.place in found))


def _keyed(data: bytes, canaries: Iterable[Canary], longest: int) -> Iterator[str]:
    """Find canaries that were combined with a key over and over: by how much two letters differ that
    are as far apart as the key is long stays the same, whatever the key is.
    """
    for length in range(1, min(longest + 1, len(data))):
        differences = _differences(data, length)
        for one in canaries:
            part = _differences_of(one.value, length)
            if len(part) >= TELLING_DIFFERENCES and part in differences:
                yield one.place


def _differences(data: bytes, distance: int) -> bytes:
    """Combine each byte with the one that follows so much later."""
    size = len(data) - distance
    first, second = int.from_bytes(data[:size], "big"), int.from_bytes(data[distance:], "big")
    return (first ^ second).to_bytes(size, "big")


@lru_cache(maxsize=1 << 12)
def _differences_of(value: str, distance: int) -> bytes:
    text = value.encode()
    return _differences(text, distance) if len(text) > distance else b""


def _windows(data: bytes) -> Iterator[bytes]:
    """Give bytes as a whole, and what is long also piece by piece: padding must not use up what is
    looked at.
    """
    yield data
    if len(data) > WINDOW_BYTES:
        step = WINDOW_BYTES - WINDOW_SHARED
        yield from (data[at : at + WINDOW_BYTES] for at in range(0, len(data), step))


def _telling_parts(value: str) -> list[bytes]:
    """Give all parts of a canary of which one is enough: no chance puts so many letters in a row,
    large or small.
    """
    text = _NOISE.sub(b"", value.encode()).lower()
    return [text[at : at + TELLING_CHARS] for at in range(max(len(text) - TELLING_CHARS, 0) + 1)]


def find_in_pieces(requests: Sequence[bytes], canaries: Sequence[Canary]) -> tuple[str, ...]:
    """Give the places of canaries that went out in pieces, over several requests to one place."""
    if len(requests) < 2:
        return ()
    whole = tuple(
        place for joined in _varying(requests) for place in find_canaries(joined, canaries)
    )
    left = [one for one in canaries if one.place not in whole]
    joined = b"\n".join(requests)
    views = list(_views(joined))
    pieces = [one.place for one in left if any(_is_covered(one.value, view) for view in views)]
    return tuple(dict.fromkeys((*whole, *pieces)))


def is_opaque(data: bytes) -> bool:
    """Tell whether bytes read like something that was encrypted or packed: they may hold
    anything.
    """
    if len(data) < MIN_OPAQUE_BYTES:
        return False
    sample = data[:4096]
    counts = Counter(sample)
    bits = -sum(n / len(sample) * log2(n / len(sample)) for n in counts.values())
    most = min(8.0, log2(len(sample)))
    words = len(re.findall(rb"[a-z]{3,} [a-z]{2,}", sample))
    return bits >= min(OPAQUE_BITS, most * 0.85) and words * 60 < len(sample)


def _views(data: bytes, most: int = MAX_VIEWED_BYTES) -> Iterator[bytes]:
    """Give some bytes as they are, and what they are an encoding of, over and over."""
    waiting = [(data, 0)]
    seen: set[bytes] = set()
    size = 0
    while waiting and len(seen) < MAX_VIEWS and size < most:
        view, depth = waiting.pop(0)
        if view in seen:
            continue
        seen.add(view)
        size += len(view)
        yield view
        if depth < MAX_DEPTH:
            waiting += [(one, depth + 1) for one in _decoded(view) if len(one) >= PIECE_CHARS]


def _decoded(data: bytes) -> Iterator[bytes]:
    for undo in _WAYS:
        found = list(undo(data))
        if len(found) > MAX_SINGLE_VIEWS:  # a thousand words must not keep one from being looked at
            yield b"\n".join(found)
            found = sorted(found, key=len)[-MAX_SINGLE_VIEWS:]
        yield from found


def _from_base64(data: bytes) -> Iterator[bytes]:
    for match in _BASE64.finditer(data):
        text = _SEPARATOR.sub(b"", match[0]).rstrip(b"=").replace(b"-", b"+").replace(b"_", b"/")
        for start in range(4 if len(text) < 4096 else 1):
            part = text[start:]
            part = part[: len(part) - (len(part) % 4 == 1)]
            decoded = base64.b64decode(part + b"=" * (-len(part) % 4))
            if start == 0 or _is_text(decoded):
                yield decoded


def _from_base32(data: bytes) -> Iterator[bytes]:
    for match in _BASE32.finditer(data):
        text = match[0].upper().rstrip(b"=")
        for end in (len(text), len(text) - 1, len(text) - 2, len(text) - 3):
            try:
                yield base64.b32decode(text[:end] + b"=" * (-end % 8))
            except binascii.Error:
                continue
            break


def _from_base85(data: bytes) -> Iterator[bytes]:
    """Undo both ways of writing four bytes as five letters; only where a text or something packed
    comes out.
    """
    for pattern, undo in ((_BASE85, base64.b85decode), (_ASCII85, base64.a85decode)):
        for match in islice(pattern.finditer(data), MAX_PACKED_PARTS):
            try:
                decoded = undo(match[0])
            except ValueError:
                continue
            if _is_text(decoded) or _PACKED.match(decoded):
                yield decoded


def _from_hex(data: bytes) -> Iterator[bytes]:
    for match in _HEX.finditer(data):
        digits = re.sub(rb"[^0-9a-fA-F]", b"", match[0])
        yield bytes.fromhex(digits[: len(digits) // 2 * 2].decode())


def _from_escapes(data: bytes) -> Iterator[bytes]:
    if b"\\x" in data or b"\\u00" in data:
        yield _ESCAPED.sub(lambda match: bytes.fromhex((match[1] or match[2]).decode()), data)
    if b"%" in data:
        yield _PERCENT.sub(lambda match: bytes.fromhex(match[1].decode()), data)
    if b"+" in data:
        yield data.replace(b"+", b" ")
    if b"\\n" in data:
        yield data.replace(b"\\n", b"\n")


def _from_numbers(data: bytes) -> Iterator[bytes]:
    for match in _NUMBERS.finditer(data):
        numbers = [int(one) for one in re.findall(rb"\d+", match[0])]
        yield bytes(one for one in numbers if one < 256)


def _from_packed(data: bytes) -> Iterator[bytes]:
    for match in islice(_PACKED.finditer(data), MAX_PACKED_PARTS):
        packed = data[match.start() :]
        try:
            yield _UNPACK[match[0][:2]]().decompress(packed, MAX_UNPACKED_BYTES)
        except (zlib.error, lzma.LZMAError, OSError, EOFError, ValueError):
            continue
    start = data.find(b"PK\x03\x04")
    if start >= 0:
        yield from _from_zip(data[start:])
    start = data.find(b"PACK\0\0\0\2")
    if start >= 0:
        yield b"\n".join(_from_pack(data[start:]))


def _from_pack(data: bytes) -> Iterator[bytes]:
    """Unpack what lies in a pack of git's, one object after the other."""
    at, left = 0, MAX_UNPACKED_BYTES
    for _entry in range(MAX_PACK_ENTRIES):
        match = _PACKED.search(data, at)
        if match is None or left <= 0:
            return
        reader, packed = zlib.decompressobj(), data[match.start() :][:MAX_UNPACKED_BYTES]
        try:
            found = reader.decompress(packed, left)
        except zlib.error:  # two letters that only look like a beginning
            at = match.start() + 1
            continue
        yield found
        left -= len(found)
        at = match.start() + len(packed) - len(reader.unused_data)


def _from_zip(data: bytes) -> Iterator[bytes]:
    """Unpack the entries that say their size in front of them; no more is asked of a zip here."""
    at = 0
    while data[at : at + 4] == b"PK\x03\x04" and at + 30 <= len(data):
        method = int.from_bytes(data[at + 8 : at + 10], "little")
        size = int.from_bytes(data[at + 18 : at + 22], "little")
        body = at + 30 + sum(int.from_bytes(data[at + n : at + n + 2], "little") for n in (26, 28))
        packed = data[body : body + size] if size else data[body:]
        try:
            yield (
                zlib.decompressobj(-15).decompress(packed, MAX_UNPACKED_BYTES) if method else packed
            )
        except zlib.error:
            return
        if not size:
            return
        at = body + size


def _from_turned(data: bytes) -> Iterator[bytes]:
    """Undo what takes one call in any language: reversed text, and letters moved by thirteen."""
    yield data[::-1]
    yield data.translate(_THIRTEEN)
    for key in _shifted(data):
        shifted = data[:MAX_SHIFTED_BYTES].translate(bytes(byte ^ key for byte in range(256)))
        if _is_text(shifted):
            yield shifted


def _shifted(data: bytes) -> Iterator[int]:
    """Guess the one byte that a text was combined with: the commonest was a blank, an `e` or a line's
    end. Only where it is no text as it is.
    """
    if len(data) < MIN_OPAQUE_BYTES or _is_text(data):
        return
    commonest = Counter(data[:MAX_SHIFTED_BYTES]).most_common(2)
    yield from sorted({byte ^ plain for byte, _count in commonest for plain in b" eA\n\0"} - {0})


def _is_text(data: bytes) -> bool:
    sample = data[:512]
    odd = sum(byte < 9 or 13 < byte < 32 or byte > 126 for byte in sample)
    return bool(sample) and odd * 10 < len(sample)


_LETTERS = bytes(range(97, 123))
_THIRTEEN = bytes.maketrans(
    _LETTERS + _LETTERS.upper(),
    _LETTERS[13:] + _LETTERS[:13] + _LETTERS[13:].upper() + _LETTERS[:13].upper(),
)
_WAYS: tuple[Callable[[bytes], Iterable[bytes]], ...] = (
    _from_packed,
    _from_base64,
    _from_escapes,
    _from_hex,
    _from_base32,
    _from_base85,
    _from_numbers,
    _from_turned,
)


def _varying(requests: Sequence[bytes]) -> Iterator[bytes]:
    """Give what differs between requests that are otherwise alike, joined in the order in which they
    were made: column by column, and what lies between their common beginning and end.
    """
    rows = [[_LABEL.sub(b"", word) for word in _WORD_BREAK.split(one)] for one in requests]
    if len({len(row) for row in rows}) == 1:
        for column in (*zip(*rows, strict=True), *zip(*_in_order(rows), strict=True)):
            if len(set(column)) < 2:
                continue
            if all(word.isdigit() and len(word) < MAX_NUMBER_CHARS for word in column):
                yield b"".join(_bytes_of(int(word)) for word in column)
            else:
                yield b"".join(column)
    numbers = [max(_DIGITS.findall(one), key=len, default=b"") for one in requests]
    if all(MAX_NUMBER_CHARS < len(one) <= MAX_DIGITS for one in numbers):
        yield b"".join(_bytes_of(int(one)) for one in numbers)
    start = _common(requests)
    end = _common([one[::-1] for one in requests])
    middles = [one[start : len(one) - end if end else None] for one in requests]
    yield b"".join(middles)
    yield b"".join(re.sub(rb"^\d{1,4}[.&-]", b"", one) for one in middles)
    yield b"".join(max(_RUN.findall(one), key=len, default=b"") for one in middles)


def _in_order(rows: list[list[bytes]]) -> list[list[bytes]]:
    """Put rows in the order of their numbers: over two connections in turn they come otherwise. There
    are none where no word of them is a number of its own.
    """
    for column in zip(*rows, strict=True):
        numbered = all(word.isdigit() and len(word) < MAX_NUMBER_CHARS for word in column)
        if numbered and len({int(word) for word in column}) == len(rows):
            return [row for _word, row in sorted(zip(map(int, column), rows, strict=True))]
    return []


def _bytes_of(number: int) -> bytes:
    """Give a number as the bytes that it was made of."""
    return number.to_bytes((number.bit_length() + 7) // 8 or 1, "big")


def _common(texts: Sequence[bytes]) -> int:
    """Count how many bytes at the beginning are the same in all."""
    low, high = min(texts), max(texts)
    pairs = enumerate(zip(low, high, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(low), len(high)))


def _is_covered(value: str, view: bytes) -> bool:
    """Tell whether most of a canary stands in a text, piece by piece."""
    text = value.encode()
    covered = bytearray(len(text))
    for at in range(len(text) - PIECE_CHARS + 1):
        if text[at : at + PIECE_CHARS] in view:
            covered[at : at + PIECE_CHARS] = b"\1" * PIECE_CHARS
    return sum(covered) >= COVERED_SHARE * len(text)
