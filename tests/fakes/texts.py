"""Skills for tests of the index, in a few words."""

from __future__ import annotations

from metier.find.model import SkillText


def skill(
    path: str, name: str = "", description: str = "", body: str = "", **rest: tuple[str, ...]
) -> SkillText:
    """Make a skill; its stamp is a digest of what it says, as far as tests need one."""
    return SkillText(
        path,
        f"{name}|{description}|{body}|{rest}".encode("utf-8", "replace"),
        name,
        description,
        rest.get("tags", ()),
        rest.get("triggers", ()),
        body,
    )
