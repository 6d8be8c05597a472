"""Skills that lie elsewhere: asks each provider for its packages, and reads a package through the provider that listed it.

A provider's own words never get further than here when it fails: they may hold anything, a key as well (CX-59).
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from metier.disclose import message as messages, providers as rules
from metier.disclose.pages import RESOURCE_BYTES, page
from metier.disclose.tokens import estimate
from metier.errors import SourceError
from metier.trust.boundary import disclosed, shown_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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

    def page(self, authority: str = "", cursor: str = "") -> Listed:
        """Give a page of them as a model may be told, of one authority or of all (CX-59)."""
        return rules.listed(self.packages, authority, cursor)


def packages(library: Library) -> Gathered:
    """Ask every provider; one that fails does not keep the others from being heard."""
    found = rules.Takings()
    asked: set[str] = set()
    for provider in library.providers:
        authority = _authority(provider)
        fault = rules.authority_fault(authority)
        if fault or authority in asked:
            fault = fault or "is another provider's already; put a name after a colon"
            found.errors.append(rules.Trouble(rules.one_line(authority, 80), f"not asked: the authority {fault}"))
        else:
            asked.add(authority)
            found.begin()
            _ask(library, provider, authority, found)
    return Gathered(list(found.packages.values()), found.bounded(), found.errors)


def _ask(library: Library, provider: Provider, authority: str, found: Takings) -> None:
    """Take the pages of one provider, until its end or a limit."""
    ends = library.ports.clock_ns() + rules.SECONDS * SECOND
    cursor, known = "", {""}
    for number in range(rules.PAGES):
        answer = _page(provider, cursor, lambda: library.ports.clock_ns() >= ends)
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
        if library.ports.clock_ns() >= ends:
            _stopped(found, authority, number + 1, f"it took more than {rules.SECONDS} seconds")
            return
    found.warn(f"{authority}: more than {rules.PAGES} pages; the rest is left out")


def _stopped(found: Takings, authority: str, number: int, why: str) -> None:
    """Say that a provider gave nothing, or not everything (CX-60)."""
    if number == 0:
        found.errors.append(rules.Trouble(authority, why))
    else:
        found.warn(f"{authority}: {why}; {number} page{'s' if number > 1 else ''} of it counted")


def _page(provider: Provider, cursor: str, is_late: Callable[[], bool]) -> tuple[Sequence[object], str] | None:
    """Take one page, and as much of it as comes in time; then there are more, as if its cursor said so."""
    try:
        answer = provider.list(cursor)
        following: object = answer[1]
        offered: list[object] = []
        # Never more than could be taken: a list without end must not be walked to its end.
        for package in islice(answer[0], rules.VISIBLE + rules.HIDDEN + 1):
            offered.append(package)
            if not isinstance(answer[0], (list, tuple)) and is_late():
                following = following or "-"
                break
    except Exception:  # noqa: BLE001 - whatever a provider does wrong is its own
        return None
    if not isinstance(following, str) or rules.handle_fault(following or "-"):
        return None
    return offered, following


def read(library: Library, package: Package, resource: str = "", cursor: str = "") -> Page:
    """Give a page of a package's resource, read through the authority that listed it and through no other (CX-58)."""
    wanted = rules.resource_in(package, resource)
    text = _text(library, package, wanted)
    if text is None:
        raise SourceError(rules.FAILED, hint="try again, or look at what the provider reports")
    given = page(text, cursor, count=estimate if library.counter is None else library.counter.count)
    name = rules.one_line(package.name, rules.NAME_LENGTH)
    return given._replace(name=name, file=wanted, disclosed=disclosed(name, given.content, LEVEL), level=LEVEL)


def prompt_of(library: Library, package: Package) -> tuple[str, str]:
    """Give a package's instructions as they go into a message, cut where they are long, and the warning that says so (CX-47)."""
    wanted = rules.resource_in(package, "")
    text = _text(library, package, wanted)
    if text is None:
        raise SourceError(rules.FAILED, hint="try again, or look at what the provider reports")
    name = rules.one_line(package.name, rules.NAME_LENGTH)
    kept, warning = messages.provided(name, text)
    skill = messages.Loaded(name, shown_name(name), wanted, "", disclosed(name, kept, LEVEL))
    return messages.mentioned(skill).text, warning


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
