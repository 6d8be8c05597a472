"""Replaces secrets in text that comes in pieces, wherever the pieces are cut, in time linear in the text. Pure.

All forms of all secrets are one automaton (Aho and Corasick), so that after each character it is known how much of the end of the
text may be the beginning of a secret: just that much waits. Where two secrets overlap, all that either covers is replaced.
"""

from __future__ import annotations

import re
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

LONGEST = 1024
"""So many characters of a form are sure to be that form; what follows is then compared as it comes, and needs no automaton."""
TELLING = 8
"""Where the text ends in the midst of a value, so much of it is replaced as well: most of a key is nearly the key."""
_START, _STARTS = 4, 200
"""By so many characters a form is looked for while none has begun; by two, where there are more beginnings than so many."""
_BLOCKS = range(0x2588, 0xD800)
"""What is shown in the place of a name where that would itself be part of a secret."""


class _Found(NamedTuple):
    """Which form ends at a place: its length, whose it is, and the forms of which it is only the beginning."""

    length: int = 0
    name: str = ""
    longer: tuple[str, ...] = ()


_NONE = _Found()


class _Cover(NamedTuple):
    """A stretch of the text that must not be shown, by positions in the whole stream."""

    start: int
    end: int
    longest: int
    """The length of the longest form in it, which gives the name."""
    name: str


class Hidden:
    """All that must not be shown, made ready once for any number of streams."""

    def __init__(self, forms: Mapping[str, str]) -> None:
        """Replace each of these texts, none of them empty, by the name that stands beside it."""
        self.trie = _Trie(forms)
        self.labels = {name: _label(name, forms) for name in dict.fromkeys(forms.values())}
        starts = {form[:_START] for form in forms}
        self.ahead = min((_START if len(starts) <= _STARTS else 2, *map(len, forms)))
        self.begins = _beginning({form[: self.ahead] for form in forms})


class Veil:
    """Takes forms of secrets out of one stream of text."""

    def __init__(self, hidden: Hidden) -> None:
        """Begin with nothing held back."""
        self._trie, self._labels, self._begins, self._ahead = hidden.trie, hidden.labels, hidden.begins, hidden.ahead
        self._node = 0
        self._held = ""
        self._base = 0
        """Where the held text begins in the stream."""
        self._covers: list[_Cover] = []
        self._riding: list[tuple[str, int]] = []
        """Long forms that are being spelt out, and how far they are."""

    def feed(self, text: str) -> str:
        """Give all that is no secret and can become none."""
        if self._begins is None:
            return text
        at = len(self._held)
        self._held += text
        while at < len(self._held):
            if not self._node and not self._riding:
                found = self._begins.search(self._held, at)
                # Without one, a form can begin only where there is less left than is looked for.
                at = found.start() if found else max(at, len(self._held) - self._ahead + 1)
            self._step(self._held[at], self._base + at)
            at += 1
        return self._shown(self._base + at - self._trie.waiting[self._node])

    def finish(self) -> str:
        """Give what is left at the end of the text."""
        end = self._base + len(self._held)
        waiting, name = self._trie.waiting[self._node], self._trie.name_of[self._node]
        if waiting >= TELLING:
            self._cover(end - waiting, end, name)
        self._node, self._riding = 0, []
        return self._shown(end)

    def _step(self, char: str, place: int) -> None:
        self._node = self._trie.after(self._node, char)
        if self._riding:
            self._ride(char, place)
        found = self._trie.found[self._node]
        if found.length:
            self._cover(place + 1 - found.length, place + 1, found.name)
            self._riding += [(form, found.length) for form in found.longer]

    def _ride(self, char: str, place: int) -> None:
        """Go on covering a long form for as long as the text goes on as it does."""
        self._riding = [(form, at + 1) for form, at in self._riding if form[at : at + 1] == char]
        if self._riding:
            self._covers[-1] = self._covers[-1]._replace(end=place + 1)

    def _cover(self, start: int, end: int, name: str) -> None:
        """Add a stretch, which takes in all that it overlaps."""
        cover = _Cover(start, end, end - start, name)
        while self._covers and self._covers[-1].end > cover.start:
            other = self._covers.pop()
            named = cover if cover.longest > other.longest else other
            cover = _Cover(min(other.start, cover.start), max(other.end, end), named.longest, named.name)
        self._covers.append(cover)

    def _shown(self, low: int) -> str:
        """Give the text before `low`; no form begins there of which it is not known where it ends."""
        out: list[str] = []
        while self._covers and self._covers[0].start < low:
            cover = self._covers[0]
            out.append(self._take(cover.start))
            self._take(cover.end)
            if cover.end > low or (self._riding and len(self._covers) == 1):
                return "".join(out)  # it may yet grow
            out.append(self._labels[cover.name])
            del self._covers[0]
        out.append(self._take(low))
        return "".join(out)

    def _take(self, upto: int) -> str:
        """Let go of the held text before a position."""
        size = max(0, upto - self._base)
        taken, self._held = self._held[:size], self._held[size:]
        self._base += len(taken)
        return taken


class _Trie:
    """All forms at once: each node is a text that one of them begins with."""

    def __init__(self, forms: Mapping[str, str]) -> None:
        self.after_: list[dict[str, int]] = [{}]
        self.fall = [0]
        """The longest proper end of a node's text that is a node as well."""
        self.found = [_NONE]
        self.waiting = [0]
        """How much of the end of the text may be the beginning of a form."""
        self.name_of = [""]
        """Whose form it would be."""
        for form, name in forms.items():
            self._add(form, name)
        self._link()

    def after(self, node: int, char: str) -> int:
        """Go on by one character."""
        while node and char not in self.after_[node]:
            node = self.fall[node]
        return self.after_[node].get(char, 0)

    def _add(self, form: str, name: str) -> None:
        node = 0
        for depth, char in enumerate(form[:LONGEST], 1):
            following = self.after_[node].setdefault(char, len(self.after_))
            if following == len(self.after_):
                self.after_.append({})
                self.fall.append(0)
                self.found.append(_NONE)
                self.waiting.append(depth)
                self.name_of.append(name)
            node = following
        longer = (*self.found[node].longer, form) if len(form) > LONGEST else self.found[node].longer
        self.found[node] = _Found(min(len(form), LONGEST), self.found[node].name or name, longer)

    def _link(self) -> None:
        """Find out for each node, the short ones first, where to go on when a character does not fit."""
        queue = deque(self.after_[0].values())
        while queue:
            node = queue.popleft()
            for char, following in self.after_[node].items():
                self.fall[following] = self.after(self.fall[node], char)
                queue.append(following)
            below = self.fall[node]
            if not self.found[node].length:
                self.found[node] = self.found[below]
            if not self.after_[node]:  # it is whole: only what its end begins can go on
                self.waiting[node], self.name_of[node] = self.waiting[below], self.name_of[below]


def _beginning(starts: set[str]) -> re.Pattern[str] | None:
    """Give what finds the first place where a form may begin; of one first character all that follow it are tried at once."""
    if len(starts) <= _STARTS:
        return re.compile("|".join(map(re.escape, sorted(starts)))) if starts else None
    after: dict[str, list[str]] = {}
    for start in sorted(starts):
        after.setdefault(start[:1], []).append(re.escape(start[1:]))
    return re.compile("|".join(re.escape(first) + (f"[{''.join(rest)}]" if any(rest) else "") for first, rest in after.items()))


def _label(name: str, forms: Iterable[str]) -> str:
    """Give what is shown for a value: its name, or a block where that could be read as part of a secret."""
    label = f"[{name}]"
    if not any(_clashes(label, form) for form in forms):
        return label
    return next((chr(code) for code in _BLOCKS if not any(chr(code) in form for form in forms)), "\ufffd")


def _clashes(label: str, form: str) -> bool:
    """Tell whether a form may stand in a label, or lie across one of its ends, which are brackets."""
    if label[0] not in form and label[-1] not in form:
        return form in label
    ends = (form.endswith(label[:size]) or form.startswith(label[-size:]) for size in range(1, len(label)))
    return form in label or label in form or any(ends)
