"""What is kept of a vector is near to it, depends on nothing else, and no file that was cut or changed is taken for a whole one."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, strategies as st

from metier.find.index.postings import DamagedIndexError
from metier.find.index.vectors import INT8_LEVELS, Matrix, merge_matrices, pack

if TYPE_CHECKING:
    from metier.find.model import Floats

WIDTH = 24

numbers = st.floats(-1, 1, width=32, allow_subnormal=False)
vectors = st.lists(numbers, min_size=WIDTH, max_size=WIDTH)
documents = st.lists(vectors, min_size=1, max_size=40)


def unit(vector: Floats) -> Floats:
    length = np.linalg.norm(np.asarray(vector, np.float64))
    return np.asarray(vector, np.float64) / (length or 1)


def everything(matrix: Matrix, asked: list[float]) -> object:
    return matrix.apart(asked).tolist(), matrix.near(asked, np.arange(matrix.count)).tolist()


@given(documents, vectors)
def test_a_cosine_is_as_exact_as_eight_bits_allow(
    made: list[list[float]], asked: list[float]
) -> None:
    found = Matrix(pack(made)).near(asked, np.arange(len(made)))

    most = (
        2 * np.sqrt(WIDTH) / (2 * INT8_LEVELS)
    )  # half a step in every dimension, and as much again for the length
    assert (
        pytest.approx([float(unit(row) @ unit(asked)) for row in made], abs=most) == found.tolist()
    )


@given(documents, vectors, st.data())
def test_no_document_depends_on_the_others(
    made: list[list[float]], asked: list[float], data: st.DataObject
) -> None:
    kept = data.draw(st.lists(st.sampled_from(range(len(made))), min_size=1, unique=True))

    fewer = Matrix(pack([made[number] for number in kept])).near(asked, np.arange(len(kept)))

    assert Matrix(pack(made)).near(asked, np.array(kept)).tolist() == fewer.tolist()


@given(documents, st.data())
def test_a_file_made_step_by_step_equals_one_made_at_once(
    made: list[list[float]], data: st.DataObject
) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(made)), max_size=3)))
    parts = [
        Matrix(pack(made[first:last]))
        for first, last in zip([0, *cuts], [*cuts, len(made)], strict=True)
    ]

    found = merge_matrices([(part, np.arange(part.count)) for part in parts])

    assert pack(made) == found


@given(documents, st.data())
def test_a_file_that_was_cut_or_goes_on_is_refused(
    made: list[list[float]], data: st.DataObject
) -> None:
    whole = pack(made)
    left = data.draw(st.integers(0, len(whole) - 1))

    for wrong in (whole[:left], whole + b"\0"):
        with pytest.raises(DamagedIndexError, match="vectors"):
            Matrix(wrong)


@given(documents, vectors, st.data())
def test_a_changed_byte_anywhere_is_seen_or_harmless(
    made: list[list[float]], asked: list[float], data: st.DataObject
) -> None:
    whole = pack(made)
    at = data.draw(st.integers(0, len(whole) - 1))
    rotten = whole[:at] + bytes([whole[at] ^ data.draw(st.integers(1, 255))]) + whole[at + 1 :]
    expected = actual = everything(Matrix(whole), asked)

    with suppress(DamagedIndexError):
        actual = everything(Matrix(rotten), asked)

    assert expected == actual


@given(st.binary(max_size=200))
def test_no_bytes_at_all_do_more_than_be_refused(data: bytes) -> None:
    with pytest.raises(DamagedIndexError, match="vectors"):
        Matrix(b"MTVX" + data)
