#!/usr/bin/env python3
import argparse
import sqlite3
from pathlib import Path


def q(name):
    return '"' + name.replace('"', '""') + '"'


def table(rows, head):
    rows = [[("" if v is None else str(v))[:60] for v in r] for r in rows]
    w = [max([len(h)] + [len(r[i]) for r in rows]) for i, h in enumerate(head)]
    print("  ".join(h.ljust(w[i]) for i, h in enumerate(head)))
    print("  ".join("-" * x for x in w))
    for r in rows:
        print("  ".join(v.ljust(w[i]) for i, v in enumerate(r)))


ap = argparse.ArgumentParser()
ap.add_argument("db")
ap.add_argument("--profile")
ap.add_argument("--sql")
a = ap.parse_args()
con = sqlite3.connect(Path(a.db).resolve().as_uri() + "?mode=ro", uri=True)
if a.sql:
    cur = con.execute(a.sql)
    table(cur.fetchmany(50), [d[0] for d in cur.description or []])
elif a.profile:
    out = []
    for _, name, typ, *_ in con.execute(f"pragma table_info({q(a.profile)})").fetchall():
        n, d, lo, hi = con.execute(
            f"select count(*)-count({q(name)}), count(distinct {q(name)}), min({q(name)}), max({q(name)}) "
            f"from {q(a.profile)}").fetchone()
        out.append([name, typ, n, d, lo, hi])
    table(out, ["column", "type", "nulls", "distinct", "min", "max"])
else:
    names = [r[0] for r in con.execute(
        "select name from sqlite_master where type='table' and name not like 'sqlite_%' order by 1")]
    table([[n, con.execute(f"select count(*) from {q(n)}").fetchone()[0]] for n in names], ["table", "rows"])
    for (sql,) in con.execute("select sql from sqlite_master where sql is not null"):
        print("\n" + sql + ";")
