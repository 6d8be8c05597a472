"""One walk over the verbs for plugins: each is done in earnest and to a simple model, and may be broken off at any step on disk."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from random import Random
from traceback import format_exception
from typing import TYPE_CHECKING, Any, NamedTuple

from fakes.breaking import QuickHands
from fakes.hands import Fault, FaultyHands
from fakes.kits import HOUR, NAMES, PLACES, PLUGINS, SHIPS, DyingHands, KilledError, Kits, with_word
from fakes.standings import Sight, Standings

from metier.errors import MetierError
from metier.plugins.mirror_ledger import REMOVED_PREFIX
from metier.store.io.atomic_change import state_of
from metier.supply.merge.settle import is_untouched

if TYPE_CHECKING:
    from collections.abc import Callable

    from metier.library import Library
    from metier.plugins.model import ReviewCandidate

MEMORY = Path("/dev/shm")
_OPEN = {"open", "accepted"}
_MARKS = ("<<<<<<<", "|||||||", "=======", ">>>>>>>")


WORDS = ("one", "two", "three")
"""Few, so that both sides come to the same, and back to what was."""
MOST = (20, 60, 170)
"""Verbs with an effect have up to so many steps; most have few."""
BROKEN = 0.6
"""How many of the verbs are broken off, unless they are done before that step."""

OFTEN = {
    "ship": 2,
    "upstream_word": 8,
    "leave_out": 2,
    "manifest": 2,
    "person": 8,
    "enable": 5,
    "sync": 9,
    "pause": 1,
    "resume": 4,
    "disable": 2,
    "adopt": 1,
    "accept": 8,
    "edit": 3,
    "reject": 1,
    "make_current": 3,
    "reopen": 1,
}
"""How often each thing happens."""


class Tally(NamedTuple):
    """How far a walk came."""

    verbs: int
    broken: int
    wrong: tuple[str, ...]
    """The way to what was wrong."""


class Told(NamedTuple):
    """What a verb said about what it could not look at."""

    notes: tuple[str, ...]


class Break(NamedTuple):
    """Where a verb is broken off, and what comes then."""

    fault: Fault
    at: int
    then: str
    """The next to come finds it `settled`; the one who settles it is `killed` too; or it is `left` as it is for the next verb."""
    again: int = 1
    """At which of its steps whoever settles it is killed."""

    def hands(self) -> FaultyHands:
        """Give hands that do so."""
        if self.fault == "SIGKILL":
            return DyingHands(self.at)
        return FaultyHands(self.at, self.fault, lasting=self.fault == "ENOSPC", inner=QuickHands())


class Walk:
    """A world and its model, and the verbs on both."""

    def __init__(self) -> None:
        """Begin in an empty project."""
        self._folder = tempfile.mkdtemp(prefix="walk-", dir=MEMORY if MEMORY.is_dir() else None)
        self.kits, self.model = Kits(Path(self._folder) / "world"), Standings()
        self.unsettled = False
        """A verb was broken off, and nobody has come since."""
        self.steps = self.broken = 0
        self.told: list[str] = []
        self.given: set[str] = set()
        """The names of desks that were accepted as they were."""

    def close(self) -> None:
        """Throw the world away."""
        shutil.rmtree(self._folder, ignore_errors=True)

    # --- looking

    def sight(self, plugin: str) -> Sight:
        """See what a verb about a plugin would see."""
        kits = self.kits
        ships = None if kits.hidden(plugin) else kits.ships(plugin)
        evil = frozenset(name for name in ships or {} if kits.is_evil(plugin, name))
        return Sight(ships, evil, {name: kits.local(name) for name in NAMES})

    def is_foreign(self, name: str) -> bool:
        """Tell whether a person wrote something of their own where a skill would be."""
        return bool(self.kits.local(name)) and self.model.owners.get(name, "") in {"", "user"}

    def waiting(self) -> list[ReviewCandidate]:
        """Give what waits."""
        return [one for one in self.kits.mirror().candidates if one.status in _OPEN]

    def wrong(self) -> list[str]:
        """Say what does not hold; nothing is asked of a change that is under way."""
        if self.unsettled:
            return []
        # Once accepted, a desk is merged with what was edited in place since: its own tree need not be kept.
        done = {
            one.desk for one in self.kits.mirror().candidates if one.status == "published"
        } & self.given
        self.kits.desks = {
            desk: tree
            for desk, tree in self.kits.desks.items()
            if desk.rpartition("/")[2] not in done
        }
        found = self.kits.wrong()
        if not found:
            actual = Standings.of(self.kits.mirror()).seen()
            found = (
                []
                if actual == self.model.seen()
                else [f"it is {actual}, and should be {self.model.seen()}"]
            )
        return found

    # --- doing

    def do(
        self,
        act: Callable[[Library], Any],
        stages: list[Standings] | None,
        broken: Break | None,
        *,
        loose: bool = False,
    ) -> Any:
        """Do a verb; give what it came to, or nothing where it was refused or broken off. A `loose` one may stop at any stage."""
        self.steps += 1
        hands, result, error, killed = (
            (broken.hands() if broken is not None else QuickHands()),
            None,
            None,
            False,
        )
        try:
            with self.kits.library(hands) as library:
                result = act(library)
        except KilledError:
            killed = (
                True  # what comes then waits until the locks are let go, as those of the dead are
            )
        except MetierError as problem:
            error = problem
        if killed:
            self._died(stages, broken)
            return None
        assert not isinstance(hands, DyingHands) or not hands.dead, "somebody has caught a kill"
        failed = isinstance(hands, FaultyHands) and 0 < hands.at <= hands.steps
        if failed and error is not None and error.code == "unsettled":
            self._died(stages, broken)
            return None
        self._judged(stages, result, error, failed=failed, loose=loose)
        return result if error is None else None

    def _judged(
        self,
        stages: list[Standings] | None,
        result: Any,
        error: MetierError | None,
        *,
        failed: bool,
        loose: bool,
    ) -> None:
        actual = Standings.of(self.kits.mirror())
        if self.unsettled:  # it had to settle something first, and what that led to is not foreseen
            self.unsettled = self.kits.is_unsettled()
            if not self.unsettled:
                self._finish()
            return
        if failed or loose:
            self.broken += failed
            known = [one.seen() for one in stages or [self.model]]
            partly = getattr(result, "notes", ()) or getattr(
                result, "unreachable", ()
            )  # it says itself what it could not look at
            assert actual.seen() in known or partly or (failed and loose), (
                error,
                actual.seen(),
                known,
            )
            self.model = actual
            self._finish()
            return
        refused = error is not None or bool(getattr(result, "refused", ()))
        assert refused == (stages is None), (error, result, self.kits.folder)
        expected = stages[-1] if stages else self.model
        assert expected.seen() == actual.seen(), (expected.seen(), actual.seen(), error, result)
        self.model = actual

    def _died(self, stages: list[Standings] | None, broken: Break | None) -> None:
        assert broken is not None
        self.broken += 1
        known = None if self.unsettled else [one.seen() for one in stages or [self.model]]
        self.unsettled = True
        if broken.then == "left":
            return
        if broken.then == "killed":
            try:
                self.kits.settle(DyingHands(broken.again))
            except KilledError:
                pass
        self.reopen()
        if known is not None:
            assert self.model.seen() in known or self._finished, (self.model.seen(), known)

    def reopen(self) -> None:
        """Open it anew, and have what was broken off settled."""
        self.kits.settle()
        self.unsettled = False
        left = self.kits.left()
        assert [] == left, left
        self._finish()

    def _finish(self) -> None:
        """Have the next look put in place what was accepted before a crash."""
        self._finished = any(one.status == "accepted" for one in self.kits.mirror().candidates)
        if self._finished:
            with self.kits.library() as library:
                library.plugin_sync()
        self.model = Standings.of(self.kits.mirror())
        assert not any(one.status == "accepted" for one in self.kits.mirror().candidates)

    # --- the world goes on

    def ship(self, plugin: str, name: str, words: tuple[str, ...]) -> None:
        """Have a plugin ship a skill."""
        self.kits.ship(plugin, name, words)

    def leave_out(self, plugin: str, name: str, pick: int) -> None:
        """Have a plugin ship a skill no longer; or, now and then, something evil under its name."""
        if not pick:
            self.kits.ship_evil(plugin, name)
        elif pick < 4 and name in self.kits.ships(plugin):
            self.kits.withdraw(plugin, name)

    def manifest(self, plugin: str, version: str) -> None:
        """Have a plugin's manifest say a version, or be gone."""
        if version:
            self.kits.manifest(plugin, version)
        else:
            self.kits.hide(plugin)

    def person(self, name: str, at: int, word: str, pick: int) -> None:
        """Edit a working copy; now and then delete it, or write something of one's own where there is none."""
        if pick == 1 or (pick < 4 and self.is_foreign(name)):
            self.kits.delete(name)
        elif self.kits.local(name) or not pick:
            self.kits.edit(name, at, word)

    # --- the verbs

    def upstream_word(self, plugin: str, name: str, at: int, word: str) -> None:
        """Have a plugin change one word of a skill that it ships."""
        self.kits.change(plugin, name, at, word)

    def enable(self, plugin: str, broken: Break | None) -> None:
        """Enable a plugin."""
        source = (
            plugin
            if plugin in self.model.kits and not self.unsettled
            else str(self.kits.source(plugin))
        )
        stages = self.model.enabled(plugin, self.sight(plugin))
        self.do(
            lambda library: library.plugin_enable(source, consent=lambda _plan: True),
            stages,
            broken,
        )

    def sync(self, broken: Break | None) -> None:
        """Look at all plugins."""
        stages = [self.model]
        for plugin in PLUGINS:
            if plugin in self.model.kits:
                stages = [self.model, stages[-1].synced(plugin, self.sight(plugin))[-1]]
        self.do(lambda library: library.plugin_sync(), stages, broken)

    def pause(self, plugin: str, broken: Break | None) -> None:
        """Pause a plugin."""
        self.do(lambda library: library.plugin_pause(plugin), self.model.paused(plugin), broken)

    def resume(self, plugin: str, broken: Break | None) -> None:
        """Resume a plugin."""
        self.do(
            lambda library: library.plugin_resume(plugin),
            self.model.resumed(plugin, self.sight(plugin)),
            broken,
        )

    def disable(self, plugin: str, broken: Break | None) -> None:
        """Disable a plugin."""
        stages = self.model.disabled(plugin, self.sight(plugin))
        self.do(
            lambda library: library.plugin_disable(plugin, disable_linked_skills=True),
            stages,
            broken,
        )

    def adopt(self, plugin: str, name: str, broken: Break | None) -> None:
        """Adopt a skill."""
        stages = self.model.taken(plugin, name, self.sight(plugin))
        self.do(lambda library: library.plugin_adopt(plugin, name), stages, broken)

    def reject(self, pick: int, broken: Break | None) -> None:
        """Turn down one of what waits."""
        one = self._picked(pick)
        if one is not None:
            stages = (
                None if self.unsettled else self.model.rejected(one.evidence.plugin_id, one.skill)
            )
            self.do(lambda library: library.reject(one.id), stages, broken)

    def edit(self, pick: int, at: int, word: str, broken: Break | None) -> None:
        """Lay one of what waits out, and work on it."""
        one = self._picked(pick)
        if one is None or one.kind == "plugin_skill_removed":
            return
        found = self.do(lambda library: library.edit(one.id), [self.model], broken)
        if found is None or not found.desk:
            return
        file = Path(found.desk) / "SKILL.md"
        lines = [
            line
            for line in file.read_text().splitlines(keepends=True)
            if not line.startswith(_MARKS)
        ]
        file.write_text(with_word("".join(lines), at, word))
        if is_untouched(found.desk):  # it came to the same: there is nothing of the person's on it
            self.kits.desks.pop(found.desk, None)
        else:
            self.kits.desks[found.desk] = state_of(found.desk)

    def accept(self, pick: int, how: str, broken: Break | None) -> None:
        """Accept one of what waits."""
        one = self._picked(pick)
        if one is None:
            return
        if not how:
            self.given.add(one.desk)
        plugin = one.evidence.plugin_id
        if self.unsettled:
            self.do(lambda library: library.accept(one.id, how), None, broken)
            return
        stages = self.model.looked(plugin, self.sight(plugin))
        ties = stages[-1].kits[plugin].ties
        then = (
            stages[-1].published(plugin, one.skill, "")
            if one.skill in ties and ties[one.skill].waits
            else []
        )
        blind = (
            self.model.published(plugin, one.skill, "")
            if broken is not None and broken.fault != "SIGKILL"
            else []
        )
        # Where even the look was broken off, what was shown is all there is to go by.
        self._accepted(one, how, [*blind, *stages, *then], len(blind) + len(stages), broken)

    def _accepted(
        self,
        one: ReviewCandidate,
        how: str,
        stages: list[Standings],
        looked: int,
        broken: Break | None,
    ) -> None:
        said: list[Any] = []

        def act(library: Library) -> object:
            try:
                said.append(library.accept(one.id, how))
            except MetierError as error:
                if broken is not None:
                    raise
                said.append(error)
            return Told(tuple(library.context.warnings))

        if broken is not None:
            self.do(act, stages, broken, loose=True)
            return
        plain = not how and self._is_as_shown(one)
        self.steps += 1
        with self.kits.library() as library:
            act(library)
        actual, done = Standings.of(self.kits.mirror()), bool(getattr(said[0], "done", False))
        assert done or not plain, (said[0], one)
        settled = getattr(said[0], "candidate", one).status == "published"
        expected = stages[-1] if done and len(stages) > looked else stages[looked - 1]
        known = [expected.seen(), *([stages[looked - 1].seen()] if settled else ())]
        assert actual.seen() in known, (known, actual.seen(), said[0], one)
        self.model = actual

    def _is_as_shown(self, one: ReviewCandidate) -> bool:
        """Tell whether what waits can be accepted as it is: nothing has moved, and nothing speaks against it."""
        about = one.evidence
        if (
            one.kind == "plugin_skill_removed"
            or not about.proposed_tree_hash
            or one.desk
            or one.status != "open"
        ):
            return False
        kit = self.model.kits[about.plugin_id]
        looked = kit.enabled and kit.status != "paused" and not self.kits.hidden(about.plugin_id)
        moved = (
            looked
            and self.kits.ships(about.plugin_id).get(one.skill) != about.new_upstream_tree_hash
        )
        tie = kit.ties.get(one.skill)
        based = tie is not None and tie.accepted == about.base_upstream_tree_hash
        if one.kind == "plugin_skill_added" and self.model.conflicts(
            about.plugin_id, one.skill, self.sight(about.plugin_id)
        ):
            return False
        return (
            not moved
            and based
            and about.verdict not in {"dangerous", "malicious"}
            and self.kits.local(one.skill) == about.local_tree_hash
        )

    def make_current(self, name: str, pick: int, broken: Break | None) -> None:
        """Put a version in place again."""
        skill = self.kits.mirror().skill(name)
        if skill is None:
            return
        version = skill.versions[pick % len(skill.versions)]
        stages = [self.model] if skill.status == "active" else None
        if skill.why.startswith(REMOVED_PREFIX):
            plugin = skill.why.removeprefix(REMOVED_PREFIX)
            stages = self.model.reclaimed(plugin, name, self.sight(plugin))
        before = (
            self.unsettled
        )  # then something else may be put in place afterwards: what was accepted before
        found = self.do(lambda library: library.make_current(name, version.version), stages, broken)
        assert found is None or before or version.digest == self.kits.local(name)

    def _picked(self, pick: int) -> ReviewCandidate | None:
        found = self.waiting()
        return found[pick % len(found)] if found else None


def wander(seed: int, steps: int, tell: Callable[[str], None] = lambda _line: None) -> Tally:
    """Walk at random, the same way for the same seed; give how far it came and what was wrong, with the way there."""
    walk, draw = Walk(), Random(seed)  # noqa: S311 - nothing is kept secret by it
    walk.kits.ahead = HOUR * (seed % 2)
    try:
        for plugin in PLUGINS if seed % 8 else ():
            walk.enable(plugin, None)
        for _step in range(steps):
            verb, given = _drawn(draw)
            walk.told.append(f"walk.{verb}({', '.join(map(repr, given))})")
            tell(walk.told[-1])
            try:
                getattr(walk, verb)(*given)
                wrong = walk.wrong()
            except Exception as error:  # noqa: BLE001 - that is what is looked for
                wrong = ["".join(format_exception(error)[-4:])]
            if wrong:
                return Tally(walk.steps, walk.broken, (f"seed {seed}", *walk.told, *wrong))
        return Tally(walk.steps, walk.broken, ())
    finally:
        walk.close()


def _drawn(draw: Random) -> tuple[str, tuple[Any, ...]]:
    """Draw a verb, and what is given to it."""
    plugin = draw.choice(PLUGINS)
    name, at, word, pick = (
        draw.choice(SHIPS[plugin]),
        draw.randrange(PLACES),
        draw.choice(WORDS),
        draw.randrange(8),
    )
    fault: Fault = draw.choice(("SIGKILL", "SIGKILL", "ENOSPC", "EIO"))
    broken = (
        Break(
            fault,
            draw.randint(1, draw.choice(MOST)),
            draw.choice(("settled", "killed", "left")),
            draw.randint(1, 12),
        )
        if draw.random() < BROKEN
        else None
    )
    verbs: dict[str, tuple[Any, ...]] = {
        "ship": (plugin, name, tuple(draw.choice(WORDS) for _place in range(PLACES))),
        "upstream_word": (plugin, name, at, word),
        "leave_out": (plugin, name, pick),
        "manifest": (plugin, draw.choice(("", "1.0", "1.0", "1.1", "1.1"))),
        "person": (name, at, word, pick),
        "enable": (plugin, broken),
        "sync": (broken,),
        "pause": (plugin, broken),
        "resume": (plugin, broken),
        "disable": (plugin, broken),
        "adopt": (plugin, name, broken),
        "accept": (pick, draw.choice(("", "", "", "ours", "theirs")), broken),
        "edit": (pick, at, word, broken),
        "reject": (pick, broken),
        "make_current": (name, pick, broken),
        "reopen": (),
    }
    verb = draw.choices(tuple(OFTEN), tuple(OFTEN.values()))[0]
    return verb, verbs[verb]
