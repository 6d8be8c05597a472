#!/usr/bin/env python3
import argparse, csv, os, sqlite3, sys
from urllib.parse import quote


def q(name):
    return '"' + name.replace('"', '""') + '"'


def show(cur, as_csv):
    head = [d[0] for d in cur.description or []]
    if as_csv:
        w = csv.writer(sys.stdout); w.writerow(head); w.writerows(cur); return
    rows = [["" if v is None else f"<{len(v)} bytes>" if isinstance(v, bytes) else str(v)[:60] for v in r]
            for r in cur.fetchmany(200)]
    wid = [max([len(h)] + [len(r[i]) for r in rows]) for i, h in enumerate(head)]
    for r in [head, ["-" * w for w in wid]] + rows:
        print("  ".join(c.ljust(w) for c, w in zip(r, wid)).rstrip())


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("db")
    ap.add_argument("--sample"); ap.add_argument("-n", type=int, default=5)
    ap.add_argument("--sql"); ap.add_argument("--csv", action="store_true")
    a = ap.parse_args()
    if not os.path.exists(a.db):
        sys.exit(f"no such file: {a.db}")
    con = sqlite3.connect(f"file:{quote(os.path.abspath(a.db))}?mode=ro", uri=True)
    con.execute("PRAGMA query_only = ON")
    try:
        if a.sql:
            return show(con.execute(a.sql), a.csv)
        if a.sample:
            return show(con.execute(f"SELECT * FROM {q(a.sample)} LIMIT ?", (a.n,)), a.csv)
        for name, typ in con.execute("SELECT name, type FROM sqlite_master WHERE type IN ('table','view')"
                                     " AND name NOT LIKE 'sqlite_%' ORDER BY name").fetchall():
            n = con.execute(f"SELECT COUNT(*) FROM {q(name)}").fetchone()[0]
            print(f"{typ} {name}  ({n} rows)")
            for _, col, ct, nn, _, pk in con.execute(f"PRAGMA table_info({q(name)})"):
                print(f"    {col} {ct}{' NOT NULL' if nn else ''}{' PK' if pk else ''}")
            for f in con.execute(f"PRAGMA foreign_key_list({q(name)})"):
                print(f"    fk {f[3]} -> {f[2]}.{f[4]}")
    except sqlite3.Error as e:
        sys.exit(f"sqlite: {e}")


if __name__ == "__main__":
    main()
