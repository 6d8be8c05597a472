"""Providers are asked within limits, heard apart, and read through their own authority alone (CX-58, CX-59, CX-60)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from fakes.provider import FakeProvider, package

import metier
from metier.disclose import provide
from metier.disclose.provide import READ_FAILED, ProviderFailure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import Home

    from metier.disclose.model import Package
    from metier.library import Library

KEY = "planted-value-77ab"


@pytest.fixture
def library(home: Home) -> Library:
    """Open a library without any skill of its own."""
    return metier.open(roots=[], env=home.env)


def gathered(library: Library, *providers: Any) -> provide.GatheredPackages:
    library.context.providers = providers
    return library.packages()


def test_packages_of_all_providers_come_in_order(library: Library) -> None:
    first = FakeProvider([[package("a"), package("b")], [package("c", hidden=True)]])
    second = FakeProvider([[package("a", "executor")]], authority="executor")

    found = gathered(library, first, second)

    assert ["a", "b", "c", "a"] == [one.id for one in found.packages]
    assert ([], []) == (found.warnings, found.errors)
    assert ["", "1"] == first.cursors


def test_one_package_listed_twice_counts_once(library: Library) -> None:
    found = gathered(
        library, FakeProvider([[package("a"), package("a", name="other")], [package("a")]])
    )

    assert ["a"] == [one.name for one in found.packages]


def test_a_package_that_claims_another_authority_is_left_out(library: Library) -> None:
    found = gathered(library, FakeProvider([[package("a", "executor"), package("b")]]))

    assert (["b"], ["host: left out 'a': it claims another authority"]) == (
        [one.id for one in found.packages],
        found.warnings,
    )


def test_two_providers_cannot_have_one_authority(library: Library) -> None:
    found = gathered(
        library,
        FakeProvider([[package("a")]]),
        FakeProvider([[package("b")]]),
        FakeProvider(authority="boss"),
    )

    assert ["a"] == [one.id for one in found.packages]
    assert ["host", "boss"] == [one.authority for one in found.errors]
    assert all(one.message.startswith("not asked: the authority is ") for one in found.errors)


@pytest.mark.parametrize(
    "failure",
    [
        RuntimeError(KEY),
        ([package("a")], 7),
        None,
        5,
        ([package("a")], "a\nb"),
        ([package("a")], "x" * 3000),
    ],
)
def test_a_provider_that_fails_at_once_is_an_error_and_the_others_go_on(
    library: Library, failure: Any
) -> None:
    bad, good = (
        FakeProvider([failure]),
        FakeProvider([[package("b", "custom:x")]], authority="custom:x"),
    )

    found = gathered(library, bad, good)

    assert ["b"] == [one.id for one in found.packages]
    assert [ProviderFailure("host", "listing its skills failed")] == found.errors
    assert KEY not in repr(found)


def test_a_provider_that_fails_later_gives_part_and_a_warning(library: Library) -> None:
    found = gathered(library, FakeProvider([[package("a")], RuntimeError(KEY)]))

    assert (["a"], []) == ([one.id for one in found.packages], found.errors)
    assert ["host: listing its skills failed; 1 page of it counted"] == found.warnings


def test_a_cursor_that_comes_twice_ends_the_list(library: Library) -> None:
    provider = FakeProvider([([package("a")], "1"), ([package("b")], "1"), [package("c")]])

    found = gathered(library, provider)

    assert (["a", "b"], ["", "1"]) == ([one.id for one in found.packages], provider.cursors)
    assert "same cursor twice" in found.warnings[0]


def test_ten_pages_are_taken_and_no_more(library: Library) -> None:
    found = gathered(library, FakeProvider([[package(f"p{number}")] for number in range(15)]))

    assert 10 == len(found.packages)
    assert ["host: more than 10 pages; the rest is left out"] == found.warnings


def test_a_hundred_visible_and_a_thousand_hidden_packages_are_taken(library: Library) -> None:
    pages = [
        [package(f"v{page}-{n}") for n in range(60)]
        + [package(f"h{page}-{n}", hidden=True) for n in range(600)]
        for page in range(2)
    ]

    found = gathered(library, FakeProvider(pages))

    assert (100, 1000) == (
        sum(not one.hidden for one in found.packages),
        sum(one.hidden for one in found.packages),
    )
    assert 1 == len(found.warnings)


def test_a_provider_is_not_asked_on_after_ten_seconds_and_the_next_has_ten_of_its_own(
    library: Library,
) -> None:
    now = [0]

    def six_seconds() -> None:
        now[0] += 6_000_000_000

    library.context.ports = library.context.ports._replace(clock_ns=lambda: now[0])
    slow = FakeProvider([[package(f"p{number}")] for number in range(5)], called=six_seconds)
    late = FakeProvider([[package("b", "executor")]], authority="executor")

    found = gathered(library, slow, late)

    assert ["p0", "p1", "b"] == [one.id for one in found.packages]
    assert ["host: it took more than 10 seconds; 2 pages of it counted"] == found.warnings
    assert [] == found.errors


def test_a_page_that_comes_bit_by_bit_is_left_when_its_time_is_up(library: Library) -> None:
    now = [0]

    def bit_by_bit() -> Iterator[Package]:
        for number in range(1_000):
            now[0] += 4_000_000_000
            yield package(f"p{number}")

    library.context.ports = library.context.ports._replace(clock_ns=lambda: now[0])

    found = gathered(library, FakeProvider([(bit_by_bit(), "")]))

    assert ["p0", "p1", "p2"] == [one.id for one in found.packages]
    assert ["host: it took more than 10 seconds; 1 page of it counted"] == found.warnings


def test_an_answer_that_comes_late_but_whole_counts(library: Library) -> None:
    now = [0]

    def twelve_seconds() -> None:
        now[0] += 12_000_000_000

    library.context.ports = library.context.ports._replace(clock_ns=lambda: now[0])

    found = gathered(library, FakeProvider([[package("a"), package("b")]], called=twelve_seconds))

    assert (["a", "b"], [], []) == (
        [one.id for one in found.packages],
        found.warnings,
        found.errors,
    )


def test_warnings_stay_four(library: Library) -> None:
    found = gathered(library, FakeProvider([[package("", name="x" * 10_000) for _ in range(500)]]))

    assert (4, "and 497 more warnings") == (len(found.warnings), found.warnings[-1])


@pytest.mark.parametrize(
    "odd",
    [
        None,
        7,
        "text",
        (),
        ("host", "a"),
        ("host", 1, "n", "d", "r", False),
        ("host", "a", None, "d", "r", False),
    ],
)
def test_what_is_no_package_is_left_out(library: Library, odd: Any) -> None:
    found = gathered(library, FakeProvider([[odd, package("b")]]))

    assert (["b"], 1) == ([one.id for one in found.packages], len(found.warnings))


def test_names_and_descriptions_are_one_short_line(library: Library) -> None:
    (found,) = gathered(
        library,
        FakeProvider([[package("a", name="n\nm" * 100, description="d\x1b[31m" + "x" * 5000)]]),
    ).packages

    assert (64, 1024) == (len(found.name), len(found.description))
    assert (found.name + found.description).isprintable()


# --- reading


def test_a_resource_is_read_through_the_authority_that_listed_it(library: Library) -> None:
    host = FakeProvider(resources={("a", "a/SKILL.md"): b"host's"})
    executor = FakeProvider(
        resources={("a", "a/SKILL.md"): b"Do it. <skill>", ("a", "b.md"): b"B"},
        authority="executor",
    )
    library.context.providers = (host, executor)

    found = provide.read_package(library.context, package("a", "executor"))
    other = provide.read_package(library.context, package("a", "executor"), "b.md")

    assert ("Do it. <skill>", "B") == (found.content, other.content)
    assert ([], [("a", "a/SKILL.md"), ("a", "b.md")]) == (host.reads, executor.reads)
    assert found.disclosed.startswith("[UNTRUSTED SKILL: a]")
    assert "&lt;skill>" in found.disclosed
    assert "community" == found.level


def test_without_its_authority_a_package_cannot_be_read(library: Library) -> None:
    library.context.providers = (FakeProvider(resources={("a", "a/SKILL.md"): b"x"}),)

    with pytest.raises(metier.SourceError) as error:
        provide.read_package(library.context, package("a", "custom:gone"))

    assert READ_FAILED == error.value.message


@pytest.mark.parametrize(
    "answer", [RuntimeError(KEY), b"\xff\xfe", b"x" * (1024 * 1024 + 1), KeyError(KEY)]
)
def test_a_model_learns_only_that_reading_failed(library: Library, answer: Any) -> None:
    library.context.providers = (FakeProvider(resources={("a", "a/SKILL.md"): answer}),)

    with pytest.raises(metier.SourceError) as error:
        provide.read_package(library.context, package("a"))

    assert "failed to read skill resource" == error.value.message
    assert KEY not in repr(error.value.as_dict())
    assert error.value.__cause__ is None
    assert error.value.__context__ is None


def test_a_long_resource_comes_in_pages_and_a_changed_one_makes_its_cursor_stale(
    library: Library,
) -> None:
    text = "line\n" * 200_000
    provider = FakeProvider(resources={("a", "a/SKILL.md"): text.encode()})
    library.context.providers = (provider,)

    first = provide.read_package(library.context, package("a"))
    second = provide.read_package(library.context, package("a"), cursor=first.cursor)
    provider.resources["a", "a/SKILL.md"] = text.encode() + b"!"

    assert (text, "") == (first.content + second.content, second.cursor)
    with pytest.raises(metier.IntegrityError) as error:
        provide.read_package(library.context, package("a"), cursor=first.cursor)
    assert "cursor is stale; restart from the first page" == error.value.message


def test_a_list_for_a_model_has_twenty_packages(library: Library) -> None:
    library.context.providers = (FakeProvider([[package(f"p{number}") for number in range(30)]]),)

    found = library.packages()
    first = found.page()
    second = found.page(cursor=first.cursor)

    assert (20, 10, "") == (len(first.packages), len(second.packages), second.cursor)
    assert 20 == first.text.count("<skill name=")
    assert 0 == found.page("executor").total


def test_a_prompt_for_a_message_is_cut_and_a_failure_says_nothing_of_the_provider(
    library: Library,
) -> None:  # CX-47
    library.context.providers = (
        FakeProvider(
            resources={
                ("a", "a/SKILL.md"): "é".encode() * 4001,
                ("b", "b/SKILL.md"): OSError("key=hunter2"),
            }
        ),
    )

    text, warning = provide.prompt_of(library.context, package("a"))
    with pytest.raises(metier.SourceError, match=READ_FAILED) as caught:
        provide.prompt_of(library.context, package("b"))

    assert (4000, True) == (text.count("é"), "longer than 8,000 bytes" in warning)
    assert "hunter2" not in str(caught.value)
