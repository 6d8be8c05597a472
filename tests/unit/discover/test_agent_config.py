"""An agent's own configuration, read by the keys of its row."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from metier.discover.agent_config import AgentSettings, read_agent_config
from metier.discover.agents import ConfigFile
from metier.discover.io import disk
from metier.settings.merge import Rule

if TYPE_CHECKING:
    from pathlib import Path


def read(folder: Path, form: str, text: str, *keys: tuple[str, str], **env: str) -> AgentSettings:
    path = folder / "config"
    path.write_text(text)
    return read_agent_config(
        [ConfigFile(str(path), form, keys)], lambda file: [file.path], env, disk
    )


def off(folder: Path, *names: str) -> tuple[Rule, ...]:
    return tuple(Rule(enabled=False, name=name, told_by=str(folder / "config")) for name in names)


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("toml", '[skills]\ndisabled = ["a", "b"]\n'),
        ("json", '{"skills": {"disabled": ["a", "b"]}}'),
        ("json", '\ufeff{\n// why\n"skills": {"disabled": ["a", /* no */ "b",],},\n}'),
        ("yaml", "skills:\n  disabled: [a, b]\n"),
        ("yaml", "skills:\n  disabled:\n    - a\n    - b\n"),
    ],
)
def test_every_form_is_read(tmp_path: Path, form: str, text: str) -> None:
    found = read(tmp_path, form, text, ("disabled", "skills.disabled"))

    assert (off(tmp_path, "a", "b"), ()) == (found.rules, found.problems)


def test_what_looks_like_a_comment_in_a_text_is_none(tmp_path: Path) -> None:
    found = read(
        tmp_path, "json", '{"folders": ["https://a//b", "c,]"]}', ("folders-instead", "folders")
    )

    assert ["https://a//b", "c,]"] == [folder for folder, _path in found.folders]


@pytest.mark.parametrize(
    ("form", "text"),
    [("toml", "a ="), ("json", "{"), ("yaml", "a: ["), ("json", "[]"), ("json", "[" * 100_000)],
)
def test_what_cannot_be_read_is_a_problem_with_its_place(
    tmp_path: Path, form: str, text: str
) -> None:
    found = read(tmp_path, form, text, ("disabled", "skills.disabled"))

    assert ((), [(str(tmp_path / "config"), "WK013")]) == (
        found.rules,
        [(problem.path, problem.code) for problem in found.problems],
    )


def test_a_file_that_is_too_large_is_a_problem(tmp_path: Path) -> None:
    found = read(tmp_path, "json", " " * (1 << 20) + "{}", ("disabled", "x"))

    assert ["WK013"] == [problem.code for problem in found.problems]


def test_texts_that_can_be_no_path_are_passed_over(tmp_path: Path) -> None:
    text = r'{"d": ["a\u0000b", "\ud800", "fine"], "r": [{"path": "a\u0000b"}], "o": {"\u0000": "off"}}'

    found = read(tmp_path, "json", text, ("disabled", "d"), ("rules", "r"), ("overrides", "o"))

    assert off(tmp_path, "fine") == found.rules


def test_too_many_rules_are_cut_and_that_is_said(tmp_path: Path) -> None:
    text = json.dumps({"d": [f"s{number}" for number in range(5_000)]})

    found = read(tmp_path, "json", text, ("disabled", "d"))

    assert (1_000, ["WK013"]) == (len(found.rules), [problem.code for problem in found.problems])


@pytest.mark.parametrize("piece", ["\\\\\n", "/*", '\\\\"', '"', ",", "//", ", ", "[", '{"a":'])
def test_a_strangers_file_is_gone_through_once(tmp_path: Path, piece: str) -> None:
    text = ("[" if piece != '"' else "") + piece * (
        (1 << 20) // len(piece) - 1
    )  # minutes, were it quadratic

    found = read(tmp_path, "json", text, ("disabled", "x"))

    assert ["WK013"] == [problem.code for problem in found.problems]


def test_an_empty_file_says_nothing_and_a_missing_one_neither(tmp_path: Path) -> None:
    file = ConfigFile("/nowhere", "json", (("disabled", "x"), ("plugins", "y")))

    assert AgentSettings() == read(tmp_path, "json", " \n", ("disabled", "x"))
    assert AgentSettings(plugins=()) == read_agent_config([file], lambda one: [one.path], {}, disk)


def test_values_of_the_wrong_kind_say_nothing(tmp_path: Path) -> None:
    keys = [(what, "x") for what in ("disabled", "overrides", "rules", "folders", "refused")]
    for value in ("1", "null", '[1, {"name": 3}]', '{"a": {"b": []}}'):
        found = read(tmp_path, "json", f'{{"x": {value}}}', *keys)

        assert ((), ()) == (found.folders, found.problems)


def test_rules_overrides_and_refusals(tmp_path: Path) -> None:
    text = """
[[skills.config]]
path = "/a/SKILL.md"
enabled = false
[[skills.config]]
name = "b"
[overrides]
c = "off"
d = "name-only"
[permissions]
deny = ["Skill(e)", "Skill(f:*)", "Bash(rm)", "Skill"]
"""
    keys = (("rules", "skills.config"), ("overrides", "overrides"), ("refused", "permissions.deny"))

    found = read(tmp_path, "toml", text, *keys)

    assert [(False, "/a/SKILL.md", ""), (True, "", "b"), (False, "", "c"), (True, "", "d")] == [
        rule[:3] for rule in found.rules
    ]
    assert ["e", "f*"] == [name for name, _path in found.refused]
    assert found.everything_off.endswith("/config")


def test_a_variable_chooses_the_platform(tmp_path: Path) -> None:
    text = "skills:\n  platform_disabled:\n    telegram: [a]\n"
    key = ("disabled", "skills.platform_disabled.$PLATFORM")

    assert off(tmp_path, "a") == read(tmp_path, "yaml", text, key, PLATFORM="telegram").rules
    assert () == read(tmp_path, "yaml", text, key).rules


def test_a_folder_that_is_written_short_lies_beside_the_file(tmp_path: Path) -> None:
    found = read(tmp_path, "json", '{"x": ["near", "~/far", "/abs"]}', ("folders", "x"))

    assert [f"{tmp_path}/near", "~/far", "/abs"] == [folder for folder, _path in found.folders]


def test_plugins_flags_markers_and_all_at_once(tmp_path: Path) -> None:
    text = '{"p": {"a@m": true, "b@m": false, "c@m": {"enabled": true}}, "s": false, "m": [".hg"], "e": false}'
    keys = (("plugins", "p"), ("system", "s"), ("markers", "m"), ("enabled", "e"))

    found = read(tmp_path, "json", text, *keys)

    assert (("a@m", "c@m"), False, (".hg",)) == (found.plugins, found.system, found.markers)
    assert str(tmp_path / "config") == found.everything_off


def test_the_stronger_file_comes_last(tmp_path: Path) -> None:
    for name, text in (
        ("weak", '{"p": {"a@m": true}, "f": ["w"]}'),
        ("strong", '{"p": {"a@m": false}, "f": ["s"]}'),
    ):
        (tmp_path / name).write_text(text)
    keys = (("plugins", "p"), ("folders-instead", "f"))
    files = [ConfigFile(str(tmp_path / name), "json", keys) for name in ("weak", "strong")]

    found = read_agent_config(files, lambda file: [file.path], {}, disk)

    assert ((), ["s"]) == (found.plugins, [folder for folder, _path in found.folders])
