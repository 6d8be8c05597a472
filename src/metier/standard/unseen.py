"""The characters that no reader sees, as the insides of character classes: one each, because each tells another story. Pure."""

from __future__ import annotations

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
"""All of them: every code point that is ignorable by default, letters among them, and what is merely empty."""
