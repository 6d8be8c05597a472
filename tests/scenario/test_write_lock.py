"""Two real processes and the one write lock: the second is told who is at work, and whoever only reads never waits."""

from __future__ import annotations

import re
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import metier
from metier.errors import StoreError
from metier.supply import places

if TYPE_CHECKING:
    from collections.abc import Iterator

ENV = {"PYTHONPATH": str(Path(metier.__file__).parent.parent)}
HOLDER = """
import sys
import metier
from metier.supply import places
with metier.open(cwd=sys.argv[1], home=sys.argv[2]) as library, places.changer_of(library.context).alone():
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def another(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Have another process hold the lock; it says so through a pipe, and lets go when its own pipe ends."""
    words = [sys.executable, "-c", HOLDER, str(folder), str(folder / "data"), "a-secret"]
    with subprocess.Popen(
        words, env=ENV, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert "held" == process.stdout.readline().strip()
        yield process
        process.kill()


def test_a_second_process_is_told_who_is_at_work_and_goes_on_once_that_one_is_dead(
    tmp_path: Path,
) -> None:
    with metier.open(cwd=str(tmp_path), home=str(tmp_path / "data")) as library:
        changer = places.changer_of(library.context)
        changer.wait = 0.0
        with another(tmp_path) as process:
            with pytest.raises(StoreError) as caught:
                changer.recover()
            process.kill()
            process.wait()

            lines = changer.recover()

    assert ("busy", ()) == (caught.value.code, lines)
    expected = rf"another process is changing skills: python \(process {process.pid}, since \d\d:\d\d:\d\d\)"
    assert re.fullmatch(expected, caught.value.message)


def test_readers_never_wait_for_a_writer(tmp_path: Path) -> None:
    skill = tmp_path / ".agents" / "skills" / "pdf"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: pdf\ndescription: About pages.\n---\nBody.\n")

    with (
        another(tmp_path) as process,
        metier.open(cwd=str(tmp_path), home=str(tmp_path / "data")) as library,
    ):
        listed = [card.name for card in library.skills()]
        plugins = library.plugins().plugins
        candidates = library.candidates()
        still = process.poll()

    assert (["pdf"], (), [], None) == (listed, plugins, candidates, still)
