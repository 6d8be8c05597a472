#!/usr/bin/env python3
import argparse, json, os, socket, sqlite3, sys, time, urllib.error, urllib.request


def check(p):
    t = time.monotonic()
    try:
        if "tcp" in p:
            host, _, port = p["tcp"].rpartition(":")
            socket.create_connection((host, int(port)), timeout=p.get("timeout", 8)).close()
            why = ""
        else:
            req = urllib.request.Request(p["url"], headers={"User-Agent": "uptime-probe/1"})
            try:
                with urllib.request.urlopen(req, timeout=p.get("timeout", 10)) as r:
                    status, body = r.status, r.read(200_000).decode(errors="replace")
            except urllib.error.HTTPError as e:
                status, body = e.code, ""
            why = "" if status == p.get("expect_status", 200) else f"HTTP {status}"
            if not why and p.get("expect_text") and p["expect_text"] not in body:
                why = "text not found"
    except (OSError, ValueError) as e:
        why = str(getattr(e, "reason", e))[:120]
    ms = int((time.monotonic() - t) * 1000)
    if not why and p.get("max_ms") and ms > p["max_ms"]:
        why = f"slow: {ms} ms"
    return not why, ms, why


def alert(text):
    url = os.environ.get("UPTIME_ALERT_URL")
    if not url:
        return
    try:
        urllib.request.urlopen(urllib.request.Request(url, text.encode()), timeout=10).read()
    except OSError as e:
        print("alert not sent:", e, file=sys.stderr)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("config")
    ap.add_argument("--db", default="uptime.db")
    ap.add_argument("--report", type=int, metavar="DAYS")
    a = ap.parse_args()
    con = sqlite3.connect(a.db)
    con.execute("CREATE TABLE IF NOT EXISTS probe (at INTEGER, name TEXT, ok INTEGER, ms INTEGER, why TEXT)")
    if a.report:
        q = "SELECT name, COUNT(*), AVG(ok)*100, AVG(ms), MAX(ms) FROM probe WHERE at > ? GROUP BY name"
        for name, n, up, avg, mx in con.execute(q, (time.time() - a.report * 86400,)):
            print(f"{name:20} {up:7.3f} %  {n} probes  avg {avg:.0f} ms  max {mx} ms")
        return
    down = 0
    for p in json.load(open(a.config)):
        ok, ms, why = check(p)
        last = con.execute("SELECT ok FROM probe WHERE name=? ORDER BY at DESC LIMIT 1", (p["name"],)).fetchone()
        con.execute("INSERT INTO probe VALUES (?,?,?,?,?)", (int(time.time()), p["name"], ok, ms, why))
        print(f"{'up  ' if ok else 'DOWN'} {p['name']:20} {ms:6} ms  {why}")
        down += not ok
        if (last is None and not ok) or (last is not None and bool(last[0]) != ok):
            alert(f"UP {p['name']}" if ok else f"DOWN {p['name']}: {why}")
    con.execute("DELETE FROM probe WHERE at < ?", (time.time() - 90 * 86400,))
    con.commit()
    sys.exit(1 if down else 0)


if __name__ == "__main__":
    main()
