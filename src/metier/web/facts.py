"""Facts that some pages need and that take long to find out: made when somebody first asks."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from metier.web.site import SlowFact

if TYPE_CHECKING:
    from collections.abc import Callable

    from metier.library import Library
    from metier.web.site import Site

WAIT_SECONDS = 0.04
"""How long a page waits for what is not known yet: a small library answers within that."""
WAIT_STEP_SECONDS = 0.005


def fact_of(site: Site, name: str, find_out: Callable[[Library], Any]) -> SlowFact:
    """Give a fact of a site, which is the same for everybody who asks."""
    return site.facts.setdefault(name, SlowFact(site, find_out))


async def known_soon(fact: SlowFact) -> Any:
    """Give what is known, and wait a moment for what is not."""
    value = fact.get()
    waited = 0.0
    while value is None and waited < WAIT_SECONDS:
        await asyncio.sleep(WAIT_STEP_SECONDS)
        waited += WAIT_STEP_SECONDS
        value = fact.value
    return value
