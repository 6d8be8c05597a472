"""Decisions that are broken off at every step, and files of decisions with every byte changed: no trust is gained and no block lost."""

from __future__ import annotations

import os
import shutil
import signal
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from fakes.decisions import old_bytes
from fakes.faulty_os import FaultyOs
from fakes.hands import FAULTS, Fault, in_a_child

import metier
from metier.errors import MetierError, RefusedError
from metier.trust.decision_records import DecisionRow, Decisions, TrustedProject, weigh_files
from metier.trust.io import decisions_file
from metier.trust.model import TRUSTED_SOURCES

if TYPE_CHECKING:
    from collections.abc import Callable

    from metier.library import Library

SKILLS = ("bad", "worse", "fine", "new", "mine")
FILES = (decisions_file.STATE_FILE, decisions_file.COPY_FILE)
NAMES = ("data/trust.", "data/audit", "metier.toml")
"""What is broken: the record, its copy and its lock, the audit log with its key, and the
configuration."""
RULE = "SC201"


class Scene:
    """A home with decisions in it, which can be set up again as often as there are steps to break."""

    def __init__(self, folder: Path) -> None:
        """Block two skills, approve one, and trust a project."""
        self.folder, self.data = folder / "now", folder / "now" / "data"
        self.kept = folder / "kept"
        for name in SKILLS:
            self.write(f"home/.agents/skills/{name}/SKILL.md", name)
        self.write("project/.agents/skills/theirs/SKILL.md", "theirs")
        self.write("other/.agents/skills/others/SKILL.md", "others")
        self.write("offer/offered/SKILL.md", "offered")
        (self.folder / "project/.git").mkdir()
        (self.folder / "other/.git").mkdir()
        with self.open() as library:
            library.trust("bad", "block", reason="no")
            library.trust("worse", "block")
            library.trust("fine", "approve")
            library.trust_project(str(self.folder / "project"))
            library.trust_own(self.skill("mine"))
            library.trust_source("kept/skills")
            library.waive(RULE, "fine", reason="it is ours")
        self.keep()

    def skill(self, name: str) -> str:
        return str(self.folder / "home/.agents/skills" / name)

    def write(self, path: str, name: str) -> None:
        file = self.folder / path
        file.parent.mkdir(parents=True)
        file.write_text(
            f"---\nname: {name}\ndescription: Does a thing. Use it for that.\n---\n\nDo {name}.\n"
        )

    def open(self, cwd: str = "home") -> Library:
        env = {
            "HOME": str(self.folder / "home"),
            "METIER_SCAN_MODEL": "off",
            "METIER_BACKGROUND": "off",
            "METIER_HOME": str(self.data),
            "METIER_CONFIG": str(self.folder / "metier.toml"),
            "PATH": os.environ.get("PATH", os.defpath),
        }
        return metier.open(cwd=str(self.folder / cwd), env=env)

    def keep(self) -> None:
        shutil.rmtree(self.kept, ignore_errors=True)
        shutil.copytree(self.folder, self.kept, symlinks=True)

    def again(self) -> None:
        shutil.rmtree(self.folder)
        shutil.copytree(self.kept, self.folder, symlinks=True)

    def state(self) -> Decisions:
        return decisions_file.read_decisions(str(self.data))

    def trusted(self) -> set[object]:
        """Give everything that makes something more trusted, in the decisions and the
        configuration.
        """
        return trust_in(self.state()) | self.configured()

    def configured(self) -> set[object]:
        found = tomllib.loads((self.folder / "metier.toml").read_text())["trust"]
        return {
            *(("source", one) for one in found.get("trusted_sources", TRUSTED_SOURCES)),
            *(("waived", one["rule"], one["name"]) for one in found.get("waivers", ())),
        }

    def witnesses(self) -> object:
        """Give what else is known of the decisions: by the second copy and by the log."""
        copy = decisions_file.read_files(str(self.data)).copy.state
        log = decisions_file.read_log(str(self.data))
        return _meaning(copy), _meaning(log.state), log.fault, sorted(log.withdrawn)


def trust_in(state: Decisions) -> set[object]:
    """Give everything that makes something more trusted."""
    approved = {
        (row.approval.name, row.approval.digest, row.path, row.approval.level)
        for row in state.rows
        if row.approval.state == "approved"
    }
    return {
        *approved,
        *(("project", one.path) for one in state.projects),
        *(("own", one.path) for one in state.own),
    }


def assert_blocked(library: Library, names: tuple[str, ...], told: object) -> None:
    cards = {card.name: card.state for card in library.skills(all=True)}
    for name in names:
        assert "blocked" == cards[name], (name, told)
        with pytest.raises(RefusedError) as refused:
            library.view(name, consent=True)
        assert "blocked" == refused.value.code, (name, told)


class Deed(NamedTuple):
    """A decision, and which of two blocked skills it has nothing to do with."""

    act: Callable[[Scene, Library], object]
    blocked: tuple[str, ...] = ("bad", "worse")
    damaged: bool = False
    cwd: str = "home"
    lenient: bool = False
    """Whether the verb has another purpose, and does that even where nothing can be noted."""


def _repair(_scene: Scene, library: Library) -> object:
    return library.repair_trust()


def _new(scene: Scene, library: Library) -> object:
    return library.new("brand-new", str(scene.folder / "home/.agents/skills"))


def _install(scene: Scene, library: Library) -> object:
    return library.add(str(scene.folder / "offer"), consent=lambda _outcome: True)


DEEDS = {
    "approve": Deed(lambda _scene, library: library.trust("new", "approve")),
    "quarantine": Deed(lambda _scene, library: library.trust("fine", "quarantine")),
    "block": Deed(lambda _scene, library: library.trust("fine", "block")),
    "unblock": Deed(lambda _scene, library: library.trust("bad", "unblock"), ("worse",)),
    "trust project": Deed(
        lambda scene, library: library.trust_project(str(scene.folder / "other"))
    ),
    "revoke project": Deed(
        lambda scene, library: library.trust_project(str(scene.folder / "project"), trusted=False)
    ),
    "own": Deed(lambda scene, library: library.trust_own(scene.skill("new"))),
    "remove own": Deed(lambda scene, library: library.trust_own(scene.skill("mine"), own=False)),
    "new": Deed(_new, lenient=True),
    "trust source": Deed(lambda _scene, library: library.trust_source("our/skills")),
    "remove source": Deed(
        lambda _scene, library: library.trust_source("kept/skills", trusted=False)
    ),
    "waive": Deed(lambda _scene, library: library.waive(RULE, "new", reason="it is ours")),
    "remove waiver": Deed(lambda _scene, library: library.take_back_waiver(RULE, "fine")),
    "install": Deed(_install, cwd="other", lenient=True),
    "repair from the copy": Deed(_repair, damaged=True),
    "repair from the log": Deed(_repair, damaged=True),
}


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def _prepare(scene: Scene, name: str) -> tuple[set[object], set[object], object, int]:
    """Set the scene for a deed; give what is trusted before it and after it, the decisions after it,
    and the number of its steps.
    """
    before = scene.trusted()
    deed = DEEDS[name]
    if deed.damaged:
        (scene.data / FILES[0]).write_bytes(b"")
        if name == "repair from the log":
            (scene.data / FILES[1]).write_bytes(b"{}")
        scene.keep()
    watched = FaultyOs(str(scene.folder), NAMES, 0, "EIO")
    with scene.open(deed.cwd) as library, watched.calls():
        deed.act(scene, library)
    after = scene.state()
    assert not after.broken
    assert watched.steps > 10  # fewer were not watched
    return before, scene.trusted(), _meaning(after), watched.steps


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", DEEDS)
def test_a_decision_broken_off_at_any_step_gains_no_trust_and_loses_no_block(
    scene: Scene, name: str, fault: Fault
) -> None:
    before, after, meant, steps = _prepare(scene, name)
    deed, seen = DEEDS[name], set[str]()
    for at in range(1, steps + 1):
        told = f"{name}, {fault} at {at}"
        scene.again()
        faulty = FaultyOs(str(scene.folder), NAMES, at, fault)

        def work(faulty: FaultyOs = faulty) -> None:
            with scene.open(deed.cwd) as library, faulty.calls():
                deed.act(scene, library)

        done = False
        if fault == "SIGKILL":
            assert in_a_child(work) == -signal.SIGKILL, told
        else:
            try:
                work()
                done = True
            except MetierError:
                pass
        state = scene.state()
        allowed = after if done and not deed.lenient else before | after
        assert trust_in(state) | scene.configured() <= allowed, told
        if not deed.damaged:
            assert not state.broken, told
        if done and not state.broken and not deed.lenient:
            assert (meant, after) == (_meaning(state), scene.trusted()), told
        left = repr((_meaning(state), state[3:], scene.witnesses(), scene.configured(), done))
        if left in seen:
            continue  # every door was asked about this very outcome before
        seen.add(left)
        if not deed.damaged:
            _assert_held_after_damage(scene, deed, allowed, told)
        with scene.open() as library:
            assert_blocked(library, deed.blocked, told)
            library.repair_trust()
            assert scene.trusted() <= allowed, told
            assert not scene.state().broken, told
            assert_blocked(library, deed.blocked, told)


def _assert_held_after_damage(scene: Scene, deed: Deed, allowed: set[object], told: str) -> None:
    """Damage the record later on: what is restored is no more than was decided."""
    aside = scene.kept.with_name("aside")
    shutil.copytree(scene.data, aside, symlinks=True)
    (scene.data / FILES[0]).write_bytes(b"")
    with scene.open() as library:
        assert_blocked(library, deed.blocked, told)
        library.repair_trust()
        assert scene.trusted() <= allowed, f"{told}, then damaged"
        assert_blocked(library, deed.blocked, told)
    shutil.rmtree(scene.data)
    aside.rename(scene.data)


def _meaning(state: Decisions) -> object:
    rows = [(row.approval._replace(at=""), row.path) for row in state.rows]
    return rows, [one.path for one in state.projects], [one.path for one in state.own]


FLIPS = (lambda byte: byte ^ 1, lambda byte: byte ^ 0x20, lambda _byte: 0)


@pytest.mark.parametrize("name", FILES)
def test_a_changed_byte_in_either_file_gains_no_trust_and_loses_no_block(
    scene: Scene, name: str
) -> None:
    file = scene.data / name
    whole, before = file.read_bytes(), scene.state()
    blocks = _blocks_in(before)
    fine = next(row for row in before.rows if row.approval.state == "approved")
    said = decisions_file.read_files(str(scene.data)).log
    assert said is None  # the log is not asked while both are good
    for at, byte in enumerate(whole):
        for flip in FLIPS:
            file.write_bytes(whole[:at] + bytes([flip(byte)]) + whole[at + 1 :])

            found = scene.state()

            assert bool(found.broken) == (name == FILES[0]), at
            if found.broken:
                assert (set(), False) == (trust_in(found), found.all_blocked), at
                assert all(found.barred(*block) for block in blocks), at
                assert not found.barred("fine", fine.path, fine.approval.digest), at
            else:
                assert before == found._replace(note=""), at
                assert found.note, at


def test_a_changed_byte_in_a_file_of_the_old_form_gains_no_trust_and_loses_no_block(
    scene: Scene,
) -> None:
    before = scene.state()
    (scene.data / FILES[1]).unlink()
    file = scene.data / FILES[0]
    whole = old_bytes(before)
    log = decisions_file.read_log(str(scene.data))
    blocks = _blocks_in(before)
    for at, byte in enumerate(whole):
        for flip in FLIPS:
            changed = whole[:at] + bytes([flip(byte)]) + whole[at + 1 :]

            found = weigh_files(changed, b"", lambda: log).state

            assert trust_in(found) <= trust_in(before), at
            if found.broken:
                assert all(found.barred(*block) for block in blocks), at
            else:
                assert blocks == _blocks_in(found), at
    file.write_bytes(whole)
    assert before == scene.state()


def _blocks_in(state: Decisions) -> list[tuple[str, str, str]]:
    return [
        (row.approval.name, row.path, row.approval.digest)
        for row in state.rows
        if row.approval.state == "blocked"
    ]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("part", range(8))
def test_a_changed_byte_keeps_a_blocked_skill_from_every_model(
    scene: Scene, name: str, part: int
) -> None:
    file = scene.data / name
    whole = file.read_bytes()
    at = len(whole) * part // 8
    file.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])

    with scene.open() as library:
        assert_blocked(library, ("bad", "worse"), at)
        state = next(card.state for card in library.skills(all=True) if card.name == "fine")
        assert state == ("ask" if name == FILES[0] else "visible")


def test_a_row_that_nobody_wrote_is_not_read(scene: Scene) -> None:
    state = scene.state()
    added = DecisionRow(state.rows[0].approval._replace(state="approved", level="trusted"))
    file = scene.data / FILES[0]
    text = file.read_text()
    project = TrustedProject("/", "2026-01-01T00:00:00Z")

    file.write_text(text.replace('"state": "blocked"', '"state": "approved"'))
    swapped = scene.state()
    file.write_text(text.replace('"own": [', f'"own": [{{"path": "{project.path}"}},'))
    more = scene.state()

    assert added.approval.state == "approved"
    assert (set(), set()) == (trust_in(swapped), trust_in(more))
