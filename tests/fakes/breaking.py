"""A project whose every operation can be broken off at every step on disk, with a judge of what is left of it.

Not a test: the crash scenarios and the benchmark both run it, the one for its answers and the other for its figures.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from fakes.hands import FAULTS, Fault, FaultyHands, in_a_child

import metier
from metier.discover.io.second_process import start_apart
from metier.errors import MetierError
from metier.store import layout
from metier.store.io.atomic_change import state_of
from metier.store.io.disk_calls import OsDiskCalls
from metier.supply import places
from metier.supply.lock import read_lock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from metier.library import Library

MINE = "What a person wrote."
LINES = "".join(f"Line {number} of the instructions.\n" for number in range(1, 13))
NAMES = ("alpha", "beta", "gamma")
DEATHS = 17
"""Within so many of its first steps a recovery is killed."""
FOLDERS = (".agents", ".claude", ".qwen")
Stuff = dict[str, tuple[int, bytes]]


def document(name: str, body: str = LINES) -> str:
    """Give a harmless skill's text."""
    return f"---\nname: {name}\ndescription: Does one thing. Use it for that thing.\n---\n\n{body}"


class QuickHands(OsDiskCalls):
    """The system's own hands, but for the wait until the disk has it: a killed process loses nothing that was written."""

    def sync(self, path: str) -> None:
        """Look at it, and wait for nothing."""
        os.lstat(path)


class World:
    """A source, a project, a home and a METIER_HOME in one folder, which can be kept and brought back as it was."""

    def __init__(self, folder: Path, data: Path | None = None) -> None:
        """Make them, with two skills in the source; the one that is installed is linked for one agent and copied for another.

        METIER_HOME may be elsewhere, such as on another file system.
        """
        self.folder = folder
        self.project, self.source, self.data = (
            folder / "project",
            folder / "source",
            data or folder / "data",
        )
        for path in (self.project / ".git", folder / "home"):
            path.mkdir(parents=True)
        self.offer("alpha")
        self.offer("beta")
        self.write("source/alpha/scripts/run.sh", "echo done\n")
        with self.library() as library:
            library.add(str(self.source), skills=["alpha"], to=["claude-code"])
            library.context.platform = "win32"  # where links are not to be had
            library.add(str(self.source), skills=["alpha"], to=["qwen-code"])

    def library(self, hands: FaultyHands | None = None) -> Library:
        """Open the library of the project."""
        env = {
            "HOME": str(self.folder / "home"),
            "METIER_SCAN_MODEL": "off",
            "METIER_BACKGROUND": "off",
            "METIER_HOME": str(self.data),
            "PATH": os.environ.get("PATH", os.defpath),
        }
        opened = metier.open(cwd=str(self.project), env=env)
        opened.context.disk_calls = hands or QuickHands()
        return opened

    def write(self, path: str, text: str) -> None:
        """Write a file."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def offer(self, name: str, old: str = "", new: str = "") -> None:
        """Have the source offer a skill, with some words in the place of others."""
        self.write(
            f"source/{name}/SKILL.md", document(name, LINES.replace(old, new) if old else LINES)
        )

    def working(self, name: str) -> Path:
        """Give where a working copy lies."""
        return self.project / ".agents" / "skills" / name

    def edit(self, name: str = "alpha", old: str = "Line 3 of") -> None:
        """Change a line of a working copy, as a person would."""
        file = self.working(name) / "SKILL.md"
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, f"{MINE} {old}"))

    def kept(self) -> Stuff:
        """Take everything down."""
        return {path: what for folder in self._roots() for path, what in _stuff(folder)}

    def back(self, stuff: Stuff) -> None:
        """Bring everything back."""
        for folder in self._roots():
            shutil.rmtree(folder, ignore_errors=True)
        for path, (mode, data) in stuff.items():
            if stat.S_ISDIR(mode):
                os.mkdir(path, stat.S_IMODE(mode))
            elif stat.S_ISLNK(mode):
                os.symlink(data, path)
            else:
                file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, stat.S_IMODE(mode))
                os.write(file, data)
                os.close(file)

    def _roots(self) -> list[Path]:
        return [self.folder] if self.folder in self.data.parents else [self.folder, self.data]

    # --- what is there

    def state(self) -> tuple[object, ...]:
        """Give every place, the lock and this machine's notes, but for times and names that were drawn."""
        return (*(self.skill(name) for name in NAMES), self._lock(), *self._notes())

    def skill(self, name: str) -> tuple[object, ...]:
        """Give what is in the places of one skill, and its row of the lock."""
        found = [state_of(str(self.project / folder / "skills" / name)) for folder in FOLDERS]
        return (*found, read_lock(self._lock() or b"{}").named(name))

    def _lock(self) -> bytes:
        file = self.project / "metier.lock"
        return file.read_bytes() if file.exists() else b""

    def _notes(self) -> Iterator[str]:
        for file in sorted((self.data / "supply").glob("*.json")):
            if file.name not in {"made.json", "journal.json", "saved.json"}:
                found = json.loads(file.read_bytes())
                yield json.dumps([{**one, "at": ""} for one in found["revisions"]])
                yield json.dumps([{**one, "desk": bool(one["desk"])} for one in found["pending"]])

    def has_edits(self) -> bool:
        """Tell whether what a person wrote is in a working copy, or in a revision that the store has whole."""
        files = [path for name in NAMES for path in self.working(name).rglob("*") if path.is_file()]
        if any(MINE in path.read_text() for path in files):
            return True
        with self.library() as library:
            store, place = (
                places.store_of(library.context),
                places.place_of(library.context, user=False),
            )
            revisions = [one for one in places.read(place).state.revisions if store.has(one.digest)]
            return any(MINE.encode() in store.read(one.digest, "SKILL.md") for one in revisions)

    def left(self) -> list[str]:
        """List what only a change under way may have: staging, journals, passing names, empty folders."""
        found = [path for path in self.project.rglob("*") if path.name.startswith(".metier-")]
        found += [
            path
            for path in self.project.rglob("*")
            if path.is_dir() and path.name != ".git" and not any(path.iterdir())
        ]
        found += [path for path in (self.data / "staging").glob("*") if path.name != ".lock"]
        found += [
            path
            for path in (self.data / "supply").glob("*")
            if path.name.startswith("journal") or path.suffix in {".tmp", ".damaged"}
        ]
        found += list((self.data / "store" / "tmp").glob("*"))
        return [str(path) for path in found]


def _stuff(folder: Path) -> Iterator[tuple[str, tuple[int, bytes]]]:
    mode = folder.lstat().st_mode
    yield str(folder), (mode, b"")
    for path in sorted(folder.iterdir()):
        mode = path.lstat().st_mode
        if stat.S_ISDIR(mode):
            yield from _stuff(path)
        else:
            yield (
                str(path),
                (mode, os.fsencode(os.readlink(path)) if stat.S_ISLNK(mode) else path.read_bytes()),
            )


class Operation(NamedTuple):
    """One verb: what there is before it, and the call."""

    name: str
    prepare: Callable[[World], None]
    act: Callable[[World, Library], object]


class Tally(NamedTuple):
    """What became of one operation that was broken off at each of its steps."""

    tried: int
    """How many steps."""
    wrong: tuple[str, ...]
    """What was lost, torn or left behind, each with its step."""


class Trial:
    """One operation in one world, to be broken off again and again."""

    def __init__(
        self, folder: Path, operation: Operation, *, exchange: bool = True, data: Path | None = None
    ) -> None:
        """Prepare it, run it once undisturbed, and count its steps."""
        self.world, self.operation, self.exchange = World(folder, data), operation, exchange
        operation.prepare(self.world)
        self.stuff, self.old = self.world.kept(), self.world.state()
        hands = self._hands(0, "SIGKILL")
        self._act(hands)
        self.steps, self.new = hands.steps, self.world.state()
        assert self.old != self.new, "the operation does nothing"
        assert not self.world.left(), self.world.left()
        assert self.world.has_edits()

    def tally(self, *faults: Fault, then: str = "sync") -> Tally:
        """Break it off at every step, by these faults in turn.

        `then` comes `sync`; or the person says the same `again`; or recovery is killed as well, and has to come `twice`.
        """
        wrong = list[str]()
        for at in range(1, self.steps + 1):
            fault = faults[at % len(faults)]
            self.world.back(self.stuff)
            found = [*self._broken(at, fault), *self._after(at, fault, then)]
            wrong += [
                f"{self.operation.name}, {fault} at {at}, then {then}: {text}" for text in found
            ]
        return Tally(self.steps, tuple(wrong))

    def _hands(self, at: int, fault: Fault) -> FaultyHands:
        # A full disk stays full; one that fails may have failed once.
        return FaultyHands(
            at, fault, lasting=fault == "ENOSPC", exchange=self.exchange, inner=QuickHands()
        )

    def _act(self, hands: FaultyHands | None) -> bool:
        """Do it; give whether it says that all was done."""
        with self.world.library(hands) as library:
            return bool(getattr(self.operation.act(self.world, library), "ok", True))

    def _is_whole(self) -> bool:
        return self.world.state() in {self.old, self.new}

    def _has_whole_skills(self) -> bool:
        """Tell whether each skill is old or new by itself: some may have been refused, and the others not."""
        sides = zip(NAMES, self.old, self.new, strict=False)
        return all(self.world.skill(name) in {old, new} for name, old, new in sides)

    def _broken(self, at: int, fault: Fault) -> Iterator[str]:
        hands = self._hands(at, fault)
        if fault == "SIGKILL":
            ended = in_a_child(lambda: self._act(hands))
            if ended != -signal.SIGKILL:
                yield f"the process ended with {ended}"
            return
        try:
            ok = self._act(hands)
        except MetierError as error:
            if error.code != "unsettled" and not self._is_whole():
                yield f"neither old nor new after {error!r}"
        except Exception as error:  # noqa: BLE001 - that is what is looked for
            yield f"raised {error!r}"
        else:
            if ok and self.world.state() != self.new:
                yield "said nothing, and did not do it"

    def _after(self, at: int, fault: Fault, then: str) -> Iterator[str]:
        try:
            if then == "again":
                yield from self._said_again()
                return
            if then == "twice":
                in_a_child(lambda: self._recover(self._hands(1 + at % DEATHS, "SIGKILL")))
            self._recover(None)
            if not (self._is_whole() if fault == "SIGKILL" else self._has_whole_skills()):
                yield "neither old nor new"
            if not self.world.has_edits():
                yield "edits are lost"
            yield from self._synced()
        except MetierError as error:
            yield f"cannot go on: {error!r}"

    def _recover(self, hands: FaultyHands | None) -> None:
        with self.world.library(hands) as library:
            places.changer_of(library.context).recover()

    def _said_again(self) -> Iterator[str]:
        """Say the same until it is done; who is told that things have changed, or that it is done already, looks at it."""
        for _time in range(2):
            try:
                self._act(None)
            except MetierError as error:
                if error.code == "changed":
                    continue
                if self.world.state() != self.new:
                    yield f"cannot be said again: {error!r}"
            break
        if self.world.state() != self.new:
            yield "the same again does not lead to the same"
        yield from self._synced()

    def _synced(self) -> Iterator[str]:
        with self.world.library() as library:
            library.sync()
        with self.world.library() as library:
            frozen, audit = library.sync(frozen=True), library.audit_verify()
        if not frozen.ok:
            yield f"the lock and the disk do not agree: {frozen.drift}"
        if not audit.ok:
            yield f"the audit log does not hold: {audit.reason}"
        if not self.world.has_edits():
            yield "edits are lost after sync"
        for pin in read_lock((self.world.project / "metier.lock").read_bytes()).pins:
            if state_of(str(self.world.project / pin.targets[0].path)) != pin.digest:
                yield f"{pin.name} is not what the lock has"
        yield from (f"left behind: {path}" for path in self.world.left())


def at_once(*tasks: Callable[[], Tally]) -> list[Tally]:
    """Run several of them at the same time, each in a process of its own where that can be."""
    started = [
        (task, start_apart(lambda task=task: json.dumps(task()).encode()))  # type: ignore[misc]
        for task in tasks[1:]
    ]
    found = [tasks[0]()]
    for task, answer in started:
        with answer or nullcontext():
            told = answer.result() if answer is not None else None
        found.append(_told(told) if told else task())
    return found


def _told(data: bytes) -> Tally:
    tried, wrong = json.loads(data)
    return Tally(tried, tuple(wrong))


# --- the operations


def _both(world: World) -> None:
    with world.library() as library:
        library.add(str(world.source), skills=["beta"], to=["claude-code"])


def _needing(world: World) -> None:
    """Have one skill of the source need another, which comes and goes with it."""
    world.write(
        "source/beta/SKILL.md",
        document("beta").replace("\n---\n", "\ndepends-on: [gamma]\n---\n", 1),
    )
    world.offer("gamma")


def _before_adding(world: World) -> None:
    _needing(world)
    world.edit()


def _before_removing(world: World) -> None:
    _needing(world)
    _both(world)
    world.edit()


def _before_sync(world: World) -> None:
    _both(world)
    world.edit()
    shutil.rmtree(world.working("beta"))
    (world.project / ".claude" / "skills" / "beta").unlink()


def _before_fetching(world: World) -> None:
    """Have the bytes of one skill gone from the store, while the verdict on them is known."""
    _before_sync(world)
    pins = {pin.name: pin for pin in read_lock((world.project / "metier.lock").read_bytes()).pins}
    (world.data / "store" / layout.tree_path(pins["beta"].digest)).unlink()


def _before_adopting(world: World) -> None:
    world.edit()
    world.write("project/.agents/skills/gamma/SKILL.md", document("gamma"))
    world.write("project/.agents/skills/gamma/more/text.md", "More.\n")


def _before_updating(world: World) -> None:
    _both(world)
    world.edit()
    world.offer("alpha", "Line 9", "Newer line 9")
    world.offer("beta", "Line 9", "Newer line 9")
    _needing(world)  # the newer version needs what comes along with it


def _before_merging(world: World) -> None:
    _both(world)
    world.edit()
    world.offer("alpha", "Line 3", "Their line 3")
    world.offer("beta", "Line 9", "Newer line 9")
    with world.library() as library:
        assert [one.name for one in library.update(consent=lambda _plan: True).held] == ["alpha"]


def _before_continuing(world: World) -> None:
    _before_merging(world)
    with world.library() as library:
        desk = Path(library.merge("alpha").desk)
    marked = (desk / "SKILL.md").read_text()
    kept = [
        line
        for line in marked.splitlines(keepends=True)
        if not line.startswith(("<<<<<<<", "|||||||", "=======", ">>>>>>>"))
    ]
    (desk / "SKILL.md").write_text("".join(kept))


def _before_rolling_back(world: World) -> None:
    _both(world)
    world.offer("alpha", "Line 9", "Newer line 9")
    with world.library() as library:
        library.update(consent=lambda _plan: True)
    world.edit()


OPERATIONS = (
    Operation(
        "add",
        _before_adding,
        lambda world, library: library.add(
            str(world.source), skills=["alpha", "beta"], to=["claude-code"], force=True
        ),
    ),
    Operation(
        "remove",
        _before_removing,
        lambda _world, library: library.remove(["alpha", "beta"], force=True, orphans=True),
    ),
    Operation("sync", _before_sync, lambda _world, library: library.sync()),
    Operation("fetch", _before_fetching, lambda _world, library: library.sync()),
    Operation(
        "adopt", _before_adopting, lambda world, library: library.adopt(world.working("gamma"))
    ),
    Operation(
        "update",
        _before_updating,
        lambda _world, library: library.update(consent=lambda _plan: True),
    ),
    Operation("merge", _before_merging, lambda _world, library: library.merge("alpha", "theirs")),
    Operation(
        "continue", _before_continuing, lambda _world, library: library.merge("alpha", "continue")
    ),
    Operation(
        "rollback", _before_rolling_back, lambda _world, library: library.rollback("alpha", 1)
    ),
)


def run(folder: Path, name: str, faults: list[Fault], then: str) -> list[Tally]:
    """Break one operation off in a process of its own: a copy of a small process is made in a moment, of a large one it is not."""
    words = [sys.executable, "-m", "fakes.breaking", str(folder), name, then, *faults]
    env = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(
            map(str, (Path(__file__).parent.parent, Path(metier.__file__).parent.parent))
        ),
    }
    ended = subprocess.run(words, capture_output=True, check=False, env=env)
    assert ended.returncode == 0, ended.stderr.decode()
    return [Tally(tried, tuple(wrong)) for tried, wrong in json.loads(ended.stdout)]


def main(folder: str, name: str, then: str, *faults: Fault) -> None:
    """Break an operation off at every step by each fault, and print what became of it."""
    operation = next(one for one in OPERATIONS if one.name == name)

    def tried(fault: Fault) -> Tally:
        place = Path(folder) / f"{name}-{fault}"
        place.mkdir()
        return Trial(place / "world", operation).tally(fault, then=then)

    json.dump(at_once(*(partial(tried, fault) for fault in faults)), sys.stdout)


if __name__ == "__main__":
    main(
        sys.argv[1], sys.argv[2], sys.argv[3], *(fault for fault in FAULTS if fault in sys.argv[4:])
    )
