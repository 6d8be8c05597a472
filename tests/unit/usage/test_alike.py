"""Skills that say nearly the same are found, in one order, without comparing each with each."""

from __future__ import annotations

import random

import pytest

from metier.usage.report import MAX_NEIGHBOURS, PROGRESS_STEP, find_alike

PDF = "Extracts text and tables from PDF files and fills in forms. Use when somebody hands over a PDF."


def test_the_same_words_with_small_changes_are_alike() -> None:
    found = find_alike(
        [
            ("/a", "pdf", PDF),
            ("/b", "pdf-tools", PDF.replace("somebody", "someone")),
            ("/c", "palette", "Picks colours."),
        ]
    )

    (pair,) = found
    assert ("pdf", "pdf-tools", "/a", "/b") == pair[:4]
    assert 0.6 < pair.similarity < 1


def test_the_order_in_which_skills_come_does_not_matter() -> None:
    skills = [(f"/{number}", f"s{number % 7}", f"{PDF} {number % 5}") for number in range(40)]
    shuffled = random.Random(3).sample(skills, len(skills))  # noqa: S311 - the same order every time

    assert find_alike(skills) == find_alike(shuffled)
    assert [] != find_alike(skills)


def test_the_closest_come_first() -> None:
    found = find_alike(
        [("/a", "x", PDF), ("/b", "x", PDF), ("/c", "x", PDF.replace("tables", "pictures"))]
    )

    assert ("/a", "/b", 1.0) == (found[0].first_path, found[0].second_path, found[0].similarity)
    assert sorted((pair.similarity for pair in found), reverse=True) == [
        pair.similarity for pair in found
    ]


@pytest.mark.parametrize("seed", range(5))
def test_nearly_every_pair_that_a_full_comparison_finds_is_found(seed: int) -> None:
    """The signatures may miss a pair near the limit, hardly one well above it."""
    chance = random.Random(seed)  # noqa: S311 - as above
    words = [f"word{number}" for number in range(400)]
    texts = [" ".join(chance.choices(words, k=25)) for _ in range(150)]
    changed = [" ".join(text.split()[:23] + chance.choices(words, k=2)) for text in texts]

    found = {
        (pair.first_path, pair.second_path)
        for pair in find_alike([(f"/{n:03}", "s", text) for n, text in enumerate(texts + changed)])
    }

    assert 149 <= len(found & {(f"/{number:03}", f"/{number + 150:03}") for number in range(150)})


def test_many_that_are_all_the_same_give_a_bounded_number_of_pairs() -> None:
    found = find_alike([(f"/{number}", "same", PDF) for number in range(500)])

    assert 500 <= len(found) <= 500 * MAX_NEIGHBOURS


def test_scripts_without_spaces_are_compared_by_characters() -> None:
    assert 1 == len(
        find_alike(
            [
                ("/a", "甲", "从文件中提取文本和表格并填写表单"),
                ("/b", "乙", "从文件中提取文本和表格并填写表单。"),
            ]
        )
    )


def test_odd_text_is_no_trouble() -> None:
    assert [] == find_alike(
        [
            ("/a", "", ""),
            ("/b", "\0", "\ud800"),
            ("/c", "!!!", "x" * 1_000_000),
            ("/d", "\u202e", "…"),
        ]
    )


def test_it_says_how_far_it_has_come() -> None:
    told: list[int] = []

    find_alike(
        [(f"/{number}", "s", f"word{number}") for number in range(2 * PROGRESS_STEP + 1)],
        progress=told.append,
    )

    assert [0, PROGRESS_STEP, 2 * PROGRESS_STEP] == told
