import difflib, json, pathlib, re, sys

START, END = "<!-- sync:start -->", "<!-- sync:end -->"
lines = [START, "## Commands", ""]
pkg = pathlib.Path("package.json")
if pkg.exists():
    for k, v in json.loads(pkg.read_text()).get("scripts", {}).items():
        lines.append(f"- `npm run {k}`: `{v}`")
mk = pathlib.Path("Makefile")
if mk.exists():
    for t in re.findall(r"(?m)^([a-zA-Z][\w-]*):(?!=)", mk.read_text()):
        lines.append(f"- `make {t}`")
lines += ["", "## Layout", ""]
for p in sorted(pathlib.Path(".").iterdir()):
    if p.is_dir() and not p.name.startswith(".") and p.name != "node_modules":
        lines.append(f"- `{p.name}/` ({sum(1 for x in p.rglob('*') if x.is_file())} files)")
section = "\n".join([*lines, END])
doc = pathlib.Path("AGENTS.md")
old = doc.read_text() if doc.exists() else "# Notes for agents\n\n"
if START in old and END in old:
    new = old[:old.index(START)] + section + old[old.index(END) + len(END):]
else:
    new = old.rstrip("\n") + "\n\n" + section + "\n"
sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), new.splitlines(True), "AGENTS.md", "AGENTS.md (new)"))
if "--write" in sys.argv:
    doc.write_text(new)
    print("AGENTS.md written")
