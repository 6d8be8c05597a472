"""Shows characters that nobody would see, or that change how others are read: a skill may hide words
in them.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from markupsafe import Markup, escape

UNSEEN = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff9-\uffff"
    "\ud800-\udfff\U000e0000-\U000e0fff]"
    # Joiners belong to some scripts and to emoji; beside ASCII they only hide.
    "|(?<![^\0-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\0-\x7f])"
)
MAX_MARKS = 40
"""Characters on end that get a mark each; of more, one mark says what they begin with and how many
they are."""
_MANY = re.compile(f"(?:{UNSEEN.pattern}){{{MAX_MARKS + 1},}}")
_SHOWN = frozenset({"\ufffd"})
"""What stands for bytes that are no text, and is seen."""


def visible(text: object) -> Markup:
    """Escape a text for a page, with a mark in the place of each character that is not seen."""
    told = _MANY.sub(_count, str(escape(str(text))))
    return Markup(UNSEEN.sub(_mark, told))  # noqa: S704 - escaped in the line above


def plain(text: str) -> str:
    """Give the same for where no element may stand, such as an attribute; nothing is escaped."""
    return UNSEEN.sub(lambda found: _name(found[0])[0], text)


def _count(found: re.Match[str]) -> str:
    if _SHOWN.issuperset(found[0]):
        return found[0]
    first = " ".join(_name(one)[0] for one in found[0][:MAX_MARKS])
    return f'<span class="unseen">{first} … {len(found[0]):,} characters</span>'


def _mark(found: re.Match[str]) -> str:
    if found[0] in _SHOWN:
        return found[0]
    code, name = _name(found[0])
    return f'<span class="unseen" title="{name}">{code}</span>'


@cache
def _name(one: str) -> tuple[str, str]:
    name = unicodedata.name(one, "a character without a name").lower()
    return f"U+{ord(one):04X}", str(escape(name))
