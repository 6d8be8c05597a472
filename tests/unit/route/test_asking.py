"""What somebody wrote → what an index is searched for: an identifier is meant as a whole where there is such a thing."""

from __future__ import annotations

import pytest
from fakes.texts import skill

from metier.route.memory import memory_engine
from metier.wanted import Asked

LIBRARY = [
    skill("/whole", "getUserName", "Calls getUserName."),
    skill("/user", "user", "Finds a user."),
    skill("/name", "names", "Gives a name."),
    skill("/http", "http", "Speaks http."),
]


def found(text: str, **rest: bool) -> set[str]:
    engine = memory_engine()
    engine.build(LIBRARY)
    return {one.path for one in engine.query(Asked(text, **rest))}  # type: ignore[arg-type]


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
def test_an_identifier_that_no_skill_has_is_asked_for_by_its_parts(text: str, expected: set[str]) -> None:
    assert expected == found(text)


def test_an_identifier_that_is_not_finished_may_go_on() -> None:
    assert "/whole" in found("getUserNa", unfinished=True)
