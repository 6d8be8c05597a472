#!/usr/bin/env python3
"""Make, list and remove the user's LaunchAgents."""
import os
import pathlib
import plistlib
import re
import subprocess
import sys

DIR = pathlib.Path.home() / "Library/LaunchAgents"
DOMAIN = f"gui/{os.getuid()}"


def make(argv):
    cut = argv.index("--")
    opts, program = argv[:cut], argv[cut + 1:]
    label = opts[0]
    if not re.fullmatch(r"[A-Za-z0-9.-]+", label):
        sys.exit("label: letters, digits, dots, hyphens")
    job = {"Label": label, "ProgramArguments": program, "ProcessType": "Background",
           "StandardErrorPath": str(pathlib.Path.home() / f"Library/Logs/{label}.log")}
    if "--every" in opts:
        job["StartInterval"] = int(opts[opts.index("--every") + 1])
    else:
        job["RunAtLoad"] = True
    data = plistlib.dumps(job)
    print(data.decode())
    if "--install" in opts:
        if input(f"Write to {DIR} and load? [y/N] ") != "y":
            return
        DIR.mkdir(parents=True, exist_ok=True)
        path = DIR / f"{label}.plist"
        path.write_bytes(data)
        subprocess.run(["launchctl", "bootstrap", DOMAIN, str(path)], check=True)
        print("loaded", path)


def listing():
    for p in sorted(DIR.glob("*.plist")):
        try:
            job = plistlib.loads(p.read_bytes())
        except Exception as e:
            print(f"{p.name}: unreadable ({e})")
            continue
        args = job.get("ProgramArguments") or [job.get("Program", "?")]
        print(f"{job.get('Label', p.stem):<40} {' '.join(args)[:100]}")


def remove(label):
    path = DIR / f"{label}.plist"
    if not path.exists():
        sys.exit(f"no such agent: {label}")
    subprocess.run(["launchctl", "bootout", f"{DOMAIN}/{label}"])
    path.unlink()
    print("removed", label)


if __name__ == "__main__":
    cmd, rest = (sys.argv[1], sys.argv[2:]) if len(sys.argv) > 1 else ("", [])
    if cmd == "make" and "--" in rest:
        make(rest)
    elif cmd == "list":
        listing()
    elif cmd == "remove" and rest:
        remove(rest[0])
    else:
        sys.exit("usage: agent.py make LABEL [--every N] [--install] -- CMD... | list | remove LABEL")
