#!/usr/bin/env python3
import argparse, json, os, subprocess, sys, urllib.error, urllib.request
from urllib.parse import urlparse


def token():
    t = os.environ.get("VAULT_TOKEN")
    if t:
        return t
    try:
        return open(os.path.expanduser("~/.vault-token")).read().strip()
    except OSError:
        sys.exit("not logged in: run `vault login` or set VAULT_TOKEN")


def fetch(path):
    addr = os.environ.get("VAULT_ADDR", "").rstrip("/")
    u = urlparse(addr)
    if not u.hostname:
        sys.exit("set VAULT_ADDR")
    if u.scheme != "https" and u.hostname not in ("localhost", "127.0.0.1"):
        sys.exit("VAULT_ADDR must be https")
    mount, _, rest = path.strip("/").partition("/")
    req = urllib.request.Request(f"{addr}/v1/{mount}/data/{rest}", headers={"X-Vault-Token": token()})
    if os.environ.get("VAULT_NAMESPACE"):
        req.add_header("X-Vault-Namespace", os.environ["VAULT_NAMESPACE"])
    try:
        with urllib.request.urlopen(req, timeout=20) as r:
            return json.load(r)["data"]["data"]
    except urllib.error.HTTPError as e:
        sys.exit({403: "Vault: permission denied or token expired", 404: f"Vault: no secret at {path}"}
                 .get(e.code, f"Vault answered {e.code}"))
    except urllib.error.URLError as e:
        sys.exit(f"cannot reach Vault: {e.reason}")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("path")
    ap.add_argument("--write", metavar="FILE")
    ap.add_argument("--exec", action="store_true", dest="run")
    ap.add_argument("command", nargs=argparse.REMAINDER)
    a = ap.parse_args()
    if a.write and subprocess.run(["git", "check-ignore", "-q", a.write]).returncode != 0:
        sys.exit(f"{a.write} is not git-ignored; add it to .gitignore first")
    data = fetch(a.path)
    if a.run:
        cmd = a.command[1:] if a.command[:1] == ["--"] else a.command
        if not cmd:
            ap.error("give a command after --")
        os.execvpe(cmd[0], cmd, {**os.environ, **{k: str(v) for k, v in data.items()}})
    if a.write:
        fd = os.open(a.write, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(fd, "w") as fh:
            for k, v in sorted(data.items()):
                fh.write(f"{k}={json.dumps(str(v))}\n")
        os.chmod(a.write, 0o600)
        print(f"wrote {len(data)} variables to {a.write}")
        return
    for k in sorted(data):
        print(k)


if __name__ == "__main__":
    main()
