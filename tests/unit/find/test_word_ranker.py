"""Which skills fit a task, by their words; and what of it reaches the catalogue."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from fakes.cards import card

from metier.disclose.formats import XML
from metier.disclose.plan import PromptSkills, plan_fresh
from metier.disclose.prompt import PromptOptions, disclose
from metier.find.word_ranker import WordRanker, telling_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.model import Card


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Fill in the PDF forms, please!", {"fill", "pdf", "form"}),
        ("pdf-processing/fill_form", {"pdf", "processing", "fill", "form"}),
        ("class pass", {"class", "pass"}),
        ("Straße ÉTÉ", {"strasse", "été"}),
        ("", set()),
    ],
)
def test_words_are_compared_without_case_marks_and_plural(text: str, expected: set[str]) -> None:
    assert expected == telling_words(text)


def rank(task: str, *cards: Card) -> list[str]:
    return [found.name for found in WordRanker().rank(task, cards)]


def test_a_rare_word_weighs_more_than_common_ones() -> None:
    common = [card(f"common-{at}", "make a report of data") for at in range(20)]

    assert "tax" == rank("report on data about tax", *common, card("tax", "Nothing else."))[0]


def test_a_word_in_a_name_weighs_more_than_in_a_description() -> None:
    assert ["pdf", "other"] == rank("a pdf", card("other", "Reads a pdf."), card("pdf", "Reads."))


def test_ties_go_by_name_then_by_path() -> None:
    cards = [card("b", "form"), card("a", "form", path="/z/a"), card("a", "form", path="/y/a")]

    assert ["/y/a", "/z/a", "b"] == [
        found.path.removeprefix("/home/someone/.agents/skills/")
        for found in WordRanker().rank("form", cards)
    ]


def test_what_shares_no_word_is_left_out() -> None:
    assert [] == rank("knit a scarf", card("pdf", "Reads documents."))


MANY = [card(f"skill-{at:03}", f"Handles case number {at} of many.") for at in range(200)]
RARE = card("zebra-stripes", "Counts stripes on animals.")


def test_what_fits_the_task_is_told_with_its_description_though_its_name_comes_last() -> None:
    told = disclose([*MANY, RARE], PromptOptions(500, task="count the stripes of an animal"))

    assert "Counts stripes on animals." in told.text
    assert "zebra-stripes" not in told.omitted
    assert told.tokens <= 500


def test_the_first_half_is_what_it_would_be_without_a_task() -> None:
    plain = disclose([*MANY, RARE], PromptOptions(500)).text
    plan = plan_fresh(PromptSkills(XML, [*MANY, RARE]), 2_000)

    for task in ("stripes", "case number 150", "nothing that fits"):
        told = disclose([*MANY, RARE], PromptOptions(500, task=task))
        core = [row for row in told.rows if row[4]]

        assert len(plan.order) // 3 < len(core)
        assert plain[:900] == told.text[:900]


def test_room_that_the_task_does_not_need_goes_to_names_in_the_usual_order() -> None:
    without, told = (
        disclose([*MANY, RARE], PromptOptions(500)),
        disclose([*MANY, RARE], PromptOptions(500, task="stripes")),
    )

    assert without.included - 3 <= told.included
    assert [f"skill-{at:03}" for at in range(10)] == [str(row[0]) for row in told.rows[:10]]


def test_a_line_longer_than_half_the_room_is_no_core() -> None:
    cards = [card("a" * 150, root="/s"), *MANY]

    told = disclose(cards, PromptOptions(120, task="case number 150"))

    assert [] == [row for row in told.rows if row[4] and row[0] == "a" * 150]
    assert "Handles case number 150 of many." in told.text


def test_what_fits_the_task_is_told_again_with_its_description_when_its_name_came_first() -> None:
    cards = [card("aaa-stripes", "Counts stripes on animals."), *MANY]

    told = disclose(cards, PromptOptions(500, task="count the stripes"))

    ours = [row[2:] for row in told.rows if row[0] == "aaa-stripes"]
    assert [[0, 26, 2], [26, 26, 0]] == ours
    assert "aaa-stripes" not in told.cut
    assert (len(told.rows) - 1, len(cards)) == (told.included, told.included + len(told.omitted))
    assert f"<omitted>{len(told.omitted)} additional skills" in told.text
    assert told.tokens <= 500


def test_a_name_without_a_description_is_not_told_twice() -> None:
    told = disclose([card("aaa-stripes", ""), *MANY], PromptOptions(500, task="count the stripes"))

    assert 1 == told.text.count("aaa-stripes</name>")


@pytest.mark.parametrize("count", [0, 100])
def test_a_long_task_finds_the_same_as_a_short_one(count: int) -> None:
    task = "count stripes " + " ".join(f"unheard{at}" for at in range(count))

    assert ["zebra-stripes"] == rank(task, *MANY[:5], RARE)


class Backwards:
    """A ranker that likes the last ones best, and names a card that is not there."""

    def rank(self, task: str, cards: Sequence[Card]) -> Sequence[Card]:
        """Turn the cards round."""
        return [card(task), *reversed(cards)]


def test_a_ranker_of_the_hosts_own_is_asked_instead() -> None:
    told = disclose(MANY, PromptOptions(500, task="anything", ranker=Backwards()))

    assert "Handles case number 199 of many." in told.text


def test_a_task_changes_nothing_where_every_name_fits() -> None:
    cards = MANY[:10]

    assert (
        disclose(cards, PromptOptions(300)).text
        == disclose(cards, PromptOptions(300, task="case number 3")).text
    )
