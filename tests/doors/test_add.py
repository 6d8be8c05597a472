"""`metier add` as a person and a script meet it: the plan, the question, what is installed and what is refused."""

from __future__ import annotations

import os
import pty
import signal
import socket
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from doors.command import PATIENCE, environment, error_of, run
from doors.upstream import DANGEROUS, text_of
from fakes.workshop import Workshop

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Home, Writer
    from doors.upstream import Project, Upstream


def offered(tmp_path: Path, *names: str) -> str:
    """Write skills into a folder to add from."""
    for name in names:
        (tmp_path / "offer" / name).mkdir(parents=True)
        (tmp_path / "offer" / name / "SKILL.md").write_text(
            DANGEROUS.replace("bad", name) if name.startswith("bad") else text_of(name)
        )
    return str(tmp_path / "offer")


def test_the_plan_is_shown_and_the_skill_is_installed(project: Project, upstream: Upstream) -> None:
    answer = project("add", upstream.url, "--yes")

    assert (0, "") == (answer.code, answer.err)
    assert [
        "1 to install",
        f"from {upstream.source} at {upstream.head()[:10]}",
        "to .agents/skills",
        "",
        "STATE    SKILL  VERDICT  WHY",
        "install  pdf    safe     unverified source",
        "",
        "installed pdf: .agents/skills/pdf",
    ] == answer.out.splitlines()
    assert text_of("pdf") == project.file("pdf").read_text()
    assert (project.folder / "metier.lock").is_file()


def test_verbose_shows_everything_about_each_skill(project: Project, upstream: Upstream) -> None:
    answer = project("add", upstream.url, "--yes", "--verbose")

    assert (0, "") == (answer.code, answer.err)
    summary, _gap, first, cost, verdict, *rest = answer.out.splitlines()
    assert "1 to install" == summary
    assert f"install pdf  {upstream.source} skills/pdf" in first
    assert upstream.head()[:10] in first
    assert "2 files, " in cost
    assert " tokens" in cost
    assert "safe 0/100, level community: allow" in verdict
    assert "  to .agents/skills/pdf (folder)" in rest
    assert "installed pdf: .agents/skills/pdf" == rest[-1]


def test_the_document_is_exactly_the_contract_s(project: Project, tmp_path: Path) -> None:
    answer = project("add", offered(tmp_path, "pdf"), "--yes", "--json")

    assert (0, "") == (answer.code, answer.err)
    assert ["plan", "installed", "refused", "held", "notes", "dependencies"] == list(answer.json)
    assert ["add", "update", "remove", "conflicts"] == list(answer.json["plan"])
    assert (["pdf"], ["pdf"]) == (
        [one["name"] for one in answer.json["plan"]["add"]],
        [one["name"] for one in answer.json["installed"]],
    )


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_a_dry_run_shows_the_plan_and_changes_nothing(
    more: list[str], project: Project, tmp_path: Path
) -> None:
    answer = project("add", offered(tmp_path, "pdf"), "--dry-run", *more)

    assert (0, "") == (answer.code, answer.err)
    assert set() == project.left()
    if more:
        assert ([], ["pdf"]) == (
            answer.json["installed"],
            [one["name"] for one in answer.json["plan"]["add"]],
        )
    else:
        assert (True, True) == (
            answer.out.startswith("1 to install\n"),
            answer.out.endswith("nothing was changed\n"),
        )


def test_without_a_terminal_it_needs_yes_and_changes_nothing(
    project: Project, tmp_path: Path
) -> None:
    answer = project("add", offered(tmp_path, "pdf"))

    said, hint = error_of(answer)
    assert (2, True, True) == (answer.code, "no terminal" in said, "--yes" in hint)
    assert set() == project.left()


def test_a_document_never_asks(project: Project, tmp_path: Path) -> None:
    answer = project("add", offered(tmp_path, "pdf"), "--json")

    assert (2, "usage", "") == (answer.code, answer.json["code"], answer.err)
    assert set() == project.left()


@pytest.mark.parametrize(("reply", "code"), [(b"y\n", 0), (b"\n", 1), (b"no\n", 1)])
def test_on_a_terminal_it_asks_after_showing_the_plan(
    reply: bytes, code: int, project: Project, tmp_path: Path
) -> None:
    source = offered(tmp_path, "ocr", "pdf")
    outside, inside = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "metier", "add", source, "--all"],
        cwd=project.folder,
        stdin=inside,
        stdout=subprocess.PIPE,
        stderr=inside,
        env=environment(project.home.env),
    )
    os.close(inside)
    asked = b""
    while not asked.endswith(b"[y/N] "):
        asked += os.read(outside, 1024)

    os.write(outside, reply)
    process.communicate(timeout=PATIENCE)
    os.close(outside)

    assert asked.endswith(b"Install 2 skills? [y/N] ")
    assert b"2 to install\r\n" in asked
    assert b"\r\ninstall  ocr    safe " in asked
    assert (code, code == 0) == (process.returncode, project.file("pdf").exists())


def test_a_source_with_several_skills_lists_them_with_the_command_to_choose(
    project: Project, tmp_path: Path
) -> None:
    source = offered(tmp_path, "ocr", "pdf")

    answer, document = project("add", source), project("add", source, "--json")

    assert (1, "") == (answer.code, answer.err)
    assert ["NAME", "PATH", "DESCRIPTION"] in [line.split() for line in answer.out.splitlines()]
    assert f"metier add {source} --skill ocr" in answer.out
    assert (1, ["ocr", "pdf"]) == (
        document.code,
        [one["name"] for one in document.json["candidates"]],
    )
    assert set() == project.left()


def test_a_dangerous_skill_is_refused_with_its_findings_and_the_others_go_on(
    project: Project, tmp_path: Path
) -> None:
    source = offered(tmp_path, "bad", "pdf")

    answer = project("add", source, "--all", "--yes")
    again = project("add", source, "--skill", "bad", "--force", "--yes", "--json")
    whole = project("add", source, "--skill", "bad", "--dry-run", "-v")

    assert 1 == answer.code
    assert answer.out.startswith("1 to install, 1 refused: dangerous\n")
    assert "\nrefused  bad    dangerous  tells the agent to set its instructions" in answer.out
    assert "--accept-dangerous --reason TEXT\n" in answer.out
    assert ": SC" not in answer.out
    assert ": SC" in whole.out.partition("refused bad")[2]
    assert ["pdf"] == [path.name for path in (project.folder / ".agents" / "skills").iterdir()]
    assert (1, ["bad"]) == (again.code, [one["name"] for one in again.json["refused"]])
    assert ["name", "reasons", "findings", "verdict", "score"] == list(again.json["refused"][0])


def test_danger_is_accepted_only_by_name_and_with_a_reason(
    project: Project, tmp_path: Path
) -> None:  # MT-5
    source = offered(tmp_path, "bad")

    unreasoned = project("add", source, "--accept-dangerous", "--yes")
    accepted = project("add", source, "--accept-dangerous", "--reason", "A sample.", "--yes")

    assert (2, 0) == (unreasoned.code, accepted.code)
    assert "--reason" in error_of(unreasoned)[0]
    assert project.file("bad").exists()


@pytest.mark.parametrize("words", [("--project", "--user"), ("--skill", "x", "--all")])
def test_what_contradicts_itself_is_said_before_anything_is_fetched(
    words: tuple[str, ...], project: Project
) -> None:
    answer = project("add", "https://127.0.0.1:1/x.zip", *words)

    assert 2 == answer.code
    assert "contradict" in error_of(answer)[0]


def test_an_agent_that_follows_links_gets_one(project: Project, tmp_path: Path) -> None:
    answer = project("add", offered(tmp_path, "pdf"), "--to", "claude-code", "--yes")

    there = project.folder / ".claude" / "skills" / "pdf"
    assert 0 == answer.code
    assert "claude-code)" in answer.out
    assert text_of("pdf") == (there / "SKILL.md").read_text()
    assert not there.is_symlink() or there.resolve() == project.file("pdf").parent


def test_an_unknown_agent_is_an_error(project: Project, tmp_path: Path) -> None:
    answer = project("add", offered(tmp_path, "pdf"), "--to", "claude-cod", "--yes")

    assert 2 == answer.code
    assert "claude-code" in error_of(answer)[1]


def test_the_user_s_own_skills_are_in_the_home_folder(project: Project, tmp_path: Path) -> None:
    answer = project("add", offered(tmp_path, "pdf"), "--user", "--yes")

    assert 0 == answer.code
    assert (project.home.path / ".agents" / "skills" / "pdf" / "SKILL.md").is_file()
    assert set() == project.left()


def test_a_different_skill_of_that_name_is_not_overwritten(
    project: Project, tmp_path: Path
) -> None:
    project.file("pdf").parent.mkdir(parents=True)
    project.file("pdf").write_text(text_of("pdf", "Mine.\n"))

    answer = project("add", offered(tmp_path, "pdf"), "--yes")

    assert (1, text_of("pdf", "Mine.\n")) == (answer.code, project.file("pdf").read_text())
    assert "refused  pdf    -        .agents/skills/pdf is a different skill" in answer.out


def test_a_second_time_there_is_nothing_to_do(project: Project, tmp_path: Path) -> None:
    source = offered(tmp_path, "pdf")
    project("add", source, "--yes")

    answer = project("add", source, "--yes")

    assert (0, "nothing to do\nnote: already current: pdf\n", "") == answer


def test_what_a_stranger_wrote_does_not_speak_to_the_terminal(
    project: Project, tmp_path: Path
) -> None:
    for name in ("one", "two"):
        (tmp_path / "offer" / name).mkdir(parents=True)
        (tmp_path / "offer" / name / "SKILL.md").write_text(
            f'---\nname: {name}\ndescription: "x\\e[2J\\u202e"\n---\n\nDo it.\n'
        )

    answer = project("add", str(tmp_path / "offer"))

    assert 1 == answer.code
    assert [] == [char for char in answer.out if not char.isprintable() and char != "\n"]


@pytest.mark.loopback
def test_an_interrupted_fetch_ends_with_130_and_leaves_nothing(
    project: Project, tmp_path: Path
) -> None:
    config = tmp_path / "metier.toml"
    env = environment({**project.home.env, "METIER_CONFIG": str(config)})
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(PATIENCE)
        port = server.getsockname()[1]
        config.write_text(f'[supply]\nprivate_hosts = ["127.0.0.1:{port}"]\n')
        command = [
            sys.executable,
            "-m",
            "metier",
            "add",
            f"http://127.0.0.1:{port}/skill.zip",
            "--yes",
        ]

        with subprocess.Popen(
            command, cwd=project.folder, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, env=env
        ) as process:
            connection, _who = server.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(
                    b"HTTP/1.1 200 OK\r\nContent-Type: application/zip\r\nContent-Length: 100000\r\n\r\nPK\x03\x04"
                )
                time.sleep(0.2)  # so that it waits for more; nothing is measured
                process.send_signal(signal.SIGINT)
                _out, err = process.communicate(timeout=PATIENCE)

    assert (130, True) == (process.returncode, b"interrupted" in err)
    assert set() == project.left()


def test_its_help_shows_every_kind_of_source(home: Home) -> None:
    answer = run(home.env, "add", "--help")

    assert 0 == answer.code
    assert all(
        word in answer.out
        for word in (
            "marketplace:",
            ".git#",
            "./folder",
            "skill.zip",
            "https://example.com",
            "--dry-run",
        )
    )


def test_a_look_at_a_whole_folder_knows_from_the_start_how_many_it_scans(
    home: Home, skill: Writer, tmp_path: Path
) -> None:
    for name in ("pdf", "mail", "tax"):
        skill(f"home/source/{name}")
    told = list[tuple[int, int]]()

    with Workshop(home, tmp_path).open() as m:
        m.context.progress = lambda what, count, total: (
            told.append((count, total)) if what == "scanned" else None
        )
        m.add(str(home.path / "source"), all=True, dry_run=True)

    assert {3} == {total for _count, total in told}
