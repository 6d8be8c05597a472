"""What is kept of a vector is near to it, an order is total, and no file that was cut or changed is taken for a whole one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, strategies as st

from metier.route.vectors import LEVELS, Matrix, merged, pack

if TYPE_CHECKING:
    from metier.wanted import Floats

WIDTH = 24
HEADER = 32

numbers = st.floats(-1, 1, width=32, allow_subnormal=False)
vectors = st.lists(numbers, min_size=WIDTH, max_size=WIDTH)
documents = st.lists(st.lists(vectors, min_size=1, max_size=5), min_size=1, max_size=8)


def filed(made: list[list[list[float]]]) -> bytes:
    return pack([(number, np.array(rows, np.float32)) for number, rows in enumerate(made)])


def unit(vector: Floats) -> Floats:
    length = np.linalg.norm(np.asarray(vector, np.float64))
    return np.asarray(vector, np.float64) / (length or 1)


@given(documents, vectors)
def test_a_cosine_is_as_exact_as_eight_bits_allow(made: list[list[list[float]]], asked: list[float]) -> None:
    matrix = Matrix(filed(made))

    cards, best = matrix.cosines(asked, np.arange(len(made)))

    most = 2 * np.sqrt(WIDTH) / (2 * LEVELS)  # half a step in every dimension, and as much again for the length
    for card, passage, rows in zip(cards, best, made, strict=True):
        exact = [float(unit(row) @ unit(asked)) for row in rows]
        assert pytest.approx(exact[0], abs=most) == card
        assert pytest.approx(max(exact[1:], default=0), abs=most) == passage


@given(documents, vectors, st.data())
def test_the_order_is_total_and_no_document_depends_on_the_others(
    made: list[list[list[float]]], asked: list[float], data: st.DataObject
) -> None:
    matrix = Matrix(filed(made))
    kept = data.draw(st.lists(st.sampled_from(range(len(made))), min_size=1, unique=True).map(sorted))
    fewer = Matrix(filed([made[number] for number in kept]))

    found, cosines = matrix.nearest(asked, None, len(made))
    among, their = fewer.nearest(asked, None, len(kept))

    assert sorted(zip((-cosines).tolist(), found.tolist(), strict=True)) == list(zip((-cosines).tolist(), found.tolist(), strict=True))
    assert [number for number in found.tolist() if number in kept] == [kept[number] for number in among.tolist()]
    assert dict(zip(found.tolist(), cosines.tolist(), strict=True)) == {
        **dict(zip(found.tolist(), cosines.tolist(), strict=True)),
        **{kept[number]: cosine for number, cosine in zip(among.tolist(), their.tolist(), strict=True)},
    }


@given(documents, st.data())
def test_a_file_made_step_by_step_equals_one_made_at_once(made: list[list[list[float]]], data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(made)), max_size=3)))
    parts = [Matrix(filed(made[first:last])) for first, last in zip([0, *cuts], [*cuts, len(made)], strict=True)]

    found = merged([(part, np.arange(part.count)) for part in parts])

    assert filed(made) == found


@given(documents, st.data())
def test_a_file_that_was_cut_or_goes_on_is_refused(made: list[list[list[float]]], data: st.DataObject) -> None:
    whole = filed(made)
    left = data.draw(st.integers(0, len(whole) - 1))

    for wrong in (whole[:left], whole + b"\0"):
        with pytest.raises(ValueError, match="vectors"):
            Matrix(wrong)


@given(documents, st.data())
def test_a_changed_byte_where_documents_begin_is_seen(made: list[list[list[float]]], data: st.DataObject) -> None:
    whole = bytearray(filed(made))
    at = data.draw(st.integers(0, HEADER + 4 * (len(made) + 1) - 1).filter(lambda at: not HEADER - 4 <= at < HEADER))
    whole[at] ^= data.draw(st.integers(1, 255))

    with pytest.raises(ValueError, match="vectors"):
        Matrix(whole)


@given(st.binary(max_size=200))
def test_no_bytes_at_all_do_more_than_be_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="vectors"):
        Matrix(b"MTVX" + data)
