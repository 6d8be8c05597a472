"""Observation triggers: skills that ask to be called when a window, the clipboard, a file or the clock is as they say (CO-22).

Pure: what was seen, what time it is, who is asked and what was fired before are arguments. The steps, in their order: killed,
matched, muted, cooling down, consented, fired. Nothing is run here: what has fired is an answer to whoever runs skills.
"""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from metier.route.patterns import MOST_CHARS, Budget, Pattern, PatternError
from metier.standard.names import lookup_key, one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    Outcome = Literal["unreadable", "killed", "unmatched", "muted", "cooling", "refused", "fired"]

KEYS = ("type", "pattern", "cooldown_seconds", "require_confirmation", "destructive")
TYPES = ("window_title_match", "clipboard_pattern", "file_change", "time", "compound")
FIELDS = (("minute", 0, 59), ("hour", 0, 23), ("day", 1, 31), ("month", 1, 12), ("weekday", 0, 6))
"""What the five parts of a time stand for, the least and the most of each; Monday is 0."""
MOST_COOLDOWN = 10 * 366 * 24 * 3600
"""Seconds: ten years."""
MOST_DEPTH = 4
"""Compounds inside compounds."""
MOST_PARTS = 32
"""Conditions of one trigger."""
MOST_FILES = 1_000
"""Changed files that are looked at."""
MOST_PATH = 4_096
"""Characters of a path."""
EVENTS: Mapping[Outcome, tuple[str, ...]] = {
    "unreadable": (),
    "killed": (),
    "unmatched": (),
    "muted": ("trigger_evaluated", "trigger_muted"),
    "cooling": ("trigger_evaluated", "trigger_blocked"),
    "refused": ("trigger_evaluated", "trigger_blocked"),
    "fired": ("trigger_evaluated", "trigger_fired"),
}
"""What is told of each outcome. A trigger that is switched off, or that nothing met, is not worth a word."""


class Observation(NamedTuple):
    """What was seen; nothing stands for what was not looked at."""

    window: str | None = None
    """The title of the window in front."""
    clipboard: str | None = None
    files: tuple[str, ...] = ()
    """Absolute paths of files that have changed."""


class Condition(NamedTuple):
    """What must be seen: one pattern, or for a compound all or any of several conditions."""

    type: str
    text: str = ""
    pattern: Pattern | None = None
    all: bool = False
    children: tuple[Condition, ...] = ()


class Watched(NamedTuple):
    """A skill's observation trigger."""

    name: str
    path: str
    key: str
    """The skill's name and the hash of what the trigger says: one that was changed is another one."""
    condition: Condition
    cooldown: int
    """Seconds that must pass before it fires again."""
    confirm: bool
    """Whether a person is to approve or to skip it."""
    destructive: bool
    """Whether nothing less than an explicit yes will do; the skill itself may say so too."""


class Unread(NamedTuple):
    """A trigger that cannot be read, and why. It never fires."""

    name: str
    path: str
    message: str


class Switches(NamedTuple):
    """What the user has turned on and off."""

    enabled: bool = False
    muted: frozenset[str] = frozenset()
    """Names of skills that are not to fire."""
    until: Mapping[str, str] = {}
    """Names of skills that are not to fire before a time, in ISO 8601; one without a zone is in UTC."""
    silence: str = ""
    """Why no skill is to fire at all, where it cannot be known which of them are muted."""


class Observed(NamedTuple):
    """What became of one trigger."""

    name: str
    path: str
    key: str
    outcome: Outcome
    """`unreadable`, `killed`, `unmatched`, `muted`, `cooling`, `refused` or `fired`: the first of these steps that it met."""
    events: tuple[str, ...]
    """What is told of it, in the order in which it happened."""
    reason: str = ""
    """Why it did not fire, in words; nothing when it did, or was not met."""


class Memory:
    """What is remembered between two looks, for as long as a library is open and no longer."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.fired: dict[str, float] = {}
        """When each trigger last fired or was refused, by key, in seconds since 1970."""
        self.read: dict[str, tuple[bytes, Watched | Unread | None]] = {}
        """The trigger of each code skill by path, after the key of the file it was read from."""


# --- reading


def read(name: str, path: str, raw: object, *, destructive: bool = False, home: str = "") -> Watched | Unread:
    """Read what a skill declares; `home` is what `~` stands for in the pattern of a file."""
    try:
        cooldown, confirm, harms, condition = _parts(raw, home)
        assert isinstance(raw, dict)
        return Watched(name, path, key_of(name, raw), condition, cooldown, confirm, harms or destructive)
    except PatternError as fault:
        return unread(name, path, str(fault))
    except Exception as fault:  # noqa: BLE001 - whatever a stranger has thought of, other skills have their triggers too
        return unread(name, path, f"it cannot be read ({type(fault).__name__})")


def unread(name: str, path: str, why: str) -> Unread:
    """Say that the trigger of a skill does not count, and why."""
    return Unread(name, path, f"the observation trigger of '{name}' is ignored: {why}")


def _parts(raw: object, home: str) -> tuple[int, bool, bool, Condition]:
    if not isinstance(raw, dict):
        raise PatternError("it must be a dict")
    _exactly(raw, KEYS, "it")
    cooldown, confirm, harms = raw["cooldown_seconds"], raw["require_confirmation"], raw["destructive"]
    if not isinstance(cooldown, int) or isinstance(cooldown, bool) or not 0 <= cooldown <= MOST_COOLDOWN:
        raise PatternError(f"cooldown_seconds must be a whole number from 0 to {MOST_COOLDOWN:,}")
    if not isinstance(confirm, bool) or not isinstance(harms, bool):
        raise PatternError("require_confirmation and destructive must be True or False")
    return cooldown, confirm, harms, _condition(raw, home, "", [0], 0)


def key_of(name: str, raw: Mapping[str, Any]) -> str:
    """Name a trigger by its skill and by what it says."""
    written = json.dumps(raw, sort_keys=True, separators=(",", ":")).encode()
    return f"{name}:{hashlib.sha1(written, usedforsecurity=False).hexdigest()[:8]}"


def _exactly(raw: Mapping[Any, Any], keys: tuple[str, ...], where: str) -> None:
    missing = [key for key in keys if key not in raw]
    unknown = sorted(one_line(str(key))[:40] for key in raw if key not in keys)
    if missing:
        raise PatternError(f"{where} lacks {', '.join(missing)}")
    if unknown:
        raise PatternError(f"{where} has unknown keys: {', '.join(unknown[:5])}")


def _condition(raw: Mapping[str, Any], home: str, where: str, count: list[int], depth: int) -> Condition:
    """Read one condition, and those inside it; `count` holds how many there were so far."""
    count[0] += 1
    if count[0] > MOST_PARTS:
        raise PatternError(f"it has more than {MOST_PARTS} conditions")
    type_, pattern = raw["type"], raw["pattern"]
    if type_ not in TYPES:
        shown = one_line(type_[:40]) if isinstance(type_, str) else type(type_).__name__
        raise PatternError(f"{where}type is unknown: {shown}; it must be one of {', '.join(TYPES)}")
    if type_ == "compound":
        return _compound(pattern, home, where, count, depth)
    if not isinstance(pattern, str) or not pattern.strip() or len(pattern) > MOST_CHARS:
        raise PatternError(f"{where}pattern must be a text of at most {MOST_CHARS} characters that is not empty")
    if type_ == "time":
        _check_time(pattern, where)
    if type_ in {"time", "file_change"}:
        return Condition(type_, home + pattern[1:] if home and pattern.startswith("~/") else pattern)
    try:
        return Condition(type_, pattern, Pattern(pattern))
    except PatternError as fault:
        raise PatternError(f"{where}pattern cannot be used: {fault}") from None


def _compound(pattern: object, home: str, where: str, count: list[int], depth: int) -> Condition:
    if not isinstance(pattern, dict):
        raise PatternError(f"{where}pattern of a compound must be a dict with op and children")
    _exactly(pattern, ("op", "children"), f"{where}pattern")
    if not isinstance(pattern["op"], str) or pattern["op"] not in {"and", "or"}:
        raise PatternError(f"{where}op must be 'and' or 'or'")
    children = pattern["children"]
    if not isinstance(children, (list, tuple)) or not children:
        raise PatternError(f"{where}children must be a list that is not empty")
    if depth >= MOST_DEPTH:
        raise PatternError(f"compounds are nested more than {MOST_DEPTH} deep")
    found = []
    for number, child in enumerate(children):
        place = f"{where}children[{number}]."
        if not isinstance(child, dict):
            raise PatternError(f"{place[:-1]} must be a dict")
        _exactly(child, ("type", "pattern"), place[:-1])
        found.append(_condition(child, home, place, count, depth + 1))
    return Condition("compound", all=pattern["op"] == "and", children=tuple(found))


def _check_time(pattern: str, where: str) -> None:
    parts = pattern.split()
    if len(parts) != len(FIELDS):
        raise PatternError(f"{where}pattern must have five parts: minute, hour, day, month and weekday")
    for part, (name, least, most) in zip(parts, FIELDS, strict=True):
        is_number = part.isascii() and part.isdecimal() and len(part) <= 2 and least <= int(part) <= most
        if part != "*" and not is_number:
            raise PatternError(f"{where}pattern: the {name} must be * or a number from {least} to {most}")


# --- matching


def is_met(condition: Condition, seen: Observation, now: datetime, budget: Budget | None = None) -> bool:
    """Tell whether what was seen is what a condition asks for; all patterns of one trigger share what may be spent on them."""
    budget = budget or Budget()
    if condition.type == "compound":
        met = (is_met(child, seen, now, budget) for child in condition.children)
        return all(met) if condition.all else any(met)
    if condition.type == "time":
        clock = (now.minute, now.hour, now.day, now.month, now.weekday())
        return all(part == "*" or int(part) == value for part, value in zip(condition.text.split(), clock, strict=True))
    if condition.type == "file_change":
        return any(_is_named(path[:MOST_PATH], condition.text) for path in seen.files[:MOST_FILES])
    text = seen.window if condition.type == "window_title_match" else seen.clipboard
    return bool(text) and condition.pattern is not None and condition.pattern.found_in(text or "", budget)


def _is_named(path: str, pattern: str) -> bool:
    return fnmatchcase(path, pattern) or fnmatchcase(path.rpartition("/")[2], pattern)


# --- deciding


def observe(
    watched: Iterable[Watched | Unread], seen: Observation, now: datetime, switches: Switches, consent: Callable[[Watched], bool],
    fired: Mapping[str, float],
) -> tuple[list[Observed], dict[str, float]]:  # fmt: skip
    """Hold what was seen against every trigger: what became of each, and when each last fired, for the next time."""
    found, after = list[Observed](), dict(fired)
    for one in watched:
        if isinstance(one, Unread):
            found.append(Observed(one.name, one.path, "", "unreadable", EVENTS["unreadable"], one.message))
            continue
        outcome, reason = _decided(one, seen, now, switches, after)
        if outcome == "fired":
            after[one.key] = _moment(now).timestamp()  # a no counts as well: nobody is to be asked until they say yes
            if (one.destructive or one.confirm) and not _agreed(consent, one):
                outcome, reason = "refused", "nobody agreed to it"
        found.append(Observed(one.name, one.path, one.key, outcome, EVENTS[outcome], reason))
    return found, after


def _decided(
    one: Watched, seen: Observation, now: datetime, switches: Switches, fired: Mapping[str, float]
) -> tuple[Outcome, str]:
    """Decide all that needs no person."""
    if not switches.enabled:
        return "killed", "observation triggers are switched off"
    if not is_met(one.condition, seen, now):
        return "unmatched", ""
    muted = _muted(one.name, now, switches)
    if muted:
        return "muted", muted
    # A clock that was set back makes nobody wait longer than the cooldown itself.
    passed = abs(_moment(now).timestamp() - fired[one.key]) if one.key in fired else MOST_COOLDOWN
    if passed < one.cooldown:
        return "cooling", f"it fired less than {one.cooldown} seconds ago"
    return "fired", ""


def _muted(name: str, now: datetime, switches: Switches) -> str:
    """Say why a skill is not to fire; nothing when it may. A time that cannot be read is never over."""
    wanted = lookup_key(name)
    if switches.silence:
        return switches.silence
    if any(lookup_key(one) == wanted for one in switches.muted):
        return "muted_skills"
    for one, text in switches.until.items():
        if lookup_key(one) == wanted:
            until = moment_of(text)
            if until is None:
                return "muted_until cannot be read"
            if _moment(now) < until:
                return f"muted_until {text}"
    return ""


def moment_of(text: str) -> datetime | None:
    """Read a time in ISO 8601; one without a zone is in UTC."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def _moment(now: datetime) -> datetime:
    """Give the clock a zone: one that has none shows local time."""
    if now.tzinfo is not None:
        return now
    try:
        return now.astimezone()
    except (ValueError, OverflowError, OSError):  # before there were zones, or after them
        return now.replace(tzinfo=UTC)


def _agreed(consent: Callable[[Watched], bool], one: Watched) -> bool:
    """Ask; whatever is not a plain yes is a no."""
    try:
        return consent(one) is True
    except Exception:  # noqa: BLE001 - who cannot be asked has not agreed
        return False
