"""Splits a text into the words it is found by, and counts them field by field. Pure, and the same
for what is indexed and for what is asked.

An identifier is found whole and by its parts (`getHTTPResponse`), `c++` and `c#` are words of their
own, accents do not count, and a script that does not part words is cut into pairs of characters.
Inflected forms share a stem.

The body is the whole text, its headings among the rest; which of its words stand in a heading is
known besides.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from metier.find.model import SkillText
    from metier.model import Texts


MadeT = TypeVar("MadeT")

MAX_WORD_CHARS = 40
"""Characters of a word; what is longer is a hash or a line of data, and nobody asks for it."""
MAX_RUN_CHARS = 256
"""Characters without a space between them that are looked at together."""
MAX_STEMS = 1 << 17
"""Stems that are remembered: most words of a library are the same few thousand."""

_JOINT = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z](?:[a-rt-z]|s[a-z]))")
"""Between a small letter and a capital, and before the last of several capitals; `URLs` is one
word."""
_IDENTIFIER = re.compile(r"[A-Z](?:(?<=[a-z0-9].)|(?<=[A-Z].)(?=[a-rt-z]|s[a-z]))[A-Za-z0-9]*")
"""The rest of an identifier, from its first joint on. To begin with what is rare is fast."""
_BEFORE = re.compile(r"[A-Za-z0-9]*\Z")
_ANY_WORD = re.compile(r"[^\W_]+(?:\+\+|#(?!#))?")
_STAYS = frozenset(b"0123456789abcdefghijklmnopqrstuvwxyz+#")
PLAIN_BYTES = bytes(
    code if code > 127 or code in _STAYS else 32 for code in bytes(range(256)).lower()
)
"""Small letters, and a space for whatever parts words; the two that stay are looked at word by
word."""
_PARTED = bytes(code if low != 32 else 32 for code, low in enumerate(PLAIN_BYTES))
"""The same with the letters as they are."""
_DENSE = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff]+"
)
"""Scripts that do not put spaces between words."""
_MARKS = frozenset({"Mn", "Mc", "Me"})
_SOUNDS = re.compile("[\u0900-\u1aaf\u1b00-\u1ccf\u3099\u309a\ua800-\uabff\U00010a00-\U00011fff]")
"""Among the marks those that are vowels or make another letter, in Japanese and the scripts of
southern Asia, and no accents."""
_UNSEEN = "\u00ad\u200c\u200d"
"""What may stand inside a word and only says how to draw it."""
_NO_ACCENT = {
    **str.maketrans("łŁđĐðÐøØħĦŧŦ\u0131", "lLdDdDoOhHtTi", _UNSEEN),
    **dict(zip(map(ord, "æÆœŒþÞ"), ("ae", "AE", "oe", "OE", "th", "Th"), strict=True)),
}
"""Letters that are no letter with an accent to Unicode, as they are written where there is no key
for them."""
_VOWELS = frozenset("aeiouy")
_ENDINGS = ("ation", "ator", "at", "ion", "or", "er", "ment", "ly", "al")
_STEM_LEAST = 4


def words(text: str) -> list[str]:
    """Give the stems of all words of a text, in their order; the parts of its identifiers follow
    after all of them.
    """
    return [stem(word) for word in plain_words(text)]


def plain_words(text: str) -> list[str]:
    """Give the words of a text as they stand, only without case and accents."""
    found = _split_words(text)
    for parts in identifiers(text).values():
        found += parts
    return [word for word in found if len(word) <= MAX_WORD_CHARS]


def counts(text: str) -> dict[str, int]:
    """Count the stems that `words` gives: whatever stands there often is looked at once, which
    takes half the time.
    """
    found: dict[str, int] = {}
    inner: set[str] = set()
    for run, often in Counter(_split(text, _PARTED)).items():
        roots, mixed = _RUNS[run]
        for root in roots:
            found[root] = found.get(root, 0) + often
        if mixed:
            inner.update(mixed)
    for parts in _divide(inner).values():
        for part in parts:
            root = stem(part)
            found[root] = found.get(root, 0) + 1
    return found


def roots(text: str) -> list[str]:
    """Give the stems of all words of a text, in their order, without the parts of its identifiers:
    that is many times as fast.
    """
    return [root for run in _split(text, _PARTED) for root in _RUNS[run][0]]


def _split(text: str, table: bytes) -> list[str]:
    """Cut a text at what a table makes a space; bytes are translated many times as fast as
    characters.
    """
    return text.encode("utf-8", "replace").translate(table).decode("utf-8").split()


def _take_apart(run: str) -> tuple[Texts, Texts]:
    """Give the stems of what stands between two spaces, and the identifiers in it."""
    plain = run.isalnum() and run.isascii()
    found = [run.lower()] if plain else _foreign(run)
    return tuple(
        stem(word) for word in found if len(word) <= MAX_WORD_CHARS
    ), () if run.islower() else tuple(_mixed(run))


class _Remembered(dict[str, MadeT]):
    """What was made of short texts before. A dictionary answers in a third of the time that
    `lru_cache` takes.
    """

    def __init__(self, make: Callable[[str], MadeT]) -> None:
        self.make = make

    def __missing__(self, text: str) -> MadeT:
        if len(self) >= MAX_STEMS:
            self.clear()
        found = self.make(text)
        if len(text) <= MAX_WORD_CHARS:
            self[text] = found
        return found


_RUNS = _Remembered(_take_apart)


def spoken(text: str) -> list[tuple[str, Texts]]:
    """Give the words of a text once each, an identifier with its parts: who asks for one means it,
    not all that it is made of.
    """
    parts = identifiers(text)
    return [
        (word, parts.get(word, ()))
        for word in dict.fromkeys(_split_words(text))
        if len(word) <= MAX_WORD_CHARS
    ]


def _split_words(text: str) -> list[str]:
    found = _split(text, PLAIN_BYTES)
    if "+" in text or "#" in text or not text.isascii():
        found = [
            piece
            for word in found
            for piece in ((word,) if word.isalnum() and word.isascii() else _foreign(word))
        ]
    return found


def identifiers(text: str) -> dict[str, Texts]:
    """Give the identifiers that are written in one, each in small letters with its parts:
    `getHTTPResponse` has three.
    """
    return _divide(_mixed(text))


def _mixed(text: str) -> set[str]:
    found = set()
    for joint in _IDENTIFIER.finditer(text):
        start = _BEFORE.search(text, max(joint.start() - MAX_WORD_CHARS, 0), joint.start() + 1)
        if start is not None and joint.end() - start.start() <= MAX_WORD_CHARS:
            found.add(text[start.start() : joint.end()])
    return found


def _divide(found: Iterable[str]) -> dict[str, Texts]:
    """Give the parts of identifiers; a single character, as in `3D`, says nothing by itself."""
    return {
        word.lower(): tuple(part.lower() for part in _JOINT.split(word) if len(part) > 1)
        for word in sorted(found)
    }


def _foreign(run: str) -> list[str]:
    """Give the words in one run of characters that are not all ASCII letters."""
    found: list[str] = []
    for piece in (run,) if len(run) <= MAX_RUN_CHARS else _cut(run):
        text = folded(piece).casefold()
        for word in _ANY_WORD.finditer(_with_letters(text)):
            found += _pieces(text[word.start() : word.end()])
    return found


def _cut(run: str) -> Iterator[str]:
    """Take a run in pieces: to put a long run of accents in order takes the square of its length.

    None begins with a mark, and where words are not parted, one begins with what the last ends
    with: no pair is lost.
    """
    start = 0
    while start + MAX_RUN_CHARS < len(run):
        end = _base(run, start + MAX_RUN_CHARS, start + MAX_RUN_CHARS // 2)
        yield run[start:end]
        last = _base(run, end - 1, start + 1)
        start = last if _DENSE.match(run, last) and _DENSE.match(run, end) else end
    yield run[start:]


def _base(run: str, at: int, least: int) -> int:
    """Give the place of the character to which the mark there belongs, as long as it is not too far
    away.
    """
    base = at
    while base > least and unicodedata.category(run[base]) in _MARKS:
        base -= 1
    return base if base > least else at


def folded(text: str) -> str:
    """Give a text without accents, and with one form for each character."""
    if text.isascii():
        return text
    parts = unicodedata.normalize("NFKD", text)
    kept = [
        one
        for one in parts
        if one.isalnum() or unicodedata.category(one) not in _MARKS or _SOUNDS.match(one)
    ]
    return unicodedata.normalize("NFC", "".join(kept).translate(_NO_ACCENT))


def _with_letters(text: str) -> str:
    """Put a letter for each mark that is left behind another character: to a pattern it is no part
    of a word, to a reader it is.
    """
    if text.isascii() or text.isalnum():
        return text
    letters = []
    inside = False
    for one in text:
        inside = one.isalnum() or (inside and unicodedata.category(one) in _MARKS)
        letters.append("a" if inside and not one.isalnum() else one)
    return "".join(letters)


def _pieces(word: str) -> list[str]:
    """Cut what has no spaces into pairs of characters, each with its marks; leave any other word as
    it is.
    """
    if word.isascii():
        return [word]
    found = []
    end = 0
    for dense in _DENSE.finditer(word):
        if dense.start() > end:
            found.append(word[end : dense.start()])
        run = _clusters(dense[0])
        end = dense.end()
        found += [one + other for one, other in pairwise(run)] or run
    if end < len(word):
        found.append(word[end:])
    return found


def _clusters(run: str) -> Sequence[str]:
    """Give characters, a mark with the one that it belongs to."""
    if run.isalnum():
        return run
    found: list[str] = []
    for one in run:
        if found and unicodedata.category(one) in _MARKS:
            found[-1] += one
        else:
            found.append(one)
    return found


def _stem(word: str) -> str:
    if not _STEM_LEAST <= len(word) <= MAX_WORD_CHARS or not word.isascii() or not word.isalpha():
        return word
    word = _without_tense(_singular(word))
    if len(word) > _STEM_LEAST and word[-1] == "e":
        word = word[:-1]
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _STEM_LEAST:
            word = word[: -len(ending)]
            break
    return word[:-1] + "i" if word[-1] == "y" and len(word) >= _STEM_LEAST else word


stem: Callable[[str], str] = _Remembered(_stem).__getitem__
"""Give what the forms of an English word have in common; any other word is its own stem."""


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > _STEM_LEAST:
        return word[:-3] + "y"
    if word.endswith("sses") or (word.endswith("es") and word[-3] in "sxz"):
        return word[:-2]
    return word[:-1] if word[-1] == "s" and word[-2] not in "sui" else word


def _without_tense(word: str) -> str:
    for ending in ("ing", "ed"):
        rest = word[: -len(ending)]
        if word.endswith(ending) and len(rest) >= _STEM_LEAST - 1 and not _VOWELS.isdisjoint(rest):
            return rest[:-1] if rest[-1] == rest[-2] and rest[-1] not in "lsz" else rest
    return word


# --- words that say nothing


STOP_WORDS = frozenset(
    words(
        "a an and any are as at be been but by can could did do does for from get give had has "
        "have help how i if in into is it its "
        "let like make may me my need no not of on or our please should so some tell than that "
        "the their them then there these they "
        "this to up us use want was we were what when where which who why will with would you your"
    )
)
"""Words that are in every request, whatever it is about."""


def telling_chars(text: str) -> int:
    """Count the characters of a text that belong to words which say something."""
    return sum(len(run) for run in text.split() if not _says_nothing(run))


def _says_nothing(run: str) -> bool:
    """Tell of what stands between two spaces whether it holds only such words, or nothing but plain
    signs.
    """
    found = words(run)
    return (
        all(word in STOP_WORDS for word in found)
        if found
        else run.isascii() and not any(map(str.isalnum, run))
    )


FIELDS = ("name", "description", "tags", "body", "headings")
"""Every field, in the order in which an index keeps their lengths; those before the last have words
of their own."""
NAME, DESCRIPTION, TAGS, BODY, HEADINGS = range(5)
MAX_TAG_CHARS = 200
EXACT_TAG = "\0"
"""Before a whole tag among the words: no word begins so."""

_LINE = re.compile(
    r"^(?:#{1,6} (?P<title>[^\n]*)| {0,3}(?P<fence>`{3,}|~{3,})(?P<rest>[^\n]*))", re.MULTILINE
)


class WordCounts(NamedTuple):
    """A skill's words: how often each field has each, which stand in a heading, how long each field
    is, and those of the name.
    """

    counts: tuple[dict[str, int], dict[str, int], dict[str, int], dict[str, int]]
    headed: frozenset[str]
    lengths: tuple[int, ...]
    named: frozenset[str]
    """As they are written, where all others are stems."""


def count_words(text: SkillText) -> WordCounts:
    """Count the words of a skill, field by field."""
    tags = counts(" ".join(text.tags))
    found = counts(text.name), counts(text.description), tags, counts(text.body)
    headed = frozenset(counts("\n".join(titles(text.body))).keys() & found[BODY].keys())
    lengths = (*(sum(one.values()) for one in found), len(headed))
    tags.update(
        {EXACT_TAG + tag: 1 for tag in map(exact_tag, text.tags)}
    )  # a filter is no word: it makes the field no longer
    return WordCounts(found, headed, lengths, frozenset(plain_words(text.name)))


def exact_tag(tag: str) -> str:
    """Give a tag in the form in which two tags are the same."""
    tag = unicodedata.normalize("NFD", tag[:MAX_TAG_CHARS]).casefold()
    return " ".join(unicodedata.normalize("NFC", tag).split())


def titles(body: str) -> Iterable[str]:
    """Give the headings of a text; a line in a code fence is none."""
    fence = ""
    for line in _LINE.finditer(body):
        marks = line["fence"]
        if marks is None:
            if not fence:
                yield line["title"]
        elif not fence:
            fence = marks if marks[0] == "~" or "`" not in line["rest"] else ""
        elif marks.startswith(fence) and not line["rest"].strip():
            fence = ""
