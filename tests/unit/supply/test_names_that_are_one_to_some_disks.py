"""Two names that some disks take for one never stand beside each other, whatever is said; nor does one skill stand there twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from fakes.shop import Shop, yes

if TYPE_CHECKING:
    from metier.supply.model import Outcome


def refusals(outcome: Outcome) -> list[tuple[str, tuple[str, ...]]]:
    return [(one.name, one.reasons) for one in outcome.refused]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("pdf", "PDF"),
        ("Pdf", "pdf"),
        ("stra\u00dfe", "strasse"),
        ("caf\u00e9", "cafe\u0301"),
        ("\ufb01le", "file"),
        ("\u212aelvin", "kelvin"),
    ],
)
@pytest.mark.parametrize("force", [False, True])
def test_a_name_that_some_disks_take_for_an_installed_one_is_kept_out(
    shop: Shop, first: str, second: str, force: bool
) -> None:
    shop.offer(first, at="one")
    shop.offer(second, at="two")
    with shop.open() as m:
        added = m.add("../shelf/one", name=first)
    before = shop.seen()

    with shop.open() as m:
        outcome = m.add("../shelf/two", name=second, force=force, consent=yes)

    why = f"collision: '{first}' is installed, and some systems take the two names for one"
    assert [first] == [one.name for one in added.installed]
    assert [(second, (why,))] == refusals(outcome)
    assert before == shop.seen()


@pytest.mark.parametrize("force", [False, True])
def test_one_skill_of_a_source_is_not_installed_under_two_names(shop: Shop, force: bool) -> None:
    shop.offer("pdf")
    with shop.open() as m:
        m.add("../shelf/pdf", name="one")
    before = shop.seen()

    with shop.open() as m:
        outcome = m.add("../shelf/pdf", name="two", force=force, consent=yes)

    assert [("two", ("it is already installed, as 'one'",))] == refusals(outcome)
    assert before == shop.seen()


def test_names_that_only_look_alike_to_a_person_stand_beside_each_other(shop: Shop) -> None:
    shop.offer("pdf", at="one")
    shop.offer("pdf-2", at="two")

    with shop.open() as m:
        found = [m.add(f"../shelf/{at}").installed[0].name for at in ("one", "two")]

    assert ["pdf", "pdf-2"] == found
