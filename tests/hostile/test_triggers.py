"""Phrases, tasks and patterns made to deceive or to take forever: nothing raises, and work stays bounded."""

from __future__ import annotations

from copy import deepcopy
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

import metier
from metier.find import observation, suggest, triggers
from metier.find.observation import (
    MAX_PATTERN_STEPS,
    MAX_TEXT_CHARS,
    Observation,
    Switches,
    TriggerMemory,
    UnreadableTrigger,
    Watched,
)
from metier.find.triggers import Match, Phrased

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Home

MEGA = 1 << 20
NOW = datetime(2026, 5, 4, 14, 30, tzinfo=UTC)
TASKS = {
    "one word": "a" * MEGA,
    "many words": "a " * (MEGA // 2),
    "marks in the wrong order": "a" + "\u0301\u0316" * (MEGA // 2),
    "vowels that come apart into marks": "\u0f73" * MEGA,
    "marks alone": "\u0301" * MEGA,
    "right to left": "\u202e\u200f" * (MEGA // 2),
    "nothing visible": "\u200b\ufe0f" * (MEGA // 2),
    "nul": "\0" * MEGA,
    "lone surrogates": "\ud800\udfff" * (MEGA // 2),
    "signs": "+#" * (MEGA // 2),
    "dense": "天" * MEGA,
    "long forms": "\ufdfa" * MEGA,
    "every character": "".join(map(chr, range(0x110000))),
}


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_a_task_of_a_million_characters_has_its_answer(task: str) -> None:
    phrases = triggers.build_table(
        [Phrased("one", "/one", ("zebra", "a a a b", "天海", "\u0301", "+++x"))]
    )

    assert [] == triggers.matches(phrases, task)


def test_a_hundred_thousand_phrases_are_looked_for_at_once() -> None:
    skills = [
        Phrased(f"skill-{number}", f"/{number}", (f"the number {number} of them",))
        for number in range(100_000)
    ]
    table = triggers.build_table(skills)

    found = triggers.matches(
        table, "the number " * 1000 + "the number 77777 of them" + " the number" * 1000
    )

    assert ["skill-77777"] == [one.name for one in found]


def test_a_hundred_thousand_skills_with_one_phrase_are_in_order() -> None:
    table = triggers.build_table(
        Phrased("same", f"/{number:06}", ("rain",)) for number in reversed(range(100_000))
    )

    found = triggers.matches(table, "rain " * 1000)

    assert (100_000, "/000000", "/099999") == (len(found), found[0].path, found[-1].path)


def test_a_phrase_that_repeats_itself_costs_no_more_than_its_length_at_each_word() -> None:
    table = triggers.build_table([Phrased("one", "/one", ("a " * 99 + "b",))])

    assert [] == triggers.matches(table, "a " * (MEGA // 2))


@pytest.mark.parametrize(
    "phrase",
    [
        "\ud800",
        "\0",
        "\u202e",
        "\u0301",
        "rain\0\0",
        "\ud800rain",
        "rain\u202e",
        "x" * MEGA,
        "\u0301" * MEGA,
        "\u200b" * 100,
    ],
)
def test_a_phrase_made_to_deceive_is_a_plain_one_or_none(phrase: str) -> None:
    kept = triggers.usable_phrases([phrase])

    for one in kept:
        assert one.encode()
        assert "\n" not in one
    assert len(kept) <= 1


def test_a_declaration_of_a_million_phrases_is_cut_short() -> None:
    assert triggers.MAX_PHRASES == len(
        triggers.declared({"triggers": [f"phrase {number}" for number in range(MEGA)]})
    )
    assert () == triggers.declared(
        {"triggers": ["x" * MEGA], "metadata": {"triggers": {"a": "b"}, "openclaw": ["triggers"]}}
    )


class UnsayableError(Exception):
    """An exception that raises when it is shown."""

    def __str__(self) -> str:
        """Fail."""
        raise RuntimeError


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (UnsayableError(), "it cannot be shown"),
        (ValueError("x\0\n" * MEGA), None),
        (OSError("\ud800"), "?"),
    ],
)
def test_what_a_skill_raises_is_kept_on_one_line(error: Exception, said: str | None) -> None:
    def attempt(_match: Match) -> str | None:
        raise error

    (declined,) = triggers.offer_to_each([Match("a", "/a", "x")], attempt, "id").declined

    assert type(error).__name__ == declined.kind
    assert said is None or said == declined.message
    assert len(declined.message) <= triggers.MAX_ERROR_CHARS
    assert "\n" not in declined.message


# --- observation triggers

SLOW = [
    ("(a+)+b", "a" * MEGA),
    ("(a|a)*b", "a" * MEGA),
    ("(a|aa)+$", "a" * MEGA + "b"),
    ("a*a*a*a*a*a*b", "a" * MEGA),
    (".*.*.*=.*", "x" * MEGA),
    ("(?:(?:a?){20}){20}b", "a" * MEGA),
    (r"(\w|\d|[^x]){100}y", "".join(map(chr, range(0x4E00, 0x9000)))),
]


def clipboard(pattern: Any) -> dict[str, Any]:
    """Declare a trigger that looks at the clipboard, for one pattern or for any of several."""
    children = [{"type": "clipboard_pattern", "pattern": one} for one in pattern]
    several = {"type": "compound", "pattern": {"op": "or", "children": children}}
    return {
        **(
            {"type": "clipboard_pattern", "pattern": pattern}
            if isinstance(pattern, str)
            else several
        ),
        "cooldown_seconds": 0,
        "require_confirmation": False,
        "destructive": False,
    }


@pytest.mark.parametrize(("pattern", "text"), SLOW)
def test_no_pattern_takes_longer_than_the_text_is_long(pattern: str, text: str) -> None:
    one = observation.read_trigger("a", "/a", clipboard(pattern))

    assert isinstance(one, Watched)
    assert not observation.is_met(one.condition, Observation(clipboard=text), NOW)


TOO_LARGE = [
    "((a{99}){99}){99}",
    "a{9999}",
    r"\pL{999}",
    "(.|a){999}",
    [r"(\w|\d|[^x]){100}y"] * 3,
    ["(a?){20}"] * 31 + ["(.|a){200}"],
]


@pytest.mark.parametrize("pattern", TOO_LARGE, ids=range(len(TOO_LARGE)))
def test_a_trigger_whose_patterns_are_too_large_together_is_refused(pattern: Any) -> None:
    found = observation.read_trigger("a", "/a", clipboard(pattern))

    assert MAX_PATTERN_STEPS < MAX_TEXT_CHARS
    assert isinstance(found, UnreadableTrigger)
    assert "pattern cannot be used: " in found.message or "conditions" in found.message


@pytest.mark.parametrize(
    "pattern",
    ["*" * 500, "*a" * 250, "[" * 500, "[!" * 250, "[a-" * 100, "?*" * 250, "\ud800*", "[z-a]"],
)
def test_no_pattern_of_a_file_is_trouble(pattern: str) -> None:
    raw = {
        "type": "file_change",
        "pattern": pattern,
        "cooldown_seconds": 0,
        "require_confirmation": False,
        "destructive": False,
    }
    one = observation.read_trigger("a", "/a", raw)
    seen = Observation(files=("/" + "a" * MEGA, "\ud800", "\0", "") * 1000)

    (found,), _ = observation.observe(
        [one], seen, NOW, Switches(enabled=True), lambda _one: True, {}
    )

    assert isinstance(one, Watched)
    assert found.outcome in {"fired", "unmatched"}


@pytest.mark.parametrize("text", ["", "\0", "\ud800", "\u202e", "x" * MEGA])
def test_whatever_is_seen_has_its_answer(text: str) -> None:
    raw = {
        "type": "window_title_match",
        "pattern": "y",
        "cooldown_seconds": 0,
        "require_confirmation": False,
        "destructive": False,
    }

    found, _ = observation.observe(
        [observation.read_trigger("a", "/a", raw)],
        Observation(text, text, (text,)),
        NOW,
        Switches(enabled=True),
        lambda _one: True,
        {},
    )

    assert ["unmatched"] == [one.outcome for one in found]


SLOTS = [
    ("type",),
    ("pattern",),
    ("cooldown_seconds",),
    ("require_confirmation",),
    ("destructive",),
    ("pattern", "op"),
    ("pattern", "children"),
    ("pattern", "children", 0),
    ("pattern", "children", 0, "type"),
    ("pattern", "children", 0, "pattern"),
    ("pattern", "children", 1, "pattern", "op"),
    ("pattern", "children", 1, "pattern", "children"),
]
COMPOUND: dict[str, Any] = {
    "type": "compound",
    "pattern": {
        "op": "and",
        "children": [
            {"type": "time", "pattern": "* * * * *"},
            {"type": "compound", "pattern": {"op": "or", "children": [{"type": "window_title_match", "pattern": "x"}]}},
        ],
    },
    "cooldown_seconds": 0, "require_confirmation": False, "destructive": False,
}  # fmt: skip


def test_the_compound_that_is_spoilt_below_can_be_read() -> None:
    assert isinstance(observation.read_trigger("a", "/a", COMPOUND), Watched)


@pytest.mark.parametrize("slot", SLOTS, ids=lambda slot: ".".join(map(str, slot)))
@pytest.mark.parametrize(
    "value",
    [
        ["and"],
        {"and": 1},
        {("and",): ["x"]},
        [],
        {},
        None,
        1.5,
        b"and",
        ("and",),
        {"and"},
        "\ud800",
        Ellipsis,
        1j,
    ],
)
def test_a_trigger_with_the_wrong_thing_in_any_place_is_told_of_and_no_more(
    slot: tuple[Any, ...], value: Any
) -> None:
    raw = deepcopy(COMPOUND)
    place: Any = raw
    for step in slot[:-1]:
        place = place[step]
    place[slot[-1]] = value

    found = observation.read_trigger("a", "/a", raw)

    if not (
        value == "\ud800" and slot[-1] == "pattern" and len(slot) > 1
    ):  # a text is a pattern, however odd
        assert isinstance(found, UnreadableTrigger)
        assert found.message.startswith("the observation trigger of 'a' is ignored: ")


class OddDict(dict[str, Any]):
    """A table that raises when it is looked at."""

    def __contains__(self, key: object) -> bool:
        """Fail."""
        raise RuntimeError


def test_whatever_surprises_the_reader_is_a_trigger_that_cannot_be_read() -> None:
    assert UnreadableTrigger(
        "a", "/a", "the observation trigger of 'a' is ignored: it cannot be read (RuntimeError)"
    ) == observation.read_trigger("a", "/a", OddDict())


DECLARED = [
    "{'type': 'time', 'pattern': '* * * * *', 'cooldown_seconds': 0x"
    + "f" * 20_000
    + ", 'require_confirmation': False, 'destructive': False}",
    "{'type': 'compound', 'pattern': "
    + "{'op': 'and', 'children': [" * 20
    + "]}" * 20
    + ", 'cooldown_seconds': 0, 'require_confirmation': False, 'destructive': False}",
    "{'type': 'time', 'pattern': '* * * * *', 'cooldown_seconds': 1e999, 'require_confirmation': False, 'destructive': False}",
    "{'\\u202e': 1}",
]


@pytest.mark.parametrize("declared", DECLARED)
def test_a_trigger_made_to_break_the_reader_is_told_of_and_no_more(
    home: Home, tmp_path: Path, declared: str
) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "root/odd.py").write_text(
        f"SKILL_OBSERVATION_TRIGGER = {declared}\ndef run(task): ...\n", encoding="utf-8"
    )
    library = metier.open(roots=[str(tmp_path / "root")], cwd=tmp_path, env=home.env)

    found = suggest.observe(library.context, Observation(), NOW, lambda _one: True, TriggerMemory())

    assert ["unreadable"] == [one.outcome for one in found]
