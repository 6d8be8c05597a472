"""All skills as points, alike ones together: to see at a glance what is there and what is double."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

from starlette.responses import Response
from starlette.routing import Route

from metier.web.agents import place_of
from metier.web.facts import fact_of, known_soon
from metier.web.render import as_json, page, site_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.requests import Request

    from metier.find.model import SkillMap
    from metier.library import Library
    from metier.model import Card
    from metier.web.site import Site, SlowFact

ROWS_PER_PAGE = 60
MAX_POINTS = 4_000
"""Points that are drawn; the tables know of all skills."""
MAX_LINES = 2_000
MAX_SHOWN_OF_GROUP = 12
MAX_NAME_CHARS = 80
COLOURS = {"verdict": "Verdict", "use": "Last use"}
VERDICTS = ("safe", "caution", "dangerous", "unscanned")
USES = ("this week", "this month", "before", "never")
USE_DAYS = (7, 30)
_DAY = 86_400


class ShownPair(NamedTuple):
    """Two skills that are nearly the same."""

    one: Card
    other: Card
    cosine: float
    is_copy: bool
    """Whether they have one name: two copies, and no two skills."""


class ShownGroup(NamedTuple):
    """Skills that are nearly the same."""

    cards: list[Card]
    more: int
    names: int
    """How many names they have."""


class GraphPage(NamedTuple):
    """What stands beside the picture."""

    by: str
    skills: int
    drawn: int
    missing: int
    whole: bool
    groups: list[ShownGroup]
    all_groups: int
    pairs: list[ShownPair]
    all_pairs: int
    more: int


class KeptMap:
    """Makes the map anew only when there is something else to be seen. It may be sent to another
    process, so it learns here what was made.
    """

    def __init__(self) -> None:
        """Know none yet."""
        self.known: SkillMap | None = None
        self.drawn: tuple[object, str] = (None, "")
        """The picture as it was last given, and of what it was."""

    def __call__(self, m: Library) -> SkillMap:
        """Give the map as it is now."""
        return m.likeness_map(self.known)


def map_of(site: Site) -> SlowFact:
    """Give the map as a fact of a site."""
    found = site.facts.get("map")
    if found is None:
        found = fact_of(site, "map", KeptMap())
    found.find_out.known = found.value  # type: ignore[attr-defined]  # it is one of ours
    return found


# --- the tables


def look(site: Site, found: SkillMap, groups_at: int, pairs_at: int) -> GraphPage:
    """Give the part of the tables that is asked for."""
    rows = site.rows()

    def cards_of(numbers: Iterable[int]) -> list[Card]:
        idents = (rows.idents.get(found.paths[number]) for number in numbers)
        return [rows.by_ident[ident] for ident in idents if ident is not None]

    groups = [cards_of(one) for one in found.groups[groups_at : groups_at + ROWS_PER_PAGE]]
    pairs = [
        (cards_of((pair.one, pair.other)), pair.cosine)
        for pair in found.pairs[pairs_at : pairs_at + ROWS_PER_PAGE]
    ]
    return GraphPage(
        by=found.by,
        skills=len(found.paths),
        drawn=min(len(found.paths), MAX_POINTS),
        missing=found.missing,
        whole=found.whole,
        groups=[
            ShownGroup(
                one[:MAX_SHOWN_OF_GROUP],
                max(0, len(one) - MAX_SHOWN_OF_GROUP),
                len({card.name for card in one}),
            )
            for one in groups
            if len(one) > 1
        ],
        all_groups=len(found.groups),
        pairs=[
            ShownPair(both[0], both[1], cosine, both[0].name == both[1].name)
            for both, cosine in pairs
            if len(both) > 1
        ],
        all_pairs=len(found.pairs),
        more=found.more,
    )


async def show(request: Request) -> Response:
    """Show the picture and its tables."""
    site = site_of(request)
    found: SkillMap | None = await known_soon(map_of(site))
    colour = request.query_params.get("colour", "")
    groups_at, pairs_at = place_of(request, "groups"), place_of(request, "pairs")
    tables = await site.read(look, site, found, groups_at, pairs_at) if found is not None else None
    return page(
        request,
        "graph.html",
        title="Graph",
        tables=tables,
        key=f"{found.key}-{site.state}" if found is not None else "",
        fault=map_of(site).fault,
        colours=COLOURS,
        colour=colour if colour in COLOURS else "verdict",
        verdicts=VERDICTS,
        uses=USES,
        groups_at=groups_at,
        pairs_at=pairs_at,
        step=ROWS_PER_PAGE,
    )


# --- the picture


def drawing(site: Site, found: SkillMap) -> dict[str, Any]:
    """Give the points and lines of the picture; of too many points those that are double stay."""
    rows = site.rows()
    uses = site.library.last_uses()
    now = time.time()
    points: list[list[Any]] = []
    numbers: dict[int, int] = {}
    for at in _chosen(found):
        path = found.paths[at]
        ident = rows.idents.get(path)
        if ident is None:
            continue
        card = rows.by_ident[ident]
        x, y = found.places[at]
        verdict = VERDICTS.index(card.verdict or "unscanned")
        use = age_of_use(now, uses.get(path, 0))
        numbers[at] = len(points)
        points.append([x, y, card.name[:MAX_NAME_CHARS], ident, verdict, use])
    lines = [
        [numbers[pair.one], numbers[pair.other]]
        for pair in found.pairs[:MAX_LINES]
        if pair.one in numbers and pair.other in numbers
    ]
    return {"points": points, "lines": lines, "verdicts": VERDICTS, "uses": USES}


def _chosen(found: SkillMap) -> list[int]:
    count = len(found.paths)
    if count <= MAX_POINTS:
        return list(range(count))
    double = list(
        dict.fromkeys(at for pair in found.pairs[:MAX_LINES] for at in (pair.one, pair.other))
    )[:MAX_POINTS]
    known = set(double)
    rest = [at for at in range(count) if at not in known]
    room = MAX_POINTS - len(double)
    step = max(1, -(-len(rest) // room)) if room else len(rest) + 1
    return sorted([*double, *rest[::step][:room]])


def age_of_use(now: float, last: int) -> int:
    """Say how long ago something was, as a number of `USES`."""
    if not last:
        return len(USES) - 1
    days = (now - last) / _DAY
    return sum(days > limit for limit in USE_DAYS)


def _written(site: Site, found: SkillMap, kept: KeptMap) -> str:
    """Write the picture down, once for the same skills in the same state."""
    of = found.key, site.state, site.unjudged
    if kept.drawn[0] != of:
        kept.drawn = of, as_json(drawing(site, found))
    return kept.drawn[1]


async def give_drawing(request: Request) -> Response:
    """Give the picture to the script that draws it."""
    site = site_of(request)
    fact = map_of(site)
    found: SkillMap | None = await known_soon(fact)
    if found is None:
        return Response(as_json({"pending": True}), media_type="application/json")
    text = await site.read(_written, site, found, fact.find_out)
    return Response(text, media_type="application/json")


ROUTES = [Route("/graph", show), Route("/graph.json", give_drawing)]
