"""Webhooks: what happens in a namespace, told to addresses that its admins name, signed so that they
can tell who it is from. An event waits in the database until it was delivered.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import secrets
from typing import TYPE_CHECKING, NamedTuple

from metier.errors import MetierError, NotFoundError, UsageError
from metier.hub import audit_log
from metier.hub.namespaces import need_namespace
from metier.supply.sources.addresses import is_public, parse_url
from metier.supply.sources.oci_names import is_this_machine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from metier.hub.hub import Hub
    from metier.hub.io.database import Transaction
    from metier.hub.model import Caller, Namespace, Release, Row

EVENTS = ("pending", "approved", "rejected", "yanked", "unyanked", "deprecated")
MAX_WEBHOOKS = 20
"""Of one namespace."""
MAX_URL_CHARS = 1000
SHOWN_DELIVERIES = 20
NUMERIC = re.compile(r":|(?:^|\.)(?:[0-9]+|0[xX][0-9a-fA-F]*)\.?\Z")
"""A host that is an address, in any of the ways that resolvers understand: its last part is a number."""
SECRET_MARK = "whs_"  # noqa: S105 - what every secret begins with, so that scanners know one


class NewWebhook(NamedTuple):
    """A webhook that was made just now; its secret is never to be had again."""

    id: int
    url: str
    events: tuple[str, ...]
    secret: str


class DeliveryRow(NamedTuple):
    """What became of one event."""

    id: int
    what: str
    about: str
    at: int
    tries: int
    state: str
    """`waiting`, `delivered` or `given up`."""
    said: str
    """What went wrong the last time."""


class WebhookRow(NamedTuple):
    """A webhook as admins see it."""

    id: int
    url: str
    events: tuple[str, ...]
    """Nothing means all of them."""
    created_by: str
    created_at: int
    deliveries: tuple[DeliveryRow, ...]
    """The newest first."""


def announce(
    hub: Hub, connection: Transaction, space: Namespace, what: str, release: Release
) -> None:
    """Have everybody told of an event who asked for it, in the transaction that makes it true."""
    hooks = connection.rows("SELECT id, events FROM webhooks WHERE namespace_id = ?", space.id)
    for hook in hooks:
        wanted = json.loads(hook["events"])
        if wanted and what not in wanted:
            continue
        event = {
            "what": what,
            "at": hub.now(),
            "namespace": space.name,
            "name": release.name,
            "version": release.version,
            "digest": release.digest,
            "level": release.level,
            "state": release.state,
        }
        connection.run(
            "INSERT INTO deliveries (webhook_id, event, next_at) VALUES (?, ?, ?)",
            hook["id"],
            json.dumps(event),
            hub.now(),
        )


def add_webhook(
    hub: Hub, caller: Caller, namespace: str, url: str, events: Sequence[str] = ()
) -> NewWebhook:
    """Have an address told of what happens in a namespace."""
    with hub.database.write() as connection:
        space = need_namespace(connection, caller, namespace, "manage")
        _check_url(hub, url)
        unknown = sorted({one for one in events if one not in EVENTS})
        if unknown:
            raise UsageError(
                f"there is no event '{unknown[0][:40]}'", hint=f"choose of: {', '.join(EVENTS)}"
            )
        connection.lock(f"namespace:{namespace}")
        count = connection.row(
            "SELECT count(*) AS count FROM webhooks WHERE namespace_id = ?", space.id
        )
        if count and count["count"] >= MAX_WEBHOOKS:
            raise UsageError(
                f"a namespace has at most {MAX_WEBHOOKS} webhooks", hint="remove one first"
            )
        salt = secrets.token_hex(16)
        row = connection.row(
            "INSERT INTO webhooks (namespace_id, url, secret, events, created_by, created_at) "
            "VALUES (?, ?, ?, ?, ?, ?) RETURNING id",
            space.id,
            url,
            salt,
            json.dumps(sorted(set(events))),
            caller.ident,
            hub.now(),
        )
        assert row is not None
        about = f"webhook:{row['id']}"
        audit_log.record(
            connection, hub.now(), caller, "webhook.add", about, space.id, host=parse_url(url).place
        )
    return NewWebhook(int(row["id"]), url, tuple(sorted(set(events))), secret_of(hub, salt))


def list_webhooks(hub: Hub, caller: Caller, namespace: str) -> list[WebhookRow]:
    """List the webhooks of a namespace, with what became of the newest events."""
    with hub.database.read() as connection:
        space = need_namespace(connection, caller, namespace, "manage")
        hooks = connection.rows(
            "SELECT * FROM webhooks WHERE namespace_id = ? ORDER BY id", space.id
        )
        return [
            WebhookRow(
                id=hook["id"],
                url=hook["url"],
                events=tuple(json.loads(hook["events"])),
                created_by=hook["created_by"],
                created_at=hook["created_at"],
                deliveries=tuple(
                    map(
                        _delivery_row,
                        connection.rows(
                            "SELECT * FROM deliveries WHERE webhook_id = ? ORDER BY id DESC LIMIT ?",
                            hook["id"],
                            SHOWN_DELIVERIES,
                        ),
                    )
                ),
            )
            for hook in hooks
        ]


def remove_webhook(hub: Hub, caller: Caller, namespace: str, ident: int) -> None:
    """Tell an address nothing more, not even of what waits."""
    with hub.database.write() as connection:
        space = need_namespace(connection, caller, namespace, "manage")
        known = connection.row(
            "SELECT id FROM webhooks WHERE id = ? AND namespace_id = ?", ident, space.id
        )
        if known is None:
            raise NotFoundError(
                f"'{namespace}' has no webhook {ident}",
                hint=f"see those there are: metier hub webhook list --namespace {namespace}",
            )
        connection.run("DELETE FROM deliveries WHERE webhook_id = ?", ident)
        connection.run("DELETE FROM webhooks WHERE id = ?", ident)
        audit_log.record(
            connection, hub.now(), caller, "webhook.remove", f"webhook:{ident}", space.id
        )


def secret_of(hub: Hub, salt: str) -> str:
    """Give the secret of a webhook. It is made from the hub's own key, and the database holds only the
    salt: who steals that can sign nothing.
    """
    made = hmac.digest(hub.private_key, f"metier webhook {salt}".encode(), "sha256")
    return SECRET_MARK + base64.urlsafe_b64encode(made).decode("ascii").rstrip("=")


def signature_of(secret: str, at: int, body: bytes) -> str:
    """Sign what is sent: the time is signed, too, so that nothing old can be sent again."""
    signed = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={signed}"


def may_be_told(hub: Hub, url: str) -> str:
    """Say why an address is told nothing; nothing where it may be. What its name leads to is judged
    when it is connected to.
    """
    if any(not "!" <= letter <= "~" for letter in url):
        return "the address has a letter that no address has"
    try:
        at = parse_url(url)
    except MetierError as error:
        return error.message
    here = is_this_machine(at.host)
    if at.scheme != "https" and not (here and hub.options.loopback_webhooks):
        return "a webhook goes over https"
    number = NUMERIC.search(at.host) is not None
    if (here or (number and not is_public(at.host))) and not hub.options.loopback_webhooks:
        return "a webhook goes to no private address"
    return ""


def _check_url(hub: Hub, url: str) -> None:
    why = "the address is too long" if len(url) > MAX_URL_CHARS else may_be_told(hub, url)
    if why:
        raise UsageError(why, code="hub-webhook", hint="name an address of the open internet")


def _delivery_row(row: Row) -> DeliveryRow:
    event = json.loads(row["event"])
    state = "delivered" if row["done_at"] else "given up" if row["given_up_at"] else "waiting"
    return DeliveryRow(
        id=row["id"],
        what=event["what"],
        about=f"{event['namespace']}/{event['name']}@{event['version']}",
        at=event["at"],
        tries=row["tries"],
        state=state,
        said=row["said"],
    )
