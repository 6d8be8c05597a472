"""Vectors in a file: what is nearest, what of it is kept when files are merged, and what is no such file."""

from __future__ import annotations

import mmap
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from metier.route import vectors as module
from metier.route.vectors import FORMAT, LEAST, Matrix, merged, pack, shortlisted

if TYPE_CHECKING:
    from metier.wanted import Floats

WIDTH = 384


def some(count: int, seed: int = 1, width: int = WIDTH) -> Floats:
    """Give vectors of unit length that share a direction and differ in a few others, as those of a model do."""
    chance, topics = np.random.default_rng(seed), np.random.default_rng(0).normal(size=(21, width))
    made = chance.normal(size=(count, 20)) @ topics[1:] + topics[0] + chance.normal(size=(count, width)) / 4
    return (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)


def cards(vectors: Floats) -> Matrix:
    return Matrix(pack([(number, vector[None, :]) for number, vector in enumerate(vectors)]))


def test_the_nearest_card_comes_first_with_its_cosine() -> None:
    matrix = cards(np.eye(3, 8, dtype=np.float32))

    numbers, cosines = matrix.nearest([0.6, 0.8, 0, 0, 0, 0, 0, 0], None, 2)

    assert [1, 0] == numbers.tolist()
    assert pytest.approx([0.8, 0.6], abs=1e-6) == cosines.tolist()


def test_equal_cards_come_in_the_order_of_their_numbers_however_many_there_are() -> None:
    matrix = cards(np.repeat(some(1), 3 * LEAST, axis=0))

    numbers, _ = matrix.nearest(some(1)[0], None, 7)

    assert list(range(7)) == numbers.tolist()


def test_among_many_cards_the_codes_let_the_nearest_through() -> None:
    vectors = some(8 * LEAST)
    matrix = cards(vectors)
    asked = some(20, seed=2)

    found = [matrix.nearest(question, None, 10)[0].tolist() for question in asked]
    exact = [np.argsort(-(vectors @ question), kind="stable")[:10].tolist() for question in asked]

    assert [numbers[0] for numbers in exact] == [numbers[0] for numbers in found]
    assert 0.95 <= np.mean([len({*one} & {*other}) / 10 for one, other in zip(found, exact, strict=True)])


@pytest.mark.parametrize("count", [10, 3 * LEAST])
def test_only_what_is_allowed_is_found(count: int) -> None:
    vectors = some(count)
    allowed = np.zeros(count, np.bool_)
    allowed[1::2] = True

    numbers, cosines = cards(vectors).nearest(vectors[0], allowed, count)

    assert set(range(1, count, 2)) == set(numbers.tolist())
    assert sorted(cosines.tolist(), reverse=True) == cosines.tolist()


@pytest.mark.parametrize("limit", [0, -1])
def test_who_wants_nothing_gets_nothing(limit: int) -> None:
    assert 0 == len(cards(some(5)).nearest(some(1)[0], None, limit)[0])


def test_a_document_is_as_near_as_its_card_and_as_its_best_passage() -> None:
    rows = some(6)
    matrix = Matrix(pack([(0, rows[:1]), (1, rows[1:4]), (2, rows[4:6])]))

    card, passage = matrix.cosines(rows[3], np.array([2, 1, 0, 1]))

    assert pytest.approx((rows[[4, 1, 0, 1]] @ rows[3]).tolist(), abs=0.01) == card.tolist()
    assert pytest.approx([float(rows[5] @ rows[3]), 1, 0, 1], abs=0.01) == passage.tolist()


def test_a_passage_that_points_away_does_not_count_as_none() -> None:
    rows = some(1)
    matrix = Matrix(pack([(0, np.concatenate([rows, -rows]))]))

    _, passage = matrix.cosines(rows[0], np.array([0]))

    assert pytest.approx([-1], abs=0.01) == passage.tolist()


def test_the_order_in_which_documents_are_given_does_not_matter() -> None:
    rows = some(4)

    assert pack([(0, rows[:1]), (1, rows[1:])]) == pack([(1, rows[1:]), (0, rows[:1])])


def test_merged_files_equal_one_that_was_made_at_once() -> None:
    rows = some(9)
    documents = [rows[:1], rows[1:4], rows[4:6], rows[6:7], rows[7:9]]
    first, second = (Matrix(pack(list(enumerate(some)))) for some in (documents[:3], documents[3:]))

    found = merged([(first, np.array([0, 2])), (second, np.array([1])), (first, np.zeros(0, np.int64))])

    assert pack(list(enumerate([documents[0], documents[2], documents[4]]))) == found


def test_a_file_of_nothing_is_a_file() -> None:
    nothing = Matrix(pack([]))

    assert 0 == nothing.count
    assert [[], []] == [part.tolist() for part in nothing.nearest(some(1)[0], None, 5)]
    assert [[], []] == [part.tolist() for part in nothing.cosines(some(1)[0], np.zeros(0, np.int64))]
    assert pack([]) == merged([]) == merged([(nothing, np.zeros(0, np.int64))])


def test_vectors_are_searched_where_they_lie(tmp_path: Path) -> None:
    path = tmp_path / "vectors"
    path.write_bytes(pack([(number, vector) for number, vector in enumerate(some(20))]))

    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        matrix = Matrix(mapped)
        numbers, _ = matrix.nearest(some(20)[7], None, 1)
        held = [part.flags.owndata for part in matrix.parts]
        del matrix

    assert [7] == numbers.tolist()
    assert [False] * 4 == held


@pytest.mark.parametrize(
    "rows",
    [
        [(1, np.ones((1, 4)))],
        [(0, np.ones((1, 4))), (0, np.ones((1, 4)))],
        [(0, np.ones((0, 4)))],
        [(0, np.ones((1, 4))), (1, np.ones((1, 5)))],
    ],
)
def test_documents_with_a_gap_without_a_card_or_of_two_sizes_are_refused(rows: list[tuple[int, Floats]]) -> None:
    with pytest.raises(ValueError, match=r"documents are numbered|a document has"):
        pack(rows)


def test_vectors_of_two_models_are_not_merged_or_compared() -> None:
    one, other = cards(some(2, width=8)), cards(some(2, width=16))

    with pytest.raises(ValueError, match="two models"):
        merged([(one, np.array([0])), (other, np.array([0]))])
    with pytest.raises(ValueError, match="16 dimensions"):
        one.nearest(some(1, width=16)[0], None, 1)


@pytest.mark.parametrize("number", [-1, 3])
def test_a_document_that_is_not_there_is_an_error(number: int) -> None:
    with pytest.raises(ValueError, match="no document"):
        cards(some(3)).cosines(some(1)[0], np.array([number]))


def test_a_file_of_another_format_says_so() -> None:
    data = bytearray(pack([(0, some(1))]))
    data[4] = FORMAT + 1

    with pytest.raises(ValueError, match=f"format {FORMAT + 1}"):
        Matrix(data)


@pytest.mark.parametrize("cuts", [(), (1,), (30,), (7, 8, 31)])
def test_what_is_worth_a_look_does_not_depend_on_who_lies_where(cuts: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SHORTLIST", 2)
    monkeypatch.setattr(module, "LEAST", 1)
    rows = np.concatenate([some(40), some(5), some(5)])  # some of them draw
    ends = (0, *cuts, len(rows))
    parts = [(cards(rows[start:end]), None) for start, end in pairwise(ends)]

    found = shortlisted(parts, some(1, seed=3)[0], 4)

    apart = cards(rows).apart(some(1, seed=3)[0])
    numbers = np.concatenate([start + numbers for start, numbers in zip(ends, found, strict=False)])
    assert np.flatnonzero(apart <= np.sort(apart)[7]).tolist() == numbers.tolist()
    assert 8 <= len(numbers) < len(rows)


def test_only_what_is_allowed_is_worth_a_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LEAST", 1)
    rows = some(80)
    allowed = np.arange(80) % 2 == 0

    (found,) = shortlisted([(cards(rows), allowed)], rows[1], 1)

    assert (True, True) == (len(found) >= module.SHORTLIST, bool(allowed[found].all()))


def test_a_card_is_given_as_it_is_kept() -> None:
    rows = some(3)

    found = cards(rows).cards(np.array([2, 0]))

    assert pytest.approx(rows[[2, 0]].ravel().tolist(), abs=0.01) == found.ravel().tolist()
    assert pytest.approx([1.0, 1.0]) == np.linalg.norm(found, axis=1).tolist()
