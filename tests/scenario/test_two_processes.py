"""A large root is walked by two processes: the answer is that of one, also when the other process dies."""

from __future__ import annotations

import gc
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest
from fakes.disk import Apart

import metier
from metier.discover.io import disk
from metier.discover.walk import SHARE_FROM, survey
from metier.model import Limits, Root

if TYPE_CHECKING:
    from collections.abc import Callable

    from metier.ports import Answer, Disk

LENT: list[bool] = []


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a root large enough to be shared, with something of everything in both halves."""
    base = tmp_path_factory.mktemp("large")
    root = base / "root"
    root.mkdir()
    for number in range(SHARE_FROM + 40):
        folder = root / f"s{number:05}"
        os.mkdir(folder)
        with open(folder / "SKILL.md", "w") as file:
            file.write(f"---\nname: s{number:05}\ndescription: Number {number % 7}.\n---\n")
    for at in range(6):
        odd = root / f"odd-{at}"
        for name in (
            f"odd-{at}/nested-{at}",
            f"odd-{at}/.claude-plugin",
            f"odd-{at}/same",
            f"group-{at}/member-{at}",
            f"group-{at}/same",
            f"broken-{at}",
        ):
            (root / name).mkdir(parents=True)
        (odd / "SKILL.md").write_text("---\nname: [\n---\n")
        (odd / f"nested-{at}" / "SKILL.md").write_text(f"---\nname: nested-{at}\n---\n")
        (odd / ".claude-plugin" / "plugin.json").write_text('{"name": "plug"}' if at % 2 else "{")
        for name in (f"odd-{at}/same", f"group-{at}/same", f"group-{at}/member-{at}"):
            (root / name / "SKILL.md").write_text(
                f"---\nname: {Path(name).name}\ndescription: One of many.\n---\n"
            )
        (root / f"group-{at}" / "DESCRIPTION.md").write_text(
            f"---\ndescription: Group {at}.\n---\n"
        )
        (root / f"group-{at}" / f"flat-{at}.md").write_text(
            f"---\nname: flat-{at}\ndescription: Flat.\n---\n"
        )
        os.mkfifo(root / f"broken-{at}" / "SKILL.md")
        (root / f"link-{at}").symlink_to(f"group-{5 - at}")
        (root / f"out-{at}").symlink_to(base / "outside")
        (root / f"group-{at}" / "across").symlink_to(f"../odd-{5 - at}")
        (root / f"group-{at}" / "out").symlink_to(base / "outside")
        (root / f"nowhere-{at}").symlink_to("nowhere")
    (base / "outside" / "far").mkdir(parents=True)
    (base / "outside" / "far" / "SKILL.md").write_text(
        "---\nname: far\ndescription: Far away.\n---\n"
    )
    os.mkdir(os.fsencode(root) + b"/caf\xe9")
    return root


def walked(
    root: Path, lend: Callable[[Callable[[], bytes]], Answer | None], limits: Limits | None = None
) -> tuple[object, ...]:
    def counted(task: Callable[[], bytes]) -> Answer | None:
        LENT.append(True)
        return lend(task)

    found = survey(
        Root(str(root), "external", "", "--root"), limits or Limits(), cast("Disk", Apart(counted))
    )
    return (
        found.entries,
        sorted(found.problems),
        found.truncated,
        found.categories,
        found.known.keys,
        found.known.nodes,
        found.reads,
    )


def children() -> set[str]:
    """Give the processes that this one has started, those among them that nobody waited for too."""
    return {
        child
        for lists in Path("/proc/self/task").glob("*/children")
        for child in lists.read_text().split()
    }


def nobody(_task: Callable[[], bytes]) -> None:
    """Lend no process."""


def one_that_fails(_task: Callable[[], bytes]) -> Answer | None:
    def fail() -> bytes:
        raise RuntimeError

    return disk.apart(fail)


def one_that_is_killed(task: Callable[[], bytes]) -> Answer | None:
    def die() -> bytes:
        os.kill(os.getpid(), signal.SIGKILL)
        return task()

    return disk.apart(die)


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one core: nothing is shared")
def test_two_processes_find_what_one_finds(root: Path) -> None:
    LENT.clear()

    alone = walked(root, nobody)
    shared = walked(root, disk.apart)

    assert [True, True] == LENT
    assert alone == shared


@pytest.mark.parametrize(
    "lend", [one_that_fails, one_that_is_killed], ids=lambda lend: lend.__name__
)
def test_a_process_that_dies_is_done_without(
    lend: Callable[[Callable[[], bytes]], Answer | None], root: Path
) -> None:
    assert walked(root, nobody) == walked(root, lend)


def test_no_process_is_left_behind(root: Path, tmp_path: Path) -> None:
    gc.collect()  # what other tests left open is closed now, and not in between
    before = set(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else set()
    others = children()  # a server that other tests share, for instance

    with metier.open(
        roots=[str(root)], env={"HOME": str(tmp_path), "METIER_HOME": str(tmp_path / "data")}
    ) as library:
        library.skills()

    assert others == children()
    assert before == (set(os.listdir("/proc/self/fd")) if before else set())


@pytest.mark.parametrize("entries", [500, 3_000, 6_000])
def test_the_limit_of_entries_stops_two_processes_where_it_stops_one(
    entries: int, root: Path
) -> None:
    limits = Limits(entries=entries)

    assert walked(root, nobody, limits) == walked(root, disk.apart, limits)
