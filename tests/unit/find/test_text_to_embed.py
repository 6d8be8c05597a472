"""The text that a skill's vector is made of."""

from __future__ import annotations

import pytest

from metier.find.refresh import DESCRIPTION_CHARACTERS, LEAD_CHARACTERS, body_lead, text_to_embed


@pytest.mark.parametrize(
    ("skill", "expected"),
    [
        (
            ("pdf-forms", "Fills in forms.", "# PDF\n\nOpen the file,\nthen fill it in.\n"),
            "pdf forms: Fills in forms. Open the file, then fill it in.",
        ),
        (("pdf", "", ""), "pdf:"),
        (("", "Only a description.", "# Only a heading"), ": Only a description."),
        (
            ("pdf", "One.", "  indented\t text  \r\n\n## Heading\nafter"),
            "pdf: One. indented text after",
        ),
    ],
)
def test_a_name_a_description_and_the_beginning_of_the_body_make_one_text(
    skill: tuple[str, str, str], expected: str
) -> None:
    assert expected == text_to_embed(*skill)


def test_a_long_skill_gives_a_short_text() -> None:
    text = text_to_embed("n" * 10_000, "d" * 10_000, "b " * 1_000_000)

    assert 100 + 2 + DESCRIPTION_CHARACTERS + 1 + LEAD_CHARACTERS >= len(text)


def test_headings_are_no_part_of_how_a_body_begins() -> None:
    assert "first second" == body_lead("# One\nfirst\n## Two\nsecond\n#3")
