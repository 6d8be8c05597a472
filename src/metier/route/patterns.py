r"""Regular expressions of strangers, searched in time that grows with the text alone, whatever they say. Pure.

The usual matcher tries one way after the other, and some patterns have more ways than there is time for. This one goes through
the text once and keeps all ways at the same time; so it can tell that a pattern is found, and nothing more. It knows what such
patterns are made of: characters, classes, groups, alternatives, repeats, `^ $ \b \B` and `(?i)`. Anything else is refused.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

MOST_CHARS = 500
"""Characters of a pattern."""
MOST_TEXT = 10_000
"""Characters of a text that are searched."""
MOST_STEPS = 2_000
"""Parts of a pattern after its repeats are written out."""
MOST_WORK = 400_000
"""Characters and parts that are visited in one search, or in several that share a budget; what needs more is not found."""
MOST_DEPTH = 20
MOST_KNOWN = 100_000
"""Ways that are remembered of one pattern, all steps together."""

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "0": "\0", "a": "\a"}
_PLACES = {"b": "b", "B": "B", "A": "^", "Z": "Z"}
_REPEATS = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_COUNTED = re.compile(r"\{(?!\})([0-9]*)(?:(,)([0-9]*))?\}")
_ALIKE = tuple(map(frozenset, (
    "I\u0130\u0131", "K\u212a", "S\u017f", "\u039c\u00b5", "\u00c5\u212b", "\u00df\u1e9e", "\u0399\u0345\u1fbe",
    "\u0390\u1fd3", "\u0392\u03d0", "\u0395\u03f5", "\u0398\u03d1\u03f4", "\u039a\u03f0", "\u03a0\u03d6", "\u03a1\u03f1",
    "\u03a3\u03c2", "\u03a6\u03d5", "\u03a9\u2126", "\u03b0\u1fe3", "\u0412\u1c80", "\u0414\u1c81", "\u041e\u1c82",
    "\u0421\u1c83", "\u0422\u1c84\u1c85", "\u042a\u1c86", "\u0462\u1c87", "\ua64a\u1c88", "\u1e60\u1e9b", "\ufb05\ufb06",
)))  # fmt: skip
"""Letters that differ in case alone, though the one is not what the other becomes as a capital or as a small letter."""


class PatternError(ValueError):
    """A pattern that is not searched for; its text says why."""


class Budget:
    """What searches may still cost, those together that are handed the same one."""

    def __init__(self, left: int = MOST_WORK) -> None:
        """Begin with all of it."""
        self.left = left


class _Chars(NamedTuple):
    """A set of characters: ranges and classes, or whatever is in none of them."""

    negated: bool
    ranges: tuple[tuple[str, str], ...]
    classes: str = ""

    def has(self, char: str, forms: frozenset[str]) -> bool:
        """Tell whether a character is in the set, or another of its forms in one of the ranges."""
        held = any(low <= form <= high for low, high in self.ranges for form in forms)
        return self.negated != (held or any(_is_of(char, one) for one in self.classes))


def _cases(chars: frozenset[str]) -> frozenset[str]:
    """Give characters with what each becomes as a small letter and as a capital, where that is one letter too."""
    found = {form for char in chars for form in (char, char.lower(), char.upper(), char.title())}
    return frozenset(form for form in found if len(form) == 1)


def _forms(char: str) -> frozenset[str]:
    """Give all that a character may be where case does not count."""
    found = _cases(_cases(frozenset(char)))
    for group in _ALIKE:
        if not found.isdisjoint(group):
            found |= _cases(_cases(group))
    return found


def _is_of(char: str, one: str) -> bool:
    held = {"d": str.isdecimal, "w": _is_word, "s": str.isspace}[one.lower()](char)
    return held != one.isupper()


def _is_word(char: str) -> bool:
    return char.isalnum() or char == "_"


class _Reader:
    """Reads a pattern into nested tuples: `set`, `at`, `all`, `any` and `repeat`, each with its parts."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.depth = text, 0, 0

    def peek(self, length: int = 1) -> str:
        return self.text[self.at : self.at + length]

    def take(self, length: int = 1) -> str:
        taken = self.peek(length)
        if len(taken) < length:
            raise PatternError("it ends too early")
        self.at += length
        return taken

    def alternatives(self) -> tuple[Any, ...]:
        found = [self.sequence()]
        while self.peek() == "|":
            self.take()
            found.append(self.sequence())
        return found[0] if len(found) == 1 else ("any", found)

    def sequence(self) -> tuple[Any, ...]:
        found: list[tuple[Any, ...]] = []
        while self.peek() not in {"", "|", ")"}:
            one = self.single()
            repeat = self.repeat()
            if repeat is not None and one[0] == "at":
                raise PatternError("a place cannot be repeated")
            found.append(one if repeat is None else ("repeat", one, *repeat))
        return ("all", found)

    def single(self) -> tuple[Any, ...]:
        char = self.take()
        if char == "(":
            return self.group()
        if char == "[":
            return ("set", self.characters())
        if char == ".":
            return ("set", _Chars(negated=True, ranges=(("\n", "\n"),)))
        if char in "^$":
            return ("at", char)
        if char == "\\":
            return ("at", _PLACES[self.take()]) if self.peek() in _PLACES and self.peek() else ("set", self.escaped())
        if char in "*+?" or (char == "{" and _COUNTED.match(self.text, self.at - 1)):
            raise PatternError(f"there is nothing to repeat before '{char}'")
        return ("set", _Chars(negated=False, ranges=((char, char),)))

    def group(self) -> tuple[Any, ...]:
        self.depth += 1
        if self.depth > MOST_DEPTH:
            raise PatternError("its groups are nested too deeply")
        if self.peek() == "?":
            if self.peek(3) == "?P<" and ">" in self.text[self.at :]:
                self.at = self.text.index(">", self.at) + 1
            elif self.take(2) != "?:":
                raise PatternError("only plain groups are known: no look around, no reference back")
        found = self.alternatives()
        if self.peek() != ")":
            raise PatternError("a group is not closed")
        self.take()
        self.depth -= 1
        return found

    def repeat(self) -> tuple[int, int | None] | None:
        found = _REPEATS.get(self.peek())
        if found is not None:
            self.take()
        elif self.peek() == "{":
            found = self.counted()
        if found is not None:
            if self.peek() == "?":  # found sooner or later, it is found
                self.take()
            if self.peek() in _REPEATS or _COUNTED.match(self.text, self.at):
                raise PatternError("a repeat is repeated")
        return found

    def counted(self) -> tuple[int, int | None] | None:
        found = _COUNTED.match(self.text, self.at)
        if found is None:
            return None  # then the brace is a brace
        self.at = found.end()
        low, comma, high = found.groups()
        least = int(low or 0)
        most = (int(high) if high else None) if comma else least
        if max(least, most or 0) > MOST_STEPS or (most is not None and most < least):
            raise PatternError("a repeat has a wrong count")
        return least, most

    def escaped(self) -> _Chars:
        char = self.take()
        if char.lower() in "dws":
            return _Chars(negated=False, ranges=(), classes=char)
        if char in "xu":
            digits = self.take(2 if char == "x" else 4)
            if not all(digit in "0123456789abcdefABCDEF" for digit in digits):
                raise PatternError("a character's number is not one")
            char = chr(int(digits, 16))
        elif char in _ESCAPES:
            char = _ESCAPES[char]
        elif char.isalnum():
            raise PatternError(f"'\\{char}' is not known")
        return _Chars(negated=False, ranges=((char, char),))

    def characters(self) -> _Chars:
        negated = self.peek() == "^"
        self.at += negated
        ranges: list[tuple[str, str]] = []
        classes = ""
        while self.peek() != "]" or not (ranges or classes):
            one = self.member()
            if one.classes:
                classes += one.classes
                continue
            low = high = one.ranges[0][0]
            if self.peek() == "-" and self.peek(2) not in {"-]", "-"}:
                self.take()
                last = self.member()
                if last.classes or last.ranges[0][0] < low:
                    raise PatternError("a range of characters is the wrong way round")
                high = last.ranges[0][0]
            ranges.append((low, high))
        self.take()
        return _Chars(negated, tuple(ranges), classes)

    def member(self) -> _Chars:
        char = self.take()
        if char == "\\":
            if self.peek() == "b":
                self.take()
                return _Chars(negated=False, ranges=(("\b", "\b"),))
            return self.escaped()
        return _Chars(negated=False, ranges=((char, char),))


class Pattern:
    """A pattern laid out as steps; each knows which may follow it."""

    def __init__(self, text: str) -> None:
        """Read a pattern, or say why it is refused."""
        if not text or len(text) > MOST_CHARS:
            raise PatternError("it is empty" if not text else f"it has more than {MOST_CHARS} characters")
        self._any_case = text.startswith("(?i)")
        reader = _Reader(text[4:] if self._any_case else text)
        found = reader.alternatives()
        if reader.peek():
            raise PatternError("a group is closed that was never opened")
        self._steps: list[tuple[Any, ...]] = [("found",)]
        self._count = 0
        self._start = self._laid(found, 0)
        self.known: dict[tuple[frozenset[int], int, str], frozenset[int] | None] = {}
        """Where a step led that was taken before."""
        self._held = 0

    def _laid(self, part: tuple[Any, ...], after: int) -> int:
        """Lay a part out before a step; give the step that it begins with."""
        self._count += 1
        if self._count > MOST_STEPS:
            raise PatternError("it is too large once its repeats are written out")
        kind = part[0]
        if kind in {"set", "at"}:
            return self._added((kind, part[1], after))
        if kind == "all":
            for one in reversed(part[1]):
                after = self._laid(one, after)
            return after
        if kind == "any":
            return self._added(("ways", tuple(self._laid(one, after) for one in part[1])))
        _, one, least, most = part
        start = after
        if most is None:
            start = self._added(())
            self._steps[start] = ("ways", (self._laid(one, start), after))
        for _ in range((most or 0) - least):
            start = self._added(("ways", (self._laid(one, start), after)))
        for _ in range(least):
            start = self._laid(one, start)
        return start

    def _added(self, step: tuple[Any, ...]) -> int:
        self._steps.append(step)
        return len(self._steps) - 1

    def found_in(self, text: str, budget: Budget | None = None) -> bool:
        """Tell whether the pattern is found anywhere in the first part of a text, for as much as that may cost."""
        budget = budget or Budget()
        ways, before = frozenset((self._start,)), ""
        for at in range(min(len(text), MOST_TEXT) + 1):
            char = text[at : at + 1]
            key = ways, _place(before, char, last=at >= len(text) - 1), char
            budget.left -= 1 if key in self.known else len(self._steps)
            if budget.left < 0:
                return False
            after = self.known[key] if key in self.known else self._learned(key)
            if after is None:
                return True
            ways, before = after, char
        return False

    def _learned(self, key: tuple[frozenset[int], int, str]) -> frozenset[int] | None:
        """Take a step for the first time, and remember where it led."""
        found = self._next(*key)
        self._held += len(found or ()) + 1
        if self._held > MOST_KNOWN:
            self.known.clear()
            self._held = len(found or ()) + 1
        self.known[key] = found
        return found

    def _next(self, ways: frozenset[int], place: int, char: str) -> frozenset[int] | None:
        """Give where all ways lead with one more character; nothing when one of them is at its end."""
        waiting, seen, found = list(ways), set(ways), {self._start}
        forms = _forms(char) if self._any_case and char else frozenset((char,))
        held: dict[int, bool] = {}  # a part that is repeated is written out many times, and each time the same set
        while waiting:
            step = self._steps[waiting.pop()]
            if step[0] == "found":
                return None
            if step[0] == "set":
                known = held.get(id(step[1]))
                if known is None:
                    known = held[id(step[1])] = bool(char) and step[1].has(char, forms)
                if known:
                    found.add(step[2])
                continue
            nexts = step[1] if step[0] == "ways" else (step[2],) if place & _HOLDS[step[1]] else ()
            waiting += [one for one in nexts if one not in seen]
            seen.update(nexts)
        return frozenset(found)


_HOLDS = {"^": 1, "$": 2, "Z": 4, "b": 8, "B": 16}


def _place(before: str, char: str, *, last: bool) -> int:
    """Tell what is true between two characters: the beginning, the end, the end but for a line's, the border of a word or none."""
    border = _is_word(before) != _is_word(char)
    end = not char
    return (not before) | (end or (last and char == "\n")) << 1 | end << 2 | border << 3 | (not border) << 4
