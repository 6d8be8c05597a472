"""The words of names are given back as they were put in, for the documents that are still there, and damage is known for what it is."""

from __future__ import annotations

import zlib

import numpy as np
import pytest

from metier.route.named import Names, coded, merged, names_of, read, standing
from metier.route.postings import DamagedError

ROWS = [["pdf", "tools", "tools"], [], ["ภาษา", "pdf"], ["\ud800"]]


def plain(names: Names) -> tuple[list[bytes], list[int], list[int]]:
    return names.words, names.sizes.tolist(), names.documents.tolist()


def test_every_word_is_kept_once_with_its_documents() -> None:
    names = names_of(ROWS)

    assert ([b"?", b"pdf", b"tools", "ภาษา".encode()], [1, 2, 1, 1], [3, 0, 2, 0, 2]) == plain(names)
    assert plain(names) == plain(read(coded(names), len(ROWS)))


@pytest.mark.parametrize("rows", [[], [[]], [[], []]])
def test_there_may_be_no_names(rows: list[list[str]]) -> None:
    names = read(coded(names_of(rows)), len(rows))

    assert ([], [], []) == plain(names) == plain(merged([])) == plain(merged([(names, np.arange(len(rows)))]))
    assert [] == standing(names, np.ones(len(rows), np.bool_))


@pytest.mark.parametrize(
    ("live", "expected"),
    [(None, ["?", "pdf", "tools", "ภาษา"]), ([0, 1, 1, 0], ["pdf", "ภาษา"]), ([1, 1, 0, 0], ["pdf", "tools"]), ([0, 1, 0, 0], [])],
)
def test_only_words_of_documents_that_are_there_stand(live: list[int] | None, expected: list[str]) -> None:
    mask = None if live is None else np.array(live, np.bool_)

    assert expected == standing(names_of(ROWS), mask)


def test_names_are_put_together_with_new_numbers() -> None:
    names = merged([(names_of([["a", "b"], ["b"]]), np.array([2, -1])), (names_of([["b"], ["c"], ["d"]]), np.array([0, 1, -1]))])

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
    with pytest.raises(DamagedError):
        read(data, 4)
