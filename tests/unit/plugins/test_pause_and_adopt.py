"""Pausing, disabling and adopting beyond their rows: what stays, what becomes a version first, and where links lead."""

from __future__ import annotations

import shutil

import pytest
from fakes.breaking import QuickHands
from fakes.hands import FaultyHands
from fakes.plugs import Plugs, document, mine

from metier.errors import MetierError, RefusedError, StoreError, UsageError
from metier.store.io import safe_files


def disable(plugs: Plugs, **named: bool) -> object:
    return plugs("plugin_disable", "kit", disable_linked_skills=True, **named).plugins[0].status


# --- pausing


def test_a_paused_plugin_s_skills_can_be_edited_and_its_edits_are_noted_when_it_goes_on(
    enabled: Plugs,
) -> None:
    enabled("plugin_pause", "kit")
    edited = enabled.edit()
    paused = enabled.sync().changed, len(enabled.versions())

    done = enabled("plugin_resume", "kit")

    assert ((False, 1), True, edited, 2) == (
        paused,
        done.changed,
        enabled.text(),
        len(enabled.versions()),
    )


def test_pausing_twice_changes_nothing(enabled: Plugs) -> None:
    first = enabled("plugin_pause", "kit").changed

    assert (True, False) == (first, enabled("plugin_pause", "kit").changed)


def test_resuming_what_is_not_paused_only_looks(enabled: Plugs) -> None:
    assert (False, "synced") == (
        (done := enabled("plugin_resume", "kit")).changed,
        done.plugins[0].status,
    )


@pytest.mark.parametrize("verb", ["plugin_pause", "plugin_resume"])
def test_what_is_disabled_is_neither_paused_nor_resumed(verb: str, enabled: Plugs) -> None:
    disable(enabled)

    with pytest.raises(UsageError) as refused:
        enabled(verb, "kit")

    assert ("'kit' is not enabled", "disabled") == (refused.value.message, enabled.standing()[0])


def test_a_plugin_whose_manifest_is_gone_can_be_paused_and_is_missing_again_when_it_goes_on(
    enabled: Plugs,
) -> None:
    shutil.rmtree(enabled.kit / ".claude-plugin")
    enabled.sync()
    enabled("plugin_pause", "kit")

    assert "missing" == enabled("plugin_resume", "kit").plugins[0].status


# --- disabling


def test_an_edit_is_a_version_before_its_working_copy_goes(enabled: Plugs) -> None:
    edited = enabled.edit()

    disable(enabled)

    viewed = enabled("version", "alpha")
    assert (False, "v0002", edited) == (
        enabled.working().exists(),
        viewed.version.version,
        viewed.content,
    )


@pytest.mark.parametrize("kind", ["gone", "file", "link"])
def test_what_somebody_put_in_the_place_of_a_working_copy_stays(kind: str, enabled: Plugs) -> None:
    there = enabled.working()
    shutil.rmtree(there)
    if kind == "file":
        there.write_text("mine\n")
    elif kind == "link":
        there.symlink_to("/nowhere")

    status = disable(enabled)

    assert ("disabled", kind == "link", kind == "file", False) == (
        status,
        there.is_symlink(),
        there.is_file(),
        enabled.working("beta").exists(),
    )
    assert [f"{there} is not what was put there, and stays"] * (kind != "gone") == enabled.warnings


def test_links_of_agents_go_and_what_was_changed_there_by_itself_stays(plugs: Plugs) -> None:
    plugs.enable(to=["claude-code"])
    link = plugs.project / ".claude/skills"
    (link / "alpha").unlink()
    (link / "alpha").mkdir()
    (link / "alpha/SKILL.md").write_text(mine("alpha", 3))

    disable(plugs)

    assert (mine("alpha", 3), False) == (
        (link / "alpha/SKILL.md").read_text(),
        (link / "beta").is_symlink(),
    )


def test_disabling_twice_changes_nothing(enabled: Plugs) -> None:
    disable(enabled)
    before = enabled.seen()

    assert ("disabled", before) == (disable(enabled), enabled.seen())


def test_adopted_skills_stay_when_their_plugin_goes(enabled: Plugs) -> None:
    enabled("plugin_adopt", "kit", "alpha")

    disable(enabled)

    assert (True, False) == (enabled.working().exists(), enabled.working("beta").exists())


def test_a_plugin_that_was_adopted_whole_has_nothing_to_disable(enabled: Plugs) -> None:
    for name in ("alpha", "beta"):
        enabled("plugin_adopt", "kit", name)

    done = enabled("plugin_disable", "kit", disable_linked_skills=True)

    assert (False, "adopted", True) == (
        done.changed,
        enabled.standing()[0],
        enabled.working().exists(),
    )


def test_a_skill_of_another_plugin_stays_when_one_goes_that_only_offers_it(enabled: Plugs) -> None:
    enabled.release(plugin="other", gamma=document("gamma"))
    enabled.enable("other")
    enabled.release("1.1", plugin="other", alpha=document("alpha", 3))
    [ident] = enabled.sync().opened
    edited = enabled.edit()

    enabled("plugin_disable", "other", disable_linked_skills=True)

    assert (edited, "active", "superseded") == (
        enabled.text(),
        enabled("versions", "alpha").status,
        enabled.candidate(ident).status,
    )


def test_a_failure_at_any_step_of_disabling_leaves_all_in_place(enabled: Plugs) -> None:
    edited = enabled.edit()
    before, at, wrong = enabled.mirror(), 0, list[str]()

    while True:
        at += 1
        enabled.hands = FaultyHands(at, "EIO", inner=QuickHands())
        try:
            disable(enabled)
        except MetierError as error:
            if (before, edited) != (enabled.mirror(), enabled.text()):
                wrong.append(f"{at}: {error.message}")
        else:
            break

    assert (True, [], False) == (at > 10, wrong, enabled.working().exists())
    assert edited == enabled("version", "alpha").content


# --- adopting


def test_an_edit_is_a_version_when_its_skill_is_adopted_and_history_goes_on(enabled: Plugs) -> None:
    edited = enabled.edit()

    enabled("plugin_adopt", "kit", "alpha")

    assert (edited, [("v0001", "", "plugin:kit"), ("v0002", "v0001", "user")]) == (
        enabled.text(),
        enabled.versions(),
    )


def test_a_disabled_skill_that_is_adopted_is_put_in_place_again_with_its_links(
    plugs: Plugs,
) -> None:
    plugs.enable(to=["claude-code"])
    edited = plugs.edit()
    disable(plugs)

    done = plugs("plugin_adopt", "kit", "alpha")

    link = plugs.project / ".claude/skills/alpha/SKILL.md"
    assert (edited, edited, "disabled", ["beta"]) == (
        plugs.text(),
        link.read_text(),
        done.plugins[0].status,
        list(done.plugins[0].skills),
    )


@pytest.mark.parametrize("where", [".agents/skills/alpha", ".claude/skills/alpha"])
def test_a_disabled_skill_is_not_adopted_over_what_is_somebody_s(where: str, plugs: Plugs) -> None:
    plugs.enable(to=["claude-code"])
    disable(plugs)
    own = plugs.project / where / "SKILL.md"
    own.parent.mkdir(parents=True)
    own.write_text("mine\n")

    with pytest.raises(UsageError) as refused:
        plugs("plugin_adopt", "kit", "alpha")

    assert (f"there is something at {own.parent} already", "mine\n") == (
        refused.value.message,
        own.read_text(),
    )


def test_what_only_waits_for_a_yes_cannot_be_adopted(enabled: Plugs) -> None:
    enabled.release("1.1", gamma=document("gamma"))
    enabled.sync()

    with pytest.raises(UsageError) as refused:
        enabled("plugin_adopt", "kit", "gamma")

    assert "'gamma' is not here yet: it waits for your yes" == refused.value.message


def test_an_update_that_waited_is_superseded_by_adopting(enabled: Plugs) -> None:
    ident = enabled.update()

    enabled("plugin_adopt", "kit", "alpha")

    assert ("superseded", "it was adopted", []) == (
        enabled.candidate(ident).status,
        enabled.candidate(ident).reason,
        enabled.waiting(),
    )


def test_a_plugin_that_was_adopted_whole_may_come_back_with_nothing_but_what_is_new(
    enabled: Plugs,
) -> None:
    for name in ("alpha", "beta"):
        enabled("plugin_adopt", "kit", name)
    edited = enabled.edit()
    enabled.release("2.0", alpha=document("alpha", 11), gamma=document("gamma"))

    done = enabled.enable()

    assert (["gamma"], edited, "synced") == (
        list(done.plugins[0].skills),
        enabled.text(),
        done.plugins[0].status,
    )


# --- others at work


@pytest.mark.parametrize(
    ("verb", "given", "named"),
    [
        ("plugin_sync", (), {}),
        ("plugin_pause", ("kit",), {}),
        ("plugin_disable", ("kit",), {"disable_linked_skills": True}),
        ("plugin_adopt", ("kit", "alpha"), {}),
        ("plugin_enable", ("kit",), {}),
    ],
)
def test_who_does_not_wait_gives_up_at_once_also_while_another_s_change_is_half_done(
    verb: str, given: tuple[str, ...], named: dict[str, bool], enabled: Plugs
) -> None:
    supply = enabled.data / "supply"
    (supply / "journal.json").write_text("{}")

    with safe_files.hold_lock(str(supply / "lock")), pytest.raises(StoreError) as busy:
        enabled(verb, *given, blocking=False, **named)

    assert ("busy", "synced") == (busy.value.code, enabled.standing()[0])


# --- further agents


@pytest.mark.parametrize("platform", ["", "win32"])
def test_enabling_again_for_another_agent_puts_the_skills_where_that_one_looks(
    platform: str, enabled: Plugs
) -> None:
    enabled.platform = platform
    edited = enabled.edit()

    first, second = enabled.enable(to=("claude-code",)), enabled.enable(to=("claude-code",))

    place = enabled.project / ".claude/skills/alpha"
    assert (True, False, edited) == (
        first.changed,
        second.changed,
        (place / "SKILL.md").read_text(),
    )
    assert (not platform, edited) == (place.is_symlink(), enabled.text())


def test_a_folder_in_the_way_of_another_agent_is_a_conflict_and_nothing_is_done(
    enabled: Plugs,
) -> None:
    other = enabled.project / ".claude/skills/beta"
    other.mkdir(parents=True)
    (other / "SKILL.md").write_text("somebody else's\n")
    before = enabled.seen()

    with pytest.raises(RefusedError) as refused:
        enabled.enable(to=("claude-code",))

    assert ("ownership", before) == (refused.value.code, enabled.seen())


def test_a_plugin_that_comes_back_may_go_to_another_agent_too(enabled: Plugs) -> None:
    enabled("plugin_disable", "kit", disable_linked_skills=True)

    enabled("plugin_enable", "kit", to=("claude-code",), consent=lambda _so_far: True)

    assert document("alpha") == (enabled.project / ".claude/skills/alpha/SKILL.md").read_text()
