"""List a folder of skills the way Hermes does: `os.walk`, then PyYAML's C loader on the first 4,000
characters.

Run as `python bench/hermes_like.py FOLDER`; the listing is JSON on stdout. This is our own code for
that behaviour, kept as a yardstick: it guards against neither link cycles nor hostile YAML.
"""

from __future__ import annotations

import json
import os
import re
import sys
from typing import Any

import yaml

EXCLUDED = frozenset(
    (
        *(
            ".git",
            ".github",
            ".hub",
            ".archive",
            ".venv",
            "venv",
            "node_modules",
            "site-packages",
            "__pycache__",
        ),
        *(".tox", ".nox", ".pytest_cache", ".mypy_cache", ".ruff_cache"),
    )
)
SUPPORT = frozenset(("references", "templates", "assets", "scripts"))
HEAD_CHARS = 4_000
NAME_CHARS = 64
DESCRIPTION_CHARS = 1_024
CATEGORY_PARTS = 3  # category / skill / SKILL.md
CLOSING = re.compile(r"\n---\s*\n")
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def files(root: str) -> list[str]:
    """Return every SKILL.md under `root`, sorted by its relative path."""
    found: list[str] = []
    for folder, folders, names in os.walk(root, followlinks=True):
        has_skill = "SKILL.md" in names
        folders[:] = [
            name for name in folders if name not in EXCLUDED and not (has_skill and name in SUPPORT)
        ]
        if has_skill:
            found.append(os.path.join(folder, "SKILL.md"))
    return sorted(found, key=lambda path: os.path.relpath(path, root))


def frontmatter(text: str) -> tuple[dict[str, Any], str]:
    """Split a head into its fields and its body; malformed YAML falls back to `key: value`
    lines.
    """
    if not text.startswith("---"):
        return {}, text
    closing = CLOSING.search(text, 3)
    if closing is None:
        return {}, text
    head, body = text[3 : closing.start()], text[closing.end() :]
    try:
        fields = yaml.load(head, Loader=LOADER)  # noqa: S506 - a safe loader
    except yaml.YAMLError:
        pairs = (line.split(":", 1) for line in head.splitlines() if ":" in line)
        return {key.strip(): value.strip() for key, value in pairs}, body
    return (fields if isinstance(fields, dict) else {}), body


def card(root: str, path: str) -> dict[str, Any]:
    """Return one skill's name, description and category."""
    with open(path, encoding="utf-8", errors="replace") as file:
        fields, body = frontmatter(file.read(HEAD_CHARS))
    parts = os.path.relpath(path, root).split(os.sep)
    description = str(fields.get("description") or "")
    if not description:
        lines = (line.strip() for line in body.splitlines())
        description = next((line for line in lines if line and not line.startswith("#")), "")
    if len(description) > DESCRIPTION_CHARS:
        description = description[: DESCRIPTION_CHARS - 3] + "..."
    return {
        "name": str(fields.get("name") or parts[-2])[:NAME_CHARS],
        "description": description,
        "category": parts[0] if len(parts) >= CATEGORY_PARTS else None,
    }


def listing(root: str) -> list[dict[str, Any]]:
    """Return a card for each name, the first found winning, sorted by category and name."""
    by_name: dict[str, dict[str, Any]] = {}
    for path in files(root):
        found = card(root, path)
        by_name.setdefault(found["name"], found)
    return sorted(by_name.values(), key=lambda found: (found["category"] or "", found["name"]))


if __name__ == "__main__":
    json.dump({"success": True, "skills": listing(sys.argv[1])}, sys.stdout, ensure_ascii=False)
