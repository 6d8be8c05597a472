"""A lock that git left in conflict: both sides are read as locks, and put together where nothing has to be guessed. Pure.

A skill that one side alone has, that both have alike, or that, by the common ancestor where the markers show it, only one
side changed or removed, is settled with a note. One that both changed in different ways is for a person.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.errors import ConfigError
from metier.supplies import Lock
from metier.supply.lock import MOST_BYTES, duplicate, lock_bytes, read_plain
from metier.supply.paths import shown

if TYPE_CHECKING:
    from metier.supplies import Pin

_MARKS = {b"<<<<<<<": "<", b"|||||||": "|", b"=======": "=", b">>>>>>>": ">"}
_WHOLE = "take one side whole with 'git checkout --ours metier.lock' or '--theirs', then 'metier sync'"


class Sides(NamedTuple):
    """A file that git left in conflict, as each side has it."""

    ours: bytes
    base: bytes | None
    """What both sides come from; `None` where a hunk does not show it."""
    theirs: bytes
    labels: tuple[str, str]
    """What git calls each side."""


def healed(data: bytes) -> tuple[bytes, tuple[str, ...]]:
    """Give the lock without markers, and a note for each skill that had to be settled; one without markers stays as it is."""
    if len(data) > MOST_BYTES or not any(mark in data for mark in _MARKS):
        return data, ()
    sides = sides_of(data)
    if sides is None:
        return data, ()
    ours, theirs = _side(sides.ours, sides.labels[0]), _side(sides.theirs, sides.labels[1])
    pins, notes = _joined(ours, theirs, _ancestor(sides.base), sides.labels)
    twice = duplicate(pins)
    if twice:
        raise _conflict(f"each side of the merge added a skill, and together they clash: {twice[1]}", _WHOLE)
    return lock_bytes(Lock(tuple(pins))), tuple(notes)


def sides_of(data: bytes) -> Sides | None:
    """Take the file apart at its markers: what stands outside of them belongs to all sides."""
    parts: dict[str, list[bytes]] = {"<": [], "|": [], "=": []}
    part, bases, hunks, labels = "", True, 0, ["", ""]
    for number, line in enumerate(data.splitlines(keepends=True), 1):
        mark = _mark(line)
        if not mark:
            for key in parts if not part else (part,):
                parts[key].append(line)
            continue
        if mark not in {"": "<", "<": "|=", "|": "=", "=": ">"}[part]:
            raise ConfigError(f"the lock cannot be read: line {number}: a marker of a conflict without its other half",
                              hint=_WHOLE, code="lock")  # fmt: skip
        bases = bases and not (part == "<" and mark == "=")
        hunks += mark == "<"
        if mark in "<>":
            labels[mark == ">"] = labels[mark == ">"] or shown(line[8:72].decode("ascii", "replace").strip())
        part = "" if mark == ">" else mark
    if part:
        raise ConfigError("the lock cannot be read: a conflict begins in it and never ends", hint=_WHOLE, code="lock")
    if not hunks:
        return None
    names = labels[0] or "our side", labels[1] or "their side"
    return Sides(b"".join(parts["<"]), b"".join(parts["|"]) if bases else None, b"".join(parts["="]), names)


def _mark(line: bytes) -> str:
    """Tell which marker a line is: exactly seven of its sign, then a space or the end. No line of a lock is one."""
    kind = _MARKS.get(line[:7], "")
    return kind if kind and line[7:8] in {b"", b" ", b"\r", b"\n"} else ""


def _side(data: bytes, label: str) -> Lock:
    try:
        return read_plain(data)
    except ConfigError as error:
        if error.code == "lock-version":
            raise
        raise _conflict(f"the lock has markers of a conflict, and as {label} it cannot be read: {error.message}", _WHOLE) from error


def _ancestor(data: bytes | None) -> dict[str, Pin] | None:
    """Read the common ancestor. Git may show only a part of it; what cannot be read then counts as not known."""
    if data is None:
        return None
    try:
        return {pin.name: pin for pin in read_plain(data).pins}
    except ConfigError:
        return None


def _joined(ours: Lock, theirs: Lock, base: dict[str, Pin] | None, labels: tuple[str, str]) -> tuple[list[Pin], list[str]]:
    left, right = ({pin.name: pin for pin in side.pins} for side in (ours, theirs))
    pins: list[Pin] = []
    notes: list[str] = []
    for name in sorted({*left, *right}):
        one, other, before = left.get(name), right.get(name), (base or {}).get(name)
        if one == other:
            taken, note = one, ""
        elif base is not None and before in (one, other):
            taken, who = (other, labels[1]) if one == before else (one, labels[0])
            note = f"{name}: {'added' if before is None else 'changed' if taken else 'removed'} by {who} alone, and so taken"
        elif base is None and (one is None or other is None):
            taken, note = one or other, f"{name}: only {labels[0] if one else labels[1]} has it, so it is kept"
        else:
            raise _both(name, one, other, labels)
        pins += [taken] if taken else []
        notes += [note] if note else []
    return pins, notes or ["the two sides of the merge say the same"]


def _both(name: str, one: Pin | None, other: Pin | None, labels: tuple[str, str]) -> ConfigError:
    said = " and ".join(f"{label} {_what(pin)}" for label, pin in zip(labels, (one, other), strict=True))
    return _conflict(f"both sides of the merge changed '{name}': {said}",
                     f"{_WHOLE} and 'metier update {name}'; the other skills settle themselves")  # fmt: skip


def _what(pin: Pin | None) -> str:
    if pin is None:
        return "has removed it"
    return f"has {f'commit {pin.commit}, ' if pin.commit else ''}{pin.digest}"


def _conflict(message: str, hint: str) -> ConfigError:
    return ConfigError(message, hint=hint, code="lock-conflict")
