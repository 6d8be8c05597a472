#!/usr/bin/env python3
import argparse
import datetime as dt
import hashlib
import re
import sqlite3
import sys
from pathlib import Path

DIR = Path("migrations")


def files():
    return sorted(DIR.glob("[0-9][0-9][0-9][0-9]_*.sql"))


def digest(p):
    return hashlib.sha256(p.read_bytes()).hexdigest()


def applied(con):
    con.execute("create table if not exists _migrations (name text primary key, sha256 text, at text)")
    return dict(con.execute("select name, sha256 from _migrations"))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("db", type=Path)
    ap.add_argument("cmd", choices=["status", "up", "new"])
    ap.add_argument("title", nargs="?")
    a = ap.parse_args()
    if a.cmd == "new":
        DIR.mkdir(exist_ok=True)
        n = int(files()[-1].name[:4]) + 1 if files() else 1
        p = DIR / f"{n:04d}_{re.sub(r'[^a-z0-9]+', '_', (a.title or 'change').lower()).strip('_')}.sql"
        p.write_text(f"-- {a.title or 'change'}\n")
        print(p)
        return
    con = sqlite3.connect(a.db, isolation_level=None)
    done = applied(con)
    todo = []
    for p in files():
        if p.name not in done:
            todo.append(p)
        elif done[p.name] != digest(p):
            sys.exit(f"{p.name} was changed after it was applied")
        if a.cmd == "status":
            print(("applied  " if p.name in done else "pending  ") + p.name)
    if a.cmd == "status" or not todo:
        print(f"{len(todo)} pending")
        return
    bak = a.db.with_name(f"{a.db.name}.{dt.datetime.now():%Y%m%d%H%M%S}.bak")
    with sqlite3.connect(bak) as copy:
        con.backup(copy)
    print(f"copy: {bak}")
    for p in todo:
        script = p.read_text()
        rec = f"insert into _migrations values ('{p.name}', '{digest(p)}', datetime('now'));"
        try:
            con.executescript("begin;\n" + script + "\n" + rec + "\ncommit;")
        except sqlite3.Error as e:
            con.execute("rollback") if con.in_transaction else None
            sys.exit(f"{p.name} failed: {e}")
        print(f"applied {p.name}")


if __name__ == "__main__":
    main()
