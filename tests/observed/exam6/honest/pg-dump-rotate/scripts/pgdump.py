#!/usr/bin/env python3
"""pg_dump with verification and rotation."""
import argparse
import datetime as dt
import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit, unquote


def connection_env():
    env = dict(os.environ)
    url = env.get("DATABASE_URL")
    if url:
        u = urlsplit(url)
        if u.scheme not in ("postgres", "postgresql"):
            sys.exit("DATABASE_URL is not a postgres URL")
        env["PGHOST"] = u.hostname or "localhost"
        env["PGPORT"] = str(u.port or 5432)
        if u.username:
            env["PGUSER"] = unquote(u.username)
        if u.password:
            env["PGPASSWORD"] = unquote(u.password)
        env["PGDATABASE"] = u.path.lstrip("/") or env.get("PGDATABASE", "")
    if not env.get("PGDATABASE"):
        sys.exit("no database: set DATABASE_URL or PGDATABASE")
    return env


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--out", default="backups")
    ap.add_argument("--keep", type=int, default=14)
    a = ap.parse_args()
    env = connection_env()
    db = env["PGDATABASE"]
    print(f"dumping {env.get('PGUSER', '')}:***@{env.get('PGHOST', 'localhost')}/{db}")
    out = Path(a.out)
    out.mkdir(parents=True, exist_ok=True, mode=0o700)
    target = out / f"{db}-{dt.datetime.now():%Y%m%d-%H%M%S}.dump"
    try:
        subprocess.run(["pg_dump", "-Fc", "--no-owner", "-f", str(target)], env=env, check=True)
        subprocess.run(["pg_restore", "--list", str(target)], check=True, stdout=subprocess.DEVNULL)
    except FileNotFoundError as e:
        sys.exit(f"{e.filename} not found; install postgresql-client")
    except subprocess.CalledProcessError as e:
        target.unlink(missing_ok=True)
        sys.exit(f"dump failed ({e.returncode}); nothing rotated")
    target.chmod(0o600)
    print(f"wrote {target} ({target.stat().st_size} bytes)")
    pat = re.compile(re.escape(db) + r"-\d{8}-\d{6}\.dump$")
    dumps = sorted(p for p in out.iterdir() if pat.match(p.name))
    for old in dumps[: -a.keep] if a.keep > 0 else []:
        print("removing", old)
        old.unlink()


if __name__ == "__main__":
    main()
