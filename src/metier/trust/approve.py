"""Makes and records the trust decisions of a person: about the bytes of a skill as they are now,
and about projects.

Every decision is noted in the audit log. What only some of this needs is imported there: whoever
reads a skill waits for the gate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.audit import log
from metier.audit.redact import redact_text
from metier.discover.io import disk
from metier.errors import (
    IntegrityError,
    MetierError,
    RefusedError,
    StoreError,
    UsageError,
)
from metier.scan.report import reason_of
from metier.settings.io import ORGANISATION_CONFIG, write_trusted_sources
from metier.settings.merge import ELSEWHERE
from metier.trust.assess import (
    OVERRIDE_COMMAND,
    TrustCase,
    Trusted,
    assess_skill,
    decision_of,
    full_decision_of,
    is_recorded,
    lines_of,
    root_of,
    shown_line,
)
from metier.trust.decide import refuse_by_policy
from metier.trust.decision_records import (
    REPAIR,
    DecisionIndex,
    DecisionRow,
    OwnPlace,
    TrustedProject,
)
from metier.trust.io import decisions_file
from metier.trust.io.decisions_file import person_of
from metier.trust.load_gate import load
from metier.trust.model import TRUSTED_SOURCES, Approval, repository, standing_records

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Literal

    from metier.audit.chain import AuditEvent
    from metier.context import Context
    from metier.model import Card, JsonObject, Texts, Trust
    from metier.settings.merge import ConfigSource
    from metier.trust.decision_records import Decisions
    from metier.trust.model import Said

    Verb = Literal["show", "load", "approve", "quarantine", "block", "unblock"]


STATE_OF_VERB: dict[str, Said] = {
    "approve": "approved",
    "quarantine": "quarantined",
    "block": "blocked",
    "unblock": "quarantined",
}
"""What each verb writes down."""


def approve(
    context: Context,
    card: Card,
    reason: str,
    level: Trust,
    *,
    accept_dangerous: bool,
    expected: str | None = None,
) -> None:
    """Approve the bytes that are there now; what is dangerous only by name, with a reason, and
    never in passing (MT-5).
    """
    if level not in {"trusted", "verified"}:
        raise UsageError(
            f"can't approve a skill as {level}", hint="approve it as verified or as trusted"
        )
    if accept_dangerous and not reason.strip():
        raise UsageError(
            "accepting a dangerous skill needs a reason",
            hint="add --reason TEXT. It is kept with the decision",
        )
    before = context.machine.digest(card.path)
    case = assess_skill(context, card)
    if before is None or case.verdict.digest is None:
        raise RefusedError(
            f"'{card.name}' can't be approved: some of its files can't be read",
            hint=f"check {card.path}",
        )
    if (
        expected not in {None, before}
        or case.verdict.digest != before
        or context.machine.digest(card.path) != before
    ):
        raise IntegrityError(
            f"'{card.name}' changed while you reviewed it. Nothing was approved",
            hint="review it again, then approve it",
        )
    if _is_blocked(decisions_file.read_decisions(context.data).approvals, card.name, before):
        raise _refuse(
            context, case, f"'{card.name}' is blocked", f"first: metier trust unblock {card.name}"
        )
    if ruled := case.decision.ruled_on("load"):
        _refuse(context, case, "; ".join(ruled), "")
        raise refuse_by_policy(card.name, "can't be approved", ruled)
    dangerous = context.trust_policy.counted(case.verdict.level) == "dangerous"
    if dangerous and not accept_dangerous:
        told = "".join(f"\n  {line}" for line in lines_of(case.verdict))
        reason = shown_line(reason_of(case.verdict.level, case.verdict.findings))
        raise _refuse(
            context,
            case,
            f"'{card.name}' is dangerous, so it was not approved: {reason}{told}",
            f"look at it: metier scan {card.path}; then, if you must: "
            f"{OVERRIDE_COMMAND.format(name=card.name)}",
        )
    said = statement(context, card.name, before, "approve", reason)._replace(
        level=level, accept_dangerous=dangerous
    )
    record_statement(context, disk.real(card.path), "approve", said, case.verdict.level)


def _refuse(context: Context, case: TrustCase, message: str, hint: str) -> RefusedError:
    card, verdict, _decision, _waived = case
    log.record(
        context,
        "refuse",
        "refused",
        name=card.name,
        digest=verdict.digest,
        path=card.path,
        reason=message,
        verdict=verdict.level,
        asked="approve",
        by=person_of(context),
    )
    return RefusedError(message, hint=hint)


def unblock(context: Context, card: Card, reason: str) -> None:
    """Lift a block; what was blocked is then quarantined, not free (ZE-24)."""
    digest = context.machine.digest(card.path)
    place = disk.real(card.path)
    latest = {
        (row.approval.name, row.approval.digest): row
        for row in decisions_file.read_decisions(context.data).rows
    }
    blocked = [
        row.approval
        for row in latest.values()
        if row.approval.state == "blocked"
        and (
            row.approval.name == card.name
            or row.approval.digest == digest
            or row.path in {card.path, place}
        )
    ]
    if not blocked:
        raise RefusedError(
            f"'{card.name}' is not blocked", hint=f"see: metier trust show {card.name}"
        )
    lifted = [(one.name, one.digest) for one in blocked]
    if digest and all(one.digest != digest for one in blocked):
        lifted.append((card.name, digest))
    record_statements(
        context,
        "unblock",
        [(place, statement(context, name, about, "unblock", reason), "") for name, about in lifted],
    )


def record_statement(
    context: Context, path: str, action: str, said: Approval, verdict: str = ""
) -> None:
    """Write a decision down, and note it."""
    record_statements(context, action, [(path, said, verdict)])


def record_statements(
    context: Context, action: str, statements: Sequence[tuple[str, Approval, str]]
) -> None:
    """Write many decisions down at once, each with the path it is about and the verdict it knows
    of, and note them.
    """

    def edit(state: Decisions) -> Decisions:
        index = DecisionIndex(state.rows)
        for _path, said, _verdict in statements:
            known = index.of(said.name, said.digest)
            # by somebody else, just now
            if said.state == "approved" and _is_blocked(known, said.name, said.digest):
                raise RefusedError(
                    f"'{said.name}' is blocked", hint=f"first: metier trust unblock {said.name}"
                )
        return state._replace(
            rows=(*state.rows, *(DecisionRow(said, path) for path, said, _verdict in statements))
        )

    def events(fault: str = "") -> list[AuditEvent]:
        return _events_of(context, action, statements, fault)

    try:
        note = _change(context, edit)
    except MetierError as error:
        log.record_all(context, events(error.message))
        raise
    _note(context, note, events())


def _change(context: Context, edit: Callable[[Decisions], Decisions]) -> str:
    """Change the decisions; say, and have a person told, what stands in the way of the second
    copy.
    """
    note = decisions_file.change_decisions(context.data, context.home, edit).note
    if note:
        context.warn(note)
    return note


def _note(context: Context, note: str, events: Sequence[AuditEvent]) -> None:
    """Note decisions in the audit log. Where neither that nor the second copy could be written, a
    single file knows of them, which is not enough to call them made.
    """
    if not log.record_all(context, events) and note:
        raise StoreError(
            f"{note}, and neither can the audit log: your decision is in one file only",
            hint="make room or put METIER_HOME right, then say it again",
        )


def _events_of(
    context: Context, action: str, statements: Sequence[tuple[str, Approval, str]], fault: str
) -> list[AuditEvent]:
    """Put decisions into words for the audit log, or that writing them failed."""
    events = []
    for path, said, verdict in statements:
        details: JsonObject = {"path": path, "reason": fault or said.reason}
        if not fault:
            details |= {"level": said.level, "verdict": verdict, "by": said.by}
            details |= {"accept_dangerous": said.accept_dangerous, "at": said.at}
            if said.installed:
                details["installed"] = True
        outcome = "failed" if fault else said.state
        events.append(
            log.event(context, action, outcome, name=said.name, digest=said.digest, **details)
        )
    return events


def _is_blocked(approvals: Iterable[Approval], name: str, digest: str) -> bool:
    same = standing_records(approvals, name, digest, decisions_file.now()).same
    return same is not None and same.state == "blocked"


def statement(
    context: Context, name: str, digest: str | None, action: str, reason: str
) -> Approval:
    """Put into words what a person says about a name and its bytes."""
    said = STATE_OF_VERB[action]
    level: Trust = "blocked" if said == "blocked" else "quarantined"
    return Approval(
        name=name,
        digest=digest or "",
        state=said,
        level=level,
        at=decisions_file.now(),
        by=person_of(context),
        reason=redact_text(reason.strip()),
    )


class ProjectFacts(NamedTuple):
    """A project as trust sees it."""

    path: str
    skills: Texts
    """What it would bring, or brings."""
    trusted: bool


def project_at(context: Context, folder: str) -> ProjectFacts:
    """Give the project that a folder belongs to, with the names of its skills."""
    place = disk.real(disk.absolute(folder, context.cwd, context.home))
    if disk.kind_of(place) != disk.FOLDER:
        raise UsageError(f"there is no folder {folder}", hint="give the project's folder")
    with type(context)(context.env, place, context.home, None, None, context.rules) as inside:
        project = disk.real(inside.project)
        own = {
            one.root.location
            for one in inside.catalogue.glance().seen
            if one.root.project == project
        }
        names = tuple(
            sorted({card.name for card in inside.catalogue.contents().cards if card.root in own})
        )
    return ProjectFacts(project, names, decisions_file.read_decisions(context.data).trusts(project))


def refuse_under_damage(context: Context) -> None:
    """Let nobody trust anything while an organisation's policy cannot be read."""
    if context.policy is not None and context.policy.damage:
        raise RefusedError(
            context.policy.damage,
            code="policy-damaged",
            hint="restore the file and its signature, or ask whoever signs it",
        )


def trust_project(context: Context, folder: str, *, trusted: bool, reason: str = "") -> str:
    """Offer a project's skills to models, or stop doing so; give the project's folder (MT-18)."""
    if trusted:
        refuse_under_damage(context)
    project = project_at(context, folder)
    if not trusted and not project.trusted:
        raise RefusedError(f"{project.path} is not trusted", hint="nothing to revoke")
    made = TrustedProject(project.path, decisions_file.now(), person_of(context))

    def edit(state: Decisions) -> Decisions:
        others = tuple(known for known in state.projects if known.path != project.path)
        return state._replace(projects=(*others, made) if trusted else others)

    if project.trusted != trusted:
        note = _change(context, edit)
        event = log.event(
            context,
            "trust_project",
            "approved" if trusted else "revoked",
            path=project.path,
            skills=len(project.skills),
            by=made.by,
            at=made.at,
            reason=redact_text(reason.strip()),
        )
        _note(context, note, [event])
        context.catalogue.reload()
    return project.path


# --- skills of the user's own


def own_place(context: Context, path: str) -> str:
    """Give the canonical path of the skill that a path or a name means: its folder, or its file."""
    place = disk.real(disk.absolute(path, context.cwd, context.home))
    kind = disk.kind_of(place)
    if kind == disk.FILE and place.rpartition("/")[2].lower() == "skill.md":
        return place.rpartition("/")[0]
    if kind == disk.FOLDER and any(
        name.lower() == "skill.md" for name in disk.list_folder(place).files
    ):
        return place
    if kind == disk.FILE and place.endswith((".md", ".py")):
        return place
    if "/" not in path and kind is None:
        return disk.real(context.catalogue.resolve(path).path)
    raise UsageError(
        f"there is no skill at {path}" if kind else f"there is nothing at {path}",
        hint="give a skill's folder, the one with SKILL.md",
    )


def marked_place(context: Context, path: str) -> str:
    """Give the canonical path of a place whose mark is to be taken back, whether anything is there
    any more or not.
    """
    known = decisions_file.read_decisions(context.data)
    place = disk.absolute(path, context.cwd, context.home).rstrip("/")
    for one in (disk.real(place), _canonical(place)):
        if known.owns(one):
            return one
    return own_place(context, path)


def own(context: Context, path: str, *, own: bool, reason: str = "") -> str:
    """Note that the skill at a path is the user's own, or that it no longer is; give its canonical
    path. The place counts and not the bytes, so edits stay the user's.
    """
    if own:
        refuse_under_damage(context)
    place = own_place(context, path) if own else marked_place(context, path)
    known = decisions_file.read_decisions(context.data)
    said = known.own_place(place)
    if not own and said is None and not known.broken:
        raise RefusedError(f"{place} is not marked as your own", hint="nothing to take back")
    recorded = own and _has_record(context, place)
    if known.broken or (said is not None) != own or (said and recorded and not said.recorded):
        _mark_own(context, {place: recorded}, own=own, reason=reason)
    return place


def _has_record(context: Context, place: str) -> bool:
    """Tell whether a tool's lock has what lies in a place, as `assess` will ask."""
    try:
        card = context.catalogue.resolve(place)
    except MetierError:  # it is not listed here
        return is_recorded(context, place.rpartition("/")[2], place)
    root = root_of(context, card)
    return is_recorded(context, card.name, place, root.project if root else "")


def forget_gone(context: Context) -> None:
    """Let places where nothing lies any more be nobody's own: whatever comes to lie there is not the
    user's for that. Never raises: the next listing is early enough.
    """
    try:
        known = decisions_file.read_decisions(context.data)
        gone = {place.path: False for place in known.own if disk.is_gone(place.path)}
        if gone and not known.broken:
            _mark_own(context, gone, own=False, reason="nothing lies there any more")
    except MetierError:
        return


def take_back_own(context: Context, paths: Iterable[str]) -> None:
    """Let places where fetched bytes are about to be put be nobody's own any more. It is done
    before the bytes are there, so that a crash between the two gives them nothing.
    """
    known = decisions_file.read_decisions(context.data)
    if known.broken:  # a repair would give them the mark back
        raise StoreError(
            f"{known.broken}. Nothing can be installed until you repair that", hint=REPAIR
        )
    if known.own:
        places = {_canonical(path) for path in paths}
        gone = {place.path: False for place in known.own if place.path in places}
        if gone:
            _mark_own(context, gone, own=False, reason="something was installed there")


def _canonical(path: str) -> str:
    """Give the canonical path of a place, which may hold a link: that link itself is meant."""
    folder, _, name = path.rpartition("/")
    return f"{disk.real(folder or '/').rstrip('/')}/{name}"


def _mark_own(context: Context, places: Mapping[str, bool], *, own: bool, reason: str = "") -> None:
    """Mark places, each with whether a tool's lock has it, or take the marks away."""
    by, at = person_of(context), decisions_file.now()
    made = [OwnPlace(path, at, by, recorded) for path, recorded in places.items() if own]

    def edit(state: Decisions) -> Decisions:
        others = (place for place in state.own if place.path not in places)
        return state._replace(own=(*others, *made))

    note = _change(context, edit)
    told: JsonObject = {"by": by, "at": at, "reason": redact_text(reason.strip())}
    events = []
    for path, recorded in places.items():
        details = {**told, "path": path, **({"recorded": True} if recorded else {})}
        events.append(log.event(context, "own", "approved" if own else "revoked", **details))
    _note(context, note, events)
    context.catalogue.forget()


# --- sources


class TrustedSource(NamedTuple):
    """A repository whose skills are trusted, and the file that says so (empty for metier's own
    list).
    """

    source: str
    told_by: str = ""


def trusted_sources(context: Context) -> list[TrustedSource]:
    """List the sources whose skills are trusted here."""
    found = context.trust_policy.trusted_sources
    told_by = {
        source: config.path
        for config in reversed(context.trust_sources())
        for source in _listed_sources(config) or ()
    }
    return [TrustedSource(source, told_by.get(source, "")) for source in found]


def _listed_sources(config: ConfigSource) -> list[str] | None:
    """Give the list of one file; nothing where it has none."""
    table = config.values[ELSEWHERE]
    listed = table.get("trusted_sources") if isinstance(table, dict) else None
    return [str(one) for one in listed] if isinstance(listed, list) else None


def trust_source(
    context: Context, source: str, *, trusted: bool, reason: str = ""
) -> list[TrustedSource]:
    """Trust whatever comes from a repository, or no longer, in the user's configuration; give the
    sources that are trusted then. A list in a file replaces metier's own, so all of it is written.
    """
    if trusted:
        refuse_under_damage(context)
    place = repository(source)
    if not place:
        raise UsageError(
            f"'{redact_text(source)}' is not a repository",
            hint="give OWNER/REPO, or the https address of a repository",
        )
    context.own_config()
    before = _user_sources(context)
    same = [one for one in before if repository(one) == place]
    bound = context.trust_policy.bounds.trusted_sources
    if trusted and bound is not None and place not in map(repository, bound):
        raise RefusedError(
            f"your organisation decides which sources are trusted, and {place} is not among them",
            hint=f"they are listed in {ORGANISATION_CONFIG}",
        )
    if not trusted and not same:
        raise RefusedError(
            f"{place} is not a trusted source", hint="see the list: metier trust source"
        )
    if trusted and not same:
        spelt = next((one for one in bound or () if repository(one) == place), place)
        _write_sources(context, [*before, spelt], place, "approved", reason)
    elif not trusted:
        others = [one for one in before if one not in same]
        _write_sources(context, others, place, "revoked", reason)
    found = trusted_sources(context)
    if trusted and all(repository(one.source) != place for one in found):
        context.warnings.append(
            f"{place} is not trusted in this project: the project's configuration narrows the list"
        )
    return found


def _user_sources(context: Context) -> list[str]:
    """Give the list as the user's file has it, or as it would be without that file."""
    bound = context.trust_policy.bounds.trusted_sources
    users = (_listed_sources(one) for one in context.trust_sources() if one.layer == "user")
    listed = next((one for one in users if one is not None), None)
    return list(TRUSTED_SOURCES if bound is None else bound) if listed is None else listed


def _write_sources(
    context: Context, sources: Sequence[str], place: str, outcome: str, reason: str
) -> None:
    write_trusted_sources(context.own_config(), sources)
    told = redact_text(reason.strip())
    log.record(context, "trust_source", outcome, origin=place, by=person_of(context), reason=told)
    with context.lock:
        context.read_settings()
        context.catalogue.rejudge()


def trust(
    context: Context,
    name: str,
    action: Verb = "show",
    *,
    reason: str = "",
    accept_dangerous: bool = False,
    level: Trust = "verified",
    expected: str | None = None,
) -> Trusted:
    """Give the decision on a skill; ask to load it; or decide about its bytes as they are now.

    With `expected`, the digest that a person was shown, nothing else is approved.
    """
    card = context.catalogue.resolve(name)
    if action == "show":
        return full_decision_of(context, assess_skill(context, card))
    if action == "load":
        return decision_of(load(context, card).candidate)

    if action not in STATE_OF_VERB:
        raise UsageError(
            f"unknown command 'metier trust {action}'",
            hint=f"expected one of: show, {', '.join(STATE_OF_VERB)}",
        )
    if action == "approve":
        approve(context, card, reason, level, accept_dangerous=accept_dangerous, expected=expected)
    elif action == "unblock":
        unblock(context, card, reason)
    else:
        digest = context.machine.digest(card.path)
        record_statement(
            context,
            disk.real(card.path),
            action,
            statement(context, card.name, digest, action, reason),
        )
    context.catalogue.reload()
    return full_decision_of(context, assess_skill(context, context.catalogue.resolve(card.path)))
