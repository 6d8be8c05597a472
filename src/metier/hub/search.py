"""Searches the hub: names, descriptions and instructions of what is approved, ranked. What somebody
may not see is left out by the query itself, so no count or rank ever tells of it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from metier.errors import UsageError
from metier.hub import authorize

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from metier.hub.hub import Hub
    from metier.hub.io.database import Transaction
    from metier.hub.model import Caller, Row

MAX_WORDS = 16
MAX_QUERY_CHARS = 400
MAX_LIMIT = 100
MAX_OFFSET = 1_000
MAX_CANDIDATES = 2_000
"""How many skills with the words are ranked: a word that everybody uses tells little anyway."""
_WORD = re.compile(r"\w+")
_COLUMNS = (
    "s.id, s.name, s.description, s.latest, s.level, s.deprecated, s.installs, s.changed_at, "
    "s.category, n.name AS namespace, "
    "CASE WHEN s.deprecated = '' THEN 'current' ELSE 'deprecated' END AS state"
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
    """How many there are; at most `MAX_CANDIDATES` are counted."""
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
    words = _WORD.findall(query.words[:MAX_QUERY_CHARS].lower())[:MAX_WORDS]
    with hub.database.read() as connection:
        if not words:
            rows = _browse(connection, caller, query)
        else:
            rows = _matching(connection, caller, query, words, all_of=True)
            if not rows and len(words) > 1:
                rows = _matching(connection, caller, query, words, all_of=False)
    rows = _named_first(rows, words)
    shown = rows[query.offset : query.offset + query.limit]
    facets = {facet: _count(rows, facet) for facet in ("namespace", "level", "state", "category")}
    return HubResults(query.words, len(rows), tuple(shown), facets)


def _conditions(caller: Caller, query: HubQuery) -> tuple[str, list[Any]]:
    where, values = authorize.visible_where(caller)
    parts = ["s.latest <> ''", where]
    for column, wanted in (
        ("n.name", query.namespace),
        ("s.level", query.level),
        ("s.category", query.category),
    ):
        if wanted:
            parts.append(f"{column} = ?")
            values.append(wanted)
    if query.state in {"current", "deprecated"}:
        parts.append(f"s.deprecated {'=' if query.state == 'current' else '<>'} ''")
    return " AND ".join(parts), values


def _browse(connection: Transaction, caller: Caller, query: HubQuery) -> list[Row]:
    where, values = _conditions(caller, query)
    rows = connection.rows(
        f"SELECT {_COLUMNS} FROM skills s JOIN namespaces n ON n.id = s.namespace_id "
        f"WHERE {where} ORDER BY s.changed_at DESC, s.id DESC LIMIT ?",
        *values,
        MAX_CANDIDATES,
    )
    return list(rows)


def _matching(
    connection: Transaction, caller: Caller, query: HubQuery, words: list[str], *, all_of: bool
) -> list[Row]:
    where, values = _conditions(caller, query)
    if connection.dialect == "sqlite":
        asked = (" AND " if all_of else " OR ").join(f'"{word}"' for word in words)
        rows = connection.rows(
            f"SELECT {_COLUMNS}, bm25(skill_words, 8.0, 4.0, 1.0) AS rank FROM skill_words "
            "JOIN skills s ON s.id = skill_words.rowid "
            "JOIN namespaces n ON n.id = s.namespace_id "
            f"WHERE skill_words MATCH ? AND {where} ORDER BY rank LIMIT ?",
            asked,
            *values,
            MAX_CANDIDATES,
        )
        return list(rows)
    asked = (" & " if all_of else " | ").join(words)
    rows = connection.rows(
        f"SELECT c.*, -ts_rank_cd(c.searched, to_tsquery('english', ?), 1) AS rank FROM ("
        f"SELECT {_COLUMNS}, s.searched FROM skills s JOIN namespaces n ON n.id = s.namespace_id "
        f"WHERE s.searched @@ to_tsquery('english', ?) AND {where} LIMIT ?) c ORDER BY rank, id",
        asked,
        asked,
        *values,
        MAX_CANDIDATES,
    )
    return list(rows)


def _named_first(rows: list[Row], words: list[str]) -> list[Row]:
    """Put what is called exactly what was asked for before everything else."""
    wanted = "-".join(words)
    return sorted(rows, key=lambda row: row["name"] != wanted) if words else rows


def _count(rows: list[Row], facet: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for row in rows:
        if row[facet]:
            found[row[facet]] = found.get(row[facet], 0) + 1
    return dict(sorted(found.items(), key=lambda one: (-one[1], one[0]))[:50])
