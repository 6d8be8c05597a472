#!/usr/bin/env python3
import argparse, os, re, socket, ssl, sys
from collections import defaultdict
from urllib.parse import unquote, urlparse


class Redis:
    def __init__(self, url):
        u = urlparse(url)
        s = socket.create_connection((u.hostname or "localhost", u.port or 6379), timeout=10)
        if u.scheme == "rediss":
            s = ssl.create_default_context().wrap_socket(s, server_hostname=u.hostname)
        self.s, self.f = s, s.makefile("rb")
        if u.password:
            self("AUTH", *([unquote(u.username)] if u.username else []), unquote(u.password))
        if u.path.strip("/"):
            self("SELECT", u.path.strip("/"))

    def send(self, *args):
        out = b"*%d\r\n" % len(args)
        for a in args:
            a = a if isinstance(a, bytes) else str(a).encode()
            out += b"$%d\r\n%s\r\n" % (len(a), a)
        self.s.sendall(out)

    def read(self):
        l = self.f.readline()
        if not l:
            raise OSError("connection closed")
        t, v = l[:1], l[1:-2]
        if t == b"+": return v.decode()
        if t == b"-": raise RuntimeError(v.decode())
        if t == b":": return int(v)
        if t == b"$":
            n = int(v)
            return None if n < 0 else self.f.read(n + 2)[:-2]
        if t == b"*": return [self.read() for _ in range(int(v))]
        raise RuntimeError("protocol: " + repr(l))

    def __call__(self, *args):
        self.send(*args)
        return self.read()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("url", nargs="?", default=os.environ.get("REDIS_URL", "redis://localhost:6379"))
    ap.add_argument("--limit", type=int, default=5000)
    a = ap.parse_args()
    try:
        r = Redis(a.url)
        info = dict(l.split(":", 1) for l in r("INFO").decode().split("\r\n") if ":" in l)
        for k in ("redis_version", "used_memory_human", "maxmemory_human", "maxmemory_policy", "connected_clients", "evicted_keys"):
            print(f"{k}: {info.get(k, '?')}")
        print("keys:", r("DBSIZE"))
        groups = defaultdict(lambda: [0, 0, 0, ""])
        big, cur, seen = [], b"0", 0
        while True:
            cur, keys = r("SCAN", cur, "COUNT", 200)
            for k in keys:
                ttl, typ = r("TTL", k), r("TYPE", k)
                try:
                    size = r("MEMORY", "USAGE", k) or 0
                except RuntimeError:
                    size = 0
                name = k.decode(errors="replace")
                p = re.sub(r"[0-9a-f]{8,}(-[0-9a-f]{4,})*|\d+", "*", name)
                g = groups[p]
                g[0] += 1; g[1] += size; g[2] += ttl == -1; g[3] = typ
                big.append((size, name)); seen += 1
            big = sorted(big, reverse=True)[:10]
            if cur == b"0" or seen >= a.limit:
                break
    except (OSError, RuntimeError) as e:
        sys.exit(f"redis: {e}")
    print(f"\nlooked at {seen} keys\n{'count':>8} {'bytes':>12} {'no ttl':>8}  type    pattern")
    for p, (n, b, nt, t) in sorted(groups.items(), key=lambda x: -x[1][1])[:25]:
        print(f"{n:8} {b:12} {nt:8}  {t:7} {p[:70]}")
    print("\nbiggest:")
    for size, name in big[:5]:
        print(f"{size:12}  {name[:80]}")


if __name__ == "__main__":
    main()
