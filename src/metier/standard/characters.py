"""Lists the characters that need care in strangers' text: the marks of metier's own notes, their
brackets, and the characters that no reader sees. Pure.

Whoever composes a message and whoever keeps a stranger from forging one share the list of marks: a
new kind of note belongs here first. The unseen characters stand as the insides of character
classes, one each, because each tells another story.
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
"""Each is written after a square bracket. A quotation mark in it counts: `[skill guide](x)` is only
a link."""
FOLLOWED = dict.fromkeys((DIRECTORY, CONFIG, FILES, RUNTIME), (":", ",", ' of "'))
"""Words that honest links begin with as well, and what comes after them in a note: `[Supporting
files](x)` is only a link."""

TWINS = {
    "a": "\u0430\u1d00\u0251\u03b1",
    "b": "\u0185\u044c",
    "c": "\u0441\u03c3\u1d04",
    "d": "\u0501",
    "e": "\u0435\u1d07\u03b5",
    "f": "\u0493",
    "g": "\u0261\u050d",
    "h": "\u04bb",
    "i": "\u0456\u0269\u026a\u0131\u03b9",
    "j": "\u0458\u03f3",
    "k": "\u043a\u1d0b\u03ba",
    "l": "\u029f\u01c0\u04cf",
    "m": "\u043c\u1d0d",
    "n": "\u0578\u043f\u0274",
    "o": "\u043e\u03bf\u0585\u1d0f",
    "p": "\u0440\u03c1",
    "q": "\u051b",
    "r": "\u0433\u0280\u1d26",
    "s": "\u0455\ua731",
    "t": "\u0442\u1d1b\u03c4",
    "u": "\u057d\u03c5\u1d1c",
    "v": "\u03bd\u0475\u1d20",
    "w": "\u051d\u1d21",
    "x": "\u0445\u03c7",
    "y": "\u0443\u04af\u03b3",
    "z": "\u1d22",
    ":": "\u2236\ua789\u02d0\u02f8\u0589\u05c3",
    ",": "\u060c\u3001\ua4f9",
}
"""Small letters and signs of other alphabets that look like ours."""
CAPITAL_TWINS = {
    "b": "\u0412\u0392\u13f4",
    "h": "\u041d\u0397\u13bb",
    "m": "\u039c",
    "n": "\u039d",
    "y": "\u04ae\u03a5",
    "z": "\u0396\u13c3",
}
"""Capital letters that look like ours though their small ones do not: Cyrillic Ve, Greek Eta."""

OPENING = "[\uff3b\u3010\u3014\u27e6\u298b\u298d\u298f\u2772\u2045\u23a1\ufe47\u301a\u3016\u2e22\ufe5d\u27ec\u3018\u2997\u2e55"
CLOSING = "]\uff3d\u3011\u3015\u27e7\u298c\u298e\u2990\u2773\u2046\u23a4\ufe48\u301b\u3017\u2e23\ufe5e\u27ed\u3019\u2998\u2e56"
"""Square brackets and what looks like one."""
_ENCODED = {ord(char): f"&#{ord(char)};" for char in OPENING + CLOSING}
_DROPPED = dict.fromkeys(_ENCODED)


def unbracketed(text: str) -> str:
    """Write every square bracket of a stranger's text as an entity, so that it neither opens nor
    closes a note of ours.
    """
    return text.translate(_ENCODED)


def without_brackets(text: str) -> str:
    """Drop every square bracket."""
    return text.translate(_DROPPED)


ZERO_WIDTH = (
    "\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200d\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb"
    "\U0001d173-\U0001d17a\U000e0080-\U000e00ff\U000e01f0-\U000e0fff"
)
BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
TAG = "\U000e0000-\U000e007f"
VARIATION = "\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef"
BLANK = "\u00ad\u2800\U0001bca0-\U0001bca3"
"""The soft hyphen, the braille pattern without dots, and the format controls of shorthand."""
UNSEEN = f"{BLANK}{ZERO_WIDTH}{BIDI}{TAG}{VARIATION}"
"""All of them: every code point that is ignorable by default, letters among them, and what is
merely empty."""


_ACTING = rf"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff{UNSEEN}]"


def escape_for_terminal(text: str) -> str:
    """Show what a terminal would act on, and what no reader sees, as escapes."""
    import re  # a listing loads this module, and has no use for it

    return re.sub(
        _ACTING,
        lambda found: found[0].encode("unicode_escape", "surrogatepass").decode("ascii"),
        text,
    )
