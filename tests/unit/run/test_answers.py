"""The protocol between the program inside and metier: whatever a skill writes there is its own result, or its own failure."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, strategies as st

from metier.run import answers
from metier.run.answers import CodeAnswer, read_answer


def document(**parts: object) -> bytes:
    """Give an answer as the program inside writes it."""
    return json.dumps(
        {"ok": True, "result": None, "error": "", "declined": False, **parts}
    ).encode()


READ = [
    (document(result="42"), CodeAnswer(ok=True, result="42", error="", declined=False)),
    (document(result=""), CodeAnswer(ok=True, result="", error="", declined=False)),
    (document(declined=True), CodeAnswer(ok=True, result=None, error="", declined=True)),
    (document(result=None), CodeAnswer(ok=True, result=None, error="", declined=True)),
    (
        document(result="half of it", declined=True),
        CodeAnswer(ok=True, result=None, error="", declined=True),
    ),
    (document(result="\ud800"), CodeAnswer(ok=True, result="?", error="", declined=False)),
    (
        document(ok=False, result="x", error="ValueError: no"),
        CodeAnswer(ok=False, result=None, error="ValueError: no", declined=False),
    ),
    (
        document(ok=False, error="one\nline\x1b[2J"),
        CodeAnswer(ok=False, result=None, error="one line [2J", declined=False),
    ),
    (
        document(ok=False, error="x" * 999),
        CodeAnswer(ok=False, result=None, error="x" * 200, declined=False),
    ),
    (
        document(ok=False, error="E: e", loaded=False),
        CodeAnswer(ok=False, result=None, error="E: e", declined=False, loaded=False),
    ),
]


@pytest.mark.parametrize(("report", "expected"), READ)
def test_an_answer_is_read(report: bytes, expected: CodeAnswer) -> None:
    answer = read_answer(report)

    assert expected == answer


BROKEN = [
    b"",
    b"{",
    b"[]",
    b"null",
    b"\xff",
    b"[" * 100_000,
    b'{"ok": 1, "declined": false, "error": ""}',
    document(ok="yes"),
    document(result=5),
    document(error=None),
    document(result="a") + document(result="b"),
    document(result="x" * answers.MAX_ANSWER_BYTES),
    b'{"ok": ' + b"9" * 5_000 + b"}",
]


@pytest.mark.parametrize("report", BROKEN)
def test_what_is_no_answer_is_the_skill_s_failure(report: bytes) -> None:
    answer = read_answer(report)

    assert (False, None, False) == (answer.ok, answer.result, answer.declined)
    assert answer.error


@given(
    st.binary()
    | st.recursive(st.none() | st.booleans() | st.text() | st.integers(), st.lists).map(
        lambda v: json.dumps(v).encode()
    )
)
def test_nothing_that_a_skill_writes_raises(report: bytes) -> None:
    answer = read_answer(report)

    assert not answer.ok


def test_the_words_of_each_outcome() -> None:  # CO-17, CO-19, CO-21
    words = [
        answers.timed_out("x", 30),
        answers.not_loaded("x"),
        answers.failed("x", "ValueError: " + "m" * 300),
        answers.not_found("x"),
        answers.vetoed("x", "p", "not now"),
        answers.stopped("x", "memory"),
    ]

    assert [
        "Skill 'x' timed out after 30s.",
        "Skill 'x' could not be loaded.",
        "Skill 'x' failed: ValueError: " + "m" * 188,
        "Skill not found: x",
        "Skill 'x' was vetoed by plugin 'p': not now",
        "Skill 'x' was stopped: it went over its limit of memory.",
    ] == words
