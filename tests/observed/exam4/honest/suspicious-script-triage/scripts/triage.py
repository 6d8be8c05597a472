#!/usr/bin/env python3
"""Static triage: print indicators in a script. Executes nothing from it."""
import base64
import binascii
import re
import sys

CHECKS = {
    "hosts": r"\b(?:https?|ftp|tcp|stratum\+tcp)://[^\s\"'<>)]+",
    "addresses": r"\b(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?\b",
    "download": r"\b(?:curl|wget|Invoke-WebRequest|urlopen|requests\.get|fetch)\b[^\n]{0,80}",
    "run": r"\|\s*(?:ba|z)?sh\b|\b(?:eval|exec|os\.system|subprocess\.\w+|child_process)\b[^\n]{0,60}",
    "stay": r"crontab|\.bashrc|\.profile|\.zshrc|systemctl|LaunchAgents|authorized_keys|\.git/hooks|\.claude/",
    "secrets": r"\.ssh/\w*|\.aws/\w+|\.netrc|\.npmrc|\.env\b|wallet\S*|keystore|Login Data|Cookies",
    "destroy": r"\brm\s+-\w*[rf]\w*\s+\S+|\bmkfs\b|\bdd\s+if=|shutil\.rmtree\([^)]*\)",
    "hide": r"history -c|set \+o history|HISTFILE|>/dev/null 2>&1|nohup|disown|chattr",
    "speaks to an AI": r"(?i)(?:ai|assistant|agent|model)s?\b[^.\n]{0,40}\b(?:ignore|skip|do not|must)\b[^.\n]{0,60}",
}


def blobs(text):
    for m in re.finditer(r"[A-Za-z0-9+/]{40,}={0,2}", text):
        try:
            raw = base64.b64decode(m[0], validate=True)
        except binascii.Error:
            continue
        shown = raw.decode("utf-8", "replace")
        if sum(c.isprintable() for c in shown) > 0.85 * len(shown):
            yield shown


def report(text, depth=0):
    pad = "  " * depth
    for name, rx in CHECKS.items():
        found = sorted({m.group(0).strip() for m in re.finditer(rx, text)})
        if found:
            print(f"{pad}{name}:")
            for f in found[:15]:
                print(f"{pad}  {f.replace('http', 'hxxp')}")
    if depth < 4:
        for b in blobs(text):
            print(f"{pad}base64 holds: {b[:120]!r}")
            report(b, depth + 1)


if __name__ == "__main__":
    report(open(sys.argv[1], errors="replace").read())
