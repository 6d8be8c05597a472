"""What of a skill is embedded: its card, and the first parts of its body. Pure; the model was trained on just such texts."""

from __future__ import annotations

import re

CARD_CHARACTERS = 900
PASSAGES = 4
PASSAGE_CHARACTERS = 800
"""Characters of a passage's own text, unless it is one line that is longer."""
WHOLE_CHARACTERS = PASSAGE_CHARACTERS + 300
"""Characters of a passage with the name and the heading before it."""
HEADING_CHARACTERS = 100
BODY_CHARACTERS = 1 << 16
"""How far into a body passages are looked for: four of them are full long before, unless there is little but empty lines."""

_HEADING = re.compile(r"#{1,4}[ \t]")


def card(name: str, description: str) -> str:
    """Give the text of a skill's first vector."""
    return f"{_spoken(name)}: {description[:CARD_CHARACTERS]}"[:CARD_CHARACTERS]


def passages(name: str, body: str) -> list[str]:
    """Give the texts of a skill's other vectors: the first parts of its body, each after the name and its heading."""
    label, heading, part = _spoken(name), "", ""
    found: list[str] = []
    for line in body[:BODY_CHARACTERS].split("\n"):
        if part and len(part) + len(line) > PASSAGE_CHARACTERS:
            found.append(_passage(label, heading, part))
            part = ""
            if len(found) == PASSAGES:
                return found
        if _HEADING.match(line):
            heading = line.lstrip("# ").strip()[:HEADING_CHARACTERS]
        if text := line.strip():
            part += text + "\n"
    return [*found, _passage(label, heading, part)] if part else found


def _spoken(name: str) -> str:
    """Give a name as the words it is made of."""
    return name[:WHOLE_CHARACTERS].replace("-", " ")


def _passage(label: str, heading: str, part: str) -> str:
    return f"{label} - {heading}: {part}"[:WHOLE_CHARACTERS]
