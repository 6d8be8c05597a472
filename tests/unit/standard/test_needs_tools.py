"""The allowed-tools field in every way it is written."""

from __future__ import annotations

import pytest

from metier.standard.needs import split_tools


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("", ()),
        (None, ()),
        ([], ()),
        ("Read", ("Read",)),
        ("Read Write", ("Read", "Write")),  # ZE-16: spaces
        ("Read, Write,Edit", ("Read", "Write", "Edit")),  # MT-19: commas
        (" Read ,, Write\n", ("Read", "Write")),
        ("Bash(git:*)", ("Bash(git:*)",)),  # ZE-16: one token
        (
            "Bash(git:*, npm run x) Read, Write",
            ("Bash(git:*, npm run x)", "Read", "Write"),
        ),  # MT-19
        ("Bash(a (b) c) Read", ("Bash(a (b) c)", "Read")),
        (["Read", "Bash(git add:*)"], ("Read", "Bash(git add:*)")),  # MT-19: a list
        (["  Read ", ""], ("Read",)),
        (("Read", "Write"), ("Read", "Write")),
        ("mcp__server__tool, Read", ("mcp__server__tool", "Read")),
    ],
)
def test_tools_are_read_from_lists_spaces_and_commas(
    value: object, expected: tuple[str, ...]
) -> None:
    tools, problem = split_tools(value)

    assert expected == tools
    assert "" == problem


@pytest.mark.parametrize(
    ("value", "expected", "word"),
    [
        ("Read Bash(git:* Write", ("Read", "Bash(git:* Write"), "never closes"),
        ("Read) Write", ("Read)", "Write"), "never opened"),
        (")(", (")(",), "never opened"),
        (["Bash(git", "Read"], ("Bash(git", "Read"), "never closes"),
        (["Read", {"a": "b"}, "Write"], ("Read", "Write"), "not text"),
        ({"Read": "x"}, (), "must be a list"),
        (7, (), "must be a list"),
        (True, (), "must be a list"),
    ],
)
def test_what_cannot_be_read_is_a_problem_and_the_rest_is_kept(
    value: object, expected: tuple[str, ...], word: str
) -> None:
    tools, problem = split_tools(value)

    assert expected == tools
    assert word in problem


def test_a_long_hostile_value_is_one_pass() -> None:
    tools, problem = split_tools("(" * 200_000)

    assert ("(" * 200_000,) == tools
    assert "never closes" in problem
