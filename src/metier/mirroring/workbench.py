"""What looking at plugins works with, each part made when it is first needed: a sync that finds nothing new needs hardly any."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from metier.model import Digest
from metier.supplies import Judged, Picked, Pin
from metier.supplying import fetching, places, prospects
from metier.supplying.deciding import Scales
from metier.supplying.fetching import Laid
from metier.supplying.prospects import Bench

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from metier.app import Library
    from metier.mirrors import Binding, Plugin, Skill
    from metier.store.disk import Store
    from metier.supplies import Refusal
    from metier.supply.quarantine.disk import Desk
    from metier.supplying.places import Place
    from metier.supplying.prospects import Prospect


class Workbench:
    """A desk in quarantine and the scales, for one place."""

    def __init__(self, library: Library, place: Place) -> None:
        """Say for whom, and make nothing yet."""
        self.library, self.place = library, place
        self._held = ExitStack()
        self._desk: Desk | None = None
        self._bench: Bench | None = None

    def __enter__(self) -> Self:
        """Use it in a `with` block."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Leave nothing behind."""
        self._held.__exit__(kind, error, trace)

    @property
    def desk(self) -> Desk:
        """A private folder that is gone afterwards."""
        if self._desk is None:
            self._desk = self._held.enter_context(fetching.desk(self.library))
        return self._desk

    @property
    def bench(self) -> Bench:
        """What judging a skill takes."""
        if self._bench is None:
            scales = self._held.enter_context(Scales(self.library))
            self._bench = Bench(self.library, self.place, places.read(self.place), self.desk, scales)
        return self._bench

    @property
    def store(self) -> Store:
        """The store."""
        return places.store_of(self.library)

    def kept(self, pin: Pin, digest: str) -> Laid:
        """Lay a tree of the store out in quarantine, as if its source had just given it."""
        folder = self.desk.fresh()
        self.store.lay(digest, folder)
        origin = prospects.origin_of(self.library, pin, digest)
        return Laid(Picked(pin.name, pin.path, ()), origin, origin, folder, self.store.files(digest), Digest(digest))

    def prospect(self, pin: Pin, laid: Laid) -> Prospect | Refusal | None:
        """Say what an upstream version would come to, given what the working copy is now."""
        return prospects.prospect(self.bench, pin, laid)


def pin_of(plugin: Plugin, skill: Skill, binding: Binding) -> Pin:
    """Give a mirrored skill as supply knows skills: what is in place, and the upstream tree that it goes back to."""
    current = skill.version(skill.current)
    digest = current.digest if current is not None else ""
    source = plugin.source
    base = binding.accepted or digest
    return Pin(skill.name, source.kind, source.location, binding.path, source.ref, plugin.commit, digest, base, (),
               Judged("safe", 0, ""), targets=skill.targets)  # fmt: skip
