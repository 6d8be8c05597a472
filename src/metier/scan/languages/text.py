"""Characters that no reader sees, or that change what a reader sees: where they stand, and what
they say.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from itertools import accumulate, count, islice
from operator import add
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import category, combining, normalize

from metier.scan.model import MAX_HITS_PER_RULE, RuleHit
from metier.standard.characters import BIDI, TAG, VARIATION, ZERO_WIDTH

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


# The insides of character classes, as those of what is unseen are (ZE-28, HE-32).
CONTROL = "\x00-\x08\x0b\x0e-\x1f\x7f"
DROPPED = f"{CONTROL}\x0c\x80-\x84\x86-\x9f\u00ad{ZERO_WIDTH}{BIDI}{TAG}{VARIATION}"
"""What matching does without: all of the above, the soft hyphen and C1 controls."""

MAX_HIDDEN = 500  # places told of in one text: more of them say nothing more


class HiddenText(NamedTuple):
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
# Writing systems that need joiners, non-joiners or invisible word breaks inside and between words,
# and direction marks.
_JOINING = re.compile(
    "[\u0590-\u109f\u1780-\u18af\u1900-\u1aaf\ufb1d-\ufdff\ufe70-\ufefc\U00010a00-\U00011fff]"
)


def odd(original: str) -> str:
    """Give the characters that are not plain ASCII, in order: nothing for most texts, found at the
    speed of a copy.
    """
    return (
        original.encode("utf-8", "surrogatepass")
        .translate(None, _ORDINARY)
        .decode("utf-8", "surrogatepass")
    )


def find_hidden(original: str) -> list[HiddenText]:
    """Find the places where characters are invisible or change direction, without the ones that
    writing and emoji need.
    """
    if _RUN.search(odd(original)) is None:
        return []
    found = []
    for stretch in ODD.finditer(original):
        for run in _RUN.finditer(original, *stretch.span()):
            kind, (start, end) = (run.lastgroup or "").replace("_", "-"), run.span()
            if not _needed(kind, original, start, end):
                found.append(HiddenText(kind, start, end, _spelt(kind, run[0])))
                if len(found) == MAX_HIDDEN:
                    return found
    return found


def _needed(kind: str, text: str, start: int, end: int) -> bool:
    """Tell the invisible characters that honest text holds."""
    before = text[start - 1 : start]
    after = text[end : end + 1]
    if kind == "carriage-return":
        return after == "\n"
    if kind == "zero-width":
        return (start == 0 and text[start:end] == "\ufeff") or (
            end - start == 1 and _joiner(text[start], before, after)
        )
    if kind == "variation":
        return end - start == 1 and _varies(before)
    if kind == "bidi":
        return (
            end - start == 1 and text[start] in "\u061c\u200e\u200f" and _of_script(before, after)
        )
    if kind == "tag":
        return (
            before == "\U0001f3f4"
            and _REGION.fullmatch(_spelt_tags(text[start : min(end, start + 9)])) is not None
        )
    return False


def _varies(before: str) -> bool:
    """Tell what has several forms to choose from: pictures, digits on keys, ideographs and
    Mongolian letters.
    """
    return (
        before >= "\u2000"
        or "\u1800" <= before <= "\u18af"
        or before.isdigit()
        or category(before or " ")[0] in "SP"
    )


def _joiner(mark: str, before: str, after: str) -> bool:
    """Tell a joiner between emoji from one in a word: the first builds families, the second
    hides.
    """
    if mark == "\u200d" and (_pictured(before) and _pictured(after)):
        return True
    return mark in "\u200b\u200c\u200d" and _of_script(before, after)


def _pictured(letter: str) -> bool:
    return letter != "" and (letter == "\ufe0f" or category(letter) in ("So", "Sk", "Sm"))


def _of_script(before: str, after: str) -> bool:
    return _JOINING.match(before) is not None or _JOINING.match(after) is not None


def _spelt(kind: str, run: str) -> str:
    """Read what a run says: tags are shifted ASCII, variation selectors number bytes, and two
    zero-widths are bits.
    """
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
        text = _as_text(bytes(int(bits[at : at + 8], 2) for at in range(0, len(bits) - 7, 8)))
        if text:
            return text
    return ""


def _as_text(data: bytes) -> str:
    text = data.decode("utf-8", "replace")
    return text if text.isprintable() and "\ufffd" not in text else ""


# Cyrillic, Greek, Armenian and Cherokee letters, and the Latin ones below that they look like.
_LOOKALIKES = (
    "АВЕКМНОРСТХІЈЅԚԜҮаеорсухіјѕԁԛԝһӏүѵԍЬкмтвԌѠЗ"
    "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧαεικνορτυχϲϳγ"
    "ՍՕԼհոսցօզյգք"
    "\u13aa\u13f4\u13df\u13a0\u13ac\u13bb\u13ab\u13e6\u13de\u13b7\u13e2\u13d2\u13da\u13a2\u13d9\u13b3\u13c3\u13a5"
)
_LATIN = str.maketrans(
    _LOOKALIKES,
    "ABEKMHOPCTXIJSQWYaeopcyxijsdqwhlyvgbkmtbGWZ"
    "ABEZHIKMNOPTYXaeikvoptuxcjy"
    "UOLhnugoqjqp"
    "ABCDEHJKLMPRSTVWZi",
)

ALWAYS = dict(zip("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢɡᶦᶧᶫᶰɩ", "abcdefghijklmnoprstuvwyzgiilni", strict=True))
"""Phonetic letters, and letters in filled circles and squares, which no compatibility form
resolves: Latin wherever they stand."""
ALWAYS |= {chr(block + at): chr(65 + at) for block in (0x1F150, 0x1F170) for at in range(26)}

_ANY = re.compile(f"[{_LOOKALIKES}]")
_LINE = re.compile(r"[^\n]+")
_WORD = re.compile(r"[^\W\d_]+")
_OWN = [  # the letters of each script that owns lookalikes
    re.compile(f"[{letters}]")
    for letters in (
        "a-zA-Z",
        "\u0400-\u052f",
        "\u0370-\u03ff",
        "\u0531-\u0587",
        "\u13a0-\u13fd",
    )
]
_PLAIN, _MIXED, _POSING, _HONEST = range(4)


def latinised(text: str) -> str:
    """Give the text with lookalikes as Latin letters where a word mixes scripts or poses among
    Latin words; lengths stay.
    """
    if _ANY.search(odd(text)) is None:
        return text
    return _LINE.sub(
        lambda line: _line(line[0]) if not line[0].isascii() and _ANY.search(line[0]) else line[0],
        text,
    )


def _line(line: str) -> str:
    """Judge the words of one line together: `a` in a Russian sentence is Russian, between English
    words it is not.
    """
    words = [(found, _sort(found[0])) for found in _WORD.finditer(line)]
    sorts = {sort for _, sort in words}
    posing = _HONEST not in sorts and (_PLAIN in sorts or _MIXED in sorts)
    parts: list[str] = []
    done = 0
    for found, sort in words:
        if sort == _MIXED or (sort == _POSING and posing):
            end = found.end()
            if end < len(line) and combining(
                line[end]
            ):  # an accent would melt into a Latin letter and change its place
                end -= 1
            parts += line[done : found.start()], line[found.start() : end].translate(_LATIN)
            done = end
    return "".join((*parts, line[done:]))


def _sort(word: str) -> int:
    """Tell a Latin word, one that mixes scripts, one that could pose as Latin, and one that is
    honestly another script's.
    """
    if word.isascii():
        return _PLAIN
    if sum(own.search(word) is not None for own in _OWN) > 1:
        return _MIXED
    return _POSING if word.translate(_LATIN).isascii() else _HONEST


__all__ = [
    "HiddenText",
    "LineIndex",
    "MappedText",
    "edited",
    "find_filler",
    "find_hidden",
    "look_alikes",
    "lowered",
    "normalise",
]

Edit = tuple[int, int, str]
"""Characters from here to there become this."""
Steps = tuple["array[int]", "array[int]"]
"""From these places on, the original is this much further on."""

MAX_EXPANSION_CHARS = (
    4  # characters that one may stand for; the few that are whole sentences stay as they are
)
# more accents than this on one letter are dropped: Unicode's stream-safe limit; sorting them is
# quadratic
MAX_ACCENTS = 30

_ALWAYS = str.maketrans(ALWAYS)
_DROPPED = re.compile(f"\r|[{DROPPED}]+|[{''.join(ALWAYS)}]")
_FOREIGN = re.compile(r"[^\x00-\x7f]+")
# Letters that join the letter before them although Unicode gives them no combining class.
_SECONDS = frozenset(
    "\u09be\u09d7\u0b3e\u0b56\u0b57\u0bbe\u0bd7\u0cc2\u0cd5\u0cd6\u0d3e\u0d57\u0dcf\u0ddf\u102e\u1b35\U00011127\U0001133e\U00011357"
    "\U000114b0\U000114ba\U000114bd\U000115af\U00011930"
) | {chr(code) for jamo in (range(0x1161, 0x1176), range(0x11A8, 0x11C3)) for code in jamo}


class MappedText(NamedTuple):
    """Normalised text, and how to get from a place in it to the place in the original."""

    plain: str
    steps: tuple[Steps, ...] = ()

    def origin(self, at: int) -> int:
        """Give the offset in the original of the character at this offset of the plain text."""
        for places, shifts in reversed(self.steps):
            at += shifts[bisect_right(places, at) - 1]
        return at

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Give the stretch of the original that a match in the plain text covers, without what is
        hidden behind its end.
        """
        first = self.origin(start)
        return first, max(first, self.origin(end - 1) + 1) if end > start else first


def normalise(original: str) -> MappedText:
    """Give the text that a reader sees: compatibility forms and lookalikes resolved, the invisible
    removed.
    """
    rest = odd(original)
    if not rest:
        return MappedText(original)
    text = MappedText(original)
    if _DROPPED.search(rest):
        text = edited(text, _invisible(original))
        rest = odd(text.plain)
    letters = set(rest)
    accents = [letter for letter in letters if _joins(letter)]
    if accents:
        text = edited(text, _piles(text.plain, accents))
    if accents or any(normalize("NFKC", letter) != letter for letter in letters):
        text = edited(text, _compatible(text.plain))
    return MappedText(latinised(text.plain), text.steps)


class LineIndex:
    """Where lines begin, so that an offset can be told as line and column, both counted from 1."""

    def __init__(self, original: str) -> None:
        """Remember the text; it is looked through only when the first place is asked for."""
        self._original = original
        self._starts: list[int] | None = None

    def place(self, at: int) -> tuple[int, int]:
        """Give line and column of an offset."""
        if self._starts is None:
            self._starts = line_starts(self._original)
        line = bisect_right(self._starts, at)
        return line, at - self._starts[line - 1] + 1


def line_starts(text: str) -> list[int]:
    """Give where each line begins; a line ends with a newline, a carriage return, or both."""
    if "\r" in text:
        text = text.replace("\r\n", " \n").replace("\r", "\n")
    sizes = accumulate(map(len, text.split("\n")))
    return [0, *map(add, sizes, count(1))][:-1]


def edited(text: MappedText, edits: Iterable[Edit]) -> MappedText:
    """Apply edits that are in order and do not overlap; places are noted only where the distance
    changes.
    """
    parts: list[str] = []
    plain = text.plain
    done = 0
    length = 0
    places = array("q", [0])
    shifts = array("q", [0])
    for start, end, new in edits:
        parts += plain[done:start], new
        length += start - done
        if len(new) > 1:  # every character of an expansion comes from the one place
            places.extend(range(length, length + len(new)))
            shifts.extend(range(start - length, start - length - len(new), -1))
        length += len(new)
        done = end
        if shifts[-1] != end - length:
            places.append(length)
            shifts.append(end - length)
    if not parts:
        return text
    parts.append(plain[done:])
    return MappedText("".join(parts), (*text.steps, (places, shifts)))


def _invisible(original: str) -> Iterator[Edit]:
    """Drop what cannot be seen; every line end becomes a newline, a lone carriage return
    included.
    """
    for run in ODD.finditer(original):
        for found in _DROPPED.finditer(original, *run.span()):
            start, end = found.span()
            if found[0] == "\r":
                yield start, end, "" if original.startswith("\n", end) else "\n"
            else:
                yield start, end, ALWAYS.get(found[0], "")


def _piles(plain: str, accents: list[str]) -> Iterator[Edit]:
    """Drop the accents beyond any writing system's need from letters that are buried under them."""
    pile = re.compile(f"[{''.join(sorted(accents))}]{{{MAX_ACCENTS + 1},}}")
    for found in pile.finditer(plain):
        yield found.start() + MAX_ACCENTS, found.end(), ""


def _compatible(plain: str) -> Iterator[Edit]:
    """Bring every cluster of characters to its compatibility form (NFKC)."""
    for run in _FOREIGN.finditer(plain):
        first = max(run.start() - 1, 0)  # the letter before may take an accent
        token = plain[first : run.end()]
        if normalize("NFKC", token) == token:
            continue
        start = 0
        for at in range(1, len(token) + 1):
            if at < len(token) and _joins(token[at]):
                continue
            cluster = token[start:at]
            form = normalize("NFKC", cluster)
            if form != cluster and len(form) <= MAX_EXPANSION_CHARS * len(cluster):
                form = normalize(
                    "NFKC", form.translate(_ALWAYS)
                )  # a few forms are phonetic letters
                yield first + start, first + at, form
            start = at


def _joins(letter: str) -> bool:
    """Tell whether a character belongs to the one before it."""
    first = normalize("NFKD", letter)[0]
    return combining(first) > 0 or first in _SECONDS


def lowered(text: str) -> str:
    """Lower a text without moving anything: a letter whose small form is longer stays as it is."""
    low = text.lower()
    if len(low) != len(text):
        low = "".join(small if len(small := letter.lower()) == 1 else letter for letter in text)
    return low.replace("\u2019", "'")


_FOREIGN_ALPHABET = re.compile(r"[\u0370-\u03ff\u0400-\u052f\u0530-\u058f]")
_MIXED_WORD = re.compile(
    r"[A-Za-z]{1,40}[\u0370-\u03ff\u0400-\u052f\u0530-\u058f]{1,3}[A-Za-z]{1,40}"
)


def look_alikes(original: str) -> list[RuleHit]:
    """Find words that mix alphabets in a text as it was written."""
    if original.isascii() or _FOREIGN_ALPHABET.search(odd(original)) is None:
        return []
    return [
        RuleHit("SC164", match.start(), match.end())
        for match in islice(_MIXED_WORD.finditer(original), MAX_HITS_PER_RULE)
    ]


MIN_REPEATS = 12
"""How often one sentence stands in a row before it counts as filler."""
MIN_FILLER_CHARS = 20
MAX_FILLER_CHARS = 200
"""Characters of a sentence that may be filler."""
_FILLER_LINE = re.compile(r"[^\n.!?]++[.!?\n]?")


def find_filler(text: str) -> Iterator[RuleHit]:
    """Find one sentence that stands many times in a row: filler, whatever it says."""
    # Without what ends them, sentences are alike at least as often, and are cut out much faster.
    ends = text.replace(".", "\n").replace("!", "\n").replace("?", "\n")
    told = [part.strip() for part in ends.split("\n") if len(part) >= MIN_FILLER_CHARS - 1]
    if len(told) - len(set(told)) < MIN_REPEATS - 1:
        return  # nothing stands there so often, in a row or not
    before = ""
    run = 0
    start = 0
    for match in _FILLER_LINE.finditer(text):
        line = match.group().strip()
        if not MIN_FILLER_CHARS <= len(line) <= MAX_FILLER_CHARS:
            before = "" if line else before  # anything between breaks the row, but an empty line
            continue
        if line == before and any(map(str.isalpha, line)):
            run += 1
            if run == MIN_REPEATS:
                yield RuleHit("SC165", start, match.end())
        else:
            before = line
            run = 1
            start = match.start()
