"""Triggers of a library: which skills may answer, whose phrases count, what is switched off, and what is remembered."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

import metier
from metier.find import suggest, triggers
from metier.find.observation import Observation, Observed, Switches, TriggerMemory

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Home, Writer

    from metier.library import Library

NOW = datetime(2026, 5, 4, 14, 30, tzinfo=UTC)
TRIGGER = "{'type': 'clipboard_pattern', 'pattern': 'https?://', 'cooldown_seconds': 60, 'require_confirmation': False, 'destructive': False}"
SEEN = Observation(clipboard="https://example.com")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    return folder


def opened(
    home: Home, root: Path, config: str = "[route]\nobserve = true\n", **env: str
) -> Library:
    file = root.parent / "metier.toml"
    file.write_text(config)
    return metier.open(
        roots=[str(root)], cwd=root, env={**home.env, "METIER_CONFIG": str(file), **env}
    )


def code(root: Path, name: str = "fetch", trigger: str = TRIGGER, more: str = "") -> Path:
    file = root / f"{name}.py"
    file.write_text(
        f"SKILL_TRIGGERS = ['{name} it']\nSKILL_OBSERVATION_TRIGGER = {trigger}\n{more}\ndef run(task): ...\n"
    )
    return file


def observe(library: Library, memory: TriggerMemory) -> list[Observed]:
    return suggest.observe(library.context, SEEN, NOW, lambda _one: True, memory)


# --- phrases


def test_the_user_s_phrases_come_from_two_files_and_metier_s_goes_first(
    home: Home, root: Path
) -> None:
    (home.path / ".codec").mkdir()
    (home.path / ".codec/custom_triggers.json").write_text(
        '{"a": {"triggers": ["codec a"]}, "b": {"triggers": ["codec b"]}}'
    )
    library = opened(home, root)
    own = root.parent / "metier-home/triggers.json"
    own.parent.mkdir(exist_ok=True)
    own.write_text('{"b": {"triggers": "our b"}}')

    assert {"a": ("codec a",), "b": ("our b",)} == triggers.custom_phrases(library.context)
    assert [] == library.context.warnings


def test_a_file_of_phrases_that_cannot_be_read_has_none_and_is_worth_one_word(
    home: Home, root: Path
) -> None:
    library = opened(home, root)
    own = root.parent / "metier-home/triggers.json"
    own.parent.mkdir(exist_ok=True)
    own.write_text("{not json")

    assert ({}, {}) == (
        triggers.custom_phrases(library.context),
        triggers.custom_phrases(library.context),
    )
    assert [f"{own} holds no trigger that can be read: it is not JSON"] == library.context.warnings


NOT_READ = [
    ("{not json", "it is not JSON"),
    ("", "it is not JSON"),
    ("[" * 100_000, "it is not JSON"),
    ("[1]", "it is not a JSON object"),
    ('{"a": {"triggers": ["x"]}, "b": "' + "x" * (1 << 20) + '"}', "it is larger than 1 MiB"),
]


@pytest.mark.parametrize(
    ("text", "why"), NOT_READ, ids=["broken", "empty", "deep", "list", "large"]
)
@pytest.mark.parametrize("place", ["home/.codec/custom_triggers.json", "metier-home/triggers.json"])
def test_each_file_of_phrases_that_is_there_and_cannot_be_used_is_told_of(
    home: Home, root: Path, place: str, text: str, why: str
) -> None:
    file = root.parent / place
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    library = opened(home, root)

    found = triggers.custom_phrases(library.context)

    assert ({}, [f"{file} holds no trigger that can be read: {why}"]) == (
        found,
        library.context.warnings,
    )


@pytest.mark.parametrize("text", ["{}", "{ }", '{"a": {"triggers": []}}', '\ufeff{"a": {}}'])
@pytest.mark.parametrize("place", ["home/.codec/custom_triggers.json", "metier-home/triggers.json"])
def test_a_file_without_phrases_is_no_trouble(
    home: Home, root: Path, place: str, text: str
) -> None:
    file = root.parent / place
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    library = opened(home, root)

    assert ({}, []) == (triggers.custom_phrases(library.context), library.context.warnings)


def test_what_is_not_there_is_told_from_what_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "astray").symlink_to(tmp_path / "nowhere")
    (tmp_path / "file").write_text("{}")
    (tmp_path / "link").symlink_to(tmp_path / "file")

    kept = {
        name: triggers.read_user_file(f"{tmp_path}/{name}")
        for name in ("none", "none/none", "file/none", "folder", "astray", "file", "link")
    }

    assert [(None, "")] * 3 == [kept["none"], kept["none/none"], kept["file/none"]]
    assert [(b"{}", "")] * 2 == [kept["file"], kept["link"]]
    assert [(None, "not a regular file"), (None, "No such file or directory")] == [
        kept["folder"],
        kept["astray"],
    ]


def test_without_a_home_and_a_place_for_data_there_are_no_phrases_of_one_s_own(root: Path) -> None:
    library = metier.open(roots=[str(root)], cwd=root, env={"PATH": ""})

    assert {} == triggers.custom_phrases(library.context)


def test_only_what_may_be_suggested_answers_and_each_name_once(
    home: Home, root: Path, skill: Writer
) -> None:
    for path in ("root/a/rain", "root/b/rain", "root/hidden"):
        skill(
            path,
            text=f"---\nname: {path.rpartition('/')[2]}\ndescription: Rain.\ntriggers: [rain today]\n---\n\nLook.\n",
        )
    library = opened(home, root, "[skills]\ndisabled = ['hidden']\n[route]\nvectors = 'off'\n")

    found = library.matches("is there rain today?")

    assert [("rain", str(root / "a/rain"))] == [(one.name, one.path) for one in found]


# --- what is switched on


def test_observation_triggers_are_off_unless_the_user_turns_them_on(home: Home, root: Path) -> None:
    code(root)

    found = observe(opened(home, root, ""), TriggerMemory())

    assert ["killed"] == [one.outcome for one in found]


@pytest.mark.parametrize(
    ("value", "expected"),
    [("false", False), ("0", False), ("OFF", False), ("true", True), ("", True)],
)
def test_the_environment_turns_them_off_whatever_configuration_says(
    home: Home, root: Path, value: str, expected: bool
) -> None:
    assert expected == suggest.switches(opened(home, root, TRIGGERS_ENABLED=value).context).enabled
    assert not suggest.switches(opened(home, root, "", TRIGGERS_ENABLED=value).context).enabled


def test_what_is_muted_comes_from_configuration_and_from_codec_s_file(
    home: Home, root: Path
) -> None:
    (home.path / ".codec").mkdir()
    (home.path / ".codec/triggers.json").write_text(
        json.dumps({"muted_skills": ["a", 1], "muted_until": {"b": "2027-01-01T00:00:00Z"}})
    )
    config = "[route]\nobserve = true\nmuted = ['c']\n[route.muted_until]\nd = 2027-01-01T00:00:00Z\ne = '2027-02-01'\n"

    found = suggest.switches(opened(home, root, config).context)

    until = {"b": "2027-01-01T00:00:00Z", "d": "2027-01-01T00:00:00+00:00", "e": "2027-02-01"}
    assert Switches(enabled=True, muted=frozenset({"a", "1", "c"}), until=until) == found


@pytest.mark.parametrize(
    "text",
    ["{}", '{"muted_skills": null, "muted_until": null}', '{"muted_skills": []}', '{"other": [1]}'],
)
def test_a_file_that_mutes_nobody_is_no_trouble(home: Home, root: Path, text: str) -> None:
    (home.path / ".codec").mkdir()
    (home.path / ".codec/triggers.json").write_text(text)
    library = opened(home, root)

    assert (Switches(enabled=True), []) == (
        suggest.switches(library.context),
        library.context.warnings,
    )


def test_a_text_in_the_place_of_names_is_one_name(home: Home, root: Path) -> None:
    (home.path / ".codec").mkdir()
    (home.path / ".codec/triggers.json").write_text('{"muted_skills": "fetch"}')
    code(root)
    code(root, "other")

    found = observe(opened(home, root), TriggerMemory())

    assert [("fetch", "muted", "muted_skills"), ("other", "fired", "")] == [
        (one.name, one.outcome, one.reason) for one in found
    ]


def test_a_time_in_codec_s_file_that_cannot_be_read_is_never_over(home: Home, root: Path) -> None:
    (home.path / ".codec").mkdir()
    (home.path / ".codec/triggers.json").write_text('{"muted_until": {"fetch": null}}')
    code(root)

    found = observe(opened(home, root), TriggerMemory())

    assert [("muted", "muted_until cannot be read")] == [(one.outcome, one.reason) for one in found]


UNUSABLE = [
    *NOT_READ,
    ('{"muted_skills": {"fetch": true}}', "muted_skills is not a list of names"),
    ('{"muted_skills": [["fetch"]]}', "muted_skills is not a list of names"),
    ('{"muted_skills": 5}', "muted_skills is not a list of names"),
    ('{"muted_until": ["fetch"]}', "muted_until is not an object of names with times"),
]


@pytest.mark.parametrize(
    ("text", "why"),
    UNUSABLE,
    ids=["broken", "empty", "deep", "list", "large", "object", "nested", "number", "times"],
)
def test_a_file_of_mutes_that_cannot_be_used_mutes_everything_and_is_worth_one_word(
    home: Home, root: Path, text: str, why: str
) -> None:
    (home.path / ".codec").mkdir()
    file = home.path / ".codec/triggers.json"
    file.write_text(text)
    code(root)
    code(root, "other")
    library, memory = opened(home, root), TriggerMemory()

    found = [*observe(library, memory), *observe(library, memory)]

    assert [("muted", f"{file} cannot be used: {why}")] * 4 == [
        (one.outcome, one.reason) for one in found
    ]
    assert [
        f"{file} cannot be used: {why}; until it is put right, every observation trigger is muted"
    ] == library.context.warnings


# --- what is observed


def test_a_trigger_fires_once_until_it_has_cooled_down(home: Home, root: Path) -> None:
    code(root)
    library, memory = opened(home, root), TriggerMemory()

    outcomes = [one.outcome for _ in range(2) for one in observe(library, memory)]

    assert ["fired", "cooling"] == outcomes


def test_what_fired_and_what_was_refused_is_noted_down(home: Home, root: Path) -> None:
    code(root)
    code(root, "harm", TRIGGER, "SKILL_DESTRUCTIVE = True")
    library = opened(home, root)

    found = suggest.observe(library.context, SEEN, NOW, lambda _one: False, TriggerMemory())

    assert ["fired", "refused"] == [one.outcome for one in found]
    noted = [(one["event"], one["outcome"], one["name"]) for one in library.audit_tail()]
    assert [("trigger_fired", "fired", "fetch"), ("trigger_blocked", "refused", "harm")] == noted


def test_a_file_that_has_changed_is_read_again(home: Home, root: Path) -> None:
    file = code(root)
    library, memory = opened(home, root), TriggerMemory()
    before = observe(library, memory)

    file.write_text(file.read_text().replace("https?://", "ftp://"))
    after = observe(library, memory)

    assert (["fired"], ["unmatched"]) == (
        [one.outcome for one in before],
        [one.outcome for one in after],
    )


def test_a_trigger_that_cannot_be_read_is_told_of_and_others_still_fire(
    home: Home, root: Path
) -> None:
    code(root)
    code(root, "odd", "{'type': 'time'}")
    (root / "plain.py").write_text("def run(task): ...\n")

    found = observe(opened(home, root), TriggerMemory())

    assert [("fetch", "fired"), ("odd", "unreadable")] == [(one.name, one.outcome) for one in found]


@pytest.mark.parametrize("op", ["['and']", "{'and': 1}", "None", "('and',)"])
def test_no_skill_takes_the_others_down(home: Home, root: Path, op: str) -> None:
    code(root)
    odd = TRIGGER.replace("clipboard_pattern", "compound").replace(
        "'https?://'", f"{{'op': {op}, 'children': [1]}}"
    )
    code(root, "odd", odd)

    found = observe(opened(home, root), TriggerMemory())

    assert [("fetch", "fired"), ("odd", "unreadable")] == [(one.name, one.outcome) for one in found]


def test_a_skill_that_is_hidden_or_blocked_never_fires(home: Home, root: Path) -> None:
    code(root)
    code(root, "hidden")
    library = opened(home, root, "[route]\nobserve = true\n[skills]\ndisabled = ['hidden']\n")
    library.trust("fetch", "block", reason="no")
    library.context.catalogue.forget()

    assert [] == observe(library, TriggerMemory())


def test_a_code_skill_that_went_away_meanwhile_is_no_trouble(home: Home, root: Path) -> None:
    file = code(root)
    library = opened(home, root)
    library.skills()
    file.unlink()

    assert [] == observe(library, TriggerMemory())
