"""`add`: a source → quarantine → read → scan → decide → a plan somebody says yes to → store → lock
→ deploy.

Nothing reaches a folder that agents read before the decision, and what is refused leaves no trace
but the audit event.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.audit import log
from metier.errors import (
    IntegrityError,
    MetierError,
    NotFoundError,
    RefusedError,
    UsageError,
)
from metier.supply import apply, dependencies, deploy, fetch, places
from metier.supply.apply import PinChange
from metier.supply.deploy import path_of, target_states, targets_for, working_copy
from metier.supply.fetch import request_for
from metier.supply.judge import SkillJudge, TreeToJudge, record_approvals, unscanned
from metier.supply.local_state import settle_arrived
from metier.supply.merge import combine
from metier.supply.merge.combine import NO_FILES, difference, version_in_folder
from metier.supply.model import DependencyEdge, Installed, Outcome, Plan, Refusal
from metier.supply.needed import APM_FILE, GatheredSkills, Gatherer, beside_own, read_needs_of
from metier.supply.places import changer_of, place_of, recover, store_of
from metier.supply.plan import AddOptions, InstallOffer, is_named, make_plan
from metier.supply.safe_names import fold_name, printable, safe_name
from metier.supply.sources import pick, source_name
from metier.trust.io import decisions_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from metier.context import Context
    from metier.model import Level, Texts
    from metier.supply.fetch import FetchedSkill, OpenedSource, SourcePool
    from metier.supply.io.quarantine import Quarantine
    from metier.supply.model import Consent, PlanStep, Request, ShowDiff, SourceSkill
    from metier.supply.places import InstallPlace, LockFiles

__all__ = ["AddOptions", "add"]

_UNREAD = frozenset({"SK062", "SK063", "SK064"})
"""Codes of entries that should name a skill that is needed, and cannot be read."""
MAX_CURRENT_NAMED = 5
"""Skills with nothing to do that are named; the others are counted."""


def add(
    context: Context,
    said: str,
    wish: AddOptions,
    consent: Consent | None,
    show: ShowDiff | None = None,
) -> Outcome:
    """Install skills from a source; give the plan, what was installed and what was refused. `show`
    is told what each skill of the plan changes, before anybody is asked.
    """
    if wish.accept_dangerous and not wish.reason.strip():
        raise UsageError(
            "accepting a dangerous skill needs a reason",
            hint="add --reason TEXT. It is kept with the decision",
        )
    place = place_of(context, user=wish.user)
    if not wish.dry_run:
        recover(context)
    request = _request(context, said, wish.ref)
    if request.kind in {"well-known", "mcp"} and not request.path and len(wish.skills) == 1:
        request = request._replace(
            path=wish.skills[0]
        )  # the list tells them apart: the others need not be fetched
    with (
        fetch.open_quarantine(context) as desk,
        fetch.SourcePool(context) as pool,
        SkillJudge(context) as scales,
    ):
        asking = AddContext(context, desk, pool, scales, place, wish)
        try:
            offers, refused = _gather(asking, request)
            needed = _gather_needed(asking, offers)
        except (RefusedError, IntegrityError) as error:
            _note_refusal(
                context, Refusal.of(wish.name or ", ".join(wish.skills), error), request, wish
            )
            _forget(context, request, wish)
            raise
        asked = wish.dry_run or consent is not None
        steps, refused, brought = _plan(asking, offers, needed, refused, asked=asked)
        current = _already_current(offers, steps, refused)
        offers = [*offers, *needed.offers]
        for one in refused:
            _note_refusal(context, one, request, wish)
        if show is not None:
            _show_diffs(context, desk, place, offers, steps, show)
        so_far = Outcome(
            _shown_plan(asking, steps, brought, needed.edges),
            refused=refused,
            notes=(*current, *_notes_on(needed.edges), *_notes_on_unread(offers)),
            dependencies=needed.edges,
        )
        if refused and not steps:
            _forget(context, request, wish)
        if wish.dry_run or not steps or (consent is not None and not consent(so_far)):
            return so_far
        fetch.check_unmoved(context, (offer.laid.origin for offer in offers))
        installed = _install(asking, offers, steps, brought, asked=consent is not None)
    return so_far._replace(installed=installed)


def _already_current(
    offers: Sequence[InstallOffer], steps: Sequence[PlanStep], refused: Sequence[Refusal]
) -> Texts:
    """Name the skills that were asked for and are there already, just so."""
    told = {step.name for step in steps} | {one.name for one in refused}
    names = [offer.weighed.name for offer in offers if offer.weighed.name not in told]
    if not names:
        return ()
    more = len(names) - MAX_CURRENT_NAMED
    named = ", ".join(names[:MAX_CURRENT_NAMED]) + (f" and {more:,} more" if more > 0 else "")
    return (f"already current: {named}",)


class AddContext(NamedTuple):
    """What one `add` works with."""

    context: Context
    desk: Quarantine
    pool: SourcePool
    scales: SkillJudge
    place: InstallPlace
    wish: AddOptions

    @property
    def for_needed(self) -> AddContext:
        """The same for what comes along: nobody has forced that, accepted its danger or named
        it.
        """
        wish = self.wish._replace(name="", force=False, accept_dangerous=False)
        return self._replace(wish=wish)


def _gather_needed(asking: AddContext, offers: Sequence[InstallOffer]) -> GatheredSkills:
    """Fetch and judge what the skills need; with `--no-deps` only say what is left out."""
    needing = [one for one in offers if _may_need(one)]
    if asking.wish.no_deps:
        return GatheredSkills(
            edges=tuple(
                DependencyEdge(one.weighed.name, need.name, "left out", need.range, need.source)
                for one in needing
                for need in read_needs_of(one.laid.folder).requires.skills
            )[: dependencies.MAX_EDGES]
        )
    if not needing:
        return GatheredSkills()
    inner = asking.for_needed
    gatherer = Gatherer(
        asking.context,
        asking.desk,
        asking.scales,
        asking.pool,
        asking.place,
        lambda laid: _offer(inner, laid),
    )
    # What needs nothing may be what another one needs.
    return gatherer.gather([one.laid for one in offers], [one.weighed.name for one in offers])


def _may_need(offer: InstallOffer) -> bool:
    entry = offer.weighed.entry
    named = entry is None or (entry.needs is not None and bool(entry.needs.skills))
    return named or any(file.path == APM_FILE for file in offer.laid.files)


def _plan(
    asking: AddContext,
    offers: Sequence[InstallOffer],
    needed: GatheredSkills,
    refused: Sequence[Refusal],
    *,
    asked: bool,
) -> tuple[list[PlanStep], tuple[Refusal, ...], frozenset[str]]:
    """Say what would become of each skill and of what comes along for it: nothing that needs what
    is refused, and nothing that nobody needs any more.
    """
    context, place = asking.context, asking.place
    steps, more = make_plan(context, place, offers, asking.wish, asked=asked)
    others, worse = make_plan(context, place, needed.offers, asking.for_needed.wish, asked=asked)
    own = [*refused, *more]
    theirs = [*needed.refused, *worse]
    reasons = {one.name: "; ".join(one.reasons[:1]) for one in (*own, *theirs)}
    stopped = dependencies.blocked(needed.edges, reasons)
    roots = {offer.weighed.name for offer in offers}
    kept = dependencies.reached(roots - stopped.keys() - reasons.keys(), needed.edges)
    brought = frozenset(one.name for one in others if one.name in kept - stopped.keys())
    steps = [one for one in steps if one.name not in stopped]
    steps += [one for one in others if one.name in brought]
    told = {one.name for one in own}
    found = [*own, *(one for one in theirs if one.name not in told)]
    found += [
        Refusal(name, (why, "--no-deps installs it without what it needs"))
        for name, why in stopped.items()
    ]
    return steps, tuple(found), brought


def _shown_plan(
    asking: AddContext,
    steps: Sequence[PlanStep],
    brought: frozenset[str],
    edges: Sequence[DependencyEdge],
) -> Plan:
    needing: dict[str, list[str]] = {}
    for edge in edges:
        needing.setdefault(edge.name, []).append(edge.by)
    told = [step for step in steps if step.name not in brought]
    told += [
        step._replace(needed_by=tuple(dict.fromkeys(needing.get(step.name, ()))))
        for step in beside_own(
            asking.context, asking.place, [step for step in steps if step.name in brought]
        )
    ]
    return Plan(
        add=tuple(one for one in told if one.mode == "add"),
        update=tuple(one for one in told if one.mode != "add"),
    )


def _notes_on(edges: Sequence[DependencyEdge]) -> tuple[str, ...]:
    """Say what is missing or left out: that keeps nothing from being installed."""
    left = sorted({edge.name for edge in edges if edge.state == "left out"})
    notes = [f"left out, because of --no-deps: {', '.join(map(printable, left))}"] if left else []
    notes += [
        f"'{printable(edge.by)}' needs '{printable(edge.name)}', which was not found: {edge.reason}"
        for edge in edges
        if edge.state == "missing"
    ]
    return tuple(notes)


def _notes_on_unread(offers: Sequence[InstallOffer]) -> Texts:
    """Say which skills name others in a way that can't be read: nothing comes along for that."""
    found = []
    for offer in offers:
        entry = offer.weighed.entry
        faults = [one for one in entry.diagnostics if one.code in _UNREAD] if entry else []
        if faults:
            more = f", and {len(faults) - 1} more" if len(faults) > 1 else ""
            text = f"{faults[0].message.removesuffix('.')} ({faults[0].code}{more})"
            found.append(f"'{printable(offer.weighed.name)}': {text}")
    return tuple(found)


def _show_diffs(
    context: Context,
    desk: Quarantine,
    place: InstallPlace,
    offers: Sequence[InstallOffer],
    steps: Sequence[PlanStep],
    show: ShowDiff,
) -> None:
    by_name = {offer.weighed.name: offer for offer in offers}
    for step in steps:
        working = path_of(place, step.targets[0])
        old = combine.snapshot(context, desk, working) if step.before else NO_FILES
        show(step.name, difference(old, version_in_folder(by_name[step.name].laid)))


def _request(context: Context, said: str, ref: str) -> Request:
    """Take apart what somebody wrote; a plain name is looked for in the taps and registries, and
    must be there once (HE-41).
    """
    try:
        return fetch.typed_request(context, said, ref)
    except UsageError as error:
        if error.code != "unknown-source" or not source_name.is_plain_name(said) or ":" in said:
            raise
    from metier.supply import search

    found = search.search(context, said.strip(), search.MAX_RESULTS, well_known=False)
    context.warnings += [f"{source} did not answer: {why}" for source, why in found.unreachable]
    source, _, skill = pick.one_result(said.strip(), found.results).source.partition(" --skill ")
    request = request_for(context, source, ref)
    return request._replace(path=skill) if skill else request


def _gather(asking: AddContext, request: Request) -> tuple[list[InstallOffer], tuple[Refusal, ...]]:
    """Fetch what was asked for into quarantine, and judge it there."""
    context, wish = asking.context, asking.wish
    offers: list[InstallOffer] = []
    refused: list[Refusal] = []
    count = 0
    for source, chosen in _choose(context, asking.pool, request, wish):
        count += len(chosen)
        if wish.name and count > 1:
            raise UsageError("--name works with a single skill", hint="choose it with --skill NAME")
        laid = [fetch.lay_out(context, asking.desk, source, picked) for picked in chosen]
        asking.scales.foresee(
            [
                TreeToJudge(one.folder, one.picked.name, one.digest)
                for one in laid
                if not isinstance(one, Refusal)
            ]
        )
        for one in laid:
            found = one if isinstance(one, Refusal) else _offer(asking, one)
            (refused if isinstance(found, Refusal) else offers).append(found)  # type: ignore[arg-type]
            context.progress("skills checked", len(offers) + len(refused), count)
    return _unique(offers, refused), tuple(refused)


def _choose(
    context: Context, pool: SourcePool, request: Request, wish: AddOptions
) -> Iterable[tuple[OpenedSource, Sequence[SourceSkill]]]:
    """Open the source, and those that it leads to where what was asked for may be there."""
    missing: Sequence[str] = wish.skills

    def wanted(source: OpenedSource) -> list[SourceSkill]:
        nonlocal missing
        found = [one for one in source.pickings.skills if wish.everything or is_named(one, missing)]
        missing = [name for name in missing if not any(is_named(one, (name,)) for one in found)]
        return found

    source = pool.open(request)
    pickings = source.pickings
    context.warnings += [text for text in pickings.problems if text not in context.warnings]
    further = list(fetch.other_sources(context, source, wish.skills))
    if not further:
        # Of a whole source, a name that is there twice is refused below, and the rest goes on.
        whole = wish.everything and not wish.skills and bool(pickings.skills)
        yield (
            source,
            pickings.skills
            if whole
            else pick.choose(pickings, wish.skills, wish.everything, request.path),
        )
        return
    here = wanted(source)
    yield source, here
    if not wish.everything and not missing:
        if not here:
            pick.choose(pickings, (), everything=False)  # which says what there is to choose from
        return
    for other in further:
        source = pool.open(other)
        yield source, wanted(source)
        if not missing and not wish.everything:
            return
    if missing:
        raise NotFoundError(
            f"there is no skill '{missing[0]}' in {request.said or request.location}",
            hint="see what it offers: --all --dry-run",
        )


def _offer(asking: AddContext, laid: FetchedSkill) -> InstallOffer | Refusal:
    return offer_of(asking.context, asking.scales, asking.place, laid, asking.wish)


def offer_of(
    context: Context, scales: SkillJudge, place: InstallPlace, laid: FetchedSkill, wish: AddOptions
) -> InstallOffer | Refusal:
    """Judge a skill in quarantine, as what it would be in its place."""
    try:
        name = safe_name(wish.name or laid.picked.name)
    except MetierError as error:
        return Refusal.of(laid.picked.name, error)
    targets = targets_for(context, place, name, wish.to)
    at = working_copy(place, name)
    weighed = scales.weigh(laid.folder, name, laid.told, place.scope, at)
    if not isinstance(weighed, Refusal) and _is_watched(wish, weighed.verdict.level):
        assert wish.watch is not None
        wish.watch(laid.folder, name)
        weighed = scales.weigh(laid.folder, name, laid.told, place.scope, at)
    if isinstance(weighed, Refusal):
        return weighed
    return unscanned(weighed, laid.digest) or InstallOffer(laid, weighed, targets)


def _is_watched(wish: AddOptions, level: Level) -> bool:
    """Tell whether a skill is watched in the sandbox before it is decided about. What the scan calls
    dangerous is refused without that.
    """
    if wish.watch is None or level == "dangerous":
        return False
    return wish.observe == "always" or (wish.observe == "caution" and level == "caution")


def _unique(offers: list[InstallOffer], refused: list[Refusal]) -> list[InstallOffer]:
    """Keep one skill of each name; several of one name in one source are refused with their places
    (HE-41).
    """
    by_name: dict[str, list[InstallOffer]] = {}
    for offer in offers:
        by_name.setdefault(fold_name(offer.weighed.name), []).append(offer)
    kept = []
    for same in by_name.values():
        if len({offer.laid.digest for offer in same}) == 1:
            kept.append(same[0])
        else:
            where = ", ".join(offer.laid.picked.path or "." for offer in same)
            why = f"collision: the source has several skills of this name: {where}"
            refused.append(Refusal(same[0].weighed.name, (why,)))
    return kept


def _install(
    asking: AddContext,
    offers: Sequence[InstallOffer],
    steps: Sequence[PlanStep],
    brought: frozenset[str],
    *,
    asked: bool,
) -> tuple[Installed, ...]:
    """Put everything in its place at once."""
    context, place, wish = asking.context, asking.place, asking.wish
    store = store_of(context)
    changer = changer_of(context)
    by_name = {offer.weighed.name: offer for offer in offers}
    with changer.alone():
        again = []
        for own, about in ((False, wish), (True, asking.for_needed.wish)):
            some = [by_name[one.name] for one in steps if (one.name in brought) is own]
            again += make_plan(context, place, some, about, asked=asked)[0]
        if again != list(steps):
            raise apply.say_again("something changed in the meantime. Nothing was installed")
        kept = places.read(place)
        moves = [
            move_of(place, kept, by_name[step.name], step, dependency=step.name in brought)
            for step in steps
        ]
        for step in steps:
            fetch.keep_fetched(store, by_name[step.name].laid)
        state = settle_arrived(
            kept.state, [move.pin for move in moves if move.pin is not None], decisions_file.now()
        )
        apply.apply(context, place, kept._replace(state=state), moves, changer)
    paths = {step.name: path_of(place, step.targets[0]) for step in steps}
    taken = [step for step in steps if step.digest == by_name[step.name].laid.digest]
    record_approvals(
        context,
        place,
        [(by_name[step.name].weighed, paths[step.name]) for step in taken],
        wish.reason,
        accept_dangerous=wish.accept_dangerous,
    )
    named = [step for step in steps if step.name not in brought]
    report_installed(context, place, named, forced=wish.force)
    report_installed(context, place, [step for step in steps if step.name in brought])
    context.catalogue.refresh()  # now that it is written down who let them in
    return tuple(
        Installed(step.name, step.digest, paths[step.name], step.mode, step.targets)
        for step in steps
    )


def report_installed(
    context: Context, place: InstallPlace, steps: Sequence[PlanStep], *, forced: bool = False
) -> None:
    """Write down in the audit log what came in."""
    log.record_all(
        context,
        [
            log.event(
                context,
                "install",
                "done",
                name=step.name,
                digest=step.digest,
                path=path_of(place, step.targets[0]),
                origin=step.source,
                ref=step.ref,
                commit=step.commit,
                verdict=step.verdict,
                level=step.level,
                forced=forced,
            )
            for step in steps
        ],
    )


def move_of(
    place: InstallPlace,
    kept: LockFiles,
    offer: InstallOffer,
    step: PlanStep,
    *,
    dependency: bool = False,
) -> PinChange:
    """Give what becomes of one skill that comes in."""
    states = target_states(place, step.targets)
    before = kept.lock.named(step.name)
    if before is not None and step.digest != offer.laid.digest:  # edits that the lock has stay
        pin = before._replace(ref=step.ref, commit=step.commit, targets=step.targets)
    else:
        pin = fetch.pin_as_fetched(place, offer.weighed, offer.laid, step.targets)
    pin = pin._replace(dependency=dependency)
    return PinChange(
        step.name, pin, deploy.switches(place, step.targets, step.digest, states), "add", before
    )


def _forget(context: Context, request: Request, wish: AddOptions) -> None:
    """Keep no copy of a repository of which nothing came in."""
    if request.kind in {"git", "marketplace"} and not wish.dry_run:
        from metier.supply.sweep import forget_repository  # few are refused

        forget_repository(context, source_name.canonical(request._replace(kind="git")))


def _note_refusal(context: Context, refusal: Refusal, request: Request, wish: AddOptions) -> None:
    if not wish.dry_run:
        log.record(
            context,
            "install",
            "refused",
            name=refusal.name,
            origin=request.location,
            ref=request.ref,
            reason="; ".join(refusal.reasons)[:500],
            forced=wish.force,
        )
