"""A look at a joined server is broken off at every step on disk: what was first seen stays known, no copy is half
old and half new, and the next look puts everything right.
"""

from __future__ import annotations

import shutil
import signal
from typing import TYPE_CHECKING

import pytest
from fakes.breaking import QuickHands
from fakes.hands import FAULTS, FaultyHands, in_a_child
from fakes.mcp_server import Answers, ToyServer
from fakes.shop import Shop, document, tree

from metier.disclose import offer
from metier.errors import MetierError
from metier.supply.io import joined_files

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fakes.hands import Fault

pytestmark = pytest.mark.loopback
GOOD = {"toy:fresh"}
"""What is offered once the server has changed: what differs from what was first seen waits."""
FEWEST = 10
"""A look with fewer steps than this was not watched."""


def skills(word: str, *names: str) -> dict[str, dict[str, bytes]]:
    return {
        name: {"SKILL.md": document(name).encode(), "more.md": f"{word}\n".encode()}
        for name in names
    }


class World:
    """A machine that has joined a server, whose skills changed since: one is other, one gone, one new."""

    def __init__(self, folder: Path, toy: ToyServer) -> None:
        """Look once, then have the server change."""
        self.shop, self.toy = Shop(folder), toy
        self.shop.configure(f'[mcp]\nupstream_seconds = 60\n[mcp.upstreams]\ntoy = "{toy.url}"\n')
        self.copies = self.shop.data / "upstreams/toy"
        self.look(None)
        toy.answers.skills = skills("Newer.", "count", "fresh")
        self.old = self.seen()

    def look(self, hands: FaultyHands | None) -> None:
        with self.shop.open() as m:
            m.context.disk_calls = hands or QuickHands()
            m.join_upstreams()
            m.refresh_upstream("toy")

    def seen(self) -> dict[str, object]:
        """Give the copies, each whole."""
        below = self.copies / "skills"
        return {one.name: tree(one) for one in below.iterdir()} if below.is_dir() else {}

    def left(self) -> list[str]:
        staging = self.shop.data / "staging"
        found = [one.name for one in staging.iterdir() if one.name != ".lock"]
        return found + [one.name for one in self.copies.iterdir() if one.name == ".old"]

    def first(self) -> dict[str, str]:
        record = joined_files.read_record(str(self.shop.data), "toy")
        return {one.name: one.first for one in record.skills.values()}

    def offered(self) -> set[str]:
        """Give what a model may have."""
        with self.shop.open() as m:
            m.context.disk_calls = QuickHands()
            m.join_upstreams()
            return {card.name for card in offer.offered_cards(m.context)}


@pytest.fixture
def toy() -> Iterator[ToyServer]:
    with ToyServer(Answers(skills("Older.", "count", "gone"))) as running:
        yield running


def test_a_look_broken_off_at_any_step_loses_nothing(scratch: Path, toy: ToyServer) -> None:
    kept = scratch / "kept"
    world = World(scratch / "world", toy)
    first = world.first()
    world.shop.data.rename(kept)
    copy(kept, world.shop.data)
    hands = FaultyHands(inner=QuickHands())
    world.look(hands)
    new, then = world.seen(), world.first()
    wrong = []

    for at in range(1, hands.steps + 1):
        for fault in FAULTS:
            copy(kept, world.shop.data)
            wrong += [f"{fault} at {at}: {why}" for why in broken(world, at, fault, new)]
            world.look(None)
            found = world.seen(), world.first(), world.left(), world.offered()
            wrong += [f"{fault} at {at}: {found}"] if (new, then, [], GOOD) != found else []

    assert [] == wrong
    assert first == {name: then[name] for name in first}
    assert hands.steps > FEWEST


def broken(world: World, at: int, fault: Fault, new: dict[str, object]) -> Iterator[str]:
    """Break one look off, and say what is wrong right after it."""
    hands = FaultyHands(at, fault, lasting=fault == "ENOSPC", inner=QuickHands())
    if fault == "SIGKILL":
        ended = in_a_child(lambda: world.look(hands))
        if ended != -signal.SIGKILL:
            yield f"the process ended with {ended}"
    else:
        try:
            world.look(hands)
        except MetierError:
            pass
        except Exception as error:  # noqa: BLE001 - that is what is looked for
            yield f"raised {error!r}"
    for name, files in world.seen().items():
        if files not in (world.old.get(name), new.get(name)):
            yield f"{name} is neither old nor new"
    if not world.old.keys() - {"fresh"} <= world.first().keys():
        yield "what was first seen is forgotten"


def copy(source: Path, target: Path) -> None:
    """Bring a folder back as it was."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target, symlinks=True)
