"""Held updates in the queue: settled as `merge` settles them, never on what somebody did not look at, and none forgotten."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Home
from doors.upstream import DANGEROUS, LINES, text_of
from fakes.workshop import PLAIN, Workshop, changed

from metier.errors import IntegrityError, MetierError, NotFoundError, RefusedError, UsageError
from metier.plugins.model import Decided, ReviewCandidate, Reviewed
from metier.review.held_updates import HeldUpdates
from metier.supply import local_state, places, update
from metier.supply.local_state import state_bytes

MINE, THEIRS = changed(3, to="My line"), changed(3, 18, to="Their line")
BOTH_MINE = text_of(
    "pdf", LINES.replace("Line 3 ", "My line 3 ").replace("Line 18 ", "Their line 18 ")
)


@pytest.fixture
def clean(home: Home, tmp_path: Path) -> Workshop:
    """Give a workshop in which an update that fits the edits waits for a yes."""
    made = Workshop(home, tmp_path)
    made.add()
    made.edit(changed(3, to="My line"))
    made.publish(changed(18, to="Their line"))
    quietly(made)
    return made


@pytest.fixture
def torn(home: Home, tmp_path: Path) -> Workshop:
    """Give a workshop in which an update is held: line 3 was changed on both sides, line 18 upstream alone."""
    made = Workshop(home, tmp_path)
    made.add()
    made.edit(MINE)
    made.publish(THEIRS)
    made.update()
    return made


def quietly(shop: Workshop) -> None:
    """Update where nobody can be asked: what would be merged is held."""
    with shop.open() as m:
        m.update()


def queue(shop: Workshop, *, everything: bool = True) -> list[ReviewCandidate]:
    with shop.open() as m:
        return HeldUpdates(m.context).waiting(everything=everything)


def only(shop: Workshop) -> str:
    [one] = queue(shop, everything=False)
    return one.id


def show(shop: Workshop, ident: str) -> Reviewed:
    with shop.open() as m:
        return HeldUpdates(m.context).show(ident)


def accept(shop: Workshop, ident: str, how: str = "", reason: str = "") -> Decided:
    with shop.open() as m:
        return HeldUpdates(m.context).accept(ident, how, reason=reason)


def reject(shop: Workshop, ident: str, reason: str = "") -> Decided:
    with shop.open() as m:
        return HeldUpdates(m.context).reject(ident, reason=reason)


def edit(shop: Workshop, ident: str) -> Reviewed:
    with shop.open() as m:
        return HeldUpdates(m.context).edit(ident)


def statuses(shop: Workshop) -> list[tuple[str, str]]:
    return [(one.id, one.status) for one in queue(shop)]


# --- listing and showing


def test_what_waits_is_listed_with_what_it_goes_by(clean: Workshop) -> None:
    [one] = queue(clean, everything=False)

    with clean.open() as m:
        [pending] = places.read(places.place_of(m.context, user=False)).state.pending
    assert (
        f"update:pdf:{pending.theirs[7:19]}",
        "skill_update",
        "pdf",
        "three_way",
        "open",
        "project",
    ) == (one.id, *one[1:5], one.scope)
    assert (pending.base, pending.theirs, pending.ours) == (
        one.evidence.base_upstream_tree_hash,
        one.evidence.new_upstream_tree_hash,
        one.evidence.local_tree_hash,
    )
    assert (pending.commit, "skills/pdf", "three_way") == (
        one.evidence.commit,
        one.evidence.path,
        one.evidence.merge_mode,
    )
    assert ("it would be merged with your edits, which needs your approval", True) == (
        one.reason,
        one.at.startswith("20"),
    )


def test_what_nobody_edited_is_a_fast_forward(home: Home, tmp_path: Path) -> None:
    shop = Workshop(home, tmp_path)
    shop.add()
    shop.publish(changed(18))
    quietly(shop)

    shown = show(shop, only(shop))

    assert ("fast_forward", "safe", shown.candidate.evidence.new_upstream_tree_hash) == (
        shown.candidate.merge_mode,
        shown.candidate.evidence.verdict,
        shown.candidate.evidence.proposed_tree_hash,
    )


def test_a_candidate_shows_what_would_change_for_the_person(clean: Workshop) -> None:
    before = clean.states()

    shown = show(clean, only(clean))

    assert ("+Their line 18 of the instructions.", True) == (
        shown.diff.splitlines()[7],
        "My line" not in "".join(line for line in shown.diff.splitlines() if line[0] in "+-"),
    )
    assert (["SC622"], (), "", "safe") == (
        [one.rule for one in shown.findings],
        shown.conflicts,
        shown.desk,
        shown.candidate.evidence.verdict,
    )
    assert before == clean.states()


def test_conflicts_are_shown_with_all_three_sides(torn: Workshop) -> None:
    shown = show(torn, only(torn))

    assert [("SKILL.md", PLAIN, MINE, THEIRS)] == [one[1:5] for one in shown.conflicts]
    assert (("SKILL.md",), "", "safe") == (
        shown.candidate.evidence.conflicts,
        shown.candidate.evidence.proposed_tree_hash,
        shown.candidate.evidence.verdict,
    )


def test_capabilities_and_findings_of_a_new_version_are_shown(home: Home, tmp_path: Path) -> None:
    shop = Workshop(home, tmp_path)
    shop.add()
    shop.publish(
        {
            "SKILL.md": DANGEROUS.replace("name: bad", "name: pdf"),
            "tools/go.py": "print(1)\n",
            "scripts/fill.sh": None,
        }
    )
    shop.update()

    shown = show(shop, only(shop))

    evidence = shown.candidate.evidence
    assert ("dangerous", True, True) == (
        evidence.verdict,
        evidence.score > 0,
        len(shown.findings) > 0,
    )
    assert ("scripts in python" in evidence.gained, "scripts in shell" in evidence.lost) == (
        True,
        True,
    )


@pytest.mark.parametrize(
    "ident",
    [
        "update:pdf:000000000000",
        "update:",
        "update:pdf",
        "",
        "draft:1",
        "update:\udcff\0:x",
        "update:pdf:" + "x" * 100_000,
    ],
)
def test_an_unknown_id_is_said_to_be_none(ident: str, clean: Workshop) -> None:
    with clean.open() as m:
        for verb in (
            lambda: HeldUpdates(m.context).show(ident),
            lambda: HeldUpdates(m.context).edit(ident),
            lambda: HeldUpdates(m.context).reject(ident, reason=""),
            lambda: HeldUpdates(m.context).accept(ident, "", reason=""),
        ):
            with pytest.raises(NotFoundError):
                verb()

    assert ["open"] == [one.status for one in queue(clean)]


# --- accepting


def test_a_clean_merge_is_accepted_and_remembered(clean: Workshop) -> None:
    ident = only(clean)

    done = accept(clean, ident, reason="I read it")

    assert (True, str(clean.file().parent), BOTH_MINE) == (
        done.done,
        done.path,
        clean.file().read_text(),
    )
    assert (ident, "published", "I read it", "three_way") == (
        done.candidate.id,
        done.candidate.status,
        done.candidate.reason,
        done.candidate.merge_mode,
    )
    assert ([], [done.candidate]) == (queue(clean, everything=False), queue(clean))
    assert "+Their line 18 of the instructions.\n" in show(clean, ident).diff


@pytest.mark.parametrize(("how", "expected"), [("ours", BOTH_MINE), ("theirs", THEIRS)])
def test_a_side_settles_conflicts(how: str, expected: str, torn: Workshop) -> None:
    done = accept(torn, only(torn), how)

    assert (True, "published", expected) == (
        done.done,
        done.candidate.status,
        torn.file().read_text(),
    )


def test_conflicts_that_nobody_settled_are_not_accepted(torn: Workshop) -> None:
    ident = only(torn)

    with pytest.raises(IntegrityError) as caught:
        accept(torn, ident)

    assert ("unmerged", MINE, [(ident, "open")]) == (
        caught.value.code,
        torn.file().read_text(),
        statuses(torn),
    )


def test_a_working_copy_that_moved_is_asked_about_again(clean: Workshop) -> None:
    ident = only(clean)
    late = changed(3, 10, to="My line")
    clean.edit(late)

    first = accept(clean, ident)
    between = clean.file().read_text()
    second = accept(clean, ident)

    assert (False, "open", late) == (first.done, first.candidate.status, between)
    assert f"metier review show {ident}" in first.message
    assert (True, late.replace("Line 18 ", "Their line 18 ")) == (
        second.done,
        clean.file().read_text(),
    )


def test_a_base_that_moved_is_asked_about_again(clean: Workshop) -> None:
    middle = clean.publish(changed(10, to="Their line"))
    clean.publish(changed(10, 18, to="Their line"))
    quietly(clean)
    ident = only(clean)
    with clean.open() as m:
        m.add(clean.upstream.url, skills=["pdf"], ref=middle, force=True, consent=clean.yes)

    first, between, second = accept(clean, ident), clean.file().read_text(), accept(clean, ident)

    assert (False, changed(10, to="Their line"), True) == (first.done, between, second.done)
    assert ("fast_forward", changed(10, 18, to="Their line")) == (
        second.candidate.merge_mode,
        clean.file().read_text(),
    )


def test_what_is_dangerous_is_refused(home: Home, tmp_path: Path) -> None:
    shop = Workshop(home, tmp_path)
    shop.add()
    shop.publish(DANGEROUS.replace("name: bad", "name: pdf"))
    shop.update()
    ident = only(shop)

    with pytest.raises(RefusedError):
        accept(shop, ident, "theirs")

    assert (PLAIN, [(ident, "open")]) == (shop.file().read_text(), statuses(shop))


def test_there_are_two_sides_and_no_third(clean: Workshop) -> None:
    with clean.open() as library, pytest.raises(UsageError):
        library.accept(only(clean), "abort")

    assert ["open"] == [one.status for one in queue(clean)]


def test_an_id_that_two_places_have_means_the_project_s_first(home: Home, tmp_path: Path) -> None:
    shop = Workshop(home, tmp_path)
    shop.add()
    with shop.open() as m:
        m.add(shop.upstream.url, skills=["pdf"], user=True, consent=shop.yes)
    shop.publish(changed(18))
    quietly(shop)
    [one, other] = queue(shop)

    first, second = accept(shop, one.id), accept(shop, one.id)

    assert (one.id, "project", "user") == (other.id, one.scope, other.scope)
    assert (("project", True), ("user", True)) == (
        (first.candidate.scope, first.done),
        (second.candidate.scope, second.done),
    )


# --- the desk


def test_what_was_edited_on_the_desk_is_shown_and_accepted(torn: Workshop) -> None:
    ident = only(torn)
    laid = edit(torn, ident)
    (Path(laid.desk) / "SKILL.md").write_text(BOTH_MINE)

    shown = show(torn, ident)
    done = accept(torn, ident)

    assert (("SKILL.md",), laid.desk) == (
        laid.candidate.evidence.conflicts,
        str(torn.data / "merges" / laid.candidate.desk),
    )
    assert ((), (), True) == (
        shown.conflicts,
        shown.candidate.evidence.conflicts,
        "+Their line 18 of the instructions.\n" in shown.diff,
    )
    assert (shown.candidate.evidence.proposed_tree_hash, BOTH_MINE) == (
        done.candidate.evidence.proposed_tree_hash,
        torn.file().read_text(),
    )
    assert not Path(laid.desk).exists()


def test_a_desk_that_was_worked_on_is_not_thrown_away_for_a_side(torn: Workshop) -> None:
    ident = only(torn)
    desk = Path(edit(torn, ident).desk)
    (desk / "SKILL.md").write_text(BOTH_MINE)

    with pytest.raises(UsageError):
        accept(torn, ident, "theirs")

    assert (BOTH_MINE, MINE) == ((desk / "SKILL.md").read_text(), torn.file().read_text())


@pytest.mark.parametrize("verb", ["accept", "edit"])
def test_a_desk_is_carried_over_to_a_working_copy_that_moved(verb: str, torn: Workshop) -> None:
    ident = only(torn)
    old = Path(edit(torn, ident).desk)
    (old / "SKILL.md").write_text(BOTH_MINE)
    torn.edit(MINE.replace("Line 10 ", "Late line 10 "))
    wanted = BOTH_MINE.replace("Line 10 ", "Late line 10 ")

    asked = accept(torn, ident).done if verb == "accept" else False
    desk = Path(edit(torn, ident).desk)
    between = ((desk / "SKILL.md").read_text(), (old / "SKILL.md").read_text())
    with torn.open() as m:
        m.gc()
    done = accept(torn, ident)

    assert (False, (wanted, BOTH_MINE), True) == (asked, between, done.done)
    assert wanted == torn.file().read_text()


def test_a_desk_that_does_not_fit_what_was_edited_since_is_kept(torn: Workshop) -> None:
    ident = only(torn)
    desk = Path(edit(torn, ident).desk)
    (desk / "SKILL.md").write_text(BOTH_MINE)
    late = MINE.replace("Line 18 ", "Late line 18 ")
    torn.edit(late)

    with pytest.raises(IntegrityError) as caught:
        accept(torn, ident)

    assert ("unmerged", late, BOTH_MINE) == (
        caught.value.code,
        torn.file().read_text(),
        (desk / "SKILL.md").read_text(),
    )


def test_an_untouched_desk_is_laid_anew_for_a_working_copy_that_moved(torn: Workshop) -> None:
    ident = only(torn)
    old = edit(torn, ident).desk
    torn.edit(MINE.replace("Line 10 ", "Late line 10 "))

    done = accept(torn, ident)
    shown = show(torn, ident)

    assert (False, True) == (done.done, shown.desk not in {"", old})
    assert "Late line 10 " in (Path(shown.desk) / "SKILL.md").read_text()


# --- turning down, and what comes after


def test_what_was_turned_down_is_not_opened_again_and_can_still_be_merged(clean: Workshop) -> None:
    ident = only(clean)

    done, after_no = reject(clean, ident, "not now"), clean.file().read_text()
    again = clean.update()
    after = statuses(clean)
    with clean.open() as m:
        merged = m.merge("pdf", "continue").state

    assert ("rejected", "not now", MINE) == (done.candidate.status, done.candidate.reason, after_no)
    assert ([], [ident]) == (
        [step.name for step in again.plan.update],
        [f"update:{one.name}:{ident[-12:]}" for one in again.held],
    )
    assert f"you rejected it on {done.candidate.decided_at[:10]}: not now" in again.held[0].reasons
    assert ([(ident, "rejected")], "merged", [(ident, "published")]) == (
        after,
        merged,
        statuses(clean),
    )


def test_merge_abort_is_a_no_as_well(torn: Workshop) -> None:
    ident = only(torn)
    with torn.open() as m:
        m.merge("pdf", "abort")

    torn.update()

    assert [(ident, "rejected")] == statuses(torn)


def test_a_newer_version_supersedes_the_one_that_waits(torn: Workshop) -> None:
    first = only(torn)
    torn.publish(changed(3, to="Their newer line"))

    torn.update()

    second = only(torn)
    [_open, old] = queue(torn)
    assert (first, "superseded", second) == (old.id, old.status, old.replaced_by)
    with pytest.raises(RefusedError) as caught:
        accept(torn, first)
    assert ("decided", True) == (caught.value.code, second in caught.value.hint)


def test_a_newer_version_of_what_was_turned_down_is_open(torn: Workshop) -> None:
    first = only(torn)
    reject(torn, first)
    torn.update()
    torn.publish(changed(3, to="Their newer line"))

    torn.update()

    assert [(only(torn), "open"), (first, "rejected")] == statuses(torn)


def test_what_an_update_brings_in_after_all_is_published(clean: Workshop) -> None:
    ident = only(clean)

    clean.update()

    assert ([(ident, "published")], BOTH_MINE) == (statuses(clean), clean.file().read_text())


def test_an_update_that_its_source_took_back_is_superseded(torn: Workshop) -> None:
    ident = only(torn)
    torn.publish(PLAIN)

    torn.update()

    assert [(ident, "superseded")] == statuses(torn)


def test_an_update_that_was_held_against_what_is_gone_is_superseded(clean: Workshop) -> None:
    ident = only(clean)
    with clean.open() as m:
        m.sync()
        m.rollback("pdf", 1)

    assert [(ident, "superseded")] == statuses(clean)


def test_what_is_installed_anew_is_published(torn: Workshop) -> None:
    ident = only(torn)
    with torn.open() as m:
        m.add(torn.upstream.url, skills=["pdf"], force=True, consent=torn.yes)

    assert [(ident, "published")] == statuses(torn)


def test_an_update_of_a_removed_skill_is_superseded(torn: Workshop) -> None:
    ident = only(torn)
    with torn.open() as m:
        m.remove("pdf", force=True, consent=torn.yes)

    assert [(ident, "superseded")] == statuses(torn)


def test_a_decision_cannot_be_made_twice(clean: Workshop) -> None:
    ident = only(clean)
    reject(clean, ident)

    for verb in (accept, edit, reject):
        with pytest.raises(RefusedError) as caught:
            verb(clean, ident)
        assert "decided" == caught.value.code

    assert "+Their line 18 of the instructions.\n" in show(clean, ident).diff


def test_what_was_decided_is_shown_without_its_trees(clean: Workshop) -> None:
    ident = only(clean)
    reject(clean, ident)
    with clean.open() as m:
        m.gc()

    shown = show(clean, ident)

    assert ("rejected", "") == (shown.candidate.status, shown.diff)


def test_nothing_waits_where_nothing_was_ever_installed(home: Home, tmp_path: Path) -> None:
    assert [] == queue(Workshop(home, tmp_path))


@pytest.mark.parametrize(
    "odd", ["", "x", "../../x", "sha256:", "sha256:" + "0" * 64, "\0", "\udcff", "x" * 100_000]
)
def test_notes_that_name_no_trees_are_no_more_than_an_error(odd: str, torn: Workshop) -> None:
    with torn.open() as m:
        place = places.place_of(m.context, user=False)
        state = places.read(place).state
        [waits] = state.pending
        row = local_state.rejected(
            waits._replace(name="ocr", base=odd, ours=odd, theirs=odd), "three_way", odd, odd
        )
        Path(place.state).write_bytes(
            state_bytes(
                state._replace(pending=(waits._replace(theirs=odd, ours=odd),), reviewed=(row,))
            )
        )

        waiting, past = (one.id for one in HeldUpdates(m.context).waiting(everything=True))
        with pytest.raises(MetierError):
            HeldUpdates(m.context).show(waiting)
        with pytest.raises(MetierError):
            HeldUpdates(m.context).accept(waiting, "", reason="")

        assert ("rejected", "") == (
            HeldUpdates(m.context).show(past).candidate.status,
            HeldUpdates(m.context).show(past).diff,
        )
        assert "rejected" == HeldUpdates(m.context).reject(waiting, reason=odd).candidate.status


def test_a_version_that_would_go_by_the_id_of_another_is_never_held(clean: Workshop) -> None:
    ident = only(clean)
    [notes] = [path for path in (clean.data / "supply").glob("*.json") if path.name != "made.json"]
    with clean.open() as m:
        [pending] = places.read(places.place_of(m.context, user=False)).state.pending
        double = pending.theirs[:-1] + ("0" if pending.theirs[-1] != "0" else "1")
        notes.write_text(notes.read_text().replace(pending.theirs, double))

        outcome = m.update(consent=clean.yes)

    assert ([("pdf", (update.LOOKALIKE_REASON,))], ()) == (
        [(one.name, one.reasons) for one in outcome.refused],
        outcome.held,
    )
    assert [(ident, double)] == [
        (one.id, one.evidence.new_upstream_tree_hash) for one in queue(clean)
    ]


@pytest.mark.parametrize("worked", [False, True])
def test_rejecting_leaves_a_desk_that_was_worked_on(worked: bool, torn: Workshop) -> None:
    desk = Path(edit(torn, only(torn)).desk)
    if worked:
        (desk / "SKILL.md").write_text(BOTH_MINE)

    reject(torn, only(torn))

    assert worked is desk.exists()
