"""What belongs to a plugin is neither installed over, nor locked, nor touched by anything but its plugin."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Home
from fakes.mirrors import a_mirror, a_skill
from fakes.plugged import mirrored
from fakes.shop import Shop, write_skill, yes
from fakes.workshop import Workshop, changed

from metier.errors import RefusedError, StoreError
from metier.store.io.atomic_change import SAVED
from metier.store.journal import SavedEdits, write_saved
from metier.supply import apply, places

WORDS = ("'pdf' belongs to the plugin office", "'metier plugin adopt office pdf' makes it your own")


@pytest.fixture
def own(shop: Shop) -> Shop:
    """Give a machine on which the plugin `office` owns the skill `pdf` of the project, and an own folder of it lies there."""
    with shop.open() as m:
        mirrored(m, a_mirror("pdf"))
    write_skill(shop.working("pdf"), "pdf")
    return shop


def test_where_no_plugin_is_mirrored_nobody_owns_anything(shop: Shop) -> None:
    with shop.open() as m:
        assert {} == places.plugin_owners(m.context, places.place_of(m.context, user=False))


def test_only_what_a_plugin_still_owns_is_its_own(shop: Shop) -> None:
    skills = (
        a_skill("Old", status="disabled", why="plugin_disabled:office"),
        a_skill("mine", owner="user", lineage="adopted_from_plugin:office"),
        a_skill("pdf"),
    )
    with shop.open() as m:
        mirrored(m, a_mirror()._replace(plugins=(), skills=skills))

        found, elsewhere = (
            places.plugin_owners(m.context, places.place_of(m.context, user=user))
            for user in (False, True)
        )

    assert ({"old": "office", "pdf": "office"}, {}) == (found, elsewhere)


@pytest.mark.parametrize("name", ["pdf", "PDF"])
@pytest.mark.parametrize("force", [False, True])
def test_nothing_is_installed_over_it(name: str, force: bool, own: Shop) -> None:
    folder = own.offer(name, "Another.\n")
    before = own.seen()

    with own.open() as m:
        outcome = m.add(str(folder), force=force, consent=yes)

    assert ([(name, tuple(text.replace("pdf", name) for text in WORDS))], ()) == (
        [one[:2] for one in outcome.refused],
        outcome.installed,
    )
    assert before == own.seen()


def test_in_the_other_place_the_name_is_free(own: Shop) -> None:
    with own.open() as m:
        outcome = m.add(str(own.offer("pdf")), user=True, consent=yes)

    assert ["pdf"] == [one.name for one in outcome.installed]


def test_it_is_not_locked(own: Shop) -> None:
    with own.open() as m, pytest.raises(RefusedError) as caught:
        m.adopt(str(own.working("pdf")))

    assert ("owned", *WORDS) == (caught.value.code, caught.value.message, caught.value.hint)
    assert not own.lock.exists()


def test_it_is_not_locked_by_another_tool_s_record(own: Shop) -> None:
    entry = {"source": "ada/skills", "sourceType": "github", "computedHash": "00"}
    (own.project / "skills-lock.json").write_text(
        json.dumps({"version": 1, "skills": {"pdf": entry}})
    )

    with own.open() as m:
        carried = m.lock_import("npx")

    assert ((), (("pdf", WORDS[0]),)) == (carried.names, carried.skipped)


def test_a_host_s_skill_does_not_take_its_place(own: Shop) -> None:
    own.offer("pdf")

    with own.open() as m:
        [told] = m.bundled(str(own.shelf), user=False)

    assert ("pdf", "foreign", WORDS[0]) == told


# --- where a shared lock has what a plugin here owns


@pytest.fixture
def both(home: Home, tmp_path: Path) -> Workshop:
    """Give a project with a lock that has `pdf`, which a plugin owns since; there is a newer one, and an edit."""
    made = Workshop(home, tmp_path)
    made.add()
    made.publish(changed(18))
    made.edit(changed(3, to="The plugin's line"))
    with made.open() as m:
        mirrored(m, a_mirror("pdf"))
    return made


def test_update_leaves_it_alone(both: Workshop) -> None:
    before = both.states()

    outcome = both.update()

    assert ([("pdf", WORDS)], (), before) == (
        [one[:2] for one in outcome.refused],
        outcome.installed,
        both.states(),
    )


def test_update_by_name_says_whose_it_is(own: Shop) -> None:
    with own.open() as m, pytest.raises(RefusedError) as caught:
        m.update("pdf")

    assert ("owned", *WORDS) == (caught.value.code, caught.value.message, caught.value.hint)


@pytest.mark.parametrize("frozen", [False, True])
@pytest.mark.parametrize("gone", [False, True])
def test_sync_leaves_it_alone_and_says_so(frozen: bool, gone: bool, both: Workshop) -> None:
    if gone:
        both.file().unlink()
    before = both.states()

    with both.open() as m:
        synced = m.sync(frozen=frozen)

    assert (False, (), (f"pdf: {'; '.join(WORDS)}",), before) == (
        synced.ok,
        synced.changed,
        synced.drift,
        both.states(),
    )


@pytest.mark.parametrize("force", [False, True])
def test_remove_leaves_it_alone(force: bool, both: Workshop) -> None:
    before = both.states()

    with both.open() as m:
        outcome = m.remove(["pdf"], force=force, consent=both.yes)

    assert ([("pdf", WORDS)], (), before) == (
        [one[:2] for one in outcome.refused],
        outcome.plan.remove,
        both.states(),
    )


def test_no_way_round_is_left(both: Workshop) -> None:
    before = both.states()

    with both.open() as m, pytest.raises(RefusedError) as caught:
        m.rollback("pdf", 1)

    assert ("owned", before) == (caught.value.code, both.states())


def test_a_mirror_that_cannot_be_read_may_own_anything(both: Workshop) -> None:
    with both.open() as m:
        mirrored(m, a_mirror("ocr")).write_bytes(b"{")

        with pytest.raises(StoreError):
            m.update(consent=both.yes)

    assert changed(3, to="The plugin's line") == both.file().read_text()


def test_an_edit_that_was_saved_from_it_is_left_to_its_plugin(both: Workshop) -> None:
    with both.open() as m:
        changer = places.changer_of(m.context)
        digest = places.store_of(m.context).keep(str(both.file().parent))
        saved = write_saved([SavedEdits(str(both.file().parent), digest)])
        (both.data / "supply" / SAVED).write_bytes(saved)

        apply.claim_edits(m.context, changer)
        left = (both.data / "supply" / SAVED).read_bytes()
        what = [one.what for one in m.history("pdf")]

    assert (saved, ["add"]) == (left, what)
