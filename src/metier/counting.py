"""Counts how often skills are used, on this machine alone: names, paths and numbers, never what was said or read."""

from __future__ import annotations

from metier.discover import disk
from metier.light import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Literal

    from metier.app import Library
    from metier.model import Body, Card
    from metier.usage.report import Usage

    What = Literal["view", "load", "read", "run", "failure", ""]
else:
    What = str

COLUMNS = {"view": (0,), "load": (1,), "read": (2,), "run": (3,), "failure": (3, 4)}
"""What each kind of use adds to: views, loads, reads, runs, failures. A failure is a run that went wrong."""
FILE = "usage.db"
BATCH = 64
"""So many uses wait before they are written together, where nothing else is written in between."""
SECOND = 1_000_000_000
OFF = "counting is off: 'usage = false' in the configuration"
NOWHERE = "there is no place to keep counts: set METIER_HOME or HOME"


class Tally:
    """Uses that wait to be written down: one of the things a library does after its answer."""

    def __init__(self, library: Library) -> None:
        """Begin with none."""
        self.library = library
        self.waiting: dict[tuple[str, str], list[int]] = {}
        self.uses = 0

    def add(self, path: str, name: str, what: str, tokens: int) -> None:
        """Count one use."""
        numbers = self.waiting.setdefault((path, name), [0] * 7)
        for column in COLUMNS[what]:
            numbers[column] += 1
        numbers[5] += max(0, tokens)
        numbers[6] = self.library.ports.clock_ns() // SECOND
        self.uses += 1
        if self.uses >= BATCH:
            self()

    def __call__(self) -> None:
        """Write down what waits. Where that cannot be done, the uses are not counted, and nothing else happens."""
        from metier.usage.db import Count, add

        waiting, self.waiting, self.uses = self.waiting, {}, 0
        if waiting and self.library.data:
            counts = [Count(path, name, *numbers) for (path, name), numbers in waiting.items()]
            add(self.library.data, self.library.home, counts, self.library.ports.clock_ns() // SECOND)


def note(library: Library, card: Card | Body, what: What, tokens: int = 0) -> None:
    """Count one use of a skill, and the tokens of it that were disclosed. Never raises; written when the library settles."""
    if not what or not library.settings.usage or not library.data:
        return
    tally = next((task for task in library.later if isinstance(task, Tally)), None)
    if tally is None:
        tally = Tally(library)
        library.later.append(tally)
    tally.add(card.path, card.name, what, tokens)


def usage(library: Library, *, days: int = 30) -> Usage:
    """Say what is used, what is dead, what is costly, and which skills say nearly the same."""
    from metier.usage import db, report
    from metier.usage.alike import alike

    _settle(library)
    now = library.ports.clock_ns() // SECOND
    counts = db.read(library.data) if library.data else db.Counts()
    cards = library.skills(all=True)
    visible = [card for card in cards if card.state == "visible"]
    new = {(card.path, card.name): _there_since(card.path, now) for card in visible if (card.path, card.name) not in counts.seen}
    trouble = ""
    if library.settings.usage and library.data and not counts.trouble and (new or not counts.began):
        trouble = db.see(library.data, library.home, new, now)
    pairs = alike((card.path, card.name, card.description) for card in visible)
    made = report.usage(counts._replace(trouble=counts.trouble or trouble), cards, {**counts.seen, **new}, pairs, now, days)
    why = NOWHERE if not library.data else "" if library.settings.usage else OFF
    return made._replace(notes=[why, *made.notes]) if why else made


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
    for task in library.later:
        if isinstance(task, Tally):
            task()


def _there_since(path: str, now: int) -> int:
    """Tell since when a skill lies where it lies, as it is: what was changed lately is not dead."""
    from struct import unpack_from

    key = disk.key_of(f"{path}/SKILL.md") or disk.key_of(path)
    changed = unpack_from("q", key, 16)[0] // SECOND if key else now
    return int(min(max(changed, 0), now))
