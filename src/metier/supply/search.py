"""Searches remote sources for skills, and keeps the list of taps: repositories that are searched,
and that plain names are looked for in (HE-45).

Taps and registries of the configuration are asked at once, and their answers put in one order. Taps
are the user's alone to name. A few well-known repositories are there by default: a search looks
through them, and nothing else does.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from metier.discover.io import disk
from metier.errors import NotFoundError, UsageError
from metier.settings.io import write_default_taps, write_tap
from metier.store.io import safe_files
from metier.supply import fetch
from metier.supply.fetch import request_for
from metier.supply.hubs import HubSeeker, as_hub_tap
from metier.supply.io import ask
from metier.supply.model import SearchOutcome, SearchResult
from metier.supply.sources import source_name
from metier.supply.sources.hub_names import HUB_AT
from metier.trust.model import level_of_source, rank

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from metier.context import Context
    from metier.model import Trust
    from metier.ports import Seeker
    from metier.supply.model import Request, SourceSkill


_TAP_KINDS = frozenset({"git", "folder", "marketplace", "hub"})


class Tap(NamedTuple):
    """One tap of the configuration."""

    tap: str
    """As it was written: a source, or `name=source`."""
    source: str
    """What the lock would call it."""
    trust: Trust
    default: bool = False
    """Whether it is there without the user having named it: only a search looks there."""


def taps(context: Context) -> list[Tap]:
    """List the taps in their order: the user's own, then those that are there by default."""
    found: dict[str, Tap] = {}
    for said, default in (
        *((one, False) for one in context.settings.supply.taps),
        *((one, True) for one in context.settings.supply.default_taps),
    ):
        source = source_name.canonical(request_for(context, source_name.tap_source(said)))
        trust = level_of_source(source, context.trust_policy.trusted_sources)
        if not default or source not in {one.source for one in found.values()}:
            found[said] = Tap(said, source, trust, default)
    return list(found.values())


def default_taps(context: Context) -> list[str]:
    """List the well-known repositories that a search looks through and the user has not named."""
    return [one.tap for one in taps(context) if one.default]


def untold_taps(context: Context) -> list[str]:
    """Give the well-known repositories that no search on this machine has looked through yet:
    whoever is about to search is told of them first.
    """
    told = disk.read_head(_told_file(context), MAX_TOLD_BYTES) if context.data else None
    known = told.data.decode("utf-8", "replace").splitlines() if told and not told.fault else []
    return [one for one in default_taps(context) if one not in known]


def _remember_told(context: Context) -> None:
    """Note which of them were searched; where that cannot be kept, it is said again."""
    if untold_taps(context) and context.data:
        file = _told_file(context)
        with suppress(OSError):
            safe_files.make_folder(file.rpartition("/")[0], context.home)
            safe_files.replace_file(file, "\n".join(default_taps(context)).encode())


def _told_file(context: Context) -> str:
    return f"{context.data}/taps/told"


def tap(context: Context, said: str, *, listed: bool) -> list[Tap]:
    """Add a tap, or take it out, in the user's configuration."""
    config = context.own_config()
    said = said.strip()
    known = context.settings.supply.taps
    said = _absolute_source(context, said) if listed else _listed_tap(known, said)
    if listed or said in context.settings.supply.taps:
        write_tap(config, said, listed=listed)
    elif said in context.settings.supply.default_taps:
        rest = [one for one in context.settings.supply.default_taps if one != said]
        write_default_taps(config, rest)
    else:
        raise NotFoundError(
            f"there is no tap '{said}'", hint="'metier tap list' shows those there are"
        )
    with context.lock:
        context.read_settings()
    context.catalogue.reload()
    return taps(context)


def _listed_tap(taps: Sequence[str], said: str) -> str:
    """Give a tap as the configuration spells it, where somebody writes it as they added it."""
    return next((one for one in taps if one == f"{HUB_AT}{said.rstrip('/')}"), said)


def _absolute_source(context: Context, said: str) -> str:
    """Give a tap as it means the same from every folder."""
    source = source_name.tap_source(said)
    request = request_for(context, source)
    if request.kind == "hub" or (request.kind == "well-known" and "://" in source):
        return said.removesuffix(source) + as_hub_tap(context, source)
    if request.kind not in _TAP_KINDS:
        raise UsageError(
            f"'{said}' is not a repository",
            hint="a tap is a repository or a folder; sites go into supply.registries",
        )
    return said.removesuffix(source) + request.location if request.kind == "folder" else said


MAX_TOLD_BYTES = 1 << 16
FIRST_SEARCH_SECONDS = 60
"""How long the first search waits: it fetches repositories that later ones find in the cache."""
MAX_RESULTS = 200
"""How many results can be asked for."""
GITHUB_URL = "https://github.com/"


def search(
    context: Context, words: str, limit: int = 20, *, well_known: bool = True
) -> SearchOutcome:
    """Ask every source that the configuration or the host names, and the `well_known` ones that are
    there by default; the most trusted first, then what fits best.
    """
    if not words.strip():
        raise UsageError(
            "there is nothing to search for",
            hint="say what is wanted: metier search 'fill in a PDF form'",
        )
    if not 0 < limit <= MAX_RESULTS:
        raise UsageError(
            f"a search cannot have {limit} results", hint=f"ask for 1 to {MAX_RESULTS}"
        )
    seconds = context.settings.supply.search_seconds
    if well_known and untold_taps(context):
        seconds = max(seconds, FIRST_SEARCH_SECONDS)
    asked = seekers(context, well_known=well_known)
    heard = ask.ask_all(asked, words, limit, seconds, context.progress)
    if well_known:
        _remember_told(context)
    return SearchOutcome(tuple(rank_results(heard.results, words)[:limit]), heard.unreachable)


def search_taps(context: Context, name: str) -> SearchOutcome:
    """Ask nobody but the taps that the user has named: whoever may publish in a registry can take
    a name there that some skill needs.
    """
    level = partial(level_of_source, trusted_sources=context.trust_policy.trusted_sources)
    asked = [_seeker(context, tap, level) for tap in dict.fromkeys(context.settings.supply.taps)]
    seconds = context.settings.supply.search_seconds
    heard = ask.ask_all(asked, name, MAX_RESULTS, seconds, context.progress)
    return SearchOutcome(tuple(rank_results(heard.results, name)), heard.unreachable)


def seekers(context: Context, *, well_known: bool = True) -> list[Seeker]:
    """Give everyone who is asked: what the host brings, the registries, the taps, and the
    `well_known` ones.
    """
    limits = context.settings.supply
    level = partial(level_of_source, trusted_sources=context.trust_policy.trusted_sources)
    found = list(context.seekers)
    found += [
        ask.registry_seeker(text, limits, level, context.env)
        for text in dict.fromkeys(limits.registries)
    ]
    tapped = [*dict.fromkeys(limits.taps), *(default_taps(context) if well_known else ())]
    found += [_seeker(context, tap, level) for tap in tapped]
    return found


def _seeker(context: Context, tap: str, level: Callable[[str], Trust]) -> Seeker:
    is_hub = source_name.tap_source(tap).startswith(HUB_AT)
    return HubSeeker(context, tap, level) if is_hub else TapSeeker(context, tap, level)


def rank_results(found: Iterable[SearchResult], words: str) -> list[SearchResult]:
    """Drop what is there twice, keeping the more trusted, and sort by trust, fit and name."""
    best: dict[str, SearchResult] = {}
    for result in found:
        before = best.get(result.source)
        if before is None or rank(result.trust) < rank(before.trust):
            best[result.source] = result
    wanted = words.casefold().split()
    return sorted(
        best.values(),
        key=lambda one: (
            rank(one.trust),
            -ask.word_score(wanted, one.name, one.description),
            one.name,
            one.source,
        ),
    )


class TapSeeker(NamedTuple):
    """Searches a repository of the configuration by opening it; what was fetched once is in the
    cache.
    """

    context: Context
    source: str
    """The tap as the configuration has it."""
    level: Callable[[str], Trust]

    def search(self, words: str, limit: int) -> Sequence[SearchResult]:
        """Give the skills of the repository that have any of the words."""
        request = request_for(self.context, source_name.tap_source(self.source))
        with fetch.open_source(self.context, request) as source:
            skills = source.pickings.skills
        level = self.level(source_name.canonical(request))
        return [
            SearchResult(skill.name, skill.description, addable_source(request, skill), level)
            for skill in ask.best_fitting(skills, words, limit)
        ]


def addable_source(request: Request, skill: SourceSkill) -> str:
    """Write a skill of a repository as `add` takes it."""
    source = source_name.canonical(request)
    if request.kind == "folder":
        return f"{source}/{skill.path}".rstrip("/")
    if source.startswith(GITHUB_URL) and not request.ref:
        return "/".join(filter(None, (source.removeprefix(GITHUB_URL), skill.path)))
    prefix = "git+" if "://" in source else ""  # user@host:path can be nothing but a repository
    return f"{prefix}{source}#{request.ref}:{skill.path}" if request.ref or skill.path else source
