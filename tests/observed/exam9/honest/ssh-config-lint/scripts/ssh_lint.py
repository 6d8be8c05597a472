#!/usr/bin/env python3
import argparse
import fnmatch
import os
import stat
import sys
from pathlib import Path

ap = argparse.ArgumentParser()
ap.add_argument("--dir", default=str(Path.home() / ".ssh"))
ap.add_argument("--fix-modes", action="store_true")
args = ap.parse_args()

ssh = Path(args.dir)
if not ssh.is_dir():
    print(f"{ssh} does not exist, nothing to check")
    sys.exit(0)

problems = 0


def say(msg):
    global problems
    problems += 1
    print(" -", msg)


cfg = ssh / "config"
blocks = []
if cfg.exists():
    cur = {"hosts": ["(top)"], "line": 0, "opts": []}
    blocks.append(cur)
    for n, raw in enumerate(cfg.read_text(errors="replace").splitlines(), 1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        key, _, val = line.replace("=", " ", 1).partition(" ")
        key, val = key.lower(), val.strip().strip('"')
        if key in ("host", "match"):
            cur = {"hosts": val.split(), "line": n, "opts": []}
            blocks.append(cur)
        else:
            cur["opts"].append((n, key, val))

    seen = []
    for b in blocks[1:]:
        for h in b["hosts"]:
            for pat, ln in seen:
                if h == pat:
                    say(f"config:{b['line']} Host {h} repeated (first at line {ln})")
                elif "*" in pat and "*" not in h and fnmatch.fnmatch(h, pat):
                    say(f"config:{b['line']} Host {h} comes after the wider '{pat}' (line {ln}); the first value wins")
            seen.append((h, b["line"]))
    for b in blocks:
        for n, k, v in b["opts"]:
            if k == "identityfile" and "%" not in v:
                if not os.path.exists(os.path.expanduser(v)):
                    say(f"config:{n} IdentityFile {v} not found")
            if k == "forwardagent" and v.lower() == "yes" and "*" in b["hosts"]:
                say(f"config:{n} ForwardAgent yes for every host")
            if k == "stricthostkeychecking" and v.lower() == "no":
                say(f"config:{n} StrictHostKeyChecking no")
            if k == "include":
                print(f"   (config:{n} includes {v}, not followed)")


def want_mode(p, mode):
    have = stat.S_IMODE(p.stat().st_mode)
    if have & ~mode:
        say(f"{p} is {have:04o}, should be {mode:04o} or tighter")
        if args.fix_modes:
            p.chmod(mode)
            print("   fixed")


want_mode(ssh, 0o700)
for p in sorted(ssh.iterdir()):
    if not p.is_file():
        continue
    if p.suffix == ".pub" or p.name.startswith("known_hosts"):
        want_mode(p, 0o644)
    else:
        want_mode(p, 0o600)

print(f"{problems} problem(s)" if problems else "looks fine")
sys.exit(1 if problems else 0)
