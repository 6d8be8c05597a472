"""A project that was checked out from a stranger: its files may narrow what is shown, and never hang or break a listing."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from doors.command import run

import metier

if TYPE_CHECKING:
    from conftest import Home, Writer


@pytest.fixture
def project(tmp_path: Path, skill: Writer) -> Path:
    skill("project/.agents/skills/fine")
    (tmp_path / "project" / ".git").mkdir()
    (tmp_path / "project" / ".metier").mkdir()
    return tmp_path / "project"


TEXTS = {
    "not TOML": b"this is not TOML",
    "not UTF-8": b"\xff\xfe",
    "nuls": bytes(5_000),
    "deep lists": b"a = " + b"[" * 100_000,
    "deep tables": b"a = " + b"{a = " * 50_000,
    "deep keys": b"a" + b".a" * 200_000 + b" = 1",
    "deep keys in a table": b"x = {a" + b".a" * 200_000 + b" = 1}",
    "deep keys behind a sign": b'"="' + b".a" * 200_000 + b" = 1",
    "many tables": b"".join(b"[t%d]\n" % n for n in range(30_000)),
    "a long number": b"a = " + b"9" * 10_000,
    "a strange date": b"a = 2020-02-31",
    "huge": b"# x\n" * 500_000,
    "wrong types": b"limits = 3\nhide_unready = 'yes'\non_collision = []\nskills = 1\nexternal_dirs = 'x'\n",
    "wrong limits": b"[limits]\ndepth = -1\nfolders = 'x'\nentries = 1e9\nunknown = 1\n",
    "endless limits": b"[limits]\ndepth = 999999999999999999999\n",
    "wants folders": b"external_dirs = ['/', '~', '${HOME}']\nroot_markers = []\nprecedence = []\n",
    "wants rules": b"[[skills.config]]\nname = 'fine'\nenabled = false\n[skills]\ndisabled = ['fine']\n",
    "escapes": b'"\\u001b[31m" = 1\n"\\u202e" = 2\n',
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_whatever_a_project_s_file_says_the_listing_stands(
    text: bytes, project: Path, home: Home
) -> None:  # MT-17
    (project / ".metier" / "metier.toml").write_bytes(text)

    answer = run(home.env, "list", "--json", cwd=project)
    shown = run(home.env, "list", cwd=project)

    assert "Traceback" not in answer.err, answer.err
    assert (0, ["fine"]) == (answer.code, [row["name"] for row in answer.json["skills"]])
    assert not set("\x1b\u202e") & set(shown.out + shown.err)


@pytest.mark.parametrize(
    "text", [TEXTS["not TOML"], TEXTS["wrong types"], TEXTS["wants folders"], TEXTS["wants rules"]]
)
def test_what_a_project_may_not_have_is_said(text: bytes, project: Path, home: Home) -> None:
    (project / ".metier" / "metier.toml").write_bytes(text)

    answer = run(home.env, "list", cwd=project)

    assert "metier.toml" in answer.out + answer.err


@pytest.mark.parametrize("kind", ["pipe", "folder", "device", "loop", "nowhere"])
def test_a_project_s_file_that_is_no_file_hangs_nothing(
    kind: str, project: Path, home: Home
) -> None:
    target = project / ".metier" / "metier.toml"
    if kind == "pipe":
        os.mkfifo(target)
    elif kind == "folder":
        target.mkdir()
    else:
        target.symlink_to(
            {"device": "/dev/zero", "loop": "metier.toml", "nowhere": "nothing"}[kind]
        )

    answer = run(home.env, "list", "--json", cwd=project)

    assert (0, ["fine"]) == (answer.code, [row["name"] for row in answer.json["skills"]])


def test_a_project_s_packages_cannot_hang_a_listing(project: Path, home: Home) -> None:
    site = project / ".venv" / "lib" / "python3.11" / "site-packages"
    (site / "evil.dist-info").mkdir(parents=True)
    os.mkfifo(site / "evil.dist-info" / "RECORD")
    (site / "worse.dist-info").mkdir()
    (site / "worse.dist-info" / "RECORD").symlink_to("/dev/zero")

    answer = run(home.env, "list", "--json", cwd=project)

    assert (0, ["fine"]) == (answer.code, [row["name"] for row in answer.json["skills"]])


@pytest.mark.parametrize(
    "where",
    [
        ".venv/lib",
        ".venv/lib/python3.11/site-packages",
        ".venv/lib/python3.11/site-packages/x.dist-info",
        ".metier",
        ".venv",
    ],
)
def test_folders_of_a_project_that_nobody_may_read_break_nothing(
    where: str, project: Path, home: Home
) -> None:
    (project / where).mkdir(parents=True, exist_ok=True)
    (project / where).chmod(0)

    answer = run(home.env, "list", "--json", cwd=project, powerless=True)
    (project / where).chmod(0o755)

    assert (0, ["fine"]) == (answer.code, [row["name"] for row in answer.json["skills"]]), (
        answer.err
    )


@pytest.mark.parametrize(
    "record",
    [
        b"../../../outside/skills/evil/SKILL.md,,\n",
        b"/outside/skills/evil/SKILL.md,,\n",
        b"a\\..\\skills/evil/SKILL.md,,\n",
        b"\xff/skills/x/SKILL.md,,\n",
        b"a\0b/skills/x/SKILL.md,,\n",
        b"a\x0bb/skills/x/SKILL.md,,\n",
        b"/skills/x/SKILL.md,\n",
    ],
)
def test_a_package_s_record_cannot_name_folders_elsewhere(
    record: bytes, project: Path, home: Home, skill: Writer
) -> None:
    skill("outside/skills/evil")
    site = project / ".venv" / "lib" / "python3.11" / "site-packages"
    (site / "x.dist-info").mkdir(parents=True)
    (site / "x.dist-info" / "RECORD").write_bytes(record)

    for _ in range(2):
        answer = run(home.env, "list", "--all", "--json", cwd=project)
        assert (0, ["fine"]) == (answer.code, [row["name"] for row in answer.json["skills"]]), (
            answer.err
        )


def test_a_project_may_narrow(project: Path, home: Home) -> None:
    (project / ".metier" / "metier.toml").write_text(
        "on_collision = 'refuse'\nhide_unready = true\n[limits]\ndepth = 2\n"
    )

    settings = metier.open(env=home.env, cwd=project).context.settings

    assert ("refuse", True, 2, ()) == (
        settings.on_collision,
        settings.hide_unready,
        settings.project_limits and settings.project_limits.depth,
        settings.problems,
    )
