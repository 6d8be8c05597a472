"""Skills that lie elsewhere: asks each provider for its packages, and reads a package through the provider that listed it.

A provider's own words never get further than here when it fails: they may hold anything, a key as well (CX-59).
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from metier.disclose import providers as rules
from metier.disclose.pages import RESOURCE_BYTES, page
from metier.disclose.tokens import estimate
from metier.errors import SourceError
from metier.trust.boundary import disclosed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.app import Library
    from metier.disclose.pages import Page
    from metier.disclose.providers import Listed, Takings, Trouble
    from metier.model import Trust
    from metier.offers import Package
    from metier.ports import Provider

LEVEL: Trust = "community"
"""How far a provider's skill is trusted: as any that comes from somewhere (ZE-25)."""
SECOND = 1_000_000_000


class Gathered(NamedTuple):
    """What providers offer, and what went wrong on the way."""

    packages: list[Package]
    warnings: list[str]
    errors: list[Trouble]


def packages(library: Library) -> Gathered:
    """Ask every provider; one that fails does not keep the others from being heard."""
    found = rules.Takings()
    ends = library.ports.clock_ns() + rules.SECONDS * SECOND
    asked: set[str] = set()
    for provider in library.providers:
        authority = _authority(provider)
        fault = rules.authority_fault(authority)
        if fault or authority in asked:
            fault = fault or "is another provider's already; put a name after a colon"
            found.errors.append(rules.Trouble(rules.one_line(authority, 80), f"the authority {fault}"))
        else:
            asked.add(authority)
            found.begin()
            _ask(library, provider, authority, found, ends)
    return Gathered(list(found.packages.values()), found.bounded(), found.errors)


def _ask(library: Library, provider: Provider, authority: str, found: Takings, ends: int) -> None:
    """Take the pages of one provider, until its end or a limit."""
    cursor, known = "", {""}
    for number in range(rules.PAGES):
        if library.ports.clock_ns() >= ends:
            _stopped(found, authority, number, f"there was no answer within {rules.SECONDS} seconds")
            return
        answer = _page(provider, cursor)
        if answer is None:
            _stopped(found, authority, number, "listing its skills failed")
            return
        offered, cursor = answer
        left = [package for package in offered if not found.take(authority, package)]
        if left:
            found.warn(f"{authority}: more than {rules.VISIBLE} skills, or {rules.HIDDEN:,} hidden ones; {len(left)} left out")
        if not cursor:
            return
        if cursor in known:
            found.warn(f"{authority}: gave the same cursor twice; what comes after is left out")
            return
        known.add(cursor)
    found.warn(f"{authority}: more than {rules.PAGES} pages; the rest is left out")


def _stopped(found: Takings, authority: str, number: int, why: str) -> None:
    """Say that a provider gave nothing, or not everything (CX-60)."""
    if number == 0:
        found.errors.append(rules.Trouble(authority, why))
    else:
        found.warn(f"{authority}: {why}; {number} page{'s' if number > 1 else ''} of it counted")


def _page(provider: Provider, cursor: str) -> tuple[Sequence[object], str] | None:
    try:
        answer = provider.list(cursor)
        following: object = answer[1]
        # Never more than could be taken: a list without end must not be walked to its end.
        offered = list(islice(answer[0], rules.VISIBLE + rules.HIDDEN + 1))
    except Exception:  # noqa: BLE001 - whatever a provider does wrong is its own
        return None
    if not isinstance(following, str) or rules.handle_fault(following or "-"):
        return None
    return offered, following


def listing(library: Library, authority: str = "", cursor: str = "") -> Listed:
    """Give one page of what providers offer, as a model asks for it."""
    return rules.listed(packages(library).packages, authority, cursor)


def read(library: Library, package: Package, resource: str = "", cursor: str = "") -> Page:
    """Give a page of a package's resource, read through the authority that listed it and through no other (CX-58)."""
    wanted = rules.resource_in(package, resource)
    text = _text(library, package, wanted)
    if text is None:
        raise SourceError(rules.FAILED, hint="try again, or look at what the provider reports")
    given = page(text, cursor, count=estimate if library.counter is None else library.counter.count)
    name = rules.one_line(package.name, rules.NAME_LENGTH)
    return given._replace(name=name, file=wanted, disclosed=disclosed(name, given.content, LEVEL), level=LEVEL)


def _text(library: Library, package: Package, resource: str) -> str | None:
    """Read a resource; nothing when the provider fails, or gives what is too long or no text."""
    for provider in library.providers:
        if _authority(provider) == package.authority and not rules.authority_fault(package.authority):
            try:
                data: object = provider.read(package.id, resource)
                return data.decode() if isinstance(data, bytes) and len(data) <= RESOURCE_BYTES else None
            except Exception:  # noqa: BLE001 - nothing of it may reach a model
                return None
    return None


def _authority(provider: Provider) -> str:
    try:
        return str(provider.authority)
    except Exception:  # noqa: BLE001 - as above
        return ""
