"""Cards of skills that lie on no disk: all that a catalogue for a model reads, in one short call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.model import Card

if TYPE_CHECKING:
    from metier.model import Scope

ROOT = "/home/someone/.agents/skills"


def card(
    name: str,
    description: str = "What it does, and when to use it.",
    *,
    path: str = "",
    root: str = ROOT,
    scope: Scope = "user",
    category: str = "",
    plugin: str = "",
) -> Card:
    """Make the card of a visible skill in a folder of its own name."""
    return Card(
        name,
        description,
        scope,
        category,
        "skill-md",
        path or f"{root}/{name}",
        None,
        "visible",
        "available",
        0,
        (),
        (),
        (),
        root,
        "",
        plugin,
        "",
    )
