"""Updates of plugins in the queue: shown whole, accepted only as they were shown, edited on a desk, or turned down."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from doors.upstream import Upstream
from fakes.plugs import DANGER, Plugs, document, mine

from metier.errors import (
    IntegrityError,
    MetierError,
    NotFoundError,
    RefusedError,
    StoreError,
    UsageError,
)
from metier.plugins.model import CandidateStatus, Evidence, ReviewCandidate
from metier.review.plugin_updates import PluginUpdates
from metier.store.io.atomic_change import state_of

MERGED = mine("alpha", 2).replace("Line 11 ", "New line 11 ")


@pytest.fixture
def plugs(tmp_path: Path) -> Plugs:
    """Give a machine where a plugin with two skills is enabled."""
    made = Plugs(tmp_path)
    made.enable()
    return made


@pytest.fixture
def torn(plugs: Plugs) -> tuple[Plugs, str]:
    """Give one where line 3 was changed on both sides, and line 11 upstream alone."""
    plugs.edit("alpha", 3)
    return plugs, plugs.update("alpha", 3, 11)


def settled(text: str, *, keep: str) -> str:
    """Take the markers out of a text, and one of the sides."""
    kept, side = [], "both"
    for line in text.splitlines(keepends=True):
        mark = line[:7]
        side = {"<<<<<<<": "ours", "|||||||": "base", "=======": "theirs", ">>>>>>>": "both"}.get(
            mark, side
        )
        if mark not in {"<<<<<<<", "|||||||", "=======", ">>>>>>>"} and side in {"both", keep}:
            kept.append(line)
    return "".join(kept)


# --- listing


def test_what_waits_is_listed_and_what_was_decided_when_it_is_asked_for(plugs: Plugs) -> None:
    first = plugs.update()
    second = plugs.update("alpha", 10, version="1.2")

    with plugs.open() as library:
        some, every = (
            PluginUpdates(library.context).waiting(everything=False),
            PluginUpdates(library.context).waiting(everything=True),
        )

    assert [(second, "open", "project")] == [(one.id, one.status, one.scope) for one in some]
    assert [(first, "superseded"), (second, "open")] == [(one.id, one.status) for one in every]


@pytest.mark.parametrize("verb", ["candidate", "accept", "reject", "edit"])
def test_what_nobody_knows_is_said_to_be_unknown(verb: str, plugs: Plugs) -> None:
    with pytest.raises(NotFoundError) as unknown:
        plugs(verb, "plugin-update:kit:alpha:0")

    assert "there is no candidate 'plugin-update:kit:alpha:0'" == unknown.value.message


@pytest.mark.parametrize("verb", ["accept", "reject", "edit"])
def test_what_was_decided_is_not_decided_again(verb: str, plugs: Plugs) -> None:
    ident = plugs.update()
    plugs("accept", ident)

    with pytest.raises(RefusedError) as refused:
        plugs(verb, ident)

    assert ("decided", f"'{ident}' is published already") == (
        refused.value.code,
        refused.value.message,
    )


def test_what_was_superseded_leads_to_what_came_in_its_place(plugs: Plugs) -> None:
    first = plugs.update()
    second = plugs.update("alpha", 10, version="1.2")

    with pytest.raises(RefusedError) as refused:
        plugs("accept", first)

    assert f"look at {second}" == refused.value.hint


def test_a_way_to_settle_that_there_is_not_is_refused(plugs: Plugs) -> None:
    with pytest.raises(UsageError):
        plugs("accept", plugs.update(), "mine")

    assert document("alpha") == plugs.text()


# --- showing


def test_what_would_change_is_shown_against_what_is_in_place(plugs: Plugs) -> None:
    plugs.edit()
    ident = plugs.update()

    shown = plugs("candidate", ident)

    assert shown.diff.startswith("--- yours/SKILL.md\n+++ proposed/SKILL.md\n")
    assert (True, False) == (
        "-Line 11 of the text.\n+New line 11 of the text.\n" in shown.diff,
        "line 2 of" in shown.diff,
    )
    assert ((), (), "") == (shown.conflicts, shown.findings, shown.desk)


def test_conflicts_are_shown_with_both_sides(torn: tuple[Plugs, str]) -> None:
    plugs, ident = torn

    shown = plugs("candidate", ident)

    [conflict] = shown.conflicts
    assert ("SKILL.md", ("SKILL.md",), "") == (
        conflict.path,
        shown.candidate.evidence.conflicts,
        shown.candidate.evidence.proposed_tree_hash,
    )
    assert "+New line 11 of the text.\n" in shown.diff


def test_a_dangerous_update_is_shown_with_its_findings(plugs: Plugs) -> None:
    plugs.release("1.1", alpha=document("alpha", body=DANGER))
    [ident] = plugs.sync().opened

    shown = plugs("candidate", ident)

    assert (True, "dangerous") == (bool(shown.findings), shown.candidate.evidence.verdict)


def test_a_new_skill_is_shown_whole_and_a_removal_has_nothing_to_show(plugs: Plugs) -> None:
    plugs.release("1.1", alpha=None, gamma=document("gamma"))
    added, removed = sorted(plugs.sync().opened)

    assert "+Line 1 of the text.\n" in plugs("candidate", added).diff
    assert ("", "plugin_skill_removed") == (
        (shown := plugs("candidate", removed)).diff,
        shown.candidate.kind,
    )


def test_what_was_decided_can_still_be_looked_at(plugs: Plugs) -> None:
    ident = plugs.update()
    plugs("accept", ident)

    shown = plugs("candidate", ident)

    assert ("published", True) == (
        shown.candidate.status,
        "+New line 11 of the text.\n" in shown.diff,
    )


def test_looking_changes_nothing(torn: tuple[Plugs, str]) -> None:
    plugs, ident = torn
    before = plugs.seen()

    plugs("candidate", ident)

    assert before == plugs.seen()


# --- accepting


def test_a_yes_puts_the_merged_proposal_in_place_as_a_version(plugs: Plugs) -> None:
    plugs.edit()
    ident = plugs.update()

    done = plugs("accept", ident, reason="looks good")

    made = plugs("versions", "alpha").versions[-1]
    assert (True, "it is in place", str(plugs.working()), MERGED) == (
        done.done,
        done.message,
        done.path,
        plugs.text(),
    )
    assert ("v0003", "v0002", "user", "looks good", "three_way") == (
        made.version,
        made.parent_version,
        made.created_by,
        made.change_reason,
        made.provenance.merge_mode,
    )
    assert ("published", "v0003", "looks good") == (
        done.candidate.status,
        done.candidate.version,
        done.candidate.reason,
    )
    assert ("synced", []) == (plugs.standing()[0], plugs.waiting())


def test_a_fast_forward_is_the_plugin_s_own_version(plugs: Plugs) -> None:
    plugs("accept", plugs.update())

    made = plugs("versions", "alpha").versions[-1]
    assert ("plugin:kit", "update of kit", "1.1") == (
        made.created_by,
        made.change_reason,
        made.provenance.plugin_version,
    )


def test_conflicts_are_not_accepted_until_they_are_settled(torn: tuple[Plugs, str]) -> None:
    plugs, ident = torn

    with pytest.raises(IntegrityError) as unmerged:
        plugs("accept", ident)

    assert ("unmerged", mine("alpha", 3), "open") == (
        unmerged.value.code,
        plugs.text(),
        plugs.candidate(ident).status,
    )


@pytest.mark.parametrize(("how", "line"), [("ours", "My line 3 of"), ("theirs", "New line 3 of")])
def test_one_side_settles_conflicts_and_what_fits_is_merged(
    how: str, line: str, torn: tuple[Plugs, str]
) -> None:
    plugs, ident = torn

    plugs("accept", ident, how)

    assert (True, True, "synced") == (
        line in plugs.text(),
        "New line 11 " in plugs.text(),
        plugs.standing()[0],
    )


def test_a_dangerous_update_is_refused_with_its_findings_and_goes_on_waiting(plugs: Plugs) -> None:
    plugs.release("1.1", alpha=document("alpha", body=DANGER))
    [ident] = plugs.sync().opened

    with pytest.raises(RefusedError) as refused:
        plugs("accept", ident)

    assert ("unsafe", True, True) == (
        refused.value.code,
        refused.value.message.startswith("Plugin skill safety check failed: alpha: "),
        bool(refused.value.details["findings"]),
    )
    assert (document("alpha"), "open") == (plugs.text(), plugs.candidate(ident).status)


def test_upstream_that_moved_supersedes_what_was_said_yes_to(plugs: Plugs) -> None:
    ident = plugs.update()
    plugs.release("1.2", alpha=document("alpha", 10))

    done = plugs("accept", ident)

    [newer] = plugs.waiting()
    assert (False, "superseded", f"it is superseded; look at {newer}") == (
        done.done,
        done.candidate.status,
        done.message,
    )
    assert document("alpha") == plugs.text()


def test_upstream_that_went_back_leaves_nothing_to_accept(plugs: Plugs) -> None:
    ident = plugs.update()
    plugs.release("1.2", alpha=document("alpha"))

    done = plugs("accept", ident)

    assert (False, "superseded", []) == (done.done, done.candidate.status, plugs.waiting())


def test_a_working_copy_that_moved_makes_the_proposal_anew_and_asks_again(plugs: Plugs) -> None:
    ident = plugs.update()
    edited = plugs.edit()

    first = plugs("accept", ident)
    unchanged = plugs.text()
    second = plugs("accept", ident)

    assert (False, "it was rebuilt on what is there now; review it again", edited) == (
        first.done,
        first.message,
        unchanged,
    )
    assert ("three_way", True, MERGED) == (first.candidate.merge_mode, second.done, plugs.text())


def test_a_working_copy_that_became_the_update_by_itself_is_in_place_already(plugs: Plugs) -> None:
    ident = plugs.update()
    plugs.working("alpha", "SKILL.md").write_text(document("alpha", 11))

    done = plugs("accept", ident)

    assert (True, "it is in place already", "published") == (
        done.done,
        done.message,
        done.candidate.status,
    )


def test_a_working_copy_that_was_deleted_comes_with_the_update(plugs: Plugs) -> None:
    shutil.rmtree(plugs.working())
    ident = plugs.update()

    plugs("accept", ident)

    assert document("alpha", 11) == plugs.text()


@pytest.mark.parametrize("kind", ["file", "link"])
def test_what_is_no_folder_is_never_replaced(kind: str, plugs: Plugs) -> None:
    shutil.rmtree(plugs.working())
    plugs.working().write_text("mine\n") if kind == "file" else plugs.working().symlink_to(
        plugs.kit
    )
    ident = plugs.update()

    with pytest.raises((RefusedError, StoreError)):
        plugs("accept", ident)

    assert (kind == "link", "open") == (plugs.working().is_symlink(), plugs.candidate(ident).status)


def test_a_source_that_is_away_does_not_keep_a_person_from_deciding(plugs: Plugs) -> None:
    upstream = Upstream(plugs.base / "repository")
    upstream.commit(
        {
            ".claude-plugin/plugin.json": '{"name": "far", "version": "1"}',
            "skills/gamma/SKILL.md": document("gamma"),
        }
    )
    plugs("plugin_enable", upstream.url, consent=lambda _so_far: True)
    upstream.commit({"skills/gamma/SKILL.md": document("gamma", 11)})
    [ident] = plugs.sync().opened
    shutil.rmtree(plugs.base / "repository")
    plugs.edit("gamma")

    first, second = plugs("accept", ident).done, plugs("accept", ident).done

    assert ((False, True), mine("gamma", 2).replace("Line 11 ", "New line 11 ")) == (
        (first, second),
        plugs.text("gamma"),
    )


@pytest.mark.parametrize("how", ["paused", "missing", "gone"])
def test_an_edit_under_a_plugin_that_is_not_looked_at_is_merged_all_the_same(
    how: str, plugs: Plugs
) -> None:
    ident = plugs.update()
    if how == "paused":
        plugs("plugin_pause", "kit")
    elif how == "missing":
        shutil.rmtree(plugs.kit / ".claude-plugin")
        plugs.sync()
    else:
        shutil.rmtree(plugs.kit)
    plugs.edit()

    first, second = plugs("accept", ident).done, plugs("accept", ident).done

    assert ((False, True), MERGED) == ((first, second), plugs.text())
    assert ("paused" if how == "paused" else "missing") == plugs.standing()[0]


def test_a_yes_in_one_place_is_not_one_in_the_other(plugs: Plugs) -> None:
    plugs.enable(user=True)
    plugs.release("1.1", alpha=document("alpha", 11))
    ident = plugs.sync().opened[0]

    plugs("accept", ident)

    assert document("alpha", 11) == plugs.text()
    assert document("alpha") == (plugs.home / ".agents/skills/alpha/SKILL.md").read_text()


# --- added and removed


def test_a_new_skill_is_put_in_place_and_bound(plugs: Plugs) -> None:
    plugs.release("1.1", gamma=document("gamma"))
    [ident] = plugs.sync().opened

    done = plugs("accept", ident)

    assert (True, str(plugs.working("gamma")), document("gamma"), "synced") == (
        done.done,
        done.path,
        plugs.text("gamma"),
        plugs.standing()[1]["gamma"],
    )


def test_a_dangerous_new_skill_is_refused(plugs: Plugs) -> None:
    plugs.release("1.1", gamma=document("gamma", body=DANGER))
    [ident] = plugs.sync().opened

    with pytest.raises(RefusedError) as refused:
        plugs("accept", ident)

    assert ("unsafe", False, "open") == (
        refused.value.code,
        plugs.working("gamma").exists(),
        plugs.candidate(ident).status,
    )


def test_a_new_skill_that_changed_since_is_asked_about_again(plugs: Plugs) -> None:
    plugs.release("1.1", gamma=document("gamma"))
    [ident] = plugs.sync().opened
    plugs.release("1.2", gamma=document("gamma", 3))

    done = plugs("accept", ident)

    assert (False, "superseded", False) == (
        done.done,
        done.candidate.status,
        plugs.working("gamma").exists(),
    )


def test_a_skill_that_is_no_longer_shipped_goes_with_a_yes_and_its_edits_are_kept(
    plugs: Plugs,
) -> None:
    edited = plugs.edit("beta")
    plugs.release("1.1", beta=None)
    [ident] = plugs.sync().opened

    done = plugs("accept", ident)

    assert (True, "agents no longer see it; its versions are kept", "") == (
        done.done,
        done.message,
        done.path,
    )
    assert (False, edited, "plugin_removed:kit") == (
        plugs.working("beta").exists(),
        plugs("version", "beta").content,
        plugs("versions", "beta").why,
    )


def test_a_removal_that_was_taken_back_is_not_done(plugs: Plugs) -> None:
    plugs.release("1.1", beta=None)
    [ident] = plugs.sync().opened
    plugs.release("1.2", beta=document("beta"))

    done = plugs("accept", ident)

    assert (False, "superseded", document("beta")) == (
        done.done,
        done.candidate.status,
        plugs.text("beta"),
    )


@pytest.mark.parametrize("at_rest", [False, True])
def test_an_edit_after_a_removal_was_reported_is_asked_about_again(
    at_rest: bool, plugs: Plugs
) -> None:
    plugs.release("1.1", beta=None)
    [ident] = plugs.sync().opened
    if at_rest:  # then its source is not looked at again
        plugs.rest()
        plugs.sync()
    edited = plugs.edit("beta")

    first = plugs("accept", ident)
    kept = plugs.text("beta")
    second = plugs("accept", ident)

    assert ((False, edited), (True, edited)) == (
        (first.done, kept),
        (second.done, plugs("version", "beta").content),
    )


def test_there_is_nothing_to_edit_about_a_removal(plugs: Plugs) -> None:
    plugs.release("1.1", beta=None)
    [ident] = plugs.sync().opened

    with pytest.raises(UsageError) as refused:
        plugs("edit", ident)

    assert "there is nothing to edit about a removal" == refused.value.message


# --- turning down


def test_a_no_changes_nothing_and_holds_for_this_version_alone(plugs: Plugs) -> None:
    ident = plugs.update()

    done = plugs("reject", ident, reason="not yet")
    again = plugs.sync()
    newer = plugs.update("alpha", 10, version="1.2")

    assert (True, "rejected", "not yet", ()) == (
        done.done,
        done.candidate.status,
        done.candidate.reason,
        again.opened,
    )
    assert (document("alpha"), [newer]) == (plugs.text(), plugs.waiting())


def test_a_no_holds_while_the_working_copy_is_edited(plugs: Plugs) -> None:
    plugs("reject", plugs.update())
    plugs.edit()

    done = plugs.sync()

    assert ((), "declined", 2) == (done.opened, plugs.standing()[1]["alpha"], len(plugs.versions()))


def test_a_no_holds_when_the_plugin_goes_and_comes_back(plugs: Plugs) -> None:
    plugs.release("1.1", alpha=document("alpha", 11), gamma=document("gamma"))
    for ident in plugs.sync().opened:
        plugs("reject", ident)
    plugs("plugin_disable", "kit", disable_linked_skills=True)

    done = plugs.enable()

    assert ((), [], document("alpha"), False) == (
        done.opened,
        plugs.waiting(),
        plugs.text(),
        plugs.working("gamma").exists(),
    )


# --- the desk


def test_a_proposal_is_edited_on_a_desk_and_accepted_as_it_is_there(plugs: Plugs) -> None:
    ident = plugs.update()

    desk = Path(plugs("edit", ident).desk)
    before = (desk / "SKILL.md").read_text(), plugs.text()
    (desk / "SKILL.md").write_text(document("alpha", 11, 12))
    (desk / "more.md").write_text("More.\n")
    done = plugs("accept", ident)

    made = plugs("versions", "alpha").versions[-1]
    assert ((document("alpha", 11), document("alpha")), True) == (before, done.done)
    assert (document("alpha", 11, 12), "More.\n", "user") == (
        plugs.text(),
        plugs.working("alpha", "more.md").read_text(),
        made.created_by,
    )
    assert (state_of(str(plugs.kit / "skills/alpha")), False) == (
        made.provenance.upstream_skill_tree_hash,
        desk.exists(),
    )


@pytest.mark.parametrize(("keep", "line"), [("ours", "My line 3 of"), ("theirs", "New line 3 of")])
def test_conflicts_are_settled_on_the_desk(keep: str, line: str, torn: tuple[Plugs, str]) -> None:
    plugs, ident = torn
    desk = Path(plugs("edit", ident).desk) / "SKILL.md"
    marked = desk.read_text()

    desk.write_text(settled(marked, keep=keep))
    plugs("accept", ident)

    assert (True, True) == ("<<<<<<<" in marked, "New line 11 " in plugs.text())
    assert (line in plugs.text(), "synced") == (True, plugs.standing()[0])


def test_markers_that_are_left_are_named_and_nothing_is_done(torn: tuple[Plugs, str]) -> None:
    plugs, ident = torn
    plugs("edit", ident)

    with pytest.raises(IntegrityError) as unmerged:
        plugs("accept", ident)

    assert ("unmerged", True, mine("alpha", 3)) == (
        unmerged.value.code,
        bool(unmerged.value.details["files"]),
        plugs.text(),
    )


def test_a_desk_is_laid_once_and_what_was_edited_there_stays(torn: tuple[Plugs, str]) -> None:
    plugs, ident = torn
    first = plugs("edit", ident).desk
    Path(first, "SKILL.md").write_text("half done\n")

    again = plugs("edit", ident)

    assert (first, "half done\n", first) == (
        again.desk,
        Path(first, "SKILL.md").read_text(),
        plugs("candidate", ident).desk,
    )


def test_an_edit_in_place_after_the_desk_was_laid_is_merged_into_what_was_made_there(
    plugs: Plugs,
) -> None:
    ident = plugs.update()
    desk = Path(plugs("edit", ident).desk) / "SKILL.md"
    desk.write_text(document("alpha", 11, 12))
    plugs.edit()

    first, second = plugs("accept", ident), plugs("accept", ident)

    assert (False, True) == (first.done, second.done)
    assert (
        mine("alpha", 2).replace("Line 11 ", "New line 11 ").replace("Line 12 ", "New line 12 ")
        == plugs.text()
    )


def test_an_edit_in_place_that_nobody_noted_is_on_the_desk_and_may_be_changed_there(
    plugs: Plugs,
) -> None:
    ident = plugs.update()
    plugs.edit()
    file = Path(plugs("edit", ident).desk) / "SKILL.md"
    file.write_text(file.read_text().replace("My line 2", "Our line 2"))
    wanted = file.read_text()

    first, second = plugs("accept", ident), plugs("accept", ident)

    assert ((False, "project"), True, wanted) == (
        (first.done, first.candidate.scope),
        second.done,
        plugs.text(),
    )


def test_an_edit_in_place_that_does_not_fit_the_desk_is_told_and_nothing_is_lost(
    plugs: Plugs,
) -> None:
    ident = plugs.update()
    desk = Path(plugs("edit", ident).desk) / "SKILL.md"
    made = document("alpha", 11).replace("Line 2 ", "Desk line 2 ")
    desk.write_text(made)
    edited = plugs.edit()
    plugs("accept", ident)

    with pytest.raises(IntegrityError) as refused:
        plugs("accept", ident)

    assert ("unmerged", edited, made) == (refused.value.code, plugs.text(), desk.read_text())


def test_a_dangerous_edit_on_the_desk_is_refused(plugs: Plugs) -> None:
    ident = plugs.update()
    desk = Path(plugs("edit", ident).desk) / "SKILL.md"
    desk.write_text(document("alpha", body=DANGER))

    with pytest.raises(RefusedError) as refused:
        plugs("accept", ident)

    assert ("unsafe", document("alpha"), "open") == (
        refused.value.code,
        plugs.text(),
        plugs.candidate(ident).status,
    )


@pytest.mark.parametrize("worked", [True, False])
def test_a_side_that_is_named_counts_and_a_desk_that_was_worked_on_is_left(
    worked: bool, torn: tuple[Plugs, str]
) -> None:
    plugs, ident = torn
    desk = Path(plugs("edit", ident).desk)
    if worked:
        (desk / "SKILL.md").write_text("half done\n")

    plugs("accept", ident, "ours")

    assert (
        True,
        worked,
        [f"{desk} has your edits in it and was kept; delete it when you no longer need it"]
        * worked,
    ) == ("My line 3 " in plugs.text(), desk.exists(), plugs.warnings)


def test_a_new_skill_can_be_edited_before_it_is_taken(plugs: Plugs) -> None:
    plugs.release("1.1", gamma=document("gamma"))
    [ident] = plugs.sync().opened
    desk = Path(plugs("edit", ident).desk) / "SKILL.md"
    desk.write_text(mine("gamma", 4))

    plugs("accept", ident)

    [binding] = [one for one in plugs.mirror().plugins[0].skills if one.skill == "gamma"]
    assert (mine("gamma", 4), state_of(str(plugs.kit / "skills/gamma"))) == (
        plugs.text("gamma"),
        binding.accepted,
    )
    assert (False, ()) == ((done := plugs.sync()).changed, done.opened)


def test_a_dangerous_update_can_be_made_safe_on_the_desk(plugs: Plugs) -> None:
    plugs.release("1.1", alpha=document("alpha", 11, body=DANGER))
    [ident] = plugs.sync().opened
    desk = Path(plugs("edit", ident).desk) / "SKILL.md"
    desk.write_text(document("alpha", 11))

    done = plugs("accept", ident)

    one: ReviewCandidate = done.candidate
    assert (True, document("alpha", 11), "published") == (done.done, plugs.text(), one.status)


# --- notes that do not fit


def test_a_candidate_about_nothing_here_can_be_turned_down(plugs: Plugs) -> None:
    ident = plugs.update()
    plugs.rewrite(candidates=(plugs.candidate(ident)._replace(skill="zeta"),))

    done = plugs("reject", ident)

    assert (True, "rejected") == (done.done, plugs.candidate(ident).status)


@pytest.mark.parametrize("status", ["open", "accepted"])
@pytest.mark.parametrize(
    "fields",
    [
        {"skill": "zeta"},
        {"kind": "skill_draft"},
        {"kind": "plugin_skill_removed"},
        {"evidence": Evidence()},
        {"evidence": Evidence("kit", skill_name="alpha")},
        {"desk": "nothing"},
        {"desk_on": f"sha256:{'0' * 64}"},
    ],
)
def test_a_candidate_that_fits_nothing_here_breaks_nothing(
    fields: dict[str, Any], status: CandidateStatus, plugs: Plugs
) -> None:
    edited = plugs.edit()
    ident = plugs.update()
    plugs.rewrite(candidates=(plugs.candidate(ident)._replace(status=status, **fields),))
    failed = []

    for verb in ("candidate", "edit", "accept", "plugin_sync", "accept", "reject", "candidates"):
        try:
            plugs(verb, *(() if verb in {"plugin_sync", "candidates"} else (ident,)))
        except MetierError as error:
            failed.append(error.code)

    versions = [plugs("version", "alpha", one[0]).content for one in plugs.versions()]
    assert (True, True) == (edited in versions, all(failed))


# --- a no that is taken back


def test_who_turned_an_update_down_may_accept_it_after_all(plugs: Plugs) -> None:
    edited = plugs.edit("alpha", 3)
    ident = plugs.update()
    plugs("reject", ident, reason="not yet")
    plugs.rest()
    plugs.sync()

    decided = plugs("accept", ident)

    assert (True, "published", "synced") == (
        decided.done,
        plugs.candidate(ident).status,
        plugs.standing()[1]["alpha"],
    )
    assert edited.replace("Line 11 ", "New line 11 ") == plugs.text()


def test_who_turned_a_new_skill_down_may_have_it_after_all(plugs: Plugs) -> None:
    plugs.release("1.1", gamma=document("gamma"))
    [ident] = plugs.sync().opened
    plugs("reject", ident)

    decided = plugs("accept", ident)

    assert (True, document("gamma"), "synced") == (
        decided.done,
        plugs.text("gamma"),
        plugs.standing()[1]["gamma"],
    )


def test_who_kept_a_skill_that_is_gone_upstream_may_let_it_go_after_all(plugs: Plugs) -> None:
    plugs.release("1.1", beta=None)
    [ident] = plugs.sync().opened
    plugs("reject", ident)

    decided = plugs("accept", ident)

    assert (True, False) == (decided.done, plugs.working("beta").exists())


def test_what_was_turned_down_and_is_no_longer_shipped_stays_so(plugs: Plugs) -> None:
    ident = plugs.update()
    plugs("reject", ident)
    plugs.update("alpha", 2, version="1.2")

    with pytest.raises(RefusedError) as refused:
        plugs("accept", ident)

    assert ("decided", "rejected") == (refused.value.code, plugs.candidate(ident).status)
