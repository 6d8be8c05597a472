from __future__ import annotations

import json

import pytest

from metier.errors import MetierError
from metier.supply.sources.addresses import parse_url
from metier.supply.sources.registries import (
    RegistryAddress,
    RegistrySkill,
    api_of,
    download_url,
    read_results,
    read_skill,
    registry_address,
    search_url,
    skill_url,
)

SITE = parse_url("https://hub.example")
API = api_of(SITE, None)


@pytest.mark.parametrize(
    ("location", "registry", "owner", "slug"),
    [
        ("https://h/pdf", "https://h/", "", "pdf"),
        ("https://h/ann/pdf", "https://h/", "ann", "pdf"),
        ("https://h/api/skills/team/pdf", "https://h/api/skills/team", "", "pdf"),
    ],
)
def test_a_place_in_a_registry_is_taken_apart(
    location: str, registry: str, owner: str, slug: str
) -> None:
    assert RegistryAddress(parse_url(registry), owner, slug) == registry_address(location)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (None, "https://hub.example/api/v1"),
        (b"{}", "https://hub.example/api/v1"),
        (b"[]", "https://hub.example/api/v1"),
        (b'{"apiBase": "/api/v1"}', "https://hub.example/api/v1"),
        (b'{"apiBase": "https://other.example"}', "https://other.example/api/v1"),
        (b'{"apiBase": 7}', "https://hub.example/api/v1"),
    ],
)
def test_a_registry_may_say_where_its_interface_is(said: bytes | None, expected: str) -> None:
    assert expected == str(api_of(SITE, said))


def test_addresses_carry_whatever_was_asked_for_as_one_value() -> None:
    assert "https://hub.example/api/v1/search?q=a%26b%3D1&limit=5" == search_url(API, "a&b=1", 5)
    assert "https://hub.example/api/v1/skills/pdf?ownerHandle=ann" == skill_url(
        API, RegistryAddress(SITE, "ann", "pdf")
    )
    assert "https://hub.example/api/v1/download?slug=pdf&version=1.0%2Bx" == download_url(
        API, RegistrySkill("pdf", "", "1.0+x")
    )


def test_the_latest_version_is_taken_unless_another_is_asked_for() -> None:
    data = json.dumps(
        {
            "skill": {"slug": "pdf", "tags": {"latest": "1"}},
            "latestVersion": {"version": "2"},
            "owner": {"handle": "Ann"},
        }
    ).encode()
    place = RegistryAddress(SITE, "ann", "pdf")

    assert ("2", "0.5") == (
        read_skill(data, place, "").version,
        read_skill(data, place, "0.5").version,
    )
    assert "1" == read_skill(b'{"slug": "pdf", "tags": {"latest": "1"}}', place, "").version


@pytest.mark.parametrize(
    ("document", "code"),
    [
        ({}, "malformed"),
        ([], "malformed"),
        ({"latestVersion": {"version": "../x y"}}, "malformed"),
        ({"owner": {"handle": "bob"}}, "not-found"),
        ({"latestVersion": {"version": "1"}, "moderation": {"isMalwareBlocked": True}}, "blocked"),
        ({"skill": 1, "latestVersion": 2}, "malformed"),
        ({"skill": {"slug": "../x"}, "latestVersion": {"version": "1"}}, "malformed"),
    ],
)
def test_an_answer_that_names_no_version_is_refused(document: object, code: str) -> None:
    with pytest.raises(MetierError) as caught:
        read_skill(json.dumps(document).encode(), RegistryAddress(SITE, "ann", "pdf"), "")

    assert code == caught.value.code


def test_results_are_read_leniently_and_what_is_no_skill_is_left_out() -> None:
    listed = [
        {"slug": "pdf", "summary": "Fills\x1b forms."},
        {"skill": {"slug": "x", "description": "Y"}, "owner": {"handle": "ann"}},
        7,
        {"slug": "../evil"},
        {"slug": None},
        {"slug": "y", "ownerHandle": "a/b"},
    ]

    found = [
        read_results(json.dumps(document).encode())
        for document in (listed, {"results": listed}, {"items": listed})
    ]

    assert [[("", "pdf", "Fills  forms."), ("ann", "x", "Y")]] * 3 == found
