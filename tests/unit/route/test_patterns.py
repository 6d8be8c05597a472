"""Patterns of strangers: found where the usual matcher finds them, refused with a reason, never slow."""

from __future__ import annotations

import re

import pytest

from metier.route.patterns import MOST_CHARS, MOST_TEXT, Pattern, PatternError

PATTERNS = [
    "Stripe", r"https?://github\.com/", "^a", "a$", r"\bcat\b", r"\Bat", "(?i)STRIPE", "a|b|", "(a|b)+c", "(?:ab){2}", "x{,2}y", "a{2,}", "a{2,3}?b",
    r"[^a-c\s]", "[]a]", "[a-]", r"[\d_]+", r"\w+@\w+\.\w+", r"\d{3}-\d{4}", ".", r"\x41\u00e9", "(?P<name>a)b", "a{x}", "{", r"[\b]", "()", "a**?"[:2],
    "a{,}", "x{,}y", "a{0}b", "a{0000000000000002}b", "a{,}{", "{}", "a{}", r"(?i)\W", r"(?i)[^\w]", "(?i)[a-z]", r"\AGit|Hub\Z", r"\D\W\S", "(a+)+b", "(?i)[^A]b", r"[\w-]+",
]  # fmt: skip
TEXTS = [
    "", "a", "b", "ab", "abab", "Stripe — Dashboard", "see http://github.com/x", "cat", "concat", "cats", "aab", "aaab", "xxy", "y", "]", "-", "_1",
    "me@example.com", "555-1234", "\n", "a\n", "A\u00e9", "a{x}", "{", "\b", "GitHub", "Git", "x1 y", "aaaaac", "AB", "bb", "\u0130", "\u0131", "\u212a", "\u00df", "\u1e9e", "a{}", "{}",
]  # fmt: skip


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_is_found_where_the_usual_matcher_finds_it(pattern: str) -> None:
    usual, ours = re.compile(pattern), Pattern(pattern)

    assert [bool(usual.search(text)) for text in TEXTS] == [ours.found_in(text) for text in TEXTS]


REFUSED = [
    ("", "it is empty"),
    ("a" * (MOST_CHARS + 1), "it has more than 500 characters"),
    ("(", "a group is not closed"),
    (")", "a group is closed that was never opened"),
    ("[a", "it ends too early"),
    ("\\", "it ends too early"),
    ("*a", "there is nothing to repeat before '*'"),
    ("{0}", "there is nothing to repeat before '{'"),
    ("{,}", "there is nothing to repeat before '{'"),
    ("a|{2}", "there is nothing to repeat before '{'"),
    ("({,3})", "there is nothing to repeat before '{'"),
    ("a**", "a repeat is repeated"),
    ("a{2}{3}", "a repeat is repeated"),
    ("a*{2}", "a repeat is repeated"),
    ("a++", "a repeat is repeated"),
    ("^*", "a place cannot be repeated"),
    ("(?=a)", "only plain groups are known: no look around, no reference back"),
    ("(?<!a)b", "only plain groups are known: no look around, no reference back"),
    (r"(a)\1", r"'\1' is not known"),
    (r"\p", r"'\p' is not known"),
    (r"\xzz", "a character's number is not one"),
    ("[b-a]", "a range of characters is the wrong way round"),
    ("a{3,2}", "a repeat has a wrong count"),
    ("a{9999}", "a repeat has a wrong count"),
    ("((a{99}){99}){99}", "it is too large once its repeats are written out"),
    ("((){2000}){2000}", "it is too large once its repeats are written out"),
    ("(" * 100 + ")" * 100, "its groups are nested too deeply"),
]


@pytest.mark.parametrize(("pattern", "why"), REFUSED)
def test_a_pattern_that_is_refused_says_why(pattern: str, why: str) -> None:
    with pytest.raises(PatternError) as raised:
        Pattern(pattern)

    assert why == str(raised.value)


SAME_BUT_FOR_CASE = "iI\u0130\u0131kK\u212asS\u017f\u00df\u1e9e\u00e5\u00c5\u212b\u03c3\u03a3\u03c2\u03b8\u03d1\u03f4\u0398\u01c4\u01c5\u01c6\u1f80\u1f88\u0390\u1fd3\ufb05\ufb06\u0432\u1c80"


@pytest.mark.parametrize("char", SAME_BUT_FOR_CASE)
def test_case_counts_as_little_as_it_does_for_the_usual_matcher(char: str) -> None:
    for pattern in (f"(?i){char}", f"(?i)[^{char}]", f"(?i)[{char}-{chr(ord(char) + 1)}]"):
        usual, ours = re.compile(pattern), Pattern(pattern)
        assert [bool(usual.search(text)) for text in SAME_BUT_FOR_CASE] == [ours.found_in(text) for text in SAME_BUT_FOR_CASE]


def test_only_the_first_part_of_a_text_is_searched() -> None:
    assert Pattern("b").found_in("a" * (MOST_TEXT - 1) + "b")
    assert not Pattern("b").found_in("a" * MOST_TEXT + "b")
    assert (True, False) == (Pattern("a$").found_in("a" * MOST_TEXT), Pattern("a$").found_in("a" * MOST_TEXT + "b"))


def test_a_pattern_may_be_searched_for_again_and_again() -> None:
    pattern = Pattern("a+b")

    assert [True, False, True] == [pattern.found_in(text) for text in ("aab", "aa", "xab")]
