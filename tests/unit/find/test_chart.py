"""Where skills are placed on a map, and which are found to be nearly the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from fakes.embedder import GroupEmbedder

import metier
from metier.find import chart

if TYPE_CHECKING:
    from conftest import Home, Writer


def rows(*vectors: tuple[float, ...]) -> chart.Rows:
    found = np.array(vectors, np.float32)
    unit: chart.Rows = found / np.sqrt(np.square(found).sum(axis=1, keepdims=True))
    return unit


def test_pairs_are_those_above_the_limit_the_closest_first() -> None:
    near = chart.compare(rows((1, 0, 0), (0, 1, 0), (1, 0.1, 0), (1, 0, 0), (0, 0, 1)))

    assert [(0, 3), (0, 2), (2, 3)] == [(pair.one, pair.other) for pair in near.pairs]
    assert ((0, 2, 3),) == near.groups
    assert near.whole
    assert 0 == near.more


def test_many_that_are_all_the_same_are_one_group_and_not_all_of_their_pairs() -> None:
    near = chart.compare(rows(*[(1, 2, 3)] * 600))

    assert 600 == len(near.groups[0])
    assert chart.MAX_PAIRS == len(near.pairs)
    assert 600 * 599 // 2 == len(near.pairs) + near.more


def test_a_comparison_ends_when_its_time_is_up() -> None:
    near = chart.compare(rows((1, 0), (1, 0)), lambda: True)

    assert not near.whole
    assert [] == near.pairs


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_a_few_skills_have_places_too(count: int) -> None:
    some = np.eye(8, dtype=np.float32)[:count]

    places = chart.place(some, chart.compare(some).neighbours)

    assert (count, 2) == places.shape
    assert count == len({tuple(one) for one in places.tolist()})


def test_alike_ones_lie_together_and_the_same_skills_give_the_same_picture() -> None:
    shades = np.random.default_rng(3).normal(0, 0.05, (60, 16))
    some = rows(*(np.repeat(np.eye(3, 16), 20, axis=0) + shades).tolist())

    places = chart.place(some, chart.compare(some).neighbours).astype(float)

    groups = [places[at : at + 20] for at in (0, 20, 40)]
    inside = max(np.linalg.norm(group - group.mean(axis=0), axis=1).mean() for group in groups)
    middles = [group.mean(axis=0) for group in groups]
    apart = min(
        np.linalg.norm(middles[one] - middles[other]) for one, other in ((0, 1), (0, 2), (1, 2))
    )
    assert inside * 2 < apart
    assert (places == chart.place(some, chart.compare(some).neighbours)).all()


def test_vectors_count_where_there_are_some_and_none_is_made(home: Home, skill: Writer) -> None:
    skill("home/.agents/skills/one", description="Reads a document made of paper.")
    skill("home/.agents/skills/two", description="Opens a pdf.")
    skill("home/.agents/skills/sky", description="Tells of rain and sun.")
    with metier.open(env=home.env, cwd=home.path) as m:
        m.context.embedder = embedder = GroupEmbedder()
        before = m.likeness_map()
        assert ("words", 0, ()) == (before.by, embedder.embedded, before.groups)
        m.index()
        made = embedder.embedded

        found = m.likeness_map(before)

        assert ("meaning", made) == (found.by, embedder.embedded)
        pairs = [{found.paths[one].rpartition("/")[2] for one in group} for group in found.groups]
        assert [{"one", "two"}] == pairs
        assert m.likeness_map(found) is found
