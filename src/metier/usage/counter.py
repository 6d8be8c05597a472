"""Counts how often skills are used, on this machine alone: names, paths and numbers, never what was
said or read.
"""

from __future__ import annotations

from metier.discover.io import disk
from metier.errors import UsageError
from metier.fast import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Literal

    from metier.context import Context
    from metier.model import Body, Card
    from metier.usage.io import Count
    from metier.usage.report import Usage

    What = Literal["view", "load", "read", "run", "failure", ""]

COLUMNS = {"view": (0,), "load": (1,), "read": (2,), "run": (3,), "failure": (3, 4)}
"""What each kind of use adds to: views, loads, reads, runs, failures. A failure is a run that went
wrong."""
FILE = "usage.db"
BATCH_USES = 256
"""So many uses wait before they are written together, where nothing else is written in between."""
NANOSECONDS = 1_000_000_000
UNWRITTEN = "uses of skills could not be written down"
COUNTING_OFF = "counting is off: 'usage = false' in the configuration"
NO_COUNTS_FOLDER = "there is no place to keep counts: set METIER_HOME or HOME"
MAX_DAYS = 36_500


class Tally:
    """The uses of one library that wait to be written down. Any thread may add to them, and none
    waits for another.
    """

    def __init__(self, context: Context) -> None:
        """Begin with none."""
        self.context = context
        self.added: list[tuple[str, str, str, int, int]] = []
        """Grows at its end and is taken from its beginning, each in one step, so that nothing falls
        in between."""
        self.waiting: dict[tuple[str, str], list[int]] = {}
        """What was added, summed up; what could not be written stays here. Only for whoever has the
        library alone."""

    def add(self, path: str, name: str, what: str, tokens: int) -> None:
        """Count one use."""
        context = self.context
        self.added.append((path, name, what, tokens, context.ports.clock_ns() // NANOSECONDS))
        if (
            self not in context.later
        ):  # after it was added: had it just been taken out of there, it would be forgotten
            context.later.append(self)
        if len(self.added) >= BATCH_USES:
            context.in_background(self._while_alone)

    def _while_alone(self) -> None:
        """Write down what waits, if it is still so much, unless somebody has the library: then they
        will.
        """
        if len(self.added) >= BATCH_USES and self.context.lock.acquire(blocking=False):
            try:
                self()
            finally:
                self.context.lock.release()

    def __call__(self) -> None:
        """Write down what waits, as far as that can be done at once; what cannot stays for the next
        time, and is said.
        """
        while self.added:
            self._sum(*self.added.pop(0))
        context = self.context
        if not self.waiting or not context.data:
            return
        from metier.usage.io import Count, add_counts

        counts = [Count(path, name, *numbers) for (path, name), numbers in self.waiting.items()]
        trouble = add_counts(
            context.data, context.home, counts, context.ports.clock_ns() // NANOSECONDS
        )
        if not trouble:
            self.waiting.clear()
            return
        if self.once_more not in context.closing:
            context.closing.append(self.once_more)
        if not any(warning.startswith(UNWRITTEN) for warning in context.warnings):
            context.warnings.append(f"{UNWRITTEN}: {trouble}")

    def once_more(self) -> None:
        """Try again at the end: whoever closes the library settles it after this."""
        self.context.closing.remove(self.once_more)
        self.context.later.append(self)

    def _sum(self, path: str, name: str, what: str, tokens: int, at: int) -> None:
        numbers = self.waiting.setdefault((path, name), [0] * 7)
        for column in COLUMNS[what]:
            numbers[column] += 1
        numbers[5] += max(0, tokens)
        numbers[6] = max(numbers[6], at)


def count_use(context: Context, card: Card | Body, what: What, tokens: int = 0) -> None:
    """Count one use of a skill, and the tokens of it that were disclosed. Never raises; written
    when the library settles.
    """
    if what and context.settings.usage and context.data:
        _tally(context).add(card.path, card.name, what, tokens)


def _tally(context: Context) -> Tally:
    """Give the one tally of a library."""
    if context.tally is None:
        with context.lock:
            if context.tally is None:
                context.tally = Tally(context)
    return context.tally


def usage_report(context: Context, *, days: int = 30) -> Usage:
    """Say what is used, what is dead, what is costly, and which skills say nearly the same."""
    from metier.usage import io, report
    from metier.usage.report import find_alike

    _check(days)
    _settle(context)
    now = context.ports.clock_ns() // NANOSECONDS
    counts = io.read_counts(context.data) if context.data else io.Counts()
    cards = context.catalogue.skills(all=True)
    visible = [card for card in cards if card.state == "visible"]
    new = {
        (card.path, card.name): _there_since(card.path, now)
        for card in visible
        if (card.path, card.name) not in counts.seen
    }
    trouble = ""
    if (
        context.settings.usage
        and context.data
        and not counts.trouble
        and (new or not counts.began or io.is_ahead(counts, now))
    ):
        trouble = io.note_seen(context.data, context.home, new, now)
    pairs = find_alike(
        ((card.path, card.name, card.description) for card in visible),
        progress=lambda count: context.progress("descriptions", count, 0),
    )
    counts = counts._replace(trouble=counts.trouble or trouble, seen={**counts.seen, **new})
    made = report.make_report(counts, cards, _elsewhere(counts.used, cards), pairs, now, days)
    why = NO_COUNTS_FOLDER if not context.data else "" if context.settings.usage else COUNTING_OFF
    return made._replace(notes=[why, *made.notes]) if why else made


def _check(days: object) -> None:
    if not isinstance(days, int) or isinstance(days, bool) or not 0 < days <= MAX_DAYS:
        shown = "".join(char if char.isprintable() else "?" for char in repr(days)[:40])
        raise UsageError(
            f"days cannot be {shown}", hint=f"give a whole number from 1 to {MAX_DAYS:,}"
        )


def last_uses(context: Context) -> dict[str, int]:
    """Give when each skill was used last, in seconds since 1970, by its path."""
    from metier.usage.io import read_counts

    used = read_counts(context.data).used if context.data else ()
    return {one.path: one.last for one in used}


def _elsewhere(used: Iterable[Count], cards: Iterable[Card]) -> frozenset[str]:
    """Give the places of skills that were counted and are not asked about now, but lie where they
    lay.
    """
    here = {card.path for card in cards}
    return frozenset(here | {path for path in {one.path for one in used} - here if _is_there(path)})


def _is_there(path: str) -> bool:
    try:
        return disk.is_there(path)
    except ValueError:  # no path at all: the file of counts may hold anything
        return False


def run_stats(context: Context) -> dict[str, tuple[int, int]]:
    """Give by name the runs of each visible skill and how many in a hundred went well, for those
    that ran often enough (ZE-37).
    """
    if not context.data or not context.settings.usage:
        return {}
    _settle(context)
    if (
        disk.key_of(f"{context.data}/{FILE}") is None
    ):  # nothing was ever counted: SQLite need not be loaded
        return {}
    from metier.usage import io, report

    counts = io.read_counts(context.data)
    return (
        report.reliability(counts, context.catalogue.skills())
        if any(one.runs for one in counts.used)
        else {}
    )


def _settle(context: Context) -> None:
    """Write down what this library itself has counted so far."""
    with context.lock:
        _tally(context)()


def _there_since(path: str, now: int) -> int:
    """Tell since when a skill lies where it lies, as it is: what was changed lately is not dead."""
    from struct import unpack_from

    key = disk.key_of(f"{path}/SKILL.md") or disk.key_of(path)
    changed = unpack_from("q", key, 16)[0] // NANOSECONDS if key else now
    return int(min(max(changed, 0), now))
