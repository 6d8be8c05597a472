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


def test_git_finds_a_whole_repository_with_some_work_that_is_not_committed(
    tmp_path: Path,
) -> None:
    folder = laid(tmp_path)

    assert " M docs/guide.md\n?? scratch.md\n" == git(folder, "status", "--porcelain")
    assert "+Prices are rounded to cents." in git(folder, "diff")
    assert "main\n" == git(folder, "branch", "--show-current")
    git(folder, "fsck", "--strict")


def test_the_project_has_a_past_by_two_people_with_releases(tmp_path: Path) -> None:
    folder = laid(tmp_path)
    log = git(folder, "log", "--format=%an %aI %s").splitlines()

    assert "Add the price list" == log[0].split(" ", 2)[2]
    assert 7 == len(log)
    assert 2 == len({line.split()[0] for line in log})
    assert "v1.0.0\nv1.1.0\nv1.2.0\n" == git(folder, "tag")
    assert git(folder, "describe").startswith("v1.2.0-1-g")
    assert "Dockerfile" in git(folder, "diff", "--stat", "v1.0.0..v1.1.0")
    assert "+MARGIN = 0.31" in git(folder, "diff", "v1.0.0..v1.1.0", "--", "src/app.py")
    assert 2 == len({line.split()[0] for line in git(folder, "blame", "README.md").splitlines()})
    assert "main\nprice-list\n" == git(folder, "branch", "--format=%(refname:short)")
    assert "7" == git(folder, "rev-list", "--count", "origin/HEAD").strip()
    assert 7 == len(git(folder, "reflog").splitlines())


def test_secrets_are_not_in_the_repository(tmp_path: Path) -> None:
    tracked = git(laid(tmp_path), "ls-files").split("\n")

    assert "src/app.py" in tracked
    assert [] == [
        path
        for path in tracked
        if path.startswith((".env", "node_modules", ".git/", "infra/terraform"))
    ]


def test_the_repository_can_be_pushed(tmp_path: Path) -> None:
    folder = laid(tmp_path / "project")
    git(tmp_path, "init", "-q", "--bare", "there.git")

    git(folder, "push", "-q", str(tmp_path / "there.git"), "main")

    assert "Add the price list\n" == git(tmp_path / "there.git", "log", "-1", "--format=%s", "main")
