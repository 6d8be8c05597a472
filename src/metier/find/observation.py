"""Observation triggers: skills that ask to be called when a window, the clipboard, a file or the
clock is as they say (CO-22).

Pure: what was seen, what time it is, who is asked and what was fired before are arguments. The
steps, in their order: killed, matched, muted, cooling down, consented, fired. Nothing is run here:
what has fired is an answer to whoever runs skills.
"""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from metier.standard.names import lookup_key, one_line
from metier.standard.patterns import PatternError, pattern_compiler, searchable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from metier.model import Texts

    Outcome = Literal["unreadable", "killed", "unmatched", "muted", "cooling", "refused", "fired"]

TRIGGER_KEYS = ("type", "pattern", "cooldown_seconds", "require_confirmation", "destructive")
TRIGGER_TYPES = ("window_title_match", "clipboard_pattern", "file_change", "time", "compound")
TIME_FIELDS = (
    ("minute", 0, 59),
    ("hour", 0, 23),
    ("day", 1, 31),
    ("month", 1, 12),
    ("weekday", 0, 6),
)
"""What the five parts of a time stand for, the least and the most of each; Monday is 0."""
MAX_COOLDOWN_SECONDS = 10 * 366 * 24 * 3600
"""Seconds: ten years."""
MAX_COMPOUND_DEPTH = 4
"""Compounds inside compounds."""
MAX_CONDITIONS = 32
"""Conditions of one trigger."""
MAX_PATTERN_CHARS = 500
"""Characters of a pattern."""
MAX_PATTERN_STEPS = 2_000
"""Steps of all regular expressions of one trigger, after their repeats are written out: a search
takes the time of so many for each character."""
MAX_TEXT_CHARS = 10_000
"""Characters of a window's title or of the clipboard that are searched."""
MAX_CHANGED_FILES = 1_000
"""Changed files that are looked at."""
MAX_PATH_CHARS = 4_096
"""Characters of a path."""
EVENTS: Mapping[Outcome, Texts] = {
    "unreadable": (),
    "killed": (),
    "unmatched": (),
    "muted": ("trigger_evaluated", "trigger_muted"),
    "cooling": ("trigger_evaluated", "trigger_blocked"),
    "refused": ("trigger_evaluated", "trigger_blocked"),
    "fired": ("trigger_evaluated", "trigger_fired"),
}
"""What is told of each outcome. A trigger that is switched off, or that nothing met, is not worth a
word."""


class Observation(NamedTuple):
    """What was seen; nothing stands for what was not looked at."""

    window: str | None = None
    """The title of the window in front."""
    clipboard: str | None = None
    files: Texts = ()
    """Absolute paths of files that have changed."""


class Condition(NamedTuple):
    """What must be seen: one pattern, or for a compound all or any of several conditions."""

    type: str
    text: str = ""
    pattern: Any = None
    """The compiled pattern of a regular expression."""
    all: bool = False
    children: tuple[Condition, ...] = ()


class Watched(NamedTuple):
    """A skill's observation trigger."""

    name: str
    path: str
    key: str
    """The skill's name and the hash of what the trigger says: one that was changed is another
    one."""
    condition: Condition
    cooldown: int
    """Seconds that must pass before it fires again."""
    confirm: bool
    """Whether a person is to approve or to skip it."""
    destructive: bool
    """Whether nothing less than an explicit yes will do; the skill itself may say so too."""


class UnreadableTrigger(NamedTuple):
    """A trigger that cannot be read, and why. It never fires."""

    name: str
    path: str
    message: str
    key: str = ""


class Switches(NamedTuple):
    """What the user has turned on and off."""

    enabled: bool = False
    muted: frozenset[str] = frozenset()
    """Names of skills that are not to fire."""
    until: Mapping[str, str] = {}
    """Names of skills that are not to fire before a time, in ISO 8601; one without a zone is in
    UTC."""
    silence: str = ""
    """Why no skill is to fire at all, where it cannot be known which of them are muted."""


class Observed(NamedTuple):
    """What became of one trigger."""

    name: str
    path: str
    key: str
    outcome: Outcome
    """`unreadable`, `killed`, `unmatched`, `muted`, `cooling`, `refused` or `fired`: the first of
    these steps that it met."""
    events: Texts
    """What is told of it, in the order in which it happened."""
    reason: str = ""
    """Why it did not fire, in words; nothing when it did, or was not met."""


class TriggerMemory:
    """What is remembered between two looks, for as long as a library is open and no longer."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.fired: dict[str, float] = {}
        """When each trigger last fired or was refused, by key, in seconds since 1970."""
        self.read: dict[str, tuple[bytes, Watched | UnreadableTrigger | None]] = {}
        """The trigger of each code skill by path, after the key of the file it was read from."""


# --- reading


class TriggerError(ValueError):
    """A trigger that cannot be used; its text says why."""


def read_trigger(
    name: str, path: str, raw: object, *, destructive: bool = False, home: str = ""
) -> Watched | UnreadableTrigger:
    """Read what a skill declares; `home` is what `~` stands for in the pattern of a file."""
    try:
        return _read(name, path, raw, destructive=destructive, home=home)
    except TriggerError as fault:
        return unreadable(name, path, str(fault))
    except Exception as fault:  # noqa: BLE001 - whatever a stranger has thought of, other skills have their triggers too
        return unreadable(name, path, f"it cannot be read ({type(fault).__name__})")


def unreadable(name: str, path: str, why: str) -> UnreadableTrigger:
    """Say that the trigger of a skill does not count, and why."""
    return UnreadableTrigger(name, path, f"the observation trigger of '{name}' is ignored: {why}")


def _read(name: str, path: str, raw: object, *, destructive: bool, home: str) -> Watched:
    if not isinstance(raw, dict):
        raise TriggerError("it must be a dict")
    _check_keys(raw, TRIGGER_KEYS, "it")
    _type, _pattern, cooldown, confirm, harms = (raw[key] for key in TRIGGER_KEYS)
    if type(cooldown) is not int or not 0 <= cooldown <= MAX_COOLDOWN_SECONDS:
        raise TriggerError(
            f"cooldown_seconds must be a whole number from 0 to {MAX_COOLDOWN_SECONDS:,}"
        )
    if not isinstance(confirm, bool) or not isinstance(harms, bool):
        raise TriggerError("require_confirmation and destructive must be True or False")
    return Watched(
        name=name,
        path=path,
        key=key_of(name, raw),
        condition=_ConditionReader(home).read(raw),
        cooldown=cooldown,
        confirm=confirm,
        destructive=harms or destructive,
    )


def key_of(name: str, raw: Mapping[str, Any]) -> str:
    """Name a trigger by its skill and by what it says."""
    written = json.dumps(raw, sort_keys=True, separators=(",", ":")).encode()
    return f"{name}:{hashlib.sha1(written, usedforsecurity=False).hexdigest()[:8]}"


def _check_keys(raw: Mapping[Any, Any], keys: Texts, where: str) -> None:
    missing = [key for key in keys if key not in raw]
    unknown = sorted(one_line(str(key))[:40] for key in raw if key not in keys)
    if missing:
        raise TriggerError(f"{where} lacks {', '.join(missing)}")
    if unknown:
        raise TriggerError(f"{where} has unknown keys: {', '.join(unknown[:5])}")


class _ConditionReader:
    """Reads the conditions of one trigger, and counts what they add up to."""

    def __init__(self, home: str) -> None:
        self.home = home
        self.conditions = 0
        self.steps = 0

    def read(self, raw: Mapping[str, Any], where: str = "", depth: int = 0) -> Condition:
        """Read one condition, and those inside it."""
        self.conditions += 1
        if self.conditions > MAX_CONDITIONS:
            raise TriggerError(f"it has more than {MAX_CONDITIONS} conditions")
        type_ = raw["type"]
        pattern = raw["pattern"]
        if type_ not in TRIGGER_TYPES:
            shown = one_line(type_[:40]) if isinstance(type_, str) else type(type_).__name__
            raise TriggerError(
                f"{where}type is unknown: {shown}; it must be one of {', '.join(TRIGGER_TYPES)}"
            )
        if type_ == "compound":
            return self._compound(pattern, where, depth)
        if not isinstance(pattern, str) or not pattern.strip() or len(pattern) > MAX_PATTERN_CHARS:
            raise TriggerError(
                f"{where}pattern must be a text of at most {MAX_PATTERN_CHARS} characters that is "
                f"not empty"
            )
        if type_ == "time":
            _check_time(pattern, where)
        elif type_ == "file_change":
            if self.home and pattern.startswith("~/"):
                pattern = self.home + pattern[1:]
        else:
            return Condition(type_, pattern, self._compile(pattern, where))
        return Condition(type_, pattern)

    def _compile(self, pattern: str, where: str) -> Any:
        try:
            found = pattern_compiler()(pattern)
        except PatternError as fault:
            raise TriggerError(f"{where}pattern cannot be used: {one_line(str(fault))}") from None
        self.steps += found.programsize
        if self.steps > MAX_PATTERN_STEPS:
            raise TriggerError(
                f"{where}pattern cannot be used: it is too large once its repeats are written out"
            )
        return found

    def _compound(self, pattern: object, where: str, depth: int) -> Condition:
        if not isinstance(pattern, dict):
            raise TriggerError(f"{where}pattern of a compound must be a dict with op and children")
        _check_keys(pattern, ("op", "children"), f"{where}pattern")
        op = pattern["op"]
        children = pattern["children"]
        if not isinstance(op, str) or op not in {"and", "or"}:
            raise TriggerError(f"{where}op must be 'and' or 'or'")
        if not isinstance(children, (list, tuple)) or not children:
            raise TriggerError(f"{where}children must be a list that is not empty")
        if depth >= MAX_COMPOUND_DEPTH:
            raise TriggerError(f"compounds are nested more than {MAX_COMPOUND_DEPTH} deep")
        found = []
        for number, child in enumerate(children):
            place = f"{where}children[{number}]"
            if not isinstance(child, dict):
                raise TriggerError(f"{place} must be a dict")
            _check_keys(child, ("type", "pattern"), place)
            found.append(self.read(child, f"{place}.", depth + 1))
        return Condition("compound", all=op == "and", children=tuple(found))


def _check_time(pattern: str, where: str) -> None:
    parts = pattern.split()
    if len(parts) != len(TIME_FIELDS):
        raise TriggerError(
            f"{where}pattern must have five parts: minute, hour, day, month and weekday"
        )
    for part, (name, least, most) in zip(parts, TIME_FIELDS, strict=True):
        is_number = (
            part.isascii() and part.isdecimal() and len(part) <= 2 and least <= int(part) <= most
        )
        if part != "*" and not is_number:
            raise TriggerError(
                f"{where}pattern: the {name} must be * or a number from {least} to {most}"
            )


# --- matching


def is_met(condition: Condition, seen: Observation, now: datetime) -> bool:
    """Tell whether what was seen is what a condition asks for."""
    if condition.type == "compound":
        met = (is_met(child, seen, now) for child in condition.children)
        return all(met) if condition.all else any(met)
    if condition.type == "time":
        clock = (now.minute, now.hour, now.day, now.month, now.weekday())
        return all(
            part == "*" or int(part) == value
            for part, value in zip(condition.text.split(), clock, strict=True)
        )
    if condition.type == "file_change":
        return any(
            _is_named(path[:MAX_PATH_CHARS], condition.text)
            for path in seen.files[:MAX_CHANGED_FILES]
        )
    text = seen.window if condition.type == "window_title_match" else seen.clipboard
    if not text or condition.pattern is None:
        return False
    start = searchable(text[: MAX_TEXT_CHARS + 1])  # where it is cut is not its end
    return condition.pattern.search(start, 0, MAX_TEXT_CHARS) is not None


def _is_named(path: str, pattern: str) -> bool:
    return fnmatchcase(path, pattern) or fnmatchcase(path.rpartition("/")[2], pattern)


# --- deciding


def observe(
    watched: Iterable[Watched | UnreadableTrigger],
    seen: Observation,
    now: datetime,
    switches: Switches,
    consent: Callable[[Watched], bool],
    fired: Mapping[str, float],
) -> tuple[list[Observed], dict[str, float]]:
    """Hold what was seen against every trigger: what became of each, and when each last fired, for
    the next time.
    """
    found = list[Observed]()
    after = dict(fired)
    for one in watched:
        outcome, reason = _decide(one, seen, now, switches, after)
        if outcome == "fired" and isinstance(one, Watched):
            # a no counts as well: nobody is to be asked until they say yes
            after[one.key] = _moment(now).timestamp()
            if (one.destructive or one.confirm) and not _ask_consent(consent, one):
                outcome = "refused"
                reason = "nobody agreed to it"
        found.append(Observed(one.name, one.path, one.key, outcome, EVENTS[outcome], reason))
    return found, after


def _decide(
    one: Watched | UnreadableTrigger,
    seen: Observation,
    now: datetime,
    switches: Switches,
    fired: Mapping[str, float],
) -> tuple[Outcome, str]:
    """Decide all that needs no person."""
    if isinstance(one, UnreadableTrigger):
        return "unreadable", one.message
    if not switches.enabled:
        return "killed", "observation triggers are switched off"
    if not is_met(one.condition, seen, now):
        return "unmatched", ""
    muted = _muted(one.name, now, switches)
    if muted:
        return "muted", muted
    # A clock that was set back makes nobody wait longer than the cooldown itself.
    passed = (
        abs(_moment(now).timestamp() - fired[one.key]) if one.key in fired else MAX_COOLDOWN_SECONDS
    )
    if passed < one.cooldown:
        return "cooling", f"it fired less than {one.cooldown} seconds ago"
    return "fired", ""


def _muted(name: str, now: datetime, switches: Switches) -> str:
    """Say why a skill is not to fire; nothing when it may. A time that cannot be read is never
    over.
    """
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


def _ask_consent(consent: Callable[[Watched], bool], one: Watched) -> bool:
    """Ask; whatever is not a plain yes is a no."""
    try:
        return consent(one) is True
    except Exception:  # noqa: BLE001 - who cannot be asked has not agreed
        return False
