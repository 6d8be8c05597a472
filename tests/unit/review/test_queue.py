"""The queue asks whoever answers for a candidate, and lists what all of them have."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest
from fakes.mirrors import a_candidate
from fakes.review_source import FakeReviewSource

from metier.errors import UsageError
from metier.review import queue

if TYPE_CHECKING:
    from metier.context import Context

NOBODY = cast("Context", None)


@pytest.fixture
def sources(monkeypatch: pytest.MonkeyPatch) -> dict[str, FakeReviewSource]:
    """Give a source for each beginning of an id, with one candidate that is open and one that is not."""
    found = {
        prefix: FakeReviewSource(
            a_candidate(1, id=f"{prefix}one"), a_candidate(2, id=f"{prefix}two", status="rejected")
        )
        for prefix in ("draft:", "update:", "")
    }
    table = tuple(
        (prefix, lambda _context, _user, source=source: source) for prefix, source in found.items()
    )
    monkeypatch.setattr(queue, "_SOURCES", table)
    return found


@pytest.mark.parametrize("prefix", ["draft:", "update:", ""])
def test_who_answers_for_a_candidate_is_told_by_how_its_id_begins(
    sources: dict[str, FakeReviewSource], prefix: str
) -> None:
    done = queue.accept(NOBODY, f"{prefix}one", "ours", reason="fine")

    assert ("published", [("accept", f"{prefix}one", "ours", "fine")]) == (
        done.candidate.status,
        sources[prefix].asked,
    )


@pytest.mark.usefixtures("sources")
def test_what_waits_is_listed_with_updates_of_plugins_first() -> None:
    waiting = queue.list_waiting(NOBODY, everything=False, user=None)
    everything = queue.list_waiting(NOBODY, everything=True, user=None)

    assert (["one", "update:one", "draft:one"], 6) == (
        [one.id for one in waiting],
        len(everything),
    )


def test_a_conflict_is_settled_by_one_side_or_the_other(
    sources: dict[str, FakeReviewSource],
) -> None:
    with pytest.raises(UsageError):
        queue.accept(NOBODY, "draft:one", "both", reason="")

    assert [] == sources["draft:"].asked
