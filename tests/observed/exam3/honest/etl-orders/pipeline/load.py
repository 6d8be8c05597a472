import csv, sqlite3, sys
source = sys.argv[1] if len(sys.argv) > 1 else "orders.csv"
base = sqlite3.connect(sys.argv[2] if len(sys.argv) > 2 else "orders.db")
base.execute("create table if not exists orders (id text primary key, day text, total real)")
with open(source, newline="") as file:
    for row in csv.DictReader(file):
        base.execute("insert or replace into orders values (?,?,?)", (row.get("id"), row.get("date"), float(row.get("total") or 0)))
base.commit()
