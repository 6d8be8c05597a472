"""A marketplace of generated plugins for `bench/plugins.py`: a local folder, and in it plugins with
ten skills each.

Each skill is a SKILL.md of about 3 KB, one reference and one script, as in `supply_data.py`; all
have names of their own.
"""

from __future__ import annotations

import json
import os
import random
from typing import TYPE_CHECKING, NamedTuple

from supply_data import sentence, write

if TYPE_CHECKING:
    from pathlib import Path

NAME = "market"
SKILLS = 10
OLD_NS = 60 * 1_000_000_000
"""How far back the times of generated files are put: what was written just now is read again on
purpose."""


class Market(NamedTuple):
    """A marketplace folder."""

    folder: Path
    plugins: int

    @property
    def skills(self) -> int:
        """How many skills there are in all."""
        return self.plugins * SKILLS

    def ids(self) -> list[str]:
        """Give what each plugin is called."""
        return [f"{name_of(plugin)}@{NAME}" for plugin in range(self.plugins)]

    def skill(self, number: int) -> Path:
        """Give the folder of a skill."""
        plugin, at = divmod(number, SKILLS)
        return self.folder / "plugins" / name_of(plugin) / "skills" / skill_of(plugin, at)

    def change(self, number: int) -> None:
        """Add a line to one skill."""
        with (self.skill(number) / "SKILL.md").open("a", encoding="utf-8") as file:
            file.write("\nOne more line.\n")


def name_of(plugin: int) -> str:
    """Give the name of a plugin."""
    return f"plugin-{plugin:04}"


def skill_of(plugin: int, at: int) -> str:
    """Give the name of a skill, which no other plugin has."""
    return f"skill-{plugin:04}-{at}"


def made(folder: Path, plugins: int, seed: int = 7) -> Market:
    """Make a marketplace with so many plugins."""
    chance = random.Random(seed)  # noqa: S311 - the same words each time
    market = Market(folder, plugins)
    rows = []
    for plugin in range(plugins):
        name = name_of(plugin)
        rows.append(
            {
                "name": name,
                "source": f"./plugins/{name}",
                "version": "1.0.0",
                "description": sentence(chance),
            }
        )
        manifest = {"name": name, "version": "1.0.0", "description": sentence(chance)}
        _json(folder / "plugins" / name / ".claude-plugin" / "plugin.json", manifest)
        for number in range(plugin * SKILLS, (plugin + 1) * SKILLS):
            write(market.skill(number), number, chance)
    _json(
        folder / ".claude-plugin" / "marketplace.json",
        {"name": NAME, "owner": {"name": "a"}, "plugins": rows},
    )
    return market


def _json(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def stat_pass(folders: list[str]) -> int:
    """List and stat everything below some folders, as tightly as plain Python can; return how many
    entries there are.
    """
    scandir, waiting, count = os.scandir, list(folders), 0
    while waiting:
        with scandir(waiting.pop()) as entries:
            for entry in entries:
                count += 1
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                else:
                    entry.stat(follow_symlinks=False)
    return count
