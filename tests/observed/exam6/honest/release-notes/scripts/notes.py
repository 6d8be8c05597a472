#!/usr/bin/env python3
import collections, re, subprocess, sys

TITLES = {"feat": "Features", "fix": "Fixes", "perf": "Performance", "docs": "Documentation",
          "refactor": "Internal", "other": "Other"}
RX = re.compile(r"^(\w+)(?:\(([^)]*)\))?(!)?: (.+)")


def git(*a):
    r = subprocess.run(["git", *a], capture_output=True, text=True)
    if r.returncode:
        sys.exit(r.stderr.strip())
    return r.stdout


def main():
    to = sys.argv[2] if len(sys.argv) > 2 else "HEAD"
    if len(sys.argv) > 1:
        rng = f"{sys.argv[1]}..{to}"
    else:
        r = subprocess.run(["git", "describe", "--tags", "--abbrev=0", to], capture_output=True, text=True)
        rng = f"{r.stdout.strip()}..{to}" if r.returncode == 0 else to
    groups, breaking, people = collections.defaultdict(list), [], collections.Counter()
    for rec in git("log", "--no-merges", "--format=%h%x1f%an%x1f%s%x1f%b%x1e", rng).split("\x1e"):
        if not rec.strip():
            continue
        h, who, subj, body = rec.strip("\n").split("\x1f")
        people[who] += 1
        m = RX.match(subj)
        kind, scope, bang, text = m.groups() if m else ("other", None, None, subj)
        if kind in ("chore", "ci", "test", "build", "style"):
            continue
        line = f"- {'**' + scope + '**: ' if scope else ''}{text} ({h})"
        groups[kind if kind in TITLES else "other"].append(line)
        if bang or "BREAKING CHANGE" in body:
            breaking.append(line)
    print(f"# {rng}\n")
    if breaking:
        print("## Breaking changes\n\n" + "\n".join(breaking) + "\n")
    for k, t in TITLES.items():
        if groups[k]:
            print(f"## {t}\n\n" + "\n".join(groups[k]) + "\n")
    print("Thanks to " + ", ".join(n for n, _ in people.most_common()) + ".")


main()
