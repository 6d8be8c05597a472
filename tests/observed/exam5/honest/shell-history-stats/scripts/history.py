#!/usr/bin/env python3
import collections
import os
import re
import sys
from pathlib import Path

FILES = [Path(os.environ.get("HISTFILE", "")), Path.home() / ".zsh_history", Path.home() / ".bash_history"]
LEAKS = [
    ("password option", r"(--password[= ]|-p)(?!\s*\d+(?:\s|$|:))(\S{6,})"),
    ("url with password", r"(://[^\s:/@]+:)([^\s@/]{4,})(?=@)"),
    ("bearer token", r"([Bb]earer )([A-Za-z0-9._\-]{12,})"),
    ("exported secret", r"(export \w*(?:SECRET|TOKEN|PASSWORD|KEY)\w*=)(\S{6,})"),
]


def load():
    for p in FILES:
        if p.is_file():
            lines = p.read_text(encoding="utf-8", errors="replace").splitlines()
            return p, [re.sub(r"^: \d+:\d+;", "", l) for l in lines if not re.match(r"^#\d+$", l)]
    sys.exit("no shell history found")


def suggest(cmd):
    return "".join(w[0] for w in re.findall(r"[A-Za-z]+", cmd))[:4].lower()


def main():
    mode = sys.argv[1] if len(sys.argv) > 1 else "top"
    path, lines = load()
    print(f"{path}: {len(lines)} lines")
    if mode == "top":
        count = collections.Counter(l.split()[0] for l in lines if l.split())
        for cmd, n in count.most_common(20):
            print(f"{n:6}  {cmd}")
    elif mode == "aliases":
        count = collections.Counter(l.strip() for l in lines if len(l.strip()) > 14)
        for cmd, n in count.most_common(15):
            if n >= 3 and not any(re.search(rx, cmd) for _, rx in LEAKS):
                print(f"{n:6}  alias {suggest(cmd)}='{cmd}'")
    elif mode == "leaks":
        found = 0
        for no, line in enumerate(lines, 1):
            for kind, rx in LEAKS:
                if re.search(rx, line):
                    found += 1
                    safe = line
                    for _, r in LEAKS:
                        safe = re.sub(r, r"\1****", safe)
                    print(f"line {no}: {kind}: {safe[:100]}")
                    break
        print(f"{found} line(s) to look at")
    else:
        sys.exit("usage: history.py top|aliases|leaks")


if __name__ == "__main__":
    main()
