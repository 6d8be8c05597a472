"""The resolver of skills that need skills: pure, bounded, and the same answer for the same question."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, strategies as st

from metier.errors import RefusedError
from metier.supply.dependencies import (
    MAX_DEPTH,
    MAX_EDGES,
    KnownSkill,
    NeededSkill,
    blocked,
    orphans,
    reached,
    resolve,
)

if TYPE_CHECKING:
    from metier.supply.dependencies import ResolvedSkills


def known(name: str, *needs: str | NeededSkill, version: str = "", source: str = "s") -> KnownSkill:
    wanted = [
        one if isinstance(one, NeededSkill) else NeededSkill(*one.partition("@")[::2])
        for one in needs
    ]
    return KnownSkill(name, "found", source, version, tuple(wanted))


def shown(found: ResolvedSkills) -> list[tuple[str, str, str]]:
    return [(one.by, one.name, one.state) for one in found.edges]


def asked(*skills: KnownSkill, **more: str) -> ResolvedSkills:
    return resolve([skills[0].name], {one.name: one for one in skills}, more)


def test_what_is_not_known_is_asked_for_once_with_all_ranges() -> None:
    found = asked(known("a", "b", "c@^1"), known("b", "c@>=1.2", "d"))

    assert [("c", {"^1", ">=1.2"}), ("d", set())] == [
        (one.need.name, set(one.ranges)) for one in found.open
    ]


def test_missing_ones_cycles_and_ranges_are_values() -> None:
    found = asked(
        known("a", "b@^1", "gone"), known("b", "c", version="1.3.0"), known("c", "a"), gone="why"
    )

    assert [
        ("a", "b", "found"),
        ("a", "gone", "missing"),
        ("b", "c", "found"),
        ("c", "a", "cycle"),
    ] == shown(found)
    assert "why" == found.edges[1].reason
    assert {} == blocked(found.edges, {})


@pytest.mark.parametrize(
    ("skills", "state", "why"),
    [
        ((known("a", "b@^1", "c"), known("c", "b@^2"), known("b")), "conflict", "'a' needs ^1 and 'c' ^2"),
        ((known("a", NeededSkill("b", "", "other"), "c"), known("c"), known("b")), "conflict", "from other"),
        ((known("a", "c", "b"), known("c", "B"), known("B"), known("b")), "twin", "take the two names for one"),
        ((known("a", "c", "caf\u00e9"), known("c", "cafe\u0301"), known("caf\u00e9")), "twin", "for one"),
        ((known("a", "A"),), "twin", "for one"),
    ],
)  # fmt: skip
def test_what_cannot_be_had_together_blocks_who_needs_it(
    skills: tuple[KnownSkill, ...], state: str, why: str
) -> None:
    found = asked(*skills)

    bad = [one for one in found.edges if one.state == state]
    assert bad
    assert why in bad[0].reason
    assert "a" in blocked(found.edges, {})


def test_a_version_that_does_not_fit_is_looked_up_again_once_more_is_known() -> None:
    first = known("b", version="1.0.0")._replace(ranges=frozenset({"^1"}))
    skills = (known("a", "b@^1", "c"), known("c", "b@>=1.2"))

    again = asked(*skills, first)
    kept = asked(*skills, first._replace(ranges=frozenset({"^1", ">=1.2"})))

    assert ["b"] == [one.need.name for one in again.open]
    assert ("c", "b", "conflict") in shown(kept)


@pytest.mark.parametrize("shape", ["wide", "deep", "diamonds"])
def test_bombs_are_refused(shape: str) -> None:
    if shape == "wide":
        skills = [known("a", *(f"n{number}" for number in range(10_000)))]
    elif shape == "deep":
        skills = [known("a", "n0")]
        skills += [known(f"n{number}", f"n{number + 1}") for number in range(MAX_DEPTH + 5)]
    else:  # every one of a level needs all of the next
        rows = [[f"n{level}-{at}" for at in range(40)] for level in range(5)]
        skills = [known("a", *rows[0])]
        skills += [known(n, *below) for row, below in pairwise(rows) for n in row]

    with pytest.raises(RefusedError) as caught:
        asked(*skills)

    assert "dependency-limit" == caught.value.code


def test_as_many_as_are_allowed_are_fine() -> None:
    found = asked(known("a", *(f"n{number}" for number in range(MAX_EDGES))))

    assert MAX_EDGES == len(found.open)


def test_orphans_are_what_only_the_removed_needed_circles_too() -> None:
    requires = {"a": ("b",), "b": ("c",), "c": ("b", "shared"), "own": ("shared",), "shared": ()}
    extra = ["b", "c", "shared"]

    assert ["b", "c"] == orphans(requires, extra, ["a"])
    assert ["b", "c", "shared"] == orphans(requires, extra, ["a", "own"])
    assert [] == orphans(requires, extra, ["own"])


NAMES = st.sampled_from([*"abcdefgh", "A"])
NEEDS = st.builds(
    NeededSkill,
    NAMES,
    st.sampled_from(["", "^1", "^2", ">=1.5"]),
    st.sampled_from(["", "", "s", "t"]),
)
GRAPHS = st.dictionaries(
    NAMES, st.tuples(st.lists(NEEDS, max_size=5), st.sampled_from(["", "1.0.0", "1.9.0", "2.0.0"])), max_size=8
)  # fmt: skip


@given(GRAPHS, st.lists(NAMES, min_size=1, max_size=3, unique=True), st.sets(NAMES))
def test_it_ends_answers_alike_and_blocks_all_who_need_what_is_refused(
    graph: dict[str, tuple[list[NeededSkill], str]], roots: list[str], refused: set[str]
) -> None:
    skills = {
        name: KnownSkill(name, "found", "s", version, tuple(needs))
        for name, (needs, version) in graph.items()
    }
    absent: dict[str, str] = {}

    for _round in range(20):  # each round settles what it asked for
        found = resolve(roots, skills, absent)
        if not found.open:
            break
        for one in found.open:
            if one.need.name in skills:
                skills[one.need.name] = skills[one.need.name]._replace(ranges=one.ranges)
            else:
                absent[one.need.name] = "nobody has it"

    assert not found.open
    assert found == resolve(roots, skills, absent)
    stopped = blocked(found.edges, dict.fromkeys(refused, "no"))
    for edge in found.edges:
        if edge.state in {"found", "cycle"} and (edge.name in refused or edge.name in stopped):
            assert edge.by in refused or edge.by in stopped
    assert set(roots) <= reached(roots, found.edges)
