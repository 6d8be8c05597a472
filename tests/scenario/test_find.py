"""An index on a real disk: one changed skill, two processes, another version, a writer that was killed, many projects."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import metier
from metier.find.io.index_folder import MAX_INDEXES, mark_used

if TYPE_CHECKING:
    from conftest import Home, Writer

    from metier.library import Library

SOURCE = str(Path(metier.__file__).parent.parent)
COUNT = 60
HOUR = 3_600_000_000_000
PATIENCE = 60


@pytest.fixture
def root(home: Home, skill: Writer, tmp_path: Path) -> Path:
    """Give a folder of real skills; only words count."""
    (tmp_path / "metier.toml").write_text('[route]\nvectors = "off"\n')
    home.env["METIER_CONFIG"] = str(tmp_path / "metier.toml")
    for number in range(COUNT):
        skill(f"skills/skill-{number:02}", text=text(number))
    return tmp_path / "skills"


def text(number: int, more: str = "") -> str:
    return f"---\nname: skill-{number:02}\ndescription: Handles case {number}. {more}\n---\n\n# Case\n\nThe word{number}word of it.\n"


def opened(home: Home, *roots: Path) -> Library:
    """Open the library with a clock that is an hour ahead of its files: what changed just now is read again on purpose."""
    library = metier.open(roots=[str(root) for root in roots], env=home.env)
    clock = library.context.ports.clock_ns
    library.context.ports = library.context.ports._replace(clock_ns=lambda: clock() + HOUR)
    return library


def folders(home: Home) -> list[Path]:
    return sorted(Path(home.env["METIER_HOME"], "route").iterdir())


def names(library: Library, task: str) -> list[str]:
    return [hit.name for hit in library.find(task)]


def test_the_index_is_there_for_the_next_process(home: Home, root: Path) -> None:
    with opened(home, root) as first:
        before = first.index()
    with opened(home, root) as second:
        after, found = second.index(), names(second, "word7word")

    assert (COUNT, COUNT, 0) == before[:3]
    assert (COUNT, 0, 0) == after[:3]
    assert ["skill-07"] == found


def test_one_changed_skill_is_read_again_and_no_other(
    home: Home, root: Path, skill: Writer
) -> None:
    with opened(home, root) as first:
        first.index()
    skill("skills/skill-07", text=text(7, "Now about zebras."))
    shutil.rmtree(root / "skill-08")
    skill("skills/skill-99", text=text(99))

    with opened(home, root) as second:
        done = second.index()
        found = [names(second, task) for task in ("zebras", "word8word", "word99word", "word7word")]

    assert (COUNT, 2, 1) == done[:3]
    assert [["skill-07"], [], ["skill-99"], ["skill-07"]] == found


def test_built_step_by_step_it_answers_as_built_at_once(
    home: Home, root: Path, skill: Writer, tmp_path: Path
) -> None:
    for number in range(5):
        skill(f"skills/skill-{number:02}", text=text(number, "Changed."))
        with opened(home, root) as library:
            library.index()
    with opened(home, root) as library:
        stepwise = library.find("handles the changed case of word3word", 100)
    home.env["METIER_HOME"] = str(tmp_path / "another")
    with opened(home, root) as library:
        at_once = library.find("handles the changed case of word3word", 100)

    assert [hit[:2] for hit in at_once] == [hit[:2] for hit in stepwise]
    assert [pytest.approx(hit.score) for hit in at_once] == [hit.score for hit in stepwise]


def test_two_projects_do_not_disturb_each_other(
    home: Home, root: Path, skill: Writer, tmp_path: Path
) -> None:
    skill("others/zebra", description="About zebras.")
    with opened(home, root) as first, opened(home, tmp_path / "others") as second:
        first.index()
        second.index()
    with opened(home, root) as first:
        again = first.index()

    assert (COUNT, 0, 0) == again[:3]
    assert 2 == len(folders(home))


def test_indexes_that_nobody_uses_are_let_go_of(tmp_path: Path) -> None:
    now = time.time()
    for number in range(MAX_INDEXES + 5):
        folder = tmp_path / "route" / f"{number:02}"
        folder.mkdir(parents=True)
        (folder / "manifest").write_text("x")
        os.utime(folder, (now - 90_000 + number, now - 90_000 + number))

    mark_used(str(tmp_path / "route" / "00"), now)

    kept = sorted(one.name for one in (tmp_path / "route").iterdir())
    assert ["00", *(f"{number:02}" for number in range(6, MAX_INDEXES + 5))] == kept


def test_what_was_used_lately_stays_however_many_there_are(tmp_path: Path) -> None:
    for number in range(MAX_INDEXES + 5):
        (tmp_path / "route" / f"{number:02}").mkdir(parents=True)

    mark_used(str(tmp_path / "route" / "00"), time.time())
    mark_used(str(tmp_path / "nowhere" / "00"), time.time())

    assert MAX_INDEXES + 5 == len(list((tmp_path / "route").iterdir()))


@pytest.mark.parametrize(
    "damage", ["other version", "cut", "empty", "noise", "manifest gone", "parts gone"]
)
def test_an_index_that_is_not_as_it_was_written_is_made_anew_without_a_word(
    damage: str, home: Home, root: Path
) -> None:
    with opened(home, root) as first:
        first.index()
    (folder,) = folders(home)
    for file in folder.iterdir():
        data = file.read_bytes()
        if file.name == "lock":
            continue
        if damage == "other version":
            file.write_bytes(data[:12] + b"\xff" * 8 + data[20:])
        elif damage in {"cut", "empty", "noise"}:
            file.write_bytes(
                {"cut": data[: len(data) // 2], "empty": b"", "noise": os.urandom(len(data))}[
                    damage
                ]
            )
        elif (file.name == "manifest") == (damage == "manifest gone"):
            file.unlink()

    with opened(home, root) as library:
        found, warnings = names(library, "word7word"), library.context.warnings

    assert (["skill-07"], []) == (found, warnings)


_KILLED = """
import os, sys
import metier
from metier.store.io import safe_files
steps = int(sys.argv[2])
real = os.replace
def replace(*given):
    global steps
    steps -= 1
    if steps < 0:
        os.kill(os.getpid(), 9)
    return real(*given)
os.replace = safe_files.os.replace = replace
with metier.open(roots=[sys.argv[1]]) as library:
    library.index()
"""


@pytest.mark.parametrize("steps", range(4))
def test_a_writer_that_was_killed_leaves_an_index_that_answers(
    steps: int, home: Home, root: Path, skill: Writer
) -> None:
    with opened(home, root) as first:
        first.index()
    for number in range(10):
        skill(f"skills/skill-{number:02}", text=text(number, "Now about zebras."))
    env = {**home.env, "PYTHONPATH": SOURCE}

    killed = subprocess.run(
        [sys.executable, "-c", _KILLED, str(root), str(steps)],
        env=env,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    with opened(home, root) as library:
        found = [len(library.find("zebras")), names(library, "word50word")]

    assert killed.returncode in {0, -signal.SIGKILL}, killed.stderr.decode()
    assert [10, ["skill-50"]] == found


def test_two_processes_may_index_at_once(home: Home, root: Path) -> None:
    words = [sys.executable, "-m", "metier", "find", "word7word", "--json", "--root", str(root)]
    env = {**home.env, "PYTHONPATH": SOURCE}

    begun = [
        subprocess.Popen(words, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _each in range(3)
    ]
    ended = [(*process.communicate(timeout=PATIENCE), process.returncode) for process in begun]

    assert [(b"", 0)] * 3 == [(err, code) for _out, err, code in ended]
    assert all(b'"skill-07"' in out for out, _err, _code in ended)


def test_a_folder_in_which_nothing_can_be_written_is_answered_from_memory(
    home: Home, root: Path, tmp_path: Path
) -> None:
    (tmp_path / "metier-home").mkdir()
    (tmp_path / "metier-home" / "route").write_text("in the way")

    library = opened(home, root)
    found = [names(library, "word7word") for _time in range(2)]

    assert [["skill-07"], ["skill-07"]] == found
    assert 1 == len(
        [
            warning
            for warning in library.context.warnings
            if warning.startswith("the index could not be kept")
        ]
    )
