"""`metier tools`: the schemas for a host, as JSON whoever asks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from doors.command import error_of, run
from jsonschema import Draft202012Validator

from metier import tools

if TYPE_CHECKING:
    from conftest import Home


@pytest.mark.parametrize("words", [(), ("--json",)])
def test_the_list_is_json_with_and_without_asking_for_it(
    home: Home, words: tuple[str, ...]
) -> None:
    answer = run(home.env, "tools", *words)

    assert (0, "") == (answer.code, answer.err)
    assert tools.schemas() == answer.json
    for tool in answer.json:
        Draft202012Validator.check_schema(tool["input_schema"])


def test_only_the_tools_that_are_named(home: Home) -> None:
    answer = run(home.env, "tools", "--only", "skill_manage", "--only", "skills_list")

    assert ["skills_list", "skill_manage"] == [tool["name"] for tool in answer.json]


def test_an_unknown_tool_is_a_wrong_call(home: Home) -> None:
    plain, asked = (
        run(home.env, "tools", "--only", "skill_veiw"),
        run(home.env, "tools", "--only", "skill_veiw", "--json"),
    )

    assert (2, 2) == (plain.code, asked.code)
    assert ("there is no tool named 'skill_veiw'", "did you mean skill_view?") == error_of(plain)
    assert "usage" == json.loads(asked.out)["code"]


def test_it_needs_no_home_and_reads_nothing(home: Home) -> None:
    answer = run({"PATH": home.env["PATH"]}, "tools")

    assert 0 == answer.code
    assert [] == list(home.path.iterdir())
