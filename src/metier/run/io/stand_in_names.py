"""Answers queries for names: every name has an address, the same for the same name. Pure."""

from __future__ import annotations

import struct
import zlib
from socket import AF_INET, AF_INET6, inet_ntop, inet_pton

_A, _NS, _CNAME, _SOA, _MX, _TXT, _AAAA, _PTR = 1, 2, 5, 6, 15, 16, 28, 12
TYPES = {_A: "A", _NS: "NS", _CNAME: "CNAME", _MX: "MX", _TXT: "TXT", _AAAA: "AAAA", _PTR: "PTR"}
_SECONDS = 300
_FIRST = int.from_bytes(inet_pton(AF_INET, "198.18.0.0"), "big")
_COUNT = 1 << 17
"""The addresses that are set aside for trials of networks: they are nobody's."""
_FIRST6 = int.from_bytes(inet_pton(AF_INET6, "2001:2::"), "big")
_MAX_NAME = 255


def made_up_addresses(name: str) -> tuple[str, str]:
    """Give the addresses of a name, of both versions."""
    at = zlib.crc32(name.lower().encode()) % (_COUNT - 512) + 256
    four, six = (_FIRST + at).to_bytes(4, "big"), (_FIRST6 + at).to_bytes(16, "big")
    return inet_ntop(AF_INET, four), inet_ntop(AF_INET6, six)


def answer_query(query: bytes, *, version6: bool = True) -> tuple[str, str, list[str], bytes]:
    """Give the name that is asked for, what is asked about it, its addresses, and the answer;
    nothing for what is no query.
    """
    read = _read_question(query)
    if read is None:
        return "", "", [], b""
    name, kind, end = read
    addresses = made_up_addresses(name)
    data = _record(kind, addresses, version6=version6)
    head = query[:2] + struct.pack("!HHHHH", 0x8180, 1, 1 if data else 0, 0, 0)
    body = query[12:end]
    if data:
        body += struct.pack("!HHHIH", 0xC00C, kind, 1, _SECONDS, len(data)) + data
    return name, TYPES.get(kind, str(kind)), list(addresses), head + body


def _record(kind: int, addresses: tuple[str, str], *, version6: bool) -> bytes:
    if kind == _A:
        return inet_pton(AF_INET, addresses[0])
    if kind == _AAAA and version6:
        return inet_pton(AF_INET6, addresses[1])
    if kind == _TXT:
        text = b"v=spf1 include:_spf.example.net ~all"
        return bytes([len(text)]) + text
    if kind == _MX:
        return struct.pack("!H", 10) + b"\x04mail\xc0\x0c"
    if kind == _NS:
        return b"\x03ns1\xc0\x0c"
    if kind == _PTR:
        return b"\x04host\x07example\x03net\0"
    return b""


def _read_question(query: bytes) -> tuple[str, int, int] | None:
    """Give the name, the kind and where the question ends."""
    if len(query) < 17 or query[2] & 0x80 or struct.unpack_from("!H", query, 4)[0] != 1:
        return None
    labels, at = [], 12
    while at < len(query) and query[at]:
        size = query[at]
        if size > 63 or at + 1 + size >= len(query):
            return None
        labels.append(query[at + 1 : at + 1 + size].decode("latin-1"))
        at += 1 + size
    if at + 5 > len(query):
        return None
    name = ".".join(labels)
    return (
        (name, struct.unpack_from("!H", query, at + 1)[0], at + 5)
        if len(name) <= _MAX_NAME
        else None
    )
