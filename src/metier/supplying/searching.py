"""Searching remote sources: the taps and registries of the configuration, asked at once, put in one order."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from metier.errors import UsageError
from metier.supplies import Result, Searched
from metier.supply import sources
from metier.supply.seek import net as seek
from metier.trust.levels import level_of_source, rank

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from metier.app import Library
    from metier.model import Trust
    from metier.ports import Seeker
    from metier.supplies import Picked, Request

MOST = 200
"""How many results can be asked for."""
GITHUB = "https://github.com/"


def search(library: Library, words: str, limit: int = 20) -> Searched:
    """Ask every source that the configuration or the host names; the most trusted first, then what fits best."""
    if not words.strip():
        raise UsageError("there is nothing to search for", hint="say what is wanted: metier search 'fill in a PDF form'")
    if not 0 < limit <= MOST:
        raise UsageError(f"a search cannot have {limit} results", hint=f"ask for 1 to {MOST}")
    heard = seek.asked(seekers(library), words, limit, library.settings.supply.search_seconds)
    return Searched(tuple(ordered(heard.results, words)[:limit]), heard.unreachable)


def seekers(library: Library) -> list[Seeker]:
    """Give everyone who is asked: what the host brings, the registries, and the taps."""
    limits = library.settings.supply
    level = partial(level_of_source, trusted_sources=library.trust_policy.trusted_sources)
    found: list[Seeker] = list(library.seekers)
    found += [seek.registry(text, limits, level) for text in dict.fromkeys(limits.registries)]
    found += [TapSeeker(tap, level, partial(_picked, library)) for tap in dict.fromkeys(limits.taps)]
    return found


def ordered(found: Iterable[Result], words: str) -> list[Result]:
    """Drop what is there twice, keeping the more trusted, and sort by trust, fit and name."""
    best: dict[str, Result] = {}
    for result in found:
        before = best.get(result.source)
        if before is None or rank(result.trust) < rank(before.trust):
            best[result.source] = result
    wanted = words.casefold().split()
    return sorted(
        best.values(), key=lambda one: (rank(one.trust), -seek.fit(wanted, one.name, one.description), one.name, one.source)
    )


class TapSeeker:
    """Searches a repository of the configuration by opening it; what was fetched once is in the cache."""

    def __init__(self, tap: str, level: Callable[[str], Trust], picked: Callable[[str], tuple[Request, Sequence[Picked]]]) -> None:
        """Know the tap as the configuration has it."""
        self.source, self.level, self.picked = tap, level, picked

    def search(self, words: str, limit: int) -> Sequence[Result]:
        """Give the skills of the repository that have any of the words."""
        request, skills = self.picked(sources.tap_source(self.source))
        wanted = words.casefold().split()
        fitting = [skill for skill in skills if seek.fit(wanted, skill.name, skill.description)]
        fitting.sort(key=lambda skill: (-seek.fit(wanted, skill.name, skill.description), skill.name))
        level = self.level(sources.canonical(request))
        return [Result(skill.name, skill.description, inside(request, skill), level) for skill in fitting[:limit]]


def inside(request: Request, skill: Picked) -> str:
    """Write a skill of a repository as `add` takes it."""
    source = sources.canonical(request)
    if request.kind == "folder":
        return f"{source}/{skill.path}".rstrip("/")
    if source.startswith(GITHUB) and not request.ref:
        return "/".join(filter(None, (source.removeprefix(GITHUB), skill.path)))
    prefix = "git+" if "://" in source else ""  # user@host:path can be nothing but a repository
    return f"{prefix}{source}#{request.ref}:{skill.path}" if request.ref or skill.path else source


def _picked(library: Library, tap: str) -> tuple[Request, Sequence[Picked]]:
    from metier.supplying import fetching

    request = fetching.request_for(library, tap)
    with fetching.opened(library, request) as source:
        return request, source.pickings.skills
