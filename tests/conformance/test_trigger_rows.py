"""Trigger phrases, dispatch and observation triggers, row by row."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from conformance.folders import Place, body, skill, write

from metier.find import observation
from metier.find.observation import Observation, Watched

if TYPE_CHECKING:
    from metier.find.triggers import Match
    from metier.library import Library

NOW = datetime(2026, 5, 4, 14, 30, tzinfo=UTC)  # a Monday


def code(place: Place, name: str, *phrases: str, declared: str = "", more: str = "") -> None:
    write(
        place.root / f"{name}.py",
        f"SKILL_TRIGGERS = {declared or list(phrases)}\n{more}\ndef run(task): ...\n",
    )


def names(library: Library, task: str) -> list[str]:
    return [match.name for match in library.matches(task)]


# --- CO-8: the user's own phrases


@pytest.mark.rows("CO-8")
def test_custom_triggers_replace_the_declared_ones(place: Place) -> None:
    code(place, "weather", "rain")
    code(place, "empty", "snow")
    write(
        place.home / ".codec/custom_triggers.json",
        json.dumps({"weather": {"triggers": ["storm", 5]}, "empty": {"triggers": []}}),
    )

    library = place.open()

    assert ([], ["weather"], ["weather"], ["empty"]) == tuple(
        names(library, task) for task in ("rain", "a storm", "5 times", "snow")
    )


@pytest.mark.rows("CO-8")
def test_a_malformed_file_leaves_the_declared_ones(place: Place) -> None:
    code(place, "weather", "rain")
    write(place.home / ".codec/custom_triggers.json", "{not json")

    assert ["weather"] == names(place.open(), "rain")


@pytest.mark.rows("CO-8")
def test_metier_s_own_file_goes_before_codec_s_and_serves_every_kind_of_skill(
    place: Place,
) -> None:
    skill(place.root / "sea", fields="triggers: [waves]\n")
    write(place.home / ".codec/custom_triggers.json", '{"sea": {"triggers": ["tide"]}}')
    write(place.base / "state/triggers.json", '{"sea": {"triggers": "high tide"}}')

    assert ([], [], ["sea"]) == tuple(
        names(place.open(), task) for task in ("waves", "the tide", "the high tide")
    )


# --- CO-12: matching, with what was wrong put right


@pytest.mark.rows("CO-12", "MT-23")
def test_the_longest_phrase_goes_first_and_ties_go_by_name_and_path(
    place: Place,
) -> None:
    code(place, "b", "rain")
    code(place, "a", "rain")
    code(place, "z", "rain today", "rain")

    assert ["z", "a", "b"] == names(place.open(), "will it rain today?")


@pytest.mark.rows("CO-12", "easily missed 8")
@pytest.mark.parametrize(
    ("phrase", "task"),
    [
        ("Weather", "the weather"),
        ("weather", "WEATHER!"),
        ("c++", "learn c++"),
        ("c++", "C++: why"),
        ("c#", "c# or f#"),
        (".net", "use .NET"),
        ("天气", "今天天气好"),
        ("погода", "Погода?"),
    ],
)
def test_case_signs_and_scripts_do_not_keep_a_phrase_from_matching(
    place: Place, phrase: str, task: str
) -> None:
    code(place, "one", phrase)

    assert ["one"] == names(place.open(), task)


@pytest.mark.rows("CO-12")
def test_a_phrase_matches_whole_words_only(place: Place) -> None:
    code(place, "one", "rain", "c")

    assert ([], []) == (
        names(place.open(), "brainstorm about trains"),
        names(place.open(), "learn c++"),
    )


@pytest.mark.rows("CO-12")
def test_a_text_in_place_of_a_list_is_one_phrase(place: Place) -> None:
    code(place, "one", declared="'rain today'")
    skill(place.root / "two", fields="triggers: rain today\n")

    assert ([], ["one", "two"]) == (
        names(place.open(), "a i n t"),
        names(place.open(), "rain today"),
    )


@pytest.mark.rows("CO-12")
def test_what_may_not_be_suggested_does_not_match(place: Place) -> None:
    for name in ("hidden", "blocked", "fine"):
        code(place, name, "rain")
    place.configure("[skills]\ndisabled = ['hidden']\n")
    library = place.open()
    library.trust("blocked", "block", reason="no")
    library.context.catalogue.forget()

    assert ["fine"] == names(library, "rain")


# --- CO-19: dispatch


@pytest.mark.rows("CO-19")
def test_a_skill_that_declines_or_fails_lets_the_next_one_try(place: Place) -> None:
    for name in ("a", "b", "c", "d"):
        code(place, name, "rain")
    tried: list[Match] = []

    def attempt(match: Match) -> str | None:
        tried.append(match)
        if match.name == "a":
            raise OSError("no network")
        return None if match.name == "b" else f"{match.name} did it"

    done = place.open().dispatch("rain", attempt)

    assert ["a", "b", "c"] == [match.name for match in tried]
    assert ("c did it", [("a", "OSError", "no network"), ("b", "", "it gave no answer")]) == (
        done.answer,
        [(one.match.name, one.kind, one.message) for one in done.declined],
    )


@pytest.mark.rows("CO-19")
def test_each_dispatch_has_one_correlation_id_of_its_own(place: Place) -> None:
    code(place, "a", "rain")
    code(place, "b", "rain")
    library, seen = place.open(), list[str]()

    def attempt(match: Match) -> None:
        seen.append(match.correlation)

    first, second = library.dispatch("rain", attempt), library.dispatch("rain", attempt)

    assert [first.correlation] * 2 + [second.correlation] * 2 == seen
    assert first.correlation != second.correlation


# --- CO-22: observation triggers


def trigger(
    type_: str = "window_title_match",
    pattern: Any = "Stripe",
    *,
    cooldown: int = 60,
    confirm: bool = False,
    destructive: bool = False,
) -> dict[str, Any]:
    return {
        "type": type_,
        "pattern": pattern,
        "cooldown_seconds": cooldown,
        "require_confirmation": confirm,
        "destructive": destructive,
    }


def watching(place: Place, config: str = "observe = true\n", **triggers: dict[str, Any]) -> Library:
    for name, one in triggers.items():
        code(place, name, "x", more=f"SKILL_OBSERVATION_TRIGGER = {one!r}")
    place.configure(f"[route]\n{config}")
    return place.open()


def outcomes(
    library: Library, seen: Observation, now: datetime = NOW, *, consent: bool = True
) -> dict[str, str]:
    return {one.name: one.outcome for one in library.observe(seen, now, lambda _one: consent)}


@pytest.mark.rows("CO-22")
def test_every_type_of_trigger_fires_on_what_it_asks_for(place: Place) -> None:
    children = [
        {"type": "clipboard_pattern", "pattern": "http"},
        {"type": "window_title_match", "pattern": "GitHub"},
    ]
    library = watching(
        place,
        window=trigger(),
        clipboard=trigger("clipboard_pattern", r"https?://\w+"),
        file=trigger("file_change", "~/Downloads/*.csv"),
        clock=trigger("time", "30 14 * * 0"),
        both=trigger("compound", {"op": "and", "children": children}),
        either=trigger("compound", {"op": "or", "children": children}),
    )

    found = outcomes(
        library,
        Observation(
            "Stripe — Dashboard", "see https://example.com", (f"{place.home}/Downloads/a.csv",)
        ),
    )

    assert {
        "window": "fired",
        "clipboard": "fired",
        "file": "fired",
        "clock": "fired",
        "both": "unmatched",
        "either": "fired",
    } == found
    assert {"unmatched"} == set(
        outcomes(library, Observation(), NOW + timedelta(minutes=1)).values()
    )


@pytest.mark.rows("CO-22")
@pytest.mark.parametrize("key", observation.TRIGGER_KEYS)
def test_a_trigger_has_exactly_the_required_keys(place: Place, key: str) -> None:
    less = {name: value for name, value in trigger().items() if name != key}

    found = outcomes(
        watching(place, less=less, more={**trigger(), "priority": 1}, fine=trigger()),
        Observation("Stripe"),
    )

    assert {"less": "unreadable", "more": "unreadable", "fine": "fired"} == found


@pytest.mark.rows("CO-22")
def test_the_key_is_the_name_and_eight_digits_of_a_hash(place: Place) -> None:
    (found,) = watching(place, pay=trigger()).observe(Observation("Stripe"), NOW, lambda _one: True)

    name, _, digits = found.key.partition(":")
    assert ("pay", 8, True) == (name, len(digits), set(digits) <= set("0123456789abcdef"))
    assert (
        observation.key_of("pay", trigger())
        == found.key
        != observation.key_of("pay", trigger(pattern="Stripes"))
    )


@pytest.mark.rows("CO-22")
def test_killed_goes_before_matching_and_matching_before_muted_and_cooldown(
    place: Place,
) -> None:
    library = watching(
        place, "observe = true\nmuted = ['quiet']\n", quiet=trigger(), busy=trigger()
    )

    first, second, third = (
        outcomes(library, Observation(title)) for title in ("Stripe", "Stripe", "other")
    )

    assert {"quiet": "muted", "busy": "fired"} == first
    assert {"quiet": "muted", "busy": "cooling"} == second
    assert {"quiet": "unmatched", "busy": "unmatched"} == third
    assert {"quiet": "killed", "busy": "killed"} == outcomes(
        watching(place, "observe = false\n"), Observation("Stripe")
    )


@pytest.mark.rows("CO-22")
def test_a_skill_is_muted_until_a_time(place: Place) -> None:
    write(place.home / ".codec/triggers.json", '{"muted_until": {"pay": "2026-05-04T15:00:00Z"}}')
    library = watching(place, pay=trigger())

    seen = [
        outcomes(library, Observation("Stripe"), NOW + timedelta(minutes=minutes))["pay"]
        for minutes in (0, 29, 30)
    ]

    assert ["muted", "muted", "fired"] == seen


@pytest.mark.rows("CO-22")
def test_the_cooldown_comes_before_consent_and_is_kept_in_memory_alone(
    place: Place,
) -> None:
    library, asked = watching(place, pay=trigger(confirm=True)), list[bool]()

    def consent(one: Watched) -> bool:
        asked.append(one.destructive)
        return True

    first, second = (
        [one.outcome for one in library.observe(Observation("Stripe"), NOW, consent)]
        for _ in range(2)
    )

    assert (["fired"], ["cooling"], [False]) == (first, second, asked)
    assert {"pay": "fired"} == outcomes(place.open(), Observation("Stripe"))


@pytest.mark.rows("CO-22")
@pytest.mark.parametrize(
    ("confirm", "destructive", "expected"),
    [(False, False, "fired"), (True, False, "refused"), (False, True, "refused")],
)
def test_without_a_yes_nothing_fires_that_needs_one(
    place: Place, confirm: bool, destructive: bool, expected: str
) -> None:
    library = watching(place, pay=trigger(confirm=confirm, destructive=destructive))

    assert {"pay": expected} == outcomes(library, Observation("Stripe"), consent=False)


@pytest.mark.rows("CO-22")
def test_each_step_has_its_events(place: Place) -> None:
    library = watching(
        place,
        "observe = true\nmuted = ['quiet']\n",
        quiet=trigger(),
        busy=trigger(),
        other=trigger(pattern="x"),
    )

    first, second = (
        {
            one.name: one.events[1:]
            for one in library.observe(Observation("Stripe"), NOW, lambda _one: True)
        }
        for _ in range(2)
    )

    assert {"quiet": ("trigger_muted",), "busy": ("trigger_fired",), "other": ()} == first
    assert {"quiet": ("trigger_muted",), "busy": ("trigger_blocked",), "other": ()} == second


@pytest.mark.rows("CO-22")
def test_the_switch_of_the_environment_kills_them_all(place: Place) -> None:
    place.env["TRIGGERS_ENABLED"] = "false"

    assert {"pay": "killed"} == outcomes(watching(place, pay=trigger()), Observation("Stripe"))


# --- what a host is told of all of it


def test_a_host_is_given_phrases_observation_triggers_and_who_needs_what_was_seen(
    place: Place,
) -> None:
    """CO-2, CO-8, CO-22: what a code skill declares, and what of it counts."""
    trigger = {
        "type": "time",
        "pattern": "0 9 * * *",
        "cooldown_seconds": 60,
        "require_confirmation": True,
        "destructive": False,
    }
    code(place, "broken", more="SKILL_OBSERVATION_TRIGGER = {'type': 'time'}\n")
    code(place, "looker", more="SKILL_NEEDS_OBSERVATION = True\nSKILL_DESTRUCTIVE = True\n")
    code(place, "weather", "rain", more=f"SKILL_OBSERVATION_TRIGGER = {trigger}\n")
    skill(place.root / "pdf", fields="triggers: [fill a form]\n")
    skill(place.root / "quiet")
    write(place.home / ".codec/custom_triggers.json", '{"weather": {"triggers": ["storm"]}}')

    found = {one.name: one for one in place.open().triggers()}

    assert {"broken", "looker", "weather", "pdf"} == set(found)
    weather, looker, broken, pdf = (found[n] for n in ("weather", "looker", "broken", "pdf"))
    assert (("storm",), ("rain",), True) == (weather.phrases, weather.declared, weather.custom)
    assert (trigger, True, "", False) == (
        weather.observation,
        weather.key.startswith("weather:"),
        weather.fault,
        weather.needs_observation,
    )
    assert (True, True, None) == (looker.needs_observation, looker.destructive, looker.observation)
    assert ({"type": "time"}, True) == (broken.observation, bool(broken.fault))
    assert (("fill a form",), False, None) == (pdf.phrases, pdf.custom, pdf.observation)


def test_the_key_a_host_is_given_is_that_of_what_fires(place: Place) -> None:
    """CO-22: one trigger has one name everywhere."""
    place.configure("route.observe = true\n")
    trigger = {
        "type": "time",
        "pattern": "30 14 * * 0",
        "cooldown_seconds": 0,
        "require_confirmation": False,
        "destructive": False,
    }
    code(place, "weather", more=f"SKILL_OBSERVATION_TRIGGER = {trigger}\n")
    library = place.open()

    (fired,) = library.observe(Observation(), NOW, lambda _one: True)

    assert [(one.key, one.name) for one in library.triggers()] == [(fired.key, fired.name)]


def test_a_view_of_a_code_skill_says_what_it_asks_to_see(place: Place) -> None:
    """CO-2: `SKILL_NEEDS_OBSERVATION` and `SKILL_OBSERVATION_TRIGGER` are not dropped."""
    code(place, "looker", more="SKILL_NEEDS_OBSERVATION = True\n")

    fields = body(place.open(), "looker").fields

    assert (True, None) == (fields["needs_observation"], fields["observation_trigger"])


def test_what_may_not_be_suggested_has_no_triggers_for_a_host(place: Place) -> None:
    """CO-12: hidden skills are called for by nothing."""
    skill(place.root / "pdf", fields="triggers: [fill a form]\nplatforms: [beos]\n")

    assert [] == place.open().triggers()
