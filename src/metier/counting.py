"""Counts how often skills are used, on this machine alone: names, paths and numbers, never what was said or read."""

from __future__ import annotations

from metier.discover import disk
from metier.errors import UsageError
from metier.light import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Literal

    from metier.app import Library
    from metier.model import Body, Card
    from metier.usage.db import Count
    from metier.usage.report import Usage

    What = Literal["view", "load", "read", "run", "failure", ""]
else:
    What = str

COLUMNS = {"view": (0,), "load": (1,), "read": (2,), "run": (3,), "failure": (3, 4)}
"""What each kind of use adds to: views, loads, reads, runs, failures. A failure is a run that went wrong."""
FILE = "usage.db"
BATCH = 256
"""So many uses wait before they are written together, where nothing else is written in between."""
SECOND = 1_000_000_000
UNWRITTEN = "uses of skills could not be written down"
OFF = "counting is off: 'usage = false' in the configuration"
NOWHERE = "there is no place to keep counts: set METIER_HOME or HOME"
MOST_DAYS = 36_500


class Tally:
    """The uses of one library that wait to be written down. Any thread may add to them, and none waits for another."""

    def __init__(self, library: Library) -> None:
        """Begin with none."""
        self.library = library
        self.added: list[tuple[str, str, str, int, int]] = []
        """Grows at its end and is taken from its beginning, each in one step, so that nothing falls in between."""
        self.waiting: dict[tuple[str, str], list[int]] = {}
        """What was added, summed up; what could not be written stays here. Only for whoever has the library alone."""

    def add(self, path: str, name: str, what: str, tokens: int) -> None:
        """Count one use."""
        library = self.library
        self.added.append((path, name, what, tokens, library.ports.clock_ns() // SECOND))
        if self not in library.later:  # after it was added: had it just been taken out of there, it would be forgotten
            library.later.append(self)
        if len(self.added) >= BATCH:
            library.aside(self._while_alone)

    def _while_alone(self) -> None:
        """Write down what waits, if it is still so much, unless somebody has the library: then they will."""
        if len(self.added) >= BATCH and self.library.alone.acquire(blocking=False):
            try:
                self()
            finally:
                self.library.alone.release()

    def __call__(self) -> None:
        """Write down what waits, as far as that can be done at once; what cannot stays for the next time, and is said."""
        while self.added:
            self._sum(*self.added.pop(0))
        library = self.library
        if not self.waiting or not library.data:
            return
        from metier.usage.db import Count, add

        counts = [Count(path, name, *numbers) for (path, name), numbers in self.waiting.items()]
        trouble = add(library.data, library.home, counts, library.ports.clock_ns() // SECOND)
        if not trouble:
            self.waiting.clear()
            return
        if self.once_more not in library.closing:
            library.closing.append(self.once_more)
        if not any(warning.startswith(UNWRITTEN) for warning in library.warnings):
            library.warnings.append(f"{UNWRITTEN}: {trouble}")

    def once_more(self) -> None:
        """Try again at the end: whoever closes the library settles it after this."""
        self.library.closing.remove(self.once_more)
        self.library.later.append(self)

    def _sum(self, path: str, name: str, what: str, tokens: int, at: int) -> None:
        numbers = self.waiting.setdefault((path, name), [0] * 7)
        for column in COLUMNS[what]:
            numbers[column] += 1
        numbers[5] += max(0, tokens)
        numbers[6] = max(numbers[6], at)


def note(library: Library, card: Card | Body, what: What, tokens: int = 0) -> None:
    """Count one use of a skill, and the tokens of it that were disclosed. Never raises; written when the library settles."""
    if what and library.settings.usage and library.data:
        _tally(library).add(card.path, card.name, what, tokens)


def _tally(library: Library) -> Tally:
    """Give the one tally of a library. It belongs to this module alone, so it is no part of what a library says of itself."""
    kept = vars(library)
    found = kept.get("_tally") or kept.setdefault("_tally", Tally(library))
    assert isinstance(found, Tally)
    return found


def usage(library: Library, *, days: int = 30) -> Usage:
    """Say what is used, what is dead, what is costly, and which skills say nearly the same."""
    from metier.usage import db, report
    from metier.usage.alike import alike

    _check(days)
    _settle(library)
    now = library.ports.clock_ns() // SECOND
    counts = db.read(library.data) if library.data else db.Counts()
    cards = library.skills(all=True)
    visible = [card for card in cards if card.state == "visible"]
    new = {(card.path, card.name): _there_since(card.path, now) for card in visible if (card.path, card.name) not in counts.seen}
    trouble = ""
    if library.settings.usage and library.data and not counts.trouble and (new or not counts.began or db.ahead(counts, now)):
        trouble = db.see(library.data, library.home, new, now)
    pairs = alike(((card.path, card.name, card.description) for card in visible),
                  told=lambda count: library.progress("descriptions", count))  # fmt: skip
    counts = counts._replace(trouble=counts.trouble or trouble, seen={**counts.seen, **new})
    made = report.usage(counts, cards, _elsewhere(counts.used, cards), pairs, now, days)
    why = NOWHERE if not library.data else "" if library.settings.usage else OFF
    return made._replace(notes=[why, *made.notes]) if why else made


def _check(days: object) -> None:
    if not isinstance(days, int) or isinstance(days, bool) or not 0 < days <= MOST_DAYS:
        shown = "".join(char if char.isprintable() else "?" for char in repr(days)[:40])
        raise UsageError(f"days cannot be {shown}", hint=f"give a whole number from 1 to {MOST_DAYS:,}")


def _elsewhere(used: Iterable[Count], cards: Iterable[Card]) -> frozenset[str]:
    """Give the places of skills that were counted and are not asked about now, but lie where they lay."""
    here = {card.path for card in cards}
    return frozenset(here | {path for path in {one.path for one in used} - here if _is_there(path)})


def _is_there(path: str) -> bool:
    try:
        return disk.is_there(path)
    except ValueError:  # no path at all: the file of counts may hold anything
        return False


def stats_of(library: Library) -> dict[str, tuple[int, int]]:
    """Give by name the runs of each visible skill and how many in a hundred went well, for those that ran often enough (ZE-37)."""
    if not library.data or not library.settings.usage:
        return {}
    _settle(library)
    if disk.key_of(f"{library.data}/{FILE}") is None:  # nothing was ever counted: SQLite need not be loaded
        return {}
    from metier.usage import db, report

    counts = db.read(library.data)
    return report.reliability(counts, library.skills()) if any(one.runs for one in counts.used) else {}


def _settle(library: Library) -> None:
    """Write down what this library itself has counted so far."""
    with library.alone:
        _tally(library)()


def _there_since(path: str, now: int) -> int:
    """Tell since when a skill lies where it lies, as it is: what was changed lately is not dead."""
    from struct import unpack_from

    key = disk.key_of(f"{path}/SKILL.md") or disk.key_of(path)
    changed = unpack_from("q", key, 16)[0] // SECOND if key else now
    return int(min(max(changed, 0), now))
