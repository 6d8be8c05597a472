"""What two files of decisions and an audit log come to together."""

from __future__ import annotations

from typing import Any

import pytest
from fakes.decisions import old_bytes

from metier.audit.chain import VerifiedLog
from metier.trust.decide import Decision
from metier.trust.decision_records import (
    DENIED,
    MISSING,
    DecisionRow,
    Decisions,
    LoggedDecisions,
    OwnPlace,
    TrustedProject,
    TrustFiles,
    hold_back,
    plan_repair,
    replay,
    state_bytes,
    way_to_unblock,
    weigh_files,
)
from metier.trust.model import Approval

AT = "2026-03-01T10:00:00Z"
YES = DecisionRow(Approval("pdf", "sha256:aa", "approved", "verified", AT, "kim"), "/skills/pdf")
NO = DecisionRow(Approval("bad", "sha256:bb", "blocked", "blocked", AT, "kim"), "/skills/bad")
HELD = DecisionRow(Approval("odd", "sha256:cc", "quarantined", "quarantined", AT), "/skills/odd")
STATE = Decisions((YES, NO), (TrustedProject("/work", AT),), (OwnPlace("/mine", AT),))
NEWER = STATE._replace(rows=(YES, NO, HELD))
FIRST, SECOND = state_bytes(STATE, 4), state_bytes(NEWER, 5)
LOG = LoggedDecisions(Decisions((YES, NO)), any=True)
NOBODY = LoggedDecisions()
BROKEN_LOG = LOG._replace(fault="line 3 was changed")


def weigh(main: bytes, copy: bytes, log: LoggedDecisions | None = None) -> TrustFiles:
    def ask() -> LoggedDecisions:
        assert log is not None, "the log is not asked here"
        return log

    return weigh_files(main, copy, ask)


@pytest.mark.parametrize(
    ("main", "copy", "expected", "sequence", "note"),
    [
        (FIRST, FIRST, STATE, 4, ""),
        (SECOND, FIRST, NEWER, 5, "is out of date"),
        (FIRST, SECOND, NEWER, 5, ""),
        (FIRST, b"", STATE, 4, "is missing"),
        (FIRST, b"{", STATE, 4, "cannot be read"),
        (FIRST, b"?Permission denied", STATE, 4, "cannot be read (Permission denied)"),
        (old_bytes(STATE), SECOND, NEWER, 5, ""),
        (FIRST, old_bytes(NEWER), STATE, 4, "is out of date"),
    ],
)
def test_of_two_good_files_the_newer_counts_and_a_good_one_needs_no_copy(
    main: bytes, copy: bytes, expected: Decisions, sequence: int, note: str
) -> None:
    found = weigh(main, copy)

    assert (expected, sequence) == (found.state._replace(note=""), found.sequence)
    assert found.state.note.startswith(f"the second copy of your decisions {note}" if note else "")
    assert bool(note) == bool(found.state.note)


@pytest.mark.parametrize(
    ("main", "copy", "log", "blocked"),
    [
        (b"{", FIRST, NOBODY, False),
        (b"{", FIRST, BROKEN_LOG, False),
        (b"", FIRST, NOBODY, False),
        (b"?it is not a plain file", FIRST, LOG, False),
        (FIRST[:-20], b"", LOG, False),
        (b"", b"", LOG, False),
        (b"", b"{", LOG, False),
        (b"{", b"", NOBODY, True),
        (b"{", b"{", BROKEN_LOG, True),
        (b"", b"{", NOBODY, True),
        (b"", b"", BROKEN_LOG, True),
        (b"", b"", LoggedDecisions(fault="cut"), True),
    ],
)
def test_a_damaged_record_approves_nothing_and_forgets_no_block(
    main: bytes, copy: bytes, log: LoggedDecisions, blocked: bool
) -> None:
    found = weigh(main, copy, log).state

    assert found.broken
    assert ((), (), blocked) == (found.projects, found.own, found.all_blocked)
    assert all(row.approval.state != "approved" for row in found.rows)
    assert found.barred("bad", "/elsewhere", None) or not (log.any or copy == FIRST)
    assert blocked == bool(found.barred("pdf", "/skills/pdf", "sha256:aa"))
    assert "metier trust repair" in found.doubt


def test_without_files_and_without_a_decision_in_the_log_nothing_was_decided() -> None:
    found = weigh(b"", b"", NOBODY)

    assert (Decisions(), True, 0) == (found.state, found.fresh, found.sequence)


@pytest.mark.parametrize(
    ("name", "path", "digest", "barred"),
    [
        ("bad", "", None, True),
        ("\uff22AD", "/new", "sha256:new", True),
        ("good", "/new", "sha256:bb", True),
        ("good", "/skills/bad", "sha256:new", True),
        ("good", "/new", "sha256:new", False),
        ("odd", "/skills/odd", "sha256:cc", False),
        ("good", "", None, False),
    ],
)
def test_a_block_holds_by_name_by_bytes_and_by_place(
    name: str, path: str, digest: str | None, barred: bool
) -> None:
    unread = DecisionRow(Approval("none", "", "blocked", "blocked", AT), "")
    found = weigh(b"{", state_bytes(NEWER._replace(rows=(*NEWER.rows, unread))), NOBODY).state

    assert barred == bool(found.barred(name, path, digest))
    assert "" == NEWER.barred(name, path, digest)


ALLOWED = Decision("visible", "verified", "allow", "allow", "allow", ("fine",), "pdf", "sha256:aa")


@pytest.mark.parametrize(
    ("log", "copy", "name", "expected"),
    [
        (NOBODY, FIRST, "pdf", ("ask", "verified", "ask", "ask", "ask")),
        (NOBODY, FIRST, "bad", ("blocked", "blocked", "block", "block", "block")),
        (NOBODY, b"", "pdf", ("blocked", "verified", "ask", "block", "block")),
    ],
)
def test_whatever_rests_on_a_damaged_record_is_taken_back(
    log: LoggedDecisions, copy: bytes, name: str, expected: tuple[str, ...]
) -> None:
    state = weigh(b"{", copy, log).state

    found = hold_back(ALLOWED._replace(name=name), state, "/x")

    assert expected == found[:5]
    assert (state.doubt, "fine") == (found.reasons[0], found.reasons[-1])
    assert "metier trust repair" == way_to_unblock(found, name)
    assert ALLOWED is hold_back(ALLOWED, STATE, "/x")
    assert "metier trust unblock pdf" == way_to_unblock(ALLOWED, "pdf")


# --- the log


def event(what: str, outcome: str, name: str = "", **details: Any) -> dict[str, Any]:
    return {
        "event": what,
        "outcome": outcome,
        "name": name,
        "digest": "sha256:aa",
        "ts": "2026-03-01T10:00:00.123456Z",
        "details": details,
    }


GOOD = VerifiedLog(9, ok=True, first_bad=None)


def test_decisions_are_made_again_from_the_events_that_noted_them() -> None:
    found = replay(
        GOOD,
        [
            event(
                "approve", "approved", "pdf", level="trusted", by="kim", path="/pdf", reason="ok"
            ),
            event("approve", "failed", "no", level="trusted", path="/no"),
            event("approve", "approved", "got", level="community", path="/got", at=AT),
            event("block", "blocked", "bad", path="/bad", level="trusted"),
            event("unblock", "quarantined", "bad", path="/bad"),
            event("refuse", "blocked", "worse", path="/worse"),
            event("trust_project", "approved", path="/one", by="kim"),
            event("trust_project", "approved", path="/two"),
            event("trust_project", "revoked", path="/two"),
            event("trust_project", "approved", path="relative"),
            event("own", "done", path="/mine"),
            event("own", "done", path="/other"),
            event("own", "removed", path="/other"),
            event("own", "failed", path="/third"),
        ],
    )

    assert [
        ("pdf", "approved", "trusted", False),
        ("got", "approved", "community", True),
        ("bad", "blocked", "blocked", False),
        ("bad", "quarantined", "quarantined", False),
    ] == [(one.name, one.state, one.level, one.installed) for one in found.state.approvals]
    assert (AT, "kim", "ok") == found.state.approvals[0][4:7]
    assert ["/one"] == [one.path for one in found.state.projects]
    assert ["/mine"] == [one.path for one in found.state.own]
    assert (True, "") == (found.any, found.fault)


def test_a_log_of_other_things_has_no_decision() -> None:
    found = replay(GOOD, [event("load", "allowed", "pdf"), event("block", "failed", "pdf")])

    assert LoggedDecisions() == found


def test_a_level_that_nobody_knows_is_the_lowest_of_an_approval() -> None:
    found = replay(GOOD, [event("approve", "approved", "pdf", level="holy", accept_dangerous="x")])

    assert ("community", False) == (
        found.state.approvals[0].level,
        found.state.approvals[0].accept_dangerous,
    )


# --- repair


@pytest.mark.parametrize(
    ("main", "copy", "log", "source", "names", "notes"),
    [
        (b"{", FIRST, NOBODY, "copy", ["pdf", "bad"], 0),
        (b"{", FIRST, BROKEN_LOG, "copy", ["pdf", "bad"], 0),
        (b"", b"{", LOG, "log", ["pdf", "bad"], 0),
        (b"{", b"", BROKEN_LOG, "log", ["bad"], 1),
        (b"{", b"", NOBODY, "nothing", [], 1),
        (FIRST, b"{", NOBODY, "record", ["pdf", "bad"], 0),
    ],
)
def test_a_repair_takes_the_copy_or_else_the_log(
    main: bytes, copy: bytes, log: LoggedDecisions, source: str, names: list[str], notes: int
) -> None:
    plan = plan_repair(weigh(main, copy, log), log)

    assert plan.broken
    assert (source, names, notes) == (
        plan.source,
        [one.name for one in plan.state.approvals],
        len(plan.notes),
    )
    assert ("", False, "") == plan.state[3:]
    assert plan.sequence == (5 if FIRST in (main, copy) else 1)
    assert (plan.state.projects, plan.state.own) == (
        (STATE.projects, STATE.own) if FIRST in (main, copy) else ((), ())
    )


def test_nothing_is_repaired_where_nothing_is_damaged() -> None:
    assert "" == plan_repair(weigh(FIRST, FIRST), NOBODY).broken


@pytest.mark.parametrize(
    ("row", "added"),
    [
        (NO, False),
        (HELD, True),
        (NO._replace(approval=NO.approval._replace(digest="sha256:new")), True),
        (YES._replace(approval=YES.approval._replace(state="blocked")), True),
        (
            YES._replace(
                approval=YES.approval._replace(state="blocked", at="2026-02-01T00:00:00Z")
            ),
            False,
        ),
        (YES._replace(approval=YES.approval._replace(name="new")), False),
    ],
)
def test_a_block_that_the_copy_missed_is_restored_from_the_log(
    row: DecisionRow, added: bool
) -> None:
    log = LoggedDecisions(Decisions((row,)), any=True)

    plan = plan_repair(weigh(b"{", FIRST, log), log)

    assert (YES, NO, *((row,) if added else ())) == plan.state.rows


# --- the form without a checksum

OLD = Decisions((YES, NO), STATE.projects, STATE.own)
WHOLE_LOG = LoggedDecisions(OLD, any=True)
ALTERED = {
    "nothing": OLD._replace(rows=(), projects=(), own=()),
    "no block": OLD._replace(rows=(YES,)),
    "the block of another name": OLD._replace(
        rows=(YES, NO._replace(approval=NO.approval._replace(name="bae")))
    ),
    "the block of other bytes": OLD._replace(
        rows=(YES, NO._replace(approval=NO.approval._replace(digest="sha256:bc")))
    ),
    "an approval of other bytes": OLD._replace(
        rows=(YES._replace(approval=YES.approval._replace(digest="sha256:ab")), NO)
    ),
    "another project": OLD._replace(projects=(TrustedProject("/wory", AT),)),
    "another place": OLD._replace(own=(OwnPlace("/minf", AT),)),
}


def test_a_record_without_a_checksum_counts_where_the_log_has_the_same() -> None:
    found = weigh(old_bytes(OLD), b"", WHOLE_LOG)
    fewer = weigh(old_bytes(OLD._replace(projects=(), own=())), b"", WHOLE_LOG)
    silent = weigh(old_bytes(OLD), b"", NOBODY)

    assert (OLD, OLD, True) == (found.state, silent.state, found.old)
    assert "" == fewer.state.broken


@pytest.mark.parametrize("case", ALTERED)
def test_a_record_without_a_checksum_that_the_log_denies_is_damaged(case: str) -> None:
    found = weigh(old_bytes(ALTERED[case]), b"", WHOLE_LOG)
    plan = plan_repair(found, WHOLE_LOG)

    assert (DENIED, False, False) == (found.state.broken, found.state.all_blocked, found.old)
    assert found.state.barred("bad", "/skills/bad", "sha256:bb")
    assert ("log", OLD.projects, OLD.own) == (plan.source, plan.state.projects, plan.state.own)
    assert plan.state.rows[-2:] == OLD.rows


def test_a_block_that_the_log_never_knew_of_outlives_a_repair() -> None:
    file = OLD._replace(rows=(YES, HELD))
    found = weigh(old_bytes(file), b"", WHOLE_LOG)

    assert (DENIED, (HELD, YES, NO)) == (
        found.state.broken,
        plan_repair(found, WHOLE_LOG).state.rows,
    )


def test_a_log_that_was_changed_still_knows_of_blocks() -> None:
    log = WHOLE_LOG._replace(fault="line 3 was changed")

    assert "" == weigh(old_bytes(OLD._replace(own=(OwnPlace("/x", AT),))), b"", log).state.broken
    assert DENIED == weigh(old_bytes(ALTERED["no block"]), b"", log).state.broken


def test_what_is_missing_is_called_so() -> None:
    assert MISSING == weigh(b"", FIRST, NOBODY).state.broken
