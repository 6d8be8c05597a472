"""`plugin sync`: edits become versions, what changed upstream becomes candidates, nothing is
applied by itself (BE-12 to BE-18).

Everything is looked at first, without the lock. Then, where there is news, all of it is written
down in one change, provided that nobody else changed anything meanwhile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.audit import log
from metier.errors import StoreError
from metier.plugins import candidates, compare, discover, install, mirror_ledger, mirror_store
from metier.plugins.compare import PluginComparer, noted_stamp
from metier.plugins.install import PluginWorkspace
from metier.plugins.mirror_store import PlaceLedger, being_edited, digest_of_state
from metier.plugins.model import PluginResult
from metier.supply import places
from metier.trust.io import decisions_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from metier.context import Context
    from metier.model import Texts
    from metier.plugins.compare import ComparedPlugin, ComparedSkill
    from metier.plugins.mirror_ledger import Ledger
    from metier.plugins.mirror_store import MirroredPlace
    from metier.plugins.model import PluginRecord, ReviewCandidate
    from metier.store.io.tree_store import Store

MAX_ATTEMPTS = 3
"""How often a look is repeated when somebody else changed things meanwhile."""
NOTHING_NEW = PluginResult(())


def sync(
    context: Context, plugins: Sequence[str], *, user: bool | None, blocking: bool
) -> PluginResult:
    """Look at the plugins that are enabled and not paused, or at some of them."""
    mirror_store.settle_crash(context, blocking=blocking)
    found = mirror_store.mirrored_places(context, user)
    for name in plugins:
        if not any(here.mirror.plugin(name) for here in found):
            raise mirror_ledger.unknown_plugin(name)
    done = [
        sync_place(one, plugins, blocking=blocking) if one.mirror.plugins else (one, NOTHING_NEW)
        for one in found
    ]
    rows = [
        discover.row_of(here, one)
        for here, _came in done
        for one in here.mirror.plugins
        if not plugins or one.plugin_id in plugins
    ]
    return PluginResult(
        tuple(sorted(rows, key=lambda one: (one.plugin_id, one.scope))),
        any(came.changed for _here, came in done),
        opened=tuple(ident for _here, came in done for ident in came.opened),
        superseded=tuple(ident for _here, came in done for ident in came.superseded),
        notes=tuple(note for _here, came in done for note in came.notes),
        unreachable=tuple(fault for _here, came in done for fault in came.unreachable),
    )


def sync_place(
    here: MirroredPlace,
    plugins: Sequence[str] = (),
    *,
    blocking: bool = True,
    offline: bool = False,
) -> tuple[MirroredPlace, PluginResult]:
    """Look at the plugins of one place, and write down what there is; `offline` asks no source, and
    so takes paused ones too. Gives the place as it is then, and what came of it, without rows.
    """
    here = install.finish(here, blocking=blocking)
    for _attempt in range(MAX_ATTEMPTS):
        done = _sync_once(here, plugins, blocking=blocking, offline=offline)
        if done is not None:
            return done
        here = here.reread()
    raise StoreError(
        "others keep changing skills; nothing was written down", code="changed", hint="try again"
    )


def _wanted(here: MirroredPlace, plugins: Sequence[str], *, paused: bool) -> list[PluginRecord]:
    """Give the plugins that are looked at: disabled and paused ones stay as they are (BE-12)."""
    return [
        one
        for one in here.mirror.plugins
        if one.enabled
        and (paused or one.status != "paused")
        and (not plugins or one.plugin_id in plugins)
    ]


def _sync_once(
    here: MirroredPlace, plugins: Sequence[str], *, blocking: bool, offline: bool
) -> tuple[MirroredPlace, PluginResult] | None:
    """Look once; nothing when somebody else changed the mirror before it could be written down."""
    with (
        compare.folder_memory(here.context, here.place) as memory,
        PluginWorkspace(here) as work,
    ):
        ledger = PlaceLedger(here)
        comparer = PluginComparer(work, ledger, memory)
        found = comparer.compare(_wanted(here, plugins, paused=offline), offline=offline)
        after = here
        done = NOTHING_NEW._replace(
            notes=tuple(note for one in found for note in one.notes),
            unreachable=tuple(comparer.unreachable),
        )
        if _is_news(ledger, found):
            before = dict(ledger.candidates)
            with mirror_store.hold_lock(here.context, blocking=blocking) as ledger.changer:
                if not here.is_current():
                    return None
                try:
                    write_compared(ledger, found)
                except StoreError as error:
                    if error.code != "changed":
                        raise
                    return None  # somebody saved a file between the look and this
                after = ledger.commit()
            done = done._replace(
                changed=after is not here,
                opened=_became(before, ledger, "open"),
                superseded=_became(before, ledger, "superseded"),
                notes=(*done.notes, *_new_edits(here, ledger)),
            )
            _record(ledger, done)
        for one in found:
            for key, value in one.remember:
                memory.remember(key, value)
            if one.stamp:
                memory.remember(
                    f"plugin {one.plugin_id}",
                    f"{one.stamp} {noted_stamp(ledger.plugins[one.plugin_id])}",
                )
    return after, done


def _became(before: Mapping[str, ReviewCandidate], ledger: Ledger, status: str) -> Texts:
    """Give the candidates that have a status and had not."""
    old = {key for key, one in before.items() if one.status == status}
    return tuple(
        key for key, one in ledger.candidates.items() if one.status == status and key not in old
    )


def _new_edits(here: MirroredPlace, ledger: Ledger) -> Iterator[str]:
    """Tell of the edits that are versions since."""
    for skill in here.mirror.skills:
        for one in ledger.skills[skill.name].versions[len(skill.versions) :]:
            if one.provenance.merge_mode == "edit":
                yield f"your edit of '{skill.name}' is {one.version} now"


def _is_news(ledger: Ledger, found: Iterable[ComparedPlugin]) -> bool:
    """Tell whether there is anything to write down."""
    for one in found:
        plugin = ledger.plugins[one.plugin_id]
        if (one.missing, one.version, one.commit) != (
            plugin.status == "missing",
            plugin.installed_version,
            plugin.commit,
        ):
            return True
        if any(not each.still or _is_edited(ledger, each) for each in one.skills):
            return True
    return False


def _is_edited(ledger: Ledger, found: ComparedSkill) -> bool:
    return found.name in ledger.skills and digest_of_state(found.local) not in {
        "",
        ledger.current(found.name).digest,
    }


def write_compared(ledger: PlaceLedger, found: Iterable[ComparedPlugin]) -> None:
    """Write down what a look found; the trees go into the store first. The caller holds the
    lock.
    """
    store = places.store_of(ledger.here.context)
    ledger.at = decisions_file.now()
    for one in found:
        ledger.note_observed(one.plugin_id, one.version, one.commit, missing=one.missing)
        for each in one.skills:
            ledger.keep_edit(each.name, each.local, being_edited)
            _take_into_store(store, each)
            if not each.still:
                _write_skill(ledger, one.plugin_id, each)
        ledger.settle_status(one.plugin_id)


def _take_into_store(store: Store, found: ComparedSkill) -> None:
    for laid in (found.laid, found.merged):
        if laid is not None and not store.has(laid.digest):
            store.take(laid.folder, laid.files)
    if found.laid is not None:
        store.note(found.laid.digest, *found.laid.told[1:])


def _write_skill(ledger: Ledger, plugin_id: str, found: ComparedSkill) -> None:
    name, local, seen, proposal = (
        found.name,
        digest_of_state(found.local),
        found.seen,
        found.proposal,
    )
    if seen is None:
        candidates.propose_removed(ledger, plugin_id, name, local)
    elif ledger.is_bound(plugin_id, name):
        candidates.note_compared(ledger, plugin_id, name, seen, local, proposal)
    elif proposal is not None:
        candidates.propose_added(ledger, plugin_id, name, seen, proposal)


def _record(ledger: PlaceLedger, done: PluginResult) -> None:
    context = ledger.here.context
    events = []
    for outcome, idents in (("opened", done.opened), ("superseded", done.superseded)):
        for ident in idents:
            one = ledger.candidates[ident]
            events.append(
                log.event(
                    context,
                    "review",
                    outcome,
                    name=one.skill,
                    digest=one.evidence.new_upstream_tree_hash,
                    id=ident,
                    verdict=one.evidence.verdict,
                )
            )
    if events:
        log.record_all(context, events)
