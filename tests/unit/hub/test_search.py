"""Searching a hub: what is called so comes first, words are found in all their forms, and a sentence
finds what has the telling ones of its words.
"""

from __future__ import annotations

import pytest
from fakes.hub_skills import member, publish_archive, skill_archive

from metier.hub.hub import Hub
from metier.hub.model import LOCAL
from metier.hub.namespaces import add_namespace
from metier.hub.search import HubQuery, search

SKILLS = {
    "pdf": ("Works with PDF documents.", "Read the pages."),
    "invoice-maker": ("Makes invoices as PDF.", "Number each invoice."),
    "release-notes": ("Writes release notes from a git log.", "Convert the list to PDF if asked."),
    "table-tidy": ("Formats ragged tables in Markdown.", "Align the columns."),
}


@pytest.fixture
def stocked(hub: Hub) -> Hub:
    for name, (description, text) in SKILLS.items():
        publish_archive(hub, LOCAL, name, skill_archive(name, text, description))
    return hub


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("pdf", ["pdf", "invoice-maker", "release-notes"]),
        ("PDF", ["pdf", "invoice-maker", "release-notes"]),
        ("invoicing", ["invoice-maker"]),
        ("format table", ["table-tidy"]),
        ("table-tidy", ["table-tidy"]),
        ("columns aligned", ["table-tidy"]),
        ("please help me to tidy a markdown thing", ["table-tidy"]),
        ("zebra", []),
    ],
)
def test_a_search_finds_the_best_first(stocked: Hub, words: str, found: list[str]) -> None:
    assert found == [one["name"] for one in search(stocked, LOCAL, HubQuery(words)).rows]


def test_facets_count_what_was_found_and_filters_narrow_it(stocked: Hub) -> None:
    everything = search(stocked, LOCAL, HubQuery("pdf"))
    other = search(stocked, LOCAL, HubQuery("pdf", level="caution"))
    elsewhere = search(stocked, LOCAL, HubQuery("pdf", namespace="nowhere"))

    assert {"team": 3} == everything.facets["namespace"]
    assert {"safe": 3} == everything.facets["level"]
    assert (0, 0) == (other.total, elsewhere.total)


def test_pages_follow_each_other_without_a_gap(stocked: Hub) -> None:
    whole = [one["name"] for one in search(stocked, LOCAL, HubQuery("pdf")).rows]

    paged = [
        search(stocked, LOCAL, HubQuery("pdf", limit=1, offset=at)).rows[0]["name"]
        for at in range(3)
    ]

    assert whole == paged


def test_who_sees_one_namespace_finds_what_is_in_it_behind_what_they_may_not_see(
    stocked: Hub,
) -> None:
    add_namespace(stocked, LOCAL, "mine")
    data = skill_archive("pdf", description="Works with PDF documents.")
    publish_archive(stocked, LOCAL, "pdf", data, namespace="mine")

    found = search(stocked, member(stocked, "ann", "reader", "mine"), HubQuery("pdf documents"))

    assert [("mine", "pdf")] == [(one["namespace"], one["name"]) for one in found.rows]
