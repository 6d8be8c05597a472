"""Finds what a text tries to make an agent or a user do, by the concepts of its sentences, by
learned weights, and by forged marks.

Passages are overlapping windows of forty words. A feature of one is a word, two or three words in a
row, or two concepts in one sentence, hashed to a place in one table of weights. Every feature
belongs to one word, so the weight of any window is the difference of two sums, and a text costs one
pass however many windows it has.

Shapes are rules over the concepts of a sentence, compiled once and tried only where their rarest
concept occurs. `override <4 instruct` is a mention of *override* with *instruct* at most four words
after it; `ask ~9 secret` is the two in either order; `!negate` rules the sentence out when *negate*
stands within three words before the first part.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from metier.scan.languages.markdown import MARK_PATTERNS
from metier.scan.languages.sentences import WantedConcepts, sentences
from metier.scan.languages.text import find_filler
from metier.scan.model import MAX_HITS_PER_RULE, RuleHit, word_set
from metier.scan.rules.prose import DEAF_IN_CODE, PASSAGES, SHAPES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence, Set as AbstractSet

    from metier.model import Texts
    from metier.scan.languages.sentences import Mention, Sentence


MAX_KNOWN_OPENINGS = 1 << 12
"""Sets of concepts for which it is kept which rules over passages they open."""


# --- shapes: rules over concepts

_ASIDES = word_set("unasked hush silent before endpoint future pretext")
"""Concepts of how, when and where, which stand anywhere in a sentence of another language."""
_GUARD = 3
"""How many words before the first part a `!concept` still speaks of it."""


class ShapeStep(NamedTuple):
    """The next part of a shape: which concept, how far from the part before, and whether it may
    also stand before it.
    """

    concept: str
    within: int
    either: bool


class ProseShape(NamedTuple):
    """One compiled shape: its first concept, the steps after it, and the concepts that must not
    stand before it.
    """

    rule: str
    first: str
    steps: tuple[ShapeStep, ...]
    unless: Texts


def compile_shape(rule: str, text: str) -> ProseShape:
    """Read a shape as the tables write it."""
    words = text.split()
    unless = tuple(word[1:] for word in words if word.startswith("!"))
    parts = [word for word in words if not word.startswith("!")]
    steps = tuple(
        ShapeStep(parts[at + 1], int(parts[at][1:]), parts[at][0] == "~")
        for at in range(1, len(parts), 2)
    )
    return ProseShape(rule, parts[0], steps, unless)


ShapesByFirst = dict[str, tuple[tuple[frozenset[str], ProseShape], ...]]
"""Shapes by the concept that starts them, each with the other concepts that it needs."""


def by_first(shapes: Iterable[ProseShape]) -> ShapesByFirst:
    """Group shapes by the concept that starts them."""
    found = defaultdict(list)
    for shape in shapes:
        needed = frozenset(step.concept for step in shape.steps)
        found[shape.first].append((needed, shape))
    return {first: tuple(group) for first, group in found.items()}


def matches(sentence: Sentence, shapes: ShapesByFirst) -> list[tuple[str, int, int]]:
    """Give each rule that a sentence meets, once, with the characters it spans."""
    held = sentence.concepts
    for first in held:
        for needed, _ in shapes.get(first, ()):
            if needed <= held:
                return _placed_matches(sentence, shapes)
    return []  # as of most sentences: whatever the distances are, a concept is missing


def _placed_matches(sentence: Sentence, shapes: ShapesByFirst) -> list[tuple[str, int, int]]:
    places = defaultdict(list)
    for mention in sentence.mentions:
        places[mention.concept].append(mention)
    found = {}
    for first, mentions in places.items():
        for needed, shape in shapes.get(first, ()):
            if shape.rule in found or not needed <= places.keys():
                continue
            span = next(
                filter(None, (_span(mention, shape, places, sentence) for mention in mentions)),
                None,
            )
            if span is not None:
                found[shape.rule] = (shape.rule, *span)
    return list(found.values())


def _span(
    first: Mention, shape: ProseShape, places: Mapping[str, list[Mention]], sentence: Sentence
) -> tuple[int, int] | None:
    # in another language, what a *not* denies is no mention at all
    if not sentence.stretch and _guarded(first, shape, places):
        return None
    parts = [first]
    for step in shape.steps:
        other = next(
            (
                m
                for m in places[step.concept]
                if m is not parts[-1] and _near(parts[-1], m, step, sentence)
            ),
            None,
        )
        if other is None:
            return None
        parts.append(other)
    starts, ends = zip(*map(sentence.span, parts), strict=True)
    return min(starts), max(ends)


def _guarded(part: Mention, shape: ProseShape, places: Mapping[str, list[Mention]]) -> bool:
    return any(
        0 < part.at - other.last <= _GUARD
        for concept in shape.unless
        for other in places.get(concept, ())
    )


def _near(here: Mention, other: Mention, step: ShapeStep, sentence: Sentence) -> bool:
    # In every language *tell the user not to* is not *do not tell the user*, and who has a user
    # give a secret does not give one to a user.
    pair = (here.concept, other.concept)
    fixed = "negate" in pair or pair == ("give", "user")
    within = step.within + (0 if fixed else sentence.stretch)
    after = other.at - here.last
    if after > 0:
        return after <= within
    aside = sentence.stretch and not _ASIDES.isdisjoint(pair)
    back = within if step.either or aside else 0 if fixed else min(within, sentence.back)
    return 0 < here.at - other.last <= back


# --- passages: rules over neighbouring sentences

MAX_PASSAGE_CHARS = 520
MAX_PASSAGE_SENTENCES = 8
"""How far the sentences of one passage may lie apart."""
_DENIED_WORDS = 8
"""How many words after a denial are denied."""
_UNTOLD_WORDS = 6
_PASSAGE_END = re.compile(r"(?<!:)\n[ \t]*\n|\n#{1,6} |```")
_KEEPS_DENIAL = word_set(
    "hush silent untold unasked cannot_stop negate mandatory spared false_report done_it"
)
"""Concepts that are denials themselves."""


class PassageRule(NamedTuple):
    """What must be said somewhere in a passage, each part in one of several ways, and what must
    not.
    """

    rule: str
    parts: tuple[tuple[frozenset[str], ...], ...]
    """For each part its ways; a way is what one sentence must say."""
    unless: frozenset[str]


def compile_passage(rule: str, text: str) -> PassageRule:
    """Read a rule over passages as the table writes it."""
    words = [word for word in text.split() if word != "+"]
    return PassageRule(
        rule,
        tuple(
            tuple(frozenset(way.split("&")) for way in word.split("/"))
            for word in words
            if word[0] != "!"
        ),
        frozenset(word[1:] for word in words if word[0] == "!"),
    )


_PASSAGE_RULES = tuple(
    compile_passage(rule, text) for rule, row in PASSAGES.items() for text in row.split(", ")
)
_PIVOTS = frozenset(min(way) for rule in _PASSAGE_RULES for way in rule.parts[0])
_OPENINGS = frozenset(
    concept for rule in _PASSAGE_RULES for way in rule.parts[0] for concept in way
)


@lru_cache(MAX_KNOWN_OPENINGS)
def _opened(told: frozenset[str]) -> tuple[PassageRule, ...]:
    """Give the rules whose first part a sentence says."""
    return tuple(rule for rule in _PASSAGE_RULES if _says(told, rule.parts[0]))


def said(sentence: Sentence) -> AbstractSet[str]:
    """Give what a sentence says: its concepts without those that it denies."""
    if "negate" not in sentence.concepts or sentence.stretch:
        return sentence.concepts  # in another language, what is denied is no mention at all
    mentions = sentence.mentions
    own = [
        (mention.at, mention.last)
        for mention in mentions
        if mention.concept in _KEEPS_DENIAL and mention.concept != "negate"
    ]
    denials = [
        mention.at
        for mention in mentions
        if mention.concept == "negate"
        and not any(first <= mention.at <= last for first, last in own)
    ]
    told = {
        mention.concept
        for mention in mentions
        if mention.concept in _KEEPS_DENIAL
        or not any(0 < mention.at - denial <= _DENIED_WORDS for denial in denials)
    }
    if any(
        mention.concept == "tell_of"
        and any(0 < mention.at - denial <= _UNTOLD_WORDS for denial in denials)
        for mention in mentions
    ):
        told.add("untold")
    return told


def passage_matches(text: str, cut: Sequence[Sentence]) -> Iterator[tuple[str, int, int]]:
    """Give each rule over passages that some neighbouring sentences meet, once for each place."""
    half = MAX_PASSAGE_SENTENCES // 2
    told: dict[int, AbstractSet[str]] = {}
    for pivot, sentence in enumerate(cut):
        if _PIVOTS.isdisjoint(sentence.concepts):
            continue
        if pivot not in told:
            told[pivot] = said(sentence)
        opened = _opened(_OPENINGS.intersection(told[pivot]))
        rules = opened and _possible(opened, cut[max(0, pivot - half) : pivot + half + 1])
        if not rules:
            continue
        first, last = _passage_around(text, cut, pivot)
        for number in range(first, last + 1):
            if number not in told:
                told[number] = said(cut[number])
        here = frozenset().union(*[told[number] for number in range(first, last + 1)])
        for rule in rules:
            if not (rule.unless.isdisjoint(here) and all(_says(here, part) for part in rule.parts)):
                continue  # no need to ask which sentence says what
            span = _smallest(rule, told, first, pivot, last)
            if span is not None:
                yield rule.rule, cut[span[0]].start, cut[span[1]].end


def _possible(rules: Sequence[PassageRule], near: Sequence[Sentence]) -> list[PassageRule]:
    """Leave out the rules whose parts these sentences could not say if they were one passage: most,
    and nobody needs to know where the sentences stand.
    """
    here = {"untold"}.union(*[sentence.concepts for sentence in near])
    return [rule for rule in rules if all(_says(here, part) for part in rule.parts)]


def _passage_around(text: str, cut: Sequence[Sentence], pivot: int) -> tuple[int, int]:
    first = last = pivot
    half = MAX_PASSAGE_SENTENCES // 2
    while (
        first > max(0, pivot - half)
        and cut[pivot].end - cut[first - 1].start <= MAX_PASSAGE_CHARS
        and _PASSAGE_END.search(text, cut[first - 1].end, cut[first].start + 1) is None
    ):
        first -= 1
    while (
        last < min(len(cut) - 1, pivot + half)
        and cut[last + 1].end - cut[pivot].start <= MAX_PASSAGE_CHARS
        and _PASSAGE_END.search(text, cut[last].end, cut[last + 1].start + 1) is None
    ):
        last += 1
    return first, last


def _smallest(
    rule: PassageRule, told: Mapping[int, AbstractSet[str]], first: int, pivot: int, last: int
) -> tuple[int, int] | None:
    """Give the first and the last sentence that a rule needs, or nothing."""
    near = sorted(range(first, last + 1), key=lambda number: abs(number - pivot))
    needed = [pivot]
    for part in rule.parts[1:]:
        place = next((number for number in near if _says(told[number], part)), None)
        if place is None:
            return None
        needed.append(place)
    return min(needed), max(needed)


def _says(told: AbstractSet[str], part: tuple[frozenset[str], ...]) -> bool:
    return any(way <= told for way in part)


# --- what a text asks for


_SHAPES = by_first(
    compile_shape(rule, text) for rule, row in SHAPES.items() for text in row.split(", ")
)


_HEARD_IN_CODE = WantedConcepts(
    alone=[
        frozenset((first, *needed))
        for first, group in _SHAPES.items()
        for needed, shape in group
        if shape.rule not in DEAF_IN_CODE
    ],
    beside=[
        way - {"untold"}  # which no word stands for: it is a denial of others
        for rule in _PASSAGE_RULES
        if rule.rule not in DEAF_IN_CODE
        for way in rule.parts[0]
    ],
)


def find(text: str) -> list[RuleHit]:
    """Find what a normalised text asks for."""
    return _found_in(text, sentences(text))


def find_in_code(text: str) -> list[RuleHit]:
    """Find what a text of code or data asks for, as far as it is heard there. Hardly any speaks of
    such things, and what does not is not cut into sentences.
    """
    return _found_in(text, sentences(text, _HEARD_IN_CODE))


def _found_in(text: str, cut: list[Sentence]) -> list[RuleHit]:
    counts: Counter[str] = Counter()
    hits = []
    for sentence in cut:
        for rule, start, end in matches(sentence, _SHAPES):
            counts[rule] += 1
            if counts[rule] <= MAX_HITS_PER_RULE:
                hits.append(RuleHit(rule, start, end))
    for hit in _passage_hits(text, cut):
        counts[hit.rule] += 1
        if counts[hit.rule] <= MAX_HITS_PER_RULE:
            hits.append(hit)
    hits += _marked(text)
    return sorted(hits, key=lambda hit: hit.start)


def _passage_hits(text: str, cut: Sequence[Sentence]) -> Iterator[RuleHit]:
    ends: dict[str, int] = {}
    for rule, start, end in passage_matches(text, cut):
        if start >= ends.get(rule, 0):
            ends[rule] = end
            yield RuleHit(rule, start, end)


def _marked(text: str) -> Iterator[RuleHit]:
    for rule, pattern, sign in MARK_PATTERNS:
        if sign.search(text):
            for match in islice(pattern.finditer(text), MAX_HITS_PER_RULE):
                yield RuleHit(rule, match.start() + (match.group()[0] == "\n"), match.end())
    yield from find_filler(text)
