"""Work out what constant Python expressions give: joined, reversed, decoded text, within bounds."""

from __future__ import annotations

import base64
import codecs
import re
from functools import reduce
from typing import TYPE_CHECKING, Any

from metier.scan.model import word_set

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Const = str | bytes | int | tuple[Any, ...] | None

MAX_FOLDED_CHARS = 64 * 1024
"""The longest text that is worked out."""
HOLE = "\ufffc"
"""Stands in a text for a part that is not known."""

_WIDE = re.compile(r"%[^a-zA-Z%]{0,12}(?:\d{3}|\*)")
_SEQUENCES = (str, bytes, tuple)
"""What has items that are known one by one."""


def add(left: Const, right: Const) -> Const:
    """Join two texts; a side that is not known leaves a hole."""
    if isinstance(left, int) and isinstance(right, int):
        return left + right if abs(left) < 1 << 64 and abs(right) < 1 << 64 else None
    if isinstance(left, bytes) and isinstance(right, bytes):
        return _bounded(left + right)
    if isinstance(left, tuple) and isinstance(right, tuple):
        return _bounded(left + right)
    if isinstance(left, str) or isinstance(right, str):
        return _bounded("".join(part if isinstance(part, str) else HOLE for part in (left, right)))
    return None


def _bounded(value: str | bytes | tuple[Any, ...]) -> Const:
    return value if len(value) <= MAX_FOLDED_CHARS else None


def percent(left: Const, right: Const) -> Const:
    """Format a text with `%`; what is not known leaves a hole."""
    if not isinstance(left, str):
        return None
    parts = right if isinstance(right, tuple) else (right,)
    filled = tuple(HOLE if part is None else part for part in parts)
    if len(left) + sum(
        len(p) for p in filled if isinstance(p, str)
    ) > MAX_FOLDED_CHARS or _WIDE.search(left):
        return None
    try:
        return left % filled
    except (TypeError, ValueError, KeyError, OverflowError):
        return None


def times(left: Const, right: Const) -> Const:
    """Repeat a text, or multiply small numbers."""
    if isinstance(left, int) and isinstance(right, int):
        return left * right if abs(left) < 1 << 32 and abs(right) < 1 << 32 else None
    if (
        isinstance(right, int)
        and isinstance(left, str | bytes)
        and right >= 0
        and len(left) * right <= MAX_FOLDED_CHARS
    ):
        return left * right
    return None


def bits(left: Const, right: Const) -> Const:
    """Exclusive-or two numbers: the commonest way to scramble."""
    return left ^ right if isinstance(left, int) and isinstance(right, int) else None


def item(value: Const, index: Const) -> Const:
    """Take one item of a constant."""
    if (
        isinstance(value, _SEQUENCES)
        and isinstance(index, int)
        and -len(value) <= index < len(value)
    ):
        return value[index]
    return None


def cut(value: Const, lower: Const, upper: Const, step: Const) -> Const:
    """Take a slice of a constant."""
    if not isinstance(value, _SEQUENCES) or step == 0:
        return None
    if (
        isinstance(lower, int | None)
        and isinstance(upper, int | None)
        and isinstance(step, int | None)
    ):
        return value[lower:upper:step]
    return None


def path(left: Const, right: Const) -> Const:
    """Join two parts of a path."""
    if not isinstance(left, str) and not isinstance(right, str):
        return None
    head, tail = (part if isinstance(part, str) else HOLE for part in (left, right))
    return tail if tail.startswith("/") else (head.rstrip("/") or head[:1]) + "/" + tail


def join_path(parts: Sequence[Const]) -> Const:
    """Join all parts of a path."""
    return reduce(path, parts) if parts else None


def shown(value: Const) -> str:
    """Give a constant as the text it is, or spells; nothing for any other."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value if isinstance(value, str) else ""


def method(value: Const, name: str, args: Sequence[Const]) -> Const:
    """Call a harmless method of a constant."""
    try:
        if isinstance(value, str):
            return _text_method(value, name, args)
        return _bytes_method(value, name, args) if isinstance(value, bytes) else None
    except (ValueError, TypeError, LookupError, OverflowError):
        return None


def _text_method(value: str, name: str, args: Sequence[Const]) -> Const:
    if name in _PLAIN:
        got = getattr(value, name)(*args)
        return got if isinstance(got, str) else None
    if name in {"expanduser", "resolve", "absolute", "as_posix"}:
        return value
    reader = _TEXT_METHODS.get(name)
    return reader(value, args) if reader else None


def _encoded(value: str, args: Sequence[Const]) -> Const:
    return (
        _decoded(value, args)
        if args and args[0] in {"rot13", "rot_13"}
        else value.encode("utf-8", "replace")
    )


def _replaced(value: str, args: Sequence[Const]) -> Const:
    old, new = args[:2]
    if not isinstance(old, str) or not isinstance(new, str) or not old or len(new) > len(old) + 1:
        return None
    return value.replace(old, new)


def _bytes_method(value: bytes, name: str, args: Sequence[Const]) -> Const:
    if name == "decode":
        plain = not args or args[0] in {"utf-8", "utf8", "ascii", "latin-1", "latin1"}
        return value.decode("utf-8", "replace") if plain else _decoded(value, args)
    if name == "hex":
        return value.hex()
    parts = args[0] if name == "join" and args else None
    if isinstance(parts, tuple) and all(isinstance(part, bytes) for part in parts):
        return value.join(parts) if _joined_size(value, parts) <= MAX_FOLDED_CHARS else None
    if name in {"strip", "lower", "upper"}:
        got = getattr(value, name)()
        return got if isinstance(got, bytes) else None
    return None


def _joined(by: str, args: Sequence[Const]) -> Const:
    parts = args[0] if args else None
    if isinstance(parts, str):
        parts = tuple(parts)
    if not isinstance(parts, tuple) or not parts:
        return None
    texts = [part if isinstance(part, str) else HOLE for part in parts]
    return by.join(texts) if _joined_size(by, texts) <= MAX_FOLDED_CHARS else None


def _joined_size(by: str | bytes, parts: Sequence[str] | Sequence[bytes]) -> int:
    return sum(map(len, parts)) + len(by) * len(parts)


def _formatted(value: str, args: Sequence[Const]) -> Const:
    text = value
    for index, arg in enumerate(args[:20]):
        shown = arg if isinstance(arg, str) else str(arg) if isinstance(arg, int) else HOLE
        text = text.replace("{}", shown, 1).replace("{" + str(index) + "}", shown, 2)
        if len(text) > MAX_FOLDED_CHARS:
            return None
    return text


def _decoded(value: str | bytes, args: Sequence[Const]) -> Const:
    """Decode by a codec's name, one of the few that hide text. A codec that inflates is not run."""
    codec = str(args[0] if args else "utf-8").lower().replace("-", "_").removesuffix("_codec")
    if codec in {"rot13", "rot_13"}:
        return str(
            codecs.decode(value if isinstance(value, str) else value.decode("latin-1"), "rot13")
        )
    if codec == "hex":
        return bytes.fromhex(_plain(value))
    if codec == "base64":
        return base64.b64decode(_plain(value))
    if codec in {"zlib", "zip"} and isinstance(value, bytes):
        return inflate(value)
    if codec == "unicode_escape":
        raw = value if isinstance(value, bytes) else value.encode("latin-1", "replace")
        return raw.decode("unicode_escape") if b"\\N" not in raw else None
    return (
        value.decode("utf-8", "replace")
        if isinstance(value, bytes) and codec in {"utf_16", "utf_8"}
        else None
    )


_PLAIN = word_set("lower upper strip lstrip rstrip swapcase title removeprefix removesuffix")
_TEXT_METHODS: dict[str, Callable[[str, Sequence[Const]], Const]] = {
    "join": _joined,
    "format": _formatted,
    "joinpath": lambda value, args: join_path([value, *args]),
    "decode": _decoded,
    "encode": _encoded,
    "replace": _replaced,
}


def inflate(value: bytes, wbits: int = 15) -> bytes | None:
    """Decompress no more than `MOST` bytes."""
    import zlib  # loaded only when code holds something to inflate

    try:
        return zlib.decompressobj(wbits).decompress(value, MAX_FOLDED_CHARS)
    except zlib.error:
        return None


def _unpack_bz2(value: bytes) -> bytes:
    import bz2

    return bz2.BZ2Decompressor().decompress(value, MAX_FOLDED_CHARS)


def _unpack_lzma(value: bytes) -> bytes | None:
    import lzma

    try:
        return lzma.LZMADecompressor(memlimit=64 << 20).decompress(value, MAX_FOLDED_CHARS)
    except lzma.LZMAError:
        return None


def _plain(value: str | bytes) -> str:
    return value if isinstance(value, str) else value.decode("latin-1")


def _padded(value: str | bytes) -> bytes:
    raw = value.encode("ascii", "replace") if isinstance(value, str) else value
    raw = raw.strip()
    return raw + b"=" * (-len(raw) % 4)


_DECODERS: dict[str, Callable[[str | bytes], Const]] = {
    **dict.fromkeys(
        (
            "base64.b64decode",
            "base64.standard_b64decode",
            "base64.decodebytes",
            "base64.decodestring",
            "binascii.a2b_base64",
        ),
        lambda v: base64.b64decode(_padded(v)),
    ),
    "base64.urlsafe_b64decode": lambda v: base64.urlsafe_b64decode(_padded(v)),
    "base64.b32decode": lambda v: base64.b32decode(_padded(v)),
    "base64.b16decode": lambda v: base64.b16decode(v, casefold=True),
    "base64.b85decode": base64.b85decode,
    "base64.a85decode": base64.a85decode,
    **dict.fromkeys(
        ("bytes.fromhex", "bytearray.fromhex", "binascii.unhexlify", "binascii.a2b_hex"),
        lambda v: bytes.fromhex(_plain(v)),
    ),
}
_UNPACKERS: dict[str, Callable[[bytes], Const]] = {
    "zlib.decompress": inflate,
    "gzip.decompress": lambda v: inflate(v, 31),
    "bz2.decompress": _unpack_bz2,
    "lzma.decompress": _unpack_lzma,
}


def decode(name: str, args: Sequence[Const]) -> Const:
    """Run one of the decoders on a constant, when its argument is known."""
    value = args[0] if args else None
    if not isinstance(value, str | bytes) or len(value) > MAX_FOLDED_CHARS:
        return None
    try:
        if name == "codecs.decode":
            return _decoded(value, args[1:])
        if name in _UNPACKERS:
            return _UNPACKERS[name](value) if isinstance(value, bytes) else None
        return _DECODERS[name](value)
    except (ValueError, TypeError, LookupError, OSError, EOFError, OverflowError, MemoryError):
        return None


def convert(name: str, args: Sequence[Const]) -> Const:
    """Work out `chr`, `ord`, `int`, `bytes`, `str`, `reversed` and `list` of a constant."""
    reader = _CONVERTERS.get(name)
    try:
        return reader(args[0], *args[1:2]) if reader and args else None
    except (ValueError, TypeError, OverflowError):
        return None


def _bytes(value: Const, _codec: Const = None) -> Const:
    if isinstance(value, tuple):
        return bytes(value)
    return value if isinstance(value, str | bytes) else None


def _str(value: Const, _codec: Const = None) -> Const:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return str(value) if isinstance(value, str | int) else None


_CONVERTERS: dict[str, Callable[..., Const]] = {
    "chr": lambda v: chr(v) if isinstance(v, int) else None,
    "ord": lambda v: ord(v) if isinstance(v, str | bytes) else None,
    "int": lambda v, base=10: (
        int(v, base) if isinstance(v, str) and len(v) < 20 and isinstance(base, int) else None
    ),
    "bytes": _bytes,
    "bytearray": _bytes,
    "str": _str,
    "repr": lambda v: v if isinstance(v, str) else None,
    "reversed": lambda v: tuple(v)[::-1] if isinstance(v, _SEQUENCES) else None,
    **dict.fromkeys(("list", "tuple"), lambda v: tuple(v) if isinstance(v, _SEQUENCES) else None),
}
