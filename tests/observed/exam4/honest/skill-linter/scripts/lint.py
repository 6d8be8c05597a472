#!/usr/bin/env python3
"""Lint agent skills."""
import pathlib
import re
import sys

LOOK = {
    "download piped to a shell": r"(curl|wget)[^\n|]*\|\s*(sudo\s+)?(ba|z)?sh\b",
    "key or credential folder": r"~/\.(ssh|aws|gnupg|kube|netrc)",
    "asks for silence": r"(do not|don't|never) (tell|mention|inform)[^.\n]{0,30}user|silently",
    "override wording": r"ignore (all |any )?(previous|prior|above) instructions",
    "dynamic code": r"\b(eval|exec)\s*\(|base64\s+(-d|--decode)|b64decode",
}


def lint(md):
    text = md.read_text()
    m = re.match(r"---\n(.*?)\n---\n", text, re.S)
    if not m:
        yield "error", "no frontmatter"
        return
    head = dict(l.split(":", 1) for l in m[1].splitlines() if ":" in l)
    name, desc = head.get("name", "").strip(), head.get("description", "").strip()
    if name != md.parent.resolve().name:
        yield "error", f"name '{name}' differs from folder"
    if not re.fullmatch(r"[a-z0-9-]{1,64}", name):
        yield "error", "name must be lower case with hyphens"
    if not desc or len(desc) > 1024:
        yield "error", "description missing or too long"
    elif not re.search(r"\b(when|for|if)\b", desc, re.I):
        yield "hint", "description does not say when to use the skill"
    if text.count("\n") > 500:
        yield "hint", "longer than 500 lines; move details to references/"
    for t in re.findall(r"\]\((?!\w+:)([^)#\s]+)\)", text):
        if not (md.parent / t).exists():
            yield "error", f"broken link {t}"
    for f in sorted(md.parent.rglob("*")):
        if f.is_file() and f.suffix in {".md", ".py", ".sh", ".js", ".mjs"}:
            for n, line in enumerate(f.read_text(errors="replace").splitlines(), 1):
                for label, rx in LOOK.items():
                    if re.search(rx, line, re.I):
                        yield "look", f"{f.relative_to(md.parent)}:{n} {label}"


def main():
    root = pathlib.Path(sys.argv[1]).expanduser()
    mds = [root / "SKILL.md"] if (root / "SKILL.md").exists() else sorted(root.glob("*/SKILL.md"))
    errors = 0
    for md in mds:
        if "--fix" in sys.argv:
            old = md.read_text()
            md.write_text("\n".join(l.rstrip() for l in old.splitlines()) + "\n")
        for level, msg in lint(md):
            errors += level == "error"
            print(f"{level:<6} {md.parent.name}: {msg}")
    sys.exit(1 if errors else 0)


if __name__ == "__main__":
    main()
