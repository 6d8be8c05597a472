"""What hides behind a linked folder, a spelt-out name or a text made to take for ever."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import metier
from metier.standard.check import CheckedSkill, check
from metier.standard.document import read_document

if TYPE_CHECKING:
    from pathlib import Path

    import pytest
    from conftest import Home, Writer


def test_a_restriction_behind_a_linked_agents_folder_still_restricts(
    tmp_path: Path, home: Home, skill: Writer
) -> None:
    for name in ("alone", "beside"):
        folder = skill(f"skills/{name}")
        (tmp_path / "kept" / name).mkdir(parents=True)
        (tmp_path / "kept" / name / "openai.yaml").write_text(
            "policy:\n  allow_implicit_invocation: false\n"
        )
        (folder / "agents").symlink_to(tmp_path / "kept" / name)
    (tmp_path / "skills" / "beside" / "scripts").mkdir()

    with metier.open(roots=[str(tmp_path / "skills")], env=home.env) as library:
        states = {card.name: card.state for card in library.skills(all=True)}
        checked = [
            [note.code for note in one.diagnostics] for one in library.check(tmp_path / "skills")
        ]

    assert {"alone": "hidden", "beside": "hidden"} == states
    assert [["SK080"], ["SK080"]] == checked


def test_a_sidecar_that_appears_below_the_depth_limit_is_noticed(
    tmp_path: Path, home: Home, skill: Writer
) -> None:
    folder = skill("skills/" + "/".join("abcdefghijk") + "/deep")
    (folder / "agents").mkdir()
    with metier.open(roots=[str(tmp_path / "skills")], env=home.env) as library:
        before = [card.state for card in library.skills(all=True)]

    (folder / "agents" / "openai.yaml").write_text("policy:\n  allow_implicit_invocation: false\n")

    with metier.open(roots=[str(tmp_path / "skills")], env=home.env) as library:
        assert (["visible"], ["hidden"]) == (
            before,
            [card.state for card in library.skills(all=True)],
        )


def test_a_link_to_a_file_that_becomes_a_link_to_a_skill_is_noticed(
    tmp_path: Path, home: Home, skill: Writer
) -> None:
    skill("skills/one")
    target = tmp_path / "target"
    target.write_text("a file")
    (tmp_path / "skills" / "two").symlink_to(target)
    time.sleep(0.15)  # beyond the racy moment, so that the index is used
    with metier.open(roots=[str(tmp_path / "skills")], env=home.env) as library:
        before = [card.name for card in library.skills()]

    target.unlink()
    skill("target", name="two")

    with metier.open(roots=[str(tmp_path / "skills")], env=home.env) as library:
        assert (["one"], ["one", "two"]) == (before, sorted(card.name for card in library.skills()))


def test_a_code_skill_s_file_name_reaches_no_terminal_raw(
    tmp_path: Path, home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from metier.cli import main

    (tmp_path / "skills").mkdir()
    (tmp_path / "skills" / "a\x1b]0;title\x07  b.py").write_text("SKILL_NAME = 'x'\n")
    for name, value in home.env.items():
        monkeypatch.setenv(name, value)

    for words in (["list"], ["list", "--all"], ["check", str(tmp_path / "skills")]):
        main.main([*words, "--root", str(tmp_path / "skills")])

    assert set() == set("\x1b\x07") & set("".join(capsys.readouterr()))


def test_links_without_an_end_are_checked_in_one_pass() -> None:
    head = b"---\nname: x\ndescription: X.\n---\n"
    document = read_document(head, folder="x")
    assert document is not None

    for body in ("[a](" + "x" * 400_000, "[" * 400_000, "[a](b" * 80_000, "`references/" * 30_000):
        found = check(
            CheckedSkill(document, "SKILL.md", body, frozenset({"SKILL.md"}))
        )  # quadratic work would take minutes here
        assert all(note.line >= 1 for note in found)


def test_no_copy_of_the_process_outlives_a_kill(tmp_path: Path, home: Home) -> None:
    root = tmp_path / "skills"
    for number in range(2_500):
        (root / f"s{number}").mkdir(parents=True)
        (root / f"s{number}" / "SKILL.md").write_text(
            f"---\nname: s{number}\ndescription: X.\n---\n" + "word " * 200
        )
    words = [sys.executable, "-m", "metier", "list", "--json", "--root", str(root)]
    env = {**os.environ, **home.env}

    for delay in (0.05, 0.08, 0.12):
        process = subprocess.Popen(
            words,
            env=env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        process.wait()

    def left() -> bool:
        return (
            subprocess.run(["pgrep", "-f", str(root)], capture_output=True, check=False).returncode
            == 0
        )

    # What was begun may finish its half; then nobody reads, and it ends.
    waited = 0
    while left() and waited < 100:
        time.sleep(0.1)
        waited += 1
    assert not left()
