"""What was judged in a place is remembered only where no later change could hide behind the same stats."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import metier
from metier.discover.io import disk
from metier.scan.service import MIN_REMEMBERED_SKILLS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Home, Writer

    from metier.library import Library


@pytest.fixture
def root(skill: Writer) -> Path:
    """Give a folder with enough skills to be remembered as a whole."""
    folders = [skill(f"skills/s{number}") for number in range(MIN_REMEMBERED_SKILLS)]
    return folders[0].parent


def newest(root: Path) -> int:
    """Give when the newest thing below a folder was changed, the folder among them."""
    stats = [path.lstat() for path in (root, *root.rglob("*"))]
    return max(max(one.st_mtime_ns, one.st_ctime_ns) for one in stats)


def opened(home: Home, now: int) -> Library:
    """Open a library whose clock stands still."""
    library = metier.open(env=home.env)
    library.context.ports = library.context.ports._replace(clock_ns=lambda: now)
    return library


@pytest.mark.parametrize(
    ("age", "remembered"),
    [(0, False), (disk.SETTLED_NS, False), (disk.SETTLED_NS + 1, True), (-disk.SETTLED_NS, False)],
)
def test_files_younger_than_the_clock_s_grain_are_read_again(
    home: Home, root: Path, monkeypatch: pytest.MonkeyPatch, age: int, remembered: bool
) -> None:
    now, read = newest(root) + age, list[str]()
    with opened(home, now) as first:
        before = first.scan(str(root))
    whole = disk.read_whole

    def noted(path: str, keep: Callable[[bytes], int]) -> disk.WholeFile:
        read.append(path)
        return whole(path, keep)

    monkeypatch.setattr(disk, "read_whole", noted)

    with opened(home, now) as second:
        after = second.scan(str(root))

    assert before == after
    assert remembered is (not read)


def test_a_change_that_no_stat_shows_is_seen_as_long_as_the_files_are_young(
    home: Home, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = newest(root)
    with opened(home, now) as first:
        before = {one.name: one.digest for one in first.scan(str(root))}
    keys = disk.keys_below
    known = dict[str, bytes | None]()
    monkeypatch.setattr(
        disk,
        "keys_below",
        lambda folder, *words, **named: known.setdefault(folder, keys(folder, *words, **named)),
    )
    (root / "s0/SKILL.md").write_text(
        (root / "s0/SKILL.md").read_text().replace("one thing", "own thing")
    )

    with opened(home, now) as second:
        after = {one.name: one.digest for one in second.scan(str(root))}

    assert ["s0"] == [name for name in before if before[name] != after[name]]
