"""Shapes: rules over the concepts of a sentence, compiled once and tried only where their rarest concept occurs.

`override <4 instruct` is a mention of *override* with *instruct* at most four words after it; `ask ~9 secret` is the two in
either order; `!negate` rules the sentence out when *negate* stands within three words before the first part.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from metier.scan.concepts import Mention, Sentence

_GUARD = 3
"""How many words before the first part a `!concept` still speaks of it."""


class Step(NamedTuple):
    """The next part of a shape: which concept, how far from the part before, and whether it may also stand before it."""

    concept: str
    within: int
    either: bool


class Shape(NamedTuple):
    """One compiled shape: its first concept, the steps after it, and the concepts that must not stand before it."""

    rule: str
    first: str
    steps: tuple[Step, ...]
    unless: tuple[str, ...]


def compile_shape(rule: str, text: str) -> Shape:
    """Read a shape as the tables write it."""
    words = text.split()
    unless = tuple(word[1:] for word in words if word.startswith("!"))
    parts = [word for word in words if not word.startswith("!")]
    steps = tuple(Step(parts[at + 1], int(parts[at][1:]), parts[at][0] == "~") for at in range(1, len(parts), 2))
    return Shape(rule, parts[0], steps, unless)


def by_first(shapes: Iterable[Shape]) -> dict[str, tuple[Shape, ...]]:
    """Group shapes by the concept that starts them."""
    found: dict[str, list[Shape]] = {}
    for shape in shapes:
        found.setdefault(shape.first, []).append(shape)
    return {first: tuple(group) for first, group in found.items()}


def matches(sentence: Sentence, shapes: Mapping[str, tuple[Shape, ...]]) -> list[tuple[str, int, int]]:
    """Give each rule that a sentence meets, once, with the characters it spans."""
    places: dict[str, list[Mention]] = {}
    for mention in sentence.mentions:
        places.setdefault(mention.concept, []).append(mention)
    found: dict[str, tuple[str, int, int]] = {}
    for first, mentions in places.items():
        for shape in shapes.get(first, ()):
            if shape.rule in found or not all(step.concept in places for step in shape.steps):
                continue
            span = next(filter(None, (_span(mention, shape, places) for mention in mentions)), None)
            if span is not None:
                found[shape.rule] = (shape.rule, *span)
    return list(found.values())


def _span(first: Mention, shape: Shape, places: Mapping[str, list[Mention]]) -> tuple[int, int] | None:
    for concept in shape.unless:
        if any(0 < first.at - other.last <= _GUARD for other in places.get(concept, ())):
            return None
    start, end, here = first.start, first.end, first
    for step in shape.steps:
        other = next((m for m in places[step.concept] if m is not here and _near(here, m, step)), None)
        if other is None:
            return None
        start, end, here = min(start, other.start), max(end, other.end), other
    return start, end


def _near(here: Mention, other: Mention, step: Step) -> bool:
    after = other.at - here.last
    if after > 0:
        return after <= step.within
    before = here.at - other.last
    return step.either and 0 < before <= step.within
