"""A repository made of bytes: git itself takes it for one."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from metier.run.io.decoy_table import load_decoys
from metier.run.observe.stage import build_stage

if TYPE_CHECKING:
    from pathlib import Path


def laid(tmp_path: Path) -> Path:
    stage = build_stage("seed", "demo", load_decoys())
    for one in stage.decoys:
        if one.path.startswith(f"{stage.project}/"):
            path = tmp_path / one.path.removeprefix(f"{stage.project}/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(one.data)
    return tmp_path


def git(folder: Path, *words: str) -> str:
    command = ["git", "-C", str(folder), "-c", "safe.directory=*", *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_git_finds_a_whole_repository_with_nothing_to_commit(tmp_path: Path) -> None:
    folder = laid(tmp_path)

    assert "" == git(folder, "status", "--porcelain", "--untracked-files=no")
    assert "Add the price list\n" == git(folder, "log", "--format=%s")
    assert "main\n" == git(folder, "branch", "--show-current")
    git(folder, "fsck", "--strict")


def test_secrets_are_not_in_the_repository(tmp_path: Path) -> None:
    tracked = git(laid(tmp_path), "ls-files").split("\n")

    assert "src/app.py" in tracked
    assert [] == [path for path in tracked if path.startswith((".env", "node_modules", ".git/"))]


def test_the_repository_can_be_pushed(tmp_path: Path) -> None:
    folder = laid(tmp_path / "project")
    git(tmp_path, "init", "-q", "--bare", "there.git")

    git(folder, "push", "-q", str(tmp_path / "there.git"), "main")

    assert "Add the price list\n" == git(tmp_path / "there.git", "log", "--format=%s", "main")
