"""What is missing to a skill, how ready that makes it, and what becomes of skills that need each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from fakes.machine import FakeMachine

from metier.model import Entry, Gates, Needs, Root
from metier.resolve.model import ResolvePolicy, World
from metier.resolve.needs import (
    help_of,
    helps_with,
    lacks,
    missing_of,
    missing_servers,
    never_given,
    readiness_of,
)
from metier.resolve.resolver import resolve
from metier.settings.merge import Settings

if TYPE_CHECKING:
    from metier.model import Card

FULL = Needs(
    ("KEY",),
    ("token.json",),
    ("rg",),
    ("browser",),
    "",
    ("requests",),
    ("docs|mcp__stdio__docs",),
    ("other",),
)


def entry(
    name: str,
    *skills: str,
    needs: Needs | None = None,
    folder: str = "",
    gates: Gates | None = None,
) -> Entry:
    wanted = needs or (Needs(skills=skills) if skills else None)
    return Entry(
        "skill-md",
        f"/{folder or name}",
        "SKILL.md",
        "",
        name,
        "What.",
        "",
        "",
        1,
        1,
        gates,
        wanted,
        (),
    )


PLAIN = Settings()


def resolved(
    *entries: Entry, settings: Settings = PLAIN, machine: FakeMachine | None = None
) -> dict[str, Card]:
    found = [
        (Root(f"/{place}", "external", "", "--root"), [one]) for place, one in enumerate(entries)
    ]
    cards = resolve(found, ResolvePolicy(settings, World("linux")), machine or FakeMachine())
    return {card.path: card for card in cards}


def test_everything_that_is_not_there_is_missing_by_its_kind() -> None:
    settings = Settings(tools=(), mcp_servers=())

    missing = missing_of(FULL, FakeMachine(), settings, frozenset())

    assert {
        "env": ["KEY"],
        "files": ["token.json"],
        "commands": ["rg"],
        "tools": ["browser", "docs"],
        "packages": ["requests"],
        "skills": ["other"],
    } == missing


def test_nothing_is_missing_where_everything_is_there() -> None:
    machine = FakeMachine(["KEY"], ["rg"], ["token.json"], ["requests"])
    settings = Settings(tools=("browser",), mcp_servers=("mcp__stdio__docs",))

    missing = missing_of(FULL, machine, settings, frozenset({"other"}))

    assert not any(missing.values())


def test_what_is_not_known_is_not_missing() -> None:
    missing = missing_of(
        FULL, FakeMachine(["KEY"], ["rg"], ["token.json"], ["requests"]), Settings()
    )

    assert not any(missing.values())


def test_packages_and_skills_are_listed_only_for_a_skill_that_needs_some() -> None:
    assert ["env", "files", "commands", "tools"] == list(
        missing_of(Needs(env=("KEY",)), FakeMachine(), Settings())
    )


@pytest.mark.parametrize(
    ("present", "missing"),
    [
        (None, []),
        ((), ["DataForSEO", "docs"]),
        (("dataforseo", "DOCS"), []),
        (("data_for_seo", "mcp__stdio__docs"), ["DataForSEO"]),
    ],
)
def test_servers_are_known_by_name_or_identity(
    present: tuple[str, ...] | None, missing: list[str]
) -> None:  # CX-50
    assert missing == missing_servers(("DataForSEO", "docs|mcp__stdio__docs"), present)


@pytest.mark.parametrize(
    ("missing", "systems", "platform", "expected"),
    [
        ({"env": []}, (), "linux", ("available", "")),
        (
            {"env": ["A", "B"], "commands": ["rg"]},
            (),
            "linux",
            ("setup_needed", "needs env A, B; commands rg"),
        ),
        (
            {"env": ["A"]},
            ("macos",),
            "linux",
            ("unsupported", "it says that it is for macos, and this is linux"),
        ),
        ({"env": []}, ("macos",), "darwin", ("available", "")),
        ({"env": []}, ("linux",), "android", ("available", "")),
    ],
)
def test_readiness_follows_from_what_is_missing(
    missing: dict[str, list[str]],
    systems: tuple[str, ...],
    platform: str,
    expected: tuple[str, str],
) -> None:
    assert expected == readiness_of(missing, systems, platform)


class Refusing(FakeMachine):
    """A machine that gives one variable to nobody."""

    def refusal(self, name: str) -> str:
        """Say why."""
        return "it is the host's" if name == "HOST_KEY" else ""


def test_what_is_never_given_is_told_as_such_with_the_reason() -> None:  # HE-20
    (card,) = resolved(
        entry("one", needs=Needs(env=("HOST_KEY", "OWN_KEY"), commands=("rg",))), machine=Refusing()
    ).values()

    assert (
        "needs env OWN_KEY; env HOST_KEY, which is never given (it is the host's); commands rg",
    ) == card.reasons
    assert {"HOST_KEY": "it is the host's"} == never_given(["HOST_KEY", "OWN_KEY"], Refusing())
    assert {} == never_given(["HOST_KEY"], FakeMachine())


@pytest.mark.parametrize(
    ("missing", "helps"),
    [
        ({"env": ["HOST_KEY"]}, False),
        ({"env": ["HOST_KEY", "OWN_KEY"]}, True),
        ({"env": ["HOST_KEY"], "commands": ["rg"]}, True),
        ({"env": []}, False),
    ],
)
def test_nobody_can_give_what_is_never_given(missing: dict[str, list[str]], helps: bool) -> None:
    assert helps == helps_with(missing, {"HOST_KEY": "why"})


def test_help_about_a_variable_that_is_there_is_not_given() -> None:
    needs = Needs(env=("A_KEY", "B_KEY"), help="Read the guide.\nA_KEY: from a\nB_KEY: from b")

    assert "Read the guide.\nB_KEY: from b" == help_of(needs, {"env": ["B_KEY"]})
    assert needs.help == help_of(needs, {"env": ["A_KEY", "B_KEY"]})
    assert "" == help_of(needs, {"env": [], "commands": []})
    assert "Read the guide." == help_of(needs, {"env": [], "commands": ["rg"]})
    assert [] == lacks({"env": [], "commands": []}, {})


def test_a_skill_needs_others_that_can_be_used() -> None:
    cards = resolved(entry("one", "two"), entry("two"), entry("three", "absent", "two"))

    assert ("available", ()) == (cards["/one"].readiness, cards["/one"].reasons)
    assert ("setup_needed", ("needs skills absent",)) == (
        cards["/three"].readiness,
        cards["/three"].reasons,
    )
    assert "visible" == cards["/three"].state


@pytest.mark.parametrize(
    ("other", "readiness"),
    [
        (entry("two", gates=Gates(platforms=("macos",))), "setup_needed"),
        (entry("two", gates=Gates(model_hidden="disable-model-invocation")), "available"),
        (entry("two", needs=Needs(env=("KEY",))), "available"),
        (entry("plugin:two"), "available"),
        (entry("Two"), "available"),
    ],
)
def test_a_skill_that_is_there_but_cannot_be_used_counts_as_missing(
    other: Entry, readiness: str
) -> None:
    assert readiness == resolved(entry("one", "two"), other)["/one"].readiness


def test_two_that_need_each_other_are_fine() -> None:
    for hide in (False, True):
        cards = resolved(
            entry("one", "two"),
            entry("two", "one"),
            entry("self", "self"),
            settings=Settings(hide_unready=hide),
        )

        assert {"available"} == {card.readiness for card in cards.values()}


def test_reasons_of_both_kinds_stand_together() -> None:
    (card,) = resolved(entry("one", needs=Needs(env=("KEY",), skills=("two",)))).values()

    assert ("needs env KEY; skills two",) == card.reasons


def test_where_the_unready_are_hidden_a_lack_spreads_and_copies_step_in() -> None:  # ZE-42
    settings = Settings(hide_unready=True)
    chain = [entry("a", "b"), entry("b", "c"), entry("c", "absent")]

    hidden = resolved(*chain, settings=settings)
    helped = resolved(*chain, entry("c", folder="another"), settings=settings)

    assert {"hidden"} == {card.state for card in hidden.values()}
    assert {"unready"} == {card.held for card in hidden.values()}
    assert ("visible", "visible", "hidden", "visible") == tuple(
        helped[path].state for path in ("/a", "/b", "/c", "/another")
    )


def test_without_hiding_a_lack_does_not_spread() -> None:
    cards = resolved(entry("a", "b"), entry("b", "absent"))

    assert ("available", "setup_needed") == (cards["/a"].readiness, cards["/b"].readiness)


def test_a_chain_of_thousands_is_no_trouble() -> None:
    chain = [entry(f"s{number}", f"s{number + 1}") for number in range(3_000)]

    cards = resolved(*chain, settings=Settings(hide_unready=True))

    assert {"hidden"} == {card.state for card in cards.values()}


def test_a_skill_that_only_hides_from_models_is_still_judged_ready_or_not() -> None:
    gates = Gates(model_hidden="disable-model-invocation")

    (card,) = resolved(entry("one", needs=Needs(commands=("rg",)), gates=gates)).values()

    assert ("hidden", "model", "setup_needed") == (card.state, card.held, card.readiness)


def test_words_about_a_system_mark_a_skill_and_do_not_hide_it() -> None:
    (card,) = resolved(entry("one", needs=Needs(systems=("macos",)))).values()

    assert ("visible", "unsupported") == (card.state, card.readiness)
