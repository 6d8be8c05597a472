"""From a yes to a version in place: where it goes, what stays, and what a crash in between leaves to be finished."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest
from fakes.breaking import QuickHands
from fakes.hands import FaultyHands, in_a_child
from fakes.plugs import Plugs, document, mine

from metier.errors import MetierError, NotFoundError, RefusedError, StoreError
from metier.plugins import candidates, install, mirror_store
from metier.plugins.mirror_ledger import Ledger
from metier.supply import places

if TYPE_CHECKING:
    from pathlib import Path


def copies(plugs: Plugs) -> Path:
    """Enable the plugin for an agent that gets copies; give where they are."""
    plugs.platform = "win32"
    plugs.enable(to=["claude-code"])
    return plugs.project / ".claude/skills"


def accepted(plugs: Plugs, ident: str) -> None:
    """Note a yes and do nothing about it, as a crash does."""
    with plugs.open() as library, mirror_store.hold_lock(library.context) as changer:
        ground = mirror_store.read(library.context, places.place_of(library.context, user=False))
        ledger = Ledger(ground.mirror, "2026-01-02T03:04:05Z")
        candidates.note_accepted(
            ledger,
            ident,
            ledger.candidates[ident].evidence.proposed_tree_hash,
        )
        mirror_store.apply_change(ground, ledger.as_mirror(), (), changer)


# --- where it goes


def test_copies_that_nobody_touched_follow_every_update(plugs: Plugs) -> None:
    copy = copies(plugs) / "alpha/SKILL.md"
    plugs.edit()
    texts = []

    for version, line in (("1.1", 9), ("1.2", 10), ("1.3", 11)):
        plugs("accept", plugs.update("alpha", *range(9, line + 1), version=version))
        plugs.edit("alpha", line - 6)
        texts.append(copy.read_text())

    assert [True, True, True] == [
        f"New line {line} " in text and "My line 2 " in text
        for line, text in zip((9, 10, 11), texts, strict=True)
    ]
    assert [] == plugs.warnings


def test_a_copy_that_was_edited_by_itself_stays_and_is_named(plugs: Plugs) -> None:
    copy = copies(plugs) / "alpha/SKILL.md"
    copy.write_text(mine("alpha", 5))

    plugs("accept", plugs.update())

    assert (mine("alpha", 5), document("alpha", 11)) == (copy.read_text(), plugs.text())
    assert [f"{copy.parent} was changed outside metier, and stays as it is"] == plugs.warnings


def test_copies_of_an_older_version_go_when_the_plugin_is_disabled(plugs: Plugs) -> None:
    copy = copies(plugs)
    plugs.edit()

    plugs("plugin_disable", "kit", disable_linked_skills=True)

    assert (False, False, []) == (
        (copy / "alpha").exists(),
        (copy / "beta").exists(),
        plugs.warnings,
    )


def test_links_show_what_was_accepted(plugs: Plugs) -> None:
    plugs.enable(to=["claude-code"])

    plugs("accept", plugs.update())

    assert document("alpha", 11) == (plugs.project / ".claude/skills/alpha/SKILL.md").read_text()


def test_a_new_skill_goes_where_its_siblings_went(plugs: Plugs) -> None:
    plugs.enable(to=["claude-code"])
    plugs.release("1.1", gamma=document("gamma"))

    plugs("accept", *plugs.sync().opened)

    assert document("gamma") == (plugs.project / ".claude/skills/gamma/SKILL.md").read_text()


@pytest.mark.parametrize("where", [".agents/skills/gamma", ".claude/skills/gamma"])
def test_a_new_skill_is_never_put_over_what_is_somebody_s_and_goes_on_waiting(
    where: str, plugs: Plugs
) -> None:
    plugs.enable(to=["claude-code"])
    plugs.release("1.1", gamma=document("gamma"))
    [ident] = plugs.sync().opened
    own = plugs.project / where / "SKILL.md"
    own.parent.mkdir(parents=True)
    own.write_text("mine\n")

    with pytest.raises(RefusedError) as refused:
        plugs("accept", ident)

    assert (
        "ownership",
        f"Skill ownership conflict: gamma (there is something at {own.parent})",
    ) == (refused.value.code, refused.value.message)
    assert ("mine\n", "open") == (own.read_text(), plugs.candidate(ident).status)


def test_a_new_skill_of_a_name_that_another_plugin_has_cannot_be_accepted(enabled: Plugs) -> None:
    enabled.release(plugin="other", gamma=document("gamma"))
    enabled.enable("other")
    enabled.release("1.1", gamma=document("gamma", 3))
    [ident] = enabled.sync().opened

    with pytest.raises(RefusedError) as refused:
        enabled("accept", ident)

    assert (
        "Skill ownership conflict: gamma (it belongs to the plugin other)" == refused.value.message
    )
    assert (document("gamma"), "open", "plugin:other") == (
        enabled.text("gamma"),
        enabled.candidate(ident).status,
        enabled("versions", "gamma").owner,
    )


# --- what a crash leaves


def test_a_yes_without_effect_is_finished_by_the_next_look(enabled: Plugs) -> None:
    ident = enabled.update()
    accepted(enabled, ident)

    enabled.sync()

    assert (document("alpha", 11), "published", "synced") == (
        enabled.text(),
        enabled.candidate(ident).status,
        enabled.standing()[0],
    )
    assert ["visible", "visible"] == [card.state for card in enabled("skills")]
    assert ("review", "published", "alpha") in [
        (one["event"], one["outcome"], one["name"]) for one in enabled("audit_tail", 20)
    ]


def test_a_yes_to_what_the_policy_of_today_refuses_has_no_effect(enabled: Plugs) -> None:
    ident = enabled.update()
    accepted(enabled, ident)
    enabled("trust", "alpha", "block", reason="not in this house")

    enabled.sync()

    assert (document("alpha"), "open") == (enabled.text(), enabled.candidate(ident).status)


def test_a_yes_that_another_process_finished_meanwhile_stays_published(enabled: Plugs) -> None:
    ident = enabled.update()
    accepted(enabled, ident)
    with enabled.open() as library:
        old = mirror_store.read(library.context, places.place_of(library.context, user=False))
        enabled.sync()

        install.finish(old)

    assert ("published", document("alpha", 11)) == (enabled.candidate(ident).status, enabled.text())


def test_a_yes_to_what_moved_since_is_asked_about_again(enabled: Plugs) -> None:
    ident = enabled.update()
    accepted(enabled, ident)
    edited = enabled.edit()

    enabled.sync()

    one = enabled.candidate(ident)
    assert (edited, "open", "three_way") == (enabled.text(), one.status, one.merge_mode)
    assert [True] == ["waits for another look" in text for text in enabled.warnings]


def test_a_yes_that_was_killed_at_any_step_is_either_finished_or_asked_again_and_no_edit_is_lost(
    plugs: Plugs,
) -> None:
    plugs.release(alpha=document("alpha"), beta=None)
    plugs.enable()
    edited = plugs.edit()
    ident = plugs.update()
    wanted = edited.replace("Line 11 ", "New line 11 ")
    at, wrong = 0, list[str]()

    while True:
        at += 5
        plugs.hands = FaultyHands(at, "SIGKILL", inner=QuickHands())
        if in_a_child(lambda: plugs("accept", ident)) != -signal.SIGKILL:
            break
        plugs.hands = QuickHands()
        plugs.sync()
        found = plugs.candidate(ident).status, plugs.text()
        if found not in {("open", edited), ("published", wanted)}:
            wrong.append(f"{at}: {found[0]}")
        if found[0] == "published":
            break

    plugs.hands = QuickHands()
    versions = plugs("versions", "alpha").versions
    assert ([], True) == (
        wrong,
        edited in {plugs("version", "alpha", one.version).content for one in versions},
    )


def test_a_failure_at_any_step_leaves_the_update_waiting_and_the_working_copy_whole(
    enabled: Plugs,
) -> None:
    edited = enabled.edit()
    ident = enabled.update()
    at, wrong = 0, list[str]()

    while True:
        at += 1
        enabled.hands = FaultyHands(at, "EIO", inner=QuickHands())
        try:
            done = enabled("accept", ident).done
        except MetierError as error:
            done = False
            if enabled.text() != edited or enabled.candidate(ident).status not in {
                "open",
                "accepted",
            }:
                wrong.append(f"{at}: {error.message}")
        if done:
            break

    assert (True, []) == (at > 10, wrong)
    assert edited.replace("Line 11 ", "New line 11 ") == enabled.text()


# --- others


def test_what_others_changed_meanwhile_is_not_overwritten(enabled: Plugs) -> None:
    ident = enabled.update()
    with enabled.open() as library:
        place = places.place_of(library.context, user=False)
        ground = mirror_store.read(library.context, place)
        enabled("plugin_adopt", "kit", "beta")
        with pytest.raises(StoreError) as changed:
            install.retire(ground, ident, "")

    assert ("changed", document("alpha")) == (changed.value.code, enabled.text())


def test_an_acknowledgement_of_nothing_is_refused(enabled: Plugs) -> None:
    with pytest.raises(NotFoundError) as unknown:
        enabled("published", "plugin-update:kit:alpha:0", "v0001")

    assert "there is no candidate 'plugin-update:kit:alpha:0'" == unknown.value.message
