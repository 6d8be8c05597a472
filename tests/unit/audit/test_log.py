"""What the library notes down about itself. CO-10: trouble with that is a warning and never hides a refusal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import metier
from metier.audit import log

if TYPE_CHECKING:
    from conftest import Home


def test_an_event_is_recorded_below_the_data_folder(home: Home) -> None:
    with metier.open(env=home.env) as library:
        log.record(
            library.context,
            "refuse",
            "blocked",
            name="pdf",
            digest="sha256:00",
            reasons=["it sends your keys away"],
            path="/skills/pdf",
        )
        found, rows = log.verify(library.context), log.tail(library.context, 5)

    assert (1, True, None) == found[:3]
    assert ["refuse"] == [row["event"] for row in rows]
    assert {"reasons": ["it sends your keys away"], "path": "/skills/pdf"} == rows[0]["details"]
    assert ("pdf", "sha256:00", "metier", "blocked") == (
        rows[0]["name"],
        rows[0]["digest"],
        rows[0]["source"],
        rows[0]["outcome"],
    )
    assert Path(home.env["METIER_HOME"], "audit").is_dir()


def test_an_event_names_the_agent_it_came_through(home: Home) -> None:
    with metier.open(env=home.env, agent="codex") as library:
        log.record(library.context, "load", "allowed", name="pdf")

        assert ["codex"] == [row["source"] for row in log.tail(library.context, 5)]


def test_trouble_becomes_one_warning_and_never_an_exception(home: Home) -> None:  # CO-10
    Path(home.env["METIER_HOME"]).write_bytes(b"not a folder")

    with metier.open(env=home.env) as library:
        log.record(library.context, "refuse", "blocked", name="pdf")
        log.record(library.context, "refuse", "blocked", name="pdf")

        assert 1 == len([text for text in library.context.warnings if "audit" in text])


def test_without_a_place_nothing_is_recorded_and_that_is_said() -> None:
    with metier.open(env={}) as library:
        log.record(library.context, "refuse", "blocked", name="pdf")

        assert [log.NO_LOG_FOLDER] == library.context.warnings
        assert [] == log.tail(library.context, 5)
        assert (0, True, None, log.NO_LOG_FOLDER) == log.verify(library.context)[:4]
