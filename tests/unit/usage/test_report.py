"""From counts to a report: what is dead, what is not yet, what is costly, and how reliable a skill is."""

from __future__ import annotations

import pytest

from metier.model import Card
from metier.usage.io import Count, Counts
from metier.usage.report import DAY, Usage, date_of, make_report, reliability

NOW = 1_800_000_000


def card(name: str, state: str = "visible", tokens: int = 10) -> Card:
    return Card(
        name,
        "",
        "user",
        "",
        "skill-md",
        f"/{name}",
        None,
        state,  # type: ignore[arg-type]
        "available",
        tokens,
        (),
        (),
        (),
        "/",
        "",
        "",
        "",
    )


def made(
    counts: Counts, *cards: Card, firsts: dict[str, int] | None = None, days: int = 30
) -> Usage:
    known = {(f"/{name}", name): first for name, first in (firsts or {}).items()}
    return make_report(
        counts._replace(seen=known), cards, {card.path for card in cards}, [], NOW, days
    )


@pytest.mark.parametrize(
    ("first", "last", "group"),
    [
        (NOW - 40 * DAY, None, "dead"),
        (NOW - 30 * DAY, None, "dead"),
        (NOW - 30 * DAY + 1, None, "unused"),
        (NOW, None, "unused"),
        (NOW - 90 * DAY, NOW - 31 * DAY, "dead"),
        (NOW - 90 * DAY, NOW - 29 * DAY, ""),
        (NOW - 90 * DAY, NOW, ""),
        (NOW - 90 * DAY, NOW + DAY, ""),  # a clock that was put back
    ],
)
def test_a_skill_is_dead_when_it_could_have_been_used_for_that_long(
    first: int, last: int | None, group: str
) -> None:
    used = (Count("/a", "a", views=1, last=last),) if last is not None else ()

    found = made(Counts(used, began=NOW - 100 * DAY), card("a"), firsts={"a": first})

    assert (["a"] if group == "dead" else []) == [one.name for one in found.dead]
    assert (["a"] if group == "unused" else []) == [one.name for one in found.unused]


def test_nothing_is_dead_for_longer_than_was_counted() -> None:
    found = made(Counts(began=NOW - 2 * DAY), card("a"), firsts={"a": NOW - 400 * DAY})

    assert ([], [2]) == ([one.name for one in found.dead], [one.days for one in found.unused])


def test_only_what_models_are_told_of_can_be_dead() -> None:
    cards = [card("a", "hidden"), card("b", "ask"), card("c", "invalid"), card("d")]

    found = made(Counts(began=1), *cards, firsts=dict.fromkeys("abcd", 1))

    assert ["d"] == [one.name for one in found.dead]


def test_uses_are_views_loads_and_runs_and_the_most_used_come_first() -> None:
    counts = Counts(
        (
            Count("/a", "a", views=1, reads=9, last=NOW),
            Count("/b", "b", 1, 2, 0, 3, 1, 50, NOW),
            Count("/c", "c", views=1, last=5),
        )
    )

    found = made(counts, card("a"), card("b"))

    assert [("b", 6, "visible"), ("a", 1, "visible"), ("c", 1, "gone")] == [
        (one.name, one.uses, one.state) for one in found.skills
    ]
    assert date_of(NOW) == found.skills[0].last_used


def test_what_was_counted_and_still_lies_there_is_elsewhere_and_not_gone() -> None:
    counts = Counts(
        (Count("/a", "a", views=1), Count("/b", "b", views=1), Count("/c", "old-name", views=1))
    )

    found = make_report(counts, [card("c")], {"/a", "/c"}, [], NOW, 30)

    assert {"a": "elsewhere", "b": "gone", "old-name": "elsewhere"} == {
        one.name: one.state for one in found.skills
    }


def test_no_time_is_told_that_has_yet_to_come() -> None:
    ahead = NOW + 9_000 * DAY

    found = made(
        Counts((Count("/a", "a", views=1, last=ahead),), began=ahead),
        card("a"),
        card("b"),
        firsts={"a": ahead, "b": ahead},
    )

    assert (date_of(NOW), date_of(NOW)) == (found.since, found.skills[0].last_used)
    assert [("b", 0)] == [(one.name, one.days) for one in found.unused]


def test_the_costliest_are_named_with_their_share() -> None:
    counts = Counts(
        tuple(
            Count(f"/{number}", str(number), views=2, tokens=number * 100) for number in range(15)
        )
    )

    found = made(counts)

    assert (10, 10_500) == (len(found.costly), found.tokens)
    assert ("14", 1400, 0.133, 700) == (found.costly[0].name, *found.costly[0][2:])


def test_counts_that_could_not_be_read_are_a_note() -> None:
    found = made(Counts(trouble="it is spoilt", spoilt=("/x/usage.db.spoilt-1",)))

    assert [
        "it is spoilt",
        "counts from before could not be read; they were set aside: /x/usage.db.spoilt-1",
    ] == found.notes


def test_reliability_is_told_from_five_runs_on() -> None:  # ZE-37
    counts = Counts(
        (
            Count("/a", "a", runs=5, failures=1),
            Count("/b", "b", runs=4),
            Count("/c", "c", views=90, loads=90),
            Count("/d", "d", runs=9, failures=20),
            Count("/gone", "e", runs=9),
        )
    )

    assert {"a": (5, 80), "d": (9, 0)} == reliability(counts, [card(name) for name in "abcd"])


@pytest.mark.parametrize("seconds", [-5, 0, NOW, 10**30])
def test_every_moment_has_a_date(seconds: int) -> None:
    assert date_of(seconds).endswith("Z")
