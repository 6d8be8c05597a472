"""A change is broken off at every step on disk, by a full disk, a failing disk and a kill: it is whole afterwards, old or new."""

from __future__ import annotations

import signal
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest
from fakes.hands import FAULTS, Fault, FaultyHands, apart, ended_with, in_a_child

from metier.errors import StoreError
from metier.store.io.atomic_change import Changer, Replace, StoreChange, Switch, state_of
from metier.store.io.disk_calls import OsDiskCalls
from metier.store.io.tree_store import Store

EDITED = "what a person wrote"
OLD_LOCK, NEW_LOCK = b"the old lock\n", b"the new lock, longer than the old one\n"


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


class Scene(NamedTuple):
    """A project with an edited skill, one that goes and one that comes, a link for an agent, and a lock."""

    folder: Path

    @property
    def project(self) -> Path:
        return self.folder / "project"

    @property
    def skills(self) -> Path:
        return self.project / ".agents" / "skills"

    def store(self, hands: FaultyHands | OsDiskCalls | None = None) -> Store:
        return Store(str(self.folder / "data" / "store"), None, hands or OsDiskCalls())

    def changer(self, hands: FaultyHands | OsDiskCalls | None = None) -> Changer:
        hands = hands or OsDiskCalls()
        return Changer(str(self.folder / "data" / "supply"), None, self.store(hands), hands)

    def lay_out(self) -> Scene:
        write(self.skills / "edited", SKILL="old", notes=EDITED, scripts__run="run")
        write(self.skills / "leaving", SKILL="leaving")
        (self.project / "metier.lock").write_bytes(OLD_LOCK)
        for name in ("coming", "edited"):
            fresh = write(
                self.folder / "upstream" / name,
                SKILL=f"new {name}",
                notes=EDITED,
                more__text="more" * 100,
            )
            self.store().keep(str(fresh))
        return self

    def planned(self) -> StoreChange:
        below, aim = str(self.project), "../../.agents/skills/coming"
        new = {
            name: state_of(str(self.folder / "upstream" / name)) for name in ("coming", "edited")
        }
        switches = (
            Switch(str(self.skills / "coming"), below, "", new["coming"]),
            Switch(
                str(self.skills / "edited"),
                below,
                state_of(str(self.skills / "edited")),
                new["edited"],
            ),
            Switch(str(self.skills / "leaving"), below, state_of(str(self.skills / "leaving")), ""),
            Switch(str(self.project / ".claude" / "skills" / "coming"), below, "", f"link:{aim}"),
        )
        return StoreChange(
            switches, (Replace(str(self.project / "metier.lock"), below, OLD_LOCK, NEW_LOCK),)
        )

    def change(self, hands: FaultyHands) -> None:
        """Keep the edits, as an update does, and change everything."""
        changer = self.changer(hands)
        with changer.alone():
            plan = self.planned()
            changer.store.keep(str(self.skills / "edited"))
            changer.apply(plan)

    def state(self) -> tuple[str, ...]:
        places = [switch.path for switch in self.planned().switches]
        return (*(state_of(path) for path in places), (self.project / "metier.lock").read_text())

    def staged(self) -> list[str]:
        """List what a broken change may have left: staging folders, journals, passing names, folders made for nothing."""
        names = [
            path
            for path in self.folder.rglob("*")
            if path.name.startswith(".metier-") or path.suffix in {".tmp", ".damaged"}
        ]
        empty = [
            path for path in self.project.rglob("*") if path.is_dir() and not any(path.iterdir())
        ]
        return sorted(map(str, [*names, *empty, *self.folder.rglob("journal.json")]))


def ends(folder: Path) -> tuple[tuple[str, ...], tuple[str, ...], str]:
    """Give the states before and after the change, and the digest of the edits."""
    scene = Scene(folder).lay_out()
    old, edits = scene.state(), state_of(str(scene.skills / "edited"))
    scene.change(FaultyHands())
    return old, scene.state(), edits


def steps_of(folder: Path, *, exchange: bool) -> int:
    hands = FaultyHands(exchange=exchange)
    Scene(folder).lay_out().change(hands)
    return hands.steps


def broken_off(scene: Scene, at: int, fault: Fault, *, exchange: bool) -> None:
    """Run the change with one fault."""
    if fault != "SIGKILL":
        try:
            scene.change(FaultyHands(at, fault, exchange=exchange))
        except StoreError:
            pass
        return
    assert -signal.SIGKILL == in_a_child(
        lambda: scene.change(FaultyHands(at, "SIGKILL", exchange=exchange))
    )


@pytest.mark.parametrize("exchange", [True, False])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_change_broken_off_at_any_step_is_whole_old_or_new(
    tmp_path: Path, fault: Fault, exchange: bool
) -> None:
    old, new, edits = ends(tmp_path / "ends")
    steps = steps_of(tmp_path / "count", exchange=exchange)
    wrong = []

    for at in range(1, steps + 1):
        scene = Scene(tmp_path / str(at)).lay_out()
        broken_off(scene, at, fault, exchange=exchange)
        scene.changer().recover()
        store = scene.store()
        whole = scene.state() in {old, new}
        kept = state_of(str(scene.skills / "edited")) == edits or (
            store.has(edits) and store.read(edits, "notes") == EDITED.encode()
        )
        readable = all(store.has(digest) for digest in store.digests())
        if not (whole and kept and readable and not scene.staged()):
            wrong.append((at, scene.state(), kept, readable, scene.staged()))

    assert 40 < steps
    assert [] == wrong


@pytest.mark.parametrize("exchange", [True, False])
def test_recovery_may_itself_be_killed_at_any_step(tmp_path: Path, exchange: bool) -> None:
    old, new, _edits = ends(tmp_path / "ends")
    steps = steps_of(tmp_path / "count", exchange=exchange)
    wrong, tried = [], 0

    for at in range(15, steps + 1, 4):
        scene = Scene(tmp_path / str(at)).lay_out()
        broken_off(scene, at, "SIGKILL", exchange=exchange)
        last, ended = 1, -signal.SIGKILL
        while ended and last < 99:  # each attempt gets one step further than the one before it
            hands = FaultyHands(last, "SIGKILL", exchange=exchange)
            ended = in_a_child(scene.changer(hands).recover)
            last, tried = last + 1, tried + 1
        scene.changer().recover()
        if scene.state() not in {old, new} or scene.staged():
            wrong.append((at, scene.state(), scene.staged()))

    assert 50 < tried
    assert [] == wrong


@pytest.mark.parametrize("exchange", [True, False])
def test_a_disk_that_stays_full_loses_nothing(tmp_path: Path, exchange: bool) -> None:
    old, new, _edits = ends(tmp_path / "ends")
    steps = steps_of(tmp_path / "count", exchange=exchange)
    wrong = []

    for at in range(1, steps + 1):
        scene = Scene(tmp_path / str(at)).lay_out()
        try:
            scene.change(FaultyHands(at, "ENOSPC", lasting=True, exchange=exchange))
            reported = "done"
        except StoreError:
            reported = "undone"
        at_once = scene.state()
        scene.changer().recover()
        if (
            at_once != scene.state()
            or at_once != {"done": new, "undone": old}[reported]
            or scene.staged()
        ):
            wrong.append((at, reported, at_once, scene.state(), scene.staged()))

    assert [] == wrong


def test_a_change_sweeps_up_after_the_one_before_it_under_the_same_lock(tmp_path: Path) -> None:
    steps, left = steps_of(tmp_path / "count", exchange=True), []

    for at in range(steps - 12, steps + 1):
        scene = Scene(tmp_path / str(at)).lay_out()
        changer, lock = scene.changer(FaultyHands(at, "ENOSPC")), scene.project / "metier.lock"
        with changer.alone():
            changer.store.keep(str(scene.skills / "edited"))
            try:
                changer.apply(scene.planned())
            except StoreError:
                continue
            changer.apply(
                StoreChange(
                    (),
                    (Replace(str(lock), str(scene.project), lock.read_bytes(), b"newer still\n"),),
                )
            )
        left += scene.staged()

    assert [] == left


def counted_up(folder: Path, number: int, rounds: int) -> None:
    """Change two places and the lock together, again and again, each time from what is there."""
    scene = Scene(folder)
    changer, store, lock = scene.changer(), scene.store(), scene.project / "metier.lock"
    for turn in range(rounds):
        source = write(folder / f"work-{number}" / str(turn), SKILL=f"{number} {turn}")
        digest = store.keep(str(source))
        with changer.alone():
            places = [str(scene.skills / name) for name in ("coming", "edited")]
            switches = tuple(
                Switch(place, str(scene.project), state_of(place), digest) for place in places
            )
            data = lock.read_bytes()
            changer.apply(
                StoreChange(
                    switches,
                    (Replace(str(lock), str(scene.project), data, data + f"{digest}\n".encode()),),
                )
            )


def test_processes_that_change_the_same_places_at_once_take_turns(tmp_path: Path) -> None:
    processes, rounds = 4, 8
    scene = Scene(tmp_path).lay_out()

    children = [apart(partial(counted_up, tmp_path, number, rounds)) for number in range(processes)]
    ended = [ended_with(child) for child in children]

    lines = (scene.project / "metier.lock").read_text().splitlines()[1:]
    assert [0] * processes == ended
    assert processes * rounds == len(set(lines))
    assert {lines[-1]} == {state_of(str(scene.skills / name)) for name in ("coming", "edited")}
    assert [] == scene.staged()
