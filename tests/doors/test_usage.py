"""`metier usage`: what is used, dead, costly and there twice, as a table and as one document."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from doors.command import error_of, run

if TYPE_CHECKING:
    from conftest import Home, Writer


def test_before_anything_was_used_it_says_so(home: Home, skill: Writer) -> None:
    root = str(skill("skills/pdf").parent)

    answer = run(home.env, "usage", "--root", root)

    assert (0, "") == (answer.code, answer.err)
    assert answer.out.startswith("Nothing has been counted yet.")
    assert "not used yet, and known for less than 30 days" in answer.out


def test_a_shown_skill_is_counted_with_its_tokens(home: Home, skill: Writer) -> None:
    root = str(skill("skills/pdf").parent)
    skill("skills/other", description="Something else entirely, about the weather of tomorrow.")
    tokens = run(home.env, "show", "pdf", "--json", "--root", root).json["tokens"]
    run(home.env, "show", "pdf", "--root", root)

    text = run(home.env, "usage", "--root", root).out
    found = run(home.env, "usage", "--json", "--root", root).json

    (used,) = found["skills"]
    assert ("pdf", 2, 0, 0, 2 * tokens, "visible") == tuple(
        used[key] for key in ("name", "views", "loads", "runs", "tokens", "state")
    )
    assert [("pdf", 1.0)] == [(one["name"], one["share"]) for one in found["costly"]]
    assert ["other"] == [one["name"] for one in found["unused"]]
    assert ([], [], []) == (found["dead"], found["duplicates"], found["notes"])
    assert [
        "NAME",
        "VIEWS",
        "LOADS",
        "RUNS",
        "FAILED",
        "TOKENS",
        "LAST",
        "USED",
        "PATH",
    ] == text.splitlines()[0].split()


def test_skills_that_say_nearly_the_same_are_named_together(home: Home, skill: Writer) -> None:
    skill("skills/pdf", description="Reads PDF files and fills in their forms.")
    root = str(
        skill("skills/pdf-forms", description="Reads PDF files and fills in their forms!").parent
    )

    answer = run(home.env, "usage", "--root", root)
    (pair,) = run(home.env, "usage", "--json", "--root", root).json["duplicates"]

    assert "nearly the same" in answer.out
    assert ("pdf", "pdf-forms") == (pair["first"], pair["second"])
    assert 0.6 <= pair["similarity"] <= 1


def test_nothing_is_counted_when_the_configuration_says_so(
    home: Home, skill: Writer, tmp_path: Path
) -> None:
    root = str(skill("skills/pdf").parent)
    (tmp_path / "metier.toml").write_text("usage = false\n")
    env = {**home.env, "METIER_CONFIG": str(tmp_path / "metier.toml")}

    run(env, "show", "pdf", "--root", root)
    answer = run(env, "usage", "--root", root)

    assert 0 == answer.code
    assert "warning: counting is off: 'usage = false' in the configuration\n" == answer.err
    assert not Path(home.env["METIER_HOME"], "usage.db").exists()


@pytest.mark.parametrize("days", ["0", "-1", "x", "", "1.5", "99999999999999999999", "\u0663"])
def test_days_are_a_whole_number(home: Home, days: str) -> None:
    answer = run(home.env, "usage", f"--days={days}")

    assert (2, "give a whole number from 1 to 36,500") == (answer.code, error_of(answer)[1])


def test_names_cannot_write_to_the_terminal(home: Home, skill: Writer) -> None:
    root = str(
        skill(
            "skills/odd", text='---\nname: "a\\e]0;owned\\ab"\ndescription: Reads.\n---\n\nx\n'
        ).parent
    )
    run(home.env, "show", f"{root}/odd", "--root", root)

    answer = run(home.env, "usage", "--root", root)

    assert (0, False) == (answer.code, "\x1b" in answer.out + answer.err)


def test_a_file_of_counts_that_another_process_holds_spoils_no_answer(
    home: Home, skill: Writer
) -> None:
    root = str(skill("skills/pdf").parent)
    usual = run(home.env, "show", "pdf", "--root", root)
    other = sqlite3.connect(f"{home.env['METIER_HOME']}/usage.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    answer = run(home.env, "show", "pdf", "--root", root)

    other.close()
    assert (0, usual.out) == (answer.code, answer.out)
    assert [True] == [
        line.startswith("warning: uses of skills could not be written down: ")
        for line in answer.err.splitlines()
    ]
