"""What a shell would make of a few pure text commands: escapes, `echo`, `printf`, `base64 -d`, `rev`, `xxd -r`, `tr`.

A command that hides behind `$(echo Y3VybA== | base64 -d)` is only seen by someone who works the pipeline out. Nothing is run
here: each step is a function on text, and whatever is not plainly known gives None.
"""

from __future__ import annotations

import binascii
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST = 1 << 16
"""The longest text that is worked out, in characters."""

_ESCAPE = re.compile(r"\\(x[0-9A-Fa-f]{1,2}|u[0-9A-Fa-f]{1,4}|U[0-9A-Fa-f]{1,8}|0?[0-7]{1,3}|c.|.)", re.DOTALL)
_LETTERS = {"a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_NOT_BASE64 = re.compile(r"[^A-Za-z0-9+/=_-]")
_NOT_HEX = re.compile(r"[^0-9A-Fa-f]")
_RANGE = re.compile(r"(.)-(.)", re.DOTALL)
_LONGEST_RANGE = 128


def unescape(text: str) -> str:
    r"""Return the text with the escapes of `$'…'` replaced: `\x63` and `\143` are both a `c`."""
    return _ESCAPE.sub(_escaped, text) if "\\" in text else text


def _escaped(match: re.Match[str]) -> str:
    body = match[1]
    head = body[0]
    if head in "xuU" and len(body) > 1:
        code = int(body[1:], 16)
        return chr(code) if code < 0x110000 else ""
    if head in "01234567":
        return chr(int(body, 8) & 0xFF)
    return _LETTERS.get(body, body)


def unbase64(text: str) -> str | None:
    """Return what the base64 text says, or None when it says nothing that can be read."""
    plain = _NOT_BASE64.sub("", text).rstrip("=").replace("-", "+").replace("_", "/")
    return _bytes_of(binascii.a2b_base64, plain[: len(plain) // 4 * 4 if len(plain) % 4 == 1 else None] + "===") if plain else None


def unhex(text: str) -> str | None:
    """Return what the text of hexadecimal digits says, or None."""
    digits = _NOT_HEX.sub("", text.replace("\\x", "").replace("0x", ""))
    return _bytes_of(binascii.unhexlify, digits[: len(digits) // 2 * 2]) if digits else None


def _bytes_of(decode: object, text: str) -> str | None:
    try:
        return decode(text).decode("utf-8")  # type: ignore[operator, no-any-return]
    except (ValueError, UnicodeError):
        return None


def decodes(name: str, args: Sequence[str]) -> bool:
    """Say whether the command turns an encoded text back into the plain one."""
    if name in ("base64", "gbase64", "base32", "b64", "uudecode", "openssl"):
        if name == "openssl":
            return any(word in args for word in ("-d", "-decrypt")) and any(word in args for word in ("enc", "base64", "-base64"))
        return name == "uudecode" or any(_says_decode(word) for word in args)
    if name == "xxd":
        return any(word.startswith("-") and "r" in word for word in args)
    return name in ("gunzip", "zcat", "unxz", "xzcat", "bunzip2") or (
        name in ("gzip", "xz", "bzip2") and any("d" in a for a in args)
    )


def _says_decode(word: str) -> bool:
    return word == "--decode" or (word[:1] == "-" and word[1:2] != "-" and ("d" in word or "D" in word))


def output(pipeline: Sequence[Sequence[str]]) -> str | None:
    """Return what a pipeline of words would print, or None when that takes more than text to know."""
    text: str | None = None
    for place, words in enumerate(pipeline):
        text = _step(words, text, first=place == 0)
        if text is None or len(text) > LONGEST:
            return None
    return text


def _step(words: Sequence[str], given: str | None, *, first: bool) -> str | None:
    name, args = words[0].rsplit("/", 1)[-1], words[1:]
    if first:
        return _printed(name, args)
    assert given is not None
    if name in ("base64", "gbase64", "openssl"):
        return unbase64(given) if decodes(name, args) else None
    if name == "xxd":
        return unhex(given) if decodes(name, args) else None
    if name == "rev":
        return given.rstrip("\n")[::-1]
    if name == "cat" and not args:
        return given
    return _translated(args, given) if name == "tr" else None


def _printed(name: str, args: Sequence[str]) -> str | None:
    if any("$" in word or "`" in word for word in args):
        return None
    if name == "echo":
        flags = [word for word in args[:2] if word in ("-n", "-e", "-ne", "-en")]
        text = " ".join(args[len(flags) :])
        return unescape(text) if any("e" in flag for flag in flags) else text
    if name == "printf" and args:
        form = unescape(args[0])
        rest = list(args[1:])
        while rest and ("%s" in form or "%b" in form):
            form = re.sub("%[sb]", lambda _: unescape(rest.pop(0)), form, count=1)
        return form
    return None


def _translated(args: Sequence[str], given: str) -> str | None:
    if len(args) == 2 and args[0] == "-d":
        return given.translate({ord(char): None for char in unescape(args[1])})
    if len(args) != 2 or args[0][:1] == "-":
        return None
    old, new = (_RANGE.sub(_spread, word) for word in args)
    return given.translate({ord(a): b for a, b in zip(old, new.ljust(len(old), new[-1:] or " "), strict=False)})


def _spread(match: re.Match[str]) -> str:
    first, last = ord(match[1]), ord(match[2])
    return "".join(map(chr, range(first, last + 1))) if last - first < _LONGEST_RANGE else match[0]
