r"""Regular expressions of strangers, searched in time that grows with the text alone, whatever they say. Pure.

The usual matcher tries one way after the other, and some patterns have more ways than there is time for. This one goes through
the text once and keeps all ways at the same time; so it can tell that a pattern is found, and nothing more. It knows what such
patterns are made of: characters, classes, groups, alternatives, repeats, `^ $ \b \B` and `(?i)`. Anything else is refused.
"""

from __future__ import annotations

from typing import Any, NamedTuple

MOST_CHARS = 500
"""Characters of a pattern."""
MOST_TEXT = 10_000
"""Characters of a text that are searched."""
MOST_STEPS = 2_000
"""Parts of a pattern after its repeats are written out."""
MOST_WORK = 400_000
"""Parts that are visited in one search; a pattern that needs more is not found."""
MOST_DEPTH = 20
_MOST_KNOWN = 5_000

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "0": "\0", "a": "\a"}
_PLACES = {"b": "b", "B": "B", "A": "^", "Z": "Z"}
_REPEATS = {"*": (0, None), "+": (1, None), "?": (0, 1)}


class PatternError(ValueError):
    """A pattern that is not searched for; its text says why."""


class _Chars(NamedTuple):
    """A set of characters: ranges and classes, or whatever is in none of them."""

    negated: bool
    ranges: tuple[tuple[str, str], ...]
    classes: str = ""

    def has(self, char: str, *, any_case: bool) -> bool:
        forms = {char, char.lower(), char.upper()} if any_case else {char}
        return self.negated != any(self._holds(form) for form in forms)

    def _holds(self, char: str) -> bool:
        return any(low <= char <= high for low, high in self.ranges) or any(_is_of(char, one) for one in self.classes)


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
        if char in "*+?":
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
            if self.peek() in {"*", "+", "?"}:
                raise PatternError("a repeat is repeated")
        return found

    def counted(self) -> tuple[int, int | None] | None:
        inside = self.text[self.at + 1 : self.at + 12].partition("}")
        low, comma, high = inside[0].partition(",")
        if not inside[1] or not all(part.isdecimal() and part.isascii() for part in (low, high) if part) or not (low or high):
            return None  # then the brace is a brace
        self.at += len(inside[0]) + 2
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
        self._known: dict[tuple[frozenset[int], int, str], frozenset[int] | None] = {}

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

    def found_in(self, text: str) -> bool:
        """Tell whether the pattern is found anywhere in the first part of a text."""
        ways, work, before = frozenset((self._start,)), 0, ""
        for at in range(min(len(text), MOST_TEXT) + 1):
            char = text[at : at + 1]
            key = ways, _place(before, char, last=at >= len(text) - 1), char
            if key not in self._known:
                work += len(self._steps)
                if work > MOST_WORK:
                    return False
                if len(self._known) >= _MOST_KNOWN:
                    self._known.clear()
                self._known[key] = self._next(*key)
            after = self._known[key]
            if after is None:
                return True
            ways, before = after, char
        return False

    def _next(self, ways: frozenset[int], place: int, char: str) -> frozenset[int] | None:
        """Give where all ways lead with one more character; nothing when one of them is at its end."""
        waiting, seen, found = list(ways), set(ways), {self._start}
        while waiting:
            step = self._steps[waiting.pop()]
            if step[0] == "found":
                return None
            if step[0] == "set":
                if char and step[1].has(char, any_case=self._any_case):
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
