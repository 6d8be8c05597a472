"""Asking many remote sources at once: each in a thread of its own, all within one limit; who is late is named, not waited for."""

from __future__ import annotations

import queue
import threading
import time
from typing import TYPE_CHECKING, NamedTuple

from metier.errors import MetierError
from metier.supplies import Result
from metier.supply import clawhub
from metier.supply.net import Client
from metier.supply.paths import shown
from metier.supply.urls import harmless, parsed
from metier.supply.web.net import read_index, registry_api

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from metier.model import Trust
    from metier.ports import Seeker
    from metier.settings.tables import Supply

    Answered = tuple[int, Sequence[Result] | str]
    Answers = queue.SimpleQueue[Answered]

MOST_SEEKERS = 64
PREFIX = "clawhub:"


class Heard(NamedTuple):
    """What came back in time, in the order of the sources, and what was wrong with the rest."""

    results: tuple[Result, ...]
    unreachable: tuple[tuple[str, str], ...]


def asked(seekers: Sequence[Seeker], words: str, limit: int, seconds: float) -> Heard:
    """Ask them all, and give what there is when the last has answered or the time is over, whichever is first.

    The threads are left behind: they hold nothing, change nothing, and end with the process.
    """
    answers: Answers = queue.SimpleQueue()
    waiting = dict(enumerate(seekers[:MOST_SEEKERS]))
    names = [harmless(seeker.source) for seeker in seekers]
    for at, seeker in waiting.items():
        threading.Thread(target=_ask, args=(answers, at, seeker, words, limit), name="metier-search", daemon=True).start()
    found: dict[int, Sequence[Result]] = {}
    wrong = dict.fromkeys(range(MOST_SEEKERS, len(seekers)), f"only {MOST_SEEKERS} sources are asked at once")
    for at, answer in _answers(answers, len(waiting), seconds):
        del waiting[at]
        if isinstance(answer, str):
            wrong[at] = answer
        else:
            found[at] = answer
    wrong.update(dict.fromkeys(waiting, f"no answer within {seconds:g} seconds"))
    return Heard(tuple(one for at in sorted(found) for one in found[at]), tuple((names[at], wrong[at]) for at in sorted(wrong)))


def _answers(answers: Answers, count: int, seconds: float) -> Iterator[Answered]:
    limit = time.monotonic() + seconds
    for _turn in range(count):
        try:
            yield answers.get(timeout=max(0.0, limit - time.monotonic()))
        except queue.Empty:
            return


def _ask(answers: Answers, at: int, seeker: Seeker, words: str, limit: int) -> None:
    try:
        answers.put((at, tuple(seeker.search(words, limit))))
    except MetierError as error:
        answers.put((at, error.message))
    except Exception as error:  # noqa: BLE001 - one source's fault is never that of the others
        answers.put((at, f"it failed: {shown(str(error)) or type(error).__name__}"))


def registry(text: str, limits: Supply, level: Callable[[str], Trust]) -> Seeker:
    """Give who searches a registry of the configuration: `clawhub:https://…`, or a site with a well-known index."""
    return ClawHubSeeker(text.removeprefix(PREFIX), limits, level) if text.startswith(PREFIX) else SiteSeeker(text, limits, level)


class ClawHubSeeker:
    """Searches a ClawHub registry, which ranks by itself."""

    def __init__(self, site: str, limits: Supply, level: Callable[[str], Trust]) -> None:
        """Keep the address; nothing is asked yet."""
        self.site, self.limits, self.level = site or "https://clawhub.ai", limits, level

    @property
    def source(self) -> str:
        """The registry, as the configuration has it."""
        return PREFIX + self.site

    def search(self, words: str, limit: int) -> Sequence[Result]:
        """Ask it."""
        site = parsed(self.site)
        client = Client(self.limits, named=(site.place,), seconds=self.limits.search_seconds)
        api = registry_api(client, site)
        prefix = PREFIX if site.host == "clawhub.ai" else f"{PREFIX}{str(site).rstrip('/')}/"
        found = []
        for owner, slug, description in clawhub.results(client.get(clawhub.search_url(api, words, limit)).body)[:limit]:
            source = f"{prefix}{owner}/{slug}" if owner else f"{prefix}{slug}"
            found.append(Result(slug, description, source, self.level(source)))
        return found


class SiteSeeker:
    """Searches a site's well-known index: all of it is here, so whoever asks ranks."""

    def __init__(self, site: str, limits: Supply, level: Callable[[str], Trust]) -> None:
        """Keep the address; nothing is asked yet."""
        self.source, self.limits, self.level = site, limits, level

    def search(self, words: str, limit: int) -> Sequence[Result]:
        """Give the skills of the index that have any of the words."""
        site = parsed(self.source)
        client = Client(self.limits, named=(site.place,), seconds=self.limits.search_seconds)
        _index, offers = read_index(client, self.source, self.limits)
        wanted = words.casefold().split()
        fitting = [offer for offer in offers if fit(wanted, offer.name, offer.description)]
        fitting.sort(key=lambda offer: (-fit(wanted, offer.name, offer.description), offer.name))
        level = self.level(self.source)
        return [Result(offer.name, offer.description, f"{self.source} --skill {offer.name}", level) for offer in fitting[:limit]]


def fit(words: Sequence[str], name: str, description: str) -> int:
    """Say how well words fit: one in the name counts three times, one in the description once; none at all is 0."""
    name, description = name.casefold(), description.casefold()
    return sum(3 * (word in name) + (word in description) for word in words)
