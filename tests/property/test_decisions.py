"""Decisions that are looked up mean what all of them together mean."""

from __future__ import annotations

from hypothesis import given, strategies as st

from metier.trust.decision_records import DecisionIndex, DecisionRow, Decisions
from metier.trust.model import Approval, standing_records

NAMES = st.sampled_from(["pdf", "PDF", "ocr", "tables"])
DIGESTS = st.sampled_from(["sha256:a", "sha256:b", ""])
PATHS = st.sampled_from(["/one", "/two", ""])
SAID = st.sampled_from(
    [("approved", "community"), ("quarantined", "quarantined"), ("blocked", "blocked")]
)
ROWS = st.lists(
    st.builds(
        lambda name, digest, said, path: DecisionRow(
            Approval(name, digest, said[0], said[1], "2026-01-01T00:00:00Z"), path
        ),
        NAMES,
        DIGESTS,
        SAID,
        PATHS,
    ),
    max_size=8,
)
NOW = "2026-06-01T00:00:00Z"


@given(ROWS, NAMES, PATHS, st.one_of(st.none(), DIGESTS))
def test_what_bears_on_a_skill_is_found_whether_or_not_the_rest_is_looked_at(
    rows: list[DecisionRow], name: str, path: str, digest: str | None
) -> None:
    state, index = Decisions(tuple(rows)), DecisionIndex(rows)

    assert standing_records(state.about(name, path), name, digest, NOW) == standing_records(
        index.about(name, path, digest), name, digest, NOW
    )
    assert standing_records(state.approvals, name, digest, NOW) == standing_records(
        index.of(name, digest), name, digest, NOW
    )
