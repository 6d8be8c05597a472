"""`add`: a source → quarantine → read → scan → decide → a plan somebody says yes to → store → lock → deploy.

Nothing reaches a folder that agents read before the decision, and what is refused leaves no trace but the audit event.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier import recording
from metier.errors import IntegrityError, MetierError, NotFoundError, RefusedError, StoreError, UsageError
from metier.supplies import Installed, Outcome, Plan, Refusal
from metier.supply import pick, sources
from metier.supply.decided import arrived
from metier.supply.paths import folded, safe_name
from metier.supplying import applying, deploying, fetching, pinning, places
from metier.supplying.admitting import vouched
from metier.supplying.deciding import Scales
from metier.supplying.foreseeing import Waiting
from metier.supplying.planning import Offer, Wish, is_named, planned
from metier.trust import disk as decisions
from metier.vetting.cases import TOP

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from metier.app import Library
    from metier.supplies import Picked, Request, Step
    from metier.supply.quarantine.disk import Desk
    from metier.supplying.fetching import Laid, Source
    from metier.supplying.places import Kept, Place

__all__ = ["Wish", "add"]


def add(library: Library, said: str, wish: Wish, consent: Callable[[Outcome], bool] | None) -> Outcome:
    """Install skills from a source; give the plan, what was installed and what was refused."""
    if wish.accept_dangerous and not wish.reason.strip():
        raise UsageError("to accept danger needs a reason", hint="add --reason TEXT: it is kept with the decision")
    place = places.place_of(library, user=wish.user)
    if not wish.dry_run:
        places.settle(library)
    request = _request(library, said, wish.ref)
    if request.kind == "well-known" and not request.path and len(wish.skills) == 1:
        request = request._replace(path=wish.skills[0])  # the index tells them apart: the others need not be fetched
    with fetching.desk(library) as desk:
        try:
            offers, refused = _gathered(library, desk, request, wish, place)
        except (RefusedError, IntegrityError) as error:
            named = wish.name or ", ".join(wish.skills)
            _note_refusal(library, Refusal(named, (f"{error.code}: {error.message}",)), request, wish)
            _forgotten(library, request, wish)
            raise
        steps, more = planned(library, place, offers, wish, asked=wish.dry_run or consent is not None)
        plan = Plan(add=tuple(s for s in steps if s.mode == "add"), update=tuple(s for s in steps if s.mode != "add"))
        refused = (*refused, *more)
        for one in refused:
            _note_refusal(library, one, request, wish)
        so_far = Outcome(plan, refused=refused)
        if refused and not steps:
            _forgotten(library, request, wish)
        if wish.dry_run or not steps or (consent is not None and not consent(so_far)):
            return so_far
        installed = _installed(library, place, offers, steps, wish, asked=consent is not None)
    return Outcome(plan, installed, refused)


def _request(library: Library, said: str, ref: str) -> Request:
    """Take apart what somebody wrote; a plain name is looked for in the taps and registries, and must be there once (HE-41)."""
    try:
        return fetching.request_for(library, said, ref)
    except UsageError as error:
        if error.code != "unknown-source" or not sources.is_plain_name(said) or ":" in said:
            raise
    from metier.supplying import searching

    found = searching.search(library, said.strip(), searching.MOST)
    library.warnings += [f"{source} did not answer: {why}" for source, why in found.unreachable]
    source, _, skill = pick.one_result(said.strip(), found.results).source.partition(" --skill ")
    request = fetching.request_for(library, source, ref)
    return request._replace(path=skill) if skill else request


def _gathered(library: Library, desk: Desk, request: Request, wish: Wish, place: Place) -> tuple[list[Offer], tuple[Refusal, ...]]:
    """Fetch what was asked for into quarantine, and judge it there."""
    offers: list[Offer] = []
    refused: list[Refusal] = []
    count = 0
    with Scales(library) as scales:
        for source, chosen in _chosen(library, request, wish):
            count += len(chosen)
            if wish.name and count > 1:
                raise UsageError("--name is for one skill", hint="choose it with --skill NAME")
            laid = [fetching.lay(library, desk, source, picked) for picked in chosen]
            scales.foresee([Waiting(one.folder, one.picked.name, one.digest) for one in laid if not isinstance(one, Refusal)])
            for one in laid:
                found = one if isinstance(one, Refusal) else _offer(library, scales, one, wish, place)
                (refused if isinstance(found, Refusal) else offers).append(found)  # type: ignore[arg-type]
                library.progress("skills", len(offers) + len(refused))
    return _unique(offers, refused), tuple(refused)


def _chosen(library: Library, request: Request, wish: Wish) -> Iterable[tuple[Source, Sequence[Picked]]]:
    """Open the source, and those that it leads to where what was asked for may be there."""
    with fetching.opened(library, request) as source:
        library.warnings += [text for text in source.pickings.problems if text not in library.warnings]
        further = list(fetching.elsewhere(library, source, wish.skills))
        if not further:
            # Of a whole source, a name that is there twice is refused below, and the rest goes on.
            whole = wish.everything and not wish.skills and bool(source.pickings.skills)
            chosen = source.pickings.skills if whole else pick.choose(source.pickings, wish.skills, wish.everything, request.path)
            yield source, chosen
            return
        here = [one for one in source.pickings.skills if wish.everything or is_named(one, wish.skills)]
        yield source, here
        missing = [name for name in wish.skills if not any(is_named(one, (name,)) for one in here)]
    if not wish.everything and not missing:
        if not here:
            pick.choose(source.pickings, (), everything=False)  # which says what there is to choose from
        return
    for other in further:
        with fetching.opened(library, other) as source:
            there = [one for one in source.pickings.skills if wish.everything or is_named(one, missing)]
            missing = [name for name in missing if not any(is_named(one, (name,)) for one in there)]
            yield source, there
        if not missing and not wish.everything:
            return
    if missing:
        raise NotFoundError(f"there is no skill '{missing[0]}' in {request.said or request.location}",
                            hint="--all --dry-run shows what it offers")  # fmt: skip


def _offer(library: Library, scales: Scales, laid: Laid, wish: Wish, place: Place) -> Offer | Refusal:
    try:
        name = safe_name(wish.name or laid.picked.name)
    except MetierError as error:
        return Refusal(laid.picked.name, (f"{error.code}: {error.message}",))
    targets = deploying.targets_for(library, place, name, wish.to)
    weighed = scales.weigh(laid.folder, name, laid.told, place.scope, deploying.working_copy(place, name))
    if isinstance(weighed, Refusal):
        return weighed
    if weighed.verdict.digest != laid.digest:  # what was not looked at whole was not looked at
        why = ("unscanned: the scan did not see all of it", *weighed.decision.reasons)
        return Refusal(name, why, weighed.verdict.findings[:TOP])
    return Offer(laid, weighed, targets)


def _unique(offers: list[Offer], refused: list[Refusal]) -> list[Offer]:
    """Keep one skill of each name; several of one name in one source are refused with their places (HE-41)."""
    by_name: dict[str, list[Offer]] = {}
    for offer in offers:
        by_name.setdefault(folded(offer.weighed.name), []).append(offer)
    for same in by_name.values():
        if len({offer.laid.digest for offer in same}) > 1:
            where = ", ".join(offer.laid.picked.path or "." for offer in same)
            refused.append(Refusal(same[0].weighed.name, (f"collision: the source has several skills of this name: {where}",)))
    return [same[0] for same in by_name.values() if len({offer.laid.digest for offer in same}) == 1]


def _installed(library: Library, place: Place, offers: Sequence[Offer], steps: Sequence[Step], wish: Wish, *,
               asked: bool) -> tuple[Installed, ...]:  # fmt: skip
    """Put everything in its place at once."""
    store, changer = places.store_of(library), places.changer_of(library)
    by_name = {offer.weighed.name: offer for offer in offers}
    with changer.alone():
        again, _refused = planned(library, place, [by_name[step.name] for step in steps], wish, asked=asked)
        if again != list(steps):
            raise StoreError("things changed while this was looked at; nothing was installed", code="changed", hint="say it again")
        kept = places.read(place)
        moves = [_move(place, kept, by_name[step.name], step) for step in steps]
        for step in steps:
            offer = by_name[step.name]
            store.take(offer.laid.folder, offer.laid.files)
            store.note(offer.laid.digest, *offer.laid.told[1:])
        state = arrived(kept.state, [move.pin for move in moves if move.pin is not None], decisions.now())
        applying.apply(library, place, kept._replace(state=state), moves, changer)
    paths = {step.name: deploying.path_of(place, step.targets[0]) for step in steps}
    taken = [step for step in steps if step.digest == by_name[step.name].laid.digest]
    vouched(library, place, [(by_name[step.name].weighed, paths[step.name]) for step in taken], wish.reason,
            accept_dangerous=wish.accept_dangerous)  # fmt: skip
    recording.note(library, [
        recording.event(library, "install", "done", name=step.name, digest=step.digest, path=paths[step.name], origin=step.source,
                        ref=step.ref, commit=step.commit, verdict=step.verdict, level=step.level, forced=wish.force)
        for step in steps
    ])  # fmt: skip
    library.turned()  # now that it is written down who let them in
    return tuple(Installed(step.name, step.digest, paths[step.name], step.mode, step.targets) for step in steps)


def _move(place: Place, kept: Kept, offer: Offer, step: Step) -> applying.Move:
    states = deploying.states(place, step.targets)
    before = kept.lock.named(step.name)
    if before is not None and step.digest != offer.laid.digest:  # edits that the lock has stay
        pin = before._replace(ref=step.ref, commit=step.commit, targets=step.targets)
    else:
        pin = pinning.pinned(place, offer.weighed, offer.laid, step.targets)
    return applying.Move(step.name, pin, deploying.switches(place, step.targets, step.digest, states), "add", before)


def _forgotten(library: Library, request: Request, wish: Wish) -> None:
    """Keep no copy of a repository of which nothing came in."""
    if request.kind in {"git", "marketplace"} and not wish.dry_run:
        from metier.supplying.sweeping import forget_repository  # few are refused

        forget_repository(library, sources.canonical(request._replace(kind="git")))


def _note_refusal(library: Library, refusal: Refusal, request: Request, wish: Wish) -> None:
    if not wish.dry_run:
        applying.record(library, "install", "refused", refusal.name, "", origin=request.location, ref=request.ref,
                        reason="; ".join(refusal.reasons)[:500], forced=wish.force)  # fmt: skip
