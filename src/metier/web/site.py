"""What the page knows: one library that is kept current, what takes long to find out about it, and
who is told when anything changes.

Reading goes to the one library. A change is made in a library of its own, so that whoever reads does
not wait, and whoever stops the page leaves nothing half made.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from hashlib import blake2b
from operator import methodcaller
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from metier.discover.io.machine import DECISIONS, DECISIONS_COPY
from metier.errors import MetierError, NotFoundError
from metier.fast import set_aside
from metier.web.errand import Errands
from metier.web.jobs import Jobs

if TYPE_CHECKING:
    from collections.abc import Callable

    from metier.library import Library
    from metier.model import Card, Change
    from metier.web.access import PageGate

T = TypeVar("T")
READERS = 4
"""Threads that answer; each keeps memory of its own."""
JUDGE_BATCH = 64
"""Skills that are judged before the page shows them."""
MIN_JUDGED_ELSEWHERE = 512
"""Skills that are judged at once where there are many: in another process, on every core."""
DECISION_POLL_SECONDS = 1.0
MAX_QUIET_SECONDS = 3.0
"""How long watching and judging wait for the first page: they would take as much time again from it."""
WATCHED_PLACES = (DECISIONS, DECISIONS_COPY, "pending/skills", "plugins", "supply", "metier.lock")
"""Below METIER_HOME: what was decided, agents' drafts, plugins, held updates, and what is installed."""
IDENT_BYTES = 6
_ODD = re.compile("[^A-Za-z0-9_-]")
_LOG = logging.getLogger("metier.web")


class SkillRows(NamedTuple):
    """All skills at one moment, with how the page calls each."""

    cards: list[Card]
    idents: dict[str, str]
    """By path, the last part of a skill's address."""
    by_ident: dict[str, Card]


class SlowFact:
    """Something that takes long to find out. Whoever asks gets what was last known, at once; what is
    out of date is found out again in the background, and the page is told when it is.
    """

    def __init__(self, site: Site, find_out: Callable[[Library], Any]) -> None:
        """Find out nothing yet."""
        self.site = site
        self.find_out = find_out
        self.value: Any = None
        self.known_at = -1
        """The state of the site it was found out at."""
        self.fault = ""
        self._busy = False
        self._alone = threading.Lock()

    def get(self) -> Any:
        """Give what is known, and have it brought up to date where it is not."""
        with self._alone:
            if self.known_at != self.site.state and not self._busy:
                self._busy = True
                self.site.background.submit(self._work)
        return self.value

    def _work(self) -> None:
        state = self.site.state
        try:
            self.value = self.site.errands.find_out(self.site.library, self.find_out)
            self.fault = ""
        except (MetierError, OSError) as error:
            self.fault = str(error)
        except RuntimeError:  # the page is ending
            return
        finally:
            with self._alone:
                self.known_at = state
                self._busy = False
        gc.collect()  # a library that was opened for this is a web of references
        self.site.tell("fact")


class Site:
    """A library behind the page."""

    def __init__(self, library: Library, gate: PageGate) -> None:
        """Look at nothing yet."""
        library.context.door = "web"
        self.library = library
        self.gate = gate
        self.state = 0
        """Counts what has changed: decisions, skills, settings."""
        self.news = 0
        """Counts all that open pages were told, so that a page knows what it missed while it loaded."""
        self.background = ThreadPoolExecutor(1, "metier-page-facts")
        self.readers = ThreadPoolExecutor(READERS, "metier-page")
        self.jobs = Jobs(self)
        self.errands = Errands()
        self.facts: dict[str, SlowFact] = {
            name: SlowFact(self, methodcaller(name))
            for name in ("agents", "seen_by", "doctor", "usage")
        }
        self.agents_by_path: tuple[object, dict[str, tuple[str, ...]]] = (None, {})
        """Which agents see each skill, and what that was made from."""
        self.kept: dict[str, Any] = {}
        """What pages made from the rows, and use again while these are the same."""
        self.unjudged = -1
        self.alone = False
        """Whether the process is this page's alone."""
        self._rows: SkillRows | None = None
        self._listeners: set[asyncio.Queue[str]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ended = threading.Event()
        self._answered = threading.Event()
        self._watcher: Any = None
        self._seen_files: tuple[object, ...] = ()

    # --- reading

    async def read(self, look: Callable[..., T], *args: Any, **named: Any) -> T:
        """Ask the library in a thread, while others go on."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self.readers, partial(look, *args, **named))

    def rows(self) -> SkillRows:
        """Give all skills there are."""
        cards = self.library.context.catalogue.contents().cards
        known = self._rows
        if known is None or known.cards is not cards:
            idents = {card.path: ident_of(card) for card in cards}
            known = self._rows = SkillRows(
                cards, idents, {idents[card.path]: card for card in reversed(cards)}
            )
        return known

    def card_of(self, ident: str) -> Card:
        """Give the skill that an address means."""
        found = self.rows().by_ident.get(ident)
        if found is None:
            raise NotFoundError(
                "there is no such skill here any more",
                hint="look for it on the page of all skills",
            )
        return found

    # --- changing

    def change(self, act: Callable[[Library], T]) -> T:
        """Make a change in a library of its own, and have everybody see it."""
        with self.library.open_again() as m:
            try:
                return act(m)
            finally:
                self.renew()

    def renew(self) -> None:
        """Look at the disk and at the decisions again."""
        context = self.library.context
        with contextlib.suppress(MetierError):
            context.read_settings()
        self.library.reload()
        context.catalogue.retell()
        self.tell("skills")

    # --- telling

    def tell(self, what: str) -> None:
        """Let every open page know that something is different."""
        self.news += 1
        if what != "fact":
            self.state += 1
        loop = self._loop
        if loop is not None and not loop.is_closed():
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(self._tell_all, what)

    def _tell_all(self, what: str) -> None:
        for queue in self._listeners:
            if queue.qsize() < 16:  # whoever is behind hears that there is news, and not each of it
                queue.put_nowait(what)

    @contextlib.contextmanager
    def listening(self) -> Any:
        """Give a queue of what changes for as long as somebody listens."""
        queue: asyncio.Queue[str] = asyncio.Queue()
        self._listeners.add(queue)
        try:
            yield queue
        finally:
            self._listeners.discard(queue)

    @property
    def listeners(self) -> int:
        """How many listen."""
        return len(self._listeners)

    @property
    def ended(self) -> bool:
        """Whether the page is about to end."""
        return self._ended.is_set()

    # --- living

    def has_answered(self) -> None:
        """Say that somebody has a page: what keeps it current may begin."""
        self._answered.set()

    def begin(self, loop: asyncio.AbstractEventLoop) -> None:
        """Keep the library current, and judge what nobody has judged yet."""
        self._loop = loop
        self._seen_files = self._look_at_decisions()
        threading.Thread(target=self._keep_current, name="metier-page-watch", daemon=True).start()
        threading.Thread(target=self.keep_judging, name="metier-page-judge", daemon=True).start()

    def end(self) -> None:
        """Stop everything that runs beside the answers."""
        self._ended.set()
        self._answered.set()
        self.jobs.end()
        self.errands.end()
        if self._loop is not None:
            self._tell_all("end")
        self.background.shutdown(wait=False, cancel_futures=True)
        self.readers.shutdown(wait=False, cancel_futures=True)
        if self._watcher is not None:
            self._watcher.close()

    def _heard(self, _change: Change) -> None:
        self.tell("skills")

    def _keep_current(self) -> None:
        self._answered.wait(MAX_QUIET_SECONDS)
        try:
            self._watcher = self.library.watch(self._heard)
        except (MetierError, OSError) as error:
            _LOG.warning("changes on disk are not seen: %s", error)
        while not self._ended.wait(DECISION_POLL_SECONDS):
            with contextlib.suppress(MetierError, OSError):
                now = self._look_at_decisions()
                if now != self._seen_files:
                    self._seen_files = now
                    self.renew()

    def _look_at_decisions(self) -> tuple[object, ...]:
        """Look at the stats of what decisions and candidates are kept in."""
        context = self.library.context
        own = [f"{context.data}/{name}" for name in WATCHED_PLACES] if context.data else []
        return tuple(
            map(_stat, filter(None, (context.config, f"{context.project}/metier.lock", *own)))
        )

    def keep_judging(self) -> None:
        """Judge batch after batch; what is new later is judged then."""
        self._answered.wait(MAX_QUIET_SECONDS)
        last, settled = -1, not self.alone
        while not self._ended.is_set():
            try:
                left = self.judge_some()
            except (MetierError, OSError) as error:
                _LOG.warning("not all skills could be judged: %s", error)
                left = 0
            except RuntimeError:  # the page is ending
                if self.ended:
                    return
                raise
            if left != self.unjudged:
                self.unjudged = left
                self.tell("skills" if left == 0 or left // 512 != last else "fact")
                last = left // 512
            if left == 0:
                if not settled:  # what is loaded by now stays: nobody's page waits for a look at it
                    set_aside()
                    settled = True
                self._ended.wait(5)

    def judge_some(self) -> int:
        """Judge a batch, of many skills in another process, and give how many are left."""
        left = self.library.judge_some(0)
        if left <= MIN_JUDGED_ELSEWHERE:
            return self.library.judge_some(JUDGE_BATCH) if left else 0
        if self.unjudged < 0:
            self.unjudged = left
            self.tell("fact")
        after: int = self.errands.find_out(
            self.library, methodcaller("judge_some", MIN_JUDGED_ELSEWHERE)
        )
        self.library.context.catalogue.retell()
        return after


def ident_of(card: Card) -> str:
    """Give the last part of a skill's address: its name as far as it is plain, and what tells copies
    apart.
    """
    plain = _ODD.sub("-", card.name)
    mark = blake2b(
        os.fsencode(card.path) + b"\0" + card.name.encode("utf-8", "surrogatepass"),
        digest_size=IDENT_BYTES,
    )
    return f"{plain[:60].strip('-') or 'skill'}~{mark.hexdigest()}"


def _stat(path: str) -> object:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
