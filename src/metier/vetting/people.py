"""Decisions that a person makes: about the bytes of a skill as they are now, and about projects. Each is noted down."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier import recording
from metier.audit.disk import person as account
from metier.discover import disk
from metier.errors import IntegrityError, MetierError, RefusedError, UsageError
from metier.trust import disk as store
from metier.trust.facts import Approval, standing
from metier.trust.state import Index, Project, Row
from metier.vetting.cases import OVERRIDE, Case, case_of, lines_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.app import Library
    from metier.model import Card, Trust
    from metier.trust.facts import Said
    from metier.trust.state import State

SAID: dict[str, Said] = {"approve": "approved", "quarantine": "quarantined", "block": "blocked", "unblock": "quarantined"}
"""What each verb writes down."""


def approve(library: Library, card: Card, reason: str, level: Trust, *, accept_dangerous: bool,
            expected: str | None = None) -> None:  # fmt: skip
    """Approve the bytes that are there now; what is dangerous only by name, with a reason, and never in passing (decision 5)."""
    if level not in {"trusted", "verified"}:
        raise UsageError(f"a skill cannot be approved as {level}", hint="approve it as verified or as trusted")
    if accept_dangerous and not reason.strip():
        raise UsageError("to accept danger needs a reason", hint="add --reason TEXT: it is kept with the decision")
    before, case = library.machine.digest(card.path), case_of(library, card)
    if before is None or case.verdict.digest is None:
        raise RefusedError(f"'{card.name}' cannot be read whole, so there is nothing to approve", hint=f"check {card.path}")
    if expected not in {None, before} or case.verdict.digest != before or library.machine.digest(card.path) != before:
        raise _changed(card)
    if _is_blocked(store.read(library.data), card.name, before):
        raise _no(library, case, f"'{card.name}' is blocked", f"first: metier trust unblock {card.name}")
    dangerous = library.trust_policy.counted(case.verdict.level) == "dangerous"
    if dangerous and not accept_dangerous:
        told = "".join(f"\n  {line}" for line in lines_of(case.verdict))
        raise _no(library, case, f"'{card.name}' is dangerous and is not approved:{told}",
                  f"look at it: metier scan {card.path}; then, if you must: {OVERRIDE.format(name=card.name)}")  # fmt: skip
    said = statement(library, card.name, before, "approve", reason)._replace(level=level, accept_dangerous=dangerous)
    say(library, card.path, "approve", said, case.verdict.level)


def _changed(card: Card) -> IntegrityError:
    return IntegrityError(f"'{card.name}' changed while it was looked at; nothing was approved", hint="look again, then approve")


def _no(library: Library, case: Case, message: str, hint: str) -> RefusedError:
    card, verdict, _decision, _waived = case
    recording.record(library, "refuse", "refused", name=card.name, digest=verdict.digest, path=card.path, reason=message,
                     verdict=verdict.level, asked="approve", by=_person(library))  # fmt: skip
    return RefusedError(message, hint=hint)


def unblock(library: Library, card: Card, reason: str) -> None:
    """Lift a block; what was blocked is then quarantined, not free (ZE-24)."""
    digest = library.machine.digest(card.path)
    latest = {(row.approval.name, row.approval.digest): row for row in store.read(library.data).rows}
    blocked = [row.approval for row in latest.values() if row.approval.state == "blocked"
               and (row.approval.name == card.name or row.approval.digest == digest or row.path == card.path)]  # fmt: skip
    if not blocked:
        raise RefusedError(f"'{card.name}' is not blocked", hint=f"see: metier trust show {card.name}")
    for one in blocked:
        say(library, card.path, "unblock", statement(library, one.name, one.digest, "unblock", reason))
    if digest and all(one.digest != digest for one in blocked):
        say(library, card.path, "unblock", statement(library, card.name, digest, "unblock", reason))


def say(library: Library, path: str, action: str, said: Approval, verdict: str = "") -> None:
    """Write a decision down, and note it."""
    say_all(library, action, [(path, said, verdict)])


def say_all(library: Library, action: str, statements: Sequence[tuple[str, Approval, str]]) -> None:
    """Write many decisions down at once, each with the path it is about and the verdict it knows of, and note them."""

    def edit(state: State) -> State:
        index = Index(state.rows)
        for _path, said, _verdict in statements:
            same = standing(index.of(said.name, said.digest), said.name, said.digest, store.now()).same
            if said.state == "approved" and same is not None and same.state == "blocked":  # by somebody else, just now
                raise RefusedError(f"'{said.name}' is blocked", hint=f"first: metier trust unblock {said.name}")
        return state._replace(rows=(*state.rows, *(Row(said, path) for path, said, _verdict in statements)))

    try:
        store.change(library.data, library.home, edit)
    except MetierError as error:
        recording.note(library, [recording.event(library, action, "failed", name=said.name, digest=said.digest, path=path,
                                                 reason=error.message) for path, said, _verdict in statements])  # fmt: skip
        raise
    recording.note(library, [
        recording.event(library, action, said.state, name=said.name, digest=said.digest, path=path, level=said.level,
                        verdict=verdict, reason=said.reason, accept_dangerous=said.accept_dangerous, by=said.by)
        for path, said, verdict in statements
    ])  # fmt: skip


def _is_blocked(state: State, name: str, digest: str) -> bool:
    same = standing(state.approvals, name, digest, store.now()).same
    return same is not None and same.state == "blocked"


def statement(library: Library, name: str, digest: str | None, action: str, reason: str) -> Approval:
    """Put into words what a person says about a name and its bytes."""
    said = SAID[action]
    level: Trust = "blocked" if said == "blocked" else "quarantined"
    return Approval(name, digest or "", said, level, store.now(), _person(library), reason.strip())


def _person(library: Library) -> str:
    return library.env.get("USER") or library.env.get("LOGNAME") or account()


class ProjectFacts(NamedTuple):
    """A project as trust sees it."""

    path: str
    skills: tuple[str, ...]
    """What it would bring, or brings."""
    trusted: bool


def project_at(library: Library, folder: str) -> ProjectFacts:
    """Give the project that a folder belongs to, with the names of its skills."""
    place = disk.real(disk.absolute(folder, library.cwd, library.home))
    if disk.kind_of(place) != disk.FOLDER:
        raise UsageError(f"there is no folder {folder}", hint="give the project's folder")
    with type(library)(library.env, place, library.home, None, None, library.rules) as inside:
        project = disk.real(inside.project)
        own = {one.root.location for one in inside.glance().seen if one.root.project == project}
        names = tuple(sorted({card.name for card in inside.contents().cards if card.root in own}))
    return ProjectFacts(project, names, store.read(library.data).trusts(project))


def trust_project(library: Library, folder: str, *, trusted: bool) -> str:
    """Offer a project's skills to models, or stop doing so; give the project's folder (decision 18)."""
    project = project_at(library, folder)
    if not trusted and not project.trusted:
        raise RefusedError(f"{project.path} is not trusted", hint="nothing to revoke")
    made = Project(project.path, store.now(), _person(library))

    def edit(state: State) -> State:
        others = tuple(known for known in state.projects if known.path != project.path)
        return state._replace(projects=(*others, made) if trusted else others)

    if project.trusted != trusted:
        store.change(library.data, library.home, edit)
        recording.record(library, "trust_project", "approved" if trusted else "revoked", path=project.path,
                         skills=len(project.skills), by=made.by)  # fmt: skip
        library.reload()
    return project.path
