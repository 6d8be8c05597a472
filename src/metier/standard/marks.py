"""What metier's own words in a message begin with, and the brackets they stand in. Pure.

Whoever composes a message and whoever keeps a stranger from forging one share this list: a new kind of note belongs here first.
"""

from __future__ import annotations

OWN_TEXT = "The user's own text"
ACTIVATED = 'Skill "'
DIRECTORY = "Skill directory"
CONFIG = "Skill config"
SETUP = "Skill setup note"
FILES = "Supporting files"
BUNDLE = 'Bundle "'
RUNTIME = "Runtime note"
REFUSED = "inline-shell refused"
NOTES = (OWN_TEXT, ACTIVATED, DIRECTORY, CONFIG, SETUP, FILES, BUNDLE, RUNTIME, REFUSED)
"""Each is written after a square bracket. A quotation mark in it counts: `[skill guide](x)` is only a link."""
FOLLOWED = dict.fromkeys((DIRECTORY, CONFIG, FILES, RUNTIME), (":", ",", ' of "'))
"""Words that honest links begin with as well, and what comes after them in a note: `[Supporting files](x)` is only a link."""

OPENING = "[\uff3b\u3010\u3014\u27e6\u298b\u298d\u298f\u2772\u2045\u23a1\ufe47\u301a\u3016\u2e22\ufe5d\u27ec\u3018\u2997\u2e55"
CLOSING = "]\uff3d\u3011\u3015\u27e7\u298c\u298e\u2990\u2773\u2046\u23a4\ufe48\u301b\u3017\u2e23\ufe5e\u27ed\u3019\u2998\u2e56"
"""Square brackets and what looks like one."""
_ENCODED = {ord(char): f"&#{ord(char)};" for char in OPENING + CLOSING}
_DROPPED = dict.fromkeys(_ENCODED)


def unbracketed(text: str) -> str:
    """Write every square bracket of a stranger's text as an entity, so that it neither opens nor closes a note of ours."""
    return text.translate(_ENCODED)


def without_brackets(text: str) -> str:
    """Drop every square bracket."""
    return text.translate(_DROPPED)
