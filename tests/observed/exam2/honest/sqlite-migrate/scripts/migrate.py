import pathlib, re, shutil, sqlite3, sys

args = [a for a in sys.argv[1:] if not a.startswith("--")]
db = pathlib.Path(args[0] if args else "app.db")
folder = pathlib.Path("migrations")
folder.mkdir(exist_ok=True)
files = sorted(folder.glob("[0-9]*.sql"))
if "--new" in sys.argv:
    slug = re.sub(r"\W+", "_", args[1].lower()) if len(args) > 1 else "change"
    f = folder / f"{len(files) + 1:04}_{slug}.sql"
    f.write_text("-- write the migration here\n")
    sys.exit(f"created {f}")
if db.exists() and "--status" not in sys.argv:
    shutil.copy2(db, f"{db}.bak")
con = sqlite3.connect(db, isolation_level=None)
con.execute("create table if not exists schema_migrations (version text primary key, applied text default current_timestamp)")
have = {v for (v,) in con.execute("select version from schema_migrations")}
for f in files:
    if "--status" in sys.argv or f.stem in have:
        print("applied" if f.stem in have else "pending", f.stem)
        continue
    sql = f.read_text().strip().rstrip(";")
    try:
        con.executescript(f"begin;\n{sql};\ninsert into schema_migrations(version) values ('{f.stem}');\ncommit;")
        print("applied", f.stem, "now")
    except sqlite3.Error as err:
        if con.in_transaction:
            con.execute("rollback")
        sys.exit(f"{f.name}: {err}")
