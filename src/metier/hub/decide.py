"""Decides about releases: by policy when they come in, then by reviewers. What is approved is signed
by the hub and written to the approval log, in the transaction that approves it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.errors import RefusedError, UsageError
from metier.hub import approval_log, audit_log, authorize
from metier.hub.namespaces import LEVELS, need_namespace, policy_of
from metier.hub.releases import find_release, find_skill_row, releases_of
from metier.hub.search import index_skill
from metier.hub.webhooks import announce
from metier.supply.approvals import HEAD_TYPE, head_statement
from metier.supply.safe_names import fold_name
from metier.trust.sign import sign_detached, sign_digest

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from metier.hub.hub import Hub
    from metier.hub.io.database import Transaction
    from metier.hub.model import Caller, Namespace, Release, ReleaseState
    from metier.supply.approvals import LogEntry

MAX_REASON_CHARS = 1000


class ReleaseVote(NamedTuple):
    """What one reviewer said about a release."""

    who: str
    name: str
    vote: str
    reason: str
    at: int


class Standing(NamedTuple):
    """How far the decision about a release is, for somebody who looks at it."""

    votes: tuple[ReleaseVote, ...]
    needed: int
    """How many have to approve it in all."""
    is_own: bool
    """Whoever looks published it."""
    has_approved: bool
    """Whoever looks approved it already."""
    may_decide: bool

    @property
    def missing(self) -> int:
        """Give how many still have to approve it."""
        return max(0, self.needed - sum(one.vote == "approve" for one in self.votes))


def decide_first(
    hub: Hub,
    connection: Transaction,
    space: Namespace,
    release: Release,
    policy: Mapping[str, Any],
) -> Release:
    """Let policy have its say about a release that just came in."""
    answer = policy[release.level]
    if answer == "approve":
        return _let_in(hub, connection, space, release, [f"policy: {release.level}"])
    if answer == "reject":
        why = f"the hub's policy rejects what a scan calls {release.level}"
        return _move(hub, connection, space, release, "rejected", why)
    announce(hub, connection, space, "pending", release)
    return release


def approve(
    hub: Hub,
    caller: Caller,
    namespace: str,
    name: str,
    version: str,
    reason: str = "",
    seen: str = "",
) -> Release:
    """Say yes to a release. With the two-person rule, it is in once a second person has said so.
    `seen` is the state that the caller was shown: where it is another by now, nothing is done.
    """
    with hub.database.write() as connection:
        space, release = _to_decide(connection, caller, namespace, name, version)
        _check_seen(release, seen)
        if release.state == "approved":
            return release
        if release.state != "pending":
            raise _not_pending(release)
        if caller.kind != "local" and authorize.is_publisher_of(caller, release):
            raise RefusedError(
                "you published this yourself; somebody else has to approve it",
                code="hub-own",
                hint="ask another reviewer",
            )
        _vote(hub, connection, caller, release, "approve", reason)
        names = _approvers(connection, release)
        policy = policy_of(connection, space)
        _record(hub, connection, caller, "approve", space, release, reason)
        if len(names) < _needed(policy, release, caller):
            return release
        return _let_in(hub, connection, space, release, names)


def reject(
    hub: Hub,
    caller: Caller,
    namespace: str,
    name: str,
    version: str,
    reason: str = "",
    seen: str = "",
) -> Release:
    """Say no to a release that waits, in the state that the caller was shown."""
    _check_reason(reason)
    with hub.database.write() as connection:
        space, release = _to_decide(connection, caller, namespace, name, version)
        _check_seen(release, seen)
        if release.state == "rejected":
            return release
        if release.state != "pending":
            raise _not_pending(release)
        _vote(hub, connection, caller, release, "reject", reason)
        _record(hub, connection, caller, "reject", space, release, reason)
        return _move(hub, connection, space, release, "rejected", reason)


def yank(  # noqa: PLR0913 - the release, and what is to become of it
    hub: Hub,
    caller: Caller,
    namespace: str,
    name: str,
    version: str,
    *,
    reason: str = "",
    back: bool = False,
    seen: str = "",
) -> Release:
    """Take an approved release out of the offer, or bring it back. Whoever has it locked still gets
    it.
    """
    _check_reason(reason)
    if not back and not reason.strip():
        raise UsageError("say why it is yanked", hint="add --reason")
    with hub.database.write() as connection:
        space, release = _to_withdraw(connection, caller, namespace, name, version, back=back)
        _check_seen(release, seen)
        wanted: ReleaseState = "approved" if back else "yanked"
        if release.state == wanted:
            return release
        if release.state not in {"approved", "yanked"}:
            raise RefusedError(
                f"{name} {version} was never approved", code="hub-state", hint="reject it instead"
            )
        what = "unyank" if back else "yank"
        _record(hub, connection, caller, what, space, release, reason)
        return _move(
            hub, connection, space, release, wanted, "" if back else reason, what, [caller.name]
        )


def deprecate(
    hub: Hub,
    caller: Caller,
    namespace: str,
    name: str,
    reason: str,
    seen: str | None = None,
) -> str:
    """Say that a skill should not be used any more, and why; without a reason that is taken back.
    `seen` is what was said of it before, as the caller knows it.
    """
    _check_reason(reason)
    with hub.database.write() as connection:
        space = need_namespace(connection, caller, namespace)
        connection.lock(f"skill:{space.id}/{fold_name(name)}")
        row = find_skill_row(connection, space, name)
        shown = [
            one
            for one in (releases_of(connection, row["id"]) if row else ())
            if authorize.may_see(caller, space, one)
        ]
        if row is None or not shown:
            raise authorize.no_skill(namespace, name)
        own = all(authorize.is_publisher_of(caller, one) for one in shown)
        if not own or not authorize.may(caller, "publish", space):
            authorize.check(caller, "withdraw", space)
        if seen is not None and row["deprecated"] != seen:
            raise RefusedError(
                f"somebody else said first whether {name} should be used",
                code="hub-state",
                hint="load the page again",
            )
        connection.run(
            "UPDATE skills SET deprecated = ?, changed_at = ? WHERE id = ?",
            reason.strip(),
            hub.now(),
            row["id"],
        )
        _record(hub, connection, caller, "deprecate", space, shown[0], reason)
        offered = next((one for one in shown if one.state in {"approved", "yanked"}), None)
        if offered is not None:  # what waits is named to nobody who may not see it
            _log(hub, connection, space, offered, "deprecate", [caller.name], reason.strip())
        if reason.strip():
            announce(hub, connection, space, "deprecated", shown[0])
    return reason.strip()


def signed_head(hub: Hub, namespace: str, head: LogEntry) -> str:
    """Give the hub's signature of the state of a log."""
    statement = head_statement(namespace, head)
    return sign_detached(HEAD_TYPE, statement, hub.private_key).decode("ascii")


# --- parts of it


def _to_decide(
    connection: Transaction, caller: Caller, namespace: str, name: str, version: str
) -> tuple[Namespace, Release]:
    space, release = _locked(connection, caller, namespace, name, version)
    authorize.check(caller, "decide", space)
    return space, release


def _to_withdraw(
    connection: Transaction,
    caller: Caller,
    namespace: str,
    name: str,
    version: str,
    *,
    back: bool,
) -> tuple[Namespace, Release]:
    """Give a release to who may yank it, or bring it back. Publishers yank what is theirs; what a
    reviewer took out of the offer is not theirs to bring back.
    """
    space, release = _locked(connection, caller, namespace, name, version)
    own = authorize.is_publisher_of(caller, release) and authorize.may(caller, "publish", space)
    if back or not own:
        authorize.check(caller, "withdraw", space)
    return space, release


def _locked(
    connection: Transaction, caller: Caller, namespace: str, name: str, version: str
) -> tuple[Namespace, Release]:
    """Give a release that nobody else decides about at the same time."""
    space = need_namespace(connection, caller, namespace)
    row = find_skill_row(connection, space, name)
    if row is not None:
        connection.lock(f"skill:{space.id}/{row['folded']}")
    found = find_release(connection, row["id"], version) if row is not None else None
    if found is None or not authorize.may_see(caller, space, found):
        raise authorize.no_skill(namespace, name, version)
    return space, found


def _vote(
    hub: Hub, connection: Transaction, caller: Caller, release: Release, vote: str, reason: str
) -> None:
    _check_reason(reason)
    connection.run(
        "INSERT INTO votes (release_id, who, name, vote, reason, at) VALUES (?, ?, ?, ?, ?, ?) "
        "ON CONFLICT (release_id, who) DO UPDATE SET vote = excluded.vote, "
        "reason = excluded.reason, at = excluded.at",
        release.id,
        caller.ident,
        caller.name,
        vote,
        reason,
        hub.now(),
    )


def _approvers(connection: Transaction, release: Release) -> list[str]:
    rows = connection.rows(
        "SELECT name FROM votes WHERE release_id = ? AND vote = 'approve' ORDER BY at, id",
        release.id,
    )
    return [row["name"] for row in rows]


def _let_in(
    hub: Hub, connection: Transaction, space: Namespace, release: Release, by: list[str]
) -> Release:
    vouch = sign_digest(release.name, release.digest, hub.private_key).decode("ascii")
    connection.run("UPDATE releases SET vouch = ? WHERE id = ?", vouch, release.id)
    return _move(hub, connection, space, release, "approved", "", "approve", by)


def _move(  # noqa: PLR0913, PLR0917 - from one state to another, with all that follows
    hub: Hub,
    connection: Transaction,
    space: Namespace,
    release: Release,
    state: ReleaseState,
    reason: str,
    what: str = "",
    by: list[str] | None = None,
) -> Release:
    """Bring a release into another state, and let all that hangs on it follow."""
    connection.run(
        "UPDATE releases SET state = ?, reason = ?, decided_at = ? WHERE id = ?",
        state,
        reason,
        hub.now(),
        release.id,
    )
    if what:
        _log(hub, connection, space, release, what, by or [], reason)
    moved = find_release(connection, release.skill, release.version)
    assert moved is not None
    _choose_latest(hub, connection, release.skill)
    announce(hub, connection, space, "unyanked" if what == "unyank" else state, moved)
    return moved


def _choose_latest(hub: Hub, connection: Transaction, skill: int) -> None:
    """Have a skill show its newest approved version, and be found by what that says."""
    row = connection.row(
        "SELECT version, level, description, category, body FROM releases "
        "WHERE skill_id = ? AND state = 'approved' ORDER BY sort_key DESC LIMIT 1",
        skill,
    )
    connection.run(
        "UPDATE skills SET latest = ?, level = ?, description = ?, category = ?, changed_at = ? "
        "WHERE id = ?",
        row["version"] if row else "",
        row["level"] if row else "",
        row["description"] if row else "",
        row["category"] if row else "",
        hub.now(),
        skill,
    )
    index_skill(connection, skill, row["description"] if row else "", row["body"] if row else "")


def _log(
    hub: Hub,
    connection: Transaction,
    space: Namespace,
    release: Release,
    what: str,
    by: list[str],
    reason: str,
) -> None:
    approval_log.append(
        connection,
        space.id,
        release.id,
        {
            "at": hub.now(),
            "by": by,
            "digest": release.digest,
            "level": release.level,
            "name": release.name,
            "namespace": space.name,
            "reason": reason,
            "version": release.version,
            "what": what,
        },
    )


def _record(
    hub: Hub,
    connection: Transaction,
    caller: Caller,
    what: str,
    space: Namespace,
    release: Release,
    reason: str,
) -> None:
    about = f"{space.name}/{release.name}@{release.version}"
    audit_log.record(
        connection, hub.now(), caller, what, about, space.id, digest=release.digest, reason=reason
    )


def _check_reason(reason: str) -> None:
    if len(reason) > MAX_REASON_CHARS:
        raise UsageError("the reason is too long", hint=f"{MAX_REASON_CHARS:,} letters are enough")


def _check_seen(release: Release, seen: str) -> None:
    """Refuse a decision about a release that is not in the state that somebody was shown."""
    if seen and release.state != seen:
        raise RefusedError(
            f"somebody else decided first: {release.name} {release.version} is {release.state} now",
            code="hub-state",
            hint="load the page again",
        )


def _not_pending(release: Release) -> RefusedError:
    return RefusedError(
        f"{release.name} {release.version} is {release.state} already",
        code="hub-state",
        hint="publish a new version",
    )


def standing_of(
    connection: Transaction, caller: Caller, space: Namespace, release: Release
) -> Standing:
    """Give how far the decision about a release is."""
    rows = connection.rows(
        "SELECT who, name, vote, reason, at FROM votes WHERE release_id = ? ORDER BY at, id",
        release.id,
    )
    votes = tuple(ReleaseVote(**dict(row)) for row in rows)
    return Standing(
        votes=votes,
        needed=_needed(policy_of(connection, space), release, caller),
        is_own=caller.kind != "local" and authorize.is_publisher_of(caller, release),
        has_approved=any(one.who == caller.ident and one.vote == "approve" for one in votes),
        may_decide=authorize.may(caller, "decide", space),
    )


def _needed(policy: Mapping[str, Any], release: Release, caller: Caller) -> int:
    """Give how many have to approve a release: two, where its verdict or a milder one wants two.
    Whoever is alone with the hub is enough.
    """
    worst = LEVELS.index(release.level)
    two = any(one in policy["two_person"] for one in LEVELS[: worst + 1])
    return 2 if two and caller.kind != "local" else 1
