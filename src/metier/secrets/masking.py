"""Takes the values that a script was lent out of what it printed, in every form in which a program usually prints one. Pure.

It is a net for the careless, not a wall: a script that wants to tell a value can always spell it some other way.
"""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

GUESSED = 4
"""A value shorter than this hides nothing, and is in every text."""
_TELLING = 8
"""Characters of base64 that are not there by chance."""
_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-~")
"""What stands for itself in every address; a slash, and some other marks, only in some."""
_ALSO_PLAIN = (b"", b"/", b"!*'()")


def masked(text: str, environment: Mapping[str, str]) -> str:
    """Give a text with the name of each variable in the place of its value, however it is written."""
    found = {form: name for name, value in environment.items() if len(value) >= GUESSED for form in forms_of(value)}
    for form in sorted(found, key=len, reverse=True):  # a value may hold another
        text = text.replace(form, f"[{found[form]}]")
    return text


def forms_of(value: str) -> set[str]:
    """Give a value as it stands in plain text, JSON, a `repr`, an address, in hexadecimal and in base64."""
    forms = plain_forms_of(value)
    forms |= {repr(value)[1:-1], ascii(value)[1:-1], repr(f"{value}'")[1:-2], json.dumps(value)[1:-1].replace("/", "\\/")}
    data = _bytes(value)
    quoted = [_quoted(data, _PLAIN | set(more)) for more in _ALSO_PLAIN]
    quoted.append(quoted[0].replace("%20", "+"))  # as a form sends it
    forms |= {data.hex(), data.hex().upper(), repr(data)[2:-1], *quoted, *map(_small_escapes, quoted), *_base64(data)}
    return {form for form in forms if len(form) >= GUESSED}


def plain_forms_of(value: str) -> set[str]:
    """Give a value as it stands in plain text and in JSON."""
    forms = {value, value.strip(), json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
    return {form for form in forms if len(form) >= GUESSED}


def _bytes(value: str) -> bytes:
    try:
        return value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return value.encode("utf-8", "replace")


def _quoted(data: bytes, plain: frozenset[int]) -> str:
    """Write a value as an address has it."""
    return "".join(chr(byte) if byte in plain else f"%{byte:02X}" for byte in data)


def _small_escapes(quoted: str) -> str:
    """Write `%2F` as `%2f`, as some do."""
    first, *parts = quoted.split("%")
    return "%".join((first, *(part[:2].lower() + part[2:] for part in parts)))


def _base64(data: bytes) -> Iterator[str]:
    """Give the base64 of a value by itself and inside a longer text, such as `user:value`, where it begins anywhere."""
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        yield encode(data).decode().rstrip("=")
        for before in range(3):
            whole = encode(bytes(before) + data).decode()
            # The first and the last characters also hold bits of what stands around the value.
            inner = whole[(before * 8 + 5) // 6 : (before + len(data)) * 8 // 6]
            if len(inner) >= _TELLING:
                yield inner
