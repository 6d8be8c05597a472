"""Keeps a hub in order: frees bytes that nothing names, and proves that all the rest is as it was
approved.
"""

from __future__ import annotations

import hashlib
import json
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from metier.errors import MetierError
from metier.hub import approval_log, audit_log, authorize, retention
from metier.hub.examine import digest_of, unpack
from metier.hub.io.objects import blob_key
from metier.hub.releases import releases_of
from metier.supply.approvals import STATES, first_broken
from metier.trust.sign import Signed, verify_envelope

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from metier.hub.hub import Hub
    from metier.hub.io.database import Transaction
    from metier.hub.model import Caller, Release
    from metier.supply.approvals import LogEntry

    Progress = Callable[[str, int, int], None]

GRACE_SECONDS = 86_400
"""How long bytes may wait for a release to name them."""
BATCH = 500
"""How many objects are looked up at once."""


class Collected(NamedTuple):
    """What was freed."""

    blobs: int
    uploads: int
    bytes: int
    releases: int = 0
    """Rejected or never decided about, and kept no longer by policy."""


class HubFault(NamedTuple):
    """Something that is not as it was approved."""

    what: str
    """`blob`, `signature`, `log` or `audit`."""
    where: str
    why: str


def collect_garbage(hub: Hub, caller: Caller, grace: int = GRACE_SECONDS) -> Collected:
    """Free the bytes that no release has named for a while, and uploads that were left half done. A
    version that was ever approved may be in somebody's lock: it is never freed.
    """
    authorize.check_hub(caller, "administer")
    before = hub.now() - grace
    dropped = retention.drop_old_releases(hub, caller)
    retention.drop_leftovers(hub)
    freed = [_free(hub, sha256, before) for sha256 in _unnamed(hub, before)]
    uploads, pieces = _drop_uploads(hub, before)
    strays = sum(_free_stray(hub, key, size) for key, size in _strays(hub, before))
    with hub.database.write() as connection:
        connection.run("DELETE FROM answers WHERE at < ?", before)
        connection.run("DELETE FROM visits WHERE expires_at < ?", hub.now())
        audit_log.record(
            connection,
            hub.now(),
            caller,
            "gc",
            "",
            0,
            blobs=sum(map(bool, freed)),
            releases=dropped,
        )
    return Collected(sum(map(bool, freed)), uploads, sum(freed) + pieces + strays, dropped)


def _unnamed(hub: Hub, before: int) -> list[str]:
    with hub.database.read() as connection:
        rows = connection.rows(
            "SELECT sha256 FROM blobs b WHERE created_at < ? "
            "AND NOT EXISTS (SELECT 1 FROM releases r WHERE r.archive = b.sha256)",
            before,
        )
    return [row["sha256"] for row in rows]


def _free(hub: Hub, sha256: str, before: int) -> int:
    """Free one object, if still nobody names it. Whoever is about to publish it has touched its row,
    or waits for this transaction and is told to send it again.
    """
    with hub.database.write() as connection:
        connection.lock(f"blob:{sha256}")
        row = connection.row("SELECT size FROM blobs WHERE sha256 = ?", sha256)
        gone = connection.run(
            "DELETE FROM blobs WHERE sha256 = ? AND created_at < ? "
            "AND NOT EXISTS (SELECT 1 FROM releases r WHERE r.archive = blobs.sha256)",
            sha256,
            before,
        )
        if not gone or row is None:
            return 0
        hub.objects.delete(blob_key(sha256))
        return int(row["size"])


def _drop_uploads(hub: Hub, before: int) -> tuple[int, int]:
    with hub.database.write() as connection:
        count = connection.run("DELETE FROM uploads WHERE created_at < ?", before)
        known = {row["id"] for row in connection.rows("SELECT id FROM uploads")}
    size = 0
    # pieces of these uploads, and of those that a crash had finished or dropped only in part
    for key, length, at in list(hub.objects.keys("uploads")):
        if at < before and key.split("/")[1] not in known:
            hub.objects.delete(key)
            size += length
    return count, size


def _strays(hub: Hub, before: int) -> Iterator[tuple[str, int]]:
    """Give objects that a crash left behind before any row named them."""
    old = ((key, size) for key, size, at in hub.objects.keys("blobs") if at < before)
    while batch := list(islice(old, BATCH)):
        names = [key.rpartition("/")[2] for key, _size in batch]
        with hub.database.read() as connection:
            rows = connection.rows(
                f"SELECT sha256 FROM blobs WHERE sha256 IN ({', '.join('?' * len(names))})", *names
            )
        known = {row["sha256"] for row in rows}
        yield from (one for one, name in zip(batch, names, strict=True) if name not in known)


def _free_stray(hub: Hub, key: str, size: int) -> int:
    sha256 = key.rpartition("/")[2]
    with hub.database.write() as connection:
        connection.lock(f"blob:{sha256}")
        if connection.row("SELECT 1 AS one FROM blobs WHERE sha256 = ?", sha256):
            return 0
        hub.objects.delete(key)
        return size


def verify_hub(hub: Hub, progress: Progress = lambda _what, _count, _total: None) -> list[HubFault]:
    """Check every archive against its hash and the files in it against what was approved, every
    signature, every chain of hashes, and that each release is as its log says.
    """
    faults: list[HubFault] = []
    with hub.database.read() as connection:
        keys = [
            row["value"].encode()
            for row in connection.rows("SELECT value FROM hub_facts WHERE name LIKE 'key:%'")
        ]
        skills = [row["id"] for row in connection.rows("SELECT id FROM skills ORDER BY id")]
        spaces = connection.rows("SELECT id, name FROM namespaces ORDER BY id")
        for space in spaces:
            broken = _broken_log(connection, space["id"])
            if broken:
                faults.append(
                    HubFault("log", space["name"], f"entry {broken} does not follow the one before")
                )
        event = audit_log.first_broken_event(connection)
    if event:
        faults.append(HubFault("audit", f"event {event}", "it does not follow the one before"))
    for count, skill in enumerate(skills, 1):
        with hub.database.read() as connection:
            found = [
                (one, approval_log.newest_about(connection, one.id))
                for one in releases_of(connection, skill)
            ]
        for release, entry in found:
            faults += _faults_of(hub, release, keys)
            faults += _faults_in_log(release, entry)
        progress("verified", count, len(skills))
    return faults


def _broken_log(connection: Transaction, space: int) -> int:
    first, previous = 1, ""
    while True:
        entries = approval_log.entries_from(connection, space, first, 1000)
        if not entries:
            return 0
        broken = first_broken(entries, previous, first - 1)
        if broken:
            return broken
        first, previous = entries[-1].number + 1, entries[-1].hash


def _faults_of(hub: Hub, release: Release, keys: list[bytes]) -> Iterator[HubFault]:
    where = f"{release.namespace}/{release.name}@{release.version}"
    try:
        data = hub.objects.get(blob_key(release.archive))
    except MetierError as error:
        yield HubFault("blob", where, error.message)
    else:
        if hashlib.sha256(data).hexdigest() != release.archive or len(data) != release.size:
            yield HubFault("blob", where, "its bytes changed")
        elif _digest_of(hub, data) != release.digest:
            yield HubFault("blob", where, "it holds other files than were published")
    if release.state not in {"approved", "yanked"}:
        return
    signed = verify_envelope(release.vouch.encode(), keys)
    if not isinstance(signed, Signed) or (signed.name, signed.digest) != (
        release.name,
        release.digest,
    ):
        yield HubFault("signature", where, "the hub's own signature is not good")


def _digest_of(hub: Hub, data: bytes) -> str:
    try:
        return digest_of(unpack(data, hub.library().context.settings.supply))
    except MetierError:
        return ""


def _faults_in_log(release: Release, entry: LogEntry | None) -> Iterator[HubFault]:
    """Give what is wrong where a release is offered, or not any more, without its log saying so."""
    said = json.loads(entry.entry) if entry is not None else {}
    state = STATES.get(str(said.get("what")), "")
    offered = release.state if release.state in STATES.values() else ""
    names = ("namespace", "name", "version", "digest")
    if state != offered or (said and any(said[one] != getattr(release, one) for one in names)):
        where = f"{release.namespace}/{release.name}@{release.version}"
        yield HubFault("log", where, f"the log does not say that it is {release.state}")
