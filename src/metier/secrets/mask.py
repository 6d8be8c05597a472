"""Masks the values that a script was lent in what it prints, in every form in which a program
usually prints one. Pure.

It is a net for the careless, not a wall: a script that wants to tell a value can always spell it
some other way.

Text may come in pieces, cut anywhere, and takes time linear in its length. All forms of all secrets
are one automaton (Aho and Corasick), so that after each character it is known how much of the end
of the text may be the beginning of a secret: just that much waits. Where two secrets overlap, all
that either covers is replaced.
"""

from __future__ import annotations

import base64
import json
import re
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from metier.model import Texts


MIN_VALUE_CHARS = 4
"""A value shorter than this hides nothing, and is in every text."""
_MIN_BASE64_CHARS = 8
"""Characters of base64 that are not there by chance."""
_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-~")
"""What stands for itself in every address; a slash, and some other marks, only in some."""
_ALSO_PLAIN = (b"", b"/", b"!*'()")


_ESCAPE = re.compile("%[0-9A-F]{2}")
"""What some write as `%2f` in the place of `%2F`."""


def mask(text: str, environment: Mapping[str, str]) -> str:
    """Give a text with the name of each variable in the place of its value, however it is
    written.
    """
    found = {
        form: name
        for name, value in environment.items()
        if len(value) >= MIN_VALUE_CHARS
        for form in forms_of(value)
    }
    for form in sorted(found, key=len, reverse=True):  # a value may hold another
        text = text.replace(form, f"[{found[form]}]")
    return text


def forms_of(value: str) -> set[str]:
    """Give a value as it stands in plain text, JSON, a `repr`, an address, in hexadecimal and in
    base64.
    """
    forms = plain_forms_of(value)
    forms |= {
        repr(value)[1:-1],
        ascii(value)[1:-1],
        repr(f"{value}'")[1:-2],
        json.dumps(value)[1:-1].replace("/", "\\/"),
    }
    data = _bytes(value)
    quoted = [
        "".join(chr(byte) if byte in plain else f"%{byte:02X}" for byte in data)
        for plain in (_PLAIN.union(more) for more in _ALSO_PLAIN)
    ]
    quoted.append(quoted[0].replace("%20", "+"))  # as a form sends it
    forms |= {
        data.hex(),
        data.hex().upper(),
        repr(data)[2:-1],
        *quoted,
        *(_ESCAPE.sub(lambda escape: escape[0].lower(), one) for one in quoted),
        *_base64(data),
    }
    return {form for form in forms if len(form) >= MIN_VALUE_CHARS}


def plain_forms_of(value: str) -> set[str]:
    """Give a value as it stands in plain text and in JSON."""
    forms = {
        value,
        value.strip(),
        json.dumps(value)[1:-1],
        json.dumps(value, ensure_ascii=False)[1:-1],
    }
    return {form for form in forms if len(form) >= MIN_VALUE_CHARS}


def _bytes(value: str) -> bytes:
    try:
        return value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return value.encode("utf-8", "replace")


def _base64(data: bytes) -> Iterator[str]:
    """Give the base64 of a value by itself and inside a longer text, such as `user:value`, where it
    begins anywhere.
    """
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        yield encode(data).decode().rstrip("=")
        for before in range(3):
            whole = encode(bytes(before) + data).decode()
            # The first and the last characters also hold bits of what stands around the value.
            inner = whole[(before * 8 + 5) // 6 : (before + len(data)) * 8 // 6]
            if len(inner) >= _MIN_BASE64_CHARS:
                yield inner


# --- text that comes in pieces

MAX_FORM_CHARS = 1024
"""So many characters of a form are sure to be that form; what follows is then compared as it comes,
and needs no automaton."""
MIN_CUT_CHARS = 8
"""Where the text ends in the midst of a value, so much of it is replaced as well: most of a key is
nearly the key."""
_START_CHARS = 4
_MAX_STARTS = 200
"""By so many characters a form is looked for while none has begun; by two, where there are more
beginnings than so many."""
_BLOCKS = range(0x2588, 0xD800)
"""What is shown in the place of a name where that would itself be part of a secret."""


class _FormEnd(NamedTuple):
    """Which form ends at a place: its length, whose it is, and the forms of which it is only the
    beginning.
    """

    length: int = 0
    name: str = ""
    longer: Texts = ()


_NONE = _FormEnd()


class _MaskedSpan(NamedTuple):
    """A stretch of the text that must not be shown, by positions in the whole stream."""

    start: int
    end: int
    longest: int
    """The length of the longest form in it, which gives the name."""
    name: str


class _FormNode:
    """A text that one of the forms begins with."""

    __slots__ = ("after", "fall", "found", "name", "waiting")

    def __init__(self, root: _FormNode | None, waiting: int, name: str) -> None:
        self.after: dict[str, _FormNode] = {}
        self.fall = root or self
        """The longest proper end of this text that is a node as well; the root's is the root."""
        self.found = _NONE
        self.waiting = waiting
        """How much of the end of the text may be the beginning of a form."""
        self.name = name
        """Whose form it would be."""

    def follow(self, char: str) -> _FormNode:
        """Go on by one character."""
        node = self
        while char not in node.after and node is not node.fall:
            node = node.fall
        return node.after.get(char, node)


class SecretForms:
    """All that must not be shown, made ready once for any number of streams."""

    def __init__(self, forms: Mapping[str, str]) -> None:
        """Replace each of these texts, none of them empty, by the name that stands beside it."""
        self.labels = {name: _label(name, forms) for name in dict.fromkeys(forms.values())}
        starts = {form[:_START_CHARS] for form in forms}
        self.ahead = min((_START_CHARS if len(starts) <= _MAX_STARTS else 2, *map(len, forms)))
        self.begins = _beginning({form[: self.ahead] for form in forms})
        self.root = _FormNode(None, 0, "")
        for form, name in forms.items():
            self._add(form, name)
        self._link()

    def _add(self, form: str, name: str) -> None:
        node = self.root
        for depth, char in enumerate(form[:MAX_FORM_CHARS], 1):
            if char not in node.after:
                node.after[char] = _FormNode(self.root, depth, name)
            node = node.after[char]
        longer = node.found.longer
        if len(form) > MAX_FORM_CHARS:
            longer = (*longer, form)
        node.found = _FormEnd(min(len(form), MAX_FORM_CHARS), node.found.name or name, longer)

    def _link(self) -> None:
        """Find out for each node, the short ones first, where to go on when a character does not
        fit.
        """
        queue = deque(self.root.after.values())
        while queue:
            node = queue.popleft()
            for char, following in node.after.items():
                following.fall = node.fall.follow(char)
                queue.append(following)
            if not node.found.length:
                node.found = node.fall.found
            if not node.after:  # it is whole: only what its end begins can go on
                node.waiting = node.fall.waiting
                node.name = node.fall.name


class StreamMask:
    """Takes forms of secrets out of one stream of text."""

    def __init__(self, hidden: SecretForms) -> None:
        """Begin with nothing held back."""
        self._hidden = hidden
        self._node = hidden.root
        self._held = ""
        self._base = 0
        """Where the held text begins in the stream."""
        self._covers: list[_MaskedSpan] = []
        self._riding: list[tuple[str, int]] = []
        """Long forms that are being spelt out, and how far they are."""

    def feed(self, text: str) -> str:
        """Give all that is no secret and can become none."""
        if self._hidden.begins is None:
            return text
        at = len(self._held)
        self._held += text
        while at < len(self._held):
            if self._node is self._hidden.root and not self._riding:
                found = self._hidden.begins.search(self._held, at)
                # Without one, a form can begin only where there is less left than is looked for.
                at = found.start() if found else max(at, len(self._held) - self._hidden.ahead + 1)
            self._step(self._held[at], self._base + at)
            at += 1
        return self._shown(self._base + at - self._node.waiting)

    def finish(self) -> str:
        """Give what is left at the end of the text."""
        end = self._base + len(self._held)
        if self._node.waiting >= MIN_CUT_CHARS:
            self._cover(end - self._node.waiting, end, self._node.name)
        self._node = self._hidden.root
        self._riding = []
        return self._shown(end)

    def _step(self, char: str, place: int) -> None:
        self._node = self._node.follow(char)
        if self._riding:  # a long form is covered for as long as the text goes on as it does
            self._riding = [
                (form, at + 1) for form, at in self._riding if form[at : at + 1] == char
            ]
            if self._riding:
                self._covers[-1] = self._covers[-1]._replace(end=place + 1)
        found = self._node.found
        if found.length:
            self._cover(place + 1 - found.length, place + 1, found.name)
            self._riding += [(form, found.length) for form in found.longer]

    def _cover(self, start: int, end: int, name: str) -> None:
        """Add a stretch, which takes in all that it overlaps."""
        cover = _MaskedSpan(start, end, end - start, name)
        while self._covers and self._covers[-1].end > cover.start:
            other = self._covers.pop()
            named = cover if cover.longest > other.longest else other
            cover = _MaskedSpan(
                min(other.start, cover.start), max(other.end, end), named.longest, named.name
            )
        self._covers.append(cover)

    def _shown(self, low: int) -> str:
        """Give the text before `low`; no form begins there of which it is not known where it
        ends.
        """
        out: list[str] = []
        while self._covers and self._covers[0].start < low:
            cover = self._covers[0]
            out.append(self._take(cover.start))
            self._take(cover.end)
            if cover.end > low or (self._riding and len(self._covers) == 1):
                return "".join(out)  # it may yet grow
            out.append(self._hidden.labels[cover.name])
            del self._covers[0]
        out.append(self._take(low))
        return "".join(out)

    def _take(self, upto: int) -> str:
        """Let go of the held text before a position."""
        size = max(0, upto - self._base)
        taken = self._held[:size]
        self._held = self._held[size:]
        self._base += len(taken)
        return taken


def _beginning(starts: set[str]) -> re.Pattern[str] | None:
    """Give what finds the first place where a form may begin; of one first character all that
    follow it are tried at once.
    """
    if len(starts) <= _MAX_STARTS:
        return re.compile("|".join(map(re.escape, sorted(starts)))) if starts else None
    after: dict[str, list[str]] = {}
    for start in sorted(starts):
        after.setdefault(start[:1], []).append(re.escape(start[1:]))
    return re.compile(
        "|".join(
            re.escape(first) + (f"[{''.join(rest)}]" if any(rest) else "")
            for first, rest in after.items()
        )
    )


def _label(name: str, forms: Iterable[str]) -> str:
    """Give what is shown for a value: its name, or a block where that could be read as part of a
    secret.
    """
    label = f"[{name}]"
    if not any(_clashes(label, form) for form in forms):
        return label
    return next(
        (chr(code) for code in _BLOCKS if not any(chr(code) in form for form in forms)), "\ufffd"
    )


def _clashes(label: str, form: str) -> bool:
    """Tell whether a form may stand in a label, or lie across one of its ends, which are
    brackets.
    """
    if label[0] not in form and label[-1] not in form:
        return form in label
    ends = (
        form.endswith(label[:size]) or form.startswith(label[-size:])
        for size in range(1, len(label))
    )
    return form in label or label in form or any(ends)
