"""The lock file, as bytes and as values: what a team commits, so that everybody has the same skills. Pure.

One lock has one form: skills sorted by name and key, fields in one order, a line to each file, no times, ASCII alone. Targets
stay in the order they were put in: the first is the working copy. Every
field is held against its rule (`pins`) on the way in and on the way out. A key that this version does not know is refused
rather than dropped, so nothing is ever lost by reading and writing; a new key takes a new version. Files of an older version
are brought up step by step, those of a newer one are refused with the advice to upgrade.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NoReturn

from metier.errors import ConfigError
from metier.supplies import Judged, Lock, Pin, Pinned, Target
from metier.supply.pins import pin_fault

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

VERSION = 1
MOST_BYTES = 64 * 1024 * 1024
MOST_DIGITS = 12
UPGRADES: tuple[Callable[[dict[str, Any]], dict[str, Any]], ...] = ()
"""What makes a document of version 1 one of version 2, and so on: each step keeps all that the version before could say."""

_HINT = "put it back with 'git checkout', or correct that line; metier itself never writes such a lock"
_TEXTS = ("name", "kind", "source", "path", "ref", "commit", "digest", "base", "approval", "signature")
_FIELDS = (*_TEXTS[:8], "verdict", *_TEXTS[8:], "targets", "files")
_MAY_LACK = frozenset({"path", "ref", "commit", "approval", "signature"})
"""Texts that are left out where they are empty."""


def read_lock(data: bytes) -> Lock:
    """Read a lock; one that git left in conflict is healed where nothing has to be guessed, and says so in its notes."""
    from metier.supply.healing import healed

    whole, notes = healed(data)
    return read_plain(whole)._replace(notes=notes)


def read_plain(data: bytes) -> Lock:
    """Read a lock without markers of a conflict."""
    text, document = _document(data)
    version = document.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        _refuse(text, ("version",), "its version is not a number from 1 on")
    if version > VERSION:
        raise ConfigError(f"the lock is of version {min(version, 10**9)}, and this metier reads versions up to {VERSION}",
                          hint="upgrade metier: a newer one wrote this lock", code="lock-version")  # fmt: skip
    for upgrade in UPGRADES[version - 1 :]:
        document = upgrade(document)
    if set(document) != {"version", "skills"} or not isinstance(document["skills"], list):
        _refuse(text, (), f"it is not made of 'version' and a list of 'skills': {_listed(document)}")
    pins = [_pin(text, at, entry) for at, entry in enumerate(document["skills"])]
    twice = duplicate(pins)
    if twice:
        _refuse(text, ("skills", twice[0]), twice[1])
    return Lock(tuple(sorted(pins, key=_order)))


def duplicate(pins: Iterable[Pin]) -> tuple[int, str] | None:
    """Say which pin has the name or the key of one before it, by its position, and how."""
    names: set[str] = set()
    keys: dict[tuple[str, str], str] = {}
    for at, pin in enumerate(pins):
        if pin.name in names:
            return at, f"'{pin.name}' is there twice"
        if pin.key in keys:
            return at, f"'{keys[pin.key]}' and '{pin.name}' are the same skill of the same source"
        names.add(pin.name)
        keys[pin.key] = pin.name
    return None


def lock_bytes(lock: Lock) -> bytes:
    """Write a lock: the same bytes for the same pins, whatever their order. What could not be read again is not written."""
    twice = duplicate(lock.pins)
    if twice:
        raise ConfigError(f"the lock is not written: {twice[1]}", hint="remove one of them, or give it another name", code="lock")
    for pin in lock.pins:
        field, why = pin_fault(pin)
        if why:
            raise ConfigError(f"the lock is not written: {_complaint(pin, field, why)}",
                              hint="give the skill a plain name and place", code="lock")  # fmt: skip
    if not lock.pins:
        return b'{\n  "version": %d,\n  "skills": []\n}\n' % VERSION
    entries = ",\n".join("".join(_written(pin)) for pin in sorted(lock.pins, key=_order))
    return f'{{\n  "version": {VERSION},\n  "skills": [\n{entries}\n  ]\n}}\n'.encode("ascii")


def _written(pin: Pin) -> Iterator[str]:
    yield "    {\n"
    for field in _FIELDS[:8]:
        if field not in _MAY_LACK or getattr(pin, field):
            yield f'      "{field}": {json.dumps(getattr(pin, field))},\n'
    yield f'      "verdict": {json.dumps(pin.verdict._asdict())},\n'
    for field in ("approval", "signature"):
        if getattr(pin, field):
            yield f'      "{field}": {json.dumps(getattr(pin, field))},\n'
    targets = [json.dumps(target._asdict()) for target in pin.targets]
    yield from _lines("targets", "[]", targets, ",\n")
    files = [f"{json.dumps(file.path)}: {json.dumps(' '.join(filter(None, file[1:])))}" for file in sorted(pin.files)]
    yield from _lines("files", "{}", files, "\n    }")


def _lines(field: str, brackets: str, lines: list[str], end: str) -> Iterator[str]:
    if not lines:
        yield f'      "{field}": {brackets}{end}'
        return
    yield f'      "{field}": {brackets[0]}\n        '
    yield ",\n        ".join(lines)
    yield f"\n      {brackets[1]}{end}"


def _order(pin: Pin) -> tuple[str, tuple[str, str]]:
    return pin.name, pin.key


def _document(data: bytes) -> tuple[str, dict[str, Any]]:
    if len(data) > MOST_BYTES:
        raise ConfigError(f"the lock is longer than {MOST_BYTES:,} bytes", hint=_HINT, code="lock")
    line = 1
    try:
        text = data.decode("utf-8-sig")
        document = json.loads(text, object_pairs_hook=_once, parse_int=_number)
    except UnicodeDecodeError as error:
        line, why = data.count(b"\n", 0, error.start) + 1, "it is not UTF-8"
    except json.JSONDecodeError as error:
        line, why = error.lineno, f"{error.msg}, at column {error.colno}"
    except RecursionError:
        why = "it is nested too deeply"
    else:
        return text, _object(text, (), document)
    raise _broken(line, why)


class _Twice(dict[str, Any]):
    """An object with a key that is there twice: which of the two counts would be a guess."""

    key = ""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    twice, seen = _Twice(found), set[str]()
    twice.key = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
    return twice


def _number(digits: str) -> int:
    return int(digits) if len(digits) <= MOST_DIGITS else -1  # no number of a lock is below 0 or as long as that


def _object(text: str, place: tuple[str | int, ...], found: Any) -> dict[str, Any]:
    if not isinstance(found, dict):
        _refuse(text, place, "this is not an object")
    if isinstance(found, _Twice):
        _refuse(text, (*place, found.key), f"{_listed([found.key])} is there twice in one object")
    return found


def _pin(text: str, at: int, entry: Any) -> Pin:
    place: tuple[str | int, ...] = ("skills", at)
    entry = _object(text, place, entry)
    unknown, missing = set(entry) - set(_FIELDS), set(_FIELDS) - _MAY_LACK - set(entry)
    if unknown or missing:
        _refuse(text, (*place, *sorted(unknown)[:1]), f"a skill has no {_listed(missing)}" if missing else
                f"a skill has keys that are not known: {_listed(unknown)}")  # fmt: skip
    for field in _TEXTS:
        if not isinstance(entry.get(field, ""), str):
            _refuse(text, (*place, field), f"'{field}' is not a text")
    texts = {field: entry.get(field, "") for field in _TEXTS}
    verdict = _verdict(text, (*place, "verdict"), entry["verdict"])
    targets = _targets(text, (*place, "targets"), entry["targets"])
    pin = Pin(**texts, verdict=verdict, targets=targets, files=_files(text, (*place, "files"), entry["files"]))
    wrong, why = pin_fault(pin)
    if why:
        _refuse(text, (*place, wrong[0]), _complaint(pin, wrong, why))
    return pin


def _complaint(pin: Pin, field: tuple[str, ...], why: str) -> str:
    return f"{' '.join((field[0], *(_listed([one]) for one in field[1:])))} of {_listed([pin.name])}: {why}"


def _verdict(text: str, place: tuple[str | int, ...], found: Any) -> Judged:
    if set(_object(text, place, found)) != set(Judged._fields):
        _refuse(text, place, f"a verdict is not made of {_listed(Judged._fields)}")
    if not isinstance(found["level"], str) or not isinstance(found["ruleset"], str) or type(found["score"]) is not int:
        _refuse(text, place, "a verdict is not made of two texts and a whole number")
    return Judged(**found)


def _targets(text: str, place: tuple[str | int, ...], found: Any) -> tuple[Target, ...]:
    if not isinstance(found, list):
        _refuse(text, place, "'targets' is not a list")
    for at, one in enumerate(found):
        values = _object(text, (*place, at), one).values()
        if set(one) != set(Target._fields) or not all(isinstance(value, str) for value in values):
            _refuse(text, (*place, at), f"a target is not made of the texts {_listed(Target._fields)}")
    return tuple(Target(**one) for one in found)


def _files(text: str, place: tuple[str | int, ...], found: Any) -> tuple[Pinned, ...]:
    files = []
    for path, value in _object(text, place, found).items():
        if not isinstance(value, str):
            _refuse(text, (*place, path), "a file has no hash")
        sha256, gap, mode = value.partition(" ")
        if gap and not mode:
            _refuse(text, (*place, path), "a file's hash ends with a space")
        files.append(Pinned(path, sha256, mode))
    return tuple(sorted(files))


def _listed(names: Iterable[str]) -> str:
    return ", ".join(json.dumps(name[:80]) for name in sorted(names)[:8]) or "nothing"


def _refuse(text: str, place: tuple[str | int, ...], why: str) -> NoReturn:
    try:
        at = _position(text, place)
    except RecursionError:  # it was just shallow enough to be read once
        at = 0
    raise _broken(text.count("\n", 0, at) + 1, why)


def _broken(line: int, why: str) -> ConfigError:
    return ConfigError(f"the lock cannot be read: line {line}: {why}", hint=_HINT, code="lock")


def _position(text: str, place: tuple[str | int, ...]) -> int:
    """Find where in a text a value begins; as near as can be where the path to it ends early. Only faults are looked up."""
    decoder, at = json.JSONDecoder(), _past(text, 0)
    for depth, step in enumerate(place, 1):
        opening, at, count = text[at], _past(text, at + 1), 0
        while text[at] not in "]}":
            start = at
            if opening == "{":
                key, at = decoder.raw_decode(text, at)
                at = _past(text, at, ":")
            else:
                key = count
            if key == step:
                at = start if depth == len(place) else at
                break
            at, count = _past(text, decoder.raw_decode(text, at)[1], ","), count + 1
        else:
            return at
    return at


def _past(text: str, at: int, mark: str = "") -> int:
    while at < len(text) and (text[at] in " \t\r\n" or (mark and text[at] == mark)):
        at += 1
    return at
