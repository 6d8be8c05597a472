"""What waits for a person, as values: how a comparison becomes a candidate, and what each decision writes down."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from fakes.mirrors import a_mirror, a_version
from fakes.pins import digest

from metier.errors import IntegrityError, MetierError, NotFoundError
from metier.plugins import candidates
from metier.plugins.candidates import Proposal
from metier.plugins.mirror_ledger import Ledger, ShippedSkill, TreeHashes
from metier.plugins.model import Evidence, VersionProvenance

if TYPE_CHECKING:
    from metier.plugins.model import Binding, ReviewCandidate

NOW, LATER = "2026-05-06T07:08:09Z", "2026-06-07T08:09:10Z"
BASE = a_version(1).digest
MINE = TreeHashes(digest("mine"), digest("my content"), digest("my body"))
WHY = Proposal(
    "it wants more",
    Evidence(
        proposed_tree_hash=digest("proposed"),
        verdict="caution",
        score=40,
        gained=("network",),
        lost=("files",),
    ),
)


def seen(text: str = "new", path: str = "skills/pdf") -> ShippedSkill:
    """Give what a plugin ships now: a tree that a word stands for."""
    return ShippedSkill(
        path, TreeHashes(digest(text), digest(f"{text} content"), digest(f"{text} body"))
    )


def ident(text: str = "new", kind: Any = "plugin_skill_update", skill: str = "pdf") -> str:
    return candidates.ident_of(kind, "office", skill, digest(text))


def look(ledger: Ledger, upstream: ShippedSkill, local: str = BASE, at: str = NOW) -> str:
    """Compare `pdf`, and settle its plugin as a sync does."""
    ledger.at = at
    mode = candidates.note_compared(
        ledger,
        "office",
        "pdf",
        upstream,
        local,
        WHY._replace(evidence=WHY.evidence._replace(local_tree_hash=local)),
    )
    ledger.settle_status("office")
    return mode


def pdf(ledger: Ledger) -> Binding:
    return ledger.binding_of("office", "pdf")


def queue(ledger: Ledger) -> list[tuple[str, str]]:
    return [(one.id, one.status) for one in ledger.candidates.values()]


@pytest.fixture
def ledger() -> Ledger:
    """Give a plugin with three skills, all of them synced."""
    return Ledger(a_mirror("docx", "pdf", "xlsx"), NOW)


@pytest.fixture
def pending(ledger: Ledger) -> Ledger:
    """Give one in which an update of `pdf` waits."""
    look(ledger, seen())
    return ledger


# --- edits


def test_an_edit_is_a_version_of_the_person_s_with_the_current_one_as_its_parent(
    ledger: Ledger,
) -> None:
    made = candidates.note_edit(ledger, "pdf", MINE)

    assert made is not None
    assert ("v0002", *MINE, "v0001", "user", "edited in place", "published", NOW) == made[:9]
    assert ("user", "office", "edit", BASE) == (
        made.provenance.source_kind,
        made.provenance.plugin_id,
        made.provenance.merge_mode,
        made.provenance.upstream_skill_tree_hash,
    )
    assert "v0002" == ledger.skills["pdf"].current


def test_what_is_the_current_version_is_no_edit(ledger: Ledger) -> None:
    before = ledger.as_mirror()

    assert (None, before) == (
        candidates.note_edit(ledger, "pdf", TreeHashes(BASE)),
        ledger.as_mirror(),
    )


# --- comparing


@pytest.mark.parametrize(
    ("local", "upstream", "mode", "status", "waits"),
    [
        (BASE, ShippedSkill("skills/pdf", TreeHashes(BASE)), "unchanged", "synced", False),
        (
            digest("mine"),
            ShippedSkill("skills/pdf", TreeHashes(BASE)),
            "unchanged",
            "synced",
            False,
        ),
        (digest("new"), seen(), "already_applied", "synced", False),
        (BASE, seen(), "fast_forward", "update_pending", True),
        (digest("mine"), seen(), "three_way", "update_pending", True),
        ("", seen(), "fast_forward", "update_pending", True),
    ],
)
def test_each_class_of_a_comparison_does_its_own(
    ledger: Ledger, local: str, upstream: ShippedSkill, mode: str, status: str, waits: bool
) -> None:
    found = look(ledger, upstream, local)

    assert (mode, status, upstream.tree.digest) == (found, pdf(ledger).status, pdf(ledger).observed)
    assert [(ident(), "open")] * waits == queue(ledger)
    assert (ident() if waits else "", "update_pending" if waits else "synced") == (
        pdf(ledger).pending,
        ledger.plugins["office"].status,
    )
    assert (upstream.tree.digest if mode == "already_applied" else BASE) == pdf(ledger).accepted


def test_a_candidate_says_all_that_it_goes_by(ledger: Ledger) -> None:
    candidates.note_edit(ledger, "pdf", MINE)

    look(ledger, seen(path="skills/more/pdf"), MINE.digest)

    [one] = ledger.candidates.values()
    plugin = ledger.plugins["office"]
    assert (
        ident(),
        "plugin_skill_update",
        "pdf",
        "three_way",
        "open",
        "it wants more",
        NOW,
        10,
        1.0,
    ) == (
        one.id,
        one.kind,
        one.skill,
        one.merge_mode,
        one.status,
        one.reason,
        one.at,
        one.priority,
        one.confidence,
    )
    assert one.evidence == (
        "office",
        "1.0.0",
        "pdf",
        "three_way",
        BASE,
        digest("new"),
        "v0002",
        MINE.digest,
        digest("proposed"),
        digest("new content"),
        "skills/more/pdf",
        plugin.commit,
        "caution",
        40,
        ("network",),
        ("files",),
        (),
    )
    assert "skills/more/pdf" == pdf(ledger).path


def test_the_same_comparison_again_changes_nothing(pending: Ledger) -> None:
    before = pending.as_mirror()

    look(pending, seen(), at=LATER)

    assert before == pending.as_mirror()


def test_a_newer_version_supersedes_what_waits(pending: Ledger) -> None:
    look(pending, seen("newer"), at=LATER)

    old = pending.candidates[ident()]
    assert [(ident(), "superseded"), (ident("newer"), "open")] == queue(pending)
    assert (ident("newer"), LATER, ident("newer")) == (
        old.replaced_by,
        old.decided_at,
        pdf(pending).pending,
    )


def test_what_waits_is_withdrawn_when_its_source_goes_back(pending: Ledger) -> None:
    look(pending, ShippedSkill("skills/pdf", TreeHashes(BASE)))

    assert ([(ident(), "superseded")], "synced", "") == (
        queue(pending),
        pdf(pending).status,
        pdf(pending).pending,
    )


def test_a_version_that_was_superseded_waits_again_when_its_source_goes_back_to_it(
    pending: Ledger,
) -> None:
    look(pending, seen("newer"))

    look(pending, seen(), at=LATER)

    again = pending.candidates[ident()]
    assert ([(ident(), "open"), (ident("newer"), "superseded")], LATER, "") == (
        queue(pending),
        again.at,
        again.replaced_by,
    )


def test_what_moved_under_a_candidate_makes_it_anew_with_its_desk(pending: Ledger) -> None:
    pending.put_candidate(
        pending.candidates[ident()]._replace(status="accepted", desk="pdf-1", desk_on=BASE)
    )

    mode = look(pending, seen(), MINE.digest, at=LATER)

    again = pending.candidates[ident()]
    assert ("three_way", "open", MINE.digest, NOW, "pdf-1", BASE) == (
        mode,
        again.status,
        again.evidence.local_tree_hash,
        again.at,
        again.desk,
        again.desk_on,
    )


def test_a_yes_stands_while_nothing_moves(pending: Ledger) -> None:
    pending.put_candidate(pending.candidates[ident()]._replace(status="accepted"))

    look(pending, seen())

    assert [(ident(), "accepted")] == queue(pending)


def test_what_was_turned_down_is_not_proposed_again_and_a_newer_one_is(pending: Ledger) -> None:
    candidates.note_rejected(pending, ident(), "not now")

    look(pending, seen())
    declined = pdf(pending).status, pending.plugins["office"].status, queue(pending)
    look(pending, seen("newer"))

    assert ("declined", "synced", [(ident(), "rejected")]) == declined
    assert ("update_pending", [(ident(), "rejected"), (ident("newer"), "open")]) == (
        pdf(pending).status,
        queue(pending),
    )


def test_what_waits_and_is_in_place_already_is_published(pending: Ledger) -> None:
    made = candidates.note_edit(pending, "pdf", seen().tree)
    assert made is not None

    look(pending, seen(), digest("new"), at=LATER)

    one = pending.candidates[ident()]
    assert ("published", "v0002", LATER) == (one.status, one.version, one.decided_at)
    assert (digest("new"), digest("new"), "v0002", "synced", "") == pdf(pending)[2:]


def test_another_one_that_waits_is_superseded_by_what_is_in_place(pending: Ledger) -> None:
    look(pending, seen("newer"), digest("newer"))

    assert ([(ident(), "superseded")], digest("newer"), "synced") == (
        queue(pending),
        pdf(pending).accepted,
        pdf(pending).status,
    )


# --- added and removed


def test_a_skill_that_is_new_waits_and_is_nobody_s_yet(ledger: Ledger) -> None:
    candidates.propose_added(ledger, "office", "pptx", seen("pptx", "skills/pptx"), WHY)
    ledger.settle_status("office")

    name = ident("pptx", "plugin_skill_added", "pptx")
    assert ("pptx", "skills/pptx", "", digest("pptx"), "", "new", name) == ledger.binding_of(
        "office", "pptx"
    )
    assert ([(name, "open")], "update_pending", False) == (
        queue(ledger),
        ledger.plugins["office"].status,
        "pptx" in ledger.skills,
    )


def test_a_new_skill_that_changes_before_anybody_looked_is_superseded_by_itself(
    ledger: Ledger,
) -> None:
    for text in ("one", "one", "two"):
        candidates.propose_added(ledger, "office", "pptx", seen(text), WHY)

    first, second = (ident(text, "plugin_skill_added", "pptx") for text in ("one", "two"))
    assert ([(first, "superseded"), (second, "open")], second) == (
        queue(ledger),
        ledger.binding_of("office", "pptx").pending,
    )


def test_a_new_skill_that_is_turned_down_stays_away_until_it_changes(ledger: Ledger) -> None:
    candidates.propose_added(ledger, "office", "pptx", seen("one"), WHY)
    candidates.note_rejected(ledger, ident("one", "plugin_skill_added", "pptx"), "")

    candidates.propose_added(ledger, "office", "pptx", seen("one"), WHY)
    status = ledger.binding_of("office", "pptx").status
    candidates.propose_added(ledger, "office", "pptx", seen("two"), WHY)

    assert ("declined", "new") == (
        status,
        ledger.binding_of("office", "pptx").status,
    )


def test_a_new_skill_that_is_gone_again_is_forgotten(ledger: Ledger) -> None:
    candidates.propose_added(ledger, "office", "pptx", seen("one"), WHY)

    ledger.at = LATER
    candidates.propose_removed(ledger, "office", "pptx", "")

    assert (["superseded"], None) == (
        [one.status for one in ledger.candidates.values()],
        ledger.plugins["office"].binding("pptx"),
    )


def test_a_skill_that_is_no_longer_shipped_waits_for_a_decision_and_supersedes_its_update(
    pending: Ledger,
) -> None:
    pending.at = LATER
    candidates.propose_removed(pending, "office", "pdf", BASE)
    candidates.propose_removed(pending, "office", "pdf", BASE)
    pending.settle_status("office")

    name = candidates.ident_of("plugin_skill_removed", "office", "pdf", BASE)
    assert [(ident(), "superseded"), (name, "open")] == queue(pending)
    assert ("removed", name, "update_pending", "active") == (
        pdf(pending).status,
        pdf(pending).pending,
        pending.plugins["office"].status,
        pending.skills["pdf"].status,
    )


def test_a_skill_that_was_kept_is_not_asked_about_again(ledger: Ledger) -> None:
    candidates.propose_removed(ledger, "office", "pdf", BASE)
    name = pdf(ledger).pending
    candidates.note_rejected(ledger, name, "I need it")

    ledger.at = LATER
    candidates.propose_removed(ledger, "office", "pdf", BASE)
    kept = pdf(ledger).status
    ledger.put_binding(
        "office", pdf(ledger)._replace(status="synced")
    )  # as when its plugin was disabled, and came back
    ledger.at = LATER
    candidates.propose_removed(ledger, "office", "pdf", BASE)

    assert ("kept", "kept", [(name, "rejected")]) == (kept, pdf(ledger).status, queue(ledger))


def test_a_skill_that_is_shipped_again_is_synced_again(ledger: Ledger) -> None:
    candidates.propose_removed(ledger, "office", "pdf", BASE)

    look(ledger, ShippedSkill("skills/pdf", TreeHashes(BASE)))

    assert ("synced", "", ["superseded"]) == (
        pdf(ledger).status,
        pdf(ledger).pending,
        [one.status for one in ledger.candidates.values()],
    )


# --- a lost acknowledgement


def lost(ledger: Ledger, **fields: Any) -> bool:
    """Publish what waits, lose the acknowledgement, and take it up again."""
    before = pdf(ledger)
    candidates.note_published(ledger, ident(), seen().tree, "")
    ledger.put_binding("office", before)
    ledger.put_candidate(ledger.candidates[ident()]._replace(**fields))
    return candidates.reconcile(ledger, "office", "pdf")


def test_an_acknowledgement_that_was_lost_is_taken_up(pending: Ledger) -> None:
    assert lost(pending)
    assert (digest("new"), digest("new"), "v0002", "synced", "") == pdf(pending)[2:]


@pytest.mark.parametrize(
    "fields",
    [
        {"status": "open"},
        {"status": "accepted"},
        {"version": ""},
        {"version": "v0009"},
        {"version": "v0001"},
    ],
)
def test_nothing_is_taken_up_that_was_not_published_as_this_very_version(
    pending: Ledger, fields: dict[str, str]
) -> None:
    assert not lost(pending, **fields)
    assert (BASE, "update_pending") == (pdf(pending).accepted, pdf(pending).status)


def test_nothing_is_taken_up_of_a_version_that_is_no_longer_upstream_s(pending: Ledger) -> None:
    pending.put_binding("office", pdf(pending)._replace(observed=digest("newer")))

    assert not lost(pending)


# --- deciding


@pytest.mark.parametrize(
    ("fields", "fits"),
    [
        ({}, True),
        ({"status": "accepted"}, True),
        ({"skill": "nothing"}, False),
        ({"skill": "nothing", "status": "superseded"}, True),
        ({"kind": "skill_draft"}, False),
        ({"kind": "skill_draft", "status": "published"}, False),
        ({"kind": "plugin_skill_added", "skill": "pptx"}, True),
        ({"kind": "plugin_skill_removed", "skill": "pptx"}, False),
        ({"evidence": Evidence("other")}, False),
        ({"evidence": Evidence("other"), "status": "rejected"}, False),
    ],
)
def test_a_candidate_that_is_about_nothing_here_is_refused(
    pending: Ledger, fields: dict[str, Any], fits: bool
) -> None:
    candidates.propose_added(pending, "office", "pptx", seen("pptx"), WHY)
    one = pending.candidates[ident()]._replace(**fields)

    try:
        candidates.check_candidate(pending, one)
        found = ""
    except IntegrityError as error:
        found = error.code

    assert ("" if fits else "state") == found


def test_what_was_noted_as_another_kind_is_noted_anew(pending: Ledger) -> None:
    pending.put_candidate(pending.candidates[ident()]._replace(kind="skill_draft"))

    look(pending, seen())

    assert "plugin_skill_update" == pending.candidates[ident()].kind


def test_a_yes_is_noted_with_what_it_is_about(pending: Ledger) -> None:
    pending.at = LATER
    candidates.note_accepted(pending, ident(), digest("settled"))

    one = pending.candidates[ident()]
    assert ("accepted", digest("settled"), LATER, "v0001") == (
        one.status,
        one.evidence.proposed_tree_hash,
        one.decided_at,
        pending.skills["pdf"].current,
    )


@pytest.mark.parametrize(("tree", "author"), [(seen().tree, "plugin:office"), (MINE, "user")])
def test_what_is_published_is_a_version_with_the_update_s_provenance(
    pending: Ledger, tree: TreeHashes, author: str
) -> None:
    pending.at = LATER
    made = candidates.note_published(pending, ident(), tree, "looks good")

    one = pending.candidates[ident()]
    assert ("v0002", *tree, "v0001", author, "looks good", "published", LATER) == made[:9]
    assert (
        VersionProvenance(
            "plugin",
            "office",
            "1.0.0",
            "skills/pdf",
            digest("new content"),
            digest("new"),
            "fast_forward",
        )
        == made.provenance
    )
    assert ("published", "v0002", "looks good") == (one.status, one.version, one.reason)
    assert (digest("new"), digest("new"), "v0002", "synced", "") == pdf(pending)[2:]


def test_a_yes_to_one_skill_does_not_mark_its_siblings(pending: Ledger) -> None:
    candidates.note_compared(pending, "office", "docx", seen("other"), "", WHY)

    pending.at = LATER
    candidates.note_published(pending, ident(), seen().tree, "")

    assert ("update_pending", "update_pending") == (
        pending.binding_of("office", "docx").status,
        pending.plugins["office"].status,
    )


def test_an_acknowledgement_of_an_older_candidate_leaves_what_waits(pending: Ledger) -> None:
    look(pending, seen("newer"))

    pending.at = LATER
    candidates.note_published(pending, ident(), seen().tree, "")

    assert (digest("new"), "update_pending", ident("newer")) == (
        pdf(pending).accepted,
        pdf(pending).status,
        pdf(pending).pending,
    )


def with_version(ledger: Ledger, **fields: Any) -> None:
    ledger.add_version("pdf", a_version(2)._replace(**fields))


@pytest.mark.parametrize(
    ("which", "version", "error", "message"),
    [
        ("nothing", "v0002", NotFoundError, "there is no published update 'nothing' as v0002"),
        ("", "v0009", NotFoundError, f"there is no published update '{ident()}' as v0009"),
        ("", "v0002", IntegrityError, "Plugin publish acknowledgement is missing provenance"),
    ],
)
def test_an_acknowledgement_names_an_update_a_version_and_its_provenance(
    pending: Ledger, which: str, version: str, error: type[MetierError], message: str
) -> None:
    with_version(pending, provenance=VersionProvenance())

    with pytest.raises(error) as refused:
        candidates.note_acknowledged(pending, which or ident(), version, "")

    assert (message, "open") == (refused.value.message, pending.candidates[ident()].status)


@pytest.mark.parametrize(
    "where",
    [
        VersionProvenance("plugin", "other", upstream_skill_tree_hash=digest("new")),
        VersionProvenance("plugin", "office"),
    ],
)
def test_provenance_of_another_plugin_or_without_a_tree_is_none(
    pending: Ledger, where: VersionProvenance
) -> None:
    with_version(pending, provenance=where)

    with pytest.raises(IntegrityError) as refused:
        candidates.note_acknowledged(pending, ident(), "v0002", "")

    assert "Plugin publish acknowledgement is missing provenance" == refused.value.message


def test_a_removal_is_not_acknowledged_as_a_version(ledger: Ledger) -> None:
    candidates.propose_removed(ledger, "office", "pdf", BASE)

    with pytest.raises(NotFoundError):
        candidates.note_acknowledged(ledger, pdf(ledger).pending, "v0001", "")

    assert "removed" == pdf(ledger).status


@pytest.mark.parametrize(("reason", "expected"), [("not now", "not now"), ("", "it wants more")])
def test_a_no_leaves_the_skill_as_it_is(pending: Ledger, reason: str, expected: str) -> None:
    before = pending.skills["pdf"]

    pending.at = LATER
    candidates.note_rejected(pending, ident(), reason)

    one = pending.candidates[ident()]
    assert ("rejected", expected, LATER, before) == (
        one.status,
        one.reason,
        one.decided_at,
        pending.skills["pdf"],
    )
    assert (BASE, digest("new"), "declined", "", "synced") == (
        pdf(pending).accepted,
        pdf(pending).observed,
        pdf(pending).status,
        pdf(pending).pending,
        pending.plugins["office"].status,
    )


def test_a_no_to_what_no_longer_waits_for_its_skill_changes_only_the_candidate(
    pending: Ledger,
) -> None:
    old: ReviewCandidate = pending.candidates[ident()]
    look(pending, seen("newer"))
    pending.put_candidate(old)

    pending.at = LATER
    candidates.note_rejected(pending, ident(), "")

    assert (ident("newer"), "update_pending") == (pdf(pending).pending, pdf(pending).status)


def test_a_skill_that_is_let_go_keeps_its_versions_and_frees_its_name(ledger: Ledger) -> None:
    candidates.propose_removed(ledger, "office", "pdf", BASE)
    name = pdf(ledger).pending

    ledger.at = LATER
    candidates.note_retired(ledger, name, "not needed")

    skill, one = ledger.skills["pdf"], ledger.candidates[name]
    assert ("user", "disabled", "plugin_removed:office", 1) == (
        skill.owner,
        skill.status,
        skill.why,
        len(skill.versions),
    )
    assert ("published", "not needed", "v0001", []) == (
        one.status,
        one.reason,
        one.version,
        ledger.rivals("other", "pdf"),
    )
    assert (None, "synced") == (
        ledger.plugins["office"].binding("pdf"),
        ledger.plugins["office"].status,
    )


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("plugin_skill_update", "plugin-update:a@b:pdf:0123456789ab"),
        ("plugin_skill_added", "plugin-add:a@b:pdf:0123456789ab"),
        ("plugin_skill_removed", "plugin-remove:a@b:pdf:0123456789ab"),
    ],
)
def test_the_same_change_always_has_the_same_id(kind: Any, expected: str) -> None:
    assert expected == candidates.ident_of(kind, "a@b", "pdf", "sha256:0123456789abcdef")


def test_two_trees_whose_hashes_begin_alike_are_two_candidates() -> None:
    ledger = Ledger(a_mirror(), NOW)
    first = seen()
    alike = f"{first.tree.digest[:19]}{'0' * 52}"
    look(ledger, first)

    candidates.note_rejected(ledger, ident(), "no")
    look(ledger, first._replace(tree=first.tree._replace(digest=alike)), at=LATER)

    other = f"plugin-update:office:pdf:{alike.removeprefix('sha256:')}"
    assert ("rejected", "open") == (
        ledger.candidates[ident()].status,
        ledger.candidates[other].status,
    )
    assert other == ledger.binding_of("office", "pdf").pending
