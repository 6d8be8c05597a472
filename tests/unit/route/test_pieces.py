"""The texts that are embedded: a card, and the first parts of the body under name and heading."""

from __future__ import annotations

from metier.route.pieces import CARD_CHARACTERS, PASSAGE_CHARACTERS, PASSAGES, WHOLE_CHARACTERS, card, passages


def test_a_card_is_the_name_as_words_and_the_description() -> None:
    assert "pdf form filler: Fills in forms." == card("pdf-form-filler", "Fills in forms.")


def test_a_card_is_cut() -> None:
    found = card("pdf", "x" * 5000)

    assert CARD_CHARACTERS == len(found)
    assert found.startswith("pdf: xxx")


def test_a_short_body_is_one_passage_under_its_last_heading() -> None:
    found = passages("pdf-forms", "# Forms\n\n  Fill them in.\n\n## Check\nLook again.\n")

    assert ["pdf forms - Check: # Forms\nFill them in.\n## Check\nLook again.\n"] == found


def test_a_long_body_is_cut_between_lines_and_each_part_has_the_heading_that_it_ends_under() -> None:
    body = "# One\n" + ("a" * 99 + "\n") * 7 + "# Two\n" + ("b" * 99 + "\n") * 7

    found = passages("x", body)

    assert ["x - Two: # One\n" + ("a" * 99 + "\n") * 7 + "# Two\n", "x - Two: " + ("b" * 99 + "\n") * 7] == found


def test_there_are_a_few_passages_at_most() -> None:
    found = passages("x", "word " * 100 + "\n" + ("y" * 500 + "\n") * 50)

    assert PASSAGES == len(found)


def test_a_line_longer_than_a_passage_is_one_passage_and_cut() -> None:
    found = passages("x", "y" * 5000 + "\nend")

    assert ("x - : " + "y" * 5000)[:WHOLE_CHARACTERS] == found[0]
    assert "x - : end\n" == found[1]


def test_more_than_four_marks_make_no_heading() -> None:
    assert "x - : ##### Deep\n" == passages("x", "##### Deep")[0]


def test_a_body_without_words_has_no_passages() -> None:
    assert [] == passages("x", "")
    assert [] == passages("x", "\n \t\n" * PASSAGE_CHARACTERS)
