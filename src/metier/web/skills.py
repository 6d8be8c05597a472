"""All skills: found as `metier find` finds them, narrowed by facets, in pages."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from starlette.routing import Route

from metier.web.project import note_project
from metier.web.render import page, site_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from starlette.requests import Request
    from starlette.responses import Response

    from metier.find.model import Hit
    from metier.model import Card
    from metier.web.site import Site

ROWS_PER_PAGE = 60
MAX_HITS = 100
MAX_FACET_VALUES = 24
"""Values of one facet that are offered; a search narrows the rest."""
MAX_QUERY_CHARS = 1_000
FINDABLE = ("visible", "shadowed", "ask")
NOBODY: dict[str, tuple[str, ...]] = {}
"""Who sees a skill while nobody knows yet."""
MIN_REASON = 0.05
"""A share of a score below which nobody is told of it."""
REASON_WORDS = {"lexical": "words", "vector": "meaning"}


class SkillRow(NamedTuple):
    """One line of the list."""

    card: Card
    agents: tuple[str, ...]
    why: str = ""
    """What made it rank, where somebody searched."""
    passage: str = ""


class Facet(NamedTuple):
    """One way to narrow the list."""

    key: str
    title: str
    values: list[tuple[str, int, bool]]
    """Each with how many skills have it, and whether it was chosen."""
    more: int = 0


class SkillQuery(NamedTuple):
    """What is asked of the list."""

    words: str
    chosen: Mapping[str, frozenset[str]]
    sort: str
    at: int


class SkillPage(NamedTuple):
    """A part of the list."""

    rows: list[SkillRow]
    total: int
    of: int
    facets: list[Facet]
    next_at: int
    """Where the next part begins; 0 at the end."""
    agents_known: bool
    """Whether it was made knowing which agents see a skill."""


def is_broken(card: Card) -> bool:
    """Tell whether a skill breaks the standard so that it cannot be used."""
    return card.state == "invalid" or any(one.severity == "error" for one in card.diagnostics)


def _source(card: Card) -> str:
    return card.plugin or {"user": "yours", "project": "this project"}.get(card.scope, card.scope)


def _readiness(card: Card) -> str:
    return "broken" if is_broken(card) else card.readiness.replace("_", " ")


FACETS: tuple[tuple[str, str, Callable[[Card], str] | None], ...] = (
    ("state", "State", lambda card: card.state),
    ("verdict", "Verdict", lambda card: card.verdict or "unscanned"),
    ("agent", "Agent", None),
    ("scope", "Scope", lambda card: card.scope),
    ("source", "Source", _source),
    ("readiness", "Readiness", _readiness),
    ("category", "Category", lambda card: card.category or "none"),
)
SORTS: dict[str, tuple[str, Callable[[Card], Any]]] = {
    "name": ("Name", lambda card: (card.name.casefold(), card.path)),
    "tokens": ("Tokens, most first", lambda card: (-card.tokens, card.name)),
    "state": ("State", lambda card: (card.state, card.name.casefold())),
    "verdict": (
        "Verdict, worst first",
        lambda card: (
            {"dangerous": 0, "caution": 1, "": 2, "safe": 3}.get(card.verdict, 4),
            card.name.casefold(),
        ),
    ),
    "used": ("Last used", lambda card: card.name.casefold()),
}


def query_of(request: Request) -> SkillQuery:
    """Read what an address asks for."""
    given = request.query_params
    at = given.get("at", "0")
    return SkillQuery(
        given.get("q", "")[:MAX_QUERY_CHARS].strip(),
        {key: frozenset(given.getlist(key)) - {""} for key, _title, _value in FACETS},
        given.get("sort", "name") if given.get("sort") in SORTS else "name",
        int(at) if at.isdecimal() and len(at) < 8 else 0,
    )


class SkillTable:
    """All cards with what the list needs of each, found out once for as long as nothing changes."""

    def __init__(self, cards: list[Card], agents: Mapping[str, tuple[str, ...]]) -> None:
        """Take every card apart."""
        self.cards = cards
        self.agents = agents
        self.by_path = {card.path: at for at, card in enumerate(cards)}
        self.texts = [f"{card.name}\n{card.description}".casefold() for card in cards]
        self.values: dict[str, list[tuple[str, ...]]] = {
            key: [agents.get(card.path, ()) if value is None else (value(card),) for card in cards]
            for key, _title, value in FACETS
        }
        self.counts = {
            key: Counter(name for names in rows for name in names)
            for key, rows in self.values.items()
        }
        self._orders: dict[str, list[int]] = {}

    def order(self, sort: str) -> list[int]:
        """Give the places of all cards, sorted."""
        found = self._orders.get(sort)
        if found is None:
            key = SORTS[sort][1]
            found = sorted(range(len(self.cards)), key=lambda at: key(self.cards[at]))
            self._orders[sort] = found
        return found


def table_of(site: Site) -> SkillTable:
    """Give the table of all skills, made anew where they, or what agents see, are others."""
    cards = site.rows().cards
    agents = _agents_of(site)
    known: SkillTable | None = site.kept.get("skills")
    if known is None or known.cards is not cards or known.agents is not agents:
        known = site.kept["skills"] = SkillTable(cards, agents)
    return known


def look(site: Site, query: SkillQuery) -> SkillPage:
    """Find the skills that are asked for."""
    table = table_of(site)
    hits: dict[str, Hit] = {}
    if query.words:
        found = site.library.find(
            query.words, MAX_HITS, states=FINDABLE, unfinished=True, judged=False
        )
        hits = {hit.path: hit for hit in found}
        ranked = [table.by_path[path] for path in hits if path in table.by_path]
        folded = query.words.casefold()
        known = set(ranked)
        ranked += [at for at, text in enumerate(table.texts) if folded in text and at not in known]
        pool = ranked
    else:
        pool = _ordered(site, table, query.sort)
    kept, facets = _narrow(table, pool, query, whole=not query.words)
    if query.words and query.sort != "name":
        wanted = set(kept)
        kept = [at for at in _ordered(site, table, query.sort) if at in wanted]
    part = kept[query.at : query.at + ROWS_PER_PAGE]
    rows = [
        _row(card, table.agents, hits.get(card.path)) for card in map(table.cards.__getitem__, part)
    ]
    after = query.at + ROWS_PER_PAGE
    next_at = after if after < len(kept) else 0
    known_to = table.agents is not NOBODY
    return SkillPage(rows, len(kept), len(table.cards), facets, next_at, known_to)


def _agents_of(site: Site) -> Mapping[str, tuple[str, ...]]:
    """Give by path which agents see a skill, as far as that is known."""
    seen: Mapping[str, frozenset[str]] | None = site.facts["seen_by"].get()
    if seen is None:
        return NOBODY
    if site.agents_by_path[0] is not seen:
        found: dict[str, list[str]] = {}
        for agent in sorted(seen):
            for path in seen[agent]:
                found.setdefault(path, []).append(agent)
        site.agents_by_path = seen, {path: tuple(names) for path, names in found.items()}
    return site.agents_by_path[1]


def _narrow(
    table: SkillTable, pool: list[int], query: SkillQuery, *, whole: bool
) -> tuple[list[int], list[Facet]]:
    """Keep what has all that was chosen, and count what else could be chosen."""
    chosen = {key: wanted for key, wanted in query.chosen.items() if wanted}
    fits = {
        key: {at for at in pool if not wanted.isdisjoint(table.values[key][at])}
        for key, wanted in chosen.items()
    }
    facets = []
    for key, title, _value in FACETS:
        others = [fits[other] for other in chosen if other != key]
        counted = (
            Counter(table.counts[key]) if whole and not others else _count(table, key, pool, others)
        )
        for name in query.chosen[key]:
            counted.setdefault(name, 0)
        order = sorted(counted, key=lambda one: (one not in query.chosen[key], -counted[one], one))
        shown = [(one, counted[one], one in query.chosen[key]) for one in order[:MAX_FACET_VALUES]]
        if len(order) > 1 or query.chosen[key]:
            facets.append(Facet(key, title, shown, max(0, len(order) - MAX_FACET_VALUES)))
    kept = pool
    for one in fits.values():
        kept = [at for at in kept if at in one]
    return kept, facets


def _count(table: SkillTable, key: str, pool: list[int], others: list[set[int]]) -> Counter[str]:
    rows = table.values[key]
    places = set(pool).intersection(*others) if others else pool
    return Counter(name for at in places for name in rows[at])


def _ordered(site: Site, table: SkillTable, sort: str) -> list[int]:
    if sort != "used":
        return table.order(sort)
    uses = site.library.last_uses()
    names = table.order("name")
    return sorted(names, key=lambda at: -uses.get(table.cards[at].path, 0))


def _row(card: Card, agents: Mapping[str, tuple[str, ...]], hit: Hit | None) -> SkillRow:
    why = ""
    if hit is not None:
        shares = sorted(hit.why.items(), key=lambda one: -one[1])
        why = ", ".join(
            f"{REASON_WORDS.get(name, name)} {share:.2f}"
            for name, share in shares
            if share >= MIN_REASON
        )
    return SkillRow(card, agents.get(card.path, ()), why, hit.passage if hit else "")


async def show(request: Request) -> Response:
    """Show the list, or while somebody types only its rows."""
    site = site_of(request)
    query = query_of(request)
    found = await site.read(look, site, query)
    target = request.headers.get("hx-target", "")
    name = {"results": "skills_results.html", "more": "skills_rows.html"}.get(target, "skills.html")
    return page(
        request,
        name,
        title="Skills",
        query=query,
        found=found,
        sorts={key: title for key, (title, _key) in SORTS.items()},
        unjudged=site.unjudged,
        agents_known=found.agents_known,
        link=_link(query),
        project=await site.read(note_project, site) if "ask" in query.chosen["state"] else None,
    )


def _link(query: SkillQuery) -> Callable[..., dict[str, Any]]:
    """Give the parts of an address that asks for the same, but for what is changed."""

    def parts(**changed: Any) -> dict[str, Any]:
        kept: dict[str, Any] = {
            "q": query.words,
            "sort": query.sort if query.sort != "name" else "",
        }
        kept.update({key: sorted(wanted) for key, wanted in query.chosen.items()})
        kept.update(changed)
        return kept

    return parts


ROUTES = [Route("/skills", show)]
