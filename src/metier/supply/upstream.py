"""Finds out what the source of each locked skill has now, and which skills have a newer version
(HE-44).

Every source is opened once, all are asked at once, and each skill is laid in quarantine.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from metier.errors import MetierError
from metier.supply import fetch, places
from metier.supply.deploy import check_targets
from metier.supply.fetch import open_source
from metier.supply.io.ask import ask_each
from metier.supply.model import Refusal
from metier.supply.sources.addresses import COMMIT_HASH
from metier.supply.sources.oci_names import is_oci_digest
from metier.supply.version_needs import at_newest_tag, needs_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Literal

    from metier.context import Context
    from metier.supply.fetch import FetchedSkill, OpenedSource
    from metier.supply.io.quarantine import Quarantine
    from metier.supply.model import Pin, Request
    from metier.supply.places import InstallPlace
    from metier.supply.version_needs import VersionNeed

    UpstreamState = Literal["current", "outdated", "fixed", "unavailable"]


class Upstream(NamedTuple):
    """A locked skill, and what its source has now."""

    pin: Pin
    laid: FetchedSkill | None = None
    """The skill in quarantine; nothing where it is known to be the same, or cannot be had."""
    commit: str = ""
    """What the source stands at."""
    gone: str = ""
    """Why the source, which answered, no longer has it."""
    refusal: Refusal | None = None
    note: str = ""


def is_fixed(place: InstallPlace, pin: Pin) -> str:
    """Say why a skill has no newer version by definition; nothing when it may have one."""
    if pin.kind == "bundled":
        return "its host keeps it up to date"
    if COMMIT_HASH.match(pin.ref):
        return "it is pinned to a commit"
    if pin.kind == "oci" and is_oci_digest(pin.ref):
        return "it is pinned to a digest"
    if fetch.is_its_own_source(place, pin):
        return "it was adopted without a source"
    return ""


def look_up(
    context: Context, place: InstallPlace, desk: Quarantine, pins: Sequence[Pin]
) -> Iterator[Upstream]:
    """Ask every source; one that fails is a refusal of its own skills, and the others go on."""
    before = 0
    for request, group in fetch.requests_of(place, pins):
        done = []
        try:
            for one in _of_source(context, desk, request, group):
                done.append(one)
                context.progress("skills compared", before + len(done), len(pins))
        except MetierError as error:
            seen = {one.pin.name for one in done}
            why = (f"{error.code}: {error.message}", *((error.hint,) if error.hint else ()))
            done += [
                Upstream(pin, refusal=Refusal(pin.name, why))
                for pin in group
                if pin.name not in seen
            ]
        before += len(group)
        yield from done


def _of_source(
    context: Context, desk: Quarantine, request: Request, pins: Sequence[Pin]
) -> Iterator[Upstream]:
    newest = fetch.fetcher_for(context, request).newest(request)
    if newest:
        yield from (Upstream(pin, commit=newest) for pin in pins if pin.commit == newest)
        pins = [pin for pin in pins if pin.commit != newest]
    if len(pins) == 1 and (found := _where_it_was(context, desk, request, pins[0])) is not None:
        yield found
        return
    if not pins:
        return
    left = list(pins)
    try:
        with open_source(context, request) as source:
            while left:
                yield _found(context, desk, source, left[0])
                left.pop(0)
    except MetierError as error:
        if error.code not in fetch.TOO_MUCH:
            raise
        for pin in left:  # each by itself may do
            one = _where_it_was(context, desk, request, pin)
            if one is None:
                raise
            yield one


def _where_it_was(
    context: Context, desk: Quarantine, request: Request, pin: Pin
) -> Upstream | None:
    """Look for one skill where it was: a large source need not be read whole for that."""
    if not pin.path:
        return None
    try:
        with open_source(context, request._replace(path=pin.path)) as source:
            here = any(one.path == pin.path for one in source.pickings.skills)
            return _found(context, desk, source, pin) if here else None
    except MetierError as error:
        if error.code != "not-found":
            raise
        return None


def _found(context: Context, desk: Quarantine, source: OpenedSource, pin: Pin) -> Upstream:
    found = Upstream(pin, commit=source.origin.commit)
    picked = fetch.found_in(source, pin)
    if picked is None:
        where = f"at {pin.path}" if pin.path else "at its top"
        return found._replace(
            gone=f"{pin.source} no longer has it {where}, nor anywhere else under its name"
        )
    laid = fetch.lay_out(context, desk, source, picked)
    if isinstance(laid, Refusal):
        return found._replace(refusal=laid._replace(name=pin.name))
    if picked.path != pin.path:
        note = f"{pin.name} is at {picked.path or 'the top'} of its source now"
        found = found._replace(note=note)
    return found._replace(laid=laid)


class UpstreamStatus(NamedTuple):
    """How an installed skill compares with its source."""

    name: str
    source: str
    ref: str
    commit: str
    """What it was resolved to when it was locked."""
    newest: str
    """What it would be resolved to now; nothing where the source has no versions or did not
    answer."""
    state: UpstreamState
    why: str = ""

    @property
    def have(self) -> str:
        """What is locked."""
        return self.commit


def outdated(context: Context, *, user: bool | None) -> list[UpstreamStatus]:
    """Ask the sources of all locked skills; nothing is changed, and one that does not answer holds
    up no other.
    """
    found = []
    for place in places.places(context, user):
        pins = places.read(place).lock.pins
        fixed = {pin.name: why for pin in pins if (why := is_fixed(place, pin))}
        found += [
            _status(pin, pin.commit, "fixed", fixed[pin.name]) for pin in pins if pin.name in fixed
        ]
        groups = [
            group
            for _request, group in fetch.requests_of(
                place, [pin for pin in pins if pin.name not in fixed]
            )
        ]
        needs = needs_of(place, pins)
        for answers in ask_each(partial(_ask, context, place, needs), groups):
            found += answers
    return sorted(found, key=lambda one: (one.name, one.source))


def _ask(
    context: Context, place: InstallPlace, needs: frozenset[VersionNeed], pins: list[Pin]
) -> list[UpstreamStatus]:
    """Ask one source. That it moved on says nothing yet: what counts is whether this skill did."""
    try:
        for pin in pins:
            check_targets(context, place, pin)
        with fetch.open_quarantine(context) as desk, fetch.SourcePool(context) as pool:
            newest = [at_newest_tag(place, pin, needs, pool.tags) for pin in pins]
            return [_status_of(one) for one in look_up(context, place, desk, newest)]
    except MetierError as error:
        why = f"{error.message}; {error.hint}" if error.hint else error.message
        return [_status(pin, "", "unavailable", why) for pin in pins]


def _status_of(one: Upstream) -> UpstreamStatus:
    state: UpstreamState = "outdated"
    why = one.note
    if one.refusal is not None or one.gone:
        state = "unavailable"
        why = "; ".join(one.refusal.reasons) if one.refusal is not None else one.gone
    elif one.laid is None or one.laid.digest == one.pin.base:
        state = "current"
        why = ""
    return _status(one.pin, one.commit, state, why)


def _status(pin: Pin, newest: str, state: UpstreamState, why: str) -> UpstreamStatus:
    return UpstreamStatus(
        name=pin.name,
        source=pin.source,
        ref=pin.ref,
        commit=pin.commit,
        newest=newest,
        state=state,
        why=why,
    )
