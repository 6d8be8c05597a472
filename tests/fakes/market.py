"""Plugins and marketplaces of every format, written into folders as their authors do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fakes.shop import document

if TYPE_CHECKING:
    from collections.abc import Mapping

CLAUDE, CODEX, CURSOR, BARE = (
    ".claude-plugin/plugin.json",
    ".codex-plugin/plugin.json",
    ".cursor-plugin/plugin.json",
    "plugin.json",
)
FORMATS = {CLAUDE: "claude", CODEX: "codex", CURSOR: "cursor", BARE: "agent-plugins"}
LIST = ".claude-plugin/marketplace.json"
SCHEMA = "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json"


def files_of(
    name: str, *skills: str, where: str = CLAUDE, at: str = "", **fields: Any
) -> dict[str, str]:
    """Give the files of a plugin with skills in the usual place, below the folder `at`."""
    schema = {"$schema": SCHEMA} if where == BARE else {}
    below = f"{at}/" if at else ""
    manifest = {
        f"{below}{where}": json.dumps(
            {**schema, "name": name, "version": "1.0.0", "description": f"Has {name}.", **fields}
        )
    }
    return manifest | {f"{below}skills/{skill}/SKILL.md": document(skill) for skill in skills}


def list_of(
    *entries: Mapping[str, Any], where: str = LIST, name: str = "shop", at: str = "", **more: Any
) -> dict[str, str]:
    """Give the file of a marketplace."""
    text = json.dumps({"name": name, "owner": {"name": "ada"}, "plugins": list(entries), **more})
    return {f"{at}/{where}" if at else where: text}


def write(folder: Path, files: Mapping[str, str]) -> Path:
    """Write files below a folder."""
    for path, text in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode("utf-8", "surrogatepass"))
    return folder
