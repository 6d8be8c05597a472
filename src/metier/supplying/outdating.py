"""`outdated`: which locked skills have a newer version where they came from (HE-44). Every source is asked, all at once."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from metier.errors import MetierError
from metier.supplying import deploying, fetching, places
from metier.supplying.parallel.proc import each
from metier.supplying.upstreams import is_fixed, looked_up, requests

if TYPE_CHECKING:
    from typing import Literal

    from metier.app import Library
    from metier.supplies import Pin
    from metier.supplying.places import Place
    from metier.supplying.upstreams import Upstream

    Standing = Literal["current", "outdated", "fixed", "unavailable"]


class Age(NamedTuple):
    """How a locked skill stands to its source."""

    name: str
    source: str
    ref: str
    commit: str
    """What it was resolved to when it was locked."""
    newest: str
    """What it would be resolved to now; nothing where the source has no versions or did not answer."""
    state: Standing
    why: str = ""

    @property
    def have(self) -> str:
        """What is locked."""
        return self.commit


def outdated(library: Library, *, user: bool | None) -> list[Age]:
    """Ask the sources of all locked skills; nothing is changed, and one that does not answer holds up no other."""
    found: list[Age] = []
    for place in places.places(library, user):
        pins = places.read(place).lock.pins
        fixed = {pin.name: why for pin in pins if (why := is_fixed(place, pin))}
        found += [_age(pin, pin.commit, "fixed", fixed[pin.name]) for pin in pins if pin.name in fixed]
        groups = [group for _request, group in requests(place, [pin for pin in pins if pin.name not in fixed])]
        for answers in each(partial(_asked, library, place), groups):
            found += answers
    return sorted(found, key=lambda one: (one.name, one.source))


def _asked(library: Library, place: Place, pins: list[Pin]) -> list[Age]:
    """Ask one source. That it moved on says nothing yet: what counts is whether this skill did."""
    try:
        for pin in pins:
            deploying.sure(library, place, pin)
        with fetching.desk(library) as desk:
            return [_aged(one) for one in looked_up(library, place, desk, pins)]
    except MetierError as error:
        return [_age(pin, "", "unavailable", error.message) for pin in pins]


def _aged(one: Upstream) -> Age:
    if one.refusal is not None:
        return _age(one.pin, one.commit, "unavailable", one.refusal.reasons[0])
    if one.gone:
        return _age(one.pin, one.commit, "unavailable", one.gone)
    if one.laid is None or one.laid.digest == one.pin.base:
        return _age(one.pin, one.commit, "current", "")
    return _age(one.pin, one.commit, "outdated", one.note)


def _age(pin: Pin, newest: str, state: Standing, why: str) -> Age:
    return Age(pin.name, pin.source, pin.ref, pin.commit, newest, state, why)
