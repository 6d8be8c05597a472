"""Patterns of strangers: searched by google-re2 or refused with a reason, never handed to a matcher that may hang."""

from __future__ import annotations

import re
import sys

import pytest

from metier.standard.patterns import (
    NoPatternEngineError,
    PatternError,
    pattern_compiler,
    searchable,
)

PATTERNS = [
    "Stripe",
    r"https?://github\.com/",
    "^a",
    r"\bcat\b",
    r"\Bat",
    "(?i)STRIPE",
    "a|b|",
    "(a|b)+c",
    "(?:ab){2}",
    "x{0,2}y",
    "a{2,}",
    "a{2,3}?b",
    r"[^a-c\s]",
    "[]a]",
    "[a-]",
    r"[\d_]+",
    r"\w+@\w+\.\w+",
    r"\d{3}-\d{4}",
    ".",
    r"\x41\x{e9}",
    "(?P<name>a)b",
    "a{x}",
    "{",
    "()",
    "a{0}b",
    "{}",
    "a{}",
    "(?i)[a-z]",
    r"\AGit",
    r"\D\W\S",
    "(a+)+b",
    "(?i)[^A]b",
    r"[\w-]+",
]
TEXTS = [
    "",
    "a",
    "b",
    "ab",
    "abab",
    "Stripe — Dashboard",
    "see http://github.com/x",
    "cat",
    "concat",
    "cats",
    "aab",
    "aaab",
    "xxy",
    "y",
    "]",
    "-",
    "_1",
    "me@example.com",
    "555-1234",
    "\n",
    "a\n",
    "A\u00e9",
    "a{x}",
    "{",
    "GitHub",
    "Git",
    "x1 y",
    "aaaaac",
    "AB",
    "bb",
    "a{}",
    "{}",
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_is_found_where_the_usual_matcher_finds_it(pattern: str) -> None:
    pytest.importorskip("re2", reason="needs google-re2")
    usual, ours = re.compile(pattern.replace("x{e9}", "xe9"), re.ASCII), pattern_compiler()(pattern)

    assert [bool(usual.search(text)) for text in TEXTS] == [
        bool(ours.search(text)) for text in TEXTS
    ]


REFUSED = [
    ("(", "missing ): ("),
    (")", "unexpected ): )"),
    ("[a", "missing ]: [a"),
    ("\\", "trailing \\"),
    ("*a", "no argument for repetition operator: *"),
    ("a**", "bad repetition operator: **"),
    ("(?=a)", "invalid perl operator: (?="),
    ("(?<!a)b", "invalid perl operator: (?<"),
    (r"(a)\1", r"invalid escape sequence: \1"),
    ("[b-a]", "invalid character class range: b-a"),
    ("a{3,2}", "invalid repetition size: {3,2}"),
    ("a{9999}", "invalid repetition size: {9999}"),
    (r"\pL{999}", "pattern too large - compile failed"),
    ("a\ud800", "it has half of a character"),
]


@pytest.mark.parametrize(("pattern", "why"), REFUSED)
def test_a_pattern_that_is_refused_says_why(pattern: str, why: str) -> None:
    pytest.importorskip("re2", reason="needs google-re2")

    with pytest.raises(PatternError) as raised:
        pattern_compiler()(pattern)

    assert str(raised.value).startswith(why)


def test_without_the_engine_nothing_else_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "re2", None)

    with pytest.raises(NoPatternEngineError) as raised:
        pattern_compiler()

    assert "google-re2 is not installed (pip install 'metier[rules]')" == str(raised.value)


def test_a_lone_surrogate_is_one_other_character() -> None:
    assert "a?b" == searchable("a\ud800b")
    assert "a\U0001f327" == searchable("a\U0001f327")
