"""Sends the events of webhooks, beside whatever else a hub's process does. Several processes share the
work: each claims an event for a while, and one that dies lets go of it by that.
"""

from __future__ import annotations

import json
import logging
import threading
from typing import TYPE_CHECKING, NamedTuple

from metier.errors import MetierError
from metier.hub.io.receiver import post_event
from metier.hub.webhooks import may_be_told, secret_of, signature_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from metier.hub.hub import Hub

LOOK_SECONDS = 2.0
"""How often it is looked whether something waits."""
LEASE_SECONDS = 120
"""For how long nobody else sends what somebody has claimed: longer than sending ever takes."""
PAUSES = (10, 60, 300, 1800, 7200, 21_600, 43_200)
"""Seconds before each further try. After the last one it is given up, about a day after the event."""
MAX_SAID_CHARS = 300
_LOG = logging.getLogger("metier.hub")


class ClaimedEvent(NamedTuple):
    """One event that this process sends."""

    id: int
    url: str
    salt: str
    event: str
    tries: int
    lease: int


def claim_event(hub: Hub) -> ClaimedEvent | None:
    """Take the event that has waited longest, so that nobody else does."""
    now = hub.now()
    skip = "FOR UPDATE SKIP LOCKED" if hub.database.dialect == "postgres" else ""
    with hub.database.write() as connection:
        row = connection.row(
            "UPDATE deliveries SET leased_until = ?, tries = tries + 1 WHERE id = ("
            "SELECT id FROM deliveries WHERE done_at = 0 AND given_up_at = 0 AND next_at <= ? "
            f"AND leased_until < ? ORDER BY next_at, id LIMIT 1 {skip}) "
            "RETURNING id, webhook_id, event, tries, leased_until",
            now + LEASE_SECONDS,
            now,
            now,
        )
        hook = (
            connection.row("SELECT url, secret FROM webhooks WHERE id = ?", row["webhook_id"])
            if row
            else None
        )
    if row is None or hook is None:
        return None
    return ClaimedEvent(
        row["id"], hook["url"], hook["secret"], row["event"], row["tries"], row["leased_until"]
    )


def is_waiting(hub: Hub) -> bool:
    """Tell whether an event is due, without taking the turn of whoever writes."""
    now = hub.now()
    with hub.database.read() as connection:
        row = connection.row(
            "SELECT 1 AS one FROM deliveries WHERE done_at = 0 AND given_up_at = 0 "
            "AND next_at <= ? AND leased_until < ? LIMIT 1",
            now,
            now,
        )
    return row is not None


def send_event(hub: Hub, claimed: ClaimedEvent) -> str:
    """Send one event, and note what became of it; give what went wrong."""
    said = may_be_told(hub, claimed.url) or _post(hub, claimed)
    now = hub.now()
    last = claimed.tries > len(PAUSES)
    next_at = now if last or not said else now + PAUSES[claimed.tries - 1]
    with hub.database.write() as connection:
        connection.run(
            "UPDATE deliveries SET done_at = ?, given_up_at = ?, next_at = ?, leased_until = 0, "
            "said = ? WHERE id = ? AND leased_until = ?",
            0 if said else now,
            now if said and last else 0,
            next_at,
            said[:MAX_SAID_CHARS],
            claimed.id,
            claimed.lease,
        )
    return said


def _post(hub: Hub, claimed: ClaimedEvent) -> str:
    at = hub.now()
    event = {"id": claimed.id, **json.loads(claimed.event)}
    body = json.dumps(event, sort_keys=True).encode()
    headers = {
        "Content-Type": "application/json",
        "Metier-Event": str(event["what"]),
        "Metier-Delivery": str(claimed.id),
        "Metier-Signature": signature_of(secret_of(hub, claimed.salt), at, body),
    }
    try:
        status = post_event(
            claimed.url, body, headers, to_this_machine=hub.options.loopback_webhooks
        )
    except MetierError as error:
        return error.message
    return "" if 200 <= status < 300 else f"it answers {status}"


def send_all(hub: Hub, is_over: Callable[[], bool] = lambda: False) -> int:
    """Send everything that waits, until it `is_over`; give how many events were tried."""
    count = 0
    while not is_over() and is_waiting(hub) and (claimed := claim_event(hub)) is not None:
        send_event(hub, claimed)
        count += 1
    return count


class DeliveryThread:
    """Sends events in the background until it is told to end."""

    def __init__(self, hub: Hub) -> None:
        """Send the events of a hub; nothing begins yet."""
        self._hub = hub
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._work, name="metier-webhooks", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End; what is being sent is sent to its end, within bounds."""
        self._end.set()
        self._thread.join(LEASE_SECONDS)

    def _work(self) -> None:
        while not self._end.wait(LOOK_SECONDS):
            try:
                send_all(self._hub, self._end.is_set)
            except MetierError as error:
                _LOG.warning("webhooks wait: %s", error.message)
            except Exception:  # noqa: BLE001 - one event's fault is never that of the others
                _LOG.exception("webhooks wait")
