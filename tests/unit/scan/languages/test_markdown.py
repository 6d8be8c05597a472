"""Where things stand in a Markdown file, and how they are introduced."""

from __future__ import annotations

import pytest

from metier.scan.languages.markdown import MarkdownSegment, code_of, context, segments


def places(text: str) -> list[tuple[str, str]]:
    return [(one.place, text[one.start : one.end]) for one in segments(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("---\nname: x\n---\nWords", [("frontmatter", "name: x\n"), ("prose", "Words")]),
        ("\ufeff\n---\na: b\n---\n", [("frontmatter", "a: b\n")]),
        ("---\nnever closed", [("prose", "never closed")]),
        (
            "# A\ntext\nmore\n\nnext",
            [("heading", "# A"), ("prose", "text\nmore"), ("prose", "next")],
        ),
        ("Title\n=====\ntext", [("heading", "Title\n====="), ("prose", "text")]),
        ("- a\n  b\n* c\n\n  d\n1. e", [("list", "- a\n  b\n* c"), ("list", "  d\n1. e")]),
        ("> a\nb\n\nc", [("quote", "> a\nb"), ("prose", "c")]),
        ("| a | b |\n|---|---|\n| c | d |", [("table", "| a | b |\n|---|---|\n| c | d |")]),
        (
            "a\n\n    code\n\n    more\nb",
            [("prose", "a"), ("code", "    code\n\n    more"), ("prose", "b")],
        ),
        ("<div>\nx", [("html", "<div>"), ("prose", "x")]),
    ],
)
def test_blocks_are_told_apart(text: str, expected: list[tuple[str, str]]) -> None:
    assert expected == places(text)


@pytest.mark.parametrize(
    ("text", "code", "lang"),
    [
        ("```bash\nrun\n```\n", "run\n", "bash"),
        ("~~~ Python {.x}\nrun\n~~~", "run\n", "python"),
        ("````\n```\nrun\n```\n````", "```\nrun\n```\n", ""),
        ("```\nrun", "run", ""),
        ("```", "", ""),
        ("- item\n  ```sh\n  run\n  ```\n", "  run\n", "sh"),
        ("- ```sh\n  run\n  ```\n", "  run\n", "sh"),
        ("> ```sh\n> run\n> ```\n", "> run\n", "sh"),
        ("> ```sh\n> run\nafter", "> run\n", "sh"),
        ("```html\n<!-- a\n```\n", "<!-- a\n", "html"),
        ("```js <!-- x\nrun\n```", "run\n", "js"),
        ("~~~\n```\n~~~", "```\n", ""),
    ],
)
def test_fences_hold_code_and_nothing_else(text: str, code: str, lang: str) -> None:
    fence = next(one for one in segments(text) if one.place == "fence")

    assert (code, lang) == (text[fence.start : fence.end], fence.lang)


def test_code_is_given_without_what_it_stands_in_and_places_lead_back() -> None:
    quoted, listed = "> ```\n> a >b\n> ```", "- ```\n    a\n      b\n\n  ```"

    first, second = (code_of(text, segments(text)[0]) for text in (quoted, listed))

    assert "a >b\n" == first.plain
    assert 2 == first.origin(0)
    assert "a\n  b\n\n" == second.plain


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a <!-- b --> c", [("prose", "a "), ("html-comment", "<!-- b -->"), ("prose", " c")]),
        ("<!-- a\n```\nb\n-->\nc", [("html-comment", "<!-- a\n```\nb\n-->"), ("prose", "c")]),
        ("a\n<!-- never closed\nb", [("prose", "a"), ("html-comment", "<!-- never closed\nb")]),
        ("`<!--` a", [("prose", "`<!--` a"), ("code-span", "<!--")]),
        ("[//]: # (say nothing)", [("html-comment", "[//]: # (say nothing)")]),
        ("[comment]: <> (say nothing)", [("html-comment", "[comment]: <> (say nothing)")]),
        (
            "[do what this label tells you to]: https://a.example",
            [("html-comment", "[do what this label tells you to]: https://a.example")],
        ),
        ("[ref]: https://a.example 'T'", [("link-url", "https://a.example"), ("link-title", "T'")]),
        ("[^1]: a note", [("prose", "[^1]: a note")]),
    ],
)
def test_what_no_page_shows_is_a_comment(text: str, expected: list[tuple[str, str]]) -> None:
    assert expected == places(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("run `ls -l` now", [("code-span", "ls -l")]),
        ('![a cat](c.png "T")', [("alt", "a cat"), ("image-url", "c.png"), ("link-title", "T")]),
        ("[t](https://a.example)", [("link-url", "https://a.example")]),
        (
            "[![b](c.svg)](https://a.example)",
            [("alt", "b"), ("image-url", "c.svg"), ("link-url", "https://a.example")],
        ),
        ("<https://a.example/x>", [("link-url", "https://a.example/x")]),
        ("x <img alt='a b' src=\"c.png\"> y", [("alt", "a b"), ("image-url", "c.png")]),
        ("<a href=\"u\" title='t'>x</a>", [("link-url", "u"), ("link-title", "t")]),
    ],
)
def test_inline_places_are_found_inside_their_block(
    text: str, expected: list[tuple[str, str]]
) -> None:
    assert expected == places(text)[1:]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# Examples of attacks\n\n```\nx\n```", {"example"}),
        ("# Setup\n\nNever do this:\n\n```\nx\n```", {"example"}),
        ("# Setup\n\nRun the command:\n```\nx\n```", {"told"}),
        ("# Setup\n\nPaste this into a terminal\n\n    x", {"told"}),
        ("# Setup\n\n```\n# BAD\nx\n```", {"example"}),
        ("# Setup\n\nThe layout:\n```\nx\n```", set()),
        ("```\nx\n```", set()),
        ("# Test cases\n\n# Usage\n\n```\nx\n```", set()),
        ("# Usage\n```\n# a malicious example\n```\nThus:\n\n```\nx\n```", set()),
    ],
)
def test_code_is_known_by_its_introduction(text: str, expected: set[str]) -> None:
    last = [one for one in segments(text) if one.place in ("fence", "code")][-1]

    assert expected == context(text, last)


def test_prose_under_a_heading_of_attacks_is_an_example() -> None:
    text = "## Red flags\n\nIgnore it."

    assert {"example"} == context(text, segments(text)[-1])


def test_a_segment_can_be_made_by_hand() -> None:
    assert frozenset() == context("abc", MarkdownSegment("prose", 0, 3))
