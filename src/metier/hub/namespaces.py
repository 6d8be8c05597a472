"""Organisations and their namespaces: where skills of one team lie, who sees them, and by which
policy they are let in.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from metier.errors import RefusedError, UsageError
from metier.hub import audit_log, authorize
from metier.hub.io.database import DuplicateError
from metier.hub.model import Namespace

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from metier.hub.hub import Hub
    from metier.hub.io.database import Transaction
    from metier.hub.model import Caller, Row

NAMESPACE_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\Z")
RESERVED = frozenset({"api", "v1", "v2", "static", "auth", "mcp", "well-known", "new", "hub"})
"""Names that addresses of the hub itself begin with."""
DEFAULT_POLICY: Mapping[str, Any] = {
    "safe": "approve",
    "caution": "review",
    "dangerous": "reject",
    "two_person": ["caution"],
    "signature": "optional",
    "keep_rejected_days": 0,
    "keep_pending_days": 0,
}
"""What holds where neither the hub nor the namespace says otherwise."""
ANSWERS = ("approve", "review", "reject")
DAYS = ("keep_rejected_days", "keep_pending_days")
"""How long what was rejected, or never decided about, is kept: 0 means for ever."""
MAX_DAYS = 3660
CHANGEABLE = ("visibility", "state", "policy", "quota_bytes")
"""What of a namespace can be changed."""
HUB_POLICY_LOCK = "policy"
"""Whoever changes the policy of the hub holds this."""
LEVELS = ("safe", "caution", "dangerous")
"""What a scan may say, the mildest first."""


def find_namespace(connection: Transaction, name: str) -> Namespace | None:
    """Give a namespace by its name, whoever may see it."""
    row = connection.row("SELECT * FROM namespaces WHERE name = ?", name)
    return namespace_of(row) if row else None


def namespace_of(row: Row) -> Namespace:
    """Read a row."""
    return Namespace(
        id=row["id"],
        name=row["name"],
        organisation=row["organisation_id"],
        visibility=row["visibility"],
        state=row["state"],
        policy=json.loads(row["policy"]),
        quota_bytes=row["quota_bytes"],
        used_bytes=row["used_bytes"],
    )


def need_namespace(
    connection: Transaction, caller: Caller, name: str, act: authorize.Act = "read"
) -> Namespace:
    """Give a namespace in which somebody may do an act."""
    found = find_namespace(connection, name)
    if found is None:
        raise authorize.no_namespace(name)
    authorize.check(caller, act, found)
    return found


def list_namespaces(hub: Hub, caller: Caller) -> list[Namespace]:
    """List the namespaces that somebody may read."""
    where, values = authorize.visible_where(caller)
    with hub.database.read() as connection:
        rows = connection.rows(
            f"SELECT n.* FROM namespaces n WHERE {where} ORDER BY n.name", *values
        )
    return [namespace_of(row) for row in rows]


def list_organisations(hub: Hub, caller: Caller) -> dict[int, str]:
    """Give the names of the organisations that have a namespace which somebody may read, and of all
    to whoever runs the hub.
    """
    where, values = authorize.visible_where(caller)
    with hub.database.read() as connection:
        rows = connection.rows(
            "SELECT DISTINCT o.id, o.name FROM organisations o "
            f"LEFT JOIN namespaces n ON n.organisation_id = o.id WHERE {where} ORDER BY o.name",
            *values,
        )
    return {row["id"]: row["name"] for row in rows}


def add_namespace(
    hub: Hub, caller: Caller, name: str, organisation: str = "", visibility: str = "private"
) -> Namespace:
    """Make a namespace."""
    authorize.check_hub(caller, "administer")
    if visibility not in {"private", "public"}:
        raise UsageError("a namespace is private or public", hint="leave it away for private")
    with hub.database.write() as connection:
        try:
            return make_namespace(hub, connection, caller, name, organisation, visibility)
        except DuplicateError as error:
            raise RefusedError(
                f"there is a namespace '{name}' already", code="exists", hint="choose another name"
            ) from error


def make_namespace(
    hub: Hub,
    connection: Transaction,
    caller: Caller,
    name: str,
    organisation: str = "",
    visibility: str = "private",
) -> Namespace:
    """Make a namespace in a transaction that is open; its organisation too, where that is new."""
    for one in (name, organisation or name):
        check_place_name(one)
    now = hub.now()
    connection.run(
        "INSERT INTO organisations (name, created_at) VALUES (?, ?) ON CONFLICT (name) DO NOTHING",
        organisation or name,
        now,
    )
    row = connection.row(
        "INSERT INTO namespaces (organisation_id, name, visibility, created_at) "
        "SELECT id, ?, ?, ? FROM organisations WHERE name = ? RETURNING *",
        name,
        visibility,
        now,
        organisation or name,
    )
    assert row is not None
    made = namespace_of(row)
    audit_log.record(connection, now, caller, "namespace.add", name, made.id, visibility=visibility)
    return made


def add_organisation(hub: Hub, caller: Caller, name: str) -> str:
    """Make an organisation. Its namespaces are made with its name."""
    authorize.check_hub(caller, "administer")
    check_place_name(name)
    with hub.database.write() as connection:
        done = connection.run(
            "INSERT INTO organisations (name, created_at) VALUES (?, ?) "
            "ON CONFLICT (name) DO NOTHING",
            name,
            hub.now(),
        )
        if not done:
            raise RefusedError(
                f"there is an organisation '{name}' already",
                code="exists",
                hint="choose another name",
            )
        audit_log.record(connection, hub.now(), caller, "organisation.add", name)
    return name


def managed_organisations(hub: Hub, caller: Caller) -> list[dict[str, Any]]:
    """List the organisations of which somebody is an admin, with their namespaces."""
    with hub.database.read() as connection:
        groups = connection.rows("SELECT id, name FROM organisations ORDER BY name")
        spaces = connection.rows("SELECT organisation_id, name FROM namespaces ORDER BY name")
    return [
        {
            "name": group["name"],
            "namespaces": [one["name"] for one in spaces if one["organisation_id"] == group["id"]],
        }
        for group in groups
        if authorize.may_in_organisation(caller, "manage", group["id"])
    ]


def check_place_name(name: str) -> None:
    """Refuse what cannot be the name of a namespace or an organisation."""
    if not NAMESPACE_NAME.match(name) or name in RESERVED:
        raise UsageError(
            f"'{name[:80]}' cannot be the name of a namespace",
            hint="use small letters, digits and hyphens, at most 63",
        )


def change_namespace(hub: Hub, caller: Caller, name: str, wish: Mapping[str, Any]) -> Namespace:
    """Change who sees a namespace, whether it takes anything new, its policy or its quota."""
    with hub.database.write() as connection:
        space = _managed(connection, caller, name)
        return _change(hub, connection, caller, space, wish)


def _managed(connection: Transaction, caller: Caller, name: str) -> Namespace:
    """Give a namespace that somebody manages, and nobody else changes until the transaction ends."""
    connection.lock(f"namespace:{name}")
    return need_namespace(connection, caller, name, "manage")


def _change(
    hub: Hub, connection: Transaction, caller: Caller, space: Namespace, wish: Mapping[str, Any]
) -> Namespace:
    wish = {name: told for name, told in wish.items() if name in CHANGEABLE}
    visibility = wish.get("visibility", space.visibility)
    state = wish.get("state", space.state)
    quota = wish.get("quota_bytes", space.quota_bytes)
    policy = check_policy(wish.get("policy", space.policy))
    if visibility not in ("private", "public") or state not in ("active", "frozen"):
        raise UsageError(
            "a namespace is private or public, and active or frozen", hint="check the words"
        )
    if not isinstance(quota, int) or isinstance(quota, bool) or quota < 0:
        raise UsageError("a quota is a number of bytes", hint="0 means no limit")
    if "quota_bytes" in wish:
        authorize.check_hub(caller, "administer")
    connection.run(
        "UPDATE namespaces SET visibility = ?, state = ?, quota_bytes = ?, policy = ? WHERE id = ?",
        visibility,
        state,
        quota,
        json.dumps(policy),
        space.id,
    )
    audit_log.record(
        connection, hub.now(), caller, "namespace.change", space.name, space.id, **wish
    )
    changed = find_namespace(connection, space.name)
    assert changed is not None
    return changed


def check_policy(told: Any) -> dict[str, Any]:
    """Give a policy as it is kept; what makes no sense in it is refused."""
    if not isinstance(told, dict):
        raise UsageError("a policy is a JSON object", hint="see docs/how-to/policy-for-a-hub.md")
    for name, value in told.items():
        good = (
            (name in LEVELS and value in ANSWERS)
            or (
                name == "two_person"
                and isinstance(value, list)
                and all(one in LEVELS for one in value)
            )
            or (name == "signature" and value in ("optional", "required"))
            or (
                name in DAYS
                and isinstance(value, int)
                and not isinstance(value, bool)
                and 0 <= value <= MAX_DAYS
            )
        )
        if not good:
            raise UsageError(
                f"the policy cannot have {name} = {json.dumps(value)[:60]}",
                hint="safe, caution and dangerous are approve, review or reject",
            )
    return dict(told)


def hub_policy(connection: Transaction) -> dict[str, Any]:
    """Give the policy of the whole hub."""
    return {**DEFAULT_POLICY, **_own_policy(connection)}


def _own_policy(connection: Transaction) -> dict[str, Any]:
    """Give what somebody has set of the hub's policy."""
    row = connection.row("SELECT value FROM hub_facts WHERE name = 'policy'")
    found: dict[str, Any] = json.loads(row["value"]) if row else {}
    return found


def set_hub_policy(hub: Hub, caller: Caller, policy: Mapping[str, Any]) -> dict[str, Any]:
    """Replace the policy of the whole hub; what is not said is as by default."""
    authorize.check_hub(caller, "administer")
    with hub.database.write() as connection:
        connection.lock(HUB_POLICY_LOCK)
        return _set_policy(hub, connection, caller, policy)


def _set_policy(
    hub: Hub, connection: Transaction, caller: Caller, policy: Mapping[str, Any]
) -> dict[str, Any]:
    checked = check_policy(dict(policy))
    connection.run(
        "INSERT INTO hub_facts (name, value) VALUES ('policy', ?) "
        "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        json.dumps(checked),
    )
    audit_log.record(connection, hub.now(), caller, "policy.set", "", 0, policy=json.dumps(checked))
    return hub_policy(connection)


def adjust_policy(hub: Hub, caller: Caller, told: Any, namespace: str = "") -> dict[str, Any]:
    """Change some of the hub's policy, or of a namespace's own, and leave the rest as it is; what is null
    is not set any more. Give the policy that holds now.
    """
    if not isinstance(told, dict):
        check_policy(told)
    if not told:
        with hub.database.read() as connection:
            if not namespace:
                return hub_policy(connection)
            return policy_of(connection, need_namespace(connection, caller, namespace, "manage"))
    if not namespace:
        authorize.check_hub(caller, "administer")
    with hub.database.write() as connection:
        if not namespace:
            connection.lock(HUB_POLICY_LOCK)
            return _set_policy(hub, connection, caller, _merged(_own_policy(connection), told))
        space = _managed(connection, caller, namespace)
        changed = _change(hub, connection, caller, space, {"policy": _merged(space.policy, told)})
        return policy_of(connection, changed)


def _merged(before: Mapping[str, Any], told: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in {**before, **told}.items() if value is not None}


_STRICTNESS = {"approve": 0, "review": 1, "reject": 2}


def policy_of(connection: Transaction, space: Namespace) -> dict[str, Any]:
    """Give the policy that holds in a namespace: its own can only be stricter than the hub's."""
    policy = hub_policy(connection)
    own = space.policy
    for level in LEVELS:
        if level in own:
            policy[level] = max(policy[level], own[level], key=_STRICTNESS.__getitem__)
    if "two_person" in own:
        policy["two_person"] = sorted({*policy["two_person"], *own["two_person"]})
    if own.get("signature") == "required":
        policy["signature"] = "required"
    for name in DAYS:
        told = [days for days in (policy[name], own.get(name, 0)) if days]
        policy[name] = min(told, default=0)
    return policy
