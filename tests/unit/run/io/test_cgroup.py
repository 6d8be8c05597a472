"""Where control groups can be had: looked for in made-up trees, and made for real where this machine allows it."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from metier.run.io import cgroup
from metier.run.model import RunLimits


def tree(top: Path, *, handed: dict[str, str]) -> Path:
    """Make what looks like a tree of version 2: a folder for each group, with what it hands down."""
    for path, controllers in handed.items():
        folder = top / path
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "cgroup.subtree_control").write_text(controllers)
        (folder / "cgroup.procs").write_text("")
    return top


def mounted(folder: Path, kind: str = "cgroup2", options: str = "rw", root: str = "/") -> str:
    return f"30 20 0:26 {root} {folder} rw,nosuid shared:4 - {kind} {kind} {options}\n"


def test_the_nearest_group_above_that_hands_both_down_is_taken(tmp_path: Path) -> None:
    tree(tmp_path, handed={"": "cpu memory pids\n", "user": "memory pids\n", "user/shell": "\n"})

    found = cgroup.look("0::/user/shell\n", mounted(tmp_path))

    assert ((cgroup.CgroupPlace(str(tmp_path / "user"), 2, ("pids", "memory")),), "") == found


def test_where_nothing_is_handed_down_the_reason_is_told(tmp_path: Path) -> None:
    tree(tmp_path, handed={"": "cpu\n", "user": "\n"})

    found = cgroup.look("0::/user\n", mounted(tmp_path))

    assert ((), True) == (found.places, "hands neither" in found.reason)


def test_without_any_control_groups_the_reason_is_told() -> None:
    assert ((), "no control groups are mounted") == cgroup.look("", "")


def test_version_1_has_a_tree_for_each_controller(tmp_path: Path) -> None:
    tree(tmp_path, handed={"pids": "", "memory/mine": ""})
    mounts = mounted(tmp_path / "pids", "cgroup", "rw,pids") + mounted(
        tmp_path / "memory", "cgroup", "rw,memory"
    )

    found = cgroup.look("4:memory:/mine\n8:pids:/\n", mounts)

    assert {("pids",): str(tmp_path / "pids"), ("memory",): str(tmp_path / "memory/mine")} == {
        one.controllers: one.folder for one in found.places
    }
    assert "" == found.reason


def test_in_a_container_the_tree_may_begin_further_down(tmp_path: Path) -> None:
    tree(tmp_path, handed={"": "memory pids\n", "inner": "memory pids\n"})

    found = cgroup.look("0::/box/7/inner\n", mounted(tmp_path, root="/box/7"))

    assert [str(tmp_path / "inner")] == [place.folder for place in found.places]


def test_groups_of_processes_that_are_gone_are_swept_away(tmp_path: Path) -> None:
    process = subprocess.Popen(["/bin/true"])
    process.wait()
    tree(tmp_path, handed={"": "memory pids\n"})
    for name in (f"metier-{process.pid}-0", f"metier-{os.getpid()}-7", "another"):
        (tmp_path / name).mkdir()

    cgroup.look("0::/\n", mounted(tmp_path))

    assert {f"metier-{os.getpid()}-7", "another"} == {
        path.name for path in tmp_path.iterdir() if path.is_dir()
    }


def test_a_group_holds_counts_ends_and_goes() -> None:
    group = cgroup.make(RunLimits(processes=3))
    if (
        not group.controllers
    ):  # an ordinary user without delegation: the reason is what doctor shows
        assert cgroup.find().reason
        return
    process = subprocess.Popen(
        ["/bin/sh", "-c", "read line; for i in 1 2 3 4 5 6; do sleep 600 & done; wait"],
        stdin=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdin is not None
    with process.stdin as pipe:
        group.join(process.pid)
        pipe.write(b"go\n")
    before = {place.folder: os.listdir(place.folder) for place in cgroup.find().places}

    met = _met(group)
    group.kill()
    process.wait(30)
    group.remove()

    after = {place.folder: os.listdir(place.folder) for place in cgroup.find().places}
    assert ("processes" if "pids" in group.controllers else "") == met
    assert all(len(after[folder]) < len(names) for folder, names in before.items())


def _met(group: cgroup.RunCgroup) -> str:
    """Wait until a limit of the group is met; without one for tasks there is nothing to wait for."""
    until = time.monotonic() + (30 if "pids" in group.controllers else 0)
    while not group.exceeded() and time.monotonic() < until:
        time.sleep(0.01)
    return group.exceeded()


@pytest.mark.parametrize("name", ["pids.max", "memory.max"])
def test_a_group_that_cannot_be_limited_is_not_left_behind(tmp_path: Path, name: str) -> None:
    place = cgroup.CgroupPlace(str(tmp_path), 2, ("pids",) if name == "pids.max" else ("memory",))

    with pytest.raises(FileNotFoundError):
        cgroup.RunCgroup((place,), RunLimits())

    assert [] == list(tmp_path.iterdir())
