#!/usr/bin/env python3
import argparse, difflib, json, os, shutil, sys

FILE = os.path.join(".claude", "settings.json")
DENY = ["Read(./.env)", "Read(./.env.*)", "Read(./secrets/**)", "Read(./**/*.pem)", "Read(~/.ssh/**)", "Read(~/.aws/**)"]
ASK = ["Bash(git push:*)", "Bash(rm -rf:*)", "Bash(npm publish:*)", "Bash(terraform apply:*)", "Bash(kubectl delete:*)"]
WIDE = ("Bash", "Bash(*)", "Bash(:*)", "Bash(sudo:*)", "Bash(curl:*)", "Read(~/**)", "Read(//**)", "WebFetch")


def load():
    if not os.path.exists(FILE):
        return {}
    try:
        return json.load(open(FILE))
    except ValueError as e:
        sys.exit(f"{FILE} is not valid JSON: {e}")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("action", choices=("show", "harden"))
    ap.add_argument("--dry-run", action="store_true")
    a = ap.parse_args()
    cfg = load()
    old = json.dumps(cfg, indent=2) + "\n"
    perms = cfg.setdefault("permissions", {})
    if a.action == "show":
        for k in ("allow", "ask", "deny"):
            print(k + ":")
            for r in perms.get(k, []):
                print("   ", r, "  <- wide" if k == "allow" and r in WIDE else "")
        return
    for key, rules in (("deny", DENY), ("ask", ASK)):
        have = perms.setdefault(key, [])
        have += [r for r in rules if r not in have]
    new = json.dumps(cfg, indent=2) + "\n"
    sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), new.splitlines(True), FILE, FILE))
    if a.dry_run or new == old:
        print("nothing written")
        return
    os.makedirs(".claude", exist_ok=True)
    if os.path.exists(FILE):
        shutil.copy2(FILE, FILE + ".bak")
    with open(FILE, "w") as fh:
        fh.write(new)
    print("written", FILE)


if __name__ == "__main__":
    main()
