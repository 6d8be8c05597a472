"""Letters that look like Latin ones: read as Latin where they pose as it, left alone in the languages that own them."""

from __future__ import annotations

import re
from unicodedata import combining

from metier.scan.unseen import odd

_CYRILLIC = dict(zip(
    "АВЕКМНОРСТХІЈЅԚԜҮаеорсухіјѕԁԛԝһӏүѵԍЬкмтвԌѠЗ",
    "ABEKMHOPCTXIJSQWYaeopcyxijsdqwhlyvgbkmtbGWZ", strict=True))
_GREEK = dict(zip(
    "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧαεικνορτυχϲϳγ",
    "ABEZHIKMNOPTYXaeikvoptuxcjy", strict=True))
_ARMENIAN = dict(zip("ՍՕԼհոսցօզյգք", "UOLhnugoqjqp", strict=True))
_CHEROKEE = dict(zip(
    "\u13aa\u13f4\u13df\u13a0\u13ac\u13bb\u13ab\u13e6\u13de\u13b7\u13e2\u13d2\u13da\u13a2\u13d9\u13b3\u13c3\u13a5",
    "ABCDEHJKLMPRSTVWZi", strict=True))
_TABLE = {**_CYRILLIC, **_GREEK, **_ARMENIAN, **_CHEROKEE}
_LATIN = str.maketrans(_TABLE)

ALWAYS = dict(zip(
    "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢɡᶦᶧᶫᶰɩ",
    "abcdefghijklmnoprstuvwyzgiilni", strict=True))
"""Phonetic letters, and letters in filled circles and squares, which no compatibility form resolves: Latin wherever they stand."""
ALWAYS |= {chr(block + at): chr(65 + at) for block in (0x1F150, 0x1F170) for at in range(26)}

_ANY = re.compile(f"[{''.join(_TABLE)}]")
_LINE = re.compile(r"[^\n]+")
_WORD = re.compile(r"[^\W\d_]+")
_OWN = (  # the letters of each script that owns lookalikes
    re.compile("[a-zA-Z]"),
    re.compile("[\u0400-\u052f]"),
    re.compile("[\u0370-\u03ff]"),
    re.compile("[\u0531-\u0587]"),
    re.compile("[\u13a0-\u13fd]"),
)
_PLAIN, _MIXED, _POSING, _HONEST = range(4)


def latinised(text: str) -> str:
    """Give the text with lookalikes as Latin letters where a word mixes scripts or poses among Latin words; lengths stay."""
    if _ANY.search(odd(text)) is None:
        return text
    return _LINE.sub(lambda line: _line(line[0]) if not line[0].isascii() and _ANY.search(line[0]) else line[0], text)


def _line(line: str) -> str:
    """Judge the words of one line together: `a` in a Russian sentence is Russian, between English words it is not."""
    words = [(found, _sort(found[0])) for found in _WORD.finditer(line)]
    sorts = {sort for _, sort in words}
    posing = _HONEST not in sorts and (_PLAIN in sorts or _MIXED in sorts)
    parts: list[str] = []
    done = 0
    for found, sort in words:
        if sort == _MIXED or (sort == _POSING and posing):
            end = found.end()
            if end < len(line) and combining(line[end]):  # an accent would melt into a Latin letter and change its place
                end -= 1
            parts += line[done:found.start()], line[found.start():end].translate(_LATIN)
            done = end
    return "".join((*parts, line[done:]))


def _sort(word: str) -> int:
    """Tell a Latin word, one that mixes scripts, one that could pose as Latin, and one that is honestly another script's."""
    if word.isascii():
        return _PLAIN
    if sum(own.search(word) is not None for own in _OWN) > 1:
        return _MIXED
    return _POSING if word.translate(_LATIN).isascii() else _HONEST
