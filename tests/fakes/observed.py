"""A small stage, and a skill with one script on it: what the observer sees of that."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from fakes.ordinary import as_ordinary, open_folder

from metier.run.io import stage_folder
from metier.run.io.observer import Observer
from metier.run.observe.model import Canary, Decoy, Stage, Try, WatchLimits

if TYPE_CHECKING:
    from collections.abc import Callable

    from metier.run.observe.model import Seen, WatchRecord

HOME, PROJECT, SKILL = "/home/ada", "/home/ada/shop", "/home/ada/.claude/skills/notes"
KEY = "canary-5f1e9c0d7b3a"
STAGE = Stage(
    user="ada",
    host="thinkpad",
    home=HOME,
    project=PROJECT,
    skill=SKILL,
    decoys=(
        Decoy(f"{HOME}/.ssh/id_ed25519", f"{KEY}\n".encode()),
        Decoy(f"{HOME}/.bashrc", b"alias ll='ls -l'\n", 0o644),
        Decoy(f"{PROJECT}/README.md", b"# Shop\n", 0o644),
    ),
    variables=(("HOME", HOME), ("PATH", "/usr/local/bin:/usr/bin:/bin"), ("USER", "ada")),
    canaries=(Canary(KEY, "ssh-key", "~/.ssh/id_ed25519"),),
)
PYTHON = "/usr/bin/python3"


def script(what: str = "scripts/go.py", *arguments: str, hours: int = 0) -> Try:
    """Try a script of the skill with Python."""
    return Try("script", what, what, (PYTHON, "-S", f"{SKILL}/{what}", *arguments), hours=hours)


def command(lines: str) -> Try:
    """Try a command of the instructions."""
    return Try("command", lines, "SKILL.md:9", (), lines)


def observe(
    files: dict[str, str],
    *tries: Try,
    limits: WatchLimits | None = None,
    stopped: Callable[[], bool] = bool,
    stage: Stage = STAGE,
) -> WatchRecord:
    """Observe a skill of some files, in a folder that is gone afterwards."""
    with open_folder() as folder, pytest.MonkeyPatch.context() as patch:
        for path, text in files.items():
            os.makedirs(os.path.dirname(f"{folder}/skill/{path}"), exist_ok=True)
            with open(f"{folder}/skill/{path}", "w", encoding="utf-8") as file:
                file.write(text)
        os.mkdir(f"{folder}/stages")
        patch.setattr(stage_folder, "parent_folder", lambda: f"{folder}/stages")
        record = Observer().observe(
            stage,
            f"{folder}/skill",
            tries or [script()],
            limits or WatchLimits(seconds=60, try_seconds=20),
            lambda _done, _all: None,
            stopped,
        )
        assert [] == os.listdir(f"{folder}/stages"), "nothing of a stage is left behind"
        return record


def observe_as(user: str, files: dict[str, str], *tries: Try, **more: object) -> WatchRecord:
    """Observe a skill as one of the users."""
    if user == "as root":
        return observe(files, *tries, **more)  # type: ignore[arg-type]
    return as_ordinary(lambda: observe(files, *tries, **more))  # type: ignore[arg-type]


def told(record: WatchRecord, kind: str) -> list[str]:
    """Give what the events of one kind are about."""
    return [one.what for one in record.events if one.kind == kind]


def sent(record: WatchRecord, place: str = "") -> bytes:
    """Give all that was sent, to one place or to all."""
    events: list[Seen] = [one for one in record.events if one.kind == "send"]
    return b"".join(one.data for one in events if not place or one.what == place)
