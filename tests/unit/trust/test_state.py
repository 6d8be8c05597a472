"""The file of decisions: what is written is read back, and whatever else lies there means nothing at all."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from metier.trust.facts import Approval
from metier.trust.state import Project, Row, State, read_state, state_bytes

APPROVAL = Approval("pdf", "sha256:1", "approved", "verified", "2026-01-02T03:04:05Z", "ada", "Read it.")
STATE = State((Row(APPROVAL, "/skills/pdf"), Row(APPROVAL._replace(state="blocked", level="blocked"))), (Project("/work", "2026-01-02"),))
TEXTS = st.text(max_size=20)
ROWS = st.builds(
    Row,
    st.builds(
        Approval, st.text(min_size=1, max_size=20), TEXTS, st.sampled_from(["approved", "quarantined", "blocked"]),
        st.sampled_from(["trusted", "verified", "quarantined", "blocked"]), TEXTS, TEXTS, TEXTS, st.booleans(),
    ),
    TEXTS,
)  # fmt: skip


@given(st.lists(ROWS, max_size=4), st.lists(st.builds(Project, TEXTS.map("/".__add__), TEXTS, TEXTS), max_size=3))
def test_what_is_written_is_read_back(rows: list[Row], projects: list[Project]) -> None:
    state = State(tuple(rows), tuple(projects))

    assert state == read_state(state_bytes(state))


@given(st.binary(max_size=200))
def test_no_bytes_make_it_raise_or_approve(data: bytes) -> None:
    found = read_state(data)

    assert ((), ()) == (found.rows, found.projects)
    assert found.broken


def _changed(**changes: Any) -> bytes:
    document = json.loads(state_bytes(STATE))
    document["approvals"][0].update(changes)
    return json.dumps(document).encode()


@pytest.mark.parametrize("changes", [
    {"state": "fine"}, {"level": "holy"}, {"name": ""}, {"digest": None}, {"accept_dangerous": "yes"}, {"accept_dangerous": 1},
    {"more": "x"}, {"at": 5},
])  # fmt: skip
def test_one_odd_record_spoils_the_whole_file(changes: dict[str, Any]) -> None:
    assert read_state(_changed(**changes)).broken


def test_a_project_is_trusted_by_its_own_path_alone() -> None:
    assert [True, False, False, False] == [STATE.trusts(path) for path in ("/work", "/work/inner", "/", "")]


@pytest.mark.parametrize(("name", "path", "names"), [
    ("pdf", "/skills/pdf", ["pdf", "pdf"]),
    ("pdf", "/elsewhere", ["pdf", "pdf"]),
    ("other", "/skills/pdf", ["other", "pdf"]),
    ("other", "/elsewhere", ["pdf", "pdf"]),
])  # fmt: skip
def test_decisions_about_a_place_follow_what_lies_there(name: str, path: str, names: list[str]) -> None:
    assert names == [approval.name for approval in STATE.about(name, path)]
