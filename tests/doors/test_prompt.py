"""`metier prompt` as a host's script meets it: the text on standard output, the report beside it, the JSON of the contract."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest
from doors.command import error_of, run

from metier.standard.plain_text import estimate

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Home, Writer
    from doors.command import Answer


@pytest.fixture
def root(home: Home, skill: Writer) -> str:
    for name in ("alpha", "beta", "gamma"):
        skill(f"home/skills/{name}")
    return str(home.path / "skills")


def test_the_text_comes_first_then_how_to_use_it(home: Home, root: str) -> None:
    answer = run(home.env, "prompt", "--root", root)

    block, _gap, instructions = answer.out.partition("\n\n")
    assert 0 == answer.code
    assert block.startswith("<available_skills>\n<skill><name>alpha</name>")
    assert block.endswith("</available_skills>")
    assert instructions.startswith("How to use skills:")
    assert "3 of 3 skills" in answer.err
    assert f"3 of 3 skills, {estimate(answer.out)} of 2,000 tokens\n" == answer.err


def test_the_document_has_the_contracts_fields(home: Home, root: str) -> None:
    found = run(home.env, "prompt", "--root", root, "--json").json

    assert ["text", "tokens", "included", "shortened", "omitted", "instructions"] == list(found)[:6]
    assert (3, 0, []) == (found["included"], found["shortened"], found["omitted"])


def test_what_is_left_out_is_said_on_standard_error_alone(
    home: Home, root: str, skill: Writer
) -> None:
    for number in range(60):
        skill(f"home/skills/more-{number:02}")

    answer = run(home.env, "prompt", "--root", root, "--budget", "200", "--format", "markdown")

    assert 1 == answer.err.count("left out")
    assert "left out, for lack of room: " in answer.err
    assert "warning:" not in answer.err
    assert "left out" not in answer.out


def test_a_task_is_advised_only_where_none_was_given(home: Home, root: str, skill: Writer) -> None:
    for number in range(60):
        skill(f"home/skills/more-{number:02}")

    plain = run(home.env, "prompt", "--root", root, "--budget", "200")
    about = run(home.env, "prompt", "--root", root, "--budget", "200", "--task", "draw a chart")

    assert "most don't fit: give a larger --budget, or say with --task" in plain.err
    assert "most don't fit: give a larger --budget\n" in about.err


def test_help_says_what_the_budget_covers(home: Home) -> None:
    assert "tokens for all that is printed" in run(home.env, "prompt", "--help").out


@pytest.mark.parametrize("form", ["xml", "markdown", "json"])
def test_the_budget_is_for_all_that_is_printed(
    form: str,
    home: Home,
    root: str,
    skill: Writer,
    here: Callable[..., Answer],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    skill("home/skills/表格整理", name="表格整理", description="整理电子表格并检查每一列。" * 9)
    for name, value in home.env.items():
        monkeypatch.setenv(name, value)
    words = ("prompt", "--root", root, "--format", form, "--budget")

    answers = {budget: here(*words, str(budget)) for budget in (*range(1, 160, 9), 250, 400, 900)}

    assert {} == {
        budget: answer.out
        for budget, answer in answers.items()
        if estimate(answer.out) > budget or answer.code
    }
    assert "How to use skills:" in answers[900].out
    assert all(
        f", {estimate(answer.out)} of {budget} tokens" in answer.err
        for budget, answer in answers.items()
    )


def test_changes_that_take_more_than_the_budget_are_told_by_the_whole_list(
    home: Home, root: str, skill: Writer
) -> None:
    for number in range(30):
        skill(f"home/skills/old-{number:02}")
    before = home.path / "before.json"
    before.write_text(run(home.env, "prompt", "--root", root, "--json").out)
    for number in range(30):
        shutil.rmtree(home.path / f"skills/old-{number:02}")

    words = ("prompt", "--root", root, "--previous", str(before), "--delta", "--budget", "150")
    answer = run(home.env, *words)

    assert answer.out.startswith("<available_skills>")
    assert estimate(answer.out) <= 150
    assert "all of the catalogue is told again" in answer.err


def test_what_is_not_ready_is_said_before_it_is_tried(home: Home, root: str, skill: Writer) -> None:
    needs = "required_environment_variables: [NO_SUCH_VARIABLE_IS_SET]"
    skill(
        "home/skills/needy",
        text=f"---\nname: needy\ndescription: Needs something.\n{needs}\n---\n\nDo it.\n",
    )

    answer = run(home.env, "prompt", "--root", root)

    assert '<skill readiness="setup_needed"><name>needy</name>' in answer.out
    assert "1 not ready: needy" in answer.err


def test_no_skills_no_text(home: Home, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()

    answer = run(home.env, "prompt", "--root", str(tmp_path / "empty"))

    assert (0, "") == (answer.code, answer.out)


@pytest.mark.parametrize(
    "words",
    [
        ("--budget", "lots"),
        ("--budget", "1_000"),
        ("--budget", "\u0661\u0662"),
        ("--budget", "0"),
        ("--budget", "2%"),
        ("--window", "wide"),
        ("--window", "-3"),
        ("--window", "0"),
        ("--format", "yaml"),
        ("--mode", "x"),
        ("--delta",),
        ("--previous", "no-such-file"),
    ],
)
def test_a_bad_wish_is_a_usage_error(home: Home, root: str, words: tuple[str, ...]) -> None:
    answer = run(home.env, "prompt", "--root", root, *words)

    assert 2 == answer.code
    assert all(error_of(answer))


@pytest.mark.parametrize("content", ["", "not json", "[]", '{"text": 1}', "[" * 100_000])
def test_a_previous_that_is_none_is_named(home: Home, root: str, content: str) -> None:
    (home.path / "before.json").write_text(content)

    answer = run(home.env, "prompt", "--root", root, "--previous", "before.json", cwd=home.path)

    assert 2 == answer.code
    assert "before.json" in error_of(answer)[0]


def test_a_previous_that_is_not_text_is_named(home: Home, root: str) -> None:
    (home.path / "before.json").write_bytes(b"\xff\xfe\x00")

    answer = run(home.env, "prompt", "--root", root, "--previous", "before.json", cwd=home.path)

    assert "before.json" in error_of(answer)[0]


def test_the_delta_tells_only_what_changed(home: Home, root: str, skill: Writer) -> None:
    (home.path / "before.json").write_text(run(home.env, "prompt", "--root", root, "--json").out)
    unchanged = run(
        home.env, "prompt", "--root", root, "--previous", "before.json", "--delta", cwd=home.path
    )
    skill("home/skills/aaa")

    changed = run(
        home.env, "prompt", "--root", root, "--previous", "before.json", "--delta", cwd=home.path
    )

    assert (0, "") == (unchanged.code, unchanged.out)
    assert "3 of 3 skills" in unchanged.err
    assert "4 of 4 skills" in changed.err
    assert "aaa" in changed.out
    assert "beta" not in changed.out


def test_a_new_skill_leaves_the_beginning_as_it_was(home: Home, root: str, skill: Writer) -> None:
    before = run(home.env, "prompt", "--root", root, "--json")
    (home.path / "before.json").write_text(before.out)
    skill("home/skills/aaa")

    after = run(
        home.env, "prompt", "--root", root, "--previous", "before.json", "--json", cwd=home.path
    ).json

    assert after["text"].startswith(before.json["text"].removesuffix("\n</available_skills>"))


def test_the_same_library_gives_the_same_bytes(home: Home, root: str) -> None:
    assert (
        run(home.env, "prompt", "--root", root).out == run(home.env, "prompt", "--root", root).out
    )


def test_a_share_of_the_window_is_a_budget(home: Home, root: str) -> None:
    assert (
        4_000
        == run(
            home.env, "prompt", "--root", root, "--window", "200000", "--budget", "2%", "--json"
        ).json["budget"]
    )


def test_an_earlier_output_is_looked_for_where_the_command_works_and_a_pipe_is_refused(
    home: Home, root: str, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "before.json").write_text(run(home.env, "prompt", "--root", root, "--json").out)
    os.mkfifo(elsewhere / "pipe")

    same = run(
        home.env,
        "-C",
        str(elsewhere),
        "prompt",
        "--root",
        root,
        "--previous",
        "before.json",
        "--delta",
        cwd=tmp_path,
    )
    piped = run(
        home.env, "-C", str(elsewhere), "prompt", "--root", root, "--previous", "pipe", cwd=tmp_path
    )

    assert (0, "") == (same.code, same.out)
    assert (2, True) == (piped.code, "cannot read pipe" in piped.err)
