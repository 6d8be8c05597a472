"""What becomes of updates that wait, as notes."""

from __future__ import annotations

import pytest
from fakes.pins import a_pin, digest

from metier.supply import local_state
from metier.supply.local_state import PendingUpdate, SupplyState, read_state, state_bytes

WAITS = PendingUpdate(
    "pdf",
    digest("1"),
    digest("2"),
    digest("3"),
    "main",
    "c3",
    "skills/pdf",
    "",
    ("it conflicts",),
    "2026-01-01",
)
OTHER = WAITS._replace(name="ocr")
STATE = SupplyState("/project/metier.lock", pending=(OTHER, WAITS))
NOW = "2026-01-02"


def test_an_update_is_known_by_its_skill_and_its_tree() -> None:
    assert f"update:pdf:{digest('3')[7:19]}" == local_state.ident_of("pdf", digest("3"))


@pytest.mark.parametrize(
    ("ours", "lock", "mode"),
    [
        ("2", "2", "three_way"),
        ("1", "1", "fast_forward"),
        ("3", "1", "already_applied"),
        ("", "1", "fast_forward"),
        ("", "2", "three_way"),
    ],
)
def test_a_working_copy_that_is_gone_counts_as_the_lock_has_it(
    ours: str, lock: str, mode: str
) -> None:
    pending = WAITS._replace(ours=digest(ours) if ours else "")

    assert mode == local_state.mode_of(pending, a_pin(digest=digest(lock)))


def test_what_is_decided_waits_no_longer_and_the_rest_does() -> None:
    row = local_state.rejected(WAITS, "three_way", NOW, "not now")

    state = local_state.settle_update(STATE, WAITS, row)

    assert ((OTHER,), (row,)) == (state.pending, state.reviewed)
    assert ("rejected", "2026-01-01", NOW, "not now") == (row.status, row.since, row.at, row.reason)
    assert row == local_state.find_rejection(state, "pdf", WAITS.theirs)
    assert (None, None) == (
        local_state.find_rejection(state, "ocr", WAITS.theirs),
        local_state.find_rejection(state, "pdf", digest("4")),
    )


def test_the_last_decision_about_a_version_counts() -> None:
    state = local_state.settle_update(STATE, WAITS, local_state.rejected(WAITS, "three_way", NOW))

    state = local_state.settle_update(
        state, WAITS, local_state.published(WAITS, "three_way", NOW, digest("5"))
    )

    assert [("published", digest("5"))] == [(one.status, one.digest) for one in state.reviewed]
    assert local_state.find_rejection(state, "pdf", WAITS.theirs) is None


def test_that_something_newer_came_does_not_take_a_no_back() -> None:
    state = local_state.settle_update(
        STATE, WAITS, local_state.rejected(WAITS, "three_way", NOW)
    )._replace(pending=(WAITS,))

    state = local_state.supersede(state, WAITS, "three_way", NOW, "newer", "update:pdf:0123")

    assert ((), ["rejected"]) == (state.pending, [one.status for one in state.reviewed])


def test_updates_of_skills_that_are_gone_are_superseded() -> None:
    state = local_state.without_pending(STATE, {"pdf", "xls"}, NOW)

    assert ((OTHER,), [("pdf", "superseded")]) == (
        state.pending,
        [(one.name, one.status) for one in state.reviewed],
    )


def test_what_came_by_another_way_is_published() -> None:
    state = local_state.settle_arrived(
        STATE, [a_pin("pdf", base=WAITS.theirs, digest=digest("5")), a_pin("ocr")], NOW
    )

    assert ((OTHER,), [("pdf", "published", digest("5"))]) == (
        state.pending,
        [(one.name, one.status, one.digest) for one in state.reviewed],
    )


def test_no_more_than_the_newest_decisions_and_the_beginning_of_a_reason_are_kept() -> None:
    state = SupplyState()
    for number in range(local_state.MAX_SETTLED + 5):
        pending = WAITS._replace(theirs=digest(str(number)))
        state = local_state.settle_update(
            state, pending, local_state.rejected(pending, "three_way", NOW, "x" * 10_000)
        )

    assert (local_state.MAX_SETTLED, digest("5"), local_state.MAX_REASON_CHARS) == (
        len(state.reviewed),
        state.reviewed[0].theirs,
        len(state.reviewed[0].reason),
    )
    assert state == read_state(state_bytes(state))
