"""Sections of a body: which lines are headings, what belongs to each, and how one is found again."""

from __future__ import annotations

import pytest

from metier.disclose import sections
from metier.errors import NotFoundError
from metier.standard.plain_text import estimate

BODY = """Before.

# Read

Read it.

## Pages

One by one.

# Fill

## Pages

All at once.
"""


def headings(body: str) -> list[str]:
    return [part.heading for part in sections.sections(body)]


def test_a_parent_contains_its_children_and_ends_at_the_next_of_its_level() -> None:
    found = {part.heading: part for part in sections.sections(BODY)}

    assert ["", "Read", "Pages", "Fill", "Pages (2)"] == list(found)
    assert "# Read\n\nRead it.\n\n## Pages\n\nOne by one.\n\n" == found["Read"].content
    assert "## Pages\n\nOne by one.\n\n" == found["Pages"].content
    assert "# Fill\n\n## Pages\n\nAll at once.\n" == found["Fill"].content
    assert [(0, 1), (1, 3), (2, 7), (1, 11), (2, 13)] == [
        (part.level, part.line) for part in found.values()
    ]


def test_each_section_has_the_token_cost_of_its_own_content() -> None:
    found = sections.sections(BODY)

    assert [estimate(part.content) for part in found] == [part.tokens for part in found]
    assert [len(part.content) for part in found] == [
        part.tokens for part in sections.sections(BODY, len)
    ]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("", []),
        ("  \n\n", []),
        ("Only text.\n", [""]),
        ("# A", ["A"]),
        ("   ### A ###  \n", ["A"]),
        ("    # code\n", [""]),
        ("#no space\n", [""]),
        ("####### seven\n", [""]),
        ("#\n", ["untitled"]),
        ("# C#\n", ["C#"]),
        ("# A\\#\n", ["A\\#"]),
        ("#\tTab\n", ["Tab"]),
        ("A\n===\n\nB\n---\n", ["A", "B"]),
        ("two\nlines\n===\n", ["two lines"]),
        ("\n---\n\ntext\n", [""]),
        ("---\nA\n===\n", ["", "A"]),
        ("- item\n---\n", [""]),
        ("- item\n\n  more\n---\n", [""]),
        ("1. item\n---\n# A\n", ["", "A"]),
        ("> quoted\n---\n", [""]),
        ("text\n> quoted\n---\n", [""]),
        ("* * *\nA\n---\n", ["", "A"]),
        ("```sh\n# no\n```\n# A\n", ["", "A"]),
        ("~~~\n# no\n```\n# no\n~~~\n# A\n", ["", "A"]),
        ("````\n```\n# no\n```\n````\n# A\n", ["", "A"]),
        ("```\n# never closed\n", [""]),
        ("``` not`a fence\n# A\n", ["", "A"]),
        ("- a\n    ```\n# no\n    ```\n# A\n", ["", "A"]),
        ("<!--\n# no\n-->\n# A\n", ["", "A"]),
        ("<!-- # no --> text\n# A\n", ["", "A"]),
        ("text <!-- a\n# no\n--> b\n# A\n", ["", "A"]),
        ("write `<!--` to begin one\n# A\n", ["", "A"]),
        ("never closed <!-- here\n# A\n", ["", "A"]),
        ("<!-- a\n--> <!-- b\n# no\n-->\n# A\n", ["", "A"]),
        ("<pre>\n# no\n</pre>\n# A\n", ["", "A"]),
        ("A\r\n===\r\nx\r\n# B\r\n", ["A", "B"]),
        ("# A\r# B", ["A", "B"]),
        ("# A\u2028# B\n", ["A # B"]),
        ("# A (2)\n# A\n# A\n", ["A (2)", "A", "A (3)"]),
        ("# " + "x" * 500, ["x" * 200]),
    ],
)
def test_what_counts_as_a_heading(body: str, expected: list[str]) -> None:
    assert expected == headings(body)


@pytest.mark.parametrize(
    ("wanted", "line"),
    [
        ("Read", 3),
        ("read", 3),
        ("  READ ", 3),
        ("# Read", 3),
        ("Pages", 7),
        ("Pages (2)", 13),
        ("pages-2", 13),
        ("Fill > Pages", 13),
        ("fill > pages", 13),
        ("Read > Pages", 7),
        ("", 1),
    ],
)
def test_a_section_is_found_by_heading_case_slug_and_path(wanted: str, line: int) -> None:
    assert line == sections.section_named("pdf", wanted, sections.sections(BODY)).line


def test_an_exact_heading_wins_over_one_that_differs_in_case() -> None:
    parts = sections.sections("# setup\na\n# Setup\nb\n")

    assert ["setup", "Setup"] == [
        sections.section_named("pdf", wanted, parts).heading for wanted in ("setup", "Setup")
    ]


def test_a_heading_that_reads_like_a_path_is_found_as_it_is() -> None:
    parts = sections.sections("# File > Open\nx\n")

    assert "File > Open" == sections.section_named("pdf", "File > Open", parts).heading


@pytest.mark.parametrize("wanted", ["nope", "Read > Fill", "???", "Pages (3)"])
def test_an_unknown_section_names_those_there_are(wanted: str) -> None:
    with pytest.raises(NotFoundError) as error:
        sections.section_named("pdf", wanted, sections.sections(BODY))

    assert "available: Read; Pages; Fill; Pages (2)" == error.value.hint
    assert ["Read", "Pages", "Fill", "Pages (2)"] == error.value.details["available_sections"]


def test_headings_beyond_the_limit_stay_in_the_last_section() -> None:
    found = sections.sections("# a\n" * (sections.MAX_SECTIONS + 5))

    assert sections.MAX_SECTIONS == len(found)
    assert "# a\n" * 6 == found[-1].content
