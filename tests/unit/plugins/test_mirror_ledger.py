"""A mirror while it is being changed: found by name, numbered on, and written back whole and in order."""

from __future__ import annotations

import pytest
from fakes.mirrors import a_binding, a_candidate, a_mirror, a_plugin, a_skill, a_version

from metier.plugins.mirror_ledger import Ledger, next_version
from metier.plugins.model import Mirror


def test_a_ledger_that_nobody_changed_gives_the_mirror_it_was_made_of() -> None:
    mirror = a_mirror("docx", "pdf", candidates=[a_candidate(1), a_candidate(2)])

    assert mirror == Ledger(mirror).as_mirror()


def test_plugins_and_skills_are_sorted_and_candidates_keep_their_order() -> None:
    ledger = Ledger(Mirror("/lock"))

    for name in ("zebra", "ant"):
        ledger.put_plugin(a_plugin(name))
        ledger.put_skill(a_skill(name))
    for number in (2, 1):
        ledger.put_candidate(a_candidate(number))
    ledger.put_candidate(a_candidate(2, status="rejected"))

    made = ledger.as_mirror()
    assert (["ant", "zebra"], ["ant", "zebra"]) == (
        [one.plugin_id for one in made.plugins],
        [one.name for one in made.skills],
    )
    assert [(a_candidate(2).id, "rejected"), (a_candidate(1).id, "open")] == [
        (one.id, one.status) for one in made.candidates
    ]


def test_a_binding_takes_the_place_of_the_one_of_its_skill_and_they_stay_sorted() -> None:
    ledger = Ledger(a_mirror("pdf", "xlsx"))

    ledger.put_binding("office", a_binding(a_skill("docx"), status="new"))
    ledger.put_binding("office", a_binding(a_skill("xlsx"), status="removed"))

    assert [("docx", "new"), ("pdf", "synced"), ("xlsx", "removed")] == [
        (one.skill, one.status) for one in ledger.plugins["office"].skills
    ]


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ((), "v0001"),
        (("v0001",), "v0002"),
        (("v0007", "v0003"), "v0008"),
        (("v9999",), "v10000"),
        (("vnext", "v", "beta", "v٣"), "v0001"),
    ],
)
def test_the_next_version_comes_after_the_highest_number(
    numbers: tuple[str, ...], expected: str
) -> None:
    skill = a_skill(versions=tuple(a_version(version=number) for number in numbers))

    assert expected == next_version(skill)


def test_a_skill_that_is_not_there_yet_begins_with_the_first_version() -> None:
    assert "v0001" == next_version(None)


def test_a_version_is_numbered_and_becomes_the_current_one() -> None:
    ledger = Ledger(a_mirror("pdf"))

    made = ledger.add_version("pdf", a_version(9))

    assert ("v0002", made, ["v0001", "v0002"]) == (
        made.version,
        ledger.current("pdf"),
        [one.version for one in ledger.skills["pdf"].versions],
    )
