#!/usr/bin/env python3
import argparse
import stat
from pathlib import Path

HOME = Path.home()
PLACES = [
    ".aws/credentials", ".aws/config", ".netrc", ".pgpass", ".my.cnf", ".kube/config", ".npmrc",
    ".pypirc", ".docker/config.json", ".git-credentials", ".config/gh/hosts.yml", ".vault-token",
    ".config/gcloud/credentials.db", ".config/gcloud/application_default_credentials.json",
    ".azure/accessTokens.json", ".gnupg", ".ssh", ".password-store", ".env",
]


def candidates(extra):
    for rel in PLACES:
        yield HOME / rel
    yield from (p for p in (HOME / ".ssh").glob("*") if p.suffix != ".pub" and p.name != "known_hosts")
    for p in extra:
        yield p.expanduser()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--fix", action="store_true")
    ap.add_argument("--also", type=Path, action="append", default=[])
    a = ap.parse_args()
    loose = 0
    for path in candidates(a.also):
        try:
            st = path.stat()
        except OSError:
            continue
        mode = stat.S_IMODE(st.st_mode)
        if not mode & 0o077:
            print(f"ok     {mode:04o} {path}")
            continue
        loose += 1
        if a.fix:
            path.chmod(mode & ~0o077)
            print(f"fixed  {mode:04o} -> {mode & ~0o077:04o} {path}")
        else:
            print(f"LOOSE  {mode:04o} {path}")
    print(f"{loose} file(s) readable by others" + (" were tightened" if a.fix and loose else ""))


if __name__ == "__main__":
    main()
