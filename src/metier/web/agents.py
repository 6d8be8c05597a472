"""Who sees what: all skills against all agents found here, and what one agent is told."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from starlette.routing import Route

from metier.discover.agents import AGENTS, agent_asked
from metier.errors import NotFoundError, UsageError
from metier.standard.plain_text import Estimate
from metier.web.facts import fact_of, known_soon
from metier.web.render import page, see_other, site_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from metier.disclose.prompt import Disclosure
    from metier.discover.agents import Agent
    from metier.doctor.examine import AgentFacts
    from metier.library import Library
    from metier.model import Card, Texts
    from metier.web.site import Site

ROWS_PER_PAGE = 60
MAX_QUERY_CHARS = 500
MAX_NAMES_SHOWN = 60
"""Names that a list gives before it only counts."""
MAX_REASON_CHARS = 600
MAX_BUDGET_DIGITS = 9
CELL_WORDS = {"visible": "visible", "shadowed": "shadowed", "invalid": "not loaded"}
"""What a cell says of a state; whatever else there is is hidden."""
FORMATS = ("xml", "markdown", "json")


class Cell(NamedTuple):
    """How one skill stands with one agent."""

    word: str
    """`visible`, `shadowed`, `hidden` or `not loaded`."""
    reason: str = ""


class MatrixFacts(NamedTuple):
    """All skills against all agents found here."""

    agents: tuple[AgentFacts, ...]
    order: list[str]
    """The paths of all skills, sorted by name."""
    cells: dict[str, tuple[Cell, ...]]
    """By path, one cell to an agent; rows that are alike are one."""
    differing: frozenset[str]
    """Paths of those that not all agents treat alike."""


class MatrixPage(NamedTuple):
    """A part of the matrix."""

    rows: list[tuple[Card, tuple[Cell, ...]]]
    total: int
    of: int
    before: int
    """Where the part before begins; -1 at the beginning."""
    after: int
    """Where the next part begins; 0 at the end."""


class Unloaded(NamedTuple):
    """A skill that an agent has in its folders, or could have, and is not told of."""

    path: str
    name: str
    state: str
    reason: str


class BudgetFacts(NamedTuple):
    """What a catalogue costs, as the page draws it."""

    used: int
    budget: int
    instructions: int
    whole: int
    """Skills that are listed with all of their description."""
    shortened: int
    left_out: int

    @property
    def left(self) -> int:
        """Tokens that are still free."""
        return max(0, self.budget - self.used)

    @property
    def parts(self) -> list[tuple[str, str, int, float, float]]:
        """The bar of skills: class, word, number, and where each part begins and how long it is, in
        hundredths.
        """
        total = max(1, self.whole + self.shortened + self.left_out)
        found = []
        at = 0.0
        for kind, word, number in (
            ("whole", "listed whole", self.whole),
            ("cut", "shortened", self.shortened),
            ("out", "left out", self.left_out),
        ):
            share = 100 * number / total
            found.append((kind, word, number, round(at, 2), round(share, 2)))
            at += share
        return found


class AgentTold(NamedTuple):
    """What one agent is told, what it is not, and where it looks."""

    told: Disclosure
    budget: BudgetFacts
    folders: Sequence[tuple[str, str, int]]
    """Scope, path and number of skills of the folders that it reads and that exist."""
    unloaded: list[Unloaded]


# --- the matrix


def find_views(m: Library) -> MatrixFacts:
    """Ask every agent found here how it sees each skill."""
    agents = tuple(m.agents())
    known: dict[Cell, Cell] = {}
    views: list[dict[str, Cell]] = []
    names = {card.path: card.name for card in m.skills(all=True)}
    for agent in agents:
        with m.as_agent(agent.id) as theirs:
            view = {}
            for card in theirs.skills(all=True):
                names.setdefault(card.path, card.name)
                cell = cell_of(card)
                view[card.path] = known.setdefault(cell, cell)
            views.append(view)
    elsewhere = [Cell("not loaded", f"{one.title} doesn't look in its folder") for one in agents]
    rows: dict[tuple[Cell, ...], tuple[Cell, ...]] = {}
    cells = {}
    for path in names:
        row = tuple(view.get(path, other) for view, other in zip(views, elsewhere, strict=True))
        cells[path] = rows.setdefault(row, row)
    return MatrixFacts(
        agents,
        sorted(names, key=lambda path: (names[path].casefold(), path)),
        cells,
        frozenset(path for path, row in cells.items() if len({cell.word for cell in row}) > 1),
    )


def cell_of(card: Card) -> Cell:
    """Say how a skill stands with the agent whose card this is."""
    word = "not loaded" if card.held == "agent" else CELL_WORDS.get(card.state, "hidden")
    reason = "; ".join(card.reasons)[:MAX_REASON_CHARS]
    if word == "hidden" and card.state not in {"hidden", "ask"}:
        reason = f"{card.state}: {reason}" if reason else card.state
    return Cell(word, reason)


def look(site: Site, matrix: MatrixFacts, query: str, at: int, *, differing: bool) -> MatrixPage:
    """Give the part of the matrix that is asked for."""
    rows = site.rows()
    paths: Iterable[str] = (path for path in matrix.order if path in rows.idents)
    if differing:
        paths = (path for path in paths if path in matrix.differing)
    if query:
        words = query.casefold().split()
        paths = (path for path in paths if _fits(rows.by_ident[rows.idents[path]], words))
    found = list(paths)
    part = found[at : at + ROWS_PER_PAGE]
    after = at + ROWS_PER_PAGE
    return MatrixPage(
        [(rows.by_ident[rows.idents[path]], matrix.cells[path]) for path in part],
        len(found),
        len(matrix.order),
        max(0, at - ROWS_PER_PAGE) if at else -1,
        after if after < len(found) else 0,
    )


def _fits(card: Card, words: Sequence[str]) -> bool:
    text = f"{card.name}\n{card.description}".casefold()
    return all(word in text for word in words)


def place_of(request: Request, name: str = "at") -> int:
    """Read where a list is to begin."""
    given = request.query_params.get(name, "0")
    return int(given) if given.isascii() and given.isdigit() and len(given) < 8 else 0


async def show(request: Request) -> Response:
    """Show the matrix."""
    site = site_of(request)
    matrix: MatrixFacts | None = await known_soon(fact_of(site, "views", find_views))
    query = request.query_params.get("q", "")[:MAX_QUERY_CHARS].strip()
    differing = request.query_params.get("differs") == "1"
    found = (
        await site.read(look, site, matrix, query, place_of(request), differing=differing)
        if matrix is not None
        else None
    )
    return page(
        request,
        "agents.html",
        title="Agents",
        matrix=matrix,
        found=found,
        query=query,
        differs=differing,
        known=AGENTS,
    )


# --- one agent


def agent_of(name: str) -> Agent:
    """Give the agent that an address means."""
    try:
        found = agent_asked(name[:MAX_QUERY_CHARS])
    except UsageError as error:
        hint = error.hint.replace(
            "'metier doctor --agents' lists all", "see the page of all agents"
        )
        raise NotFoundError(error.message, hint=hint) from None
    if found is None:
        raise NotFoundError("no agent was named", hint="see the page of all agents")
    return found


def find_told(m: Library, agent: str, budget: str | None = None, form: str = "") -> AgentTold:
    """Make the catalogue that an agent would be given, and list what is not in it."""
    with m.as_agent(agent) as theirs:
        told = theirs.catalogue(budget, format=form)
        counter = theirs.context.counter or Estimate()
        cards = theirs.skills(all=True)
        held: dict[str, int] = {}
        for card in cards:
            held[card.root] = held.get(card.root, 0) + 1
        folders = [
            (one.root.scope, one.root.location, held.get(one.root.location, 0))
            for one in theirs.context.catalogue.glance().seen
        ]
    return AgentTold(
        told,
        BudgetFacts(
            told.tokens,
            told.budget,
            counter.count(told.instructions) if told.instructions else 0,
            told.included - told.shortened,
            told.shortened,
            len(told.omitted),
        ),
        folders,
        [
            Unloaded(card.path, card.name, cell.word, cell.reason or card.state)
            for card in sorted(cards, key=lambda card: (card.name.casefold(), card.path))
            if (cell := cell_of(card)).word != "visible"
        ],
    )


async def _told(site: Site, agent: Agent, budget: str, form: str) -> AgentTold | None:
    """Give what an agent is told; with a budget of somebody's own it is made for this page alone."""
    if not budget and not form:
        found: AgentTold | None = await known_soon(
            fact_of(site, f"told:{agent.id}", partial(find_told, agent=agent.id))
        )
        return found

    def make() -> AgentTold:
        with site.library.open_again() as m:
            return find_told(m, agent.id, budget or None, form)

    return await site.read(make)


def _first(names: Texts | list[str]) -> dict[str, Any]:
    """Give the first of some names, and how many more there are."""
    return {
        "shown": list(names[:MAX_NAMES_SHOWN]),
        "more": max(0, len(names) - MAX_NAMES_SHOWN),
        "all": len(names),
    }


async def show_one(request: Request) -> Response:
    """Show what one agent is told."""
    site = site_of(request)
    said = request.path_params["ident"]
    agent = agent_of(said)
    if agent.id != said:
        return see_other(f"/agents/{agent.id}")
    budget = request.query_params.get("budget", "").strip()
    if budget and not (budget.isascii() and budget.isdigit() and len(budget) < MAX_BUDGET_DIGITS):
        raise UsageError(f"'{budget[:40]}' is no token budget", hint="give a number, such as 2000")
    form = request.query_params.get("format", "")
    form = form if form in FORMATS else ""
    facts: Sequence[AgentFacts] | None = await known_soon(site.facts["agents"])
    found = await _told(site, agent, budget, form)
    at = place_of(request)
    values: dict[str, Any] = {}
    if found is not None:
        values = {
            "left_out": _first(found.told.omitted),
            "cut": _first(found.told.cut),
            "unready": _first(found.told.unready),
            "unloaded": found.unloaded[at : at + ROWS_PER_PAGE],
            "next_at": at + ROWS_PER_PAGE if at + ROWS_PER_PAGE < len(found.unloaded) else 0,
        }
    return page(
        request,
        "agent.html",
        title=agent.title,
        agent=agent,
        facts=next((one for one in facts or () if one.id == agent.id), None),
        is_known=facts is not None,
        found=found,
        budget=budget,
        form=form,
        formats=FORMATS,
        at=at,
        **values,
    )


ROUTES = [Route("/agents", show), Route("/agents/{ident}", show_one)]
