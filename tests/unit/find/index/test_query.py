"""What somebody wrote → what an index is searched for: an identifier is meant as a whole where there is such a thing."""

from __future__ import annotations

import pytest
from fakes.texts import skill

from metier.find.index.engine import memory_engine
from metier.find.model import IndexQuery, SkillText

LIBRARY = [
    skill("/whole", "getUserName", "Calls getUserName."),
    skill("/user", "user", "Finds a user."),
    skill("/name", "names", "Gives a name."),
    skill("/http", "http", "Speaks http."),
]


def found(text: str, **rest: bool) -> set[str]:
    engine = memory_engine()
    engine.build(LIBRARY)
    return {one.path for one in engine.query(IndexQuery(text, **rest))}  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("getUserName", {"/whole"}),
        ("GETUSERNAME", {"/whole"}),
        ("setUserName", {"/whole", "/user", "/name"}),
        ("parseHTTPResponse", {"/http"}),
        ("get_user", {"/whole", "/user"}),
        ("getUserName http", {"/whole", "/http"}),
        ("fooBarBaz", set()),
    ],
)
def test_an_identifier_that_no_skill_has_is_asked_for_by_its_parts(
    text: str, expected: set[str]
) -> None:
    assert expected == found(text)


def test_an_identifier_that_is_not_finished_may_go_on() -> None:
    assert "/whole" in found("getUserNa", unfinished=True)


NAMES = (
    "meeting-minutes",
    "unit-testing",
    "data-validation",
    "invoice-creator",
    "slide-generator",
    "code-formatting",
)


def named(text: str, texts: list[SkillText]) -> list[str]:
    engine = memory_engine()
    engine.build(texts)
    return [one.path for one in engine.query(IndexQuery(text))]


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("meetign", ["meeting-minutes"]),
        ("testign", ["unit-testing"]),
        ("validatino", ["data-validation"]),
        ("vlaidatino", ["data-validation"]),
        ("creatro", ["invoice-creator"]),
        ("generatro", ["slide-generator"]),
        ("formattign", ["code-formatting"]),
        ("mnute", []),
        ("ivoce", []),
        ("dta", []),
    ],
)
def test_a_slip_is_forgiven_wherever_in_a_word_it_is(typed: str, expected: list[str]) -> None:
    assert expected == named(typed, [skill(name, name) for name in NAMES])


def test_what_a_word_was_meant_to_be_is_found_in_all_its_forms() -> None:
    texts = [skill("/a", "meeting"), skill("/b", "meetings"), skill("/c", "other")]

    assert ["/a", "/b"] == named("meetign", texts)


def test_the_name_of_a_skill_that_is_gone_hides_none_that_is_there() -> None:
    others = [skill(f"/{number}", f"other{number}") for number in range(6)]
    engine = memory_engine()
    engine.build([*others, skill("/live", "abcdefghxo"), skill("/gone", "abcdefghij")])
    engine.update((), ["/gone"])

    found = [one.path for one in engine.query(IndexQuery("abcdefghik"))]

    assert ["/live"] == found


def test_a_form_of_a_name_that_is_gone_is_nothing_that_was_meant() -> None:
    engine = memory_engine()
    engine.build(
        [
            skill("/live", "formatting"),
            skill("/gone", "format"),
            *(skill(f"/{number}") for number in range(6)),
        ]
    )
    engine.update((), ["/gone"])

    found = [one.path for one in engine.query(IndexQuery("formta"))]

    assert [] == found
