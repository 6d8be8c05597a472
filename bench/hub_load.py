"""Puts generated skills straight into a hub's database: so many that publishing them would take days."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from typing import TYPE_CHECKING

import hub_data
import psycopg
from hub_data import SPACES

from metier.hub.io.database import migrate, open_database

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hub_data import Skill, Source

LEVELS = ("safe",) * 9 + ("caution",)
ARCHIVES = 64
"""Different archives that the releases name."""
BATCH = 5_000
NOW = 1_700_000_000
_SKILLS = (
    "INSERT INTO skills (namespace_id, name, folded, description, category, latest, level, created_at, "
    "changed_at) SELECT g.space + 1, g.name, g.name, g.description, '', '1.0.0', g.level, g.at, g.at "
    "FROM made g ORDER BY g.number"
)
_RELEASES = (
    "INSERT INTO releases (skill_id, version, sort_key, digest, archive, size, state, level, score, "
    "ruleset, findings, files, description, body, publisher, publisher_ident, created_at, decided_at) "
    "SELECT s.id, '1.0.0', '1:0000000001.0000000000.0000000000.~', 'sha256:' || g.digest, g.archive, "
    "20000, 'approved', g.level, 0, 'bench', '[]', g.files, g.description, b.body, 'bench', 'token:0', "
    "g.at, g.at FROM made g JOIN skills s ON s.namespace_id = g.space + 1 AND s.folded = g.name "
    "JOIN bodies b ON b.number = g.body"
)


def archive_of(number: int) -> bytes:
    """Give the bytes of one of the archives."""
    return hashlib.sha256(b"%d" % number).digest() * 200


ARCHIVE_HASHES = tuple(hashlib.sha256(archive_of(number)).hexdigest() for number in range(ARCHIVES))


def _row(skill: Skill) -> tuple[object, ...]:
    digest = hashlib.sha256(skill.name.encode()).hexdigest()
    files = json.dumps([["SKILL.md", 20_000, digest, False]])
    return (
        skill.number,
        skill.space,
        skill.name,
        skill.description,
        skill.body,
        LEVELS[skill.number % len(LEVELS)],
        NOW + skill.number,
        digest,
        ARCHIVE_HASHES[skill.number % ARCHIVES],
        files,
    )


_MADE = (
    "number BIGINT, space BIGINT, name TEXT, description TEXT, body BIGINT, level TEXT, at BIGINT, "
    "digest TEXT, archive TEXT, files TEXT"
)


def grow_postgres(url: str, words: Source, first: int, count: int) -> None:
    """Bring a database from `first` skills to `count`; indexes are made anew afterwards."""
    database = open_database(url)
    migrate(database)
    database.close()
    with psycopg.connect(url, autocommit=True) as db:
        db.execute("SET synchronous_commit = off; SET maintenance_work_mem = '1GB'; SET jit = off")
        if not first:
            _begin(db, words)
        indexes = db.execute(
            "SELECT indexname, indexdef FROM pg_indexes WHERE tablename IN ('skills', 'releases') "
            "AND indexdef NOT LIKE 'CREATE UNIQUE%'"
        ).fetchall()
        if count > 20_000:
            for name, _text in indexes:
                db.execute(f"DROP INDEX {name}".encode())
        db.execute(f"CREATE UNLOGGED TABLE made ({_MADE})".encode())
        with db.cursor() as cursor, cursor.copy("COPY made FROM STDIN") as copy:
            for skill in hub_data.skills(words, count, first):
                copy.write_row(_row(skill))
        db.execute("ANALYZE made")
        filled = _SKILLS.replace(
            "created_at, changed_at)", "created_at, changed_at, searched)"
        ).replace(
            "g.at, g.at FROM made g",
            "g.at, g.at, setweight(to_tsvector('english', replace(g.name, '-', ' ')), 'A') || "
            "setweight(to_tsvector('english', g.description), 'B') || b.words "
            "FROM made g JOIN bodies b ON b.number = g.body",
        )
        db.execute(filled.encode())
        db.execute("ANALYZE skills")
        db.execute(_RELEASES.encode())
        db.execute("DROP TABLE made")
        if count > 20_000:
            for _name, text in indexes:
                db.execute(text.encode())
        db.execute("VACUUM ANALYZE skills")
        db.execute("VACUUM ANALYZE releases")
        db.execute("CHECKPOINT")


def _begin(db: psycopg.Connection[tuple[object, ...]], words: Source) -> None:
    db.execute(
        "CREATE UNLOGGED TABLE bodies (number BIGINT PRIMARY KEY, body TEXT, words tsvector)"
    )
    with db.cursor() as cursor, cursor.copy("COPY bodies (number, body) FROM STDIN") as copy:
        for number, body in enumerate(hub_data.bodies(words)):
            copy.write_row((number, body))
    db.execute("UPDATE bodies SET words = setweight(to_tsvector('english', body), 'D')")
    db.execute("VACUUM FULL bodies")
    for sql, rows in _first_rows():
        for row in rows:
            db.execute(sql.replace("?", "%s").encode(), row)


def _first_rows() -> Iterator[tuple[str, list[tuple[object, ...]]]]:
    yield (
        "INSERT INTO organisations (name, created_at) VALUES (?, ?)",
        [(f"space-{one}", NOW) for one in range(SPACES)],
    )
    yield (
        "INSERT INTO namespaces (organisation_id, name, visibility, created_at) VALUES (?, ?, ?, ?)",
        [
            (one + 1, f"space-{one}", "private" if one % 2 else "public", NOW)
            for one in range(SPACES)
        ],
    )
    yield (
        "INSERT INTO blobs (sha256, size, who, created_at) VALUES (?, ?, ?, ?)",
        [
            (one, len(archive_of(number)), "token:0", NOW)
            for number, one in enumerate(ARCHIVE_HASHES)
        ],
    )


def grow_sqlite(path: str, words: Source, first: int, count: int) -> None:
    """Bring an embedded database from `first` skills to `count`."""
    database = open_database(path)
    migrate(database)
    database.close()
    db = sqlite3.connect(path)
    db.execute("PRAGMA synchronous = OFF")
    if not first:
        db.execute("CREATE TABLE bodies (number BIGINT PRIMARY KEY, body TEXT)")
        db.executemany("INSERT INTO bodies VALUES (?, ?)", enumerate(hub_data.bodies(words)))
        for sql, rows in _first_rows():
            db.executemany(sql, rows)
    db.execute(f"CREATE TEMP TABLE made ({_MADE})")
    made = map(_row, hub_data.skills(words, count, first))
    db.executemany("INSERT INTO made VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", made)
    db.execute(_SKILLS)
    db.execute(_RELEASES)
    db.execute(
        "INSERT INTO skill_words (rowid, name, description, body) SELECT s.id, "
        "replace(s.name, '-', ' '), s.description, b.body FROM made g "
        "JOIN skills s ON s.namespace_id = g.space + 1 AND s.folded = g.name "
        "JOIN bodies b ON b.number = g.body ORDER BY s.id"
    )
    db.execute("DROP TABLE made")
    db.commit()
    db.execute("ANALYZE")
    db.commit()
    db.close()
