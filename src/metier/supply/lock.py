"""Reads and writes the lock file, which a team commits so that everybody has the same skills, and
heals one that git left in conflict. Pure.

One lock has one form: skills sorted by name and key, fields in one order, a line to each file, no
times, ASCII alone. Targets stay in the order they were put in: the first is the working copy. Every
field is held against its rule (`pin_fault`) on the way in and on the way out. A key that this
version does not know is refused rather than dropped, so nothing is ever lost by reading and
writing; a new key takes a new version. Files of an older version are brought up step by step, those
of a newer one are refused with the advice to upgrade.

In a conflict both sides are read as locks, and put together where nothing has to be guessed. A
skill that one side alone has, that both have alike, or that, by the common ancestor where the
markers show it, only one side changed or removed, is settled with a note. One that both changed in
different ways is for a person.

A lock lies in a project, so a stranger may have written it. Whatever it names is one segment or a
relative path that cannot climb; a place that a skill was put in ends with that skill's name and is
never the top itself (HE-42).
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from metier.errors import ConfigError
from metier.supply.model import InstallTarget, Lock, Pin, PinnedFile, PinVerdict
from metier.supply.safe_names import (
    MAX_SCORE,
    PIN_KINDS,
    PIN_METHODS,
    VERDICT_LEVELS,
    is_digest,
    name_fault,
    path_fault,
    printable,
    text_fault,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from metier.model import Texts
    from metier.supply.model import JsonObject

    Pins = dict[str, Pin]
    JsonPath = tuple[str | int, ...]
    Faults = Iterable[tuple[tuple[str, ...], str]]


LOCK_VERSION = 2
"""The newest version that is read. A lock is written in the oldest one that can say what it has to:
version 1 where no skill needs another."""
MAX_REQUIRED_SKILLS = 1_000
"""Skills that one skill of a lock may need."""
MAX_LOCK_BYTES = 64 * 1024 * 1024
MAX_NUMBER_DIGITS = 12
UPGRADES: tuple[Callable[[JsonObject], JsonObject], ...] = (lambda document: document,)
"""What makes a document of version 1 one of version 2, and so on: each step keeps all that the
version before could say. Version 2 only adds to a skill, where it has them, its signature, the
skills that it needs and that it is here for another one."""

_spell_text = json.encoder.encode_basestring_ascii
"""What `json.dumps` makes of a text."""
_HINT = "restore it with 'git checkout', or correct that line"
_TEXTS = (
    "name",
    "kind",
    "source",
    "path",
    "ref",
    "commit",
    "digest",
    "base",
    "approval",
    "signature",
    "vouch",
)
_ADDED = ("vouch", "requires", "dependency")
"""What version 2 has beyond version 1."""
_FIELDS = (*_TEXTS[:8], "verdict", *_TEXTS[8:], "requires", "dependency", "targets", "files")
_MAY_LACK = frozenset({"path", "ref", "commit", "approval", "signature", *_ADDED})
"""Fields that are left out where they are empty."""


def read_lock(data: bytes) -> Lock:
    """Read a lock; one that git left in conflict is healed where nothing has to be guessed, and
    says so in its notes.
    """
    whole, notes = heal(data)
    return read_without_markers(whole)._replace(notes=notes)


def read_without_markers(data: bytes) -> Lock:
    """Read a lock without markers of a conflict."""
    text, found = _document(data)
    try:
        return _lock(found)
    except _FaultError as fault:
        place, why = fault.args
    try:
        at = _position(text, place)
    except RecursionError:  # it was just shallow enough to be read once
        at = 0
    raise _broken(text.count("\n", 0, at) + 1, why)


class _FaultError(Exception):
    """A value of the lock that is not as it is written: the path to it, and why."""


def _lock(found: Any) -> Lock:
    document = _object((), found)
    version = document.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise _FaultError(("version",), "its version must be a number, 1 or higher")
    if version > LOCK_VERSION:
        raise ConfigError(
            f"the lock is of version {min(version, 10**9)}, and this metier reads versions up to "
            f"{LOCK_VERSION}",
            hint="upgrade metier: a newer version wrote this lock",
            code="lock-version",
        )
    if version == 1:
        _refuse_added(document)
    for upgrade in UPGRADES[version - 1 :]:
        document = upgrade(document)
    if set(document) != {"version", "skills"} or not isinstance(document["skills"], list):
        raise _FaultError(
            (),
            f"expected 'version' and a list of 'skills', and found {_listed(document)}",
        )
    pins = [_pin(at, entry) for at, entry in enumerate(document["skills"])]
    twice = find_duplicate(pins)
    if twice:
        raise _FaultError(("skills", twice[0]), twice[1])
    return Lock(tuple(sorted(pins, key=_order)))


def _refuse_added(document: JsonObject) -> None:
    """Refuse in a lock of version 1 what only a later one has."""
    skills = document.get("skills")
    for at, entry in enumerate(skills if isinstance(skills, list) else ()):
        early = [key for key in _ADDED if isinstance(entry, dict) and key in entry]
        if early:
            raise _FaultError(
                ("skills", at, early[0]), f"a skill has keys that are not known: {_listed(early)}"
            )


def find_duplicate(pins: Iterable[Pin]) -> tuple[int, str] | None:
    """Say which pin has the name or the key of one before it, by its position, and how."""
    names = set()
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
    """Write a lock: the same bytes for the same pins, whatever their order. What could not be read
    again is not written.
    """
    twice = find_duplicate(lock.pins)
    if twice:
        raise ConfigError(
            f"can't write the lock: {twice[1]}",
            hint="remove one of them, or give it another name",
            code="lock",
        )
    for pin in lock.pins:
        field, why = pin_fault(pin)
        if why:
            raise ConfigError(
                f"can't write the lock: {_complaint(pin, field, why)}",
                hint="give the skill a plain name and place",
                code="lock",
            )
    version = 2 if any(getattr(pin, key) for pin in lock.pins for key in _ADDED) else 1
    if not lock.pins:
        return b'{\n  "version": %d,\n  "skills": []\n}\n' % version
    entries = ",\n".join("".join(_written(pin)) for pin in sorted(lock.pins, key=_order))
    return f'{{\n  "version": {version},\n  "skills": [\n{entries}\n  ]\n}}\n'.encode("ascii")


def _written(pin: Pin) -> Iterator[str]:
    yield "    {\n"
    for field in _FIELDS[:-2]:
        value = pin.verdict._asdict() if field == "verdict" else getattr(pin, field)
        if value or field not in _MAY_LACK:
            spelt = _spell_text(value) if isinstance(value, str) else json.dumps(value)
            yield f'      "{field}": {spelt},\n'
    targets = [json.dumps(target._asdict()) for target in pin.targets]
    yield from _lines("targets", "[]", targets, ",\n")
    files = [
        f"{_spell_text(file.path)}: {_spell_text(f'{file.sha256} {file.mode}'.rstrip())}"
        for file in sorted(pin.files)
    ]
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


def _document(data: bytes) -> tuple[str, Any]:
    if len(data) > MAX_LOCK_BYTES:
        raise ConfigError(
            f"the lock is longer than {MAX_LOCK_BYTES:,} bytes", hint=_HINT, code="lock"
        )
    line = 1
    try:
        text = data.decode("utf-8-sig")
        document = json.loads(
            text,
            object_pairs_hook=_object_once,
            # no number of a lock is below 0 or as long as that
            parse_int=lambda digits: int(digits) if len(digits) <= MAX_NUMBER_DIGITS else -1,
        )
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        why = "it is not UTF-8"
    except json.JSONDecodeError as error:
        line = error.lineno
        why = f"{error.msg}, at column {error.colno}"
    except RecursionError:
        why = "it is nested too deeply"
    else:
        return text, document
    raise _broken(line, why)


class _DuplicateKey(dict[str, Any]):
    """An object with a key that is there twice: which of the two counts would be a guess."""

    key = ""


def _object_once(pairs: list[tuple[str, Any]]) -> JsonObject:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    twice = _DuplicateKey(found)
    seen = set()
    twice.key = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
    return twice


def _object(place: JsonPath, found: Any) -> JsonObject:
    if not isinstance(found, dict):
        raise _FaultError(place, "expected an object here")
    if isinstance(found, _DuplicateKey):
        raise _FaultError(
            (*place, found.key), f"{_listed([found.key])} appears twice in one object"
        )
    return found


def _pin(at: int, entry: Any) -> Pin:
    place = ("skills", at)
    entry = _object(place, entry)
    unknown = set(entry) - set(_FIELDS)
    missing = set(_FIELDS) - _MAY_LACK - set(entry)
    if unknown or missing:
        raise _FaultError(
            (*place, *sorted(unknown)[:1]),
            f"a skill has no {_listed(missing)}"
            if missing
            else f"a skill has unknown keys: {_listed(unknown)}",
        )
    for field in _TEXTS:
        if not isinstance(entry.get(field, ""), str):
            raise _FaultError((*place, field), f"'{field}' must be a string")
    pin = Pin(
        **{field: entry.get(field, "") for field in _TEXTS},
        requires=_requires((*place, "requires"), entry.get("requires", [])),
        dependency=_flag((*place, "dependency"), entry.get("dependency", False)),
        verdict=_verdict((*place, "verdict"), entry["verdict"]),
        targets=_targets((*place, "targets"), entry["targets"]),
        files=_files((*place, "files"), entry["files"]),
    )
    wrong, why = pin_fault(pin)
    if why:
        raise _FaultError((*place, wrong[0]), _complaint(pin, wrong, why))
    return pin


def _complaint(pin: Pin, field: Texts, why: str) -> str:
    return (
        f"{' '.join((field[0], *(_listed([one]) for one in field[1:])))} of "
        f"{_listed([pin.name])}: {why}"
    )


def _requires(place: JsonPath, found: Any) -> Texts:
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise _FaultError(place, "'requires' is not a list of names")
    return tuple(found)


def _flag(place: JsonPath, found: Any) -> bool:
    if not isinstance(found, bool):
        raise _FaultError(place, f"{_listed(place[-1:])} is neither true nor false")  # type: ignore[arg-type]
    return found


def _verdict(place: JsonPath, found: Any) -> PinVerdict:
    if _object(place, found).keys() != {*PinVerdict._fields}:
        raise _FaultError(place, f"a verdict must have {_listed(PinVerdict._fields)}")
    if {field: type(value) for field, value in found.items()} != {
        "level": str,
        "ruleset": str,
        "score": int,
    }:
        raise _FaultError(place, "a verdict must have two strings and a whole number")
    return PinVerdict(**found)


def _targets(place: JsonPath, found: Any) -> tuple[InstallTarget, ...]:
    if not isinstance(found, list):
        raise _FaultError(place, "'targets' must be a list")
    for at, one in enumerate(found):
        values = _object((*place, at), one).values()
        if set(one) != set(InstallTarget._fields) or not all(
            isinstance(value, str) for value in values
        ):
            raise _FaultError(
                (*place, at),
                f"a target must have the strings {_listed(InstallTarget._fields)}",
            )
    return tuple(InstallTarget(**one) for one in found)


def _files(place: JsonPath, found: Any) -> tuple[PinnedFile, ...]:
    files = []
    for path, value in _object(place, found).items():
        if not isinstance(value, str):
            raise _FaultError((*place, path), "a file has no hash")
        sha256, gap, mode = value.partition(" ")
        if gap and not mode:
            raise _FaultError((*place, path), "a file's hash ends with a space")
        files.append(PinnedFile(path, sha256, mode))
    return tuple(sorted(files))


def _listed(names: Iterable[str]) -> str:
    return ", ".join(json.dumps(name[:80]) for name in sorted(names)[:8]) or "nothing"


def _broken(line: int, why: str) -> ConfigError:
    return ConfigError(f"can't read the lock: line {line}: {why}", hint=_HINT, code="lock")


def _position(text: str, place: JsonPath) -> int:
    """Find where in a text a value begins; as near as can be where the path to it ends early. Only
    faults are looked up.
    """
    decoder = json.JSONDecoder()
    at = _past(text, 0)
    for depth, step in enumerate(place, 1):
        opening = text[at]
        at = _past(text, at + 1)
        count = 0
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
            at = _past(text, decoder.raw_decode(text, at)[1], ",")
            count = count + 1
        else:
            return at
    return at


def _past(text: str, at: int, mark: str = "") -> int:
    while at < len(text) and (text[at] in " \t\r\n" or (mark and text[at] == mark)):
        at += 1
    return at


_MARKS = {b"<<<<<<<": "<", b"|||||||": "|", b"=======": "=", b">>>>>>>": ">"}
_WHOLE = (
    "take one side whole with 'git checkout --ours metier.lock' or '--theirs', then 'metier sync'"
)


class ConflictSides(NamedTuple):
    """A file that git left in conflict, as each side has it."""

    ours: bytes
    base: bytes | None
    """What both sides come from; `None` where a hunk does not show it."""
    theirs: bytes
    labels: tuple[str, str]
    """What git calls each side."""


def heal(data: bytes) -> tuple[bytes, Texts]:
    """Give the lock without markers, and a note for each skill that had to be settled; one without
    markers stays as it is.
    """
    if len(data) > MAX_LOCK_BYTES or not any(mark in data for mark in _MARKS):
        return data, ()
    sides = split_conflict(data)
    if sides is None:
        return data, ()
    ours = _side(sides.ours, sides.labels[0])
    theirs = _side(sides.theirs, sides.labels[1])
    base = None
    if sides.base is not None:
        # Git may show only a part of the common ancestor; what cannot be read then is not known.
        with suppress(ConfigError):
            base = _by_name(read_without_markers(sides.base))
    pins, notes = _joined(ours, theirs, base, sides.labels)
    twice = find_duplicate(pins)
    if twice:
        raise _conflict(
            f"each side of the merge added a skill, and together they clash: {twice[1]}", _WHOLE
        )
    return lock_bytes(Lock(tuple(pins))), tuple(notes)


def split_conflict(data: bytes) -> ConflictSides | None:
    """Take the file apart at its markers: what stands outside of them belongs to all sides."""
    parts: dict[str, list[bytes]] = {"<": [], "|": [], "=": []}
    part = ""
    bases = True
    hunks = 0
    labels = ["", ""]
    for number, line in enumerate(data.splitlines(keepends=True), 1):
        mark = _mark(line)
        if not mark:
            for key in parts if not part else (part,):
                parts[key].append(line)
            continue
        if mark not in {"": "<", "<": "|=", "|": "=", "=": ">"}[part]:
            raise ConfigError(
                f"can't read the lock: line {number}: a conflict marker without its other half",
                hint=_WHOLE,
                code="lock",
            )
        bases = bases and not (part == "<" and mark == "=")
        hunks += mark == "<"
        if mark in "<>":
            labels[mark == ">"] = labels[mark == ">"] or printable(
                line[8:72].decode("ascii", "replace").strip()
            )
        part = "" if mark == ">" else mark
    if part:
        raise ConfigError(
            "can't read the lock: a conflict in it has no end marker",
            hint=_WHOLE,
            code="lock",
        )
    if not hunks:
        return None
    names = labels[0] or "our side", labels[1] or "their side"
    return ConflictSides(
        b"".join(parts["<"]), b"".join(parts["|"]) if bases else None, b"".join(parts["="]), names
    )


def _mark(line: bytes) -> str:
    """Tell which marker a line is: exactly seven of its sign, then a space or the end. No line of a
    lock is one.
    """
    kind = _MARKS.get(line[:7], "")
    return kind if kind and line[7:8] in {b"", b" ", b"\r", b"\n"} else ""


def _by_name(lock: Lock) -> Pins:
    return {pin.name: pin for pin in lock.pins}


def _side(data: bytes, label: str) -> Pins:
    try:
        return _by_name(read_without_markers(data))
    except ConfigError as error:
        if error.code == "lock-version":
            raise
        raise _conflict(
            f"the lock has conflict markers, and {label} is broken: {error.message}",
            _WHOLE,
        ) from error


def _joined(
    left: Pins, right: Pins, base: Pins | None, labels: tuple[str, str]
) -> tuple[list[Pin], list[str]]:
    pins = []
    notes = []
    for name in sorted({*left, *right}):
        one = left.get(name)
        other = right.get(name)
        before = (base or {}).get(name)
        if one == other:
            taken = one
            note = ""
        elif base is not None and before in (one, other):
            taken, who = (other, labels[1]) if one == before else (one, labels[0])
            note = (
                f"{name}: {'added' if before is None else 'changed' if taken else 'removed'} "
                f"by {who} only, so it is used"
            )
        elif base is None and (one is None or other is None):
            taken = one or other
            note = f"{name}: only {labels[0] if one else labels[1]} has it, so it is kept"
        else:
            said = " and ".join(
                f"{label} has "
                + (
                    "removed it"
                    if pin is None
                    else f"{f'commit {pin.commit}, ' if pin.commit else ''}{pin.digest}"
                )
                for label, pin in zip(labels, (one, other), strict=True)
            )
            raise _conflict(
                f"both sides of the merge changed '{name}': {said}",
                f"{_WHOLE} and 'metier update {name}'; the other skills settle themselves",
            )
        pins += [taken] if taken else []
        notes += [note] if note else []
    return pins, notes or ["both sides of the merge say the same"]


def _conflict(message: str, hint: str) -> ConfigError:
    return ConfigError(message, hint=hint, code="lock-conflict")


# --- what a pin may say

_HASH = re.compile(r"[0-9a-f]{64}")


def pin_fault(pin: Pin) -> tuple[Texts, str]:
    """Say what is wrong with a pin: the field, as the path to it, and why; an empty why when
    nothing is.
    """
    for field, why in _faults(pin):
        if why:
            return field, why
    return (), ""


def _faults(pin: Pin) -> Faults:
    yield ("name",), name_fault(pin.name)
    yield ("kind",), "" if pin.kind in PIN_KINDS else f"it is none of {', '.join(PIN_KINDS)}"
    yield ("source",), text_fault(pin.source) if pin.source else "it is empty"
    yield ("path",), path_fault(pin.path) if pin.path else ""
    for field in ("ref", "commit", "signature", "vouch"):
        yield (field,), text_fault(getattr(pin, field))
    for field in ("digest", "base", "approval"):
        value = getattr(pin, field)
        empty = field == "approval" and not value
        yield (
            (field,),
            "" if empty or is_digest(value) else "it is not 'sha256:' and 64 digits of hexadecimal",
        )
    yield (
        ("verdict", "level"),
        "" if pin.verdict.level in VERDICT_LEVELS else f"it is none of {', '.join(VERDICT_LEVELS)}",
    )
    yield ("verdict", "score"), "" if 0 <= pin.verdict.score <= MAX_SCORE else "it is no score"
    yield ("verdict", "ruleset"), text_fault(pin.verdict.ruleset)
    yield from _requires_faults(pin.requires)
    yield from _target_faults(pin.name, pin.targets)
    yield from _file_faults(pin.files)


def _requires_faults(requires: Texts) -> Faults:
    many = len(requires) > MAX_REQUIRED_SKILLS
    yield ("requires",), f"there are more than {MAX_REQUIRED_SKILLS:,}" if many else ""
    in_order = list(requires) == sorted(set(requires))
    yield ("requires",), "" if in_order else "they are not sorted, or one is there twice"
    for name in requires:
        yield ("requires", name), text_fault(name) if name else "it is empty"


def _target_faults(name: str, targets: tuple[InstallTarget, ...]) -> Faults:
    seen = set()
    for target in targets:
        why = path_fault(target.path)
        if not why and target.path.rpartition("/")[2] != name:
            why = "a skill is only ever put in a folder of its own name"  # HE-42
        yield (
            ("targets", target.path),
            why or ("it is there twice" if (target.agent, target.path) in seen else ""),
        )
        yield ("targets", target.path), text_fault(target.agent)
        yield (
            ("targets", target.path),
            ""
            if target.method in PIN_METHODS
            else f"its method is none of {', '.join(PIN_METHODS)}",
        )
        seen.add((target.agent, target.path))


def _file_faults(files: tuple[PinnedFile, ...]) -> Faults:
    folders = set()
    seen = set()
    for file in files:
        why = path_fault(file.path, bytes_too=True)
        if not why and (not _HASH.fullmatch(file.sha256) or file.mode not in {"", "x", "l"}):
            why = "it is not 64 digits of hexadecimal, with 'x' or 'l' after them where that is so"
        yield ("files", file.path), why or ("it is there twice" if file.path in seen else "")
        seen.add(file.path)
        folder = file.path.rpartition("/")[0]
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    both = min(folders & seen, default="")
    yield ("files", both), "it is both a file and a folder" if both else ""
