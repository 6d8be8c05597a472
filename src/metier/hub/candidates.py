"""Asks the database which skills have the words of a search: a bounded number of them, each with its
rank. Every question has in it what somebody may see.

Names and descriptions are looked at first, because they are short and say most. What skills say
inside is looked at where that gave little.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.hub import authorize
from metier.scan.model import word_set

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from metier.hub.io.database import Transaction
    from metier.hub.model import Caller, Row

MAX_CANDIDATES = 500
"""How many skills with the words are ranked: a word that everybody uses tells little anyway."""
MAX_READ = 100
"""How many of them are ranked by their instructions, too, which are long."""
MAX_SPACES = 64
FEW = 20_000
"""Who sees fewer skills than this, in at most `MAX_SPACES` namespaces, has the index itself leave out
all others; for the rest the condition is quick enough."""
RARE = 2_000
"""A word that fewer skills have is rare enough to look for it alone."""
SPARSE_LIMIT = 20_000
"""Where every word of a search is in more skills than this, PostgreSQL looks at a sample of about so
many."""
SMALL_WORDS = word_set(
    "a an and are as at be by can do for from has have how i if in into is it its me my not "
    "of on or so that the then this to was what when which who will with you your"
)
"""Words of a sentence that tell nothing about a skill. PostgreSQL has a list of its own."""
STATE = "CASE WHEN s.deprecated = '' THEN 'current' ELSE 'deprecated' END"
LIGHT = f"s.id, n.name AS namespace, s.level, s.category, {STATE} AS state"
_FROM = "skills s JOIN namespaces n ON n.id = s.namespace_id"
_ALL_WORDS = "(s.searched || array_to_tsvector(ARRAY['ns:' || s.namespace_id::text]))"


class Scope(NamedTuple):
    """Which skills a search is about: those that somebody may see, of the kind they ask for."""

    where: str
    values: list[Any]
    spaces: tuple[int, ...] | None
    """The namespaces, where they are small; nothing means that the condition alone tells."""


def scope_of(connection: Transaction, caller: Caller, filters: dict[str, str]) -> Scope:
    """Write what somebody may see as a condition; `filters` are columns and what they must be."""
    where, values = authorize.visible_where(caller)
    spaces = None
    if where != authorize.EVERYTHING or filters.get("n.name"):
        spaces = _small_spaces(connection, where, values, filters.get("n.name", ""))
    parts = [where]
    for column, wanted in filters.items():
        if wanted:
            parts.append(f"{column} = ?")
            values.append(wanted)
    if spaces:
        parts.append(f"s.namespace_id IN ({', '.join('?' * len(spaces))})")
        values += spaces
    return Scope(" AND ".join(parts), values, spaces)


def _small_spaces(
    connection: Transaction, where: str, values: list[Any], name: str
) -> tuple[int, ...] | None:
    """Give the namespaces that somebody may see, if few skills are in them."""
    rows = connection.rows(
        f"SELECT n.id FROM namespaces n WHERE {where}{' AND n.name = ?' if name else ''} LIMIT ?",
        *values,
        *([name] if name else []),
        MAX_SPACES + 1,
    )
    spaces = tuple(row["id"] for row in rows)
    if len(spaces) > MAX_SPACES:
        return None
    if not spaces:
        return ()
    counted = connection.row(
        "SELECT count(*) AS one FROM (SELECT 1 FROM skills WHERE latest <> '' "
        f"AND namespace_id IN ({', '.join('?' * len(spaces))}) LIMIT ?) few",
        *spaces,
        FEW,
    )
    return spaces if counted and counted["one"] < FEW else None


def newest(connection: Transaction, scope: Scope) -> list[Row]:
    """Give what changed last, where no words are asked for."""
    rows = connection.rows(
        f"SELECT {LIGHT}, 0 AS rank FROM {_FROM} WHERE s.latest <> '' AND {scope.where} "
        "ORDER BY s.changed_at DESC, s.id DESC LIMIT ?",
        *scope.values,
        MAX_CANDIDATES,
    )
    return list(rows)


def called(connection: Transaction, scope: Scope, folded: str) -> list[Row]:
    """Give what has exactly this name."""
    rows = connection.rows(
        f"SELECT {LIGHT}, 0 AS rank FROM {_FROM} WHERE s.folded = ? AND s.latest <> '' "
        f"AND {scope.where} ORDER BY s.installs DESC, s.id LIMIT ?",
        folded,
        *scope.values,
        MAX_READ,
    )
    return list(rows)


def matching(connection: Transaction, scope: Scope, words: Sequence[str], enough: int) -> list[Row]:
    """Give skills that have all the words, or some where none has all; the best come first."""
    asked: Words = (
        SqliteWords(connection, scope, words)
        if connection.dialect == "sqlite"
        else PostgresWords(connection, scope, words)
    )
    if not asked.words:
        return []
    found = asked.titled()
    if len(found) < enough:
        seen = {row["id"] for row in found}
        found += [row for row in asked.anywhere() if row["id"] not in seen]
    if not found and len(asked.words) > 1:
        found = asked.some()
    return found[:MAX_CANDIDATES]


class SqliteWords:
    """The words of one search, asked of SQLite's full-text table."""

    def __init__(self, connection: Transaction, scope: Scope, words: Sequence[str]) -> None:
        """Take the words as they are: the table stems them."""
        self.connection, self.scope = connection, scope
        self.words = list(words)

    def titled(self) -> list[Row]:
        """Give skills with all the words in their name and description."""
        return self._ask(f"{{name description}} : ({self._joined(' AND ', self.words)})")

    def anywhere(self) -> list[Row]:
        """Give skills with all the words anywhere."""
        return self._ask(self._joined(" AND ", self.words))

    def some(self) -> list[Row]:
        """Give skills with some of the words: with the rare ones, or else by title."""
        telling = [word for word in self.words if word not in SMALL_WORDS] or self.words
        rare = [word for word in telling if self._count(word) < RARE]
        if rare:
            return self._ask(self._joined(" OR ", rare))
        return self._ask(f"{{name description}} : ({self._joined(' OR ', telling)})")

    def _ask(self, asked: str) -> list[Row]:
        rows = self.connection.rows(
            f"SELECT {LIGHT}, -bm25(skill_words, 8.0, 4.0, 1.0) AS rank FROM skill_words "
            "JOIN skills s ON s.id = skill_words.rowid JOIN namespaces n ON n.id = s.namespace_id "
            f"WHERE skill_words MATCH ? AND {self.scope.where} LIMIT ?",
            asked,
            *self.scope.values,
            MAX_CANDIDATES,
        )
        return sorted(rows, key=lambda row: (-row["rank"], row["id"]))

    def _count(self, word: str) -> int:
        row = self.connection.row(
            "SELECT count(*) AS one FROM (SELECT 1 FROM skill_words WHERE skill_words MATCH ? LIMIT ?)",
            f'"{word}"',
            RARE,
        )
        return int(row["one"]) if row else 0

    @staticmethod
    def _joined(between: str, words: Sequence[str]) -> str:
        return between.join(f'"{word}"' for word in words)


class PostgresWords:
    """The words of one search, asked of PostgreSQL's full text."""

    def __init__(self, connection: Transaction, scope: Scope, words: Sequence[str]) -> None:
        """Have the server stem the words, and tell how many skills it believes have each."""
        self.connection, self.scope = connection, scope
        rows = connection.rows(
            # reading every skill is never the quick way here, whatever the planner believes
            "WITH here AS MATERIALIZED (SELECT greatest(reltuples, 0) AS skills, "
            "set_config('enable_seqscan', 'off', true) AS one, "
            "set_config('gin_fuzzy_search_limit', ?, true) AS two "
            "FROM pg_class WHERE oid = 'skills'::regclass), "
            "known AS (SELECT unnest(most_common_elems::text::text[]) AS lexeme, "
            "unnest(most_common_elem_freqs[1:array_length(most_common_elems::text::text[], 1)]) "
            "AS share FROM pg_stats WHERE schemaname = current_schema() AND tablename = 'skills' "
            "AND attname = 'searched') "
            "SELECT w.lexeme, coalesce(k.share, 0) * here.skills AS many, here.one, here.two "
            "FROM unnest(to_tsvector('english', ?)) w CROSS JOIN here "
            "LEFT JOIN known k ON k.lexeme = w.lexeme ORDER BY many, w.lexeme",
            str(SPARSE_LIMIT),
            " ".join(words),
        )
        self.words = [row["lexeme"] for row in rows]
        self._rare = [row["lexeme"] for row in rows if row["many"] < RARE]

    def titled(self) -> list[Row]:
        """Give skills with all the words in their name and description."""
        return self._in_titles(self._joined(" & ", self.words))

    def anywhere(self) -> list[Row]:
        """Give skills with all the words anywhere."""
        return self._in_all_words(self._joined(" & ", self.words))

    def some(self) -> list[Row]:
        """Give skills with some of the words: with the rare ones, or else by title."""
        if self._rare:
            return self._in_all_words(self._joined(" | ", self._rare))
        return self._in_titles(self._joined(" | ", self.words))

    def _in_titles(self, asked: str) -> list[Row]:
        rows = self.connection.rows(
            f"SELECT {LIGHT}, ts_rank(s.titled, ?::tsquery, 1) AS rank FROM {_FROM} "
            f"WHERE s.titled @@ ?::tsquery AND {self.scope.where} LIMIT ?",
            asked,
            self._within(asked),
            *self.scope.values,
            MAX_CANDIDATES,
        )
        return sorted(rows, key=lambda row: (-row["rank"], row["id"]))

    def _in_all_words(self, asked: str) -> list[Row]:
        """Give skills that say the words anywhere: first by what their titles have of them, and the
        best of those by all they say.
        """
        any_of = self._joined(" | ", self.words)
        rows = self.connection.rows(
            f"SELECT {LIGHT}, ts_rank(s.titled, ?::tsquery, 1) AS rank FROM {_FROM} "
            f"WHERE {_ALL_WORDS} @@ ?::tsquery AND {self.scope.where} LIMIT ?",
            any_of,
            self._within(asked),
            *self.scope.values,
            MAX_CANDIDATES,
        )
        found = sorted(rows, key=lambda row: (-row["rank"], row["id"]))
        best = [row["id"] for row in found[:MAX_READ]]
        ranks = {
            row["id"]: row["rank"]
            for row in self.connection.rows(
                "SELECT id, ts_rank(searched, ?::tsquery, 1) AS rank FROM skills WHERE id = ANY (?)",
                any_of,
                best,
            )
        }
        return sorted(found, key=lambda row: (-ranks.get(row["id"], 0), -row["rank"], row["id"]))

    def _within(self, asked: str) -> str:
        """Have the index itself leave out other namespaces."""
        if not self.scope.spaces:
            return asked
        return f"({asked}) & ({self._joined(' | ', [f'ns:{one}' for one in self.scope.spaces])})"

    @staticmethod
    def _joined(between: str, words: Sequence[str]) -> str:
        return between.join(
            "'{}'".format(word.replace("'", "''").replace("\\", "\\\\")) for word in words
        )


Words = SqliteWords | PostgresWords
