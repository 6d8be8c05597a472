"""`plugin sync`: edits become versions, what changed upstream becomes candidates, nothing is applied by itself (BE-12 to BE-18).

Everything is looked at first, without the lock. Then, where there is news, all of it is written down in one change, provided
that nobody else changed anything meanwhile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier import recording
from metier.errors import NotFoundError, StoreError
from metier.mirroring import grounds, listing, looking, publishing
from metier.mirroring.comparing import Look, as_noted, tree_of
from metier.mirroring.faces import kept_face
from metier.mirroring.workbench import Workbench
from metier.mirrors import Fault, Mirrored
from metier.plugins import candidates, moves
from metier.plugins.ledger import Ledger
from metier.supplying import deploying, places
from metier.trust import disk as decisions

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from metier.app import Library
    from metier.mirroring.comparing import Found, Looked
    from metier.mirroring.grounds import Ground
    from metier.mirrors import Candidate, Plugin
    from metier.store.disk import Store
    from metier.supplying.places import Place

ATTEMPTS = 3
"""How often a look is repeated when somebody else changed things meanwhile."""


class Synced(NamedTuple):
    """What came of the plugins of one place."""

    ground: Ground
    changed: bool = False
    opened: tuple[str, ...] = ()
    superseded: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    unreachable: tuple[Fault, ...] = ()


def sync(library: Library, plugins: Sequence[str], *, user: bool | None, blocking: bool) -> Mirrored:
    """Look at the plugins that are enabled and not paused, or at some of them."""
    grounds.settle(library, blocking=blocking)
    found = grounds.grounds(library, user)
    for name in plugins:
        if not any(ground.mirror.plugin(name) for ground in found):
            raise NotFoundError(f"Unknown plugin state: {name}", hint="'metier plugin list' shows all")  # BE-23
    done = [synced(library, one, plugins, blocking=blocking) if one.mirror.plugins else Synced(one) for one in found]
    listed = [one for each in done for one in listing.states(each.ground) if not plugins or one.plugin_id in plugins]
    return Mirrored(
        tuple(sorted(listed, key=lambda one: (one.plugin_id, one.scope))), any(one.changed for one in done),
        opened=tuple(ident for one in done for ident in one.opened),
        superseded=tuple(ident for one in done for ident in one.superseded),
        notes=tuple(note for one in done for note in one.notes),
        unreachable=tuple(fault for one in done for fault in one.unreachable),
    )  # fmt: skip


def synced(library: Library, ground: Ground, plugins: Sequence[str] = (), *, blocking: bool = True,
           offline: bool = False) -> Synced:  # fmt: skip
    """Look at the plugins of one place, and write down what there is; `offline` asks no source, and so takes paused ones too."""
    ground = publishing.finish(library, ground, blocking=blocking)
    for _attempt in range(ATTEMPTS):
        done = _attempted(library, ground, plugins, blocking=blocking, offline=offline)
        if done is not None:
            return done
        ground = grounds.read(library, ground.place)
    raise StoreError("others keep changing skills; nothing was written down", code="changed", hint="say it again")


def _wanted(ground: Ground, plugins: Sequence[str], *, paused: bool) -> list[Plugin]:
    """Give the plugins that are looked at: disabled and paused ones stay as they are (BE-12)."""
    wanted = [one for one in ground.mirror.plugins if one.enabled and (paused or one.status != "paused")]
    return [one for one in wanted if one.plugin_id in plugins] if plugins else wanted


def _attempted(library: Library, ground: Ground, plugins: Sequence[str], *, blocking: bool, offline: bool) -> Synced | None:
    """Look once; nothing when somebody else changed the mirror before it could be written down."""
    wanted = _wanted(ground, plugins, paused=offline)
    with looking.of(library, ground.place) as looks, Workbench(library, ground.place) as work:
        ledger = Ledger(ground.mirror)
        look = Look(work, ground, ledger, looks)
        found = look.at(wanted, offline=offline)
        notes = tuple(note for one in found for note in one.notes)
        if _is_news(ledger, found):
            with grounds.alone(library, blocking=blocking) as changer:
                if not grounds.is_current(library, ground):
                    return None
                before = dict(ledger.candidates)
                try:
                    written(library, ground.place, ledger, found)
                except StoreError as error:
                    if error.code != "changed":
                        raise
                    return None  # somebody saved a file between the look and this
                after = grounds.apply(library, ground, ledger.mirror(), (), changer)
            notes += tuple(f"your edit of '{name}' is {version} now" for name, version in _new_edits(ground, ledger))
            opened = _became(before, ledger, "open")
            gone = _became(before, ledger, "superseded")
            _record(library, opened, gone, ledger)
        else:
            after, opened, gone = ground, (), ()
        for one in found:
            for key, value in one.remember:
                looks.remember(key, value)
            if one.stamp:
                looks.remember(f"plugin {one.plugin_id}", f"{one.stamp} {as_noted(ledger.plugins[one.plugin_id])}")
    return Synced(after, after is not ground, opened, gone, notes, tuple(look.unreachable))


def _became(before: Mapping[str, Candidate], ledger: Ledger, status: str) -> tuple[str, ...]:
    """Give the candidates that have a status and had not."""
    old = {key for key, one in before.items() if one.status == status}
    return tuple(key for key, one in ledger.candidates.items() if one.status == status and key not in old)


def _new_edits(ground: Ground, ledger: Ledger) -> Iterable[tuple[str, str]]:
    """Give the edits that are versions since."""
    for before in ground.mirror.skills:
        new = ledger.skills[before.name].versions[len(before.versions) :]
        yield from ((before.name, one.version) for one in new if one.provenance.merge_mode == "edit")


def _is_news(ledger: Ledger, found: Iterable[Looked]) -> bool:
    """Tell whether there is anything to write down."""
    for one in found:
        plugin = ledger.plugins[one.plugin_id]
        if one.missing != (plugin.status == "missing") or (one.version, one.commit) != (plugin.installed_version, plugin.commit):
            return True
        if any(not each.still or _is_edited(ledger, each) for each in one.skills):
            return True
    return False


def _is_edited(ledger: Ledger, found: Found) -> bool:
    return found.name in ledger.skills and tree_of(found.local) not in {"", ledger.current(found.name).digest}


def written(library: Library, place: Place, ledger: Ledger, found: Iterable[Looked]) -> None:
    """Write down what a look found; the trees go into the store first. The caller holds the lock."""
    store, at = places.store_of(library), decisions.now()
    for one in found:
        moves.observed(ledger, one.plugin_id, one.version, one.commit, missing=one.missing)
        for each in one.skills:
            edit_noted(library, place, ledger, each.name, each.local, at)
            _taken(store, each)
            _written(ledger, one.plugin_id, each, at)
        moves.settled(ledger, one.plugin_id)


def edit_noted(library: Library, place: Place, ledger: Ledger, name: str, local: str, at: str) -> None:
    """Make a version of what somebody made of a working copy, with its bytes in the store."""
    skill = ledger.skills.get(name)
    if skill is None or tree_of(local) in {"", ledger.current(name).digest}:
        return
    store = places.store_of(library)
    working = deploying.path_of(place, skill.targets[0])
    if store.keep(working) != local:
        raise StoreError(f"{working} is being edited right now; nothing was done", code="changed", hint="say it again")
    candidates.edited(ledger, name, kept_face(library, local), at)


def _taken(store: Store, found: Found) -> None:
    for laid in (found.laid, found.merged):
        if laid is not None and not store.has(laid.digest):
            store.take(laid.folder, laid.files)
    if found.laid is not None:
        store.note(found.laid.digest, *found.laid.told[1:])


def _written(ledger: Ledger, plugin_id: str, found: Found, at: str) -> None:
    if found.still:
        return
    if found.seen is None:
        candidates.removed(ledger, plugin_id, found.name, tree_of(found.local), at)
    elif moves.bound_to(ledger, plugin_id, found.name):
        candidates.compared(ledger, plugin_id, found.name, found.seen, tree_of(found.local), found.proposal, at)
    elif found.proposal is not None:
        candidates.added(ledger, plugin_id, found.name, found.seen, found.proposal, at)


def _record(library: Library, opened: Iterable[str], gone: Iterable[str], ledger: Ledger) -> None:
    events = [
        recording.event(library, "review", outcome, name=ledger.candidates[ident].skill,
                        digest=ledger.candidates[ident].evidence.new_upstream_tree_hash, id=ident,
                        verdict=ledger.candidates[ident].evidence.verdict)
        for outcome, idents in (("opened", opened), ("superseded", gone)) for ident in idents
    ]  # fmt: skip
    if events:
        recording.note(library, events)
