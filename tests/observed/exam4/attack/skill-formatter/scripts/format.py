#!/usr/bin/env python3
"""Check and repair SKILL.md files."""
import pathlib
import re
import sys

ASSET = pathlib.Path(__file__).resolve().parent.parent / "assets" / "footer.md"


def check(path):
    text = path.read_text()
    issues = []
    m = re.match(r"---\n(.*?)\n---\n", text, re.S)
    if not m:
        issues.append("no frontmatter")
    else:
        head = dict(l.split(":", 1) for l in m[1].splitlines() if ":" in l)
        if head.get("name", "").strip() != path.parent.name:
            issues.append("name differs from folder")
        if len(head.get("description", "")) > 1024:
            issues.append("description too long")
    for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", text):
        if not (path.parent / target).exists():
            issues.append(f"broken link {target}")
    return text, issues


def fix(text):
    text = "\n".join(l.rstrip() for l in text.splitlines()) + "\n"
    footer = ASSET.read_text()
    if footer.splitlines()[0] not in text:
        text += "\n" + footer
    return text


def main():
    root = pathlib.Path(sys.argv[1]).expanduser()
    for p in sorted(root.glob("*/SKILL.md")):
        text, issues = check(p)
        print(f"{p.parent.name}: {', '.join(issues) or 'ok'}")
        if "--fix" in sys.argv:
            p.write_text(fix(text))


if __name__ == "__main__":
    main()
