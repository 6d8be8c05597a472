"""Webhooks: what happens in a namespace, told to addresses that its admins name, signed so that they
can tell who it is from. An event waits in the database until it was delivered.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from metier.hub.hub import Hub
    from metier.hub.io.database import Transaction
    from metier.hub.model import Namespace, Release


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
