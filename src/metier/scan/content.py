"""Look into formats that are no text, as far as a judgement needs: is it locked, is there a second file behind it."""

from __future__ import annotations

_TAIL = 66_000  # bytes at a file's end in which a zip keeps its directory
_ENTRY = b"PK\x03\x04"
MAX_ENTRIES = 200
_SIGNS = (b"/dev/tcp/", b"| bash", b"|bash", b"| sh\n", b"|sh\n", b"#!/bin/", b"#!/usr/bin/", b"import socket",
          b"import subprocess", b"child_process", b"os.system(", b"<?php ", b"powershell -", b"bash -c ", b"bash -i ")  # fmt: skip
"""What hardly stands in a picture by chance: at least six letters of a command."""


def locked(data: bytes) -> bool:
    """Say whether an archive asks for a password: a zip entry's flag, or an encrypted header of a rar."""
    if data.startswith(_ENTRY):
        at, seen = 0, 0
        while at >= 0 and seen < MAX_ENTRIES:
            if len(data) > at + 7 and data[at + 6] & 1:
                return True
            at, seen = data.find(_ENTRY, at + 4), seen + 1
    return data.startswith(b"Rar!\x1a\x07\x01\0") and data[12:13] == b"\x04"


def appended(data: bytes) -> str:
    """Return what lies behind the end of a picture or document, or an empty text."""
    if b"PK\x05\x06" in data[-_TAIL:] and _ENTRY in data and not data.startswith(b"PK"):
        return "zip archive"
    end = data.rfind(b"IEND\xaeB`\x82") if data.startswith(b"\x89PNG") else -1
    if end >= 0 and len(data) - end - 8 > 64:
        return f"{len(data) - end - 8} bytes behind the picture"
    sign = commands_in(data)
    return f"a script's words: {sign}" if sign else ""


def commands_in(data: bytes) -> str:
    """Return a sign of a script inside what is no text: a shell passes over a picture's mark and goes on to the next line."""
    return next((sign.decode() for sign in _SIGNS if sign in data), "")


def stray_nul(data: bytes) -> int:
    """Return where a NUL stands in what otherwise reads as text, or -1; UTF-16 has them by nature."""
    head = data[:4096]
    at = data.find(b"\0", 0, 400_000)
    if at < 0 or data.startswith((b"\xff\xfe", b"\xfe\xff")) or head.count(b"\0") * 10 > len(head):
        return -1
    printed = sum(32 <= byte < 127 or byte in (9, 10, 13) or byte >= 0xC2 for byte in head)
    return at if printed * 10 >= len(head) * 9 else -1
