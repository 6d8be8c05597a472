"""Skills that come with a host: installed, kept current while nobody edits them, and left alone by
whatever the user did to them.

What was done is known from the lock and this machine's notes alone. A marker inside what the host
ships means nothing, and where the host ships what it shipped before, nothing is written (HE-46,
CX-35, ZE-39).
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Literal, NamedTuple

from metier.audit import log
from metier.discover.io import disk
from metier.errors import MetierError
from metier.standard.digest import TreeFile, tree_digest
from metier.store.io.atomic_change import state_of
from metier.supply import apply, deploy, fetch, places
from metier.supply.apply import PinChange
from metier.supply.deploy import (
    check_targets,
    path_of,
    target_states,
    targets_for,
    working_copy,
    working_of,
)
from metier.supply.judge import SkillJudge, reason_to_refuse, unscanned
from metier.supply.local_state import without_pending
from metier.supply.model import Origin, Refusal, Request
from metier.supply.places import (
    changer_of,
    place_of,
    plugin_owners,
    recover,
    refusal_if_owned,
    store_of,
)
from metier.supply.safe_names import check_items, safe_name
from metier.trust.io import decisions_file
from metier.trust.model import SHIPPED_SOURCE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.context import Context
    from metier.store.io.atomic_change import Changer
    from metier.supply.fetch import OpenedSource
    from metier.supply.io.quarantine import Quarantine
    from metier.supply.model import Pin, SourceSkill
    from metier.supply.places import InstallPlace, LockFiles

    What = Literal[
        "installed",
        "updated",
        "unchanged",
        "kept",
        "deleted",
        "dropped",
        "foreign",
        "available",
        "failed",
    ]

_WRITES = frozenset({"installed", "updated", "dropped", "forget"})


class BundledSkill(NamedTuple):
    """What happened to one of a host's skills."""

    name: str
    state: What
    """`kept` was edited and stays so; `deleted` was by the user; `foreign` is somebody else's of
    the same name."""
    why: str = ""


class _BundleCase(NamedTuple):
    """One skill of a host as things are now, and what is to be done about it."""

    name: str
    what: str = "failed"
    why: str = ""
    picked: SourceSkill | None = None
    pin: Pin | None = None
    before: str = ""
    """What lies at its working copy."""

    def refused(self, refusal: Refusal) -> _BundleCase:
        """Say that nothing comes of it."""
        return self._replace(what="failed", why="; ".join(refusal.reasons))


def install_bundled(
    context: Context,
    folder: str,
    *,
    optional: bool = False,
    user: bool = True,
    names: Sequence[str] = (),
) -> list[BundledSkill]:
    """Install or refresh what a host ships in a folder.

    Of an `optional` set only what is installed already is refreshed, and the rest is available.
    `names` asks for some by name: those are installed even if they are optional or were deleted.
    """
    if not context.settings.supply.bundled:
        return []  # CX-36: what is there stays there, for others who share it
    place = place_of(context, user=user)
    recover(context)
    request = Request("bundled", disk.real(folder))
    with fetch.open_source(context, request) as source:
        bundle = _Bundle(context, place, source, names, wanted=not optional and not names)
        cases = bundle.cases()
        if any(case.what in _WRITES for case in cases):
            changer = changer_of(context)
            with (
                fetch.open_quarantine(context) as desk,
                SkillJudge(context) as scales,
                changer.alone(),
            ):
                ready = [bundle.prepare(desk, scales, case) for case in bundle.cases()]
                cases = [bundle.carry_out(changer, case, move) for case, move in ready]
    return [
        BundledSkill(case.name, "deleted" if case.what == "forget" else case.what, case.why)  # type: ignore[arg-type]
        for case in cases
    ]


class _Bundle(NamedTuple):
    """What a host ships, and where it goes."""

    context: Context
    place: InstallPlace
    source: OpenedSource
    names: Sequence[str]
    """Those that are asked for."""
    wanted: bool
    """Whether all of them are."""

    # --- what is to be done

    def cases(self) -> list[_BundleCase]:
        """Say what there is to do as things are now."""
        kept = places.read(self.place)
        owned = plugin_owners(self.context, self.place)
        found = {}
        for picked in self.source.pickings.skills:
            try:
                name = safe_name(picked.name)
                whose = refusal_if_owned(owned, name)
                if name in found:
                    why = "the host ships several skills of this name"
                    found[name] = _BundleCase(name, "failed", why)
                elif whose is not None:
                    found[name] = _BundleCase(name, "foreign", whose.reasons[0])
                else:
                    found[name] = self._case(kept, picked._replace(name=name))
            except MetierError as error:
                found[picked.name] = _BundleCase(picked.name).refused(Refusal.of("", error))
        why = "the host no longer ships it; your copy stays"
        dropped = [
            _BundleCase(pin.name, "dropped", why, None, pin)
            for pin in kept.lock.pins
            if pin.kind == "bundled"
            and pin.source == self.source.request.location
            and pin.name not in found
            and refusal_if_owned(owned, pin.name) is None
        ]
        return [*sorted(found.values()), *dropped]

    def _case(self, kept: LockFiles, picked: SourceSkill) -> _BundleCase:
        """Compare what is shipped with what was done and with what lies there (HE-46)."""
        place = self.place
        here = self.source.request.location
        name = picked.name
        asked = name in self.names
        deleted = "you deleted it, and it stays so"
        pin = kept.lock.named(name)
        if pin is None:
            before = state_of(working_copy(place, name))
            if name in dict(kept.state.forgotten) and not asked:
                return _BundleCase(name, "deleted", deleted)
            if before and before != self._digest(picked):
                return _BundleCase(name, "foreign", "something else of this name is there already")
            what = "installed" if asked or self.wanted else "available"
            return _BundleCase(name, what, "", picked, None, before)
        # A skill of this host is told from others by its folder, which a new version of the host
        # may have moved.
        if pin.kind != "bundled" or (pin.source != here and disk.kind_of(pin.source) is not None):
            why = f"a skill of this name is installed from {pin.source}"
            return _BundleCase(name, "foreign", why)
        check_targets(self.context, place, pin)
        before = state_of(working_of(place, pin))
        if not before:
            if asked:
                return _BundleCase(name, "installed", "", picked, pin)
            return _BundleCase(name, "forget", deleted, picked, pin)
        shipped = self._digest(picked)
        case = _BundleCase(name, "updated", "", picked, pin, before)
        if before not in {pin.base, shipped}:
            why = "you edited it"
            if shipped != pin.base:
                why += "; the host has another version: 'metier update' merges"
            return case._replace(what="kept", why=why)
        same = (shipped, before, here) == (pin.base, pin.digest, pin.source)
        return case._replace(what="unchanged") if same else case

    def _digest(self, picked: SourceSkill) -> str:
        """Hash what the host ships where it lies; nothing is written."""
        at = len(picked.path) + 1 if picked.path else 0
        items = check_items(picked.items, self.context.settings.supply)
        files = []
        for item, chunks in self.source.tree.contents(items):
            sha256 = hashlib.sha256()
            for chunk in chunks:
                sha256.update(chunk)
            mode = "link" if item.mode == "link" else item.mode == "exec"
            files.append(TreeFile(item.path[at:], item.size, sha256.digest(), mode))
        return tree_digest(files)

    # --- doing it

    def prepare(
        self, desk: Quarantine, scales: SkillJudge, case: _BundleCase
    ) -> tuple[_BundleCase, PinChange | None]:
        """Lay out and judge what is new; what is wrong with one skill is that skill's trouble
        (ZE-39).
        """
        if case.what in {"dropped", "forget"}:
            return case, PinChange(case.name, None, (), "remove", case.pin)
        if case.what not in _WRITES or case.picked is None:
            return case, None
        try:
            return self._move(desk, scales, case, case.picked)
        except MetierError as error:
            return case.refused(Refusal.of(case.name, error)), None

    def _move(
        self, desk: Quarantine, scales: SkillJudge, case: _BundleCase, picked: SourceSkill
    ) -> tuple[_BundleCase, PinChange | None]:
        place = self.place
        laid = fetch.lay_out(self.context, desk, self.source, picked)
        if isinstance(laid, Refusal):
            return case.refused(laid), None
        # The program that embeds metier named this folder: that alone makes it builtin, nothing
        # inside it does (HE-36).
        shipped = Origin("bundled", SHIPPED_SOURCE)
        working = working_copy(place, case.name)
        weighed = scales.weigh(laid.folder, case.name, shipped, place.scope, working)
        if isinstance(weighed, Refusal):
            return case.refused(weighed), None
        refusal = unscanned(weighed, laid.digest) or reason_to_refuse(
            weighed, force=False, accept_dangerous=False, asked=False
        )
        if refusal is not None:
            return case.refused(refusal), None
        fetch.keep_fetched(store_of(self.context), laid._replace(told=shipped))
        targets = (
            case.pin.targets
            if case.pin is not None
            else targets_for(self.context, place, case.name, ())
        )
        states = target_states(place, targets)
        if states[path_of(place, targets[0])] != case.before:
            return case._replace(what="kept", why="it was changed just now"), None
        here = Origin("bundled", self.source.request.location)
        pin = fetch.pin_as_fetched(place, weighed, laid._replace(origin=here), targets)
        switches = deploy.switches(place, targets, laid.digest, states)
        return case, PinChange(case.name, pin, switches, "add", case.pin)

    def carry_out(self, changer: Changer, case: _BundleCase, move: PinChange | None) -> _BundleCase:
        """Make one change whole; the next is made whatever becomes of it."""
        if move is None:
            return case
        kept = places.read(self.place)
        state = kept.state
        forgotten = dict(state.forgotten)
        if case.what == "forget" and case.pin is not None:
            forgotten[case.name] = case.pin.base
        elif case.what in {"installed", "updated"}:
            forgotten.pop(case.name, None)
        if move.pin is None:
            state = without_pending(state, (case.name,), decisions_file.now())
        kept = kept._replace(state=state._replace(forgotten=tuple(sorted(forgotten.items()))))
        try:
            apply.apply(self.context, self.place, kept, [move], changer)
        except MetierError as error:
            return case.refused(Refusal.of(case.name, error))
        log.record(
            self.context,
            "install" if move.pin is not None else "remove",
            "done",
            name=case.name,
            digest=move.pin.digest if move.pin is not None else "",
            origin=SHIPPED_SOURCE,
        )
        return case
