"""Enabling beyond its rows: what comes back, what is somebody else's, where skills go, and what is only looked at."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest
from doors.upstream import Upstream
from fakes.breaking import QuickHands
from fakes.hands import FaultyHands
from fakes.plugs import DANGER, Plugs, document, no

from metier.errors import MetierError, NotFoundError, RefusedError, StoreError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def disable(plugs: Plugs) -> None:
    plugs("plugin_disable", "kit", disable_linked_skills=True)


# --- looking only


def test_a_dry_run_says_what_would_come_and_touches_nothing(plugs: Plugs) -> None:
    before = plugs.seen()

    done = plugs.enable(dry_run=True)

    assert (["alpha", "beta"], False, before) == (
        [one.name for one in done.plan.add],
        done.changed,
        plugs.seen(),
    )
    assert {("add", "safe")} == {(one.mode, one.verdict) for one in done.plan.add}


def test_a_no_touches_nothing(plugs: Plugs) -> None:
    before = plugs.seen()

    done = plugs.enable(consent=no)

    assert (False, before, ()) == (done.changed, plugs.seen(), plugs.mirror().plugins)


@pytest.mark.parametrize("named", [{"dry_run": True}, {"consent": no}])
def test_a_plugin_that_would_come_back_is_left_away(named: dict[str, Any], enabled: Plugs) -> None:
    disable(enabled)
    before = enabled.seen()

    done = enabled.enable(**named)

    assert ({"restore"}, before, "disabled") == (
        {one.mode for one in done.plan.add},
        enabled.seen(),
        enabled.standing()[0],
    )


def test_a_dry_run_on_what_is_enabled_does_not_even_look(enabled: Plugs) -> None:
    enabled.release("1.1", alpha=document("alpha", 11))
    before = enabled.seen()

    done = enabled.enable(dry_run=True)

    assert (False, (), before) == (done.changed, done.opened, enabled.seen())


def test_enabling_what_is_paused_says_so(enabled: Plugs) -> None:
    enabled("plugin_pause", "kit")

    done = enabled.enable()

    assert ("paused", ("it is paused: metier plugin resume kit",)) == (
        done.plugins[0].status,
        done.notes,
    )


# --- what cannot be enabled


def test_skills_that_cannot_be_used_keep_the_plugin_out_and_are_named(plugs: Plugs) -> None:
    plugs.release(twin=document("alpha"))
    before = plugs.seen()

    done = plugs.enable()

    assert (False, before) == (done.changed, plugs.seen())
    assert any("alpha" in one.reasons[0] for one in done.refused), done.refused


@pytest.mark.parametrize("where", ["skills/gamma", "skills"])
def test_a_link_in_the_place_of_skills_keeps_the_plugin_out(where: str, plugs: Plugs) -> None:
    shutil.move(plugs.kit / "skills", plugs.base / "elsewhere")
    if where != "skills":
        shutil.copytree(plugs.base / "elsewhere", plugs.kit / "skills")
    (plugs.kit / where).symlink_to(plugs.base / "elsewhere")
    before = plugs.seen()

    done = plugs.enable()

    assert (False, before, True) == (
        done.changed,
        plugs.seen(),
        any("unsafe-link" in why for one in done.refused for why in one.reasons),
    )


def test_a_manifest_that_is_gone_is_unknown(enabled: Plugs) -> None:
    disable(enabled)
    shutil.rmtree(enabled.kit / ".claude-plugin")

    with pytest.raises(NotFoundError) as unknown:
        enabled("plugin_enable", "kit")

    assert ("there is no plugin 'kit'", "disabled") == (
        unknown.value.message,
        enabled.standing()[0],
    )


def test_another_plugin_of_the_same_id_is_refused(enabled: Plugs) -> None:
    shutil.copytree(enabled.kit, enabled.base / "twin")
    before = enabled.seen()

    with pytest.raises(RefusedError) as refused:
        enabled.enable("twin")

    assert ("ownership", True, before) == (
        refused.value.code,
        str(enabled.kit) in refused.value.message,
        enabled.seen(),
    )


def test_a_plugin_that_moved_is_disabled_and_goes_on_from_its_new_source(enabled: Plugs) -> None:
    edited = enabled.edit()
    disable(enabled)
    shutil.move(enabled.kit, enabled.base / "moved")
    enabled.release("1.1", plugin="moved", alpha=document("alpha", 11))
    (enabled.base / "moved/.claude-plugin/plugin.json").write_text(
        '{"name": "kit", "version": "1.1"}'
    )

    done = enabled.enable("moved")

    [ident] = enabled.waiting()
    assert (f"it was from {enabled.kit} before", str(enabled.base / "moved")) == (
        done.notes[0],
        done.plugins[0].source,
    )
    assert (edited, "three_way", "update_pending") == (
        enabled.text(),
        enabled.candidate(ident).merge_mode,
        enabled.standing()[0],
    )


def test_a_name_in_another_spelling_is_a_conflict(enabled: Plugs) -> None:
    enabled.release(plugin="other", Alpha=document("Alpha"))

    done = enabled.enable("other")

    [refused] = done.refused
    assert (
        "Skill ownership conflict: Alpha (it belongs to the plugin kit, as alpha)",
        f"'metier plugin adopt kit alpha' makes it yours; then move {enabled.working()} away",
    ) == refused.reasons


def test_a_locked_name_in_another_spelling_is_a_conflict(plugs: Plugs) -> None:
    plugs.release(plugin="other", Alpha=document("Alpha"))
    plugs("add", str(plugs.base / "other/skills/Alpha"))

    done = plugs.enable()

    assert [
        (
            "Skill ownership conflict: alpha (it was installed with 'metier add')",
            "'metier remove Alpha' frees the name",
        )
    ] == [one.reasons for one in done.refused]

    plugs("remove", "Alpha")

    assert () == plugs.enable().refused


def test_a_home_folder_that_is_the_project_too_has_one_owner_of_each_skill(plugs: Plugs) -> None:
    plugs.project = plugs.home
    plugs.enable(user=True)
    plugs("plugin_disable", "kit", disable_linked_skills=True, user=True)
    plugs.enable()

    done = plugs.enable(user=True)

    with pytest.raises(UsageError):
        plugs("plugin_adopt", "kit", "alpha", user=True)
    assert (["alpha", "beta"], False) == ([one.name for one in done.refused], done.changed)


class _Meanwhile(QuickHands):
    """DiskCalls that work while somebody else makes a folder: as soon as anything is written into the store."""

    def __init__(self, folder: Path) -> None:
        """Say which folder."""
        self.folder = folder

    def write(self, path: str, chunks: Iterable[bytes], mode: int = 0o600) -> None:
        """Write, and let the other one be first."""
        if "/store/" in path and not self.folder.exists():
            self.folder.mkdir(parents=True)
            (self.folder / "SKILL.md").write_text("mine\n")
        super().write(path, chunks, mode)


def test_what_somebody_makes_in_a_place_at_the_last_moment_is_not_replaced(plugs: Plugs) -> None:
    plugs.hands = _Meanwhile(plugs.working())

    with pytest.raises(StoreError) as refused:
        plugs.enable()

    assert ("changed", "mine\n", set()) == (refused.value.code, plugs.text(), plugs.trees())


def test_an_agent_that_nobody_knows_is_refused_before_anything_is_touched(plugs: Plugs) -> None:
    before = plugs.seen()

    with pytest.raises(UsageError):
        plugs.enable(to=["nobody"])

    assert before == plugs.seen()


# --- coming back


def test_what_was_edited_and_what_was_made_current_comes_back_as_it_was(enabled: Plugs) -> None:
    edited = enabled.edit()
    enabled("make_current", "alpha", "v0001")
    enabled("make_current", "alpha", "v0002")
    disable(enabled)

    done = enabled.enable()

    assert (edited, document("beta"), True, ()) == (
        enabled.text(),
        enabled.text("beta"),
        done.changed,
        done.opened,
    )
    assert [("v0001", "", "plugin:kit"), ("v0002", "v0001", "user")] == enabled.versions()


def test_an_update_that_waited_waits_again(enabled: Plugs) -> None:
    ident = enabled.update()
    disable(enabled)
    gone = enabled.candidate(ident).status

    done = enabled.enable()

    assert ("superseded", (ident,), [ident]) == (gone, done.opened, enabled.waiting())
    assert document("alpha") == enabled.text()


def test_a_repository_that_went_on_meanwhile_is_looked_at(plugs: Plugs) -> None:
    upstream = Upstream(plugs.base / "repository")
    upstream.commit(
        {
            ".claude-plugin/plugin.json": '{"name": "kit", "version": "1"}',
            "skills/alpha/SKILL.md": document("alpha"),
        }
    )
    plugs("plugin_enable", upstream.url, consent=lambda _so_far: True)
    edited = plugs.edit()
    disable(plugs)
    upstream.commit(
        {
            ".claude-plugin/plugin.json": '{"name": "kit", "version": "2"}',
            "skills/alpha/SKILL.md": document("alpha", 11),
        }
    )

    done = plugs("plugin_enable", "kit", consent=lambda _so_far: True)

    [ident] = done.opened
    [plugin] = plugs.mirror().plugins
    assert (edited, "three_way", "2", upstream.head()) == (
        plugs.text(),
        plugs.candidate(ident).merge_mode,
        plugin.installed_version,
        plugin.commit,
    )


@pytest.mark.parametrize("rested", [True, False])
def test_a_skill_that_is_no_longer_shipped_comes_back_and_is_reported(
    rested: bool, enabled: Plugs
) -> None:
    edited = enabled.edit("beta")
    enabled.release("1.1", beta=None)
    if rested:
        enabled.rest()
    [ident] = enabled.sync().opened
    disable(enabled)

    enabled.enable()

    assert (edited, [ident], "removed") == (
        enabled.text("beta"),
        enabled.waiting(),
        enabled.standing()[1]["beta"],
    )


@pytest.mark.parametrize(
    ("text", "verdict"),
    [(document("gamma"), "safe"), (document("gamma", body=DANGER), "dangerous")],
)
def test_the_others_come_back_and_a_skill_that_is_new_since_waits(
    text: str, verdict: str, enabled: Plugs
) -> None:
    edited = enabled.edit()
    disable(enabled)
    enabled.release("1.1", gamma=text)

    done = enabled.enable()

    [ident] = done.opened
    assert {"alpha": "restore", "beta": "restore"} == {one.name: one.mode for one in done.plan.add}
    assert (edited, False, verdict) == (
        enabled.text(),
        enabled.working("gamma").exists(),
        enabled.candidate(ident).evidence.verdict,
    )


def test_an_adopted_skill_is_left_to_its_owner(enabled: Plugs) -> None:
    enabled("plugin_adopt", "kit", "alpha")
    edited = enabled.edit()
    disable(enabled)
    enabled.release("1.1", alpha=document("alpha", 11))

    done = enabled.enable()

    assert (["beta"], edited, ["beta"]) == (
        [one.name for one in done.plan.add],
        enabled.text(),
        list(enabled.standing()[1]),
    )


@pytest.mark.parametrize("kind", ["folder", "file", "link"])
def test_something_else_in_the_place_of_what_would_come_back_is_a_conflict(
    kind: str, enabled: Plugs
) -> None:
    disable(enabled)
    there = enabled.working()
    there.parent.mkdir(parents=True)
    if kind == "folder":
        there.mkdir()
        (there / "SKILL.md").write_text("mine\n")
    elif kind == "file":
        there.write_text("mine\n")
    else:
        there.symlink_to(enabled.kit)
    before = enabled.seen()

    done = enabled.enable()

    assert [("alpha", True)] == [
        (one.name, one.reasons[0].startswith("Skill ownership conflict: alpha ("))
        for one in done.refused
    ]
    assert before == enabled.seen()


def test_what_is_there_already_as_it_was_is_taken_for_it(enabled: Plugs) -> None:
    disable(enabled)
    enabled.working().mkdir(parents=True)
    enabled.working("alpha", "SKILL.md").write_text(document("alpha"))

    done = enabled.enable()

    assert ((), "synced") == (done.refused, enabled.standing()[0])


# --- where skills go


def test_agents_that_were_asked_for_get_links_and_copies_of_their_own(plugs: Plugs) -> None:
    plugs.enable(to=["claude-code"])

    link = plugs.project / ".claude/skills/alpha"
    edited = plugs.edit()
    assert (True, edited) == (link.is_symlink(), (link / "SKILL.md").read_text())
    assert {".agents/skills/alpha", ".claude/skills/alpha"} == {
        one.path for one in plugs("versions", "alpha").targets
    }


def test_a_folder_of_somebody_s_in_an_agent_s_place_is_never_replaced(plugs: Plugs) -> None:
    own = plugs.project / ".claude/skills/alpha/SKILL.md"
    own.parent.mkdir(parents=True)
    own.write_text("mine\n")
    before = plugs.seen()

    done = plugs.enable(to=["claude-code"])

    assert ("mine\n", False, before) == (own.read_text(), done.changed, plugs.seen())
    assert [("alpha", True)] == [
        (
            one.name,
            one.reasons[0].startswith("Skill ownership conflict: alpha (there is something at "),
        )
        for one in done.refused
    ]


def test_what_somebody_put_in_an_agent_s_place_meanwhile_is_not_replaced_when_skills_come_back(
    plugs: Plugs,
) -> None:
    plugs.enable(to=["claude-code"])
    link = plugs.project / ".claude/skills/alpha"
    link.unlink()
    link.mkdir()
    (link / "SKILL.md").write_text("mine\n")
    disable(plugs)
    left = (link / "SKILL.md").read_text()

    done = plugs.enable()

    assert ("mine\n", "mine\n") == (left, (link / "SKILL.md").read_text())
    assert [("alpha", True)] == [
        (
            one.name,
            one.reasons[0].startswith("Skill ownership conflict: alpha (there is something at "),
        )
        for one in done.refused
    ]


def test_the_user_s_own_and_the_project_s_are_two_places(plugs: Plugs) -> None:
    plugs.enable(user=True)
    plugs.enable()

    listed = plugs("plugins").plugins

    assert [("kit", "project"), ("kit", "user")] == [(one.plugin_id, one.scope) for one in listed]
    assert [True, True] == [
        (top / ".agents/skills/alpha/SKILL.md").is_file() for top in (plugs.project, plugs.home)
    ]
    plugs("plugin_disable", "kit", disable_linked_skills=True, user=True)
    assert [True, False] == [
        (top / ".agents/skills/alpha/SKILL.md").is_file() for top in (plugs.project, plugs.home)
    ]


def test_two_plugins_live_side_by_side(enabled: Plugs) -> None:
    enabled.release(plugin="other", gamma=document("gamma"))
    enabled.enable("other")

    disable(enabled)

    assert [("kit", "disabled"), ("other", "synced")] == [
        (one.plugin_id, one.status) for one in enabled.mirror().plugins
    ]
    assert (document("gamma"), False) == (enabled.text("gamma"), enabled.working().exists())


# --- failing


def test_a_failure_while_skills_come_back_leaves_them_away_and_in_the_store(enabled: Plugs) -> None:
    enabled.edit()
    disable(enabled)
    before, at, wrong = enabled.seen(), 0, list[str]()

    while True:
        at += 1
        enabled.hands = hands = FaultyHands(at, "EIO", inner=QuickHands())
        try:
            enabled.enable()
        except MetierError as error:
            if before != enabled.seen():
                wrong.append(f"{hands.done[-1]} at {at}: {error.message}")
        else:
            break

    assert (True, []) == (at > 10, wrong)


def test_a_full_disk_is_told_as_it_is_and_not_as_trouble_with_the_way_back(plugs: Plugs) -> None:
    messages = []
    for at in range(1, 25):
        plugs.hands = FaultyHands(at, "ENOSPC", lasting=True, inner=QuickHands())
        with pytest.raises(MetierError) as failed:
            plugs.enable()
        messages.append(failed.value.message)

    assert [] == [one for one in messages if "take trees back" in one or "No space left" not in one]
