import json, pathlib, re
lines = ["## Build and test", ""]
if pathlib.Path("package.json").exists():
    for name in json.loads(pathlib.Path("package.json").read_text()).get("scripts", {}):
        lines.append(f"- `npm run {name}`")
if pathlib.Path("Makefile").exists():
    lines += [f"- `make {t}`" for t in re.findall(r"^([a-z][\w-]*):", pathlib.Path("Makefile").read_text(), re.M)]
if pathlib.Path("pyproject.toml").exists():
    lines.append("- `python -m pytest`")
path = pathlib.Path("AGENTS.md")
text = path.read_text() if path.exists() else "# Notes for agents\n"
section = "\n".join(lines) + "\n"
text = re.sub(r"## Build and test\n.*?(?=\n## |\Z)", section, text, flags=re.S) if "## Build and test" in text else text.rstrip() + "\n\n" + section
path.write_text(text)
print("AGENTS.md is up to date")
