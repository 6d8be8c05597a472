"""URIs of skills and of their files, both ways."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies

from metier.mcp.uris import SkillUri, parse_uri, roots_of, uri_of
from metier.model import Card


def card(path: str, name: str = "", plugin: str = "", scope: Any = "user") -> Card:
    """Give a card of a skill."""
    return Card(
        name or path.rpartition("/")[2],
        "Does.",
        scope,
        "",
        "skill-md",
        path,
        None,
        "visible",
        "available",
        1,
        (),
        (),
        (),
        "/r",
        "",
        plugin,
        "",
    )


SEGMENTS = strategies.text(
    strategies.characters(codec="utf-8", exclude_characters="/\0"), min_size=1
).filter(lambda one: one not in {".", ".."})


@given(strategies.lists(SEGMENTS, min_size=1, max_size=4))
def test_a_path_comes_back_as_it_went(parts: list[str]) -> None:
    path = "/".join(parts)

    uri = uri_of("pdf", path)

    assert uri.isascii()
    assert SkillUri("pdf", path) == parse_uri(uri)


def test_a_name_that_is_no_utf8_comes_back_as_it_went() -> None:
    path = b"a/\xff\xfe.md".decode("utf-8", "surrogateescape")

    assert "skill://pdf/a/%FF%FE.md" == uri_of("pdf", path)
    assert SkillUri("pdf", path) == parse_uri("skill://pdf/a/%FF%FE.md")


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "skill:",
        "http://pdf/a",
        "skill://pdf/",
        "skill://pdf//a",
        "skill://pdf/a/",
        "skill://pdf/..",
        "skill://pdf/%2e%2E/x",
        "skill://pdf/a%2Fb",
        "skill://pdf/%00",
        "skill://pdf/a?b",
        "skill://pdf/a#b",
        "skill://pdf\\a",
        "skill://plugin.x",
        "skill://" + "a" * 10_000,
    ],
)
def test_what_could_lead_elsewhere_is_no_place(uri: str) -> None:
    assert parse_uri(uri) is None


def test_each_skill_has_a_root_of_its_own() -> None:
    found = roots_of(
        [
            card("/u/pdf"),
            card("/p/pdf", "acme:pdf", "acme"),
            card("/q/pdf", "b c:pdf", "b c"),
            card("/r/pdf", "a@b:pdf", "a@b"),
            card("/u/ocr"),
            card("/x/ocr", scope="system"),
            card("/u/twin"),
            card("/v/twin"),
            card("/u/Bad Name"),
            card("/u/pdf/in/ner"),
            card("/u/pdf/in/folder", "other"),
        ]
    )

    assert len(found) == len(set(found.values()))
    assert {
        "/u/pdf": "pdf",
        "/p/pdf": "plugin.acme/pdf",
        "/q/pdf": "plugin.b%20c/pdf",
        "/r/pdf": "plugin.a%40b/pdf",
        "/u/ocr": "scope.user/ocr",
        "/x/ocr": "scope.system/ocr",
        "/u/pdf/in/ner": "pdf/in/ner",
        "/u/pdf/in/folder": "other",
    } == {path: root for path, root in found.items() if "twin" not in path}
    assert all(
        root.startswith("scope.user.") and root.endswith("/twin")
        for path, root in found.items()
        if "twin" in path
    )
