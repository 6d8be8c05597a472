"""Characters that no reader sees, or that change what a reader sees: where they stand, and what they say."""

from __future__ import annotations

import re
from typing import NamedTuple
from unicodedata import category

from metier.standard.unseen import BIDI, TAG, VARIATION, ZERO_WIDTH

# The insides of character classes, as those of what is unseen are (ZE-28, HE-32).
CONTROL = "\x00-\x08\x0b\x0e-\x1f\x7f"
DROPPED = f"{CONTROL}\x0c\x80-\x84\x86-\x9f\u00ad{ZERO_WIDTH}{BIDI}{TAG}{VARIATION}"
"""What matching does without: all of the above, the soft hyphen and C1 controls."""

MOST = 500  # places told of in one text: more of them say nothing more


class Hidden(NamedTuple):
    """A run of characters that hide something."""

    kind: str
    """zero-width, bidi, tag, soft-hyphen, variation, control, carriage-return, private-use."""
    start: int
    end: int
    text: str = ""
    """What the run spells, when it spells anything."""


ODD = re.compile(r"[^\t\n -~]+")
_ORDINARY = b"\t\n" + bytes(range(0x20, 0x7F))
_RUN = re.compile(
    f"(?P<zero_width>[{ZERO_WIDTH}]+)|(?P<bidi>[{BIDI}]+)|(?P<tag>[{TAG}]+)|(?P<soft_hyphen>\u00ad+)|(?P<variation>[{VARIATION}]+)"
    f"|(?P<control>[{CONTROL}]+)|(?P<carriage_return>\r+)|(?P<private_use>[\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd]+)"
)
_REGION = re.compile(r"[a-z]{2}[a-z0-9]{1,4}\x7f")
# Writing systems that need joiners, non-joiners or invisible word breaks inside and between words, and direction marks.
_JOINING = re.compile("[\u0590-\u109f\u1780-\u18af\u1900-\u1aaf\ufb1d-\ufdff\ufe70-\ufefc\U00010a00-\U00011fff]")


def odd(original: str) -> str:
    """Give the characters that are not plain ASCII, in order: nothing for most texts, found at the speed of a copy."""
    return original.encode("utf-8", "surrogatepass").translate(None, _ORDINARY).decode("utf-8", "surrogatepass")


def hidden(original: str) -> list[Hidden]:
    """Find the places where characters are invisible or change direction, without the ones that writing and emoji need."""
    if _RUN.search(odd(original)) is None:
        return []
    found: list[Hidden] = []
    for stretch in ODD.finditer(original):
        for run in _RUN.finditer(original, *stretch.span()):
            kind, (start, end) = (run.lastgroup or "").replace("_", "-"), run.span()
            if not _needed(kind, original, start, end):
                found.append(Hidden(kind, start, end, _spelt(kind, run[0])))
                if len(found) == MOST:
                    return found
    return found


def _needed(kind: str, text: str, start: int, end: int) -> bool:
    """Tell the invisible characters that honest text holds."""
    before, after = text[start - 1:start], text[end:end + 1]
    if kind == "carriage-return":
        return after == "\n"
    if kind == "zero-width":
        return (start == 0 and text[start:end] == "\ufeff") or (end - start == 1 and _joiner(text[start], before, after))
    if kind == "variation":
        return end - start == 1 and _varies(before)
    if kind == "bidi":
        return end - start == 1 and text[start] in "\u061c\u200e\u200f" and _of_script(before, after)
    if kind == "tag":
        return before == "\U0001f3f4" and _REGION.fullmatch(_spelt_tags(text[start:min(end, start + 9)])) is not None
    return False


def _varies(before: str) -> bool:
    """Tell what has several forms to choose from: pictures, digits on keys, ideographs and Mongolian letters."""
    return before >= "\u2000" or "\u1800" <= before <= "\u18af" or before.isdigit() or category(before or " ")[0] in "SP"


def _joiner(mark: str, before: str, after: str) -> bool:
    """Tell a joiner between emoji from one in a word: the first builds families, the second hides."""
    if mark == "\u200d" and (_pictured(before) and _pictured(after)):
        return True
    return mark in "\u200b\u200c\u200d" and _of_script(before, after)


def _pictured(letter: str) -> bool:
    return letter != "" and (letter == "\ufe0f" or category(letter) in ("So", "Sk", "Sm"))


def _of_script(before: str, after: str) -> bool:
    return _JOINING.match(before) is not None or _JOINING.match(after) is not None


def _spelt(kind: str, run: str) -> str:
    """Read what a run says: tags are shifted ASCII, variation selectors number bytes, and two zero-widths are bits."""
    if kind == "tag":
        return "".join(letter for letter in _spelt_tags(run) if letter.isprintable())
    if kind == "variation" and len(run) > 1:
        return _as_text(bytes(map(_selected, run)))
    if kind == "zero-width" and len(run) >= 16:
        return _bits(run)
    return ""


def _spelt_tags(run: str) -> str:
    return "".join(chr(ord(letter) - 0xE0000) for letter in run)


def _selected(letter: str) -> int:
    code = ord(letter)
    return code - 0xE0100 + 16 if code >= 0xE0100 else code & 0x0F


def _bits(run: str) -> str:
    """Read a run of two kinds of zero-width characters as bits, either way round."""
    kinds = sorted(set(run))
    if len(kinds) != 2:
        return ""
    for one in kinds:
        bits = "".join("1" if letter == one else "0" for letter in run[:8192])
        text = _as_text(bytes(int(bits[at:at + 8], 2) for at in range(0, len(bits) - 7, 8)))
        if text:
            return text
    return ""


def _as_text(data: bytes) -> str:
    text = data.decode("utf-8", "replace")
    return text if text.isprintable() and "\ufffd" not in text else ""
