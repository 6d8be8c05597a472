"""Triggers of a library: which skills may answer, whose phrases count, what is switched off, and what is remembered."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

import metier
from metier import phrases, triggering
from metier.route.observed import Memory, Observation, Observed, Switches

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Home, Writer

    from metier.app import Library

NOW = datetime(2026, 5, 4, 14, 30, tzinfo=UTC)
TRIGGER = "{'type': 'clipboard_pattern', 'pattern': 'https?://', 'cooldown_seconds': 60, 'require_confirmation': False, 'destructive': False}"
SEEN = Observation(clipboard="https://example.com")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    return folder


def opened(home: Home, root: Path, config: str = "[route]\nobserve = true\n", **env: str) -> Library:
    file = root.parent / "metier.toml"
    file.write_text(config)
    return metier.open(roots=[str(root)], cwd=root, env={**home.env, "METIER_CONFIG": str(file), **env})


def code(root: Path, name: str = "fetch", trigger: str = TRIGGER, more: str = "") -> Path:
    file = root / f"{name}.py"
    file.write_text(f"SKILL_TRIGGERS = ['{name} it']\nSKILL_OBSERVATION_TRIGGER = {trigger}\n{more}\ndef run(task): ...\n")
    return file


def observe(library: Library, memory: Memory) -> list[Observed]:
    return triggering.observe(library, SEEN, NOW, lambda _one: True, memory)


# --- phrases


def test_the_user_s_phrases_come_from_two_files_and_metier_s_goes_first(home: Home, root: Path) -> None:
    (home.path / ".codec").mkdir()
    (home.path / ".codec/custom_triggers.json").write_text('{"a": {"triggers": ["codec a"]}, "b": {"triggers": ["codec b"]}}')
    library = opened(home, root)
    own = root.parent / "metier-home/triggers.json"
    own.parent.mkdir(exist_ok=True)
    own.write_text('{"b": {"triggers": "our b"}}')

    assert {"a": ("codec a",), "b": ("our b",)} == phrases.custom_phrases(library)
    assert [] == library.warnings


def test_a_file_of_phrases_that_cannot_be_read_has_none_and_is_worth_one_word(home: Home, root: Path) -> None:
    library = opened(home, root)
    own = root.parent / "metier-home/triggers.json"
    own.parent.mkdir(exist_ok=True)
    own.write_text("{not json")

    assert ({}, {}) == (phrases.custom_phrases(library), phrases.custom_phrases(library))
    assert [f"{own} holds no trigger that can be read"] == library.warnings


def test_without_a_home_and_a_place_for_data_there_are_no_phrases_of_one_s_own(root: Path) -> None:
    library = metier.open(roots=[str(root)], cwd=root, env={"PATH": ""})

    assert {} == phrases.custom_phrases(library)


def test_only_what_may_be_suggested_answers_and_each_name_once(home: Home, root: Path, skill: Writer) -> None:
    for path in ("root/a/rain", "root/b/rain", "root/hidden"):
        skill(path)
    library = opened(home, root, "[skills]\ndisabled = ['hidden']\n")
    declared = {card.path: ("rain today",) for card in library.skills(all=True)}

    found = triggering.phrased(library, declared)

    assert [("rain", str(root / "a/rain"))] == [(one.name, one.path) for one in found]


# --- what is switched on


def test_observation_triggers_are_off_unless_the_user_turns_them_on(home: Home, root: Path) -> None:
    code(root)

    found = observe(opened(home, root, ""), Memory())

    assert ["killed"] == [one.outcome for one in found]


@pytest.mark.parametrize(("value", "expected"), [("false", False), ("0", False), ("OFF", False), ("true", True), ("", True)])
def test_the_environment_turns_them_off_whatever_configuration_says(home: Home, root: Path, value: str, expected: bool) -> None:
    assert expected == triggering.switches(opened(home, root, TRIGGERS_ENABLED=value)).enabled
    assert not triggering.switches(opened(home, root, "", TRIGGERS_ENABLED=value)).enabled


def test_what_is_muted_comes_from_configuration_and_from_codec_s_file(home: Home, root: Path) -> None:
    (home.path / ".codec").mkdir()
    (home.path / ".codec/triggers.json").write_text(json.dumps({"muted_skills": ["a", 1], "muted_until": {"b": "2027-01-01T00:00:00Z"}}))
    config = "[route]\nobserve = true\nmuted = ['c']\n[route.muted_until]\nd = 2027-01-01T00:00:00Z\ne = '2027-02-01'\n"

    found = triggering.switches(opened(home, root, config))

    until = {"b": "2027-01-01T00:00:00Z", "d": "2027-01-01T00:00:00+00:00", "e": "2027-02-01"}
    assert Switches(enabled=True, muted=frozenset({"a", "c"}), until=until) == found


@pytest.mark.parametrize("text", ["{not json", "[1]"])
def test_a_broken_file_of_mutes_is_worth_one_word(home: Home, root: Path, text: str) -> None:
    (home.path / ".codec").mkdir()
    (home.path / ".codec/triggers.json").write_text(text)
    library = opened(home, root)

    assert (Switches(enabled=True), Switches(enabled=True)) == (triggering.switches(library), triggering.switches(library))
    assert [f"{home.path}/.codec/triggers.json cannot be read: no skill is muted by it"] == library.warnings


# --- what is observed


def test_a_trigger_fires_once_until_it_has_cooled_down(home: Home, root: Path) -> None:
    code(root)
    library, memory = opened(home, root), Memory()

    outcomes = [one.outcome for _ in range(2) for one in observe(library, memory)]

    assert ["fired", "cooling"] == outcomes


def test_what_fired_and_what_was_refused_is_noted_down(home: Home, root: Path) -> None:
    code(root)
    code(root, "harm", TRIGGER, "SKILL_DESTRUCTIVE = True")
    library = opened(home, root)

    found = triggering.observe(library, SEEN, NOW, lambda _one: False, Memory())

    assert ["fired", "refused"] == [one.outcome for one in found]
    noted = [(one["event"], one["outcome"], one["name"]) for one in library.audit_tail()]
    assert [("trigger_fired", "fired", "fetch"), ("trigger_blocked", "refused", "harm")] == noted


def test_a_file_that_has_changed_is_read_again(home: Home, root: Path) -> None:
    file = code(root)
    library, memory = opened(home, root), Memory()
    before = observe(library, memory)

    file.write_text(file.read_text().replace("https?://", "ftp://"))
    after = observe(library, memory)

    assert (["fired"], ["unmatched"]) == ([one.outcome for one in before], [one.outcome for one in after])


def test_a_trigger_that_cannot_be_read_is_told_of_and_others_still_fire(home: Home, root: Path) -> None:
    code(root)
    code(root, "odd", "{'type': 'time'}")
    (root / "plain.py").write_text("def run(task): ...\n")

    found = observe(opened(home, root), Memory())

    assert [("fetch", "fired"), ("odd", "unreadable")] == [(one.name, one.outcome) for one in found]


def test_a_skill_that_is_hidden_or_blocked_never_fires(home: Home, root: Path) -> None:
    code(root)
    code(root, "hidden")
    library = opened(home, root, "[route]\nobserve = true\n[skills]\ndisabled = ['hidden']\n")
    library.trust("fetch", "block", reason="no")
    library.forget()

    assert [] == observe(library, Memory())


def test_a_code_skill_that_went_away_meanwhile_is_no_trouble(home: Home, root: Path) -> None:
    file = code(root)
    library = opened(home, root)
    library.skills()
    file.unlink()

    assert [] == observe(library, Memory())
