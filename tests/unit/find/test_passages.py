"""The second stage reads passages: how much of a task each holds, how close together, and under which heading."""

from __future__ import annotations

import pytest

from metier.find import passages
from metier.find.passages import Reading, doc, parts, rarity, readings, task_words

BODY = """Intro.

# Merge files

Join several documents into one.

# Fill in a form

Fill in the tax form of any year; sign it afterwards.
"""


def read(task: str, body: str, name: str = "x", description: str = "") -> Reading:
    """Read one skill alone."""
    (found,) = readings(task_words(task), [doc(name, description, body)])
    return found


def test_the_best_passage_is_named_by_its_heading() -> None:
    assert "Fill in a form" == read("fill in my tax form", BODY).heading


def test_a_passage_that_holds_the_whole_task_has_all_of_it() -> None:
    assert 1.0 == pytest.approx(read("sign tax form", BODY).share)


def test_words_that_stand_apart_are_less_near_than_neighbours() -> None:
    together = read("tax form", "The tax form is here.")
    apart = read("tax form", "The tax is due in a year and there are many, and a form is here.")

    assert together.share == pytest.approx(apart.share)
    assert together.near > apart.near == 0.0


def test_words_of_two_passages_are_not_one() -> None:
    split = read("tax form", "# One\n\nAll about tax.\n\n# Two\n\nAll about a form.")

    assert 0.5 == pytest.approx(split.share)
    assert (0.0, "One") == (split.near, split.heading)


def test_what_only_one_candidate_has_weighs_more_than_what_all_have() -> None:
    weights = rarity(
        ["tax", "form"], [frozenset({"tax", "form"}), frozenset({"form"}), frozenset({"form"})]
    )

    assert weights["tax"] > weights["form"] >= 1


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        ("review a pull request", 1.0),
        ("pull the request", 1.0),
        ("request a pull", 0.0),
        ("pull it and merge", 0.0),
        ("pull", 0.0),
    ],
)
def test_neighbours_of_the_task_count_when_they_are_neighbours_in_the_card(
    task: str, expected: float
) -> None:
    assert expected == pytest.approx(
        read(task, "", "review-pull-request", "Looks at changes.").phrase
    )


def test_words_that_say_nothing_are_not_looked_for() -> None:
    assert (frozenset(), frozenset()) == task_words("how do I do this for you")
    assert Reading() == read("how do I do this", "How do I do this? " * 50)


def test_an_unfinished_word_is_left_to_the_engine() -> None:
    assert {"tax"} == task_words("tax fo", unfinished=True).terms


@pytest.mark.parametrize(
    "task", ["", " ", "\0", "\ud800", "🙂", "שלום עולם", "日本語", "c++", "a" * 100_000]
)
@pytest.mark.parametrize(
    "body", ["", "\0" * 50, "\ud800", "# \n# \n", "```\n# no heading", "x" * 100_000, "\n" * 50_000]
)
def test_whatever_stands_in_a_task_or_a_text_it_is_read(task: str, body: str) -> None:
    found = read(task, body, name=task, description=body)

    assert all(0 <= number <= 1 for number in found[:4])


def test_a_line_in_a_fence_is_no_heading() -> None:
    assert ["One", "Two"] == [
        heading for heading, _start, _end in parts("# One\n```\n# not\n```\n# Two\n")
    ]


def test_a_long_passage_ends_at_an_empty_line_and_one_without_any_ends_too() -> None:
    paragraphs = parts("\n\n".join(["word " * 100] * 10))
    wall = parts("\n".join(["word " * 20] * 200))

    assert all(
        end - start < passages.PASSAGE_CHARACTERS + 700 for _heading, start, end in paragraphs
    )
    assert 1 < len(wall)
    assert all(end - start <= passages.MAX_PASSAGE_CHARS for _heading, start, end in wall)


@pytest.mark.parametrize(
    "body", ["", "x", BODY, "# a\n# b\n", "\n" * 5_000, "x" * 50_000, "~~~\n# a\n" * 2_000]
)
def test_passages_lie_side_by_side_and_leave_nothing_out(body: str) -> None:
    found = parts(body)

    assert body == "".join(body[start:end] for _heading, start, end in found)
    assert all(start < end for _heading, start, end in found)


def test_only_the_beginning_of_a_body_is_read() -> None:
    assert 0.0 == read("tax", "x " * passages.MAX_BODY_CHARS + " tax").share


def test_a_task_of_many_words_is_cut() -> None:
    task = task_words(" ".join(f"word{number}" for number in range(1000)))

    assert passages.MAX_TASK_TERMS == len(task.terms)
    assert 2 * passages.MAX_TASK_TERMS > len(task.pairs)


def test_the_heading_of_a_stranger_is_one_short_line() -> None:
    found = read("tax", "#  tax \t " + "y" * 500 + "\r\ntext")

    assert passages.MAX_HEADING_CHARS == len(found.heading)
    assert found.heading.startswith("tax y")


def test_the_order_of_the_candidates_does_not_matter() -> None:
    docs = [doc(name, "", body) for name, body in (("a", "tax form"), ("b", "form"), ("c", "tax"))]
    task = task_words("tax form")

    assert readings(task, docs) == readings(task, docs[::-1])[::-1]
