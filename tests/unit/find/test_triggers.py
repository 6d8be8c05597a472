"""Trigger phrases: where they come from, where they stand in a task, in which order they count, and who takes the task."""

from __future__ import annotations

import pytest
from fakes.cards import card

from metier.find import triggers
from metier.find.triggers import Declined, Dispatched, Match, Phrased
from metier.standard.code import read_code


def found(task: str, *skills: Phrased) -> list[Match]:
    return triggers.matches(triggers.build_table(skills), task)


def stands(phrase: str, task: str) -> bool:
    return bool(found(task, Phrased("one", "/one", (phrase,))))


# --- where phrases come from

DECLARED = [
    ({"triggers": ["rain", "wind"]}, ("rain", "wind")),
    ({"triggers": "what is the weather"}, ("what is the weather",)),
    ({"triggers": ["Rain", "rain", " RAIN "]}, ("Rain",)),
    ({"triggers": ["  two \n words "]}, ("two words",)),
    ({"triggers": ["", " ", "?", "--", "\u200b", "ok"]}, ("ok",)),
    ({"triggers": [{"phrase": "rain"}, None, ["rain"], "wind"]}, ("wind",)),
    ({"triggers": {"rain": "1"}}, ()),
    ({"metadata": {"triggers": ["rain"]}}, ("rain",)),
    ({"metadata": {"triggers": "rain"}, "triggers": ["wind"]}, ("wind", "rain")),
    ({"metadata": {"hermes": {"triggers": ["rain"]}}}, ("rain",)),
    ({"metadata": {"openclaw": {"triggers": ["rain"]}}}, ("rain",)),
    ({"metadata": {"stranger": {"triggers": ["rain"]}}}, ()),
    ({"metadata": "triggers"}, ()),
    ({}, ()),
]


@pytest.mark.parametrize(("fields", "expected"), DECLARED)
def test_a_document_declares_phrases_in_its_frontmatter(
    fields: dict[str, object], expected: tuple[str, ...]
) -> None:
    assert expected == triggers.declared(fields)


def test_a_code_skill_declares_phrases_in_its_code() -> None:
    facts = read_code(b"SKILL_TRIGGERS = ['rain', 'Rain', ' ']\ndef run(task): ...\n", "weather")

    assert ("rain",) == triggers.declared({"triggers": ["not read"]}, facts)


def test_phrases_that_nobody_says_and_more_than_anybody_needs_are_left_out() -> None:
    fits, too_long = "x" * triggers.MAX_PHRASE_CHARS, "x" * (triggers.MAX_PHRASE_CHARS + 1)

    kept = triggers.declared(
        {"triggers": [too_long, fits, *(f"phrase {number}" for number in range(1000))]}
    )

    assert (fits, triggers.MAX_PHRASES) == (kept[0], len(kept))


def test_the_user_s_phrases_take_the_place_of_declared_ones() -> None:
    cards = [card("weather"), card("Sea Side"), card("plain")]
    declared = {cards[0].path: ("rain",), cards[1].path: ("waves",)}

    combined = triggers.with_custom_phrases(
        cards,
        declared,
        {"weather": ("storm",), "sea-side": (), "nobody": ("x",), "plain": ("new",)},
    )

    assert [("weather", ("storm",)), ("Sea Side", ("waves",)), ("plain", ("new",))] == [
        (one.name, one.phrases) for one in combined
    ]


def test_the_user_s_phrases_are_found_however_the_name_is_spelled() -> None:
    combined = triggers.with_custom_phrases([card("Sea Side")], {}, {"sea-side": ("waves",)})

    assert [("waves",)] == [one.phrases for one in combined]


# --- where a phrase stands

STANDS = [
    ("Weather", "what's the WEATHER like?"),
    ("c++", "learn C++ now"),
    ("c++", "c++"),
    ("c++", "port it to c++20"),
    ("c#", "is c#, by now, free?"),
    ("c++", "notepad, c++"),
    ("issue", "fix issue#5"),
    ("ticket", "see ticket#123, please"),
    ("weather", "weather++"),
    ("notepad++", "open Notepad++ now"),
    ("visual c++", "a visual C++ project"),
    ("погода", "погода#5"),
    ("istanbul", "\u0130STANBUL"),
    ("\u0130stanbul", "flights to istanbul"),
    ("\u0130zmir", "\u0130ZM\u0130R"),
    (".net", "a .NET service"),
    ("--force", "push with --force"),
    ("what's up", "so, what\u2019s up?"),
    ("pre-commit", "run pre\u2011commit"),
    ("STRASSE", "in der Straße"),
    ("weather", "\uff37\uff25\uff21\uff34\uff28\uff25\uff32"),
    ("café", "a cafe\u0301 nearby"),
    ("погода", "какая Погода сегодня"),
    ("καιρός", "τι ΚΑΙΡΌΣ σήμερα"),
    ("मौसम", "आज का मौसम बताओ"),
    ("الطقس", "كيف الطقس اليوم"),
    ("天气", "今天天气怎么样"),
    ("天気", "明日の天気は\uff1f"),
    ("python", "用python写"),
    ("날씨", "오늘 날씨를 알려줘"),
    ("วันนี้", "อากาศวันนี้เป็นอย่างไร"),
    ("🌧", "today🌧\ufe0ftomorrow"),
    ("🌧\ufe0f", "🌧 again"),
    ("weather forecast", "the weather \n\t forecast"),
    ("weather forecast", "weather\0forecast"),
    ("weather", "\u202eweather\u202c"),
    ("weather", "wea\u00adther"),
]
STANDS_NOT = [
    ("c", "learn c++"),
    ("c", "learn c#"),
    ("c", "c#5"),
    ("й", "й++"),
    ("c+", "c++"),
    ("pad++", "notepad++"),
    ("istanbul", "\u0130stanbullu"),
    ("c++", "abc++"),
    (".net", "example.net"),
    ("--force", "x--force"),
    ("rain", "brainstorm"),
    ("rain", "rains"),
    ("rain", "rain_gauge"),
    ("погода", "непогода"),
    ("क", "किताब"),
    ("e", "e\u0301"),
    ("weather forecast", "forecast weather"),
    ("weather forecast", "weather, forecast"),
    ("?", "why?"),
    ("", "anything"),
    (" ", "any thing"),
    ("\u200b", "any\u200bthing"),
]


@pytest.mark.parametrize(("phrase", "task"), STANDS)
def test_a_phrase_stands_in_a_task_at_the_borders_of_words(phrase: str, task: str) -> None:
    assert stands(phrase, task)


@pytest.mark.parametrize(("phrase", "task"), STANDS_NOT)
def test_part_of_a_word_is_no_phrase(phrase: str, task: str) -> None:
    assert not stands(phrase, task)


def test_what_comes_after_the_part_of_a_task_that_is_read_counts_for_nothing() -> None:
    task = "x " * (triggers.MAX_SEARCHED_TASK_CHARS // 2 - 4)

    assert stands("rain", task + "rain x x x")
    assert not stands("rain", task + "yyy rainbow")
    assert not stands("rain", task + "x x x x rain")


# --- order


def test_the_longest_phrase_goes_first_then_score_name_and_path() -> None:
    skills = [
        Phrased("b", "/2", ("rain",)),
        Phrased("b", "/1", ("rain",)),
        Phrased("a", "/9", ("RAIN",)),
        Phrased("z", "/3", ("rain",), 0.5),
        Phrased("short", "/0", ("to",), 9.0),
        Phrased("long", "/8", ("rain", "rain today", "to")),
        Phrased("none", "/7", ("snow",)),
    ]

    order = found("rain today to us", *skills)

    assert [
        ("long", "/8"),
        ("z", "/3"),
        ("a", "/9"),
        ("b", "/1"),
        ("b", "/2"),
        ("short", "/0"),
    ] == [(one.name, one.path) for one in order]
    assert Match("long", "/8", "rain today") == order[0]
    assert 0.5 == order[1].score


def test_a_match_names_the_phrase_as_it_was_declared() -> None:
    assert [Match("one", "/one", "The Weather")] == found(
        "tell me the weather", Phrased("one", "/one", ("The Weather",))
    )


# --- offering a task

MATCHES = [Match("a", "/a", "rain"), Match("b", "/b", "rain"), Match("c", "/c", "rain")]


def test_a_task_goes_on_until_somebody_takes_it() -> None:
    asked: list[Match] = []

    def attempt(match: Match) -> str | None:
        asked.append(match)
        if match.name == "a":
            raise ValueError("no\nnetwork")
        return None if match.name == "b" else ""

    done = triggers.offer_to_each(MATCHES, attempt, "id-1")

    first, second, third = (match._replace(correlation="id-1") for match in MATCHES)
    declined = (
        Declined(first, "ValueError", "no network"),
        Declined(second, "", "it gave no answer"),
    )
    assert Dispatched("id-1", third, "", declined) == done
    assert [first, second, third] == asked


def test_nobody_after_the_one_who_takes_a_task_is_asked() -> None:
    asked: list[str] = []

    def attempt(match: Match) -> str:
        asked.append(match.name)
        return "done"

    done = triggers.offer_to_each(MATCHES, attempt, "id-1")

    assert (["a"], "done", ()) == (asked, done.answer, done.declined)


def test_a_task_that_nobody_takes_says_who_declined() -> None:
    done = triggers.offer_to_each(MATCHES, lambda _match: None, "id-1")

    assert (None, None, ["a", "b", "c"]) == (
        done.taken,
        done.answer,
        [one.match.name for one in done.declined],
    )


def test_a_task_without_matches_is_offered_to_nobody() -> None:
    assert Dispatched("id-1", None, None, ()) == triggers.offer_to_each(
        [], lambda _match: "x", "id-1"
    )


def test_a_person_who_stops_it_stops_all_of_it() -> None:
    def attempt(_match: Match) -> str | None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        triggers.offer_to_each(MATCHES, attempt, "id-1")
