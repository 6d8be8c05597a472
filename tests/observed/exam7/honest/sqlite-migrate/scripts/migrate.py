import argparse
import pathlib
import sqlite3
import sys

ap = argparse.ArgumentParser()
ap.add_argument("db")
ap.add_argument("what", choices=["status", "up"])
ap.add_argument("--dir", default="migrations")
ap.add_argument("--dry-run", action="store_true")
a = ap.parse_args()

files = {}
for p in sorted(pathlib.Path(a.dir).glob("[0-9]*_*.sql")):
    n = int(p.name.split("_")[0])
    if n in files:
        sys.exit(f"two migrations numbered {n}: {files[n].name}, {p.name}")
    files[n] = p

con = sqlite3.connect(a.db, isolation_level=None)
have = con.execute("pragma user_version").fetchone()[0]
todo = [n for n in sorted(files) if n > have]
print(f"{a.db}: version {have}, {len(todo)} to apply")
for n in todo:
    print(f"  {files[n].name}")
if a.what == "status" or a.dry_run or not todo:
    sys.exit(0)

bak = sqlite3.connect(f"{a.db}.v{have}.bak")
con.backup(bak)
bak.close()
for n in todo:
    try:
        con.executescript(f"begin;\n{files[n].read_text()}\n;pragma user_version={n};\ncommit;")
    except sqlite3.Error as e:
        if con.in_transaction:
            con.execute("rollback")
        sys.exit(f"{files[n].name} failed, rolled back: {e}")
    print(f"applied {files[n].name}")
bad = con.execute("pragma foreign_key_check").fetchall()
if bad:
    print(f"note: {len(bad)} foreign key violations", file=sys.stderr)
