"""One process at a time changes a root, also when each keeps its own files in another METIER_HOME."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conformance.folders import Place, skill

from metier.author.io import staging
from metier.author.io.skill_folder import hold_root_lock
from metier.errors import StoreError

TEXT = "---\nname: notes\ndescription: Writes notes. Use it for notes.\n---\n\n# Notes\n\nWrite the note down.\n"
ROUNDS = 12
WORKER = """
import sys
import metier

base, name, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
text = f"---\\nname: {name}\\ndescription: Writes notes. Use it for notes.\\n---\\n\\n# Notes\\n\\nWrite the note down.\\n"
sys.stdin.read(1)
for _ in range(rounds):
    with metier.open(roots=[f"{base}/root"], home=f"{base}/state-{name}") as library:
        library.manage("create", name, content=text, category="both")
        library.manage("write_file", name, file="references/more.md", content="more\\n" * 1000)
        library.manage("delete", name)
"""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Give a machine with a home and a project, both empty."""
    return Place(tmp_path)


def test_two_processes_with_homes_of_their_own_do_not_disturb_each_other_in_one_root(
    tmp_path: Path,
) -> None:
    (tmp_path / "worker.py").write_text(WORKER)
    pipe, error = subprocess.PIPE, subprocess.STDOUT
    calls = [
        [sys.executable, str(tmp_path / "worker.py"), str(tmp_path), name, str(ROUNDS)]
        for name in ("one", "two")
    ]
    workers = [
        subprocess.Popen(call, stdin=pipe, stdout=pipe, stderr=error, text=True) for call in calls
    ]

    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("go")
        worker.stdin.flush()
    said = [worker.communicate()[0] for worker in workers]

    assert ["", ""] == said
    assert [0, 0] == [worker.returncode for worker in workers]
    assert not list(tmp_path.glob("root/*"))
    assert [ROUNDS, ROUNDS] == [
        len(list(tmp_path.glob(f"state-{name}/trash/*"))) for name in ("one", "two")
    ]


def test_whoever_waits_too_long_for_a_root_is_told_so_and_takes_nothing_away(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = place.home / ".agents/skills"
    skill(root / "notes")
    theirs = root / f"{staging.UNFINISHED_PREFIX}{'0' * 32}"
    theirs.write_text("unfinished")
    monkeypatch.setattr(staging, "WAIT_SECONDS", 0.0)
    other = os.open(root, os.O_RDONLY)
    fcntl.flock(other, fcntl.LOCK_EX)

    try:
        with pytest.raises(
            StoreError, match=f"another process is changing the skills in {root}"
        ) as caught:
            place.scopes().manage("delete", "notes")
    finally:
        os.close(other)

    assert "try again" in str(caught.value.hint)
    assert (True, True) == (theirs.exists(), (root / "notes/SKILL.md").exists())


def test_whoever_waits_too_long_for_another_of_the_same_home_is_told_so(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(staging, "WAIT_SECONDS", 0.0)
    data = str(place.base / "state")

    with (
        staging.hold_lock(data, None),
        pytest.raises(StoreError, match=f"another process is changing skills with {data}"),
    ):
        place.scopes().manage("create", "notes", content=TEXT)


def test_what_a_crash_left_in_a_root_is_taken_away_once_nobody_works_there(place: Place) -> None:
    root = place.home / ".agents/skills"
    skill(root / "notes")
    left = root / f"{staging.UNFINISHED_PREFIX}{'0' * 32}"
    left.write_text("unfinished")

    place.scopes().manage("write_file", "notes", file="references/more.md", content="more\n")

    assert not left.exists()


def test_a_root_that_was_made_to_be_locked_goes_again_when_nothing_came_into_it(
    place: Place,
) -> None:
    place.configure('[manage]\nreview = "always"\n')

    done = place.scopes().manage("create", "notes", content=TEXT)

    assert done.staged
    assert not list(place.home.glob(".agents"))


def test_a_root_that_was_made_anew_while_somebody_waited_is_locked_as_it_is_now(
    tmp_path: Path,
) -> None:
    root = tmp_path / "below/root"

    with hold_root_lock(str(root)) as first:
        os.rename(root, tmp_path / "aside")
        with hold_root_lock(str(root)) as second:
            assert (True, True) == (first, second)

    assert not root.exists()


@pytest.mark.parametrize("kind", ["file", "dangling"])
def test_what_is_no_folder_cannot_be_locked_and_stays(tmp_path: Path, kind: str) -> None:
    root = tmp_path / "root"
    if kind == "file":
        root.write_text("mine")
    else:
        root.symlink_to(tmp_path / "nowhere")

    with hold_root_lock(str(root)) as certain:
        assert not certain

    assert os.path.lexists(root)
