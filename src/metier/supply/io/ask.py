"""Asks several slow sources at once, and searches registries and sites that way.

Each question has a thread of its own. A search has one time limit for all; who is late is named,
not waited for.
"""

from __future__ import annotations

import queue
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from metier.errors import MetierError
from metier.supply.io.http import HttpClient
from metier.supply.io.web import read_index, registry_api
from metier.supply.model import SearchResult
from metier.supply.safe_names import printable
from metier.supply.sources import registries
from metier.supply.sources.addresses import parse_url, url_for_message

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    _Q = TypeVar("_Q")
    _A = TypeVar("_A")
    _S = TypeVar("_S", "IndexedSkill", "SourceSkill")
    from collections.abc import Iterator

    from metier.model import Trust
    from metier.ports import Seeker
    from metier.settings.model import SupplySettings
    from metier.supply.io.quarantine import Progress
    from metier.supply.model import SourceSkill
    from metier.supply.sources.addresses import Url
    from metier.supply.sources.registries import IndexedSkill

    Answered = tuple[int, Sequence[SearchResult] | str]
    Answers = queue.SimpleQueue[Answered]


MAX_WORKERS = 8
TICK_SECONDS = 0.1
"""How often somebody who waits is told how far it has come."""


def ask_each(ask: Callable[[_Q], _A], questions: Sequence[_Q]) -> list[_A]:
    """Give the answers in the order of the questions."""
    if len(questions) < 2:
        return [ask(question) for question in questions]
    with ThreadPoolExecutor(min(MAX_WORKERS, len(questions))) as pool:
        return list(pool.map(ask, questions))


MAX_SEEKERS = 64
CLAWHUB_PREFIX = "clawhub:"


class SearchAnswers(NamedTuple):
    """What came back in time, in the order of the sources, and what was wrong with the rest."""

    results: tuple[SearchResult, ...]
    unreachable: tuple[tuple[str, str], ...]


def ask_all(
    seekers: Sequence[Seeker],
    words: str,
    limit: int,
    seconds: float,
    progress: Progress = lambda _what, _count, _total: None,
) -> SearchAnswers:
    """Ask them all, and give what there is when the last has answered or the time is over,
    whichever is first.

    The threads are left behind: they hold nothing, change nothing, and end with the process.
    """
    answers: Answers = queue.SimpleQueue()
    waiting = dict(enumerate(seekers[:MAX_SEEKERS]))
    names = [url_for_message(seeker.source) for seeker in seekers]
    for at, seeker in waiting.items():
        threading.Thread(
            target=_ask, args=(answers, at, seeker, words, limit), name="metier-search", daemon=True
        ).start()
    found = {}
    wrong = dict.fromkeys(
        range(MAX_SEEKERS, len(seekers)), f"only {MAX_SEEKERS} sources are asked at once"
    )
    for at, answer in _answers(answers, len(waiting), seconds, progress):
        del waiting[at]
        if isinstance(answer, str):
            wrong[at] = answer
        else:
            found[at] = answer
    wrong.update(dict.fromkeys(waiting, f"no answer within {seconds:g} seconds"))
    return SearchAnswers(
        tuple(one for at in sorted(found) for one in found[at]),
        tuple((names[at], wrong[at]) for at in sorted(wrong)),
    )


def _answers(
    answers: Answers, count: int, seconds: float, progress: Progress
) -> Iterator[Answered]:
    limit = time.monotonic() + seconds
    done = 0
    while done < count:
        left = max(0.0, limit - time.monotonic())
        try:
            yield answers.get(timeout=min(left, TICK_SECONDS))
            done += 1
        except queue.Empty:
            if not left:
                return
        progress("sources asked", done, count)


def _ask(answers: Answers, at: int, seeker: Seeker, words: str, limit: int) -> None:
    try:
        answers.put((at, tuple(seeker.search(words, limit))))
    except MetierError as error:
        answers.put((at, error.message))
    except Exception as error:  # noqa: BLE001 - one source's fault is never that of the others
        answers.put((at, f"it failed: {printable(str(error)) or type(error).__name__}"))


def registry_seeker(
    text: str,
    limits: SupplySettings,
    level: Callable[[str], Trust],
    env: Mapping[str, str] = MappingProxyType({}),
) -> Seeker:
    """Give who searches a registry of the configuration: `clawhub:https://…`, or a site with a
    well-known index.
    """
    return (
        ClawHubSeeker(text.removeprefix(CLAWHUB_PREFIX), limits, level, env)
        if text.startswith(CLAWHUB_PREFIX)
        else SiteSeeker(text, limits, level, env)
    )


class ClawHubSeeker:
    """Searches a ClawHub registry, which ranks by itself."""

    def __init__(
        self,
        site: str,
        limits: SupplySettings,
        level: Callable[[str], Trust],
        env: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Keep the address; nothing is asked yet."""
        self.site = site or "https://clawhub.ai"
        self.limits = limits
        self.level = level
        self.env = env

    @property
    def source(self) -> str:
        """The registry, as the configuration has it."""
        return CLAWHUB_PREFIX + self.site

    def search(self, words: str, limit: int) -> Sequence[SearchResult]:
        """Ask it."""
        site, client = _client(self.site, self.limits, self.env)
        url = registries.search_url(registry_api(client, site), words, limit)
        prefix = CLAWHUB_PREFIX
        if site.host != "clawhub.ai":
            prefix += f"{str(site).rstrip('/')}/"
        found = []
        for owner, slug, description in registries.read_results(client.get(url).body)[:limit]:
            source = f"{prefix}{owner}/{slug}" if owner else f"{prefix}{slug}"
            found.append(SearchResult(slug, description, source, self.level(source)))
        return found


class SiteSeeker(NamedTuple):
    """Searches a site's well-known index: all of it is here, so whoever asks ranks."""

    source: str
    """The site, as the configuration has it."""
    limits: SupplySettings
    level: Callable[[str], Trust]
    env: Mapping[str, str] = MappingProxyType({})

    def search(self, words: str, limit: int) -> Sequence[SearchResult]:
        """Give the skills of the index that have any of the words."""
        _site, client = _client(self.source, self.limits, self.env)
        _index, offers = read_index(client, self.source, self.limits)
        level = self.level(self.source)
        return [
            SearchResult(
                offer.name, offer.description, f"{self.source} --skill {offer.name}", level
            )
            for offer in best_fitting(offers, words, limit)
        ]


def _client(source: str, limits: SupplySettings, env: Mapping[str, str]) -> tuple[Url, HttpClient]:
    site = parse_url(source)
    return site, HttpClient(limits, named=(site.place,), seconds=limits.search_seconds, env=env)


def best_fitting(found: Iterable[_S], words: str, limit: int) -> list[_S]:
    """Give the skills that have any of the words, what fits best first."""
    wanted = words.casefold().split()
    scored = [(-word_score(wanted, one.name, one.description), one.name, one) for one in found]
    scored = [row for row in scored if row[0]]
    scored.sort(key=lambda row: row[:2])
    return [one for _score, _name, one in scored[:limit]]


def word_score(words: Sequence[str], name: str, description: str) -> int:
    """Say how well words fit: one in the name counts three times, one in the description once; none
    at all is 0.
    """
    name = name.casefold()
    description = description.casefold()
    return sum(3 * (word in name) + (word in description) for word in words)
