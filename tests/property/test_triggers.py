"""Triggers: the order is total and owes nothing to chance, and a phrase that matches really stands in the task."""

from __future__ import annotations

import re
import unicodedata
from datetime import datetime, timedelta, timezone
from itertools import pairwise

from hypothesis import example, given, strategies as st

from metier.find import observation, triggers
from metier.find.observation import Observation, Switches, Watched
from metier.find.triggers import Match, Phrased
from metier.standard.patterns import PatternError, pattern_compiler

PIECES = st.sampled_from(
    [
        "rain",
        "Rain",
        "c++",
        "c",
        "#",
        "+",
        ".",
        "net",
        " ",
        "  ",
        "天",
        "气",
        "é",
        "e\u0301",
        "ß",
        "ss",
        "🌧",
        "\ufe0f",
        "\u200f",
        "_",
        "1",
        "\0",
        "-",
        "ก",
        "ิ",
        "क",
        "ि",
    ]
)
PHRASE = st.one_of(
    st.lists(PIECES, min_size=1, max_size=5).map("".join),
    st.text(st.characters(exclude_categories=()), max_size=12),
)
TASK = st.one_of(
    st.lists(PIECES, max_size=20).map("".join),
    st.text(st.characters(exclude_categories=()), max_size=60),
)
SKILLS = st.lists(
    st.builds(
        Phrased,
        st.sampled_from(["a", "b", "c"]),
        st.sampled_from([f"/{number}" for number in range(9)]),
        st.lists(PHRASE, max_size=4).map(tuple),
        st.sampled_from([0.0, 0.5, 1.0]),
    ),
    max_size=8,
    unique_by=lambda skill: skill.path,
)


def found(skills: list[Phrased], task: str) -> list[Match]:
    return triggers.matches(triggers.build_table(skills), task)


@given(SKILLS, TASK, st.randoms())
def test_shuffling_skills_and_phrases_changes_nothing(
    skills: list[Phrased], task: str, random: object
) -> None:
    shuffled = [
        skill._replace(phrases=tuple(sorted(skill.phrases, reverse=True))) for skill in skills
    ]
    random.shuffle(shuffled)  # type: ignore[attr-defined]

    before, after = found(skills, task), found(shuffled, task)

    assert [(one.path, triggers.folded(one.phrase)) for one in before] == [
        (one.path, triggers.folded(one.phrase)) for one in after
    ]


@given(SKILLS, TASK)
def test_the_order_is_total(skills: list[Phrased], task: str) -> None:
    matches = found(skills, task)

    keys = [(-len(triggers.folded(one.phrase)), -one.score, one.name, one.path) for one in matches]

    assert sorted(set(keys)) == keys


@given(SKILLS, TASK, st.data())
def test_taking_a_skill_away_leaves_the_order_of_the_others(
    skills: list[Phrased], task: str, data: st.DataObject
) -> None:
    gone = data.draw(st.sampled_from(skills)).path if skills else ""

    left = found([skill for skill in skills if skill.path != gone], task)

    assert [one for one in found(skills, task) if one.path != gone] == left


@given(SKILLS, TASK)
@example([Phrased("a", "/a", ("rain",))], "brain")
def test_a_phrase_that_matches_stands_in_the_task_between_borders_of_words(
    skills: list[Phrased], task: str
) -> None:
    text = triggers.folded(task)

    for match in found(skills, task):
        phrase = triggers.folded(match.phrase)
        places = [place.start() for place in re.finditer(f"(?={re.escape(phrase)})", text)]
        assert any(not joined(text, at) and not joined(text, at + len(phrase)) for at in places)


def joined(text: str, at: int) -> bool:
    """Tell whether the characters before and after a place are letters of one word, or one of them a mark of the other."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    if unicodedata.category(after)[0] == "M":
        return True
    return all(char.isascii() and (char.isalnum() or char == "_") for char in (before, after))


@given(PHRASE, TASK)
def test_a_phrase_between_spaces_is_found_whatever_its_case(phrase: str, task: str) -> None:
    kept = triggers.usable_phrases([phrase])

    for one in kept:
        if not unicodedata.category(triggers.folded(one)[0]).startswith("M"):
            assert ["/p"] == [
                match.path
                for match in found(
                    [Phrased("p", "/p", (one,))],
                    f"{task} {one.swapcase() if one.isascii() else one} ",
                )
            ]


@given(st.lists(st.text(max_size=20), max_size=6))
def test_a_dispatch_asks_each_match_once_and_stops_at_the_first_answer(answers: list[str]) -> None:
    matches = [Match(str(number), f"/{number}", "x") for number in range(len(answers))]
    asked: list[str] = []

    def attempt(match: Match) -> str | None:
        asked.append(match.name)
        return answers[int(match.name)] or None

    done = triggers.offer_to_each(matches, attempt, "id")

    first = next((number for number, answer in enumerate(answers) if answer), None)
    assert [str(number) for number in range(len(answers) if first is None else first + 1)] == asked
    assert (None if first is None else answers[first]) == done.answer
    assert {"id"} >= {one.match.correlation for one in done.declined}


# --- observation triggers

REGEX = st.recursive(
    st.sampled_from(["a", "b", ".", "[ab]", "[^a]", r"\w", r"\s", r"\b", "^", "$"]),
    lambda inner: st.one_of(
        st.builds("({}){}".format, inner, st.sampled_from(["", "*", "+", "?", "{2}"])),
        st.builds("{}{}".format, inner, inner),
        st.builds("{}|{}".format, inner, inner),
    ),
    max_leaves=5,
)


@given(REGEX, st.text("ab \n_", min_size=1, max_size=6))
def test_a_pattern_is_found_where_the_usual_matcher_finds_it(pattern: str, text: str) -> None:
    usual = pattern.replace(
        "$", r"\Z"
    )  # to the engine, a line break at the end is part of the text

    assert bool(re.search(usual, text)) == bool(pattern_compiler()(pattern).search(text))


@given(st.text(st.characters(exclude_categories=()), max_size=40), st.text(max_size=40))
def test_any_text_is_a_pattern_or_is_refused(pattern: str, text: str) -> None:
    try:
        answer: object = pattern_compiler()(pattern).search(text) is not None
    except PatternError as fault:
        answer = str(fault)

    assert isinstance(answer, bool) or answer


ANYTHING = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(max_size=8),
        st.sampled_from(["time", "compound", "and", "or", "* * * * *"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["type", "pattern", "op", "children", "x"]), inner, max_size=3
        ),
    ),
    max_leaves=8,
)
TRIGGER = st.fixed_dictionaries(
    {
        "type": st.sampled_from([*observation.TRIGGER_TYPES, "x"]),
        "pattern": ANYTHING,
        "cooldown_seconds": ANYTHING,
        "require_confirmation": ANYTHING,
        "destructive": ANYTHING,
    }
)


@given(st.one_of(ANYTHING, TRIGGER))
def test_whatever_a_skill_declares_is_a_trigger_or_a_message(raw: object) -> None:
    found = observation.read_trigger("a", "/a", raw)

    assert found.key if isinstance(found, Watched) else found.message


@given(st.lists(st.integers(0, 200), max_size=12), st.integers(0, 100), st.integers(-12, 12))
def test_between_two_firings_lies_at_least_the_cooldown(
    steps: list[int], cooldown: int, zone: int
) -> None:
    raw = {
        "type": "window_title_match",
        "pattern": "x",
        "cooldown_seconds": cooldown,
        "require_confirmation": False,
        "destructive": False,
    }
    one, now, fired = (
        observation.read_trigger("a", "/a", raw),
        datetime(2026, 3, 29, tzinfo=timezone(timedelta(hours=zone))),
        dict[str, float](),
    )
    times = []

    for step in steps:
        now += timedelta(seconds=step)
        (seen,), fired = observation.observe(
            [one], Observation(window="x"), now, Switches(enabled=True), lambda _one: False, fired
        )
        times += [now] if seen.outcome == "fired" else []

    assert all((late - early).total_seconds() >= cooldown for early, late in pairwise(times))
    assert bool(steps) == bool(times)
