"""Whom a folder of skills belongs to, beside the user: the lock, or a plugin that is mirrored there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.errors import MetierError

if TYPE_CHECKING:
    from metier.app import Library

LOCK = "lock"


def owner_of(library: Library, path: str) -> str:
    """Give `lock`, `plugin:ID`, or nothing for a folder that is nobody's but the user's.

    Only places that the folder lies below are asked: what a project says has no bearing on a skill outside it.
    """
    from metier.mirroring import grounds
    from metier.supplying import deploying, places

    for place in places.places(library, None):
        if not path.startswith(f"{place.base.rstrip('/')}/"):
            continue
        ground, pins = grounds.read(library, place), places.read(place).lock.pins
        if any(path == deploying.path_of(place, target) for pin in pins for target in pin.targets):
            return LOCK
        for skill in ground.mirror.skills:
            mirrored = skill.status == "active" and skill.owner.startswith("plugin:")
            if mirrored and any(path == deploying.path_of(place, target) for target in skill.targets):
                return skill.owner
    return ""


def owner_then(library: Library, path: str) -> str:
    """Give the same for a draft that is about to wait; that a lock cannot be read keeps no draft from waiting."""
    try:
        return owner_of(library, path)
    except MetierError:
        return ""


def said(owner: str) -> str:
    """Say it to people."""
    return {"": "you alone", LOCK: "the lock"}.get(owner) or f"the plugin '{owner.removeprefix('plugin:')}'"
