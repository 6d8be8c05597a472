"""What is read from a list is what was written, whole or looked up, and damage is noticed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from metier.find.index import postings
from metier.find.index.postings import (
    COUNT_STEPS,
    DENSE_SHARE,
    IN_HEADING,
    DamagedIndexError,
    LongPostings,
    ShortPostings,
)

COUNT = 400
LISTS = st.lists(
    st.dictionaries(st.integers(0, COUNT - 1), st.integers(0, 15), min_size=1), max_size=6
)


def coded(lists: list[dict[int, int]], count: int) -> postings.CodedLists:
    parts = [
        postings.packed(
            np.full(len(one), term), term % 4, np.array(list(one)), np.array(list(one.values()))
        )
        for term, one in enumerate(lists)
    ]
    found = np.concatenate([np.zeros(0, np.uint64), *parts])
    found.sort()
    return postings.code_lists(found, count)


def opened(found: postings.CodedLists, count: int) -> list[ShortPostings | LongPostings]:
    data, stream = (
        np.frombuffer(found.data, np.uint8),
        np.frombuffer(postings.pack_halves(found.halves), np.uint8),
    )
    ends, places = np.cumsum(found.lengths), np.cumsum(found.sizes) - found.sizes
    return [
        postings.list_of(data[end - length : end], stream, int(place), int(size), count)
        for end, length, place, size in zip(ends, found.lengths, places, found.sizes, strict=True)
    ]


@given(LISTS)
def test_every_list_is_read_as_it_was_written(lists: list[dict[int, int]]) -> None:
    found = coded(lists, COUNT)

    read = [
        dict(zip(one.documents.tolist(), one.halves.tolist(), strict=True))
        for one in opened(found, COUNT)
    ]
    at_once = postings.documents_of_many(
        np.frombuffer(found.data, np.uint8), found.sizes, found.lengths, COUNT
    )

    assert lists == read
    assert [number for one in lists for number in sorted(one)] == at_once.tolist()
    assert ([*range(len(lists))], [term % 4 for term in range(len(lists))]) == (
        found.terms.tolist(),
        found.columns.tolist(),
    )


@given(LISTS, st.lists(st.integers(0, COUNT - 1), unique=True))
def test_documents_are_looked_up_without_reading_the_list(
    lists: list[dict[int, int]], asked: list[int]
) -> None:
    numbers = np.array(asked, np.int64)

    for one, held in zip(lists, opened(coded(lists, COUNT), COUNT), strict=True):
        has, halves = held.at(numbers)

        assert [number in one for number in asked] == has.tolist()
        assert [one[number] for number in asked if number in one] == halves[has].tolist()


@pytest.mark.parametrize(
    "numbers",
    [
        [0],
        [127],
        [128],
        [16_383],
        [16_384],
        [2_097_151],
        [2_097_152, 2_097_153],
        [0, 1, 129, 16_600, 5_000_000],
    ],
)
def test_gaps_of_every_width_are_kept(numbers: list[int]) -> None:
    count = 6_000_000

    found = opened(coded([dict.fromkeys(numbers, 3)], count), count)

    assert numbers == found[0].documents.tolist()


def test_a_list_with_many_documents_takes_a_bit_for_each() -> None:
    found = coded(
        [dict.fromkeys(range(0, COUNT, 2), 0), dict.fromkeys(range(COUNT // DENSE_SHARE), 0)], COUNT
    )

    assert [COUNT // 8, COUNT // DENSE_SHARE] == found.lengths.tolist()
    assert [LongPostings, ShortPostings] == [type(one) for one in opened(found, COUNT)]


def test_how_often_a_word_is_there_is_told_in_steps() -> None:
    counts = np.array([1, 2, 3, 4, 5, 6, 8, 10, 14, 20, 24, 255, 10**6])

    said = COUNT_STEPS[postings.steps(counts)]

    assert [1, 2, 3, 4, 6, 6, 9, 9, 14, 24, 24, 24, 24] == said.tolist()
    assert len(COUNT_STEPS) <= IN_HEADING


@pytest.mark.parametrize(
    ("data", "size"),
    [
        ([255, 255], 1),
        ([255, 255, 255, 255, 1], 1),
        ([1, 2], 3),
        ([], 1),
        ([200], 1),
        ([120, 120, 120, 120], 4),
        ([255] * 50, 60),
        ([255] * 49, 390),
    ],
)
def test_damage_is_noticed(data: list[int], size: int) -> None:
    with pytest.raises(DamagedIndexError):
        postings.list_of(np.array(data, np.uint8), np.zeros(COUNT, np.uint8), 0, size, COUNT)


def test_a_stream_that_was_cut_off_is_noticed() -> None:
    with pytest.raises(DamagedIndexError):
        postings.list_of(np.array([1, 1, 1], np.uint8), np.zeros(1, np.uint8), 0, 3, COUNT)
    with pytest.raises(DamagedIndexError):
        postings.list_of(np.full(COUNT // 8, 255, np.uint8), np.zeros(1, np.uint8), 0, COUNT, COUNT)
    with pytest.raises(DamagedIndexError):
        postings.documents_of_many(np.zeros(3, np.uint8), np.array([1]), np.array([1]), COUNT)
