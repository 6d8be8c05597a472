"""A change: all of it or nothing, never over what somebody edited, and nothing left behind."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from fakes.hands import in_a_child

from metier.errors import NotFoundError, RefusedError, StoreError
from metier.store.io.atomic_change import (
    Changer,
    Replace,
    SavedEdits,
    StoreChange,
    Switch,
    state_of,
)
from metier.store.io.disk_calls import OsDiskCalls
from metier.store.io.tree_store import Store


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def interrupt() -> None:
    raise KeyboardInterrupt


class Meddled(OsDiskCalls):
    """DiskCalls that are disturbed: something happens just before the first step of a kind."""

    def __init__(self, step: str, what: Callable[[], object], *, exchange: bool = True) -> None:
        """Do `what` before the first `step`."""
        self.waiting: dict[str, Callable[[], object]] = {step: what}
        self.exchange = exchange

    def _meddle(self, step: str) -> None:
        what = self.waiting.pop(step, None)
        if what:
            what()

    def move(self, source: str, target: str) -> None:
        if "/.metier-" in source + target:
            self._meddle("move")
        super().move(source, target)

    def swap(self, one: str, other: str) -> bool:
        self._meddle("swap")
        return self.exchange and super().swap(one, other)


class Bench:
    """A project, a store and two trees in it."""

    def __init__(self, folder: Path, hands: OsDiskCalls | None = None) -> None:
        """Lay everything out."""
        self.folder, self.project = folder, folder / "project"
        self.skills = self.project / ".agents" / "skills"
        self.project.mkdir(exist_ok=True)
        self.store = Store(f"{folder}/data/store", None, OsDiskCalls())
        self.changer = Changer(f"{folder}/data/supply", None, self.store, hands or OsDiskCalls())
        self.one, self.two = self.tree("one"), self.tree("two")

    def tree(self, text: str) -> str:
        source = self.folder / "source" / text
        source.mkdir(parents=True, exist_ok=True)
        (source / "SKILL.md").write_text(text)
        return self.store.keep(str(source))

    def switch(self, before: str, after: str, name: str = "pdf") -> Switch:
        return Switch(str(self.skills / name), str(self.project), before, after)

    def apply(self, *switches: Switch, files: tuple[Replace, ...] = ()) -> tuple[SavedEdits, ...]:
        with self.changer.alone():
            return self.changer.apply(StoreChange(switches, files))

    def state(self, name: str = "pdf") -> str:
        return state_of(str(self.skills / name))

    def edit(self, text: str = "edited") -> str:
        (self.skills / "pdf" / "SKILL.md").write_text(text)
        return self.state()

    def left(self) -> list[str]:
        """List what is beside the skills, and the journals."""
        return sorted(
            path.name
            for path in self.folder.rglob("*")
            if path.name.startswith((".metier", "journal"))
        )


@pytest.fixture(name="bench")
def make_bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_a_skill_comes_is_updated_and_goes_with_the_folders_made_for_it(bench: Bench) -> None:
    states = []

    for before, after in [("", bench.one), (bench.one, bench.two), (bench.two, "")]:
        bench.apply(bench.switch(before, after))
        states.append(bench.state())

    assert [bench.one, bench.two, ""] == states
    assert [] == os.listdir(bench.project)
    assert [] == bench.left()


def test_folders_that_a_person_made_stay_when_a_removal_empties_them(bench: Bench) -> None:
    bench.skills.mkdir(parents=True)
    bench.apply(bench.switch("", bench.one))

    bench.apply(bench.switch(bench.one, ""))

    assert [] == os.listdir(bench.skills)


def test_folders_that_metier_made_stay_while_something_is_in_them(bench: Bench) -> None:
    bench.apply(bench.switch("", bench.one), bench.switch("", bench.two, "other"))

    bench.apply(bench.switch(bench.one, ""))

    assert ["other"] == os.listdir(bench.skills)


def test_a_folder_becomes_a_link_and_a_link_a_folder(bench: Bench) -> None:
    bench.apply(bench.switch("", bench.one))
    states = []

    for before, after in [
        (bench.one, "link:aim"),
        ("link:aim", "link:other"),
        ("link:other", bench.two),
    ]:
        bench.apply(bench.switch(before, after))
        states.append(bench.state())

    assert ["link:aim", "link:other", bench.two] == states
    assert [] == bench.left()


def test_files_are_made_replaced_and_removed_with_their_mode(bench: Bench) -> None:
    path, below = bench.project / "metier.lock", str(bench.project)
    seen = []

    for before, after in [(None, b"one"), (b"one", b"two"), (b"two", None)]:
        bench.apply(files=(Replace(str(path), below, before, after),))
        seen.append((path.read_bytes(), path.stat().st_mode & 0o777) if path.exists() else None)
        if path.exists():
            path.chmod(0o640)

    assert [(b"one", 0o644), (b"two", 0o640), None] == seen
    assert [] == bench.left()


@pytest.mark.parametrize("what", ["folder", "file", "appeared", "vanished", "not a folder"])
def test_nothing_is_done_when_something_is_not_as_planned(bench: Bench, what: str) -> None:
    bench.apply(bench.switch("", bench.one))
    lock = bench.project / "metier.lock"
    lock.write_bytes(b"as planned")
    switch, replace = (
        bench.switch(bench.one, bench.two),
        Replace(str(lock), str(bench.project), b"as planned", b"new"),
    )
    others = [bench.switch("", bench.two, "other")]
    if what == "folder":
        bench.edit()
    elif what == "file":
        lock.write_bytes(b"not as planned")
    elif what == "appeared":
        (bench.skills / "other").mkdir()
    elif what == "vanished":
        others.append(bench.switch(bench.one, "", "gone"))
    else:
        (bench.skills / "other").write_text("a file")
    before = bench.state(), lock.read_bytes()

    with pytest.raises(StoreError) as caught:
        bench.apply(switch, *others, files=(replace,))

    assert ("changed", before) == (caught.value.code, (bench.state(), lock.read_bytes()))
    assert [] == bench.left()


@pytest.mark.parametrize("exchange", [True, False])
def test_an_edit_in_the_very_instant_of_the_switch_is_kept_in_the_store(
    tmp_path: Path, exchange: bool
) -> None:
    plain = Bench(tmp_path)
    plain.apply(plain.switch("", plain.one))
    bench = Bench(tmp_path, Meddled("swap", plain.edit, exchange=exchange))

    saved = bench.apply(bench.switch(bench.one, bench.two))

    assert [str(bench.skills / "pdf")] == [each.path for each in saved]
    assert (bench.two, b"edited") == (bench.state(), bench.store.read(saved[0].digest, "SKILL.md"))
    assert saved == bench.changer.unclaimed()[0]


def test_something_that_cannot_be_kept_is_put_back_and_the_change_undone(tmp_path: Path) -> None:
    Bench(tmp_path).apply(Bench(tmp_path).switch("", Bench(tmp_path).one))
    bench = Bench(tmp_path, Meddled("swap", lambda: os.mkfifo(bench.skills / "pdf" / "pipe")))
    lock = Replace(str(bench.project / "metier.lock"), str(bench.project), None, b"new")

    with pytest.raises(StoreError) as caught:
        bench.apply(
            bench.switch("", bench.two, "another"),
            bench.switch(bench.one, bench.two),
            files=(lock,),
        )

    assert "changed" == caught.value.code
    assert ["SKILL.md", "pipe"] == sorted(os.listdir(bench.skills / "pdf"))
    assert ["pdf"] == os.listdir(bench.skills)
    assert ([".agents"], []) == (os.listdir(bench.project), bench.left())


def test_a_lock_that_somebody_wrote_in_that_instant_is_put_back(tmp_path: Path) -> None:
    lock = tmp_path / "project" / "metier.lock"
    bench = Bench(tmp_path, Meddled("swap", lambda: lock.write_bytes(b"theirs")))
    lock.write_bytes(b"old")

    with pytest.raises(StoreError) as caught:
        bench.apply(
            bench.switch("", bench.one),
            files=(Replace(str(lock), str(bench.project), b"old", b"new"),),
        )

    assert ("changed", b"theirs", "") == (caught.value.code, lock.read_bytes(), bench.state())
    assert [] == bench.left()


def test_a_folder_that_appears_in_that_instant_is_not_replaced(tmp_path: Path) -> None:
    bench = Bench(
        tmp_path, Meddled("move", lambda: (bench.skills / "pdf" / "mine").mkdir(parents=True))
    )

    with pytest.raises(StoreError) as caught:
        bench.apply(bench.switch("", bench.one))

    assert ("changed", ["mine"]) == (caught.value.code, os.listdir(bench.skills / "pdf"))
    assert [] == bench.left()


def test_a_link_that_appears_on_the_way_in_that_instant_leads_nowhere(tmp_path: Path) -> None:
    outside = tmp_path / "outside"

    def swap_in() -> None:
        bench.skills.rename(outside)
        bench.skills.symlink_to(outside)

    bench = Bench(tmp_path)
    bench.apply(bench.switch("", bench.one))
    bench = Bench(tmp_path, Meddled("move", swap_in))

    with pytest.raises((RefusedError, StoreError)):
        bench.apply(bench.switch("", bench.two, "first"), bench.switch(bench.one, bench.two))

    assert ["pdf"] == [name for name in os.listdir(outside) if name != "first"]
    assert bench.one == state_of(str(outside / "pdf"))


def test_a_tree_that_is_not_in_the_store_changes_nothing(bench: Bench) -> None:
    with pytest.raises(NotFoundError):
        bench.apply(bench.switch("", bench.one), bench.switch("", "sha256:" + "0" * 64, "other"))

    assert ([], []) == (os.listdir(bench.project), bench.left())


def test_what_is_already_so_is_checked_and_left_alone(bench: Bench) -> None:
    bench.apply(bench.switch("", bench.one))
    stamp = (bench.skills / "pdf" / "SKILL.md").stat().st_ino

    saved = bench.apply(bench.switch(bench.one, bench.one))

    assert ((), stamp) == (saved, (bench.skills / "pdf" / "SKILL.md").stat().st_ino)


def test_a_skills_folder_that_is_mounted_by_itself_is_staged_in(tmp_path: Path) -> None:
    class Mounted(OsDiskCalls):
        """The folder of the skills is a mount of its own, on the same device."""

        def move(self, source: str, target: str) -> None:
            skills = f"{tmp_path}/project/.agents/skills/"
            if "/.metier-" in source + target and source.startswith(skills) != target.startswith(
                skills
            ):
                raise OSError(18, "Invalid cross-device link")
            super().move(source, target)

    bench = Bench(tmp_path, Mounted())

    bench.apply(bench.switch("", bench.one))

    assert (bench.one, ["pdf"], []) == (bench.state(), os.listdir(bench.skills), bench.left())


def test_a_place_right_below_its_folder_is_staged_in_that_folder(bench: Bench) -> None:
    place = str(bench.project / "pdf")

    bench.apply(Switch(place, str(bench.project), "", bench.one))

    assert (bench.one, ["pdf"]) == (state_of(place), os.listdir(bench.project))


def test_a_project_that_was_removed_after_a_crash_does_not_stop_other_changes(
    tmp_path: Path,
) -> None:
    bench = Bench(tmp_path)
    bench.apply(bench.switch("", bench.one))
    dying = Bench(tmp_path, Meddled("swap", die))
    in_a_child(lambda: dying.apply(bench.switch(bench.one, bench.two)))
    bench.project.rename(tmp_path / "moved")
    bench.project.mkdir()

    lines = Bench(tmp_path).changer.recover()
    bench.apply(bench.switch("", bench.two))

    assert 1 == len(lines)
    assert bench.two == bench.state()


def test_a_skill_edited_between_crash_and_recovery_keeps_the_edits_and_the_change_is_undone(
    tmp_path: Path,
) -> None:
    bench = Bench(tmp_path)
    bench.apply(bench.switch("", bench.one))
    dying = Bench(tmp_path, Meddled("swap", die))
    in_a_child(
        lambda: dying.apply(
            bench.switch("", bench.two, "another"), bench.switch(bench.one, bench.two)
        )
    )
    edited = bench.edit()

    lines = Bench(tmp_path).changer.recover()

    assert (edited, "") == (bench.state(), bench.state("another"))
    assert all("undone" in line for line in lines)
    assert [] == bench.left()


def test_a_skill_edited_after_its_switch_stays_as_it_is_when_the_change_is_finished(
    tmp_path: Path,
) -> None:
    bench = Bench(tmp_path)
    bench.apply(bench.switch("", bench.one))
    lock = Replace(str(bench.project / "metier.lock"), str(bench.project), None, b"new")
    dying = Bench(tmp_path, Meddled("move", die))
    in_a_child(lambda: dying.apply(bench.switch(bench.one, bench.two), files=(lock,)))
    edited = bench.edit()

    lines = Bench(tmp_path).changer.recover()

    assert (edited, b"new") == (bench.state(), (bench.project / "metier.lock").read_bytes())
    assert all("finished" in line for line in lines)
    assert [] == bench.left()


def test_an_interrupted_change_is_undone_at_once(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.apply(bench.switch("", bench.one))
    interrupted = Bench(tmp_path, Meddled("swap", interrupt))

    with pytest.raises(KeyboardInterrupt):
        interrupted.apply(
            bench.switch("", bench.two, "another"), bench.switch(bench.one, bench.two)
        )

    assert (bench.one, "", []) == (bench.state(), bench.state("another"), bench.left())


def test_only_one_changer_works_at_a_time(bench: Bench) -> None:
    other = Bench(bench.folder).changer
    other.wait = 0.0

    with bench.changer.alone(), bench.changer.alone(), pytest.raises(StoreError) as caught:
        other.recover()

    assert "busy" == caught.value.code


def test_states_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("aim")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").touch()

    states = [
        state_of(str(tmp_path / name))
        for name in ("nothing", "nothing/at/all", "file/below", "file", "pipe", "link", "a\0b")
    ]

    assert ["", "", "", "other", "other", "link:aim", "other"] == states
    assert state_of(str(tmp_path / "folder")).startswith("sha256:")


@pytest.mark.parametrize("before", ["", "one"])
@pytest.mark.parametrize("exchange", [True, False])
def test_a_link_put_on_the_way_after_the_check_leads_nowhere(
    tmp_path: Path, before: str, exchange: bool
) -> None:
    outside = tmp_path / "outside"
    (outside / "pdf").mkdir(parents=True)
    (outside / "pdf" / "mine.txt").write_text("precious\n")
    if not before:
        (outside / "pdf" / "mine.txt").unlink()
        (outside / "pdf").rmdir()
    held = sorted(str(path.relative_to(outside)) for path in outside.rglob("*"))
    bench = Bench(tmp_path)
    if before:
        bench.apply(bench.switch("", bench.one))

    def plant() -> None:
        bench.skills.rename(tmp_path / "away")
        bench.skills.symlink_to(outside)

    step = "swap" if before and exchange else "move"
    meddled = Bench(tmp_path, Meddled(step, plant, exchange=exchange))
    with pytest.raises(StoreError):
        meddled.apply(
            meddled.switch(meddled.one, meddled.two) if before else meddled.switch("", meddled.one)
        )

    assert held == sorted(str(path.relative_to(outside)) for path in outside.rglob("*"))
    bench.skills.unlink()  # whoever planted it takes it away again
    (tmp_path / "away").rename(bench.skills)
    bench.changer.recover()
    assert bench.state() in {"", bench.one, bench.two}
    assert [] == bench.left()
