"""What a script prints, as it is shown: no secret, no power over a terminal, however the bytes come."""

from __future__ import annotations

import base64
import re

import pytest
from hypothesis import given, strategies as st

from metier.run.output import OutputCleaner, hide, without_control
from metier.secrets.mask import forms_of

TOKEN = "ghp_Ab3/x+y z'q\"0"
STEERS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u206f\ufff9-\ufffb\U000e0000-\U000e0fff]|\ufe0f\ufe0f"
)


def cleaned(data: bytes, secrets: dict[str, str] | None = None, size: int = 0) -> str:
    """Clean bytes that come in pieces of a size, or all at once."""
    cleaner = OutputCleaner(secrets or {})
    pieces = [data[at : at + size] for at in range(0, len(data), size)] if size else [data]
    return "".join([*map(cleaner.feed, pieces), cleaner.finish()])


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        ("plain\ttext\n", "plain\ttext\n"),
        ("naïve 日本 👩‍👩‍👧 ✔️", "naïve 日本 👩‍👩‍👧 ✔️"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b[38;5;1;2 qx", "x"),
        ("\x1b]0;a title\x07x", "x"),
        ("\x1b]8;;https://evil.test\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]52;c;Y3VybA==\x07x", "x"),
        ("\x1bPq#0;2;0\x1b\\x", "x"),
        ("\x1b_Gpayload\x1b\\x", "x"),
        ("\x1b^private\x1b\\x", "x"),
        ("\x1bXstring\x9cx", "x"),
        ("\x9b2Jx", "x"),
        ("\x9d0;title\x07x", "x"),
        ("\x1bcx", "x"),
        ("\x1b(0x", "x"),
        ("\x1b\x1b[2Jx", "x"),
        ("\x1b[2\nx", "\nx"),
        ("\x1bé", "é"),
        ("a\x1b", "a"),
        ("\x1b]0;never ended\nnext line", "\nnext line"),
        ("\x1b]0;stopped\x18x", "x"),
        ("10%\r20%\r\n", "10%\n20%\n"),
        ("a\r\r\nb", "a\nb"),
        ("rm -rf\b\b\bls", "rm -rf␈␈␈ls"),
        ("\x00\x07\x0b\x0c\x0e\x7f", "␀␇␋␌␎␡"),
        ("a\x85b\u2028c\u2029d", "a\nb\nc\nd"),
        ("\x80\x84", "\ufffd\ufffd"),
        ("user\u202e\u2066txt.exe\u2069", "usertxt.exe"),
        ("a\U000e0041\U000e007fb\ufff9c", "abc"),
        (
            "ok\ufe04\ufe09\ufe00\ufe0f|\u200b\u200c\u200d|\U000e0149|\u2062\u2063|\u3164\uffa0|\u00ad|\u180e\ufeff",
            "ok||||||",
        ),
        ("❤️\u200d🔥 👍🏽 1️⃣", "❤️\u200d🔥 👍🏽 1⃣"),
        ("❤️\ufe0f\ufe0e\ufe0f\u200d\u200d\ufe0f\u200c\u200b\u200d🔥", "❤️\u200d🔥"),
        ("می\u200cخ क्\u200dष", "می\u200cخ क्\u200dष"),
        ("می\u200c\u200c\u200d\u200cخ a\u200cb", "می\u200cخ ab"),
        ("\ufe0f\u200dx", "x"),
        ("⠋\u2800⠙", "⠋ ⠙"),
    ],
)
def test_what_steers_a_terminal_is_removed_or_shown(printed: str, shown: str) -> None:
    data = printed.encode()

    results = {cleaned(data, size=size) for size in (0, 1, 2, 3)}

    assert {shown} == results


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b"a\xffb", "a\ufffdb"),
        (b"\xe2\x82", "\ufffd"),
        (b"\xed\xa0\x80x", "\ufffd\ufffd\ufffdx"),
        ("é".encode("latin-1") + b"\n", "\ufffd\n"),
    ],
)
def test_bytes_that_are_no_text_are_shown_as_such(data: bytes, shown: str) -> None:
    results = {cleaned(data, size=size) for size in (0, 1)}

    assert {shown} == results


@pytest.mark.parametrize("size", [0, 1, 3, 7])
@pytest.mark.parametrize("form", sorted(forms_of(TOKEN)))
def test_every_form_of_a_secret_is_taken_out_even_where_it_straddles_pieces(
    form: str, size: int
) -> None:
    result = cleaned(f"it is {form}.\n".encode(), {"TOKEN": TOKEN}, size)

    assert "it is [TOKEN].\n" == result


@pytest.mark.parametrize(
    ("secrets", "printed", "shown"),
    [
        ({"A": "abcd"}, "xabcdx abc", "x[A]x abc"),
        ({"A": "abc"}, "abc", "abc"),  # too short to be one
        ({"A": "abcd", "B": "abcdef"}, "abcdef abcdeg", "[B] [A]eg"),
        ({"A": "abcdef", "B": "efghij"}, "abcdefghij", "[A]"),
        ({"A": "bcde", "B": "abcdefgh"}, "abcdefgx abcdefgh", "a[A]fgx [B]"),
        ({"A": "aaaa"}, "a" * 10, "[A]"),
        ({"A": "abab"}, "ababababx", "[A]x"),
        ({"A": "abcd"}, "abcdabcd", "[A][A]"),
        ({"A": "se\x1b[1mcret"}, "se\x1b[1mcret", "[A]"),
        ({"A": "secret"}, "se\x1b[0mc\x00ret se\x1b[0mcret", "sec␀ret [A]"),
        ({"A": "one\r\ntwo\r\n"}, "one\r\ntwo\r\n.", "[A]."),
        ({"A": "one\r\ntwo"}, "one\ntwo", "[A]"),
        ({"PASSWORD": "PASSWORD"}, "PASSWORD", "█"),
        ({"A": "[A]█"}, "[A]█[A]", "▉[A]"),
        ({"A": "secret"}, "s\u200be\ufe0fc\u00adr\u2063et", "[A]"),
        ({"A": "se\u200bcret"}, "secret se\u200bcret", "[A] [A]"),
        ({"A": "x\udcffyz"}, "-x\ufffdyz-", "-[A]-"),
        ({"A": "0123456789abcdef"}, "0123456789abcde", "[A]"),  # cut off by a limit
        ({"A": "https://token@host"}, "see http", "see http"),
        ({"A": "", "B": "    "}, "a     b", "a[B]b"),
    ],
)
def test_secrets_that_touch_overlap_or_look_odd_are_taken_out(
    secrets: dict[str, str], printed: str, shown: str
) -> None:
    results = {cleaned(printed.encode(), secrets, size) for size in (0, 1, 2, 5)}

    assert {shown} == results


@pytest.mark.parametrize("size", [0, 1, 1000])
def test_a_long_secret_is_taken_out_to_its_end_and_costs_little_memory(size: int) -> None:
    value = "".join(f"{number:x}-" for number in range(3000))

    whole = cleaned(f"<{value}><{value[:2000]}!>".encode(), {"KEY": value}, size)

    assert "<[KEY]><[KEY]!>" == whole


def test_live_output_waits_for_nothing_but_the_beginning_of_a_secret() -> None:
    cleaner = OutputCleaner({"TOKEN": "sesame-open"})

    shown = [
        cleaner.feed(piece)
        for piece in (
            b"hello",
            b" s",
            b"es",
            b"t\n",
            b"sesame-open",
            b"!",
            b"\x1b[3",
            b"1mx\r",
            b"\n",
        )
    ]

    assert ["hello", " ", "", "sest\n", "[TOKEN]", "!", "", "x\n", ""] == shown
    assert "" == cleaner.finish()


ODD = st.sampled_from(
    [
        "\x1b",
        "[",
        "]",
        "0",
        "m",
        "\x07",
        "\\",
        "\r",
        "\n",
        "\x9b",
        "\x9d",
        "a",
        "b",
        "s3",
        "cr",
        "et",
        "\u202e",
        "P",
        "\x18",
    ]
)
SECRETS = {"ONE": "s3cret", "TWO": "aaba", "THREE": "abab\nb", "FOUR": "crets3cr"}


@given(st.lists(ODD, max_size=60).map("".join), st.lists(st.integers(1, 9), min_size=1, max_size=9))
def test_the_result_does_not_depend_on_the_pieces(text: str, sizes: list[int]) -> None:
    data, cleaner, at = text.encode(), OutputCleaner(SECRETS), 0
    out: list[str] = []

    while at < len(data):
        size = sizes[len(out) % len(sizes)]
        out.append(cleaner.feed(data[at : at + size]))
        at += size
    whole = "".join([*out, cleaner.finish()])

    assert cleaned(data, SECRETS) == whole
    assert [] == [form for value in SECRETS.values() for form in forms_of(value) if form in whole]
    assert STEERS.search(whole) is None


@given(st.binary(max_size=200), st.integers(0, 5))
def test_no_control_character_gets_through_whatever_the_bytes(data: bytes, size: int) -> None:
    whole = cleaned(data, {"KEY": "0123"}, size)

    assert STEERS.search(whole) is None
    assert whole == without_control(whole)


@given(
    st.text("ab\n ", min_size=4, max_size=12), st.text("ab\n []N", max_size=40), st.integers(0, 4)
)
def test_no_form_of_a_secret_gets_through(value: str, text: str, size: int) -> None:
    printed = f"{text}{value}{text}{value[:-1]}{value}"

    whole = cleaned(printed.encode(), {"N": value}, size)

    assert [] == [form for form in forms_of(value) if form in whole]


@pytest.mark.parametrize(
    "data",
    [
        b"\x1b]" + b"x" * 40_000,
        b"\x1b[" + b"1;" * 20_000,
        b"\x1b" * 40_000,
        b"aaab" * 10_000,
        b"0123456789" * 4_000,
        b"\r" * 40_000,
    ],
    ids=[
        "unfinished title",
        "unfinished colour",
        "escapes",
        "nearly a secret",
        "a long beginning",
        "returns",
    ],
)
def test_hostile_output_byte_by_byte_is_held_in_no_memory(data: bytes) -> None:
    """Time is linear because nothing is read twice; what would make it otherwise is a growing remainder."""
    cleaner = OutputCleaner({"A": "aaaaaaaaaaaaaaaa", "B": "0123456789" * 3 + "x"})
    kept = 0

    for at in range(len(data)):
        cleaner.feed(data[at : at + 1])
        if at % 1000 == 0:
            kept = max(kept, len(cleaner._veil._held))  # noqa: SLF001 - the one place where a remainder could grow

    assert kept <= 32


def test_four_megabytes_of_an_unfinished_sequence_come_to_nothing() -> None:
    data = b"\x1b]0;" + b"x" * (4 << 20)

    shown = cleaned(data, {"A": "xxxxxxxx"}, 4096)

    assert "" == shown


def test_thousands_of_values_are_taken_out_and_what_resembles_them_is_not() -> None:
    values = [f"{number:04x}planted{number:04x}" for number in range(4_096)]
    ready = hide({}, dict.fromkeys(values, "f"))
    cleaners = OutputCleaner(ready), OutputCleaner(ready)
    lines = [f"{value} {value[:-1]}! " for value in values]

    shown = [cleaner.feed("".join(lines).encode()) + cleaner.finish() for cleaner in cleaners]

    assert ["".join(f"[f] {value[:-1]}! " for value in values)] * 2 == shown


def test_of_many_values_the_first_are_taken_out_in_every_form_and_the_last_as_they_are() -> None:
    values = [f"{number:05}-sesame-open" for number in range(2_000)]
    cleaner = OutputCleaner(hide({}, dict.fromkeys(values, "f")))
    first, last = (base64.b64encode(values[place].encode()).decode() for place in (0, -1))

    shown = cleaner.feed(f"{first} {last} {values[-1]}".encode()) + cleaner.finish()

    assert (True, True, True) == (shown.startswith("[f]"), last in shown, shown.endswith(" [f]"))
