"""Canaries in what was sent: found in every disguise that takes one call, and nowhere else."""

from __future__ import annotations

import base64
import bz2
import codecs
import gzip
import io
import lzma
import os
import zipfile
import zlib
from typing import TYPE_CHECKING

import pytest

from metier.run.io.decoy_table import load_decoys
from metier.run.observe.canaries import find_canaries, find_in_pieces, is_opaque
from metier.run.observe.repository import pack_objects, repository_files
from metier.run.observe.signs import requests_in
from metier.run.observe.stage import build_stage

if TYPE_CHECKING:
    from collections.abc import Callable

STAGE = build_stage("seed", "demo", load_decoys())
FILES = {one.path.removeprefix(f"{STAGE.home}/"): one.data for one in STAGE.decoys}
CREDENTIALS = FILES[".aws/credentials"]
KEY = FILES[".ssh/id_ed25519"]


def zipped(data: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x", data)
    return file.getvalue()


def combined(data: bytes, key: bytes) -> bytes:
    return bytes(byte ^ key[at % len(key)] for at, byte in enumerate(data))


WORDS = b" ".join(base64.b64encode(b"%015d" % number) for number in range(400))
PADDING = b"so it goes %20 and + on\\n " * 20_000
DISGUISES: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "base64": base64.b64encode,
    "base64 in lines": base64.encodebytes,
    "base64 for addresses": base64.urlsafe_b64encode,
    "base32": base64.b32encode,
    "hex": lambda data: data.hex().encode(),
    "hex with colons": lambda data: data.hex(":").encode(),
    "gzip": gzip.compress,
    "zlib": zlib.compress,
    "zip": zipped,
    "gzip, then base64": lambda data: base64.b64encode(gzip.compress(data)),
    "reversed": lambda data: data[::-1],
    "reversed, then base64": lambda data: base64.b64encode(data[::-1]),
    "thirteen": lambda data: codecs.encode(data.decode(), "rot13").encode(),
    "one byte mixed in": lambda data: bytes(byte ^ 0x5A for byte in data),
    "a word mixed in": lambda data: combined(data, b"winter-season"),
    "a digest mixed in, then base64": lambda data: base64.b64encode(
        combined(data, bytes(range(32)))
    ),
    "behind a head": lambda data: (
        b"POST / HTTP/1.1\r\nA: %s\r\n\r\n" % (b"b" * 600) + combined(data, b"%")
    ),
    "numbers": lambda data: ",".join(map(str, data)).encode(),
    "percent": lambda data: "".join(f"%{byte:02X}" for byte in data).encode(),
    "escapes": lambda data: "".join(f"\\x{byte:02x}" for byte in data).encode(),
    "in JSON": lambda data: b'{"log":"%s"}' % base64.b64encode(data),
    "bzip2": bz2.compress,
    "xz, then base64": lambda data: base64.b64encode(lzma.compress(data)),
    "base85": base64.b85encode,
    "base85 of Adobe": base64.a85encode,
    "large for small": lambda data: data.swapcase(),
    "gzip behind another beginning of it": lambda data: b"\x1f\x8b\x08.." + gzip.compress(data),
    "base64 after many words like it": lambda data: b"%s %s" % (WORDS, base64.b64encode(data)),
    "base64 after a lot of text": lambda data: b"%s %s" % (PADDING, base64.b64encode(data)),
    "in a request": lambda data: b"POST /u HTTP/1.1\r\nHost: a.example\r\n\r\nkey=" + data,
}


@pytest.mark.parametrize("disguise", DISGUISES)
def test_a_canary_is_found_in_every_disguise(disguise: str) -> None:
    sent = DISGUISES[disguise](CREDENTIALS)

    assert ("~/.aws/credentials",) == find_canaries(sent, STAGE.canaries)


@pytest.mark.parametrize("disguise", DISGUISES)
def test_honest_bytes_hold_no_canary(disguise: str) -> None:
    sent = DISGUISES[disguise](b"name,amount\ndesk,420.50\nlamp,39.90\n" * 8)

    assert () == find_canaries(sent, STAGE.canaries)


def test_a_key_is_found_by_its_middle() -> None:
    assert ("~/.ssh/id_ed25519",) == find_canaries(KEY[40:-40], STAGE.canaries)


PIECES: dict[str, list[bytes]] = {
    "numbered parts of base64": [
        b"GET /c?i=%d&d=%s HTTP/1.1" % (at, base64.b64encode(CREDENTIALS)[at * 8 : at * 8 + 8])
        for at in range(len(base64.b64encode(CREDENTIALS)) // 8 + 1)
    ],
    "one letter a request": [
        b"GET /p/%c HTTP/1.1" % letter for letter in CREDENTIALS.hex().encode()
    ],
    "labels of names": [
        b"%s.t.example.net" % CREDENTIALS.hex()[at : at + 30].encode()
        for at in range(0, len(CREDENTIALS) * 2, 30)
    ],
    "plain halves": [CREDENTIALS[:70], CREDENTIALS[70:]],
    "numbered parts that come in another order": [
        b"GET /c?i=%d&d=%s HTTP/1.1" % (at, base64.b64encode(CREDENTIALS)[at * 8 : at * 8 + 8])
        for start in (0, 1)
        for at in range(start, len(base64.b64encode(CREDENTIALS)) // 8 + 1, 2)
    ],
    "reversed, part by part": [
        CREDENTIALS[::-1][at : at + 24] for at in range(0, len(CREDENTIALS), 24)
    ],
    "parts of gzip in hex": [
        b"GET /h/%s HTTP/1.1" % gzip.compress(CREDENTIALS).hex()[at : at + 40].encode()
        for at in range(0, len(gzip.compress(CREDENTIALS)) * 2, 40)
    ],
    "parts written as numbers with a counter before them": [
        b"GET /check?version=1.%d.%s HTTP/1.1"
        % (at, ".".join(map(str, CREDENTIALS[at : at + 24])).encode())
        for at in range(0, len(CREDENTIALS), 24)
    ],
    "parts as large numbers": [
        b"GET /t/%d/%d HTTP/1.1" % (at, int.from_bytes(CREDENTIALS[at : at + 24], "big"))
        for at in range(0, len(CREDENTIALS), 24)
    ],
    "parts written with percents": [
        b"GET /q?p=%s HTTP/1.1"
        % "".join(f"%{byte:02x}" for byte in CREDENTIALS[at : at + 9]).encode()
        for at in range(0, len(CREDENTIALS), 9)
    ],
}


@pytest.mark.parametrize("way", PIECES)
def test_a_canary_is_found_in_pieces(way: str) -> None:
    assert "~/.aws/credentials" in find_in_pieces(PIECES[way], STAGE.canaries)


def test_pieces_of_something_honest_are_no_canary() -> None:
    requests = [b"GET /weather?city=%d&unit=c HTTP/1.1" % number for number in range(40)]

    assert () == find_in_pieces(requests, STAGE.canaries)


def test_what_was_encrypted_is_opaque_and_text_is_not() -> None:
    assert is_opaque(os.urandom(400))
    assert not is_opaque(b"The export ships on Friday. Ana checks the totals before noon. " * 5)
    assert not is_opaque(b"short")


def test_requests_over_one_connection_are_told_apart() -> None:
    first, second = (
        b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n",
        b"POST /b HTTP/1.1\r\nHost: x\r\n\r\nbody",
    )

    assert [first, second] == requests_in(first + second)
    assert [b"no request"] == requests_in(b"no request")


def test_a_canary_is_found_behind_a_hundred_other_objects_of_a_pack() -> None:
    files = {f"{number:03}.txt": b"a line of no interest %d\n" % number for number in range(100)}
    made = repository_files({**files, "z/.env": STAGE.canaries[0].value.encode()}, "A <a@b>", "x")

    assert (STAGE.canaries[0].place,) == find_canaries(pack_objects(made), STAGE.canaries)
