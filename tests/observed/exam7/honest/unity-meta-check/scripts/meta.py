import os
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
assets = root / "Assets"
if not assets.is_dir():
    sys.exit(f"{assets} not found; give the project folder")
GUID = re.compile(r"^guid: ([0-9a-f]{32})", re.M)
REF = re.compile(r"guid: ([0-9a-f]{32})")
owners, n = {}, 0


def index(folder):
    for d, _, files in os.walk(folder):
        for f in files:
            if f.endswith(".meta"):
                p = pathlib.Path(d, f)
                m = GUID.search(p.read_text(errors="replace"))
                if m:
                    owners.setdefault(m[1], []).append(p)


def say(kind, text):
    global n
    n += 1
    print(f"{kind:10}{text}")


index(assets)
own = dict(owners)
for extra in ("Packages", "Library/PackageCache"):
    index(root / extra)
for d, dirs, files in os.walk(assets):
    dirs[:] = [x for x in dirs if not x.startswith(".") and not x.endswith("~")]
    names = set(files) | set(dirs)
    for x in sorted(names):
        rel = os.path.relpath(os.path.join(d, x), root)
        if x.endswith(".meta"):
            if x[:-5] not in names:
                say("ORPHAN", rel)
        elif not x.startswith(".") and x + ".meta" not in names:
            say("MISSING", rel)
for g, ps in own.items():
    if len(ps) > 1:
        say("DUPLICATE", g + " " + ", ".join(str(p.relative_to(root)) for p in ps))
for ext in ("prefab", "unity", "asset", "mat", "controller"):
    for p in assets.rglob(f"*.{ext}"):
        head = p.open("rb").read(5)
        if head != b"%YAML":
            continue
        for g in sorted(set(REF.findall(p.read_text(errors="replace")))):
            if g not in owners and not g.startswith("0" * 12):
                say("DANGLING", f"{p.relative_to(root)} -> {g}")
print(f"{n} problems")
sys.exit(bool(n))
