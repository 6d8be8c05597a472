"""Folders are told by their stats where these prove something, and read where they do not; the answer is the same."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import metier
from metier.plugins import compare
from metier.plugins.compare import FolderMemory
from metier.plugins.io import tree_stats
from metier.store.io.folders import state_of
from metier.supply import places

LATER_NS = 3_600 * 1_000_000_000


class Shelf:
    """A shelf in memory that counts what is saved."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.kept = dict[str, bytes]()
        self.saves = 0

    def load(self, name: str) -> bytes | None:
        return self.kept.get(name)

    def head(self, name: str, size: int) -> bytes | None:
        return (self.load(name) or b"")[:size] or None

    def save(self, name: str, data: bytes) -> None:
        self.kept[name] = data
        self.saves += 1


class Watched:
    """A folder, and somebody who looks at it an hour after everything in it was written."""

    def __init__(self, base: Path) -> None:
        """Make a small skill."""
        self.folder, self.shelf, self.ahead = base / "skill", Shelf(), LATER_NS
        (self.folder / "references").mkdir(parents=True)
        (self.folder / "SKILL.md").write_text("---\nname: skill\n---\nOne.\n")
        (self.folder / "references" / "guide.md").write_text("Guide.\n")

    def looks(self, edition: str = "1") -> FolderMemory:
        return FolderMemory(
            self.shelf, "plugins-user", edition, lambda: time.time_ns() + self.ahead
        )

    def state(self) -> str:
        with self.looks() as looks:
            return looks.state(str(self.folder))

    def stamp(self) -> str:
        with self.looks() as looks:
            return looks.stamp(str(self.folder))


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    return Watched(tmp_path)


def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note each folder that is read and not only looked at."""
    found = list[str]()

    def counted(folder: str) -> str:
        found.append(os.path.basename(folder))
        return state_of(folder)

    monkeypatch.setattr(compare, "state_of", counted)
    return found


def test_a_folder_that_is_as_it_was_is_not_read_again(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = reads(monkeypatch)

    states = [watched.state() for _look in range(3)]

    assert [state_of(str(watched.folder))] * 3 == states
    assert ["skill"] == read
    assert 1 == watched.shelf.saves


def test_what_was_written_a_moment_ago_is_read_each_time(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched.ahead = 0
    read = reads(monkeypatch)

    states = [watched.state() for _look in range(2)]

    assert [state_of(str(watched.folder))] * 2 == states
    assert (["skill", "skill"], 0) == (read, watched.shelf.saves)


def test_an_edit_of_the_same_size_in_the_same_tick_is_seen(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With stats that cannot tell the two apart, as on a file system with a coarse clock."""
    watched.ahead = 0
    frozen = time.time_ns()
    monkeypatch.setattr(
        tree_stats,
        "_numbers",
        lambda status: (frozen, frozen, status.st_size, status.st_ino, status.st_mode),
    )
    before = watched.state()
    (watched.folder / "SKILL.md").write_text("---\nname: skill\n---\nTwo.\n")

    after = watched.state()

    assert before != after
    assert state_of(str(watched.folder)) == after


def test_what_was_kept_while_fresh_is_not_believed_later(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched.ahead = 0
    read = reads(monkeypatch)
    watched.state()
    watched.ahead = LATER_NS

    watched.state()

    assert ["skill", "skill"] == read


def same_size(folder: Path) -> None:
    file = folder / "SKILL.md"
    before = file.stat().st_ctime_ns
    while file.stat().st_ctime_ns == before:  # the clock of the file system goes in steps
        file.write_text("---\nname: skill\n---\nTwo.\n")


def same_times(folder: Path) -> None:
    file = folder / "SKILL.md"
    before = file.stat()
    same_size(folder)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def another_inode(folder: Path) -> None:
    file = folder / "SKILL.md"
    before, other = file.stat(), folder.parent / "other"
    other.write_text("---\nname: skill\n---\nTwo.\n")
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    os.replace(other, file)


def executable(folder: Path) -> None:
    (folder / "SKILL.md").chmod(0o755)


def an_empty_file(folder: Path) -> None:
    (folder / "references" / "empty").touch()


def one_file_less(folder: Path) -> None:
    (folder / "references" / "guide.md").unlink()


def another_name(folder: Path) -> None:
    (folder / "references" / "guide.md").rename(folder / "references" / "other.md")


def another_folder(folder: Path) -> None:
    (folder / "references").rename(folder / "reference")


def a_link(folder: Path) -> None:
    (folder / "link").symlink_to("SKILL.md")


def a_link_for_a_file(folder: Path) -> None:
    (folder / "references" / "guide.md").unlink()
    (folder / "references" / "guide.md").symlink_to("../SKILL.md")


def a_link_for_a_folder(folder: Path) -> None:
    (folder / "references").rename(folder.parent / "elsewhere")
    (folder / "references").symlink_to("../elsewhere")


def a_pipe(folder: Path) -> None:
    os.mkfifo(folder / "pipe")


def too_deep(folder: Path) -> None:
    deep = folder
    for _step in range(101):
        deep = deep / "d"
        deep.mkdir()


def a_link_in_its_place(folder: Path) -> None:
    folder.rename(folder.parent / "moved")
    folder.symlink_to("moved")


def a_file_in_its_place(folder: Path) -> None:
    folder.rename(folder.parent / "moved")
    folder.touch()


def nothing_in_its_place(folder: Path) -> None:
    folder.rename(folder.parent / "moved")


EDITS = [
    same_size,
    same_times,
    another_inode,
    executable,
    an_empty_file,
    one_file_less,
    another_name,
    another_folder,
    a_link,
    a_link_for_a_file,
    a_link_for_a_folder,
    a_pipe,
    too_deep,
    a_link_in_its_place,
    a_file_in_its_place,
    nothing_in_its_place,
]


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.__name__)
def test_every_change_is_seen(edit: Callable[[Path], None], watched: Watched) -> None:
    before = watched.state()
    edit(watched.folder)

    after = watched.state()

    assert before != after
    assert state_of(str(watched.folder)) == after == watched.state()


def test_an_empty_folder_changes_nothing(watched: Watched) -> None:
    before = watched.state()
    (watched.folder / "empty").mkdir()

    after = watched.state()

    assert before == after == state_of(str(watched.folder))


@pytest.mark.parametrize("path", ["", "a\0b", "\ud800", "x" * 5_000, "/" + "d/" * 3_000])
def test_a_path_that_cannot_be_is_no_folder(path: str, watched: Watched) -> None:
    with watched.looks() as looks:
        found = looks.state(path), looks.stamp(path)

    assert (state_of(path), "") == found


def test_a_folder_that_changed_while_it_was_read_is_read_again(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another folder lay in its place meanwhile, and every file is back where it was."""
    skill, aside, other = (
        watched.folder,
        watched.folder.parent / "aside",
        watched.folder.parent / "other",
    )
    other.mkdir()
    (other / "SKILL.md").write_text("Other.\n")

    def swapped(folder: str) -> str:
        skill.rename(aside)
        other.rename(skill)
        found = state_of(folder)
        skill.rename(other)
        aside.rename(skill)
        return found

    monkeypatch.setattr(compare, "state_of", swapped)
    wrong = watched.state()
    monkeypatch.undo()

    right = watched.state()

    assert wrong != right
    assert state_of(str(skill)) == right


@pytest.mark.parametrize("data", [b"", b"nonsense", b"METIER.L" + bytes(40)])
def test_a_shelf_that_lost_or_spoilt_everything_only_costs_time(
    data: bytes, watched: Watched
) -> None:
    before = watched.state()
    watched.shelf.kept["plugins-user"] = data

    after = watched.state()

    assert before == after
    assert 2 == watched.shelf.saves


def test_what_another_edition_kept_is_not_believed(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched.state()
    read = reads(monkeypatch)

    with watched.looks("2") as looks:
        looks.state(str(watched.folder))

    assert ["skill"] == read


def test_what_is_gone_is_forgotten(watched: Watched) -> None:
    watched.state()
    nothing_in_its_place(watched.folder)
    sizes = [len(watched.shelf.kept["plugins-user"])]

    watched.state()

    sizes.append(len(watched.shelf.kept["plugins-user"]))
    assert sizes[1] < sizes[0]


def test_no_more_is_kept_than_there_is_room_for(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compare, "MAX_FOLDERS_KEPT", 2)
    with watched.looks() as looks:
        for key in "abc":
            looks.remember(key, "stamp")
        looks.remember("b", "new")

    with watched.looks() as looks:
        seen = [key for key in "abc" if looks.seen(key, "new" if key == "b" else "stamp")]

    assert ["b", "c"] == seen


@pytest.mark.parametrize(
    "edit",
    [one for one in EDITS if one not in (too_deep, a_file_in_its_place, nothing_in_its_place)],
    ids=lambda edit: edit.__name__,
)
def test_every_change_of_a_source_gives_it_another_stamp(
    edit: Callable[[Path], None], watched: Watched
) -> None:
    before = watched.stamp(), watched.stamp()
    edit(watched.folder)

    after = watched.stamp()

    assert "" != before[0] == before[1]
    assert after not in {"", before[0]} or edit is a_link_in_its_place


def test_a_source_has_no_stamp_while_it_is_fresh_or_cannot_be_seen(watched: Watched) -> None:
    stamps = list[str]()
    watched.ahead = 0
    stamps.append(watched.stamp())
    watched.ahead = LATER_NS
    too_deep(watched.folder)
    stamps.append(watched.stamp())
    nothing_in_its_place(watched.folder)
    stamps.append(watched.stamp())

    assert ["", "", ""] == stamps


def test_a_source_with_too_many_entries_has_no_stamp(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compare, "MAX_SOURCE_ENTRIES", 2)

    stamp = watched.stamp()

    assert "" == stamp


def test_what_git_keeps_for_itself_is_no_part_of_a_stamp(watched: Watched) -> None:
    (watched.folder / ".git").mkdir()
    before = watched.stamp()
    (watched.folder / ".git" / "index").write_text("index")

    after = watched.stamp()

    assert "" != before == after


def test_a_source_is_seen_when_it_has_the_stamp_that_was_remembered(watched: Watched) -> None:
    stamp = watched.stamp()
    with watched.looks() as looks:
        first = looks.seen("source", stamp)
        looks.remember("source", stamp)
    with watched.looks() as looks:
        second = (
            looks.seen("source", stamp),
            looks.seen("another", stamp),
            looks.seen("source", ""),
            looks.seen("source", "other"),
        )
        looks.forget("source")
    with watched.looks() as looks:
        third = looks.seen("source", stamp)

    assert (False, (True, False, False, False), False) == (first, second, third)


def test_a_source_without_a_stamp_is_forgotten(watched: Watched) -> None:
    with watched.looks() as looks:
        looks.remember("source", "stamp")
        looks.remember("source", "")

        assert not looks.seen("source", "stamp")
        assert not looks.seen("source", "")


def test_nothing_is_kept_after_an_error(watched: Watched) -> None:
    def failing() -> None:
        with watched.looks() as looks:
            looks.remember("source", "stamp")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        failing()

    assert 0 == watched.shelf.saves


def test_each_place_has_looks_of_its_own(tmp_path: Path) -> None:
    with metier.open(cwd=str(tmp_path), home=str(tmp_path / "home")) as library:
        for place in places.places(library.context, None):
            with compare.folder_memory(library.context, place) as looks:
                looks.remember("source", place.scope)

        seen = list[tuple[bool, bool]]()
        for place in places.places(library.context, None):
            with compare.folder_memory(library.context, place) as looks:
                seen.append((looks.seen("source", "project"), looks.seen("source", "user")))

    assert [(True, False), (False, True)] == seen
