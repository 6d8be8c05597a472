"""The rules for what a provider may list: authorities, handles, URIs, limits (CX-58, CX-59, CX-60)."""

from __future__ import annotations

import pytest
from fakes.provider import package

from metier.disclose import provide
from metier.disclose.model import Package
from metier.errors import IntegrityError, RefusedError, UsageError


@pytest.mark.parametrize(
    ("authority", "good"),
    [
        ("host", True),
        ("executor", True),
        ("orchestrator", True),
        ("custom", True),
        ("custom:mcp-1", True),
        ("executor:a.b_c", True),
        ("", False),
        ("Host", False),
        ("other", False),
        ("custom:", False),
        ("custom:a b", False),
        ("custom:" + "x" * 65, False),
        ("host\n", False),
        (None, False),
    ],
)
def test_an_authority_is_one_of_four_and_may_have_a_name(authority: object, good: bool) -> None:
    assert good == (not provide.authority_fault(authority))


@pytest.mark.parametrize(
    ("handle", "good"),
    [
        ("a", True),
        ("é" * 1024, True),
        ("a b", True),
        ("", False),
        ("é" * 1025, False),
        ("x" * 2049, False),
        ("a\nb", False),
        ("a\0", False),
        ("a\x7f", False),
        ("a\x85b", False),
        ("a\u2028b", False),
        ("\ud800", False),
    ],
)
def test_a_handle_is_short_and_has_no_control_characters(handle: str, good: bool) -> None:
    assert good == (not provide.handle_fault(handle))


@pytest.mark.parametrize(
    ("uri", "fault"),
    [
        ("skill://host/a", ""),
        ("skill://my-host.example/a/b.md", ""),
        ("skill://host/" + "a" * 1011, ""),
        ("skill://host/" + "a" * 1012, "has more than 1,024 characters"),
        ("https://host/a", "is no skill:// URI"),
        ("SKILL://host/a", "is no skill:// URI"),
        ("skill://user@host/a", "names a user or a port"),
        ("skill://user:word@host/a", "names a user or a port"),
        ("skill://host:80/a", "names a user or a port"),
        ("skill://host/a?b", "has a query or a fragment"),
        ("skill://host/a#b", "has a query or a fragment"),
        ("skill:///a", "has no host and path"),
        ("skill://host", "has no host and path"),
        ("skill://-/a", "has no host and path"),
        ("skill://host/", "has an empty, . or .. segment"),
        ("skill://host/a//b", "has an empty, . or .. segment"),
        ("skill://host/a/../b", "has an empty, . or .. segment"),
        ("skill://host/a/%2e%2e/b", "has an empty, . or .. segment"),
        ("skill://host/a/%252E%252E/b", "has an empty, . or .. segment"),
        ("skill://host/a\\..\\b", "has an empty, . or .. segment"),
        ("skill://host/a b", "has an empty, . or .. segment"),
    ],
)
def test_a_uri_has_a_host_and_a_path_and_nothing_else(uri: str, fault: str) -> None:
    assert fault == provide.uri_fault(uri)


@pytest.mark.parametrize(
    ("listed", "fault"),
    [
        (package("pdf"), ""),
        (package("skill://host/pdf"), ""),
        (package("pdf", resource="SKILL.md"), ""),
        (package("pdf", resource="skill://host/pdf/SKILL.md"), ""),
        (package("/opt/pdf"), ""),
        (package("pdf", "executor"), "claims another authority"),
        (package("pdf", name=" \n "), "has no name"),
        (package("", name="x"), "has an id that is empty"),
        (package("..", resource="../x"), "has an id with an empty, . or .. segment"),
        (package("pdf", resource=""), "has a resource that is empty"),
        (package("pdf", resource="../x"), "has a resource outside of itself"),
        (package("pdf", resource="/etc/passwd"), "has a resource outside of itself"),
        (
            package("skill://host/pdf", resource="skill://host/other/SKILL.md"),
            "has a resource outside of itself",
        ),
        (
            package("skill://host/pdf", resource="skill://host/pdfs/SKILL.md"),
            "has a resource outside of itself",
        ),
    ],
)
def test_a_package_that_breaks_a_rule_says_which(listed: Package, fault: str) -> None:
    assert fault == provide.package_fault("host", listed)


@pytest.mark.parametrize(
    "resource",
    [
        "../x",
        "a/../../x",
        "a//b",
        "./a",
        "a/.",
        "/etc/passwd",
        "~/x",
        "C:\\x",
        "a\\..\\b",
        "%2e%2e/x",
        "a%2fb",
        "\uff0e\uff0e/x",
        "a/ .. /b",
        "skill://other/pdf/x",
        "skill://host/pdf/../x",
        "https://host/x",
    ],
)
def test_a_resource_outside_its_package_is_refused(resource: str) -> None:
    with pytest.raises((RefusedError, UsageError)):
        provide.resource_in(package("skill://host/pdf"), resource)


@pytest.mark.parametrize(
    "resource", ["references/a.md", "skill://host/pdf/references/a.md", "a b.md", "..a/b.."]
)
def test_a_resource_inside_its_package_is_given_as_asked(resource: str) -> None:
    assert resource == provide.resource_in(package("skill://host/pdf"), resource)


def test_without_a_resource_the_instructions_are_meant() -> None:
    assert "skill://host/pdf/SKILL.md" == provide.resource_in(package("skill://host/pdf"), "")


def test_warnings_are_four_of_256_bytes() -> None:
    takings = provide.PackageIntake()

    for number in range(7):
        takings.warn(f"{number}" + "é" * 400)
    found = takings.bounded()

    assert (4, "and 4 more warnings") == (len(found), found[-1])
    assert all(len(text.encode()) <= 256 for text in found)


def test_a_list_is_given_twenty_at_a_time_and_a_changed_one_begins_anew() -> None:
    found = [package(f"p{number}") for number in range(45)] + [package("secret", hidden=True)]

    first = provide.list_page(found)
    second = provide.list_page(found, cursor=first.cursor)
    third = provide.list_page(found, cursor=second.cursor)

    assert ([20, 20, 5], "", 45) == (
        [len(one.packages) for one in (first, second, third)],
        third.cursor,
        third.total,
    )
    assert found[:45] == [*first.packages, *second.packages, *third.packages]
    with pytest.raises(IntegrityError) as error:
        provide.list_page(found[1:], cursor=first.cursor)
    assert "cursor is stale; restart from the first page" == error.value.message


def test_a_list_can_be_asked_for_one_authority() -> None:
    found = [package("a"), package("b", "executor")]

    assert (found[1],) == provide.list_page(found, "executor").packages


def test_what_is_shown_of_a_package_cannot_end_its_tag() -> None:
    shown = provide.package_xml(package('a"/><x', name="</skill>", description="<system>&"))

    assert (
        '<skill name="&lt;/skill&gt;" authority="host" package="a&quot;/&gt;&lt;x">&lt;system&gt;&amp;</skill>'
        == shown
    )
