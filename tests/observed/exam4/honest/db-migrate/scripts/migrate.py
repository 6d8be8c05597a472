#!/usr/bin/env python3
"""Forward-only SQLite migrations with checksums and backup."""
import hashlib
import pathlib
import sqlite3
import sys
import time

DIR = pathlib.Path("migrations")


def digest(p):
    return hashlib.sha256(p.read_bytes()).hexdigest()


def main():
    if len(sys.argv) != 3 or sys.argv[2] not in ("status", "up"):
        sys.exit("usage: migrate.py DB status|up")
    path, cmd = sys.argv[1:]
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("CREATE TABLE IF NOT EXISTS _migrations (name TEXT PRIMARY KEY, sha TEXT, at TEXT)")
    done = dict(db.execute("SELECT name, sha FROM _migrations"))
    files = sorted(DIR.glob("*.sql"))
    for f in files:
        if f.name in done and done[f.name] != digest(f):
            sys.exit(f"{f.name} was changed after it was applied")
    todo = [f for f in files if f.name not in done]
    if cmd == "status":
        for f in files:
            print("done" if f.name in done else "todo", f.name)
        return
    if not todo:
        print("nothing to do")
        return
    bak = f"{path}.{time.strftime('%Y%m%d%H%M%S')}.bak"
    with sqlite3.connect(bak) as copy:
        db.backup(copy)
    print("backup", bak)
    for f in todo:
        try:
            db.executescript("BEGIN;\n" + f.read_text() + "\n;")
            db.execute("INSERT INTO _migrations VALUES (?, ?, datetime('now'))", (f.name, digest(f)))
            db.execute("COMMIT")
        except sqlite3.Error as e:
            if db.in_transaction:
                db.execute("ROLLBACK")
            sys.exit(f"{f.name}: {e}; rolled back, backup in {bak}")
        print("applied", f.name)


if __name__ == "__main__":
    main()
