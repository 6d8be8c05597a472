"""A look at plugins beyond its rows: what people did to working copies, what authors did to plugins, and sources that are away."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest
from doors.upstream import Upstream
from fakes.breaking import QuickHands
from fakes.hands import FaultyHands
from fakes.plugs import DANGER, Plugs, document, mine

from metier.errors import MetierError
from metier.plugins import mirror_store, sync
from metier.store.io.atomic_change import state_of
from metier.supply import places

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def replace(place: Path, kind: str) -> None:
    """Put something else in the place of a working copy."""
    shutil.rmtree(place)
    if kind == "file":
        place.write_text("a file\n")
    elif kind == "link":
        place.symlink_to("/nowhere")


def what(place: Path) -> object:
    return (
        place.readlink()
        if place.is_symlink()
        else place.read_text()
        if place.is_file()
        else place.exists()
    )


# --- edits


def test_an_edit_becomes_a_version_once_and_stays_in_place(enabled: Plugs) -> None:
    edited = enabled.edit()

    first, second = enabled.sync(), enabled.sync()

    assert (True, False, edited) == (first.changed, second.changed, enabled.text())
    assert [("v0001", "", "plugin:kit"), ("v0002", "v0001", "user")] == enabled.versions()


def test_an_edit_back_to_what_it_was_is_a_version_too(enabled: Plugs) -> None:
    enabled.edit()
    enabled.sync()
    enabled.working("alpha", "SKILL.md").write_text(document("alpha"))

    enabled.sync()

    versions = enabled("versions", "alpha").versions
    assert (["v0001", "v0002", "v0003"], True) == (
        [one.version for one in versions],
        versions[0].digest == versions[2].digest,
    )


def test_a_file_that_is_saved_while_the_edit_is_written_down_is_looked_at_again(
    enabled: Plugs,
) -> None:
    saved = list[str]()

    class BusyHands(QuickHands):
        """DiskCalls beside which somebody saves both files, once."""

        def write(self, path: str, chunks: Iterable[bytes], mode: int = 0o644) -> None:
            """Write, and save those files the first time something goes into the store."""
            super().write(path, chunks, mode)
            if "/store/" in path and not saved:
                for file in files:
                    file.write_text(f"{file.read_text()}Just now.\n")
                    saved.append(file.name)

    enabled.edit()
    files = [enabled.working("alpha", name) for name in ("SKILL.md", "zz.md")]
    files[1].write_text("Mine.\n")
    enabled.hands = BusyHands()

    enabled.sync()

    skill = enabled("versions", "alpha")
    texts = [
        enabled("version", "alpha", "v0002", file=name).content.endswith("Just now.\n")
        for name in saved
    ]
    assert (["v0001", "v0002"], "v0002", [True, True]) == (
        [one.version for one in skill.versions],
        skill.current,
        texts,
    )


def test_an_edit_under_a_candidate_makes_it_anew(enabled: Plugs) -> None:
    ident = enabled.update()
    enabled.edit()

    done = enabled.sync()

    one = enabled.candidate(ident)
    assert ("three_way", "open", state_of(str(enabled.working()))) == (
        one.merge_mode,
        one.status,
        one.evidence.local_tree_hash,
    )
    assert ((), True, "v0002") == (done.opened, done.changed, one.evidence.local_version)


@pytest.mark.parametrize("kind", ["gone", "file", "link"])
def test_a_working_copy_that_is_no_folder_any_more_is_left_as_it_is(
    kind: str, enabled: Plugs
) -> None:
    replace(enabled.working(), kind)
    before = what(enabled.working())

    done = enabled.sync()

    assert (False, before, "synced", 1) == (
        done.changed,
        what(enabled.working()),
        enabled.standing()[0],
        len(enabled.versions()),
    )


@pytest.mark.parametrize("kind", ["gone", "file", "link"])
def test_an_update_of_what_is_no_folder_any_more_is_proposed_and_nothing_is_touched(
    kind: str, enabled: Plugs
) -> None:
    replace(enabled.working(), kind)
    before = what(enabled.working())

    ident = enabled.update()
    again = enabled.sync()

    one = enabled.candidate(ident)
    assert (before, (), "fast_forward", "") == (
        what(enabled.working()),
        again.opened,
        one.merge_mode,
        one.evidence.local_tree_hash,
    )
    assert (kind == "gone") == bool(one.evidence.proposed_tree_hash)


def test_an_edit_of_a_file_beside_the_document_counts(enabled: Plugs) -> None:
    enabled.working("alpha", "notes.md").write_text("mine\n")

    enabled.sync()

    assert ("SKILL.md", "notes.md") == enabled("version", "alpha").files


# --- what authors do


def test_a_skill_that_moved_inside_its_plugin_is_the_same_skill(enabled: Plugs) -> None:
    (enabled.kit / "skills/more").mkdir()
    shutil.move(enabled.kit / "skills/alpha", enabled.kit / "skills/more/alpha")

    done = enabled.sync()

    binding = enabled.mirror().plugins[0].skills[0]
    assert (("alpha", "skills/more/alpha", "synced"), ()) == (
        (binding.skill, binding.path, binding.status),
        done.opened,
    )


def test_a_skill_that_was_renamed_is_a_new_one_and_a_removed_one(enabled: Plugs) -> None:
    enabled.release("1.1", alpha=None, gamma=document("gamma"))

    done = enabled.sync()

    assert ["plugin-add:kit:gamma", "plugin-remove:kit:alpha"] == sorted(
        one.rpartition(":")[0] for one in done.opened
    )
    assert {"alpha": "removed", "beta": "synced", "gamma": "new"} == enabled.standing()[1]


def test_a_skill_that_comes_back_unchanged_is_synced_again(enabled: Plugs) -> None:
    enabled.release("1.1", beta=None)
    [ident] = enabled.sync().opened
    enabled.release("1.2", beta=document("beta"))

    enabled.sync()

    assert ("superseded", "synced") == (enabled.candidate(ident).status, enabled.standing()[0])


def test_a_skill_that_was_kept_and_is_shipped_again_gets_updates_again(enabled: Plugs) -> None:
    enabled.release("1.1", beta=None)
    [ident] = enabled.sync().opened
    enabled("reject", ident)
    kept = enabled.standing()
    enabled.release("1.2", beta=document("beta", 11))

    [update] = enabled.sync().opened

    assert (("synced", {"alpha": "synced", "beta": "kept"}), "fast_forward") == (
        kept,
        enabled.candidate(update).merge_mode,
    )


def test_a_skill_that_was_let_go_and_is_shipped_again_is_proposed_and_numbered_on(
    enabled: Plugs,
) -> None:
    enabled.release("1.1", beta=None)
    enabled("accept", *enabled.sync().opened)
    enabled.release("1.2", beta=document("beta", 11))

    [ident] = enabled.sync().opened
    enabled("accept", ident)

    assert (True, document("beta", 11)) == (
        ident.startswith("plugin-add:kit:beta:"),
        enabled.text("beta"),
    )
    assert [("v0001", "", "plugin:kit"), ("v0002", "", "plugin:kit")] == enabled.versions("beta")


@pytest.mark.parametrize("kind", ["file", "link"])
def test_a_skill_that_is_no_longer_shipped_and_no_folder_any_more_can_be_decided_about(
    kind: str, enabled: Plugs
) -> None:
    place = enabled.working("beta")
    shutil.rmtree(place)
    place.write_text("mine\n") if kind == "file" else place.symlink_to(enabled.kit)
    enabled.release("1.1", beta=None)

    [ident] = enabled.sync().opened
    done = enabled("accept", ident)

    assert (True, True, [f"{place} is not what was put there, and stays"]) == (
        done.done,
        os.path.lexists(place),
        enabled.warnings,
    )


def test_what_is_offered_and_another_plugin_has_is_not_compared_with_that(enabled: Plugs) -> None:
    enabled.release(plugin="other", gamma=document("gamma"))
    enabled.enable("other")
    enabled.release("1.1", plugin="other", alpha=document("alpha", 3))
    [ident] = enabled.sync().opened
    before = enabled.candidate(ident)
    enabled.rest()
    enabled.sync()
    enabled.edit()

    enabled.sync()

    assert before == enabled.candidate(ident)


def test_a_manifest_that_names_no_version_any_more_has_none(enabled: Plugs) -> None:
    (enabled.kit / ".claude-plugin/plugin.json").write_text('{"name": "kit"}')

    done = enabled.sync()

    assert (None, False) == (done.plugins[0].installed_version, enabled.sync().changed)


def test_an_adopted_skill_gets_no_updates(enabled: Plugs) -> None:
    enabled("plugin_adopt", "kit", "alpha")
    enabled.release("1.1", alpha=document("alpha", 11), beta=document("beta", 11))

    done = enabled.sync()

    assert (["plugin-update:kit:beta"], document("alpha")) == (
        [one.rpartition(":")[0] for one in done.opened],
        enabled.text(),
    )


def test_a_new_skill_that_changes_before_anybody_looked_is_proposed_anew(enabled: Plugs) -> None:
    enabled.release("1.1", gamma=document("gamma"))
    [first] = enabled.sync().opened
    enabled.release("1.2", gamma=document("gamma", 3))

    done = enabled.sync()

    assert ((first,), enabled.waiting()) == (done.superseded, list(done.opened))
    assert done.opened[0] == enabled.candidate(first).replaced_by


def test_a_dangerous_update_waits_with_its_verdict_and_why(enabled: Plugs) -> None:
    enabled.release("1.1", alpha=document("alpha", body=DANGER))

    [ident] = enabled.sync().opened

    one = enabled.candidate(ident)
    assert ("dangerous", True, document("alpha")) == (
        one.evidence.verdict,
        "dangerous" in one.reason,
        enabled.text(),
    )


def test_what_can_no_longer_be_used_upstream_is_told_and_not_taken_for_removed(
    enabled: Plugs,
) -> None:
    enabled.release("1.1", twin=document("alpha"))

    done = enabled.sync()

    assert ((), True, {"alpha": "synced", "beta": "synced"}) == (
        done.opened,
        any("alpha" in one for one in done.notes),
        enabled.standing()[1],
    )


def test_a_manifest_that_comes_back_ends_the_plugin_s_being_missing(enabled: Plugs) -> None:
    shutil.move(enabled.kit / ".claude-plugin", enabled.base / "away")
    missing = enabled.sync().plugins[0].status
    again = enabled.sync().changed
    shutil.move(enabled.base / "away", enabled.kit / ".claude-plugin")

    back = enabled.sync().plugins[0].status

    assert ("missing", False, "synced") == (missing, again, back)


def test_a_plugin_that_went_missing_while_an_update_waited_waits_when_it_is_back(
    enabled: Plugs,
) -> None:
    ident = enabled.update()
    shutil.move(enabled.kit / ".claude-plugin", enabled.base / "away")
    enabled.sync()
    waiting = enabled.waiting()
    shutil.move(enabled.base / "away", enabled.kit / ".claude-plugin")

    enabled.sync()

    assert ([ident], [ident], "update_pending") == (
        waiting,
        enabled.waiting(),
        enabled.standing()[0],
    )


# --- which plugins


def test_only_what_was_named_is_looked_at(enabled: Plugs) -> None:
    enabled.release(plugin="other", gamma=document("gamma"))
    enabled.enable("other")
    enabled.release("1.1", alpha=document("alpha", 11))
    enabled.release("1.1", plugin="other", gamma=document("gamma", 11))

    done = enabled.sync("other")

    assert (["other"], ["plugin-update:other:gamma"]) == (
        [one.plugin_id for one in done.plugins],
        [one.rpartition(":")[0] for one in done.opened],
    )


def test_a_source_that_cannot_be_reached_is_told_and_the_others_go_on(enabled: Plugs) -> None:
    upstream = Upstream(enabled.base / "repository")
    upstream.commit(
        {
            ".claude-plugin/plugin.json": '{"name": "far", "version": "1"}',
            "skills/gamma/SKILL.md": document("gamma"),
        }
    )
    enabled("plugin_enable", upstream.url, consent=lambda _so_far: True)
    shutil.move(enabled.base / "repository", enabled.base / "away")
    edited = enabled.edit("gamma")
    enabled.release("1.1", alpha=document("alpha", 11))

    done = enabled.sync()

    assert ([upstream.source], 1) == ([one.path for one in done.unreachable], len(done.opened))
    assert (edited, {"far": "synced", "kit": "update_pending"}) == (
        enabled.text("gamma"),
        {one.plugin_id: one.status for one in done.plugins},
    )


def test_a_repository_that_went_on_is_looked_at_and_one_that_did_not_is_only_asked(
    plugs: Plugs,
) -> None:
    upstream = Upstream(plugs.base / "repository")
    upstream.commit(
        {
            ".claude-plugin/plugin.json": '{"name": "far", "version": "1"}',
            "skills/gamma/SKILL.md": document("gamma"),
        }
    )
    plugs("plugin_enable", upstream.url, consent=lambda _so_far: True)
    before = plugs.sync()
    upstream.commit({"skills/gamma/SKILL.md": document("gamma", 11)})

    after = plugs.sync()

    [plugin] = plugs.mirror().plugins
    assert (False, ["plugin-update:far:gamma"]) == (
        before.changed,
        [one.rpartition(":")[0] for one in after.opened],
    )
    assert upstream.head() == plugin.commit


def test_the_user_s_and_the_project_s_are_looked_at_each_for_itself(plugs: Plugs) -> None:
    plugs.enable()
    plugs.enable(user=True)
    plugs.release("1.1", alpha=document("alpha", 11))

    user = plugs.sync(user=True)
    both = plugs.sync()

    assert ([("kit", "user", "update_pending")], 1) == (
        [(one.plugin_id, one.scope, one.status) for one in user.plugins],
        len(user.opened),
    )
    assert ([("project", "update_pending"), ("user", "update_pending")], 1) == (
        [(one.scope, one.status) for one in both.plugins],
        len(both.opened),
    )
    assert ["project", "user"] == sorted(one.scope for one in plugs("candidates"))


# --- going by stats


def test_what_is_at_rest_is_seen_when_it_changes(enabled: Plugs) -> None:
    enabled.rest()
    enabled.sync()
    still = enabled.sync().changed
    edited = enabled.edit("beta")
    enabled.release("1.1", alpha=document("alpha", 11))

    done = enabled.sync()

    assert (False, ["plugin-update:kit:alpha"]) == (
        still,
        [one.rpartition(":")[0] for one in done.opened],
    )
    assert (edited, "v0002") == (enabled.text("beta"), enabled("versions", "beta").current)


def test_a_candidate_that_waits_is_not_made_again_while_all_is_at_rest(enabled: Plugs) -> None:
    ident = enabled.update()
    enabled.rest()

    first, second = enabled.sync(), enabled.sync()

    assert (False, False, [ident]) == (first.changed, second.changed, enabled.waiting())


# --- crashes and others


def test_a_failure_at_any_step_of_a_look_is_told_and_loses_no_edit(enabled: Plugs) -> None:
    edited = enabled.edit()
    enabled.release("1.1", alpha=document("alpha", 11), gamma=document("gamma"))
    at, silent = 0, list[str]()

    while True:
        at += 1
        enabled.hands = hands = FaultyHands(at, "EIO", inner=QuickHands())
        try:
            done = enabled.sync()
        except MetierError:
            continue
        if hands.steps < at:
            break
        if not (done.unreachable or done.notes) and len(enabled.waiting()) < 2:
            silent.append(str(hands.done[at - 1 :][:1]))

    assert ([], edited, "v0002") == (silent, enabled.text(), enabled("versions", "alpha").current)
    assert {"alpha": "update_pending", "beta": "synced", "gamma": "new"} == enabled.standing()[1]


def test_a_look_that_others_overtook_is_repeated(enabled: Plugs) -> None:
    enabled.release("1.1", alpha=document("alpha", 11))
    with enabled.open() as library:
        old = mirror_store.read(library.context, places.place_of(library.context, user=False))
        enabled("plugin_adopt", "kit", "beta")

        _here, done = sync.sync_place(old)

    assert (1, ["alpha"]) == (len(done.opened), list(enabled.standing()[1]))


# --- targets


def test_links_follow_an_edit_and_what_was_changed_in_an_agent_s_place_is_not_the_working_copy(
    plugs: Plugs,
) -> None:
    plugs.enable(to=["claude-code"])
    link = plugs.project / ".claude/skills/alpha"
    link.unlink()
    link.mkdir()
    (link / "SKILL.md").write_text(mine("alpha", 5))

    done = plugs.sync()

    assert (False, mine("alpha", 5), document("alpha")) == (
        done.changed,
        (link / "SKILL.md").read_text(),
        plugs.text(),
    )
