"""The words of names are given back as they were put in, for the documents that are still there, and damage is known for what it is."""

from __future__ import annotations

import zlib

import numpy as np
import pytest

from metier.find.index.dictionary import (
    Names,
    live_words,
    merge_names,
    names_as_bytes,
    names_of,
    read_names,
)
from metier.find.index.postings import DamagedIndexError

ROWS = [["pdf", "tools", "tools"], [], ["ภาษา", "pdf"], ["\ud800"]]


def plain(names: Names) -> tuple[list[bytes], list[int], list[int]]:
    return names.words, names.sizes.tolist(), names.documents.tolist()


def test_every_word_is_kept_once_with_its_documents() -> None:
    names = names_of(ROWS)

    assert ([b"?", b"pdf", b"tools", "ภาษา".encode()], [1, 2, 1, 1], [3, 0, 2, 0, 2]) == plain(
        names
    )
    assert plain(names) == plain(read_names(names_as_bytes(names), len(ROWS)))


@pytest.mark.parametrize("rows", [[], [[]], [[], []]])
def test_there_may_be_no_names(rows: list[list[str]]) -> None:
    names = read_names(names_as_bytes(names_of(rows)), len(rows))

    assert (
        ([], [], [])
        == plain(names)
        == plain(merge_names([]))
        == plain(merge_names([(names, np.arange(len(rows)))]))
    )
    assert [] == live_words(names, np.ones(len(rows), np.bool_))


@pytest.mark.parametrize(
    ("live", "expected"),
    [
        ([1, 1, 1, 1], ["?", "pdf", "tools", "ภาษา"]),
        ([0, 1, 1, 0], ["pdf", "ภาษา"]),
        ([1, 1, 0, 0], ["pdf", "tools"]),
        ([0, 1, 0, 0], []),
    ],
)
def test_only_words_of_documents_that_are_there_stand(live: list[int], expected: list[str]) -> None:
    assert expected == live_words(names_of(ROWS), np.array(live, np.bool_))


def test_names_are_put_together_with_new_numbers() -> None:
    names = merge_names(
        [
            (names_of([["a", "b"], ["b"]]), np.array([2, -1])),
            (names_of([["b"], ["c"], ["d"]]), np.array([0, 1, -1])),
        ]
    )

    assert ([b"a", b"b", b"c"], [1, 2, 1], [2, 0, 2, 1]) == plain(names)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no such thing",
        zlib.compress(b"word"),
        zlib.compress(b"word\0\1"),
        zlib.compress(b"word\0" + bytes([1, 0, 0, 0])),
        zlib.compress(b"word\0" + bytes(8)),
        zlib.compress(b"word\0" + bytes([1, 9]) + bytes(6)),
    ],
)
def test_damaged_names_are_refused(data: bytes) -> None:
    with pytest.raises(DamagedIndexError):
        read_names(data, 4)
