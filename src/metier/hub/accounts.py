"""Who is who: service tokens, people of an OpenID Connect provider, and the roles that they have.

A token is shown once, when it is made. Only its hash is kept, so that a stolen database opens nothing.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
from typing import TYPE_CHECKING, NamedTuple

from metier.errors import NotFoundError, RefusedError, UsageError
from metier.hub import audit_log, authorize
from metier.hub.model import LOCAL, NOBODY, ROLES, Caller, RoleGrant
from metier.hub.namespaces import find_namespace, make_namespace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.hub.hub import Hub
    from metier.hub.io.database import Transaction
    from metier.hub.model import Namespace, Row

TOKEN_MARK = "mth_"  # noqa: S105 - what every token begins with, so that scanners know one
TOKEN_BYTES = 32
MAX_TOKEN_CHARS = 200
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._@/-]{0,79}\Z")
MAX_LISTED = 10_000
"""People, tokens or roles."""
_ORGANISATION = "coalesce(n.organisation_id, g.organisation_id)"
MAX_WHO_CHARS = 300
USED_EVERY_SECONDS = 3600
"""How often it is noted that a token is in use."""


class NewToken(NamedTuple):
    """A token that was made just now; its text is never to be had again."""

    id: int
    name: str
    role: str
    """Nothing for somebody who logged in: their token has whatever roles they have."""
    namespace: str
    token: str
    expires_at: int
    organisation: str = ""


class TokenRow(NamedTuple):
    """A token as admins see it."""

    id: int
    name: str
    role: str
    """Nothing for somebody who logged in: their token has whatever roles they have."""
    namespace: str
    created_at: int
    expires_at: int
    revoked_at: int
    used_at: int
    organisation: str = ""


class PersonRow(NamedTuple):
    """Somebody who has logged in through the provider, as admins see them."""

    id: int
    name: str
    issuer: str
    subject: str
    groups: tuple[str, ...]
    """As the provider named them the last time."""
    created_at: int
    seen_at: int

    @property
    def who(self) -> str:
        """What a grant calls them."""
        return f"person:{self.id}"


def hash_of_token(token: str) -> str:
    """Give what is kept of a token."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def has_accounts(connection: Transaction) -> bool:
    """Tell whether anybody was ever given a token or logged in: then everybody needs one."""
    row = connection.row(
        "SELECT EXISTS (SELECT 1 FROM tokens) OR EXISTS (SELECT 1 FROM people) AS here"
    )
    return bool(row and row["here"])


def add_token(  # noqa: PLR0913 - a row of the table
    hub: Hub,
    by: Caller,
    *,
    name: str,
    role: str,
    namespace: str = "",
    organisation: str = "",
    expires_at: int = 0,
    person: int = 0,
) -> NewToken:
    """Make a token. For a namespace that does not exist yet, it is made as well."""
    _check_token_wish(hub, name, role, expires_at)
    if namespace and organisation:
        raise UsageError("a token is for a namespace or for an organisation", hint="name one")
    token = TOKEN_MARK + secrets.token_urlsafe(TOKEN_BYTES)
    with hub.database.write() as connection:
        space = _space_for_token(hub, connection, by, namespace) if namespace else None
        group = _organisation(connection, by, organisation) if organisation else 0
        if space is None and not group:
            authorize.check_hub(by, "administer")
        row = connection.row(
            "INSERT INTO tokens (name, hash, role, namespace_id, person_id, created_by, created_at, "
            "expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
            name,
            hash_of_token(token),
            "" if group else role,
            space.id if space else None,
            person or None,
            by.ident,
            hub.now(),
            expires_at or None,
        )
        assert row is not None
        ident = int(row["id"])
        if group:
            # A process of an earlier metier reads no role in the token itself, and so gives it none.
            _give(hub, connection, ("token", f"token:{ident}", role, 0, group))
        audit_log.record(
            connection,
            hub.now(),
            by,
            "token.add",
            f"token:{ident}",
            space.id if space else 0,
            name=name,
            role=role,
            **({"organisation": organisation} if organisation else {}),
        )
    return NewToken(
        id=ident,
        name=name,
        role=role,
        namespace=namespace,
        token=token,
        expires_at=expires_at,
        organisation=organisation,
    )


def _check_token_wish(hub: Hub, name: str, role: str, expires_at: int) -> None:
    if role not in ROLES:
        raise UsageError(f"there is no role '{role}'", hint=f"choose one of: {', '.join(ROLES)}")
    if not NAME.match(name):
        raise UsageError(
            f"'{name[:80]}' cannot be the name of a token",
            hint="use letters, digits, spaces and . _ @ / -, at most 80",
        )
    if expires_at and expires_at <= hub.now():
        raise UsageError("the token would have expired already", hint="give a later date")


def _space_for_token(hub: Hub, connection: Transaction, by: Caller, name: str) -> Namespace:
    """Give the namespace that a token is for; only an admin of the hub has it made."""
    space = find_namespace(connection, name)
    if space is None:
        if not authorize.may(by, "administer", None):
            raise authorize.no_namespace(name)
        space = make_namespace(hub, connection, by, name)
    authorize.check(by, "manage", space)
    return space


def list_tokens(hub: Hub, by: Caller) -> list[TokenRow]:
    """List the tokens that somebody may manage: the newest ones, where there are very many."""
    _check_manages(by, "only admins see tokens")
    where, values = authorize.granted_where(by, "manage", "n.id", _ORGANISATION)
    with hub.database.read() as connection:
        rows = connection.rows(
            "SELECT t.*, n.name AS space, g.role AS given, o.name AS organisation FROM tokens t "
            "LEFT JOIN namespaces n ON n.id = t.namespace_id "
            "LEFT JOIN grants g ON g.kind = 'token' AND g.who = 'token:' || t.id "
            "LEFT JOIN organisations o ON o.id = g.organisation_id "
            f"WHERE {where} ORDER BY t.id DESC LIMIT ?",
            *values,
            MAX_LISTED,
        )
    return [_token_row(row) for row in reversed(rows)]


def _check_manages(by: Caller, message: str) -> None:
    if not any(grant.role in authorize.ALLOWED["manage"] for grant in by.grants):
        raise authorize.forbidden(message)


def revoke_token(hub: Hub, by: Caller, ident: int) -> None:
    """Let a token open nothing any more."""
    with hub.database.write() as connection:
        row = connection.row(
            "SELECT t.*, n.name AS space, g.organisation_id AS group_id FROM tokens t "
            "LEFT JOIN namespaces n ON n.id = t.namespace_id "
            "LEFT JOIN grants g ON g.kind = 'token' AND g.who = 'token:' || t.id WHERE t.id = ?",
            ident,
        )
        space = find_namespace(connection, row["space"]) if row and row["space"] else None
        allowed = authorize.may(by, "manage", space) or authorize.may_in_organisation(
            by, "manage", (row["group_id"] or 0) if row else 0
        )
        if row is None or not allowed:
            raise NotFoundError(
                f"there is no token {ident}", hint="see those there are: metier hub token list"
            )
        connection.run(
            "UPDATE tokens SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL", hub.now(), ident
        )
        # A browser that came in with it goes, too.
        connection.run("DELETE FROM visits WHERE token_id = ?", ident)
        audit_log.record(connection, hub.now(), by, "token.revoke", f"token:{ident}")


def caller_of_token(hub: Hub, token: str) -> Caller:
    """Give who a token belongs to; a wrong, old or revoked one is refused, without saying which."""
    now = hub.now()
    hashed = hash_of_token(token[:MAX_TOKEN_CHARS])
    with hub.database.read() as connection:
        row = connection.row("SELECT * FROM tokens WHERE hash = ?", hashed)
        good = (
            row is not None
            and hmac.compare_digest(row["hash"], hashed)
            and row["revoked_at"] is None
            and (row["expires_at"] is None or row["expires_at"] > now)
        )
        if not good or row is None:
            raise RefusedError(
                "this token is not valid", code="hub-token", hint="log in again: metier login URL"
            )
        caller = caller_of_row(connection, row)
    if (row["used_at"] or 0) < now - USED_EVERY_SECONDS:
        with hub.database.write() as connection:
            connection.run("UPDATE tokens SET used_at = ? WHERE id = ?", now, row["id"])
    return caller


def caller_of_row(connection: Transaction, row: Row) -> Caller:
    """Give the caller of a token. A person's token has the roles that the person has now."""
    if row["person_id"]:
        person = connection.row("SELECT * FROM people WHERE id = ?", row["person_id"])
        if person is not None:
            return caller_of_person(connection, person)
    who = f"token:{row['id']}"
    if row["role"]:
        return Caller(
            "token", who, row["name"], (RoleGrant(row["role"], row["namespace_id"] or 0),)
        )
    given = connection.rows(
        "SELECT role, namespace_id, organisation_id FROM grants WHERE kind = 'token' AND who = ?",
        who,
    )
    return Caller("token", who, row["name"], tuple(map(_grant_of, given)))


def caller_of_person(connection: Transaction, person: Row) -> Caller:
    """Give a person with all the roles that they and their groups have."""
    who = f"person:{person['id']}"
    groups = [str(one) for one in json.loads(person["groups"])]
    marks = ", ".join("?" * len(groups)) or "''"
    rows = connection.rows(
        "SELECT DISTINCT role, namespace_id, organisation_id FROM grants "
        f"WHERE (kind = 'person' AND who = ?) OR (kind = 'group' AND who IN ({marks}))",
        who,
        *groups,
    )
    grants = tuple(map(_grant_of, rows))
    return Caller("person", who, person["name"] or person["subject"], grants)


def _grant_of(row: Row) -> RoleGrant:
    return RoleGrant(row["role"], row["namespace_id"], row["organisation_id"])


def caller_without_token(hub: Hub, *, from_here: bool) -> Caller:
    """Give who asks without a token: the local user, as long as there are no accounts and they ask
    `from_here`; nobody otherwise.
    """
    if not from_here:
        return NOBODY
    with hub.database.read() as connection:
        return NOBODY if has_accounts(connection) else LOCAL


def remember_person(hub: Hub, issuer: str, subject: str, name: str, groups: Sequence[str]) -> Row:
    """Note who logged in through the provider, with the groups that it says they are in."""
    now = hub.now()
    with hub.database.write() as connection:
        connection.run(
            "INSERT INTO people (issuer, subject, name, groups, created_at, seen_at) "
            "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (issuer, subject) DO UPDATE SET "
            "name = excluded.name, groups = excluded.groups, seen_at = excluded.seen_at",
            issuer,
            subject,
            name[:200],
            json.dumps(sorted(set(groups))[:200]),
            now,
            now,
        )
        row = connection.row(
            "SELECT * FROM people WHERE issuer = ? AND subject = ?", issuer, subject
        )
    assert row is not None
    return row


def set_grant(  # noqa: PLR0913 - a row of the table
    hub: Hub,
    by: Caller,
    *,
    kind: str,
    who: str,
    role: str,
    namespace: str = "",
    organisation: str = "",
    listed: bool = True,
) -> None:
    """Give a role to a person (`person:3`) or a group, or take it away."""
    if kind not in {"person", "group"} or role not in ROLES or not 0 < len(who.strip()) <= 200:
        raise UsageError(
            "a grant has a kind (person or group), a name and a role",
            hint=f"roles: {', '.join(ROLES)}",
        )
    if namespace and organisation:
        raise UsageError("a role is for a namespace or for an organisation", hint="name one")
    with hub.database.write() as connection:
        space = find_namespace(connection, namespace) if namespace else None
        if namespace and space is None:
            raise authorize.no_namespace(namespace)
        group = _organisation(connection, by, organisation) if organisation else 0
        if space is not None:
            authorize.check(by, "manage", space)
        elif not group:
            authorize.check_hub(by, "administer")
        keys = (kind, who.strip(), role, space.id if space else 0, group)
        if listed:
            _give(hub, connection, keys)
        else:
            connection.run(
                "DELETE FROM grants WHERE kind = ? AND who = ? AND role = ? AND namespace_id = ? "
                "AND organisation_id = ?",
                *keys,
            )
        what = "grant.add" if listed else "grant.remove"
        named = {"organisation": organisation} if organisation else {}
        about = f"{kind}:{who.strip()}"[:MAX_WHO_CHARS]
        audit_log.record(connection, hub.now(), by, what, about, keys[3], role=role, **named)


def _give(hub: Hub, connection: Transaction, keys: tuple[str, str, str, int, int]) -> None:
    connection.run(
        "INSERT INTO grants (kind, who, role, namespace_id, organisation_id, created_at) "
        "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        *keys,
        hub.now(),
    )


def list_grants(hub: Hub, by: Caller) -> list[dict[str, object]]:
    """List who has which role, where somebody may give them: the newest, where there are very many."""
    _check_manages(by, "only admins see who has which role")
    where, values = authorize.granted_where(by, "manage", "n.id", _ORGANISATION)
    with hub.database.read() as connection:
        rows = connection.rows(
            "SELECT g.*, n.name AS namespace, o.name AS organisation FROM grants g "
            "LEFT JOIN namespaces n ON n.id = g.namespace_id "
            "LEFT JOIN organisations o ON o.id = g.organisation_id "
            f"WHERE g.kind <> 'token' AND {where} ORDER BY g.id DESC LIMIT ?",
            *values,
            MAX_LISTED,
        )
    return [
        {name: row[name] or "" for name in ("kind", "who", "role", "namespace", "organisation")}
        for row in reversed(rows)
    ]


def roles_of(hub: Hub, caller: Caller) -> list[dict[str, str]]:
    """Give somebody's own roles, with the names of what they are for."""
    with hub.database.read() as connection:
        spaces = _names(connection, "namespaces", [one.namespace for one in caller.grants])
        groups = _names(connection, "organisations", [one.organisation for one in caller.grants])
    return [
        {
            "role": one.role,
            "namespace": spaces.get(one.namespace, ""),
            "organisation": groups.get(one.organisation, ""),
        }
        for one in caller.grants
    ]


def _names(connection: Transaction, table: str, ids: Sequence[int]) -> dict[int, str]:
    marks = ", ".join("?" * len(ids)) or "0"
    rows = connection.rows(f"SELECT id, name FROM {table} WHERE id IN ({marks})", *ids)
    return {row["id"]: row["name"] for row in rows}


def list_people(hub: Hub, by: Caller) -> list[PersonRow]:
    """List who has ever logged in through the provider."""
    authorize.check_hub(by, "administer")
    with hub.database.read() as connection:
        rows = connection.rows("SELECT * FROM people ORDER BY id LIMIT ?", MAX_LISTED)
    return [
        PersonRow(
            id=row["id"],
            name=row["name"] or row["subject"],
            issuer=row["issuer"],
            subject=row["subject"],
            groups=tuple(json.loads(row["groups"])),
            created_at=row["created_at"],
            seen_at=row["seen_at"],
        )
        for row in rows
    ]


def end_logins(hub: Hub, by: Caller, person: int) -> int:
    """Log somebody out everywhere: their tokens and browsers open nothing any more. Give how many."""
    authorize.check_hub(by, "administer")
    with hub.database.write() as connection:
        if connection.row("SELECT id FROM people WHERE id = ?", person) is None:
            raise NotFoundError(
                f"there is no person {person}", hint="see those there are: metier hub people"
            )
        count = connection.run(
            "UPDATE tokens SET revoked_at = ? WHERE person_id = ? AND revoked_at IS NULL",
            hub.now(),
            person,
        )
        connection.run(
            "DELETE FROM visits WHERE token_id IN (SELECT id FROM tokens WHERE person_id = ?)",
            person,
        )
        count += connection.run("DELETE FROM visits WHERE person_id = ?", person)
        audit_log.record(connection, hub.now(), by, "person.logout", f"person:{person}")
    return count


def _organisation(connection: Transaction, by: Caller, name: str) -> int:
    """Give the id of an organisation that somebody may manage; for others it does not exist."""
    row = connection.row("SELECT id FROM organisations WHERE name = ?", name)
    if row is None or not authorize.may_in_organisation(by, "manage", row["id"]):
        raise NotFoundError(f"the hub has no organisation '{name}'", hint="check the name")
    return int(row["id"])


def _token_row(row: Row) -> TokenRow:
    return TokenRow(
        id=row["id"],
        name=row["name"],
        role=row["role"] or row["given"] or "",
        namespace=row["space"] or "",
        created_at=row["created_at"],
        expires_at=row["expires_at"] or 0,
        revoked_at=row["revoked_at"] or 0,
        used_at=row["used_at"] or 0,
        organisation=row["organisation"] or "",
    )
