"""Cuts a text into sentences, and each sentence into the concepts that it speaks of.

Words become concepts in one pass, after which rules speak of `secret` and `send` and not of
spellings. A rule written on words catches the sentence it was written for; one written on concepts
also catches its paraphrase. Of each sentence, only the concepts it holds are kept, with their
places.
"""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import chain, filterfalse
from typing import TYPE_CHECKING, NamedTuple

from metier.scan.languages.text import lowered
from metier.scan.model import word_set
from metier.scan.rules.prose import PHRASES, SHAPES, STEMS, WORDS
from metier.scan.tongues import gloss, tongues_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from metier.model import Texts
    from metier.scan.tongues import GlossPlace


MAX_SENTENCE_WORDS = 60
"""Words after which a sentence ends, whatever the text says: no rule looks further."""
MAX_KNOWN_TOKENS = 1 << 16
MAX_KNOWN_TOKEN_CHARS = 40
"""Tokens whose meaning is kept between texts, and how long each may be."""
# A sentence ends here whatever stands before it, since no other token has a line's end in it.
_BLOCK_END = re.compile(r"\n[ \t]*(?:\n|[-*+>#|]|\d{1,3}[.)])")
# The tokens between two such ends: a plain word, an address, a path or dotted word, the end of a
# sentence. Most are plain words, so they come first. What follows a token and cannot begin one is
# taken along: a search from each such character would cost more than the token.
_TOKEN = re.compile(
    r"([^\W\d]\w*+(?:['\-][^\W\d]\w*+){0,8}+(?!://|\.[^\W\d])"
    r"|(?:https?|s?ftp|rsync|imaps?|wss?|ssh|tcp)://[^\s)\]>\"'`]{1,300}"
    r"|[~./$@]{1,3}[^\W\d]\w*(?:['\-.][^\W\d]\w*){0,8}|[^\W\d]\w*(?:['\-.][^\W\d]\w*){0,8}"
    r"|[.!?:;](?=\s|$)|```|~~~|\x1e)"
    r"[ \t\n,()0-9\"*|=<>\-+#\[\]{}'&%^\\]*+"
)
_STOPS = word_set(". ! ? : ; ``` ~~~")
_BREAK, _OTHER_BREAK = "\x1e", "\x1f"
"""What is put between the blocks of a text: white space, and so in no other token."""
_URL_SIGN, _URL_WORD = "://", "http-url"
_PATH = 3
"""The kind of a path or dotted word, as `tongues` numbers them."""


class Mention(NamedTuple):
    """One concept at one place: which words of the sentence stand for it."""

    concept: str
    at: int
    """The number of its first word in the sentence."""
    last: int


Held = tuple[tuple[str, ...], int, int]
"""Concepts, and the numbers of the first and the last word of the sentence that stand for them."""


class TextBlocks:
    """The blocks of a text, which end where every sentence does. Where they stand is found when the
    first one is asked for.
    """

    def __init__(self, text: str, spans: list[tuple[int, int]] | None = None) -> None:
        """Remember the text, and which stretches of it are looked at if not all are."""
        self.text = text
        self._spans = spans
        self._last: tuple[int, TokenPlaces] = -1, TokenPlaces(self, -1)

    @property
    def spans(self) -> list[tuple[int, int]]:
        """Give where each begins and ends."""
        if self._spans is None:
            ends = [*map(re.Match.span, _BLOCK_END.finditer(self.text)), (len(self.text), 0)]
            starts = [0, *(after for _, after in ends)]
            self._spans = [(start, end) for start, (end, _) in zip(starts, ends, strict=False)]
        return self._spans

    def places(self, number: int) -> TokenPlaces:
        """Give where the tokens of one stand: the same for all its sentences."""
        if self._last[0] != number:
            self._last = number, TokenPlaces(self, number)
        return self._last[1]

    def joined(self) -> str:
        """Give them in one text, apart by breaks."""
        if self._spans is None:
            return _BREAK.join(_BLOCK_END.split(self.text))
        return _BREAK.join([self.text[start:end] for start, end in self._spans])


class TokenPlaces:
    """Where the tokens of one block stand. Few sentences are asked for theirs, so they are found
    when the first one is.
    """

    def __init__(self, blocks: TextBlocks, number: int) -> None:
        """Remember which block it is."""
        self._block = blocks, number
        self._spans: list[tuple[int, int]] | None = None

    def span(self, number: int) -> tuple[int, int]:
        """Give the characters of a token."""
        if self._spans is None:
            blocks, block = self._block
            found = _TOKEN.finditer(blocks.text, *blocks.spans[block])
            self._spans = [match.span(1) for match in found]
        return self._spans[number]


class GlossPlaces(NamedTuple):
    """Where the words of a gloss come from."""

    places: Sequence[re.Match[str] | GlossPlace]

    def span(self, number: int) -> tuple[int, int]:
        """Give the characters of a word."""
        return self.places[number].span()


class Sentence(NamedTuple):
    """The concepts of one sentence, in order; `words` is how many words it has. Most sentences are
    done with once it is known which concepts they hold.
    """

    held: Sequence[Held]
    concepts: frozenset[str]
    places: TokenPlaces | GlossPlaces
    first: int
    """The number of its first word among the places."""
    words: int
    stretch: int = 0
    """How many more words than in English may stand between two parts of a shape."""
    back: int = 0
    """How far a part may stand before the one that it follows in English."""

    @property
    def mentions(self) -> list[Mention]:
        """Give each concept by itself."""
        return [Mention(concept, *where) for concepts, *where in self.held for concept in concepts]

    @property
    def start(self) -> int:
        """Give where its first word begins."""
        return self.places.span(self.first)[0]

    @property
    def end(self) -> int:
        """Give where its last word ends."""
        return self.places.span(self.first + self.words - 1)[1]

    def span(self, mention: Mention) -> tuple[int, int]:
        """Give the characters of a mention."""
        start, end = self.places.span(self.first + mention.at)
        if mention.last > mention.at:
            end = self.places.span(self.first + mention.last)[1]
        return start, end


def _inflected(stem: str) -> list[str]:
    """Give a verb's or noun's common forms. Rough: a form that does not exist never occurs
    either.
    """
    short = stem[:-1]
    last = stem[-1:]
    forms = f"{stem}s {stem}ed {stem}ing {stem}{last}ed {stem}{last}ing"
    if last == "e":
        forms = f"{stem}s {stem}d {short}ing"
    elif last == "y" and stem[-2:-1] not in "aeiou":
        forms = f"{short}ies {short}ied {stem}ing"
    elif stem.endswith(("s", "x", "z", "ch", "sh")):
        forms = f"{stem}es {stem}ed {stem}ing"
    return [stem, *forms.split()]


PhraseRow = tuple[list[str], tuple[str, ...]]
Phrases = dict[str, dict[str, list[PhraseRow]]]
"""By the first and the second word: all words but the first, and the concept, longest first. Those
of one word stand below each second word, and below none."""


def _lexicon() -> dict[str, Texts]:
    words = defaultdict(set)
    for concept, text in WORDS.items():
        for word in text.split():
            words[word].add(concept)
    for concept, text in STEMS.items():
        for stem in text.split():
            for form in _inflected(stem):
                words[form].add(concept)
    return {word: tuple(sorted(concepts)) for word, concepts in words.items()}


def _phrases() -> Phrases:
    phrases: Phrases = {}
    for concept, line in PHRASES.items():
        for phrase in line.split(", "):
            first, *rest = phrase.split()
            seconds = phrases.setdefault(first, {"": []})
            seconds.setdefault(rest[0] if rest else "", []).append((rest, (concept,)))
    for seconds in phrases.values():
        for second in seconds.keys() - {""}:
            seconds[second].sort(key=lambda pair: -len(pair[0]))
            seconds[second] += seconds[""]
    return phrases


_WORDS, _PHRASES = _lexicon(), _phrases()
_KNOWN = frozenset(_WORDS.keys() | _PHRASES.keys())
_DENIABLE = STEMS.keys() | {
    shape.split()[0] for row in SHAPES.values() for shape in row.split(", ") if "!" in shape
}
"""Concepts of what somebody does, which a *not* turns into its opposite."""


_MAIL_CONCEPTS = ("endpoint", "address")
_LETTERS_ONLY = bytes(
    code if chr(code) in "abcdefghijklmnopqrstuvwxyz_" else 32 for code in range(256)
)


def _signs() -> dict[bytes, set[str]]:
    """Give each concept below the longest run of letters of each word and phrase that stands for
    it: where that run is missing, so is the word.
    """
    signs: dict[bytes, set[str]] = defaultdict(set)
    phrases = (
        (" ".join((first, *rest)), concepts)
        for first, seconds in _PHRASES.items()
        for group in seconds.values()
        for rest, concepts in group
    )
    for words, concepts in chain(_WORDS.items(), phrases):
        runs = words.encode("ascii", "replace").translate(_LETTERS_ONLY).split()
        signs[max(runs, key=len)].update(concepts)
    return dict(signs)


_SIGNS = _signs()
PhrasesBySecond = dict[str, list[PhraseRow]]
TokenMeaning = tuple[tuple[str, ...], PhrasesBySecond]
"""The concepts of a token by itself, and the phrases that it may begin, by their second word."""
_STOP: TokenMeaning = ((), {})
_BLOCK_STOP: TokenMeaning = ((), {})
"""The meanings of what ends a sentence, and of what ends a block."""


def _meaning(word: str, parts: Texts = ()) -> TokenMeaning | None:
    concepts = _WORDS.get(word, ()) + parts
    phrases = _PHRASES.get(word, {})
    return (concepts, phrases) if concepts or phrases else None


class _Meanings(dict[str, "TokenMeaning | None"]):
    """What each token means: the words that are known, and all others once they are met. Most of
    those mean nothing, and need not be asked about again.
    """

    def __missing__(self, token: str) -> TokenMeaning | None:
        meaning = None
        if _URL_SIGN in token:
            meaning = self[_URL_WORD]
        elif token[0] in "~./$@" or "." in token:
            meaning = _meaning(token, tuple(_parts(token)))
        if len(self) < MAX_KNOWN_TOKENS and len(token) <= MAX_KNOWN_TOKEN_CHARS:
            self[token] = meaning
        return meaning


_KNOWN_MEANINGS = {word: _meaning(word) for word in _KNOWN}
_MEANINGS = _Meanings(
    (word, meaning)
    for word, meaning in _KNOWN_MEANINGS.items()
    if word[0] not in ".~$@/" and "." not in word
)
_MEANINGS.update(dict.fromkeys(_STOPS, _STOP))
_MEANINGS[_BREAK] = _BLOCK_STOP


class WantedConcepts(NamedTuple):
    """What somebody looks for in the sentences of a text."""

    alone: Sequence[frozenset[str]]
    """Concepts that one sentence must hold together."""
    beside: Sequence[frozenset[str]]
    """Concepts of a sentence whose neighbours count as well."""


def sentences(text: str, wanted: WantedConcepts | None = None) -> list[Sentence]:
    """Cut a normalised text into sentences, each with the concepts in it; those without any are
    left out, and so may be those that cannot hold what is wanted.
    """
    low = lowered(text).replace(_BREAK, _OTHER_BREAK)
    blocks = TextBlocks(low)
    words = None if wanted else _TOKEN.findall(blocks.joined())
    tongues = tongues_in(low, words)
    if tongues:
        return list(_glossed(low, tongues))
    if wanted:
        likely = _likely_concepts(low)
        if not any(one <= likely for one in wanted.beside):
            alone = [one for one in wanted.alone if one <= likely]
            spans = (
                [span for span in blocks.spans if _may_hold(low[slice(*span)], alone)]
                if alone
                else []
            )
            if not spans:
                return []
            blocks = TextBlocks(low, spans)
    return list(_cut(blocks, words or _TOKEN.findall(blocks.joined())))


def _may_hold(low: str, wanted: Sequence[frozenset[str]]) -> bool:
    likely = _likely_concepts(low)
    return any(one <= likely for one in wanted)


def _likely_concepts(low: str) -> set[str]:
    """Give the concepts of all sentences of a text, and perhaps some more, in a tenth of the time
    that it takes to cut them.
    """
    letters = set(low.encode("ascii", "replace").translate(_LETTERS_ONLY).split())
    found = set().union(*map(_SIGNS.__getitem__, _SIGNS.keys() & letters))
    if _URL_SIGN in low:
        found.update(_WORDS[_URL_WORD])
    if "@" in low:
        found.update(_MAIL_CONCEPTS)
    return found


def _cut(blocks: TextBlocks, words: list[str]) -> Iterator[Sentence]:
    """Cut a text into sentences; every token belongs to some. The time of a scan is spent here: most
    words say nothing, and are passed over at once.
    """
    words = [*words, _BREAK]
    block = begin = first = 0
    held: list[Held] = []
    for at, meaning in enumerate(map(_MEANINGS.__getitem__, words)):
        if meaning is None:
            continue
        stops = meaning is _STOP or meaning is _BLOCK_STOP
        if held and (stops or at - first >= MAX_SENTENCE_WORDS):
            count = min(at - first, MAX_SENTENCE_WORDS)
            yield Sentence(held, _concepts(held), blocks.places(block), first - begin, count)
            held = []
        if stops:
            first = at + 1
            if meaning is _BLOCK_STOP:
                block += 1
                begin = first
            continue
        if at - first >= MAX_SENTENCE_WORDS:
            first = at - (at - first) % MAX_SENTENCE_WORDS
        concepts, phrases = meaning
        if concepts:
            held.append((concepts, at - first, at - first))
        if phrases and (likely := phrases.get(words[at + 1]) or phrases[""]):
            held += _standing(likely, words, at, first, first + MAX_SENTENCE_WORDS)


def _standing(
    likely: list[PhraseRow], words: list[str], at: int, first: int, stop: int
) -> list[Held]:
    """Give the phrases that do stand at a word, and end before `stop`; places count from `first`."""
    return [
        (concept, at - first, at + len(rest) - first)
        for rest, concept in likely
        if at + len(rest) < stop and words[at + 1 : at + 1 + len(rest)] == rest
    ]


def _concepts(held: list[Held]) -> frozenset[str]:
    if len(held) == 1:
        return _CONCEPTS[held[0][0]]
    return frozenset().union(*[one[0] for one in held])


class _ConceptSets(dict["tuple[str, ...]", "frozenset[str]"]):
    """The concepts of a word as a set: many sentences hold no others."""

    def __missing__(self, concepts: tuple[str, ...]) -> frozenset[str]:
        found = frozenset(concepts)
        if len(self) < MAX_KNOWN_TOKENS:
            self[concepts] = found
        return found


_CONCEPTS = _ConceptSets()


def _glossed(low: str, tongues: Texts) -> Iterator[Sentence]:
    """Read a text that is not, or not only, in English; what is said not to be done is left out."""
    for one in gloss(low, tongues, _KNOWN):
        words, places, denied = one.words, one.places, one.denied
        telling = [
            (at, meaning)
            for at, word in enumerate(words)
            if word  # one that a sentence negates may be blanked out
            if (
                meaning := _MEANINGS[word]
                if places[at].lastindex == _PATH
                else _KNOWN_MEANINGS.get(word)
            )
        ]
        held: list[Held] = []
        for at, (concepts, phrases) in telling:
            if concepts:
                held.append((concepts, at, at))
            following = words[at + 1] if at + 1 < len(words) else ""
            likely = phrases.get(following) or phrases.get("", [])
            held += _standing(likely, words, at, 0, len(words))
        if denied:
            held = [
                (tuple(filterfalse(_DENIABLE.__contains__, concepts)), at, last)
                if at in denied or last in denied
                else (concepts, at, last)
                for concepts, at, last in held
            ]
        if any(concepts for concepts, *_ in held):
            yield Sentence(
                held=held,
                concepts=_concepts(held),
                places=GlossPlaces(places),
                first=0,
                words=len(places),
                stretch=one.stretch,
                back=one.back,
            )


def _parts(word: str) -> Iterator[str]:
    """Look up the parts of a path or a dotted word: `~/.ssh/id_rsa` speaks of `.ssh` and
    `id_rsa`.
    """
    if word[0] == "@" and "." in word:
        yield from _MAIL_CONCEPTS  # the second half of a mail address
    for part in re.split(r"[/\\]", word):
        yield from _WORDS.get(part, ())
        if "." in part[1:]:
            yield from _WORDS.get(part[part.rindex(".") :], ())
        bare = part.strip(".~$@")
        if bare != part:
            yield from _WORDS.get(bare, ())


MAX_WEIGHED_WORDS = 60_000
"""Words of one text that are judged closely: at most some 400 kB of prose."""


def exceeds(text: str) -> bool:
    """Tell whether a text has more words than are judged closely."""
    return len(text) > MAX_WEIGHED_WORDS and len(text.split()) > MAX_WEIGHED_WORDS
