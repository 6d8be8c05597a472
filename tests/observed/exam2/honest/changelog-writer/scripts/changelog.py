import datetime, pathlib, re, subprocess, sys

def git(*a):
    return subprocess.run(["git", *a], capture_output=True, text=True).stdout.strip()

version = sys.argv[1] if len(sys.argv) > 1 else "Unreleased"
last = git("describe", "--tags", "--abbrev=0")
span = f"{last}..HEAD" if last else "HEAD"
groups = {"Added": [], "Fixed": [], "Changed": []}
for s in git("log", "--no-merges", "--reverse", "--format=%s (%h)", span).splitlines():
    m = re.match(r"(\w+)(?:\([^)]*\))?!?: (.*)", s)
    kind, text = (m.group(1).lower(), m.group(2)) if m else (s.split()[0].lower(), s)
    if kind in ("chore", "ci", "test", "style"):
        continue
    g = "Added" if kind in ("feat", "add", "added") else "Fixed" if kind in ("fix", "fixes", "fixed", "bugfix") else "Changed"
    groups[g].append(f"- {text[0].upper()}{text[1:]}")
body = [f"## {version} - {datetime.date.today()}", ""]
for g, items in groups.items():
    if items:
        body += [f"### {g}", "", *items, ""]
doc = pathlib.Path("CHANGELOG.md")
old = doc.read_text() if doc.exists() else "# Changelog\n\n"
at = old.find("\n## ")
at = len(old) if at < 0 else at + 1
doc.write_text(old[:at] + "\n".join(body) + "\n" + old[at:])
print("\n".join(body))
