"""A project with an open library, and a real git repository of skills that it installs from."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from doors.upstream import LINES, Upstream, text_of

import metier

if TYPE_CHECKING:
    from conftest import Home

    from metier.library import Library
    from metier.supply.model import Outcome, Plan

PLAIN = text_of("pdf")


def changed(*lines: int, to: str = "Newer line", body: str = LINES) -> str:
    """Give the skill `pdf` with some of its lines changed."""
    for line in lines:
        body = body.replace(f"Line {line} ", f"{to} {line} ")
    return text_of("pdf", body)


class Workshop:
    """Gives commands to a library in a project, edits what lies there, and publishes new versions upstream."""

    def __init__(self, home: Home, tmp_path: Path, config: str = "") -> None:
        """Make a project, and a repository with the skills `pdf` and `ocr`."""
        self.upstream = Upstream(tmp_path / "upstream")
        self.upstream.commit(
            {
                "skills/pdf/SKILL.md": PLAIN,
                "skills/pdf/scripts/fill.sh": "echo filled\n",
                "skills/ocr/SKILL.md": text_of("ocr"),
            }
        )
        self.home, self.folder = home, tmp_path / "project"
        (self.folder / ".git").mkdir(parents=True)
        self.config = tmp_path / "metier.toml"
        self.config.write_text(config)
        self.asked: list[Plan] = []

    @property
    def data(self) -> Path:
        """Where metier keeps its own files."""
        return Path(self.home.env["METIER_HOME"])

    def open(self) -> Library:
        """Open the library of the project."""
        return metier.open(env=self.home.env, cwd=self.folder, config=self.config)

    def yes(self, outcome: Outcome) -> bool:
        """Agree to a plan, and remember it."""
        self.asked.append(outcome.plan)
        return True

    def add(self, *skills: str, to: tuple[str, ...] = ()) -> Outcome:
        """Install skills of the repository."""
        with self.open() as m:
            return m.add(self.upstream.url, skills=skills or ("pdf",), to=to, consent=self.yes)

    def update(self, *names: str) -> Outcome:
        """Update, and agree to what is planned."""
        with self.open() as m:
            return m.update(names, consent=self.yes)

    def publish(self, files: dict[str, str | None] | str) -> str:
        """Commit files of `pdf`, or its document, upstream."""
        files = {"SKILL.md": files} if isinstance(files, str) else files
        return self.upstream.commit({f"skills/pdf/{path}": text for path, text in files.items()})

    def file(self, path: str = "SKILL.md", name: str = "pdf") -> Path:
        """Give a file of a working copy."""
        return self.folder / ".agents" / "skills" / name / path

    def edit(self, text: str, path: str = "SKILL.md") -> None:
        """Change a file of the working copy, as a person would."""
        self.file(path).parent.mkdir(parents=True, exist_ok=True)
        self.file(path).write_text(text)

    def stamps(self) -> dict[str, int]:
        """Give when each file of the project, and of all that metier keeps but caches and quarantine, was last written."""
        own = {"cache", "index", "staging", "state.db", "state.db-wal", "state.db-shm"}
        tops = [self.folder, *(path for path in self.data.iterdir() if path.name not in own)]
        return {
            str(path): path.lstat().st_mtime_ns for top in tops for path in (top, *top.rglob("*"))
        }

    def states(self) -> dict[str, bytes]:
        """Give the bytes of everything that a user would miss: the project, and all that metier keeps but caches and quarantine."""
        found = {}
        for top in (self.folder, self.data / "supply", self.data / "store", self.data / "merges"):
            for folder, _folders, files in os.walk(top):
                for name in files:
                    path = Path(folder) / name
                    found[str(path)] = b"link" if path.is_symlink() else path.read_bytes()
        return found
