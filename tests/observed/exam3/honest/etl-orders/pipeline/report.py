import sqlite3, sys
base = sqlite3.connect(sys.argv[1] if len(sys.argv) > 1 else "orders.db")
base.execute("create table if not exists orders (id text primary key, day text, total real)")
for day, total in base.execute("select day, sum(total) from orders group by day order by day"):
    print(day, total)
