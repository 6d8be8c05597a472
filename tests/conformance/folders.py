"""A made-up machine: a home, a project, an environment of its own, and short words to put skills in them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import metier
from metier.cli import main
from metier.model import Body, Card, Diagnostic, File, Problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pytest

    from metier.library import Library

DESCRIPTION = "What it does, and when to use it."


def write(path: Path, content: str | bytes = "", *, executable: bool = False) -> Path:
    """Write a file as it stands, with the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    if executable:
        path.chmod(0o755)
    return path


def skill(
    folder: Path,
    *,
    name: str | None = None,
    description: str = DESCRIPTION,
    fields: str = "",
    body: str = "Do it.\n",
    files: Mapping[str, str | bytes] | None = None,
) -> Path:
    """Write a skill that meets the standard, named like its folder; `fields` is more frontmatter, as it stands."""
    head = f"---\nname: {name or folder.name}\ndescription: {json.dumps(description, ensure_ascii=False)}\n{fields}---\n\n"
    write(folder / "SKILL.md", head + body)
    for path, content in (files or {}).items():
        write(folder / path, content)
    return folder


def plugin(folder: Path, name: str = "", kind: str = ".codex-plugin") -> Path:
    """Make a folder a plugin."""
    write(folder / kind / "plugin.json", json.dumps({"name": name}))
    return folder


class Place:
    """A machine in a temporary folder. Nothing outside it is read or written, except `/etc`."""

    def __init__(self, base: Path) -> None:
        """Make the folders; `root` stands for one that is named by hand."""
        self.base = base.resolve()
        self.home, self.project, self.root = (
            self.base / name for name in ("home", "project", "root")
        )
        for folder in (self.home, self.project, self.root):
            folder.mkdir(exist_ok=True)
        self.env = {
            "HOME": str(self.home),
            "METIER_SCAN_MODEL": "off",
            "METIER_BACKGROUND": "off",
            "METIER_HOME": str(self.base / "state"),
            "PATH": str(self.base / "bin"),
        }

    def configure(self, text: str) -> None:
        """Write the user's configuration."""
        self.env["METIER_CONFIG"] = str(write(self.base / "metier.toml", text))

    def open(self, *roots: Path, agent: str | None = None, cwd: Path | None = None) -> Library:
        """Open the library over roots given by hand; the one called `root` when none is given."""
        given = [str(root) for root in roots or (self.root,)]
        return metier.open(roots=given, agent=agent, cwd=cwd or self.project, env=self.env)

    def scopes(self, *, agent: str | None = None, cwd: Path | None = None) -> Library:
        """Open the library over the machine's own scopes."""
        return metier.open(agent=agent, cwd=cwd or self.project, env=self.env)


def cards(library: Library) -> dict[str, Card]:
    """Give every card by its path's last part; of several with one, the first."""
    found: dict[str, Card] = {}
    for card in library.skills(all=True):
        found.setdefault(Path(card.path).name, card)
    return found


def names(found: Iterable[Card]) -> list[str]:
    """List the names of cards, in their order."""
    return [card.name for card in found]


def only(library: Library) -> Card:
    """Give the one card there is."""
    (card,) = library.skills(all=True)
    return card


def codes(found: Iterable[Diagnostic | Problem]) -> list[str]:
    """List the codes of diagnostics or problems, in their order."""
    return [one.code for one in found]


def body(library: Library, name: str) -> Body:
    """View a skill's body."""
    shown = library.view(name)
    assert isinstance(shown, Body)
    return shown


def file(library: Library, name: str, path: str) -> File:
    """View one file of a skill."""
    shown = library.view(name, path)
    assert isinstance(shown, File)
    return shown


def run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, place: Place, *words: str
) -> tuple[int, Any]:
    """Run a command with `--json` on this machine; give its exit code and what it printed."""
    for name in (
        "METIER_CONFIG",
        "METIER_AGENT",
        "VIRTUAL_ENV",
        "XDG_DATA_HOME",
        "XDG_CONFIG_HOME",
        "CODEX_HOME",
    ):
        monkeypatch.delenv(name, raising=False)
    for name, value in place.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(place.project)
    code = main.main([*words, "--json"])
    return code, json.loads(capsys.readouterr().out)
