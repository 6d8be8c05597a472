"""Two plugins on disk, a project that may mirror them, a person who edits there, and a judge of what is left after a crash.

Not a test: the walk at random, the crash scenarios and the benchmark run it, the tests for its answers and the benchmark for its
figures.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from doors.upstream import DANGEROUS
from fakes.breaking import QuickHands
from fakes.hands import FaultyHands

import metier
from metier.errors import MetierError
from metier.plugins import mirror_store
from metier.plugins.mirror_json import needed_trees
from metier.store.io.atomic_change import state_of
from metier.supply import fetch, places

if TYPE_CHECKING:
    from collections.abc import Iterator

    from metier.library import Library
    from metier.plugins.model import Mirror, MirroredVersion
    from metier.ports import DiskCalls
    from metier.store.io.tree_store import Store

PLUGINS = ("box", "kit")
SHIPS = {"box": ("gamma", "shared"), "kit": ("alpha", "shared")}
"""What each may ship; a name that both have can be one's only."""
NAMES = ("alpha", "gamma", "shared")
PLACES = 3
"""So many lines of a skill change; they lie far enough apart to be merged."""
_GAP = "".join(f"A line that stays, number {number}.\n" for number in range(3))
MANIFEST = ".claude-plugin/plugin.json"
HOUR = 3_600_000_000_000


def document(name: str, words: tuple[str, ...]) -> str:
    """Give a harmless skill's text, with a word in each place."""
    body = _GAP.join(f"Place {at}: {word}.\n" for at, word in enumerate(words))
    return f"---\nname: {name}\ndescription: Does one thing. Use it for that thing.\n---\n\n{_GAP}{body}{_GAP}"


def with_word(text: str, at: int, word: str) -> str:
    """Give a skill's text with another word in one place."""
    return re.sub(rf"^Place {at}: .*$", f"Place {at}: {word}.", text, flags=re.MULTILINE)


class KilledError(BaseException):
    """Stands for a SIGKILL: nobody catches it, and whatever cleans up on its way finds a disk that does nothing any more."""


class DyingHands(FaultyHands):
    """Stands behind `DiskCalls`: at one step the process is as good as dead. That step and all later ones do nothing but raise."""

    def __init__(self, at: int, inner: DiskCalls | None = None) -> None:
        """Die at step `at`, counted from one."""
        super().__init__(at, inner=inner or QuickHands())

    @property
    def dead(self) -> bool:
        """Tell whether it came to that."""
        return 0 < self.at <= self.steps

    def _step(self, name: str, path: str, *, grows: bool = True) -> None:
        del grows
        self.steps += 1
        self.done.append((name, path))
        if self.dead:
            raise KilledError


class Written(NamedTuple):
    """A state of a working copy that a person made."""

    name: str
    digest: str


class Kits:
    """The plugins `box` and `kit`, a project, a home and a METIER_HOME in one folder."""

    def __init__(self, folder: Path) -> None:
        """Make them; each plugin ships its own skill."""
        self.folder, self.project, self.data = folder, folder / "project", folder / "data"
        for path in (self.project / ".git", folder / "home"):
            path.mkdir(parents=True)
        self.precious: set[Written] = set()
        """What must never be lost: all that a person wrote, but for what that person replaced before anybody saw it."""
        self.desks: dict[str, str] = {}
        """What a person made of a desk, by its path."""
        self.ahead = 0
        """How far the clock of a look is ahead, in nanoseconds: with an hour, stats are believed that were taken a moment ago."""
        self.gone: set[str] = set()
        """Working copies that a person deleted."""
        for plugin in PLUGINS:
            self.manifest(plugin)
            self.ship(plugin, SHIPS[plugin][0])

    def library(self, hands: DiskCalls | None = None) -> Library:
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
        clock = opened.context.ports.clock_ns
        opened.context.ports = opened.context.ports._replace(clock_ns=lambda: clock() + self.ahead)
        return opened

    # --- upstream

    def source(self, plugin: str) -> Path:
        """Give where a plugin lies."""
        return self.folder / "sources" / plugin

    def shipped(self, plugin: str, name: str) -> Path:
        """Give the folder of a skill in its plugin."""
        return self.source(plugin) / "skills" / name

    def manifest(self, plugin: str, version: str = "1.0") -> None:
        """Write a plugin's manifest."""
        _put(self.source(plugin) / MANIFEST, json.dumps({"name": plugin, "version": version}))

    def hide(self, plugin: str) -> None:
        """Take a plugin's manifest away."""
        (self.source(plugin) / MANIFEST).unlink(missing_ok=True)

    def hidden(self, plugin: str) -> bool:
        """Tell whether a plugin has no manifest now."""
        return not (self.source(plugin) / MANIFEST).exists()

    def ship(self, plugin: str, name: str, words: tuple[str, ...] = ("one", "one", "one")) -> None:
        """Have a plugin ship a skill with these words."""
        _put(self.shipped(plugin, name) / "SKILL.md", document(name, words))
        _put(self.shipped(plugin, name) / "references" / "more.md", "More of it.\n")

    def change(self, plugin: str, name: str, at: int, word: str) -> None:
        """Have a plugin change one word of a skill that it ships."""
        file = self.shipped(plugin, name) / "SKILL.md"
        if file.exists():
            _put(file, with_word(file.read_text(), at, word))

    def ship_evil(self, plugin: str, name: str) -> None:
        """Have a plugin ship what nobody should take."""
        _put(
            self.shipped(plugin, name) / "SKILL.md", DANGEROUS.replace("name: bad", f"name: {name}")
        )

    def withdraw(self, plugin: str, name: str) -> None:
        """Have a plugin ship a skill no longer."""
        shutil.rmtree(self.shipped(plugin, name))

    def ships(self, plugin: str) -> dict[str, str]:
        """Give the digest of each skill that a plugin ships."""
        found = {name: state_of(str(self.shipped(plugin, name))) for name in SHIPS[plugin]}
        return {name: state for name, state in found.items() if state}

    def is_evil(self, plugin: str, name: str) -> bool:
        """Tell whether what a plugin ships would harm somebody."""
        return "203.0.113.9" in (self.shipped(plugin, name) / "SKILL.md").read_text()

    # --- the person

    def working(self, name: str) -> Path:
        """Give where a working copy lies."""
        return self.project / ".agents" / "skills" / name

    def local(self, name: str) -> str:
        """Give the state of a working copy."""
        return state_of(str(self.working(name)))

    def edit(self, name: str, at: int, word: str) -> None:
        """Change a word of a working copy, or write a skill of one's own where there is none."""
        self.let_go(name)
        file = self.working(name) / "SKILL.md"
        text = file.read_text() if file.exists() else document(name, ("own", "own", "own"))
        _put(file, with_word(text, at, word))
        self.precious.add(Written(name, self.local(name)))

    def delete(self, name: str) -> None:
        """Remove a working copy, as a person does."""
        self.let_go(name)
        shutil.rmtree(self.working(name), ignore_errors=True)
        self.gone.add(name)

    def let_go(self, name: str) -> None:
        """Forget what is in place: it is the person who replaces it. What is a version stays precious."""
        here = Written(name, self.local(name))
        if here in self.precious and here.digest not in {
            one.digest for one in self._versions(name)
        }:
            self.precious.remove(here)

    def _versions(self, name: str) -> tuple[MirroredVersion, ...]:
        try:
            skill = self.mirror().skill(name)
        except MetierError:
            return ()
        return skill.versions if skill is not None else ()

    # --- what is there

    def mirror(self) -> Mirror:
        """Give what is written down."""
        with self.library() as library:
            return mirror_store.read(
                library.context, places.place_of(library.context, user=False)
            ).mirror

    def is_unsettled(self) -> bool:
        """Tell whether a change was broken off, and nobody has settled it yet."""
        return (self.data / "supply" / "journal.json").exists()

    def settle(self, hands: DiskCalls | None = None) -> None:
        """Open it anew after a crash: have what was broken off finished or undone, and sweep as whoever writes next does."""
        with self.library(hands) as library:
            places.recover(library.context)
            with mirror_store.hold_lock(library.context):
                pass
            with fetch.open_quarantine(library.context):
                places.store_of(library.context).drop(())

    def wrong(self) -> list[str]:
        """Say what does not hold. To be asked when no change is under way."""
        with self.library() as library:
            place, store = (
                places.place_of(library.context, user=False),
                places.store_of(library.context),
            )
            try:
                mirror = mirror_store.read(library.context, place).mirror
            except MetierError as error:
                return [f"what is mirrored cannot be read: {error!r}"]
            lost = [
                f"{digest} is not in the store"
                for digest in sorted(needed_trees(mirror))
                if not _is_whole(store, digest)
            ]
            locked = places.read(place).lock
            both = [
                f"{skill.name} is in the lock too"
                for skill in mirror.skills
                if locked.named(skill.name) is not None
            ]
            return [
                *lost,
                *both,
                *self._lost(mirror, store),
                *self._owners(mirror),
                *self._copies(mirror),
            ]

    def _lost(self, mirror: Mirror, store: Store) -> Iterator[str]:
        for name, digest in sorted(self.precious):
            skill = mirror.skill(name)
            kept = (
                skill is not None
                and digest in {one.digest for one in skill.versions}
                and _is_whole(store, digest)
            )
            if not kept and self.local(name) != digest:
                yield f"an edit of {name} is lost: {digest}"
        for desk, digest in self.desks.items():
            kept = any(one.digest == digest for skill in mirror.skills for one in skill.versions)
            if not kept and state_of(desk) != digest:
                yield f"what was made of a desk is lost: {desk}"

    def _owners(self, mirror: Mirror) -> Iterator[str]:
        for skill in mirror.skills:
            bound = [
                one.plugin_id
                for one in mirror.plugins
                if (there := one.binding(skill.name)) is not None and there.accepted
            ]
            if len(bound) > 1:
                yield f"{skill.name} has several owners: {bound}"
            if [skill.owner] != ([f"plugin:{one}" for one in bound] or ["user"]):
                yield f"{skill.name} is owned by {skill.owner}, and bound to {bound}"
        enabled = {f"plugin:{one.plugin_id}": one.enabled for one in mirror.plugins}
        for skill in mirror.skills:
            if enabled.get(skill.owner, skill.status == "active") != (skill.status == "active"):
                yield f"{skill.name} is {skill.status}, which its owner is not: {skill.owner}"

    def _copies(self, mirror: Mirror) -> Iterator[str]:
        self.gone = {name for name in self.gone if not self.local(name)}
        for skill in mirror.skills:
            local, current = self.local(skill.name), skill.version(skill.current)
            edited = Written(skill.name, local) in self.precious
            assert current is not None
            if skill.status == "active" and not local and skill.name not in self.gone:
                yield f"{skill.name} is active, and has no folder"
            if local and local != current.digest and not edited:
                yield f"{skill.name} is {local}, which is neither its current version nor anybody's edit"
            if skill.status != "active" and local and not edited:
                yield f"{skill.name} is disabled, and there is {local}"
        for plugin in mirror.plugins:
            waiting = {one.pending for one in plugin.skills} - {""}
            open_ = {
                one.id
                for one in mirror.candidates
                if one.status in {"open", "accepted"} and one.evidence.plugin_id == plugin.plugin_id
            }
            if waiting != open_:
                yield f"{plugin.plugin_id} waits for {sorted(waiting)}, and the queue has {sorted(open_)}"

    def left(self) -> list[str]:
        """List what only a change under way may have: staging, journals, passing names, empty folders."""
        own = {
            self.project / path for path in (".git", ".agents", ".agents/skills")
        }  # a person may have emptied these
        found = [path for path in self.project.rglob("*") if path.name.startswith(".metier-")]
        found += [
            path
            for path in self.project.rglob("*")
            if path.is_dir() and path not in own and not any(path.iterdir())
        ]
        found += [path for path in (self.data / "staging").glob("*") if path.name != ".lock"]
        found += [
            path
            for path in (self.data / "supply").glob("*")
            if path.name.startswith("journal") or path.suffix in {".tmp", ".damaged"}
        ]
        found += [path for path in (self.data / "plugins").glob("*") if path.suffix != ".json"]
        found += list((self.data / "store" / "tmp").glob("*"))
        return [str(path) for path in found]


def _is_whole(store: Store, digest: str) -> bool:
    """Tell whether a tree is in the store with every byte of it."""
    try:
        return all(store.read(digest, file.path) is not None for file in store.files(digest))
    except MetierError:
        return False


def _put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(
        missing_ok=True
    )  # a new file each time: a walk is faster than the clock that stamps files
    path.write_text(text)
