"""The tools' definitions: valid JSON Schema, closed, and held against arguments as a validator would."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st
from jsonschema import Draft202012Validator

from metier.author.limits import ACTION_PARTS
from metier.disclose.schemas import (
    ACTIONS,
    BY_NAME,
    NEEDED_ARGUMENTS,
    TOOLS,
    checked_handle,
    fault_in,
    fault_in_action,
    schemas,
)
from metier.errors import UsageError

NAMES = [
    "skills_categories",
    "skills_list",
    "skill_view",
    "skill_manage",
    "search_skills",
    "load_skill",
    "read_skill_file",
    "run_skill_script",
]


def test_there_are_eight_tools() -> None:  # HE-6
    assert NAMES == [tool["name"] for tool in schemas()]


@pytest.mark.parametrize("tool", TOOLS, ids=NAMES)
def test_a_definition_is_a_closed_and_valid_schema_with_few_words(tool: dict[str, Any]) -> None:
    schema = tool["input_schema"]

    Draft202012Validator.check_schema(schema)

    assert {"name", "description", "input_schema"} == set(tool)
    assert "object" == schema["type"]
    assert schema["additionalProperties"] is False
    assert set(schema.get("required", ())) <= set(schema["properties"])
    assert 20 < len(tool["description"]) < 250
    assert all(one["description"] for one in schema["properties"].values())


def test_only_those_named_are_given_in_their_own_order() -> None:
    assert ["skill_view", "load_skill"] == [
        tool["name"] for tool in schemas(["load_skill", "skill_view"])
    ]


def test_an_unknown_tool_is_named_with_the_one_that_was_meant() -> None:
    with pytest.raises(UsageError, match="no tool named 'skil_view'") as caught:
        schemas(["skil_view"])

    assert "skill_view" in caught.value.hint


def test_whoever_changes_a_definition_changes_only_a_copy() -> None:
    schemas()[0]["input_schema"]["properties"].clear()

    assert schemas()[0]["input_schema"]["properties"]


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("skill_view", {}, "'name' is missing"),
        ("skill_view", {"name": 3}, "'name' must be a text"),
        ("skill_view", {"name": ""}, "'name' may not be empty"),
        ("skill_view", {"name": "x" * 3000}, "'name' has 3,000 characters; the limit is 2,048"),
        ("skill_view", {"name": "x", "file": "y"}, "there is no argument 'file'"),
        ("skill_view", {"name": "x", 7: "y"}, "there is no argument '7'"),
        ("skill_manage", {"action": "burn", "name": "x"}, "'action' must be one of: create, edit"),
        (
            "skill_manage",
            {"action": "patch", "name": "x", "replace_all": 1},
            "'replace_all' must be true or false",
        ),
        ("search_skills", {"query": "x", "limit": True}, "'limit' must be a whole number"),
        ("search_skills", {"query": "x", "limit": 51}, "'limit' must be from 1 to 50"),
        ("run_skill_script", {"name": "x", "script": "y", "args": "z"}, "'args' must be a list"),
        (
            "run_skill_script",
            {"name": "x", "script": "y", "args": [1]},
            "'args' holds an item that must be a text",
        ),
        (
            "run_skill_script",
            {"name": "x", "script": "y", "args": ["a"] * 300},
            "'args' has 300 items",
        ),
    ],
)
def test_wrong_arguments_are_said_in_words(name: str, arguments: dict[Any, Any], said: str) -> None:
    assert fault_in(name, arguments).startswith(said)


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 60),
    st.text(max_size=5),
    st.sampled_from(["create", "patch"]),
    st.lists(st.one_of(st.text(max_size=3), st.integers(0, 3)), max_size=3),
    st.dictionaries(st.text(max_size=2), st.none(), max_size=1),
)


@given(st.sampled_from(NAMES), st.data())
def test_the_check_by_hand_agrees_with_a_validator(name: str, data: st.DataObject) -> None:
    schema = BY_NAME[name]["input_schema"]
    keys = st.one_of(st.sampled_from([*schema["properties"]]), st.text(max_size=3))
    arguments = data.draw(st.dictionaries(keys, VALUES, max_size=4))

    assert Draft202012Validator(schema).is_valid(arguments) == (fault_in(name, arguments) == "")


@pytest.mark.parametrize(
    ("action", "arguments", "said"),
    [
        ("patch", {"new_string"}, "'patch' needs 'old_string'"),
        ("patch", {"old_string"}, "'patch' needs 'new_string'"),
        ("write_file", {"file_path"}, "'write_file' needs 'file_content'"),
        ("create", (), "'create' needs 'content'"),
        ("write_file", ("content", "file_content", "file_path"), "'write_file' takes no 'content'"),
        ("remove_file", ("file_path", "file_content"), "'remove_file' takes no 'file_content'"),
        ("delete", {"content"}, "'delete' takes no 'content'"),
        ("delete", (), ""),
        ("patch", ("old_string", "new_string"), ""),
    ],
)
def test_each_action_takes_its_own_arguments_by_their_own_names(
    action: str, arguments: Any, said: str
) -> None:
    assert said == fault_in_action(action, arguments)


def test_every_argument_of_an_action_is_one_of_the_library_s() -> None:
    assert {action: set(parts) for action, parts in ACTION_PARTS.items()} == {
        action: set(taken.values()) for action, taken in ACTIONS.items()
    }
    for action, parts in ACTION_PARTS.items():
        needed = {ACTIONS[action][key] for key in NEEDED_ARGUMENTS.get(action, ())}
        assert {key for key, (_kind, default) in parts.items() if default is None} == needed


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "x" * 3000, "\ud800"])
def test_no_handle_is_too_long_or_odd(name: str) -> None:
    with pytest.raises(UsageError):
        checked_handle(name)
