"""Eight processes list and index one library while a ninth edits it, and some of them are killed: no error, nothing stale."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from doors.command import PATIENCE, environment, run

import metier

if TYPE_CHECKING:
    from conftest import Home

READERS = 8
SKILLS = 150
SECONDS = 3.0
"""How long they work. Nothing is measured: only what was seen is judged."""

# The editor counts its steps in a file: odd while it is at work, even when a version is complete.
READER = r"""
import json, os, sys
import metier

root, counter, stop = sys.argv[1:4]
seen = {"looks": 0, "quiet": 0, "faults": []}

def step():
    with open(counter, "rb") as file:
        return int(file.read() or b"0")

while not os.path.exists(stop):
    before = step()
    try:
        with metier.open(roots=[root]) as library:
            how = seen["looks"] % 3
            if how == 0:
                rows = {card.name: card.description for card in library.skills(all=True)}
            elif how == 1:
                rows = {row["name"]: row["description"] for row in json.loads(library.listing())["skills"]}
            else:
                rows = {card.name: card.description for card in library.skills(digests=True) if card.name}
            if library.context.warnings:
                seen["faults"].append(f"warnings: {library.context.warnings}")
    except Exception as error:
        seen["faults"].append(repr(error))
        break
    after = step()
    seen["looks"] += 1
    version = rows.get("versioned", "")
    number = int(version[1:]) if version[:1] == "v" and version[1:].isdigit() else None
    if number is not None and not before // 2 <= number <= (after + 1) // 2:
        seen["faults"].append(f"stale: {version} between steps {before} and {after}")
    if before == after and before % 2 == 0:
        seen["quiet"] += 1
        newest = before // 2
        added = {name for name in rows if name.startswith("added-")}
        expected = {f"added-{n}" for n in range(max(1, newest - 4), newest + 1)}
        if number != newest or added != expected:
            seen["faults"].append(f"wrong: {version}, {sorted(added)} at step {before}")
    if len(seen["faults"]) > 5:
        break
print(json.dumps(seen))
"""


class Stage(NamedTuple):
    """One library, the index beside it, and the files by which the processes know of each other."""

    root: Path
    counter: Path
    stop: Path
    env: dict[str, str]

    def reader(self) -> subprocess.Popen[bytes]:
        """Start one process that lists until it is told to stop."""
        words = [sys.executable, "-c", READER, str(self.root), str(self.counter), str(self.stop)]
        return subprocess.Popen(
            words, env=environment(self.env), stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )


def document(name: str, description: str) -> str:
    return f"---\nname: {name}\ndescription: {description}\n---\n\nBody.\n"


def write(folder: Path, description: str, *, in_place: bool) -> None:
    folder.mkdir(exist_ok=True)
    path = folder / "SKILL.md"
    if in_place:
        path.write_text(document(folder.name, description))
    else:
        (folder / "new").write_text(document(folder.name, description))
        (folder / "new").replace(path)


def staged(tmp_path: Path, home: Home) -> Stage:
    root = tmp_path / "root"
    root.mkdir()
    for number in range(SKILLS):
        (root / f"skill-{number:03}").mkdir()
        write(root / f"skill-{number:03}", "Does one thing.", in_place=True)
    write(root / "versioned", "v0", in_place=True)
    (tmp_path / "counter").write_text("0")
    return Stage(root, tmp_path / "counter", tmp_path / "stop", home.env)


def edit(stage: Stage, version: int) -> None:
    """Make one version: change a skill, add one, remove the oldest that was added. Every other time without a rename."""
    counted(stage, 2 * version - 1)
    write(stage.root / "versioned", f"v{version}", in_place=bool(version % 2))
    write(stage.root / f"added-{version}", "New.", in_place=bool(version % 2))
    if version > 5:
        shutil.rmtree(stage.root / f"added-{version - 5}")
    counted(stage, 2 * version)


def counted(stage: Stage, step: int) -> None:
    new = stage.counter.with_suffix(".new")
    new.write_text(str(step))
    new.replace(stage.counter)


def ended(readers: list[subprocess.Popen[bytes]]) -> list[dict[str, object]]:
    """Collect what the readers saw; each must have ended well and said nothing."""
    reports = []
    for reader in readers:
        out, err = reader.communicate(timeout=PATIENCE)
        assert (0, b"") == (reader.returncode, err), err.decode()
        reports.append(json.loads(out))
    return reports


def assert_sound(stage: Stage, reports: list[dict[str, object]], tmp_path: Path) -> None:
    """Hold what was seen, and the index that was left, against the truth."""
    assert [] == [fault for report in reports for fault in report["faults"]]  # type: ignore[attr-defined]
    assert all(int(str(report["looks"])) > 0 for report in reports)
    assert sum(int(str(report["quiet"])) for report in reports) > 0
    time.sleep(0.15)
    words = ("list", "--all", "--json", "--root", str(stage.root))
    fresh = run({**stage.env, "METIER_HOME": str(tmp_path / "fresh")}, *words)
    first, second = run(stage.env, *words), run(stage.env, *words)
    assert (0, "", fresh.json) == (first.code, first.err, first.json)
    assert (0, "", fresh.json) == (second.code, second.err, second.json)
    with metier.open(roots=[str(stage.root)], env=stage.env) as library:
        library.skills()
    assert 0 == library.context.catalogue.last_reads


def test_eight_readers_and_an_editor_see_no_error_and_nothing_stale(
    tmp_path: Path, home: Home
) -> None:
    stage = staged(tmp_path, home)
    readers = [stage.reader() for _ in range(READERS)]
    version, until = 0, time.monotonic() + SECONDS

    while time.monotonic() < until:
        version += 1
        edit(stage, version)
        time.sleep(random.uniform(0, 0.12))  # noqa: S311 - some versions live long enough to be seen whole
    stage.stop.touch()

    assert_sound(stage, ended(readers), tmp_path)
    assert [] == list(Path(stage.env["METIER_HOME"]).rglob("*.tmp"))


def test_killing_readers_at_any_moment_leaves_an_index_that_is_still_right(
    tmp_path: Path, home: Home
) -> None:
    stage = staged(tmp_path, home)
    readers = [stage.reader() for _ in range(READERS)]
    version, until = 0, time.monotonic() + SECONDS

    while time.monotonic() < until:
        version += 1
        edit(stage, version)
        time.sleep(random.uniform(0.02, 0.2))  # noqa: S311
        at = random.randrange(READERS)  # noqa: S311
        readers[at].kill()
        readers[at].communicate()
        readers[at] = stage.reader()
    time.sleep(0.5)
    stage.stop.touch()

    reports = ended(readers)
    assert [] == [fault for report in reports for fault in report["faults"]]  # type: ignore[attr-defined]
    assert_sound(stage, [report for report in reports if report["looks"]], tmp_path)


def test_many_processes_that_start_at_once_on_an_empty_index_all_answer_alike(
    tmp_path: Path, home: Home
) -> None:
    stage = staged(tmp_path, home)
    words = [sys.executable, "-m", "metier", "list", "--json", "--root", str(stage.root)]

    started = [
        subprocess.Popen(
            words, env=environment(stage.env), stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for _ in range(READERS)
    ]
    answers = [(*process.communicate(timeout=PATIENCE), process.returncode) for process in started]

    assert {(answers[0][0], b"", 0)} == set(answers)
    assert SKILLS + 1 == len(json.loads(answers[0][0])["skills"])


def test_rules_written_by_many_processes_at_once_leave_a_file_that_can_be_read(
    tmp_path: Path, home: Home
) -> None:
    stage = staged(tmp_path, home)
    env = {**stage.env, "METIER_CONFIG": str(tmp_path / "metier.toml")}
    (tmp_path / "metier.toml").touch()

    started = [
        subprocess.Popen(
            [
                sys.executable,
                "-m",
                "metier",
                "disable",
                f"skill-{number:03}",
                "--json",
                "--root",
                str(stage.root),
            ],
            env=environment(env),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for number in range(READERS)
    ]
    answers = [(*process.communicate(timeout=PATIENCE), process.returncode) for process in started]

    assert all(code == 0 and err == b"" for _out, err, code in answers), answers
    said = run(env, "list", "--all", "--json", "--root", str(stage.root))
    hidden = {row["name"] for row in said.json["skills"] if row["state"] == "hidden"}
    # Each of the eight was told "is now hidden": then it is.
    assert {f"skill-{number:03}" for number in range(READERS)} == hidden
    assert [] == [name for name in os.listdir(tmp_path) if name.endswith(".tmp")]
