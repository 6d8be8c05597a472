"""Searches the hub: names, descriptions and instructions of what is approved, ranked. What somebody
may not see is left out by the query itself, so no count or rank ever tells of it.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from metier.errors import UsageError
from metier.hub import candidates
from metier.supply.safe_names import fold_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from metier.hub.candidates import Scope
    from metier.hub.hub import Hub
    from metier.hub.io.database import Transaction
    from metier.hub.model import Caller, Row

MAX_WORDS = 16
MAX_WORD_CHARS = 80
MAX_QUERY_CHARS = 400
MAX_LIMIT = 100
MAX_OFFSET = 1_000
MAX_FACETS = 50
ENOUGH = 50
"""So many skills with the words in their titles will do, where fewer are asked for."""
STATES = frozenset({"current", "deprecated"})
_WORD = re.compile(r"[^\W_]+")
_COLUMNS = (
    "s.id, s.name, s.description, s.latest, s.level, s.deprecated, s.installs, s.changed_at, "
    "s.category, n.name AS namespace, "
    f"{candidates.STATE} AS state"
)


class HubQuery(NamedTuple):
    """What is searched for."""

    words: str = ""
    namespace: str = ""
    level: str = ""
    category: str = ""
    state: str = ""
    """`current` or `deprecated`."""
    limit: int = 20
    offset: int = 0


class HubResults(NamedTuple):
    """What was found."""

    query: str
    total: int
    """How many were ranked."""
    rows: tuple[Row, ...]
    facets: Mapping[str, Mapping[str, int]]


def index_skill(connection: Transaction, skill: int, description: str, body: str) -> None:
    """Have a skill found by what its newest approved version says; by nothing, where there is none."""
    row = connection.row("SELECT name, latest FROM skills WHERE id = ?", skill)
    if row is None:
        return
    name = row["name"].replace("-", " ") if row["latest"] else ""
    if connection.dialect == "sqlite":
        connection.run("DELETE FROM skill_words WHERE rowid = ?", skill)
        if row["latest"]:
            connection.run(
                "INSERT INTO skill_words (rowid, name, description, body) VALUES (?, ?, ?, ?)",
                skill,
                name,
                description,
                body,
            )
        return
    connection.run(
        "UPDATE skills SET searched = setweight(to_tsvector('english', ?), 'A') || "
        "setweight(to_tsvector('english', ?), 'B') || setweight(to_tsvector('english', ?), 'D') "
        "WHERE id = ?",
        name,
        description,
        body,
        skill,
    )


def search(hub: Hub, caller: Caller, query: HubQuery) -> HubResults:
    """Find skills that somebody may see: with all the words, or with some where none has all."""
    if not (0 < query.limit <= MAX_LIMIT and 0 <= query.offset <= MAX_OFFSET):
        raise UsageError(
            "that many results cannot be asked for",
            hint=f"limit is 1 to {MAX_LIMIT}, offset 0 to {MAX_OFFSET:,}",
        )
    asked = query.words[:MAX_QUERY_CHARS].lower()
    words = [word[:MAX_WORD_CHARS] for word in _WORD.findall(asked)][:MAX_WORDS]
    filters = {
        name: value.replace("\0", "")
        for name, value in (
            ("n.name", query.namespace),
            ("s.level", query.level),
            ("s.category", query.category),
            (candidates.STATE, query.state if query.state in STATES else ""),
        )
        if value
    }
    with hub.database.read() as connection:
        scope = candidates.scope_of(connection, caller, filters)
        found: list[Row] = []
        if scope.spaces == ():
            pass
        elif words:
            found = _ranked(connection, scope, words, query.offset + query.limit)
        elif not asked.strip():
            found = candidates.newest(connection, scope)
        rows = _shown(connection, found[query.offset : query.offset + query.limit])
        facets = {
            facet: _count(found, facet) for facet in ("namespace", "level", "state", "category")
        }
    return HubResults(query.words, len(found), tuple(rows), facets)


def _ranked(connection: Transaction, scope: Scope, words: list[str], wanted: int) -> list[Row]:
    """Rank what has the words; what is called exactly that stands before everything else."""
    named = candidates.called(connection, scope, fold_name("-".join(words)))
    known = {row["id"] for row in named}
    found = candidates.matching(connection, scope, words, max(wanted, ENOUGH))
    return named + [row for row in found if row["id"] not in known]


def _shown(connection: Transaction, light: list[Row]) -> list[Row]:
    """Read all that is shown of a few skills."""
    if not light:
        return []
    marks = ", ".join("?" * len(light))
    rows = connection.rows(
        f"SELECT {_COLUMNS} FROM skills s JOIN namespaces n ON n.id = s.namespace_id "
        f"WHERE s.id IN ({marks})",
        *(row["id"] for row in light),
    )
    known = {row["id"]: row for row in rows}
    return [known[row["id"]] for row in light if row["id"] in known]


def _count(rows: list[Row], facet: str) -> dict[str, int]:
    counted = Counter(row[facet] for row in rows if row[facet])
    return dict(sorted(counted.items(), key=lambda one: (-one[1], one[0]))[:MAX_FACETS])
