"""Enables, pauses, resumes, disables and adopts plugins: who changes a plugin's skills, and whether
agents see them (BE-3 to BE-11, BE-20 to BE-22).

Enabling takes all skills of a plugin or none, and everything is prepared and judged before anything
is touched. A plugin that was disabled comes back as it was, edits and all. One that is enabled
already is only looked at: enabling never puts upstream's bytes over anybody's edits.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

from metier.audit import log
from metier.errors import MetierError, NotFoundError, RefusedError, UsageError
from metier.plugins import candidates, discover, install, mirror_store, read_source, sync
from metier.plugins.install import PluginWorkspace, conflict_at
from metier.plugins.mirror_ledger import Ledger, ShippedSkill
from metier.plugins.mirror_store import being_edited, digest_of_state, hashes_of_kept
from metier.plugins.model import PluginOffer, PluginRecord, PluginResult
from metier.store.io.atomic_change import state_of
from metier.supply import apply, deploy, fetch, places
from metier.supply.fetch import FetchedSkill
from metier.supply.judge import TreeToJudge, reason_to_refuse, record_approvals, unscanned
from metier.supply.model import Outcome, Plan, PlanStep, Refusal
from metier.supply.safe_names import fold_name, safe_name

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from metier.context import Context
    from metier.model import Texts
    from metier.plugins.mirror_store import MirroredPlace, PlaceLedger
    from metier.plugins.read_source import ShippedPlugin
    from metier.store.io.atomic_change import Switch
    from metier.supply.judge import JudgedSkill
    from metier.supply.model import InstallTarget, Request, SourceSkill


def pause(context: Context, plugin: str, *, user: bool | None, blocking: bool) -> PluginResult:
    """Leave a plugin's skills as they are until it is resumed."""
    return _change_plugin(
        context, plugin, "paused", lambda ledger: ledger.pause(plugin), user=user, blocking=blocking
    )


def resume(context: Context, plugin: str, *, user: bool | None, blocking: bool) -> PluginResult:
    """Go on with a plugin, and look at it at once."""
    done = _change_plugin(
        context,
        plugin,
        "resumed",
        lambda ledger: ledger.resume(plugin),
        user=user,
        blocking=blocking,
    )
    found = sync.sync(context, (plugin,), user=user, blocking=blocking)
    return found._replace(changed=found.changed or done.changed)


def disable(
    context: Context, plugin: str, *, confirmed: bool, user: bool | None, blocking: bool
) -> PluginResult:
    """Take a plugin's skills away from agents; the store keeps every version of them, edits
    included.
    """
    mirror_store.settle_crash(context, blocking=blocking)
    here = mirror_store.with_plugin(context, plugin, user)
    if not confirmed:
        raise UsageError(
            "disable_linked_skills confirmation is required",
            hint="agents will not see its skills: say so, or --yes",
        )

    def act(ledger: PlaceLedger) -> list[Switch]:
        switches = [
            switch
            for skill in ledger.owned_skills(plugin)
            for switch in install.take_away(ledger, skill)
        ]
        ledger.disable(plugin)
        return switches

    return _change_plugin(
        context, plugin, "disabled", act, user=here.place.scope == "user", blocking=blocking
    )


def adopt(
    context: Context, plugin: str, skill: str, *, user: bool | None, blocking: bool
) -> PluginResult:
    """Make a skill the user's own, as it is now; one that was disabled is put in place again."""

    def act(ledger: PlaceLedger) -> Iterable[Switch] | None:
        ledger.binding_of(plugin, skill)
        here = ledger.here
        before = ledger.skills.get(skill)
        if before is not None and before.status == "active":
            ledger.keep_edit(skill, state_of(here.working(before)), being_edited)
        ledger.adopt(plugin, skill)
        if before is None or before.status == "active":
            return None
        digest = ledger.current(skill).digest
        other = install.blocking_path(here, before.targets, digest)
        if other or install.is_shared(here, skill):
            raise UsageError(
                f"there is something at {other or here.working(before)} already",
                hint="move it away first",
            )
        return install.switches_into(here, before.targets, digest)

    return _change_plugin(context, plugin, "adopted", act, user=user, blocking=blocking, name=skill)


def lend(
    context: Context, plugin: str, agents: Sequence[str], *, user: bool | None, blocking: bool
) -> PluginResult:
    """Put a plugin's skills where further agents look; something else in such a place is a
    conflict, and then nothing is done.
    """

    def act(ledger: PlaceLedger) -> Iterator[Switch]:
        here = ledger.here
        place = ledger.here.place
        for skill in ledger.owned_skills(plugin):
            local = state_of(here.working(skill)) if skill.status == "active" else ""
            # Where somebody took the working copy away there is nothing to lead an agent to.
            if not digest_of_state(local):
                continue
            ledger.keep_edit(skill.name, local, being_edited)
            asked = deploy.targets_for(context, place, skill.name, agents)
            targets = deploy.join_targets(context, place, skill.targets, asked)
            new = [one for one in targets if one not in skill.targets]
            digest = ledger.current(skill.name).digest
            if new:
                install.check_free(here, skill.name, (skill.targets[0], *new), digest)
            paths = {deploy.path_of(place, one) for one in new}
            states = deploy.target_states(place, targets)
            for one in deploy.switches(place, targets, digest, states):
                if one.path in paths:
                    yield one
            ledger.put_skill(ledger.skills[skill.name]._replace(targets=targets))

    return _change_plugin(context, plugin, "lent", act, user=user, blocking=blocking)


def _change_plugin(
    context: Context,
    plugin: str,
    what: str,
    act: Callable[[PlaceLedger], Iterable[Switch] | None],
    *,
    user: bool | None,
    blocking: bool,
    name: str = "",
) -> PluginResult:
    """Hold the lock, change the ledger and the places at once, and write down who did what."""
    mirror_store.settle_crash(context, blocking=blocking)
    here = mirror_store.with_plugin(context, plugin, user)
    with mirror_store.change(here, blocking=blocking, anew=True) as ledger:
        before = ledger.here
        ledger.known_plugin(plugin)
        after = ledger.commit(tuple(act(ledger) or ()))
    if after is not before:
        log.record(context, "plugin", what, name=name, plugin=plugin)
    return discover.plugin_result(after, plugin, changed=after is not before)


class EnableRequest(NamedTuple):
    """What is asked for."""

    plugin: str
    """An id, a path or any source."""
    name: str = ""
    """Which plugin of a source with several."""
    ref: str = ""
    to: Texts = ()
    user: bool = False
    dry_run: bool = False
    force: bool = False
    adopt: Texts = ()
    """Skills that the user has already and keeps: the plugin's are left out."""


class PreparedSkill(NamedTuple):
    """One skill, ready to be put in place."""

    name: str
    targets: tuple[InstallTarget, ...]
    step: PlanStep
    laid: FetchedSkill | None = None
    """What its plugin ships, in quarantine; nothing for one that comes back as it was."""
    weighed: JudgedSkill | None = None
    gone: bool = False
    """Its plugin no longer ships it."""


def enable(
    context: Context,
    request: EnableRequest,
    consent: Callable[[Outcome], bool] | None,
    *,
    blocking: bool,
) -> PluginResult:
    """Mirror a plugin; what it came to, what was refused, or what would be done."""
    if not request.dry_run:
        mirror_store.settle_crash(context, blocking=blocking)
    here = mirror_store.read(context, places.place_of(context, user=request.user))
    offer = _offered(context, here, request)
    known = here.mirror.plugin(offer.plugin_id)
    if known is not None and known.enabled:
        return _enable_again(here, known, offer, request, blocking=blocking)
    with (
        PluginWorkspace(here) as work,
        read_source.open_source(context, offer.source) as opened,
    ):
        shipped = opened.shipped(offer.name)
        if shipped is None:
            raise NotFoundError(
                f"there is no plugin '{request.plugin}'", hint="'metier plugin list' shows all"
            )
        plugin = _plugin(shipped, known)
        ready, refused = _prepare(
            work, plugin, shipped, request, asked=request.dry_run or consent is not None
        )
        plan = Plan(add=tuple(one.step for one in ready))
        for one in refused:
            why = "; ".join(one.reasons)[:500]
            log.record(
                context, "plugin", "refused", name=one.name, plugin=plugin.plugin_id, reason=why
            )
        if refused or request.dry_run or (consent is not None and not consent(Outcome(plan))):
            before = discover.row_of(here, known) if known else discover.row_of_offer(offer)
            return PluginResult((before,), plan=plan, refused=refused)
        after = _promote(work, plugin, ready, request.adopt, blocking=blocking)
        _record_approvals(after, plugin, ready)
    if known is not None:
        found = _compare(context, plugin.plugin_id, request, blocking=blocking)
        notes = found.notes
        if not _same_source(known.source, plugin.source):
            notes = (f"it was from {known.source.location} before", *notes)
        return found._replace(changed=True, plan=plan, notes=notes)
    kept = tuple(f"{name} stays yours; the plugin's was left out" for name in request.adopt)
    found = discover.plugin_result(after, plugin.plugin_id, changed=True)
    return found._replace(plan=plan, notes=(*found.notes, *kept))


def _offered(context: Context, here: MirroredPlace, request: EnableRequest) -> PluginOffer:
    """Give the plugin that is meant: one that was enabled here before goes by what is written
    down.
    """
    known = here.mirror.plugin(request.plugin)
    if known is not None:
        return PluginOffer(
            known.plugin_id, known.name, known.installed_version, "", known.format, known.source
        )
    return discover.resolve_plugin(context, request.plugin, name=request.name, ref=request.ref)


def _enable_again(
    here: MirroredPlace,
    known: PluginRecord,
    offer: PluginOffer,
    request: EnableRequest,
    *,
    blocking: bool,
) -> PluginResult:
    """Look at a plugin that is enabled already: it is returned unchanged where it is synced (BE-3),
    never mirrored anew (BE-7).
    """
    if not _same_source(known.source, offer.source):
        raise RefusedError(
            f"there is a plugin '{known.plugin_id}' already, from {known.source.location}",
            code="ownership",
            hint=f"metier plugin disable {known.plugin_id} first, then it may come from elsewhere",
        )
    same = discover.plugin_result(here, known.plugin_id, changed=False)
    if known.status == "paused":
        return same._replace(notes=(f"it is paused: metier plugin resume {known.plugin_id}",))
    if request.dry_run:
        return same
    return _compare(here.context, known.plugin_id, request, blocking=blocking)


def _compare(
    context: Context, plugin_id: str, request: EnableRequest, *, blocking: bool
) -> PluginResult:
    """Put a plugin's skills where further agents look, if any are named, and look at what it ships
    now.
    """
    lent = False
    if request.to:
        lent = lend(context, plugin_id, request.to, user=request.user, blocking=blocking).changed
    found = sync.sync(context, (plugin_id,), user=request.user, blocking=blocking)
    return found._replace(changed=found.changed or lent)


def _same_source(one: Request, other: Request) -> bool:
    return (one.kind, one.location, one.path) == (other.kind, other.location, other.path)


def _plugin(shipped: ShippedPlugin, known: PluginRecord | None) -> PluginRecord:
    """Give what will be written down; one that was disabled may have moved to another source, and
    is compared with that.
    """
    offer = shipped.offer
    return PluginRecord(
        offer.plugin_id,
        offer.name,
        offer.format,
        offer.source,
        enabled=True,
        status="synced",
        installed_version=offer.version,
        commit=shipped.commit,
        skills=known.skills if known is not None else (),
    )


# --- preparing: nothing is touched


def _prepare(
    work: PluginWorkspace,
    plugin: PluginRecord,
    shipped: ShippedPlugin,
    request: EnableRequest,
    *,
    asked: bool,
) -> tuple[list[PreparedSkill], tuple[Refusal, ...]]:
    """Prepare every skill: who owns it, links, quarantine, scan, decision. One refusal is enough to
    touch nothing (BE-4).
    """
    ledger = Ledger(work.here.mirror)
    taken = install.locked_names(work.here)
    found = list[PreparedSkill | Refusal]()
    laid = list[tuple[str, FetchedSkill]]()
    if not plugin.skills:  # the look that follows tells of those of a plugin that comes back
        found += [
            Refusal(plugin.plugin_id, (f"{fault.code}: {fault.message}",))
            for fault in shipped.faults
        ]
    total = len(found) + len(shipped.skills)
    for source, picked in shipped.skills:
        if picked.name in request.adopt and not plugin.skills:
            continue
        one = _lay_out(work, ledger, plugin, source, picked, taken)
        if isinstance(one, FetchedSkill):
            laid.append((safe_name(picked.name), one))
        elif one is not None:
            found.append(one)
        work.context.progress("skills staged", len(found) + len(laid), total)
    shown = {one.name for one in found}.union(name for name, _laid in laid)
    for binding in plugin.skills:
        # What is no longer shipped comes back as it was, and a person is asked about it.
        if binding.skill in ledger.skills and binding.skill not in shown:
            found.append(_prepare_return(work.here, ledger, plugin, binding.skill, gone=True))
    names = [name for name, _laid in laid]
    names += [one.name for one in found if isinstance(one, PreparedSkill)]
    found += _twice(names)
    if laid and not any(isinstance(one, Refusal) for one in found):
        work.bench.scales.foresee([TreeToJudge(one.folder, name, one.digest) for name, one in laid])
    found += [_weigh(work, name, one, request, asked=asked) for name, one in laid]
    found += _check_kept(work.here, plugin, shipped, request, taken)
    found = _with_way_out(work.here, request, found, taken)
    return [one for one in found if isinstance(one, PreparedSkill)], tuple(
        one for one in found if isinstance(one, Refusal)
    )


def _check_kept(
    here: MirroredPlace,
    plugin: PluginRecord,
    shipped: ShippedPlugin,
    request: EnableRequest,
    taken: Collection[str],
) -> Iterator[Refusal]:
    """Refuse to keep what is no skill of the user's that the plugin would be in the way of."""
    names = {picked.name for _source, picked in shipped.skills}
    for name in request.adopt:
        if plugin.skills:
            yield Refusal(name, (f"use 'metier plugin adopt {plugin.plugin_id} {name}' instead",))
        elif name not in names:
            yield Refusal(name, ("the plugin has no skill of this name",))
        elif (
            not install.occupied_by(here, name, taken)
            or Ledger(here.mirror).alike(name)
            or not digest_of_state(state_of(deploy.working_copy(here.place, name)))
        ):
            yield Refusal(name, ("you have no skill of this name that could be kept",))
    if request.adopt and names <= set(request.adopt):
        yield Refusal(plugin.plugin_id, ("nothing would be left of it to enable",))


def _with_way_out(
    here: MirroredPlace,
    request: EnableRequest,
    found: Sequence[PreparedSkill | Refusal],
    taken: Collection[str],
) -> list[PreparedSkill | Refusal]:
    """Name the command that enables a plugin beside the user's own skills, where those are all
    that is in its way.
    """
    from shlex import join

    own = [
        one.name
        for one in found
        if isinstance(one, Refusal) and one.reasons == (install.occupied_by(here, one.name, taken),)
    ]
    words = ["metier", "plugin", "enable", request.plugin]
    words += [word for agent in request.to for word in ("--to", agent)]
    for option, value in (("--plugin", request.name), ("--ref", request.ref)):
        words += [option, value] if value else []
    words += ["--user"] if request.user else []
    words += [word for name in (*request.adopt, *own) for word in ("--adopt", name)]
    way = f"to keep yours and leave the plugin's out: {join(words)}"
    return [
        one._replace(reasons=(*one.reasons, way))
        if isinstance(one, Refusal) and one.name in own
        else one
        for one in found
    ]


def _lay_out(
    work: PluginWorkspace,
    ledger: Ledger,
    plugin: PluginRecord,
    source: fetch.OpenedSource,
    picked: SourceSkill,
    taken: Collection[str],
) -> FetchedSkill | PreparedSkill | Refusal | None:
    """Write a skill into quarantine; one that was here before comes back as it was, and an adopted
    one is left to its owner.
    """
    try:
        name = safe_name(picked.name)
    except MetierError as error:
        return Refusal(picked.name, (f"{error.code}: {error.message}",))
    if ledger.is_adopted(plugin.plugin_id, name):
        return None
    if name in ledger.skills and plugin.binding(name) is not None:
        return _prepare_return(work.here, ledger, plugin, name)
    if plugin.skills:
        # the others come back; what is new since waits for a yes of its own, as after any sync
        return None
    owned = install.other_owner(work.here, ledger, plugin.plugin_id, name, taken)
    if owned:
        return Refusal(name, (owned, *install.ways_out(work.here, ledger, plugin.plugin_id, name)))
    links = read_source.links_in(picked)
    if links:
        return Refusal(name, (read_source.SYMLINK_MESSAGE.format(links[0]),))
    laid = fetch.lay_out(work.context, work.desk, source, picked)
    if isinstance(laid, Refusal):
        return laid
    before = ledger.candidates.get(
        candidates.ident_in(ledger, "plugin_skill_added", plugin.plugin_id, name, laid.digest)
    )
    # A no to just these bytes holds; the next look notes it down again.
    return None if before is not None and before.status == "rejected" else laid


def _prepare_return(
    here: MirroredPlace, ledger: Ledger, plugin: PluginRecord, name: str, *, gone: bool = False
) -> PreparedSkill | Refusal:
    """Prepare a skill that was disabled to come back as it was; something else in one of its places
    is a conflict.
    """
    skill = ledger.skills[name]
    version = ledger.current(name)
    working = here.working(skill)
    other = install.blocking_path(here, skill.targets, version.digest)
    there = state_of(working)
    if other or (there and install.is_shared(here, name)):
        return Refusal(name, (conflict_at(name, other or working), install.MOVE_AWAY))
    step = PlanStep(
        name=name,
        mode="restore",
        source=plugin.source.location,
        path="",
        ref="",
        commit=plugin.commit,
        digest=version.digest,
        before=there,
        files=0,
        size=0,
        tokens=0,
        level="community",
        verdict="safe",
        score=0,
        findings=(),
        action="allow",
        reasons=(version.version,),
        targets=skill.targets,
    )
    return PreparedSkill(name, skill.targets, step, gone=gone)


def _twice(names: Sequence[str]) -> Iterator[Refusal]:
    seen: set[str] = set()
    for name in names:
        if fold_name(name) in seen:
            yield Refusal(name, (f"collision: the plugin has several skills of the name '{name}'",))
        seen.add(fold_name(name))


def _weigh(
    work: PluginWorkspace, name: str, laid: FetchedSkill, request: EnableRequest, *, asked: bool
) -> PreparedSkill | Refusal:
    weighed = work.weigh(laid.folder, name, laid.told)
    if isinstance(weighed, Refusal):
        return weighed
    unseen = unscanned(weighed, laid.digest)
    if unseen is not None:
        return unseen
    refusal = reason_to_refuse(
        weighed,
        force=request.force,
        accept_dangerous=work.is_accepted(weighed, name, laid.digest),
        asked=asked,
        way="it is dangerous: --force does not change that, and no plugin brings it in",
    )
    if refusal is not None:
        failed = f"Plugin skill safety check failed: {name}"
        return refusal._replace(reasons=(failed, *refusal.reasons))
    targets = deploy.targets_for(work.context, work.place, name, request.to)
    conflict = conflict_at(name, install.blocking_path(work.here, targets, laid.digest))
    if conflict:
        return Refusal(name, (conflict, install.MOVE_AWAY))
    step = weighed.step(
        "add",
        laid.origin,
        path=laid.picked.path,
        digest=laid.digest,
        before="",
        files=laid.files,
        targets=targets,
    )
    return PreparedSkill(name, targets, step, laid, weighed)


# --- promoting: all or nothing


def _promote(
    work: PluginWorkspace,
    plugin: PluginRecord,
    ready: Sequence[PreparedSkill],
    adopt: Sequence[str],
    *,
    blocking: bool,
) -> MirroredPlace:
    """Put everything in place and write it down, in one change; where that fails, not even a
    snapshot is left.
    """
    with mirror_store.change(work.here, blocking=blocking) as ledger:
        taken = install.locked_names(work.here)
        for one in ready:
            if one.laid is not None and install.occupied_by(work.here, one.name, taken):
                raise apply.changed_error(deploy.working_copy(work.place, one.name))
        with _hold_trees(work, [one.laid for one in ready if one.laid is not None]):
            return _write(ledger, plugin, ready, adopt)


@contextmanager
def _hold_trees(work: PluginWorkspace, trees: Sequence[FetchedSkill]) -> Iterator[None]:
    """Have the trees in the store; those that are new there go again when what follows fails."""
    new = [one.digest for one in trees if not work.store.has(one.digest)]
    try:
        for one in trees:
            if one.digest in new:
                work.store.take(one.folder, one.files)
            work.store.note(one.digest, *one.told[1:])
        yield
    except BaseException as error:
        # What could not be undone may still be finished, and needs its trees then. Where dropping
        # them fails too, the next sweep does it, and what is told is why they were taken back.
        if getattr(error, "code", "") != install.UNSETTLED:
            with suppress(MetierError):
                work.store.drop(new)
        raise


def _write(
    ledger: PlaceLedger,
    plugin: PluginRecord,
    ready: Sequence[PreparedSkill],
    adopt: Sequence[str],
) -> MirroredPlace:
    plugin_id = plugin.plugin_id
    here = ledger.here
    comes_back = plugin_id in ledger.plugins
    switches: list[Switch] = []
    ledger.put_plugin(plugin)
    for one in ready:
        if one.laid is not None:
            tree = hashes_of_kept(here.context, one.laid.digest)
            digest = ledger.take_over(
                plugin_id, one.name, ShippedSkill(one.laid.picked.path, tree), one.targets
            ).digest
        else:
            digest = ledger.restore(plugin_id, one.name).digest
        if one.gone:
            candidates.propose_removed(ledger, plugin_id, one.name, digest)
        switches += install.switches_into(here, one.targets, digest)
    for name in adopt:
        working = deploy.working_copy(here.place, name)
        digest = places.store_of(here.context).keep(working)
        targets = deploy.targets_for(here.context, here.place, name, ())
        ledger.keep_own(plugin_id, name, hashes_of_kept(here.context, digest), targets)
    ledger.settle_status(plugin_id)
    if comes_back:  # it was not compared yet: the next look is a whole one
        ledger.put_plugin(ledger.plugins[plugin_id]._replace(commit=""))
    return ledger.commit(switches)


def _record_approvals(
    here: MirroredPlace, plugin: PluginRecord, ready: Sequence[PreparedSkill]
) -> None:
    """Write down who let the skills in."""
    context = here.context
    paths = {one.name: deploy.path_of(here.place, one.targets[0]) for one in ready}
    record_approvals(
        context,
        here.place,
        [(one.weighed, paths[one.name]) for one in ready if one.weighed is not None],
        "plugin enabled",
    )
    log.record_all(
        context,
        [
            log.event(
                context,
                "plugin",
                "enabled",
                name=one.name,
                digest=one.step.digest,
                path=paths[one.name],
                plugin=plugin.plugin_id,
                version=plugin.installed_version,
                commit=plugin.commit,
                verdict=one.step.verdict,
            )
            for one in ready
        ],
    )
    context.catalogue.refresh()
