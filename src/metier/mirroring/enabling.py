"""`plugin enable`: all skills of a plugin, or none. Everything is prepared and judged before anything is touched (BE-3 to BE-11).

A plugin that was disabled comes back as it was, edits and all; one that is enabled already is only looked at: enabling never
puts upstream's bytes over anybody's edits.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

from metier import recording
from metier.errors import MetierError, NotFoundError, RefusedError
from metier.mirroring import discovering, grounds, listing, publishing, sourcing, standing, syncing
from metier.mirroring.faces import laid_face
from metier.mirroring.workbench import Workbench
from metier.mirrors import Mirrored, Offer, Plugin
from metier.plugins import candidates, moves
from metier.plugins.ledger import Ledger
from metier.plugins.moves import Seen, Tree
from metier.store.changing.disk import Switch, state_of
from metier.supplies import Outcome, Plan, Refusal, Step
from metier.supply.paths import folded, safe_name
from metier.supplying import applying, deploying, fetching, landing, places
from metier.supplying.admitting import admitted, vouched
from metier.supplying.fetching import Laid
from metier.supplying.foreseeing import Waiting
from metier.trust import disk as decisions
from metier.vetting.cases import TOP

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from metier.app import Library
    from metier.mirroring.grounds import Ground
    from metier.mirroring.sourcing import Shipped
    from metier.store.changing.disk import Changer
    from metier.supplies import Picked, Request, Target
    from metier.supplying.deciding import Weighed


class Wish(NamedTuple):
    """What is asked for."""

    plugin: str
    """An id, a path or any source."""
    name: str = ""
    """Which plugin of a source with several."""
    ref: str = ""
    to: tuple[str, ...] = ()
    user: bool = False
    dry_run: bool = False
    force: bool = False


class Prepared(NamedTuple):
    """One skill, ready to be put in place."""

    name: str
    targets: tuple[Target, ...]
    step: Step
    laid: Laid | None = None
    """What its plugin ships, in quarantine; nothing for one that comes back as it was."""
    weighed: Weighed | None = None
    face: Tree = Tree("")
    gone: bool = False
    """Its plugin no longer ships it."""


def enable(library: Library, wish: Wish, consent: Callable[[Outcome], bool] | None, *, blocking: bool) -> Mirrored:
    """Mirror a plugin; what it came to, what was refused, or what would be done."""
    place = places.place_of(library, user=wish.user)
    if not wish.dry_run:
        grounds.settle(library, blocking=blocking)
    ground = grounds.read(library, place)
    offer = _offered(library, ground, wish)
    known = ground.mirror.plugin(offer.plugin_id)
    if known is not None and known.enabled:
        return _again(library, ground, known, offer, wish, blocking=blocking)
    with Workbench(library, place) as work, sourcing.opened(library, offer.source) as opened:
        shipped = opened.shipped(offer.name)
        if shipped is None:
            raise NotFoundError(f"Unknown plugin: {wish.plugin}", hint="'metier plugin list' shows all")
        plugin = _plugin(shipped, known)
        ready, refused = _prepared(library, work, ground, plugin, shipped, wish, asked=wish.dry_run or consent is not None)
        plan = Plan(add=tuple(one.step for one in ready))
        before = listing.state(ground, known) if known is not None else listing.discovered(offer)
        so_far = Mirrored((before,), plan=plan, refused=refused)
        for one in refused:
            why = "; ".join(one.reasons)[:500]
            applying.record(library, "plugin", "refused", one.name, "", plugin=plugin.plugin_id, reason=why)
        if refused or wish.dry_run or (consent is not None and not consent(Outcome(plan))):
            return so_far
        after = _promoted(library, work, ground, plugin, ready, blocking=blocking)
        _reported(library, after, plugin, ready)
    if known is not None:
        found = _compared(library, plugin.plugin_id, wish, blocking=blocking)
        moved = () if _same_source(known.source, plugin.source) else (f"it was from {known.source.location} before",)
        return found._replace(changed=True, plan=plan, notes=(*moved, *found.notes))
    return listing.result(after, plugin.plugin_id, changed=True)._replace(plan=plan)


def _offered(library: Library, ground: Ground, wish: Wish) -> Offer:
    """Give the plugin that is meant: one that was enabled here before goes by what is written down."""
    known = ground.mirror.plugin(wish.plugin)
    if known is not None:
        return Offer(known.plugin_id, known.name, known.installed_version, "", known.format, known.source)
    return discovering.resolve(library, wish.plugin, name=wish.name, ref=wish.ref)


def _again(library: Library, ground: Ground, known: Plugin, offer: Offer, wish: Wish, *, blocking: bool) -> Mirrored:
    """Look at a plugin that is enabled already: it is returned unchanged where it is synced (BE-3), never mirrored anew (BE-7)."""
    if not _same_source(known.source, offer.source):
        raise RefusedError(f"there is a plugin '{known.plugin_id}' already, from {known.source.location}", code="ownership",
                           hint=f"metier plugin disable {known.plugin_id} first, then it may come from elsewhere")  # fmt: skip
    if known.status == "paused" or wish.dry_run:
        notes = (f"it is paused: metier plugin resume {known.plugin_id}",) if known.status == "paused" else ()
        return listing.result(ground, known.plugin_id, changed=False, notes=notes)
    return _compared(library, known.plugin_id, wish, blocking=blocking)


def _compared(library: Library, plugin_id: str, wish: Wish, *, blocking: bool) -> Mirrored:
    """Put a plugin's skills where further agents look, if any are named, and look at what it ships now."""
    lent = bool(wish.to) and standing.lend(library, plugin_id, wish.to, user=wish.user, blocking=blocking).changed
    found = syncing.sync(library, (plugin_id,), user=wish.user, blocking=blocking)
    return found._replace(changed=found.changed or lent)


def _same_source(one: Request, other: Request) -> bool:
    return (one.kind, one.location, one.path) == (other.kind, other.location, other.path)


def _plugin(shipped: Shipped, known: Plugin | None) -> Plugin:
    """Give what will be written down; one that was disabled may have moved to another source, and is compared with that."""
    offer = shipped.offer
    skills = known.skills if known is not None else ()
    return Plugin(offer.plugin_id, offer.name, offer.format, offer.source, enabled=True, status="synced",
                  installed_version=offer.version, commit=shipped.commit, skills=skills)  # fmt: skip


# --- preparing: nothing is touched


def _prepared(library: Library, work: Workbench, ground: Ground, plugin: Plugin, shipped: Shipped, wish: Wish, *,
              asked: bool) -> tuple[list[Prepared], tuple[Refusal, ...]]:  # fmt: skip
    """Prepare every skill: who owns it, links, quarantine, scan, decision. One refusal is enough to touch nothing (BE-4)."""
    ledger, taken = Ledger(ground.mirror), publishing.locked(ground)
    ready, laid = list[Prepared](), list[tuple[str, Laid]]()
    faults = shipped.faults if not plugin.skills else ()  # the look that follows tells of those of a plugin that comes back
    refused = [Refusal(plugin.plugin_id, (f"{fault.code}: {fault.message}",)) for fault in faults]
    for source, picked in shipped.skills:
        found = _laid(work, ground, ledger, plugin, source, picked, taken)
        if isinstance(found, Refusal):
            refused.append(found)
        elif isinstance(found, Prepared):
            ready.append(found)
        elif found is not None:
            laid.append((safe_name(picked.name), found))
        library.progress("skills", len(ready) + len(refused) + len(laid))
    shown = {one.name for one in ready} | {one.name for one in refused} | {name for name, _laid in laid}
    for binding in plugin.skills:  # no longer shipped: it comes back as it was, and a person is asked about it
        if binding.skill in ledger.skills and binding.skill not in shown:
            again = _back(library, ground, ledger, plugin, binding.skill, gone=True)
            (refused if isinstance(again, Refusal) else ready).append(again)  # type: ignore[arg-type]
    refused += _twice([name for name, _laid in laid] + [one.name for one in ready])
    if laid and not refused:
        work.bench.scales.foresee([Waiting(one.folder, name, one.digest) for name, one in laid])
    for name, one in laid:
        weighed = _weighed(library, work, ground, name, one, wish, asked=asked)
        (refused if isinstance(weighed, Refusal) else ready).append(weighed)  # type: ignore[arg-type]
    return ready, tuple(refused)


def _laid(work: Workbench, ground: Ground, ledger: Ledger, plugin: Plugin, source: fetching.Source,
          picked: Picked, taken: Collection[str]) -> Laid | Prepared | Refusal | None:  # fmt: skip
    """Write a skill into quarantine; one that was here before comes back as it was, and an adopted one is left to its owner."""
    try:
        name = safe_name(picked.name)
    except MetierError as error:
        return Refusal(picked.name, (f"{error.code}: {error.message}",))
    if moves.is_adopted(ledger, plugin.plugin_id, name):
        return None
    if name in ledger.skills and plugin.binding(name) is not None:
        return _back(work.library, ground, ledger, plugin, name)
    if plugin.skills:
        return None  # the others come back; what is new since waits for a yes of its own, as after any sync
    owned = publishing.owned(ground, ledger, plugin.plugin_id, name, taken)
    if owned:
        return Refusal(name, (owned,))
    links = sourcing.links_in(picked)
    if links:
        return Refusal(name, (sourcing.SYMLINK.format(links[0]),))
    laid = fetching.lay(work.library, work.desk, source, picked)
    if isinstance(laid, Refusal):
        return laid
    before = ledger.candidates.get(candidates.ident_in(ledger, "plugin_skill_added", plugin.plugin_id, name, laid.digest))
    # A no to just these bytes holds; the next look notes it down again.
    return None if before is not None and before.status == "rejected" else laid


def _back(library: Library, ground: Ground, ledger: Ledger, plugin: Plugin, name: str, *,
          gone: bool = False) -> Prepared | Refusal:  # fmt: skip
    """Prepare a skill that was disabled to come back as it was; something else in one of its places is a conflict."""
    skill, version = ledger.skills[name], ledger.current(name)
    working = deploying.path_of(ground.place, skill.targets[0])
    other, there = publishing.in_the_way(ground, skill.targets, version.digest), state_of(working)
    if other or (there and publishing.is_shared(library, ground, name)):
        return Refusal(name, (f"Skill ownership conflict: {name} (there is something at {other or working})",))
    step = Step(name, "restore", plugin.source.location, "", "", plugin.commit, version.digest, there, 0, 0, 0, "community", "safe",
                0, (), "allow", (f"as it was: {version.version}",), skill.targets)  # fmt: skip
    return Prepared(name, skill.targets, step, gone=gone)


def _twice(names: Sequence[str]) -> Iterator[Refusal]:
    seen: set[str] = set()
    for name in names:
        if folded(name) in seen:
            yield Refusal(name, (f"collision: the plugin has several skills of the name '{name}'",))
        seen.add(folded(name))


def _weighed(library: Library, work: Workbench, ground: Ground, name: str, laid: Laid, wish: Wish, *,
             asked: bool) -> Prepared | Refusal:  # fmt: skip
    working = deploying.working_copy(ground.place, name)
    weighed = work.bench.scales.weigh(laid.folder, name, laid.told, ground.place.scope, working)
    if isinstance(weighed, Refusal):
        return weighed
    if weighed.verdict.digest != laid.digest:
        return Refusal(name, ("unscanned: the scan did not see all of it", *weighed.decision.reasons))
    accepted = work.bench.scales.accepted(weighed.called, laid.digest, working)
    way = "it is dangerous: --force does not change that, and no plugin brings it in"
    refusal = admitted(weighed, force=wish.force, accept_dangerous=accepted, asked=asked, way=way)
    if refusal is not None:
        failed = f"Plugin skill safety check failed: {name}"
        return refusal._replace(reasons=(failed, *refusal.reasons))
    targets = deploying.targets_for(library, ground.place, name, wish.to)
    other = publishing.in_the_way(ground, targets, laid.digest)
    if other:
        return Refusal(name, (f"Skill ownership conflict: {name} (there is something at {other})",))
    verdict, decision, origin = weighed.verdict, weighed.decision, laid.origin
    step = Step(name, "add", origin.source, laid.picked.path, origin.ref, origin.commit, laid.digest, "", len(laid.files),
                laid.size, weighed.tokens, decision.level, verdict.level, verdict.score, verdict.findings[:TOP], decision.install,
                decision.reasons, targets)  # fmt: skip
    return Prepared(name, targets, step, laid, weighed, laid_face(laid))


# --- promoting: all or nothing


def _promoted(library: Library, work: Workbench, ground: Ground, plugin: Plugin, ready: Sequence[Prepared], *,
              blocking: bool) -> Ground:  # fmt: skip
    """Put everything in place and write it down, in one change; where that fails, not even a snapshot is left."""
    with grounds.alone(library, blocking=blocking) as changer:
        if not grounds.is_current(library, ground):
            raise landing.changed("what is mirrored here")
        taken = publishing.locked(ground)
        for one in ready:
            if one.laid is not None and publishing.occupied(ground, one.name, taken):
                raise landing.changed(deploying.working_copy(ground.place, one.name))
        with _taken_in(work, ready):
            return _written(library, ground, plugin, ready, changer)


@contextmanager
def _taken_in(work: Workbench, ready: Sequence[Prepared]) -> Iterator[None]:
    """Have the trees in the store; those that are new there go again when what follows fails."""
    new = [one.laid.digest for one in ready if one.laid is not None and not work.store.has(one.laid.digest)]
    try:
        for one in ready:
            if one.laid is not None:
                if one.laid.digest in new:
                    work.store.take(one.laid.folder, one.laid.files)
                work.store.note(one.laid.digest, *one.laid.told[1:])
        yield
    except BaseException as error:
        # What could not be undone may still be finished, and needs its trees then.
        if getattr(error, "code", "") != publishing.UNSETTLED:
            _dropped(work, new)
        raise


def _dropped(work: Workbench, digests: Sequence[str]) -> None:
    """Take trees back; where that fails too, the next sweep does it, and what is told is why they were taken back."""
    with suppress(MetierError):
        work.store.drop(digests)


def _written(library: Library, ground: Ground, plugin: Plugin, ready: Sequence[Prepared], changer: Changer) -> Ground:
    ledger, at, switches = Ledger(ground.mirror), decisions.now(), list[Switch]()
    ledger.plugin(plugin)
    for one in ready:
        if one.laid is not None:
            seen = Seen(one.laid.picked.path, one.face)
            digest = moves.mirrored(ledger, plugin.plugin_id, one.name, seen, one.targets, at).digest
        else:
            digest = moves.restored(ledger, plugin.plugin_id, one.name).digest
        if one.gone:
            candidates.removed(ledger, plugin.plugin_id, one.name, digest, at)
        switches += publishing.placing(ground, one.targets, digest)
    moves.settled(ledger, plugin.plugin_id)
    if ground.mirror.plugin(plugin.plugin_id) is not None:  # what came back was not compared yet: the next look is a whole one
        ledger.plugin(ledger.plugins[plugin.plugin_id]._replace(commit=""))
    return grounds.apply(library, ground, ledger.mirror(), switches, changer)


def _reported(library: Library, ground: Ground, plugin: Plugin, ready: Sequence[Prepared]) -> None:
    """Write down who let the skills in."""
    paths = {one.name: deploying.path_of(ground.place, one.targets[0]) for one in ready}
    vouched(library, ground.place, [(one.weighed, paths[one.name]) for one in ready if one.weighed is not None], "plugin enabled")
    recording.note(library, [
        recording.event(library, "plugin", "enabled", name=one.name, digest=one.step.digest, path=paths[one.name],
                        plugin=plugin.plugin_id, version=plugin.installed_version, commit=plugin.commit, verdict=one.step.verdict)
        for one in ready
    ])  # fmt: skip
    library.turned()
