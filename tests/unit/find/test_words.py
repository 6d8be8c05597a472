"""The words by which a text is found are the same for what is indexed and for what is asked."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from metier.find.words import (
    MAX_RUN_CHARS,
    MAX_WORD_CHARS,
    counts,
    folded,
    identifiers,
    plain_words,
    roots,
    stem,
    telling_chars,
    words,
)

TEXTS = st.text(
    alphabet=st.sampled_from(
        "aBc1-_+# \n.éßÜł日本語がकก\u093f\u0e34\u200d\ufe0f\u0301\u3099\udcff\x00😀İ"
    ),
    max_size=40,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Deploy the app", ["deploy", "the", "app"]),
        ("foo_bar-baz/qux.py", ["foo", "bar", "baz", "qux", "py"]),
        ("getHTTPResponse", ["gethttpresponse", "get", "http", "response"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("URLParser", ["urlparser", "url", "parser"]),
        ("IOError", ["ioerror", "io", "error"]),
        ("XMLParser", ["xmlparser", "xml", "parser"]),
        ("getXMLSchema", ["getxmlschema", "get", "xml", "schema"]),
        ("OAuth2Client", ["oauth2client", "auth2", "client"]),
        ("3D", ["3d"]),
        ("PDFs and parseURLs", ["pdfs", "and", "parseurls", "parse", "urls"]),
        ("HTTP I AM", ["http", "i", "am"]),
        ("C++ and C# or F#", ["c++", "and", "c#", "or", "f#"]),
        ("## Heading ##", ["heading"]),
        ("a+b", ["a", "b"]),
        ("Café Ångström", ["cafe", "angstrom"]),
        ("Straße", ["strasse"]),
        (
            "Łódź smørrebrød Đakovo Ħal \u0131\u015f\u0131k",
            ["lodz", "smorrebrod", "dakovo", "hal", "isik"],
        ),
        ("Cæsar œuvre þing", ["caesar", "oeuvre", "thing"]),
        ("co\u00adoperate", ["cooperate"]),
        ("हिन्दी में लिखना।", ["हिन्दी", "में", "लिखना"]),
        ("தமிழ் மொழி", ["தமிழ்", "மொழி"]),
        ("বাংলা ভাষা", ["বাংলা", "ভাষা"]),
        ("ක්\u200dර", ["ක්ර"]),
        ("ที่นี่ดี", ["ที่นี่", "นี่ดี"]),
        ("ไทย", ["ไท", "ทย"]),
        ("မြန်မာ", ["မြန်", "န်မာ"]),
        ("שָׁלוֹם", ["שלום"]),
        ("1\ufe0f\u20e3 a\ufe0f", ["1", "a"]),
        ("\u093fक \u0e34", ["क"]),
        ("日本語", ["日本", "本語"]),
        ("東", ["東"]),
        ("Pythonで書く", ["python", "で書", "書く"]),
        ("がぎ", ["がぎ"]),
        ("ﬁne №1", ["fine", "no1"]),
        ("😀 ✨", []),
        ("", []),
    ],
)
def test_a_text_has_these_words(text: str, expected: list[str]) -> None:
    found = plain_words(text)

    assert expected == found


@pytest.mark.parametrize(
    "forms",
    [
        ("deploy", "deploys", "deployed", "deploying", "deployment", "deployments"),
        ("query", "queries"),
        ("class", "classes"),
        ("box", "boxes"),
        ("run", "runs"),
        ("plan", "planned", "planning"),
        ("generate", "generates", "generated", "generating"),
        ("analysis",),
        ("kubernetes",),
    ],
)
def test_forms_of_a_word_share_a_stem(forms: tuple[str, ...]) -> None:
    stems = {stem(form) for form in forms}

    assert 1 == len(stems)


@pytest.mark.parametrize("word", ["is", "c++", "日本", "v2s", "straßen", "über"])
def test_what_is_short_or_not_english_is_its_own_stem(word: str) -> None:
    assert word == stem(word)


def test_a_line_of_data_is_no_word() -> None:
    found = plain_words(f"{'a' * MAX_WORD_CHARS} {'b' * (MAX_WORD_CHARS + 1)} {'getX' * 20}")

    assert ["a" * MAX_WORD_CHARS] == found


@pytest.mark.parametrize("marks", ["", "\u0e34", "\u0e34\u0e48"])
def test_no_pair_of_a_long_run_is_lost(marks: str) -> None:
    characters = [chr(code) + marks for code in range(0x4E00, 0x4E00 + 2 * MAX_RUN_CHARS + 99)]

    found = plain_words("".join(characters))

    assert [one + other for one, other in pairwise(characters)] == found


def test_a_long_run_of_other_words_is_cut_between_them() -> None:
    found = plain_words(("é" * 31 + "—") * 100)

    assert ["e" * 31] * 100 == found


@pytest.mark.parametrize("mark", ["\u0301", "\u093f", "\u0e34", "\u3099", "\u200d"])
def test_a_long_run_of_marks_is_no_word(mark: str) -> None:
    assert ["x"] == plain_words(mark * 5000 + " x")


def test_what_is_no_text_parts_words() -> None:
    assert ["so", "so"] == plain_words("\udcffso\x00so\ud800")


@given(TEXTS, TEXTS)
def test_a_text_of_two_parts_has_the_words_of_both(one: str, other: str) -> None:
    together = set(words(f"{one}\n{other}"))

    assert set(words(one)) | set(words(other)) == together


@given(st.text())
def test_words_are_short_and_without_case_accents_or_spaces(text: str) -> None:
    found = plain_words(text)

    assert [] == [
        word
        for word in found
        if not word
        or len(word) > MAX_WORD_CHARS
        or word.split() != [word]
        or word != word.casefold()
    ]
    assert [folded(word) for word in found] == found


@given(
    st.one_of(
        TEXTS,
        st.text(),
        st.lists(
            st.sampled_from(
                ["getURL", "getUrl", "éGetFoo", "a#B", "x" * 50, "tests", "Test", "日本C"]
            )
        ).map(" ".join),
    )
)
def test_what_is_counted_at_once_is_what_is_counted_word_by_word(text: str) -> None:
    assert Counter(words(text)) == counts(text)


@given(st.one_of(TEXTS, st.text()))
def test_without_identifiers_all_roots_are_all_words(text: str) -> None:
    found = roots(text.lower())

    assert {} == identifiers(text.lower())
    assert words(text.lower()) == found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("can you please help me", 0),
        ("Can you, please?", 0),
        ("? -- !", 0),
        ("fill in a form", 8),
        ("c++", 3),
        ("what is c#", 2),
        ("請 🧾", 2),
        ("x" * 200, 200),
    ],
)
def test_only_words_that_say_something_are_counted(text: str, expected: int) -> None:
    assert expected == telling_chars(text)
