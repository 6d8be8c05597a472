"""The same skill reached twice is one card, in roots that are trusted and in roots that are not."""

from __future__ import annotations

import pytest
from fakes.machine import FakeMachine

from metier.model import Card, Entry, Root, Said
from metier.resolve.model import ResolvePolicy, World
from metier.resolve.resolver import resolve
from metier.settings.merge import Settings

PROJECT = "/work"
OWN, FIRST, SECOND = (
    Root("/home/skills", "user", "", "test"),
    Root("/work/.agents/skills", "project", "", "test", project=PROJECT),
    Root("/work/.claude/skills", "project", "", "test", project=PROJECT),
)


def entry(path: str, real: str = "") -> Entry:
    return Entry(
        "skill-md", path, "SKILL.md", real, "pdf", "Does one thing.", "", "", 1, 1, None, None, ()
    )


def cards(
    *found: tuple[Root, list[Entry]], said: Said | None = None, keep: bool = False
) -> list[Card]:
    return resolve(
        found, ResolvePolicy(Settings(), World("linux"), keep, said or Said()), FakeMachine()
    )


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize(("trusted", "state"), [(False, "ask"), (True, "visible")])
def test_a_link_in_one_root_to_a_skill_of_another_is_no_second_skill(
    trusted: bool, state: str, keep: bool
) -> None:
    path = "/work/.agents/skills/pdf"
    said = Said(projects=frozenset({PROJECT}) if trusted else frozenset())

    found = cards(
        (FIRST, [entry(path)]),
        (SECOND, [entry("/work/.claude/skills/pdf", path)]),
        said=said,
        keep=keep,
    )

    assert [(path, state)] == [(card.path, card.state) for card in found]


def test_the_same_path_named_by_two_roots_that_nobody_trusts_is_one_skill() -> None:
    found = cards((FIRST, [entry("/work/pdf")]), (SECOND, [entry("/work/pdf")]))

    assert [("/work/pdf", FIRST.location)] == [(card.path, card.root) for card in found]


@pytest.mark.parametrize(
    "roots", [(FIRST, SECOND, OWN), (FIRST, OWN, SECOND), (OWN, FIRST, SECOND)]
)
def test_strangers_links_to_a_skill_of_the_user_s_own_leave_it_the_user_s(
    roots: tuple[Root, ...],
) -> None:
    path = "/home/skills/pdf"

    found = cards(
        *(
            (root, [entry(path) if root is OWN else entry(f"{root.location}/pdf", path)])
            for root in roots
        )
    )

    assert [(path, "visible", "user")] == [(card.path, card.state, card.scope) for card in found]


def test_two_skills_of_one_name_in_roots_that_nobody_trusts_both_wait() -> None:
    paths = ["/work/.agents/skills/pdf", "/work/.claude/skills/pdf"]

    found = cards((FIRST, [entry(paths[0])]), (SECOND, [entry(paths[1])]))

    assert [(path, "ask") for path in paths] == [(card.path, card.state) for card in found]
