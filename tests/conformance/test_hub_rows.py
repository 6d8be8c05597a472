"""What Hermes' hub and CODEC's reviews do around an installation, and what does that here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from fakes.shop import DANGEROUS, Shop, document, no, yes

from metier.errors import MetierError, StoreError

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


@pytest.mark.rows("HE-37")
def test_a_closer_look_at_code_gives_hints_and_never_a_verdict_by_itself(
    shop: Shop,
) -> None:
    code = "import importlib\nimport sys\n\nmodule = importlib.import_module(sys.argv[1])\nprint(getattr(module, 'x'), module.__dict__)\n"
    shop.offer("pdf", "Run scripts/load.py with the name of a module.\n", {"scripts/load.py": code})

    with shop.open() as m:
        outcome = m.add("../shelf/pdf")

    assert [("pdf", "safe")] == [(step.name, step.verdict) for step in outcome.plan.add]
    assert outcome.ok


@pytest.mark.rows("HE-45")
def test_a_set_of_skills_is_carried_to_another_machine_by_its_lock(
    shop: Shop,
) -> None:  # HE-45: snapshot export and import
    shop.offer("pdf", at="../project/vendor/pdf")
    with shop.open() as m:
        m.add("./vendor/pdf")
    other = Shop(shop.base / "other")
    (other.project / "vendor/pdf").mkdir(parents=True)
    (other.project / "vendor/pdf/SKILL.md").write_bytes(
        (shop.project / "vendor/pdf/SKILL.md").read_bytes()
    )
    other.lock.write_bytes(shop.lock.read_bytes())

    with other.open() as m:
        restored = m.sync(frozen=True)

    assert (True, (str(other.working("pdf")),)) == (restored.ok, restored.changed)
    assert (
        other.working("pdf", "SKILL.md").read_bytes()
        == shop.working("pdf", "SKILL.md").read_bytes()
    )
    assert other.lock.read_bytes() == shop.lock.read_bytes()


@pytest.mark.rows("HE-45")
def test_taps_are_added_listed_searched_and_removed(shop: Shop) -> None:
    shop.configure("[supply]\ndefault_taps = []\n")
    shop.offer("pdf", at="team/pdf")

    with shop.open() as m:
        added = m.tap("../shelf/team")
        found = m.search("words").results
        removed = m.tap(added[0].tap, listed=False)

    assert [(str(shop.shelf / "team"), "community")] == [(one.source, one.trust) for one in added]
    assert (["pdf"], []) == ([one.name for one in found], removed)


@pytest.mark.rows("HE-45")
def test_looking_closer_changes_nothing(shop: Shop) -> None:  # HE-45: inspect, check
    shop.offer("pdf")
    with shop.open() as m:
        m.add("../shelf/pdf")
    (shop.shelf / "pdf/SKILL.md").write_text(document("pdf", "Newer.\n"))
    before = shop.seen()

    with shop.open() as m:
        inspected = m.add("../shelf/pdf", dry_run=True)
        ages = m.outdated()
        checked = m.update(check=True)

    assert before == shop.seen()
    assert (["pdf"], ["outdated"], ["pdf"]) == (
        [step.name for step in inspected.plan.update],
        [age.state for age in ages],
        [step.name for step in checked.plan.update],
    )


@pytest.mark.rows("HE-45")
def test_what_is_dangerous_is_not_published(shop: Shop) -> None:
    safe, bad = shop.offer("pdf"), shop.offer("bad", DANGEROUS)

    with shop.open() as m:
        published = m.publish([str(safe), str(bad)], str(shop.base / "site"))

    assert (["pdf"], ["bad"]) == (
        [one.name for one in published.skills],
        [one.name for one in published.refused],
    )


@pytest.mark.rows("CO-24")
def test_what_waits_for_a_person_survives_a_restart_and_is_gone_only_after_the_write(
    shop: Shop,
) -> None:
    shop.offer("pdf")
    with shop.open() as m:
        m.add("../shelf/pdf")
    (shop.shelf / "pdf/SKILL.md").write_text(document("pdf", "Newer.\n", "allowed-tools: Bash\n"))
    with shop.open() as m:
        held = m.update(consent=yes).held

    with shop.open() as m:
        waiting = m.merge("pdf")
        live = shop.working("pdf", "SKILL.md").read_text()
        settled = m.merge("pdf", "theirs")
    with shop.open() as m, pytest.raises(MetierError):
        m.merge("pdf")

    assert (["pdf"], "shown", "merged") == (
        [one.name for one in held],
        waiting.state,
        settled.state,
    )
    assert ("Newer." in live, "Newer." in shop.working("pdf", "SKILL.md").read_text()) == (
        False,
        True,
    )


@pytest.mark.rows("CO-24")
def test_a_rejected_update_is_forgotten_and_the_skill_stays(shop: Shop) -> None:
    shop.offer("pdf")
    with shop.open() as m:
        m.add("../shelf/pdf")
    (shop.shelf / "pdf/SKILL.md").write_text(document("pdf", "Newer.\n", "allowed-tools: Bash\n"))

    with shop.open() as m:
        m.update(consent=yes)
        rejected = m.merge("pdf", "abort")

    assert "aborted" == rejected.state
    assert "Newer." not in shop.working("pdf", "SKILL.md").read_text()


@pytest.mark.rows("CO-24")
@pytest.mark.parametrize("name", ["pdf", "PDF"])
def test_the_name_of_a_skill_that_a_host_ships_is_taken_however_it_is_written(
    shop: Shop, name: str
) -> None:
    shipped, other = (
        shop.offer("pdf", at="host/pdf"),
        shop.offer(name, "Something else.\n", at="theirs"),
    )
    with shop.open() as m:
        m.bundled(str(shipped.parent), user=False)

        outcome = m.add(str(other), consent=yes)

    assert ([], [name]) == (
        [one.name for one in outcome.installed],
        [one.name for one in outcome.refused],
    )
    assert "Something else." not in shop.working("pdf", "SKILL.md").read_text()


@pytest.mark.rows("CO-24")
def test_decisions_that_cannot_be_read_let_nothing_in_without_a_person(
    shop: Shop,
) -> None:  # CO-24: fails closed
    shop.offer("pdf")
    shop.data.mkdir()
    (shop.data / "trust.json").write_text("{")

    with shop.open() as m:
        alone = m.add("../shelf/pdf")
        asked = m.add("../shelf/pdf", consent=no)

    assert ([], ["pdf"], []) == (
        [one.name for one in alone.installed],
        [one.name for one in alone.refused],
        list(asked.installed),
    )
    assert not shop.working("pdf").exists()
    assert issubclass(StoreError, MetierError)
