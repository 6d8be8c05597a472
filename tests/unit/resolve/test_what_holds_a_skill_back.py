"""What holds a skill back is named by its cause: its project, a change since somebody approved it, or a person's word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from fakes.machine import FakeMachine

from metier.model import Entry, Root, Said
from metier.resolve.model import ResolvePolicy, World
from metier.resolve.resolver import doubt_about, resolve
from metier.settings.merge import Settings

if TYPE_CHECKING:
    from metier.model import State

PROJECT = "/work"
THEIRS, OWN = (
    Root("/work/.agents/skills", "project", "", "test", project=PROJECT),
    Root("/home/skills", "user", "", "test"),
)
CHANGED = "changed since it was approved"


def held(root: Root, state: State, why: str) -> str:
    """Give what holds a skill back of which somebody said this."""
    path = f"{root.location}/pdf"
    entry = Entry(
        "skill-md", path, "SKILL.md", "", "pdf", "Does one thing.", "", "", 1, 1, None, None, ()
    )

    def spoken(*_about: Any) -> tuple[State, tuple[str, ...]]:
        return state, (why,)

    policy = ResolvePolicy(
        Settings(), World("linux"), said=Said(names=frozenset({"pdf"}), state_of=spoken)
    )
    (card,) = resolve([(root, [entry])], policy, FakeMachine())
    assert state == card.state
    return card.held


@pytest.mark.parametrize(
    ("root", "state", "why", "expected"),
    [
        (THEIRS, "ask", doubt_about(THEIRS, Said()), "project"),
        (THEIRS, "ask", CHANGED, "changed"),
        (OWN, "ask", CHANGED, "changed"),
        (OWN, "blocked", "odd", "blocked"),
        (THEIRS, "quarantined", "odd", "quarantined"),
        (OWN, "visible", "fine", ""),
    ],
)
def test_each_cause_has_its_word(root: Root, state: State, why: str, expected: str) -> None:
    assert expected == held(root, state, why)
