"""Every verb about plugins, to be broken off at every step on disk, with the judge of `fakes.kits` for what is left.

Not a test: the crash scenarios and the benchmark run it. A kill is a real one, in a process of its own.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from fakes.breaking import QuickHands, Tally, World
from fakes.hands import FAULTS, Fault, FaultyHands, in_a_child
from fakes.kits import Kits
from fakes.standings import Standings

import metier
from metier.errors import MetierError
from metier.plugins.mirror_json import mirror_bytes, read_mirror
from metier.store.io.atomic_change import state_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from metier.library import Library

DEATHS = 17
"""Within so many of its first steps whoever settles a change is killed."""


class Operation(NamedTuple):
    """One verb: what there is before it, and the call."""

    name: str
    prepare: Callable[[Kits], None]
    act: Callable[[Kits, Library], Any]


class Trial:
    """One verb in one world, to be broken off again and again."""

    def __init__(self, folder: Path, operation: Operation) -> None:
        """Prepare it, run it once undisturbed, and count its steps."""
        self.kits, self.operation = Kits(folder), operation
        operation.prepare(self.kits)
        self.stuff, self.old = World.kept(self), self.state()  # type: ignore[arg-type]
        hands = self._hands(0, "SIGKILL")
        self._act(hands)
        self.steps, self.new = hands.steps, self.state()
        assert self.old != self.new, "the verb does nothing"
        assert not self.kits.wrong(), self.kits.wrong()

    def _roots(self) -> list[Path]:
        return [self.kits.folder]

    def state(self) -> tuple[object, ...]:
        """Give every working copy, and what is written down but for times and names of desks."""
        mirror = self.kits.mirror()
        skills = tuple(
            one._replace(versions=tuple(each._replace(at="") for each in one.versions))
            for one in mirror.skills
        )
        candidates = tuple(one._replace(at="", decided_at="") for one in mirror.candidates)
        copies = [state_of(str(self.kits.working(name))) for name in ("alpha", "gamma", "shared")]
        return (*copies, mirror_bytes(mirror._replace(skills=skills, candidates=candidates)))

    def tally(self, *faults: Fault, then: str = "settled") -> Tally:
        """Break it off at every step, by these faults in turn.

        `then` it is settled; or said `again`; or whoever settles it is killed as well, and has to come `twice`.
        """
        wrong = list[str]()
        for at in range(1, self.steps + 1):
            fault = faults[at % len(faults)]
            World.back(self, self.stuff)  # type: ignore[arg-type]
            try:
                found = [*self._broken(at, fault), *self._after(at, then)]
            except MetierError as error:
                found = [f"cannot go on: {error!r}"]
            wrong += [
                f"{self.operation.name}, {fault} at {at}, then {then}: {text}" for text in found
            ]
        return Tally(self.steps, tuple(wrong))

    def _hands(self, at: int, fault: Fault) -> FaultyHands:
        return FaultyHands(at, fault, lasting=fault == "ENOSPC", inner=QuickHands())

    def _act(self, hands: FaultyHands | None) -> None:
        with self.kits.library(hands) as library:
            self.operation.act(self.kits, library)

    def _broken(self, at: int, fault: Fault) -> Iterator[str]:
        hands = self._hands(at, fault)
        if fault == "SIGKILL":
            ended = in_a_child(lambda: self._act(hands))
            if ended != -signal.SIGKILL:
                yield f"the process ended with {ended}"
            return
        try:
            self._act(hands)
        except MetierError:
            pass
        except Exception as error:  # noqa: BLE001 - that is what is looked for
            yield f"raised {error!r}"

    def _after(self, at: int, then: str) -> Iterator[str]:
        if then == "twice":
            in_a_child(lambda: self.kits.settle(self._hands(1 + at % DEATHS, "SIGKILL")))
        if then == "again":
            yield from self._said_again()
        else:
            self.kits.settle()
            yield from (f"left behind: {path}" for path in self.kits.left())
        yield from self.kits.wrong()
        with (
            self.kits.library() as library
        ):  # whatever it came to, a look is possible, and a second one finds nothing new
            library.plugin_sync()
        with self.kits.library() as library:
            if library.plugin_sync().changed:
                yield "a second look finds something new"
            if not library.audit_verify().ok:
                yield "the audit log does not hold"
        yield from self.kits.wrong()
        if any(one.status == "accepted" for one in self.kits.mirror().candidates):
            yield "a yes is forgotten"

    def _said_again(self) -> Iterator[str]:
        for _time in range(2):
            try:
                self._act(None)
            except MetierError as error:
                if error.code == "changed":
                    continue
                if Standings.of(self.kits.mirror()).seen() != self._aim():
                    yield f"cannot be said again: {error!r}"
            break
        if Standings.of(self.kits.mirror()).seen() != self._aim():
            yield "the same again does not lead to the same"

    def _aim(self) -> dict[str, tuple[object, ...]]:
        data = self.new[-1]
        assert isinstance(data, bytes)
        return Standings.of(read_mirror(data)).seen()


# --- the verbs


def _say(kits: Kits, verb: str, *given: Any, **named: Any) -> Any:
    with kits.library() as library:
        return getattr(library, verb)(*given, **named)


def _enabled(kits: Kits) -> None:
    for plugin in ("box", "kit"):
        _say(
            kits,
            "plugin_enable",
            str(kits.source(plugin)),
            to=["claude-code"] if plugin == "kit" else [],
            consent=_yes,
        )


def _both_enabled(kits: Kits) -> None:
    kits.ship("kit", "shared")
    _enabled(kits)


def _edited(kits: Kits) -> None:
    _both_enabled(kits)
    kits.edit("alpha", 0, "mine")


def _released(kits: Kits) -> None:
    _edited(kits)
    kits.ship("kit", "alpha", ("one", "one", "theirs"))
    kits.ship("box", "gamma", ("one", "theirs", "one"))
    kits.withdraw("kit", "shared")


def _waiting(kits: Kits) -> None:
    _released(kits)
    _say(kits, "plugin_sync")
    kits.edit("shared", 0, "mine")
    _say(kits, "plugin_sync")


def _disabled(kits: Kits) -> None:
    _released(kits)
    _say(kits, "plugin_disable", "kit", disable_linked_skills=True)


def _yes(_so_far: object) -> bool:
    return True


def _candidate(kits: Kits, skill: str) -> str:
    """Give what waits about a skill, or waited."""
    return next(one.id for one in reversed(kits.mirror().candidates) if one.skill == skill)


def _before_adopting(kits: Kits) -> None:
    _waiting(kits)
    kits.edit("alpha", 1, "mine too")


def _enable(kits: Kits, library: Library) -> Any:
    kits.ship("kit", "shared")
    return library.plugin_enable(str(kits.source("kit")), to=["claude-code"], consent=_yes)


OPERATIONS = (
    Operation("enable", lambda _kits: None, _enable),
    Operation("sync", _released, lambda _kits, library: library.plugin_sync()),
    Operation("accept", _waiting, lambda kits, library: library.accept(_candidate(kits, "alpha"))),
    Operation("retire", _waiting, lambda kits, library: library.accept(_candidate(kits, "shared"))),
    Operation(
        "disable",
        _edited,
        lambda _kits, library: library.plugin_disable("kit", disable_linked_skills=True),
    ),
    Operation(
        "enable again", _disabled, lambda _kits, library: library.plugin_enable("kit", consent=_yes)
    ),
    Operation(
        "adopt", _before_adopting, lambda _kits, library: library.plugin_adopt("kit", "alpha")
    ),
    Operation(
        "make current",
        _before_adopting,
        lambda _kits, library: library.make_current("alpha", "v0001"),
    ),
)


def run(folder: Path, name: str, faults: list[Fault], then: str) -> Tally:
    """Break one verb off in a process of its own: a copy of a small process is made in a moment, of a large one it is not."""
    words = [sys.executable, "-m", "fakes.breaking_plugins", str(folder), name, then, *faults]
    env = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(
            map(str, (Path(__file__).parent.parent, Path(metier.__file__).parent.parent))
        ),
    }
    ended = subprocess.run(words, capture_output=True, check=False, env=env)
    assert ended.returncode == 0, ended.stderr.decode()
    tried, wrong = json.loads(ended.stdout)
    return Tally(tried, tuple(wrong))


def main(folder: str, name: str, then: str, *faults: Fault) -> None:
    """Break a verb off at every step by the faults in turn, and print what became of it."""
    operation = next(one for one in OPERATIONS if one.name == name)
    json.dump(Trial(Path(folder) / "world", operation).tally(*faults, then=then), sys.stdout)


if __name__ == "__main__":
    main(
        sys.argv[1], sys.argv[2], sys.argv[3], *(fault for fault in FAULTS if fault in sys.argv[4:])
    )
