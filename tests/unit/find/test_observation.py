"""Observation triggers: how they are read, when they are met, and each step on the way to firing."""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from metier.find import observation
from metier.find.observation import (
    MAX_TEXT_CHARS,
    Observation,
    Observed,
    Switches,
    UnreadableTrigger,
    Watched,
)

NOW = datetime(2026, 5, 4, 14, 30, tzinfo=UTC)  # a Monday
SEEN = Observation(
    window="Stripe — Dashboard",
    clipboard="https://example.com",
    files=("/home/me/Downloads/data.csv",),
)
ON = Switches(enabled=True)


def raw(type_: Any = "window_title_match", pattern: Any = "Stripe", **more: Any) -> dict[str, Any]:
    return {
        "type": type_,
        "pattern": pattern,
        "cooldown_seconds": 60,
        "require_confirmation": False,
        "destructive": False,
        **more,
    }


def watched(*given: Any, name: str = "pay", **more: Any) -> Watched:
    found = observation.read_trigger(name, f"/{name}.py", raw(*given, **more), home="/home/me")
    assert isinstance(found, Watched)
    return found


def yes(_watched: Watched) -> bool:
    return True


def outcome(
    one: Watched,
    switches: Switches = ON,
    fired: dict[str, float] | None = None,
    now: datetime = NOW,
) -> Observed:
    (found,), _ = observation.observe([one], SEEN, now, switches, yes, fired or {})
    return found


def both(*children: tuple[str, Any], op: str = "and") -> dict[str, Any]:
    return {
        "op": op,
        "children": [{"type": type_, "pattern": pattern} for type_, pattern in children],
    }


# --- reading


def test_a_trigger_is_read_as_it_is_declared() -> None:
    one = watched(cooldown_seconds=600, require_confirmation=True)

    assert ("pay", "/pay.py", 600, True, False) == (
        one.name,
        one.path,
        one.cooldown,
        one.confirm,
        one.destructive,
    )


def test_a_skill_that_calls_itself_destructive_has_a_destructive_trigger() -> None:
    found = observation.read_trigger("pay", "/pay.py", raw(), destructive=True)

    assert isinstance(found, Watched)
    assert found.destructive


def nested(depth: int) -> Any:
    found: Any = {"type": "time", "pattern": "* * * * *"}
    for _ in range(depth):
        found = {"type": "compound", "pattern": {"op": "or", "children": [found]}}
    return found["pattern"]


UNREAD = [
    ("time", "it must be a dict"),
    ({}, "it lacks type, pattern, cooldown_seconds, require_confirmation, destructive"),
    (
        {"type": "time", "pattern": "* * * * *"},
        "it lacks cooldown_seconds, require_confirmation, destructive",
    ),
    (raw(extra=1), "it has unknown keys: extra"),
    (raw("bad"), f"type is unknown: bad; it must be one of {', '.join(observation.TRIGGER_TYPES)}"),
    (
        raw(["time"]),
        f"type is unknown: list; it must be one of {', '.join(observation.TRIGGER_TYPES)}",
    ),
    (raw(cooldown_seconds=-1), "cooldown_seconds must be a whole number from 0 to 316,224,000"),
    (raw(cooldown_seconds=True), "cooldown_seconds must be a whole number from 0 to 316,224,000"),
    (raw(cooldown_seconds=1.5), "cooldown_seconds must be a whole number from 0 to 316,224,000"),
    (
        raw(cooldown_seconds=1 << 20_000),
        "cooldown_seconds must be a whole number from 0 to 316,224,000",
    ),
    (raw(require_confirmation=0), "require_confirmation and destructive must be True or False"),
    (raw(destructive="no"), "require_confirmation and destructive must be True or False"),
    (raw(pattern=""), "pattern must be a text of at most 500 characters that is not empty"),
    (raw(pattern="x" * 501), "pattern must be a text of at most 500 characters that is not empty"),
    (raw(pattern=["x"]), "pattern must be a text of at most 500 characters that is not empty"),
    (raw("clipboard_pattern", "("), "pattern cannot be used: missing ): ("),
    (raw("time", "* * * *"), "pattern must have five parts: minute, hour, day, month and weekday"),
    (raw("time", "60 * * * *"), "pattern: the minute must be * or a number from 0 to 59"),
    (raw("time", "* * 0 * *"), "pattern: the day must be * or a number from 1 to 31"),
    (raw("time", "* * * * 7"), "pattern: the weekday must be * or a number from 0 to 6"),
    (raw("time", "*/5 * * * *"), "pattern: the minute must be * or a number from 0 to 59"),
    (raw("time", "-1 * * * *"), "pattern: the minute must be * or a number from 0 to 59"),
    (raw("time", "٣ * * * *"), "pattern: the minute must be * or a number from 0 to 59"),
    (raw("compound", "x"), "pattern of a compound must be a dict with op and children"),
    (raw("compound", {"op": "and"}), "pattern lacks children"),
    (raw("compound", {"op": "xor", "children": [1]}), "op must be 'and' or 'or'"),
    (raw("compound", {"op": "and", "children": []}), "children must be a list that is not empty"),
    (raw("compound", {"op": "and", "children": [1]}), "children[0] must be a dict"),
    (raw("compound", {"op": "and", "children": [{"type": "time"}]}), "children[0] lacks pattern"),
    (
        raw("compound", both(("time", "* * * * *"), ("time", "x"))),
        "children[1].pattern must have five parts: minute, hour, day, month and weekday",
    ),
    (raw("compound", nested(6)), "compounds are nested more than 4 deep"),
    (raw("compound", both(*[("time", "* * * * *")] * 40)), "it has more than 32 conditions"),
]


@pytest.mark.parametrize(("given", "why"), UNREAD)
def test_a_trigger_that_cannot_be_read_says_why_and_never_fires(given: object, why: str) -> None:
    found = observation.read_trigger("pay", "/pay.py", given)

    assert (
        UnreadableTrigger("pay", "/pay.py", f"the observation trigger of 'pay' is ignored: {why}")
        == found
    )
    assert isinstance(found, UnreadableTrigger)
    (after,), fired = observation.observe([found], SEEN, NOW, ON, yes, {})
    assert Observed("pay", "/pay.py", "", "unreadable", (), found.message) == after
    assert {} == fired


def test_the_key_of_a_trigger_changes_with_what_it_says_and_with_nothing_else() -> None:
    one = raw()
    turned = dict(reversed(one.items()))

    assert observation.key_of("pay", one) == observation.key_of("pay", turned)
    assert observation.key_of("pay", one) != observation.key_of("pay", raw(pattern="Stripes"))
    assert observation.key_of("other", one).removeprefix("other:") == observation.key_of(
        "pay", one
    ).removeprefix("pay:")
    assert (4 + 8, "pay:") == (
        len(observation.key_of("pay", one)),
        observation.key_of("pay", one)[:4],
    )


# --- matching

MET = [
    ("window_title_match", "Stripe", True),
    ("window_title_match", "^Stripe .* Dash", True),
    ("window_title_match", "stripe", False),
    ("window_title_match", "(?i)stripe", True),
    ("clipboard_pattern", r"https?://\w+\.com$", True),
    ("clipboard_pattern", "ftp://", False),
    ("file_change", "~/Downloads/*.csv", True),
    ("file_change", "*.csv", True),
    ("file_change", "data.*", True),
    ("file_change", "/home/me/*/data.csv", True),
    ("file_change", "*.CSV", False),
    ("file_change", "~/Documents/*", False),
    ("time", "30 14 4 5 0", True),
    ("time", "* 14 * * *", True),
    ("time", "* * * * *", True),
    ("time", "31 14 * * *", False),
    ("time", "* * * * 1", False),
    ("compound", both(("window_title_match", "Stripe"), ("clipboard_pattern", "https?://")), True),
    ("compound", both(("window_title_match", "Stripe"), ("clipboard_pattern", "ftp")), False),
    (
        "compound",
        both(("window_title_match", "None"), ("clipboard_pattern", "https"), op="or"),
        True,
    ),
    ("compound", both(("window_title_match", "None"), ("time", "* 3 * * *"), op="or"), False),
    ("compound", both(("compound", both(("time", "* 14 * * *"))), ("file_change", "*.csv")), True),
]


@pytest.mark.parametrize(("type_", "pattern", "expected"), MET)
def test_a_trigger_is_met_by_what_it_asks_for(type_: str, pattern: Any, expected: bool) -> None:
    assert expected == observation.is_met(watched(type_, pattern).condition, SEEN, NOW)


def test_only_the_first_part_of_a_text_is_searched() -> None:
    full = "a" * MAX_TEXT_CHARS
    found = [
        observation.is_met(
            watched("clipboard_pattern", pattern).condition, Observation(clipboard=text), NOW
        )
        for pattern, text in (
            ("b", full[1:] + "b"),
            ("b", full + "b"),
            ("a$", full),
            ("a$", full + "b"),
        )
    ]

    assert [True, False, True, False] == found


def test_without_an_engine_for_patterns_a_trigger_never_fires(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "re2", None)
    one, timed = observation.read_trigger("pay", "/pay.py", raw()), watched("time", "30 14 * * *")

    found, _ = observation.observe([one, timed], SEEN, NOW, ON, yes, {})

    assert ["unreadable", "fired"] == [each.outcome for each in found]
    assert (
        "the observation trigger of 'pay' is ignored: pattern cannot be used: google-re2 is not "
        "installed (pip install 'metier[rules]')" == found[0].reason
    )


@pytest.mark.parametrize("type_", ["window_title_match", "clipboard_pattern", "file_change"])
@pytest.mark.parametrize("seen", [Observation(), Observation("", "", ())])
def test_what_was_not_seen_meets_nothing(type_: str, seen: Observation) -> None:
    assert not observation.is_met(
        watched(type_, "*" if type_ == "file_change" else ".*").condition, seen, NOW
    )


def test_the_clock_is_the_local_one_that_was_given() -> None:
    elsewhere = NOW.astimezone(timezone(timedelta(hours=9)))

    assert observation.is_met(watched("time", "30 23 * * 0").condition, SEEN, elsewhere)


# --- the steps


def test_a_trigger_that_is_met_fires() -> None:
    one = watched()

    (found,), fired = observation.observe([one], SEEN, NOW, ON, yes, {})

    assert (
        Observed("pay", "/pay.py", one.key, "fired", ("trigger_evaluated", "trigger_fired"))
        == found
    )
    assert {one.key: NOW.timestamp()} == fired


def test_nothing_fires_unless_it_is_switched_on() -> None:
    found = outcome(watched(), Switches())

    assert ("killed", (), "observation triggers are switched off") == (
        found.outcome,
        found.events,
        found.reason,
    )


def test_a_trigger_that_is_not_met_is_not_worth_a_word() -> None:
    found = outcome(watched(pattern="Other"), Switches(enabled=True, muted=frozenset({"pay"})))

    assert ("unmatched", (), "") == (found.outcome, found.events, found.reason)


MUTED = [
    (Switches(enabled=True, muted=frozenset({"PAY"})), "muted_skills"),
    (
        Switches(enabled=True, until={"pay": "2026-05-04T14:31:00Z"}),
        "muted_until 2026-05-04T14:31:00Z",
    ),
    (
        Switches(enabled=True, until={"pay": "2026-05-04T17:00:00+02:00"}),
        "muted_until 2026-05-04T17:00:00+02:00",
    ),
    (
        Switches(enabled=True, until={"pay": "2026-05-04T14:31:00"}),
        "muted_until 2026-05-04T14:31:00",
    ),
    (Switches(enabled=True, until={"pay": "tomorrow"}), "muted_until cannot be read"),
]


@pytest.mark.parametrize(("switches", "why"), MUTED)
def test_a_muted_skill_does_not_fire_and_does_not_begin_to_cool_down(
    switches: Switches, why: str
) -> None:
    (found,), fired = observation.observe([watched()], SEEN, NOW, switches, yes, {})

    assert ("muted", ("trigger_evaluated", "trigger_muted"), why) == (
        found.outcome,
        found.events,
        found.reason,
    )
    assert {} == fired


@pytest.mark.parametrize(
    "until", ["2026-05-04T14:30:00Z", "2026-05-04T16:29:00+02:00", "2020-01-01"]
)
def test_a_time_that_is_over_mutes_nobody(until: str) -> None:
    assert "fired" == outcome(watched(), Switches(enabled=True, until={"pay": until})).outcome


@pytest.mark.parametrize(
    ("ago", "expected"),
    [(0, "cooling"), (59, "cooling"), (60, "fired"), (-59, "cooling"), (-3600, "fired")],
)
def test_a_trigger_does_not_fire_again_before_its_cooldown_is_over(ago: int, expected: str) -> None:
    one = watched()

    assert expected == outcome(one, fired={one.key: NOW.timestamp() - ago}).outcome


def test_a_trigger_without_a_cooldown_fires_each_time() -> None:
    one = watched(cooldown_seconds=0)

    assert "fired" == outcome(one, fired={one.key: NOW.timestamp()}).outcome


def test_a_trigger_that_was_changed_begins_anew() -> None:
    before, after = watched(), watched(pattern="Strip")

    assert "fired" == outcome(after, fired={before.key: NOW.timestamp()}).outcome


def test_a_clock_without_a_zone_is_no_trouble() -> None:
    one = watched("time", "0 0 1 1 0", cooldown_seconds=5)

    assert (
        "fired"
        == outcome(
            one,
            Switches(enabled=True, until={"pay": "0001-01-01"}),
            now=datetime.min,  # noqa: DTZ901 - the least there is
        ).outcome
    )
    assert (
        "cooling"
        == outcome(
            watched(),
            fired={watched().key: datetime(2026, 5, 4, 14, 30).astimezone().timestamp()},
            now=datetime(2026, 5, 4, 14, 30),  # noqa: DTZ001
        ).outcome
    )


# --- consent


def test_only_what_may_harm_or_asks_for_it_needs_a_person() -> None:
    asked: list[str] = []

    def consent(one: Watched) -> bool:
        asked.append(one.name)
        return True

    skills = [
        watched(name="free"),
        watched(name="polite", require_confirmation=True),
        watched(name="harmful", destructive=True),
    ]
    found, _ = observation.observe(skills, SEEN, NOW, ON, consent, {})

    assert ["polite", "harmful"] == asked
    assert ["fired"] * 3 == [one.outcome for one in found]


@pytest.mark.parametrize("answer", [False, None, 1, "yes", [True]])
def test_whatever_is_not_a_yes_is_a_no(answer: Any) -> None:
    (found,), _ = observation.observe(
        [watched(destructive=True)], SEEN, NOW, ON, lambda _one: answer, {}
    )

    assert ("refused", ("trigger_evaluated", "trigger_blocked"), "nobody agreed to it") == (
        found.outcome,
        found.events,
        found.reason,
    )


def test_a_person_who_cannot_be_asked_has_not_agreed() -> None:
    def consent(_one: Watched) -> bool:
        raise TimeoutError

    (found,), _ = observation.observe(
        [watched(require_confirmation=True)], SEEN, NOW, ON, consent, {}
    )

    assert "refused" == found.outcome


def test_who_said_no_is_not_asked_again_before_the_cooldown_is_over() -> None:
    one = watched(require_confirmation=True)

    _, fired = observation.observe([one], SEEN, NOW, ON, lambda _one: False, {})

    assert "cooling" == outcome(one, fired=fired).outcome


def test_nobody_is_asked_about_what_does_not_fire() -> None:
    asked: list[Watched] = []
    one = watched(destructive=True)

    def consent(got: Watched) -> bool:
        asked.append(got)
        return True

    for switches, fired in (
        (Switches(), {}),
        (Switches(enabled=True, muted=frozenset({"pay"})), {}),
        (ON, {one.key: NOW.timestamp()}),
    ):
        observation.observe([one], SEEN, NOW, switches, consent, fired)

    assert [] == asked


def test_what_was_remembered_is_handed_on_and_never_changed() -> None:
    before = {"other:12345678": 1.0}

    _, after = observation.observe([watched()], SEEN, NOW, ON, yes, before)

    assert ({"other:12345678": 1.0}, {"other:12345678", watched().key}) == (before, set(after))
