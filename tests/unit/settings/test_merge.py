"""What each table of the configuration means, and what is said about a wrong one."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from metier.errors import ConfigError
from metier.settings.merge import ConfigSource, Settings, merge
from metier.settings.model import FindSettings, ManageSettings, PromptSettings


def source(values: dict[str, Any], layer: Any = "user") -> ConfigSource:
    return ConfigSource(layer, "/home/metier.toml", "", values)


TAKEN: dict[str, tuple[dict[str, Any], Settings]] = {
    "a prompt": (
        {
            "prompt": {
                "budget": 500,
                "window": 8000,
                "format": "markdown",
                "include": False,
                "names_only": ["games"],
            }
        },
        Settings(
            prompt=PromptSettings(500, 8000, "markdown", include=False, names_only=("games",))
        ),
    ),
    "an order": (
        {"prompt": {"order": ["user"]}},
        Settings(
            prompt=PromptSettings(
                order=("user", "project", "system", "admin", "plugin", "external", "package")
            )
        ),
    ),
    "a store": ({"secrets": {"store": "keyring"}}, Settings(secret_store="keyring")),
    "inline shell": ({"inline_shell": True}, Settings(inline_shell=True)),
    "servers": ({"mcp_servers": ["github"]}, Settings(mcp_servers=("github",))),
    "managing": (
        {"manage": {"review": "always", "pinned": ["pdf"]}},
        Settings(manage=ManageSettings("always", ("pdf",))),
    ),
    "no counting": ({"usage": False}, Settings(usage=False)),
    "values for skills": (
        {"skill_values": {"wiki": {"path": "~/wiki", "deep": {"n": 3, "on": True}}, "x": 1.5}},
        Settings(
            skill_values=(
                ("wiki.path", "~/wiki"),
                ("wiki.deep.n", "3"),
                ("wiki.deep.on", "true"),
                ("x", "1.5"),
            )
        ),
    ),
}


@pytest.mark.parametrize("case", TAKEN)
def test_a_table_becomes_a_setting(case: str) -> None:
    values, expected = TAKEN[case]

    assert expected == merge([source(values)])


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "a budget of none": ({"prompt": {"budget": 0}}, "'budget'"),
    "a flag as a budget": ({"prompt": {"budget": True}}, "'budget'"),
    "an unknown format": ({"prompt": {"format": "yaml"}}, "'format'"),
    "a misspelt key": ({"prompt": {"buget": 1}}, "'prompt.buget'"),
    "no table": ({"prompt": 1}, "'prompt'"),
    "an unknown store": ({"secrets": {"store": "cloud"}}, "'store'"),
    "an unknown review": ({"manage": {"review": "sometimes"}}, "'review'"),
    "a list for a skill": ({"skill_values": {"a": [1]}}, "'a'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_wrong_value_is_named(case: str) -> None:
    values, named = REFUSED[case]

    with pytest.raises(ConfigError) as caught:
        merge([source(values)])

    assert named in caught.value.message


def test_a_later_layer_changes_only_what_it_names() -> None:
    organisation = source(
        {"prompt": {"budget": 500}, "skill_values": {"a": "1", "b": "2"}}, "organisation"
    )

    found = merge([organisation, source({"prompt": {"window": 9}, "skill_values": {"b": "3"}})])

    assert (500, 9) == (found.prompt.budget, found.prompt.window)
    assert (("a", "1"), ("b", "3")) == found.skill_values


def test_a_project_may_stop_counting_and_inline_shell_but_start_neither() -> None:  # MT-17
    user = source({"inline_shell": True})

    stopped = merge([user, source({"usage": False, "inline_shell": False}, "project")])
    started = merge(
        [source({"usage": False}), source({"usage": True, "inline_shell": True}, "project")]
    )

    assert (False, False) == (stopped.usage, stopped.inline_shell)
    assert (False, False) == (started.usage, started.inline_shell)
    assert 2 == len(started.problems)


# --- mutes


def routed(text: str) -> FindSettings:
    return merge([ConfigSource("user", "/home/metier.toml", text, tomllib.loads(text))]).route


def test_a_mute_lasts_until_a_time_however_toml_writes_it() -> None:
    text = "[route.muted_until]\na = 2027-01-10T09:00:00Z\nb = 2027-01-10T09:00:00\nc = 2027-01-10\nd = '2027-01-10T09:00:00+02:00'\n"

    until = (
        ("a", "2027-01-10T09:00:00+00:00"),
        ("b", "2027-01-10T09:00:00"),
        ("c", "2027-01-10"),
        ("d", "2027-01-10T09:00:00+02:00"),
    )
    assert until == routed(text).muted_until


NO_TIME = [
    ("07:32:00", "07:32:00"),
    ('"garbage"', "garbage"),
    ('""', ""),
    ("5", "5"),
    ("true", "True"),
    ("[2027-01-10]", "[datetime.date(2027, 1, 10)]"),
    ('"2027-13-01"', "2027-13-01"),
    (
        '"tomorrow, or some other day that nobody can name"',
        "tomorrow, or some other day that nobody ",
    ),
]


@pytest.mark.parametrize(("written", "shown"), NO_TIME)
@pytest.mark.parametrize(
    "layout",
    ["[route]\nmuted_until = {{ standup = {} }}\n", "\n[route.muted_until]\nstandup = {}\n"],
)
def test_a_mute_until_no_time_at_all_is_refused_with_its_line(
    written: str, shown: str, layout: str
) -> None:
    with pytest.raises(ConfigError) as raised:
        routed(layout.format(written))

    assert (
        f"'muted_until' at /home/metier.toml:2: '{shown}' of 'standup' is no time"
        == raised.value.message
    )
    assert "write a date, and a time of day if need be: 2027-01-10T09:00:00Z" == raised.value.hint


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("always", "never", "always"),
        ("caution", "always", "always"),
        ("never", "caution", "caution"),
    ],
)
def test_the_strictest_file_says_what_is_observed(first: str, second: str, expected: str) -> None:
    told = [
        source({"scan": {"observe": first}}, "organisation"),
        source({"scan": {"observe": second}}, "user"),
    ]

    assert expected == merge(told).scan_observe
