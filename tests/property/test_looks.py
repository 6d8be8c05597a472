"""Whatever is done to a folder between two looks, a look says what reading it would say."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from hypothesis import given, settings, strategies as st

from metier.plugins.compare import FolderMemory
from metier.store.io.folders import state_of

LATER_NS = 3_600 * 1_000_000_000
PLACES = ("SKILL.md", "a", "sub/a", "sub/b", "sub/deep/a", "sub", "")
DEEDS = (
    "write",
    "append",
    "remove",
    "folder",
    "link",
    "mode",
    "move",
    "replace",
    "pipe",
    "nothing",
)


class Step(NamedTuple):
    """Something that is done at a place, or from one to another, and how long ago that seems to the next look."""

    deed: str
    place: str
    other: str
    text: str
    settled: bool


STEPS = st.builds(
    Step,
    st.sampled_from(DEEDS),
    st.sampled_from(PLACES),
    st.sampled_from(PLACES),
    st.sampled_from(["", "one", "two"]),
    st.booleans(),
)


class Memory:
    """A shelf in memory."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.data: bytes | None = None

    def load(self, name: str) -> bytes | None:
        assert "looks" == name
        return self.data

    def head(self, name: str, size: int) -> bytes | None:
        return (self.load(name) or b"")[:size] or None

    def save(self, name: str, data: bytes) -> None:
        assert "looks" == name
        self.data = data


def removed(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def done(step: Step, skill: Path) -> None:
    """Do it, as far as it can be done."""
    path, other = skill / step.place, skill / step.other
    if path.is_fifo() or step.deed in {"remove", "link"}:
        removed(path)  # whoever opened a pipe would wait
    match step.deed:
        case "write" | "append":
            with path.open(step.deed[0]) as file:
                file.write(step.text)
        case "folder":
            path.mkdir(parents=True)
        case "link":
            path.symlink_to(step.text or "SKILL.md")
        case "mode":
            path.chmod(0o755 if step.text else 0o700)
        case "move":
            path.rename(other)
        case "replace":
            beside = skill.parent / "beside"
            beside.write_text(step.text)
            beside.replace(path)
        case "pipe":
            os.mkfifo(path)


def tick(base: Path) -> None:
    """Wait until the clock of the file system has moved on."""
    probe = base / "probe"
    probe.write_text("tick")
    before = probe.stat().st_ctime_ns
    while probe.stat().st_ctime_ns == before:
        probe.write_text("tick")


@settings(max_examples=40)  # each waits for the clock of the file system, more than once
@given(st.lists(STEPS, min_size=1, max_size=12))
def test_a_look_says_what_reading_says(steps: list[Step]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        base, ahead = Path(folder), [0]
        skill, shelf = base / "skill", Memory()
        (skill / "sub").mkdir(parents=True)
        (skill / "SKILL.md").write_text("one")
        for step in steps:
            ahead[0] = LATER_NS if step.settled else 0
            with FolderMemory(shelf, "looks", "1", lambda: time.time_ns() + ahead[0]) as looks:
                looks.state(str(skill))
            if step.settled:
                tick(base)  # what was called old must not be of the same moment as what comes now
            try:
                done(step, skill)
            except OSError:
                pass  # there is no such thing here, or something else

            with FolderMemory(shelf, "looks", "1", lambda: time.time_ns() + ahead[0]) as looks:
                found = looks.state(str(skill)), looks.state(str(skill))

            assert (state_of(str(skill)),) * 2 == found
            if step.settled:
                tick(base)


@settings(max_examples=40)
@given(st.lists(STEPS, min_size=1, max_size=6))
def test_a_stamp_that_stays_the_same_means_that_nothing_changed(steps: list[Step]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        skill = base / "skill"
        (skill / "sub").mkdir(parents=True)
        (skill / "SKILL.md").write_text("one")
        looks = FolderMemory(Memory(), "looks", "1", lambda: time.time_ns() + LATER_NS)
        for step in steps:
            before = looks.stamp(str(skill)), state_of(str(skill))
            tick(base)
            try:
                done(step, skill)
            except OSError:
                pass  # there is no such thing here, or something else

            after = looks.stamp(str(skill)), state_of(str(skill))

            assert before[1] == after[1] or before[0] != after[0] or not after[0]
