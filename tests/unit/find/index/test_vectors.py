"""Vectors in a file: what is nearest, what of it is kept when files are merged, and what is no such file."""

from __future__ import annotations

import mmap
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from metier.errors import UsageError
from metier.find.index import vectors
from metier.find.index.postings import DamagedIndexError
from metier.find.index.vectors import (
    MATRIX_FORMAT,
    MAX_DIMENSIONS,
    MIN_SHORTLIST,
    ROWS_PER_CHECKSUM,
    Matrix,
    merge_matrices,
    pack,
    shortlist,
)

if TYPE_CHECKING:
    from metier.find.model import Floats

WIDTH = 384


def some(count: int, seed: int = 1, width: int = WIDTH) -> Floats:
    """Give vectors of unit length that share a direction and differ in a few others, as those of a model do."""
    chance, topics = np.random.default_rng(seed), np.random.default_rng(0).normal(size=(21, width))
    made = (
        chance.normal(size=(count, 20)) @ topics[1:]
        + topics[0]
        + chance.normal(size=(count, width)) / 4
    )
    return (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)


def kept(vectors: Floats) -> Matrix:
    return Matrix(pack(list(vectors)))


def nearest(matrix: Matrix, query: Floats, allowed: Floats | None, limit: int) -> list[int]:
    """Give the documents that are worth a look, best first and then by number."""
    (numbers,) = shortlist([(matrix, allowed)], query, limit)
    return [
        int(number)
        for number in numbers[np.lexsort((numbers, -matrix.near(query, numbers)))][:limit]
    ]


def test_each_document_has_its_cosine() -> None:
    matrix = kept(np.eye(3, 8, dtype=np.float32))

    cosines = matrix.near([0.6, 0.8, 0, 0, 0, 0, 0, 0], np.array([1, 2, 0]))

    assert pytest.approx([0.8, 0.0, 0.6], abs=1e-6) == cosines.tolist()


def test_of_equal_documents_all_are_worth_a_look_however_many_there_are() -> None:
    matrix = kept(np.repeat(some(1), 3 * MIN_SHORTLIST, axis=0))

    (numbers,) = shortlist([(matrix, None)], some(1)[0], 7)

    assert list(range(3 * MIN_SHORTLIST)) == numbers.tolist()


def test_among_many_documents_the_codes_let_the_nearest_through() -> None:
    vectors = some(8 * MIN_SHORTLIST)
    matrix = kept(vectors)
    asked = some(20, seed=2)

    found = [nearest(matrix, question, None, 10) for question in asked]
    exact = [np.argsort(-(vectors @ question), kind="stable")[:10].tolist() for question in asked]

    assert [numbers[0] for numbers in exact] == [numbers[0] for numbers in found]
    assert 0.95 <= np.mean(
        [len({*one} & {*other}) / 10 for one, other in zip(found, exact, strict=True)]
    )


@pytest.mark.parametrize("count", [10, 3 * MIN_SHORTLIST])
def test_only_what_is_allowed_is_found(count: int) -> None:
    vectors = some(count)
    allowed = np.zeros(count, np.bool_)
    allowed[1::2] = True

    found = nearest(kept(vectors), vectors[0], allowed, count)

    assert set(range(1, count, 2)) == set(found)


@pytest.mark.parametrize("shape", [(8,), (1, 8), (1, 1, 8)])
def test_a_vector_may_be_a_matrix_of_one_row(shape: tuple[int, ...]) -> None:
    rows = some(3, width=8)

    assert pack(list(rows)) == pack([rows[0], rows[1].reshape(shape), rows[2]])


def test_merged_files_equal_one_that_was_made_at_once() -> None:
    rows = some(50)
    first, second = kept(rows[:30]), kept(rows[30:])

    found = merge_matrices(
        [(first, np.arange(0, 30, 2)), (second, np.array([1, 19])), (first, np.zeros(0, np.int64))]
    )

    assert pack([*rows[:30:2], rows[31], rows[49]]) == found


def test_a_file_of_nothing_is_a_file() -> None:
    nothing = Matrix(pack([]))

    assert (0, []) == (nothing.count, nothing.near(some(1)[0], np.zeros(0, np.int64)).tolist())
    assert pack([]) == merge_matrices([]) == merge_matrices([(nothing, np.zeros(0, np.int64))])


def test_vectors_are_searched_where_they_lie(tmp_path: Path) -> None:
    path = tmp_path / "vectors"
    path.write_bytes(pack(list(some(20))))

    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        matrix = Matrix(mapped)
        numbers = nearest(matrix, some(20)[7], None, 1)
        held = [part.flags.owndata for part in matrix.parts]
        del matrix

    assert [7] == numbers
    assert [False] * 4 == held


@pytest.mark.parametrize(
    "rows",
    [
        [np.ones((0, 4))],
        [np.ones(0)],
        [np.ones(())[None], np.ones(2)],
        [np.ones((2, 4))],
        [np.ones((1, 4)), np.ones((1, 5))],
    ],
)
def test_documents_without_a_vector_with_two_or_of_two_sizes_are_refused(
    rows: list[Floats],
) -> None:
    with pytest.raises(UsageError, match="one vector"):
        pack(rows)


def test_a_vector_has_as_many_dimensions_as_two_bytes_can_say() -> None:
    assert MAX_DIMENSIONS == Matrix(pack([np.ones(MAX_DIMENSIONS)])).width
    with pytest.raises(UsageError, match="65,536 dimensions"):
        pack([np.ones(MAX_DIMENSIONS + 1)])


def test_vectors_of_two_models_are_not_merged_or_compared() -> None:
    one, other = kept(some(2, width=8)), kept(some(2, width=16))

    with pytest.raises(ValueError, match="two models"):
        merge_matrices([(one, np.array([0])), (other, np.array([0]))])
    with pytest.raises(ValueError, match="16 dimensions"):
        one.near(some(1, width=16)[0], np.array([0]))


@pytest.mark.parametrize("number", [-1, 3])
def test_a_document_that_is_not_there_is_an_error(number: int) -> None:
    with pytest.raises(ValueError, match="no document"):
        kept(some(3)).near(some(1)[0], np.array([number]))


def test_a_file_of_another_format_says_so() -> None:
    data = bytearray(pack([some(1)]))
    data[4] = MATRIX_FORMAT + 1

    with pytest.raises(DamagedIndexError, match=f"format {MATRIX_FORMAT + 1}"):
        Matrix(data)


@pytest.mark.parametrize("cuts", [(), (1,), (30,), (7, 8, 31)])
def test_what_is_worth_a_look_does_not_depend_on_who_lies_where(
    cuts: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "SHORTLIST_PER_HIT", 2)
    monkeypatch.setattr(vectors, "MIN_SHORTLIST", 1)
    rows = np.concatenate([some(40), some(5), some(5)])  # some of them draw
    ends = (0, *cuts, len(rows))
    parts = [(kept(rows[start:end]), None) for start, end in pairwise(ends)]

    found = shortlist(parts, some(1, seed=3)[0], 4)

    apart = kept(rows).apart(some(1, seed=3)[0])
    numbers = np.concatenate([start + numbers for start, numbers in zip(ends, found, strict=False)])
    assert np.flatnonzero(apart <= np.sort(apart)[7]).tolist() == numbers.tolist()
    assert 8 <= len(numbers) < len(rows)


def test_only_what_is_allowed_is_worth_a_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "MIN_SHORTLIST", 1)
    rows = some(80)
    allowed = np.arange(80) % 2 == 0

    (found,) = shortlist([(kept(rows), allowed)], rows[1], 1)

    assert (True, True) == (len(found) >= vectors.SHORTLIST_PER_HIT, bool(allowed[found].all()))


def test_a_vector_is_given_as_it_is_kept() -> None:
    rows = some(3)

    found = kept(rows).vectors(np.array([2, 0]))

    assert pytest.approx(rows[[2, 0]].ravel().tolist(), abs=0.01) == found.ravel().tolist()
    assert pytest.approx([1.0, 1.0]) == np.linalg.norm(found, axis=1).tolist()


def test_a_row_that_was_not_changed_is_read_though_another_was() -> None:
    rows = some(3 * ROWS_PER_CHECKSUM)
    data = bytearray(pack(list(rows)))
    data[-1] ^= 1

    matrix = Matrix(data)

    assert pytest.approx([1.0], abs=0.01) == matrix.near(rows[0], np.array([0])).tolist()
    with pytest.raises(DamagedIndexError):
        matrix.near(rows[0], np.array([0, 2 * ROWS_PER_CHECKSUM]))
