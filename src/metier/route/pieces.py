"""What of a skill is embedded: one text of its name, its description and how its body begins. Pure.

Vectors of more passages were tried: four of them for each skill gained less than one query in a hundred, and cost five times the
work and the room. What a passage holds of a task is read by the second stage instead.
"""

from __future__ import annotations

NAME_CHARACTERS = 100
DESCRIPTION_CHARACTERS = 500
LEAD_CHARACTERS = 500
BODY_CHARACTERS = 4_000
"""How far into a body its beginning is looked for: some have a long list of contents first."""


def piece(name: str, description: str, body: str) -> str:
    """Give the text of a skill's vector."""
    spoken = name[:NAME_CHARACTERS].replace("-", " ")
    return f"{spoken}: {description[:DESCRIPTION_CHARACTERS]} {lead(body)}".rstrip()


def lead(body: str) -> str:
    """Give how a body begins, without its headings."""
    lines = (line for line in body[:BODY_CHARACTERS].splitlines() if not line.startswith("#"))
    return " ".join(" ".join(lines).split())[:LEAD_CHARACTERS]
