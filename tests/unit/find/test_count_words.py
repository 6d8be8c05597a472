"""A skill's words are counted field by field, and a heading is one only outside a code fence."""

from __future__ import annotations

import pytest

from metier.find.model import SkillText
from metier.find.words import BODY, DESCRIPTION, FIELDS, NAME, TAGS, count_words, exact_tag, titles


def skill(
    name: str = "", description: str = "", tags: tuple[str, ...] = (), body: str = ""
) -> SkillText:
    return SkillText("/s", b"", name, description, tags, (), body)


def test_each_field_counts_its_own_words_by_their_stems() -> None:
    found = count_words(skill("pdf-tools", "Reads PDFs and reads more", (), "read\n# Reading\n"))

    assert {"pdf": 1, "tool": 1} == found.counts[NAME]
    assert {"read": 2, "pdf": 1, "and": 1, "more": 1} == found.counts[DESCRIPTION]
    assert {"read": 2} == found.counts[BODY]
    assert (frozenset({"read"}), (2, 5, 0, 2, 1)) == (found.headed, found.lengths)
    assert len(FIELDS) == len(found.lengths)


def test_a_tag_counts_by_its_words_and_as_a_whole() -> None:
    found = count_words(skill(tags=("Data  Science", "C++")))

    assert {"data": 1, "scienc": 1, "c++": 1, "\0data science": 1, "\0c++": 1} == found.counts[TAGS]
    assert 3 == found.lengths[TAGS]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("# One\ntext\n###### Six\n####### seven\n", ["One", "Six"]),
        ("#no\n # no\ntext # no", []),
        ("```\n# in a fence\n```\n# out", ["out"]),
        ("~~~~\n# in\n~~~\n# in\n```\n# in\n~~~~\n# out", ["out"]),
        ("````\n```\n# in\n````\n# out", ["out"]),
        ("```py `x`\n# out: such a line opens none", ["out: such a line opens none"]),
        ("```\n# never closed", []),
        ("``` not closed here ```\n# out", ["out"]),
        ("   ```\n# in\n``` text\n# in\n```\n# out", ["out"]),
        ("# a\r\n# b\r\n", ["a\r", "b\r"]),
    ],
)
def test_these_lines_are_headings(body: str, expected: list[str]) -> None:
    assert expected == list(titles(body))


@pytest.mark.parametrize(
    ("tag", "expected"),
    [
        ("  Data\tScience ", "data science"),
        ("STRASSE", "strasse"),
        ("ß", "ss"),
        ("Cafe\u0301", "caf\u00e9"),
        ("CAF\u00c9", "caf\u00e9"),
        ("x" * 300, "x" * 200),
    ],
)
def test_tags_are_the_same_whatever_their_case_and_spaces(tag: str, expected: str) -> None:
    assert expected == exact_tag(tag)
