"""`metier audit`: the last decisions, and the proof that nobody changed them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from doors.command import error_of, run

import metier
from metier.audit.log import record

if TYPE_CHECKING:
    from conftest import Home


@pytest.fixture
def log(home: Home) -> Path:
    """Write three decisions down; give the file that holds them."""
    with metier.open(env=home.env) as m:
        for name, outcome in (("pdf", "approved"), ("bad", "blocked"), ("notes", "approved")):
            record(
                m.context,
                "approve" if outcome == "approved" else "block",
                outcome,
                name=name,
                digest="sha256:1",
                reason=f"why {name}",
            )
    return next(
        path
        for path in (Path(home.env["METIER_HOME"]) / "audit").iterdir()
        if b"why pdf" in path.read_bytes()
    )


def test_nothing_noted_down_is_said_and_is_no_fault(home: Home) -> None:
    tail, verify = run(home.env, "audit", "tail"), run(home.env, "audit", "verify")

    assert (0, 0) == (tail.code, verify.code)
    assert "Nothing has been noted down yet." in tail.out


@pytest.mark.usefixtures("log")
def test_the_last_events_are_shown_the_newest_last(home: Home) -> None:
    answer = run(home.env, "audit", "tail", "--limit", "2")

    assert 0 == answer.code
    assert "pdf" not in answer.out
    assert answer.out.index("bad") < answer.out.index("notes")


@pytest.mark.usefixtures("log")
def test_the_last_events_are_a_document_too(home: Home) -> None:
    answer = run(home.env, "audit", "tail", "--json")

    assert ["pdf", "bad", "notes"] == [event["name"] for event in answer.json["events"]]


@pytest.mark.usefixtures("log")
def test_a_log_as_it_was_written_is_proved(home: Home) -> None:
    answer = run(home.env, "audit", "verify", "--json")

    assert 0 == answer.code
    assert (3, True, None) == tuple(answer.json[key] for key in ("events", "ok", "first_bad"))


@pytest.mark.parametrize("harm", ["edited", "deleted", "cut"])
def test_a_log_that_somebody_changed_is_shown_with_exit_code_1(
    home: Home, log: Path, harm: str
) -> None:
    lines = log.read_bytes().splitlines(keepends=True)
    changed = {
        "edited": [lines[0].replace(b"why pdf", b"why not"), *lines[1:]],
        "deleted": [lines[0], *lines[2:]],
        "cut": lines[:-1],
    }
    log.write_bytes(b"".join(changed[harm]))

    answer = run(home.env, "audit", "verify", "--json")
    text = run(home.env, "audit", "verify")

    assert (1, False) == (answer.code, answer.json["ok"])
    assert answer.json["first_bad"] is not None
    assert 1 == text.code
    assert "not as written" in text.out


def test_audit_alone_shows_the_last_events(home: Home) -> None:
    assert run(home.env, "audit", "tail").out == run(home.env, "audit").out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("audit", "show"), "unknown command 'metier audit show'"),
        (("audit", "tail", "--limit", "many"), "--limit cannot be 'many'"),
    ],
)
def test_what_is_put_wrongly_has_a_message_and_a_hint(
    home: Home, words: tuple[str, ...], message: str
) -> None:
    answer = run(home.env, *words)

    said, hint = error_of(answer)
    assert message in said
    assert hint
    assert 2 == answer.code
