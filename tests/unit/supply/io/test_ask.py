from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING

import pytest
from fakes.site import Says, Site

from metier.errors import SourceError
from metier.supply.io import ask
from metier.supply.model import SearchResult, SourceSkill
from metier.supply.search import addable_source, rank_results
from metier.supply.sources import source_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from metier.model import Trust

INDEX = "/.well-known/agent-skills/index.json"


class Told:
    """A source that answers as a test told it to."""

    def __init__(self, source: str, answer: Callable[[], Sequence[SearchResult]]) -> None:
        """Keep the answer."""
        self.source, self.answer = source, answer

    def search(self, words: str, limit: int) -> Sequence[SearchResult]:
        """Give it."""
        del words, limit
        return self.answer()


def result(
    name: str, source: str = "", trust: Trust = "community", description: str = ""
) -> SearchResult:
    return SearchResult(name, description, source or f"x/{name}", trust)


def failing(error: Exception) -> Callable[[], Sequence[SearchResult]]:
    def answer() -> Sequence[SearchResult]:
        raise error

    return answer


# HE-39
def test_a_slow_source_is_named_and_not_waited_for_and_a_broken_one_too() -> None:
    never = threading.Event()
    asked = [
        Told("quick", lambda: [result("a")]),
        Told("slow", lambda: (never.wait() and []) or []),
        Told("dead", failing(SourceError("no route"))),
        Told("broken", failing(ValueError("odd"))),
        Told("other", lambda: [result("b")]),
    ]

    heard = ask.ask_all(asked, "words", 5, 0.2)
    never.set()

    assert ["a", "b"] == [one.name for one in heard.results]
    assert [
        ("slow", "no answer within 0.2 seconds"),
        ("dead", "no route"),
        ("broken", "it failed: odd"),
    ] == list(heard.unreachable)


def test_nobody_is_asked_where_nobody_is_configured() -> None:
    assert ((), ()) == ask.ask_all([], "words", 5, 1)


# HE-39
def test_the_more_trusted_of_two_is_kept_and_comes_first() -> None:
    found = [
        result("z", "s/1"),
        result("forms", "s/2"),
        result("pdf", "s/3"),
        result("z", "s/1", "trusted"),
        result("b", "s/4", "blocked"),
        result("other", "s/5", description="fills pdf forms"),
    ]

    got = [(one.name, one.trust) for one in rank_results(found, "PDF")]

    assert [
        ("z", "trusted"),
        ("pdf", "community"),
        ("other", "community"),
        ("forms", "community"),
        ("b", "blocked"),
    ] == got


@pytest.mark.loopback
def test_a_site_is_searched_by_its_index() -> None:
    entry = {"type": "skill-md", "url": "/x", "digest": "sha256:" + "0" * 64}
    skills = [
        {**entry, "name": "notes", "description": "About pdf."},
        {**entry, "name": "pdf", "description": "Forms."},
        {**entry, "name": "x", "description": "No."},
    ]
    with Site({INDEX: json.dumps({"skills": skills}).encode()}) as site:
        found = ask.registry_seeker(site.url, site.limits(), lambda _source: "community").search(
            "pdf", 5
        )

    assert [("pdf", f"{site.url} --skill pdf"), ("notes", f"{site.url} --skill notes")] == [
        (one.name, one.source) for one in found
    ]


@pytest.mark.loopback
def test_a_registry_is_asked_and_its_order_kept() -> None:
    answer = {
        "results": [{"slug": "pdf", "summary": "Forms."}, {"slug": "x", "owner": {"handle": "ann"}}]
    }
    with Site({"/api/v1/search": json.dumps(answer).encode()}) as site:
        seeker = ask.registry_seeker(
            f"clawhub:{site.url}", site.limits(), lambda _source: "community"
        )
        found = seeker.search("fill & sign", 5)
        asked = site.asked[-1]

    assert f"clawhub:{site.url}" == seeker.source
    assert [f"clawhub:{site.url}/pdf", f"clawhub:{site.url}/ann/x"] == [one.source for one in found]
    assert "/api/v1/search?q=fill%20%26%20sign&limit=5" == asked


@pytest.mark.loopback
def test_a_registry_that_fails_says_so() -> None:
    with Site({"/api/v1/search": Says(b"", 503)}) as site:
        heard = ask.ask_all(
            [
                ask.registry_seeker(
                    f"clawhub:{site.url}", site.limits(), lambda _source: "community"
                )
            ],
            "x",
            5,
            30,
        )

    assert ((f"clawhub:{site.url}", f"{site.place} answers 503"),) == heard.unreachable


def test_a_password_in_the_name_of_a_source_is_not_shown() -> None:
    heard = ask.ask_all(
        [Told("https://ada:secret@h/x?token=secret", failing(SourceError("no route")))],
        "words",
        5,
        5,
    )

    assert (("https://h/x", "no route"),) == heard.unreachable


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("acme/skills", "acme/skills/a/pdf"),
        ("acme/skills#v1", "git+https://github.com/acme/skills#v1:a/pdf"),
        ("git@git.example:acme/skills.git", "git@git.example:acme/skills.git#:a/pdf"),
        ("ssh://git@h/x.git", "git+ssh://git@h/x.git#:a/pdf"),
    ],
)
def test_what_was_found_in_a_tap_is_written_as_add_takes_it(said: str, expected: str) -> None:
    request = source_name.parse(said, cwd="/", home=None, kind_of=lambda _path: None)

    found = addable_source(request, SourceSkill("pdf", "a/pdf", ()))
    again = source_name.parse(found, cwd="/", home=None, kind_of=lambda _path: None)

    assert expected == found
    assert (source_name.canonical(request), request.ref, "a/pdf") == (
        source_name.canonical(again),
        again.ref,
        again.path,
    )
