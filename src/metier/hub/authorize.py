"""Who may do what in which namespace: one table, asked by every door of the hub. Pure.

What somebody may not read does not exist for them: they are told the same as for a name that nobody
has ever taken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.errors import NotFoundError, RefusedError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Literal

    from metier.hub.model import Caller, Namespace, Release, Role

    Act = Literal[
        "read", "publish", "see_pending", "decide", "withdraw", "manage", "administer", "audit"
    ]

ALLOWED: Mapping[Act, frozenset[Role]] = {
    "read": frozenset({"reader", "publisher", "reviewer", "admin"}),
    "publish": frozenset({"publisher", "admin"}),
    "see_pending": frozenset({"reviewer", "admin"}),
    "decide": frozenset({"reviewer", "admin"}),
    "withdraw": frozenset({"reviewer", "admin"}),
    "manage": frozenset({"admin"}),
    "administer": frozenset({"admin"}),
    "audit": frozenset({"admin"}),
}
"""The roles that may do an act. `withdraw` is to yank or deprecate, which publishers may do with what
they published themselves; `manage` is about one namespace, `administer` and `audit` about the hub."""
CHANGES: frozenset[Act] = frozenset({"publish"})
"""What a frozen namespace takes no more of."""
EVERYTHING = "1 = 1"
"""The condition of who may read all there is."""
WORDS: Mapping[Act, str] = {
    "publish": "publish in",
    "see_pending": "see what waits in",
    "decide": "approve or reject in",
    "withdraw": "yank or deprecate in",
    "manage": "change the settings of",
}


def roles_in(caller: Caller, namespace: Namespace | None) -> frozenset[Role]:
    """Give the roles that somebody has in a namespace; in the hub itself, where none is named."""
    return frozenset(
        grant.role
        for grant in caller.grants
        if (not grant.namespace and not grant.organisation)
        or (
            namespace is not None
            and (
                grant.namespace == namespace.id
                or (not grant.namespace and grant.organisation == namespace.organisation)
            )
        )
    )


def may(caller: Caller, act: Act, namespace: Namespace | None) -> bool:
    """Tell whether somebody may do an act."""
    if act == "read" and namespace is not None and namespace.visibility == "public":
        return True
    if act in CHANGES and namespace is not None and namespace.state == "frozen":
        return False
    return bool(ALLOWED[act] & roles_in(caller, namespace))


def may_in_organisation(caller: Caller, act: Act, organisation: int) -> bool:
    """Tell whether somebody may do an act in a whole organisation, or, for 0, in the whole hub."""
    return any(
        grant.role in ALLOWED[act]
        and not grant.namespace
        and (not grant.organisation or grant.organisation == organisation)
        for grant in caller.grants
    )


def check(caller: Caller, act: Act, namespace: Namespace) -> None:
    """Refuse an act that somebody may not do in a namespace."""
    if not may(caller, "read", namespace):
        raise no_namespace(namespace.name)
    if may(caller, act, namespace):
        return
    if act in CHANGES and namespace.state == "frozen":
        raise RefusedError(
            f"the namespace '{namespace.name}' is frozen: nothing new is published there",
            code="hub-frozen",
            hint="ask an admin of the hub",
        )
    raise forbidden(f"you may not {WORDS.get(act, act)} '{namespace.name}'")


def check_hub(caller: Caller, act: Act) -> None:
    """Refuse an act that is about the whole hub."""
    if not may(caller, act, None):
        raise forbidden("only an admin of the whole hub may do that")


def is_publisher_of(caller: Caller, release: Release) -> bool:
    """Tell whether somebody published a release."""
    return bool(caller.ident) and caller.ident == release.publisher_ident


def may_see(caller: Caller, namespace: Namespace, release: Release) -> bool:
    """Tell whether somebody may see a release: what was never approved is for its publisher and for
    those who decide about it.
    """
    if not may(caller, "read", namespace):
        return False
    if release.state in {"approved", "yanked"}:
        return True
    return may(caller, "see_pending", namespace) or is_publisher_of(caller, release)


def visible_where(caller: Caller, table: str = "n") -> tuple[str, list[Any]]:
    """Write what somebody may read as a condition of a query, with its values; `table` is what the
    query calls the namespaces.
    """
    where, values = granted_where(caller, "read", f"{table}.id", f"{table}.organisation_id")
    if where == EVERYTHING:
        return where, values
    return f"({table}.visibility = 'public' OR {where})", values


def granted_where(
    caller: Caller, act: Act, namespace: str = "n.id", organisation: str = "n.organisation_id"
) -> tuple[str, list[Any]]:
    """Write where somebody has a role that may do an act as a condition of a query, with its values;
    `namespace` and `organisation` are what the query calls their ids.
    """
    able = [grant for grant in caller.grants if grant.role in ALLOWED[act]]
    if any(not grant.namespace and not grant.organisation for grant in able):
        return EVERYTHING, []
    spaces = sorted({grant.namespace for grant in able if grant.namespace})
    groups = sorted({grant.organisation for grant in able if not grant.namespace} - {0})
    parts = [
        f"{column} IN ({', '.join('?' * len(ids))})"
        for column, ids in ((namespace, spaces), (organisation, groups))
        if ids
    ]
    return f"({' OR '.join(parts)})" if parts else "1 = 0", [*spaces, *groups]


def no_namespace(name: str) -> NotFoundError:
    """Say that there is no such namespace."""
    return NotFoundError(
        f"the hub has no namespace '{name}'",
        hint="check the name, and whether you are logged in: metier login URL",
    )


def no_skill(namespace: str, name: str, version: str = "") -> NotFoundError:
    """Say that there is no such skill, or no such version of it."""
    what = f"{namespace}/{name}" + (f"@{version}" if version else "")
    return NotFoundError(
        f"the hub has no {what}",
        hint="check the name, and whether you are logged in: metier login URL",
    )


def nobody(message: str) -> RefusedError:
    """Say that it is not known who asks, and that somebody known might do this."""
    return RefusedError(
        message, code="hub-forbidden", hint="log in with your token: metier login URL"
    )


def forbidden(message: str) -> RefusedError:
    """Say that somebody is known, and may not do this."""
    return RefusedError(message, code="hub-forbidden", hint="ask an admin of the hub for the role")
