"""Text as a reader sees it: what hides or disguises it is undone, and every place can be told in the original."""

from __future__ import annotations

import pytest

from metier.scan.languages.text import LineIndex, find_hidden, normalise


def tags(text: str) -> str:
    return "".join(chr(0xE0000 + ord(letter)) for letter in text)


def selectors(data: bytes) -> str:
    return "".join(chr(0xFE00 + byte) if byte < 16 else chr(0xE0100 + byte - 16) for byte in data)


def bits(text: str) -> str:
    return "".join("\u200b\u200c"[int(bit)] for byte in text.encode() for bit in f"{byte:08b}")


@pytest.mark.parametrize(
    ("original", "plain"),
    [  # ZE-28: what is dropped before matching, and what is not
        ("ig\u200bno\u200cre\u200d", "ignore"),
        ("ig\u00adnore", "ignore"),
        ("\u202eignore\u202c \u2066this\u2069", "ignore this"),
        ("ig\x00no\x08re\x7f", "ignore"),
        ("a\tb\nc", "a\tb\nc"),
        ("a\r\nb\rc\r\r\nd", "a\nb\nc\n\nd"),
        (f"ignore{tags('all')}", "ignore"),
        ("i\ufe0fgnore", "ignore"),
        ("\ufeffignore", "ignore"),
        ("\uff49\uff47\uff4e\uff4f\uff52\uff45", "ignore"),
        ("\U0001d422\U0001d420\U0001d427\U0001d428\U0001d42b\U0001d41e", "ignore"),
        ("\ufb01le \u2460", "file 1"),
        ("cafe\u0301", "caf\u00e9"),
        ("cafe\u200b\u0301", "caf\u00e9"),
        ("\u026a\u0262\u0274\u1d0f\u0280\u1d07", "ignore"),
        ("\U0001f178\U0001f176\U0001f17d\U0001f17e\U0001f181\U0001f174", "IGNORE"),
    ],
)
def test_what_a_reader_does_not_see_is_dropped_and_forms_are_resolved(
    original: str, plain: str
) -> None:
    assert plain == normalise(original).plain


@pytest.mark.parametrize(
    ("original", "plain"),
    [
        ("Ign\u043ere", "Ignore"),
        ("p\u0430yp\u0430l", "paypal"),
        ("send a \u0441\u043e\u0440\u0443 now", "send a copy now"),
        ("\u0421\u043e\u03c1y", "Copy"),
    ],
)
def test_lookalikes_are_latin_in_mixed_words_and_among_latin_words(
    original: str, plain: str
) -> None:
    assert plain == normalise(original).plain


@pytest.mark.parametrize(
    "honest",
    [
        "\u0417\u0430\u043f\u0443\u0441\u0442\u0438\u0442\u0435 Docker \u0441 \u043a\u043b\u044e\u0447\u043e\u043c",
        "\u043e\u043d \u0438 \u043e\u043d\u0430",
        "\u039a\u03b1\u03bb\u03b7\u03bc\u03ad\u03c1\u03b1 \u03ba\u03cc\u03c3\u03bc\u03b5",
        "\u0430 \u0440\u043e\u0441\u0430",
        "\u4f60\u597d\uff0c\u4e16\u754c".replace("\uff0c", " "),
    ],
)
def test_honest_text_of_another_script_is_left_as_it_is(honest: str) -> None:
    assert honest == normalise(honest).plain


def test_plain_ascii_comes_back_as_the_same_object() -> None:
    original = "Fill in forms.\n\tRun it.\n"

    text = normalise(original)

    assert original is text.plain
    assert 7 == text.origin(7)


def test_a_match_is_told_at_its_place_in_the_original() -> None:
    original = "x\u200b\u200b \ufb01x: ig\u00adn\u043ere it"
    text = normalise(original)
    at = text.plain.index("ignore")

    start, end = text.span(at, at + len("ignore"))

    assert "ig\u00adn\u043ere" == original[start:end]


def test_every_letter_of_an_expanded_form_stands_at_the_one_place() -> None:
    text = normalise("a\ufb03b")

    assert [0, 1, 1, 1, 2, 3] == [text.origin(at) for at in range(6)]


def test_a_pile_of_accents_is_cut_down() -> None:
    text = normalise("a" + "\u0316\u0300" * 5000 + "b")

    assert len(text.plain) < 40
    assert 10001 == text.origin(len(text.plain) - 1)


@pytest.mark.parametrize(
    ("original", "expected"),
    [  # HE-32
        ("a\u200bb", [("zero-width", 1, 2, "")]),
        ("a\u200b\u200c\u2060b", [("zero-width", 1, 4, "")]),
        ("a\ufeffb", [("zero-width", 1, 2, "")]),
        ("a\u202eb\u2066c", [("bidi", 1, 2, ""), ("bidi", 3, 4, "")]),
        ("so\u00adft", [("soft-hyphen", 2, 3, "")]),
        ("\x1b[31mred", [("control", 0, 1, "")]),
        ("safe\rrm -rf", [("carriage-return", 4, 5, "")]),
        ("\ue000x", [("private-use", 0, 1, "")]),
        (f"hi{tags('ignore all')}", [("tag", 2, 12, "ignore all")]),
        (f"\U0001f600{selectors(b'secret')}", [("variation", 1, 7, "secret")]),
        (f"a{bits('run')}b", [("zero-width", 1, 25, "run")]),
        ("e\ufe0f", [("variation", 1, 2, "")]),
    ],
)
def test_hidden_characters_are_told_with_what_they_spell(
    original: str, expected: list[tuple[str, int, int, str]]
) -> None:
    assert expected == [tuple(one) for one in find_hidden(original)]


@pytest.mark.parametrize(
    "letter",
    list(
        "\u200b\u200c\u200d\u2060\u2062\u2063\u2064\ufeff\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
    ),
)
def test_each_of_the_seventeen_invisible_characters_is_found(letter: str) -> None:  # HE-32
    assert [(4, 5)] == [(one.start, one.end) for one in find_hidden(f"word{letter}word")]


@pytest.mark.parametrize(
    "honest",
    [
        "plain\ttext\n",
        "line\r\nline\r\r\n",
        "\ufeffstart",
        "\U0001f468\u200d\U0001f469\u200d\U0001f467",
        "\u2764\ufe0f 1\ufe0f\u20e3 \u2139\ufe0f",
        "\u2764\ufe0f\u200d\U0001f525",
        f"\U0001f3f4{tags('gbsct')}{tags(chr(127))}",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        "\u0915\u094d\u200d\u0937",
        "\u05e9\u05dc\u05d5\u05dd\u200f!",
        "\u845b\U000e0100",
        "page\x0cbreak",
    ],
)
def test_what_writing_and_emoji_need_is_not_reported(honest: str) -> None:
    assert [] == find_hidden(honest)


@pytest.mark.parametrize(
    ("at", "place"), [(0, (1, 1)), (1, (1, 2)), (3, (2, 1)), (5, (3, 1)), (7, (4, 1)), (9, (4, 3))]
)
def test_lines_and_columns_count_from_one_whatever_ends_a_line(
    at: int, place: tuple[int, int]
) -> None:
    lines = LineIndex("a\r\nb\nc\rdef")

    assert place == lines.place(at)
