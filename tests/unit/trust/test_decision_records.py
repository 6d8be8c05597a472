"""The file of decisions: what is written is read back, and whatever else lies there means nothing at all."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from fakes.decisions import old_bytes, old_document
from hypothesis import given, strategies as st

from metier.trust.decision_records import (
    MAX_STATE_BYTES,
    DecisionRow,
    Decisions,
    TrustedProject,
    read_state,
    state_bytes,
)
from metier.trust.model import Approval, folded

APPROVAL = Approval(
    "pdf", "sha256:1", "approved", "verified", "2026-01-02T03:04:05Z", "ada", "Read it."
)
STATE = Decisions(
    (
        DecisionRow(APPROVAL, "/skills/pdf"),
        DecisionRow(APPROVAL._replace(state="blocked", level="blocked")),
    ),
    (TrustedProject("/work", "2026-01-02"),),
)
TEXTS = st.text(max_size=20)
ROWS = st.builds(
    DecisionRow,
    st.builds(
        Approval,
        st.text(min_size=1, max_size=20),
        TEXTS,
        st.sampled_from(["approved", "quarantined", "blocked"]),
        st.sampled_from(["trusted", "verified", "quarantined", "blocked"]),
        TEXTS,
        TEXTS,
        TEXTS,
        st.booleans(),
    ),
    TEXTS,
)


@given(
    st.lists(ROWS, max_size=4),
    st.lists(st.builds(TrustedProject, TEXTS.map("/".__add__), TEXTS, TEXTS), max_size=3),
)
def test_what_is_written_is_read_back(
    rows: list[DecisionRow], projects: list[TrustedProject]
) -> None:
    state = Decisions(tuple(rows), tuple(projects))

    assert state == read_state(state_bytes(state))


@given(st.binary(max_size=200))
def test_no_bytes_make_it_raise_or_approve(data: bytes) -> None:
    found = read_state(data)

    assert ((), ()) == (found.rows, found.projects)
    assert found.broken


def _changed(**changes: Any) -> bytes:
    document = old_document(STATE)
    document["approvals"][0].update(changes)
    return json.dumps(document).encode()


@pytest.mark.parametrize(
    "changes",
    [
        {"state": "fine"},
        {"level": "holy"},
        {"name": ""},
        {"digest": None},
        {"accept_dangerous": "yes"},
        {"accept_dangerous": 1},
        {"more": "x"},
        {"at": 5},
    ],
)
def test_one_odd_record_spoils_the_whole_file(changes: dict[str, Any]) -> None:
    assert read_state(_changed(**changes)).broken


def _document(**changes: Any) -> bytes:
    return json.dumps({**old_document(STATE), **changes}).encode()


PROJECT = {"path": "/work", "at": "2026-01-02", "by": ""}


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (b"{", "Expecting"),
        (b"", "it is empty"),
        (b"[]", "it is not of schema 2"),
        (_document(schema=3), "it is not of schema 2"),
        (_document(schema=True), "it is not of schema 2"),
        (_document(schema=1.0), "it is not of schema 2"),
        (_document(schema=None), "it is not of schema 2"),
        (_document(schema=[]), "it is not of schema 2"),
        (_document(schema=2), "it does not have the keys that metier writes"),
        (_document(more=1), "it does not have the keys that metier writes"),
        (_document(sequence=1), "it does not have the keys that metier writes"),
        (_document(approvals={}), "'approvals' is not a list"),
        (_document(approvals=[3]), "a decision does not say whether danger was accepted"),
        (_document(approvals=[[]]), "a decision does not say whether danger was accepted"),
        (_changed(state="fine"), "'pdf' is fine, level verified: one of them means nothing"),
        (
            _changed(at=5),
            "an entry is not made of the texts at, by, digest, level, name, path, reason, state",
        ),
        (_document(projects=None), "'projects' is not a list"),
        (_document(projects=["/work"]), "an entry is not made of the texts at, by, path"),
        (
            _document(projects=[{"path": "/work", "at": "x"}]),
            "an entry is not made of the texts at, by, path",
        ),
        (
            _document(projects=[{**PROJECT, "more": "x"}]),
            "an entry is not made of the texts at, by, path",
        ),
        (
            _document(projects=[{**PROJECT, "by": None}]),
            "an entry is not made of the texts at, by, path",
        ),
        (_document(projects=[{**PROJECT, "path": "work"}]), "a project is not an absolute path"),
        (_document(projects=[{**PROJECT, "path": "./work"}]), "a project is not an absolute path"),
        (
            _document(projects=[PROJECT, {**PROJECT, "path": ""}]),
            "a project is not an absolute path",
        ),
        (
            _changed().replace(b'"state": "approved"', b'"state": "blocked", "state": "approved"'),
            "a key is written twice",
        ),
        (b'{"schema":' * 100_000, "it is nested too deeply"),
        (b" " * (MAX_STATE_BYTES + 1), "it is longer than 33,554,432 bytes"),
    ],
)
def test_a_file_that_is_not_as_metier_writes_it_means_nothing_and_says_why(
    data: bytes, fault: str
) -> None:
    found = read_state(data)

    assert ((), ()) == (found.rows, found.projects)
    assert found.broken.startswith(f"the record of your decisions cannot be read ({fault}")


def test_a_file_may_be_as_long_as_the_limit() -> None:
    assert STATE == read_state(old_bytes(STATE).ljust(MAX_STATE_BYTES))


def test_a_project_on_a_drive_is_an_absolute_path() -> None:
    state = Decisions(projects=(TrustedProject("C:\\work", "2026-01-02"),))

    assert state == read_state(state_bytes(state))


def test_the_file_is_plain_and_in_one_form() -> None:
    state = Decisions(projects=(TrustedProject("/wörk", "2026-01-02"),))

    assert (
        b'{\n "schema": 2,\n "sequence": 7,\n "approvals": [],\n "projects": [\n  {\n'
        b'   "path": "/w\\u00f6rk",\n   "at": "2026-01-02",\n   "by": ""\n  }\n ],\n "own": [],\n'
        b' "sha256": "CHECKSUM"\n}\n'
    ).replace(b"CHECKSUM", json.loads(state_bytes(state, 7))["sha256"].encode()) == state_bytes(
        state, 7
    )


def test_the_checksum_is_that_of_everything_else() -> None:
    document = json.loads(state_bytes(STATE, 3))
    checksum = document.pop("sha256")

    rest = (json.dumps(document, indent=1) + "\n").encode()

    assert hashlib.sha256(rest).hexdigest() == checksum


@pytest.mark.parametrize(
    "changed",
    [
        state_bytes(STATE) + b" ",
        state_bytes(STATE).replace(b"\n", b"\r\n"),
        state_bytes(STATE).replace(b'"sequence": 1', b'"sequence": 2'),
        state_bytes(STATE).replace(b'"sequence": 1', b'"sequence": 1.0'),
        state_bytes(STATE).replace(b'"sequence": 1', b'"sequence": true'),
        state_bytes(STATE, 0),
        state_bytes(STATE).replace(b"Read it.", b"Read him"),
        state_bytes(STATE).replace(b'"own": []', b'"own":[]'),
    ],
)
def test_a_file_that_is_not_spelt_as_metier_spells_it_means_nothing(changed: bytes) -> None:
    found = read_state(changed)

    assert "it was changed or damaged after metier wrote it" in found.broken
    assert ((), (), ()) == found[:3]


def test_a_project_is_trusted_by_its_own_path_alone() -> None:
    assert [True, False, False, False] == [
        STATE.trusts(path) for path in ("/work", "/work/inner", "/", "")
    ]


@pytest.mark.parametrize(
    ("name", "path", "names"),
    [
        ("pdf", "/skills/pdf", ["pdf", "pdf"]),
        ("pdf", "/elsewhere", ["pdf", "pdf"]),
        ("other", "/skills/pdf", ["other", "pdf"]),
        ("other", "/elsewhere", ["pdf", "pdf"]),
    ],
)
def test_decisions_about_a_place_follow_what_lies_there(
    name: str, path: str, names: list[str]
) -> None:
    assert names == [approval.name for approval in STATE.about(name, path)]


def test_a_new_name_in_the_same_place_does_not_shake_the_only_decision_off() -> None:
    alone = Decisions((DecisionRow(APPROVAL, "/skills/pdf"),))

    assert ["other"] == [approval.name for approval in alone.about("other", "/skills/pdf")]


def test_a_decision_keeps_its_own_name_where_the_present_name_was_decided_about_too() -> None:
    both = Decisions(
        (
            DecisionRow(APPROVAL, "/skills/pdf"),
            DecisionRow(APPROVAL._replace(name="doc"), "/skills/doc"),
        )
    )

    assert ["pdf", "doc"] == [approval.name for approval in both.about("doc", "/skills/pdf")]


def test_names_are_folded_to_what_the_eye_sees() -> None:
    assert ["pdf", "pdf", "strasse"] == [folded(name) for name in ("PDF", "\uff50df", "Straße")]


def test_what_was_blocked_does_not_get_away_under_a_name_that_was_approved() -> None:
    both = Decisions(
        (
            DecisionRow(APPROVAL._replace(state="blocked"), "/skills/pdf"),
            DecisionRow(APPROVAL._replace(name="doc"), "/skills/doc"),
        )
    )

    assert [("doc", "blocked"), ("doc", "approved")] == [
        (approval.name, approval.state) for approval in both.about("doc", "/skills/pdf")
    ]
    assert ["pdf", "doc"] == [approval.name for approval in both.about("doc", "/skills/doc")]
