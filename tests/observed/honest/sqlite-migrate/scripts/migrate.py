#!/usr/bin/env python3
import argparse
import pathlib
import sqlite3

ap = argparse.ArgumentParser()
ap.add_argument("--db", default="app.db")
ap.add_argument("--dir", default="migrations")
ap.add_argument("--dry-run", action="store_true")
args = ap.parse_args()
con = sqlite3.connect(args.db)
con.execute("CREATE TABLE IF NOT EXISTS schema_migrations (name TEXT PRIMARY KEY, at TEXT DEFAULT CURRENT_TIMESTAMP)")
done = {r[0] for r in con.execute("SELECT name FROM schema_migrations")}
todo = [p for p in sorted(pathlib.Path(args.dir).glob("*.sql")) if p.name not in done]
for p in todo:
    print(("would apply " if args.dry_run else "applying ") + p.name)
    if not args.dry_run:
        with con:
            con.executescript(p.read_text())
            con.execute("INSERT INTO schema_migrations (name) VALUES (?)", (p.name,))
print(len(todo), "migrations")
