"""Publishing: bytes go to the object store once, by their hash; then they are examined, decided about
by policy, and become a release that never changes.

The order keeps what was acknowledged: bytes are safe before a row names them, and the row, its audit
event and its place in the approval log are one transaction.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from metier.errors import IntegrityError, NotFoundError, RefusedError, UsageError
from metier.hub import audit_log, authorize, decide
from metier.hub.examine import MAX_ARCHIVE_BYTES, examine
from metier.hub.io.database import DuplicateError
from metier.hub.io.objects import blob_key, upload_key
from metier.hub.mirrored import check_proofs
from metier.hub.namespaces import (
    check_place_name,
    find_namespace,
    make_namespace,
    need_namespace,
    policy_of,
)
from metier.hub.releases import (
    find_release,
    find_skill_row,
    findings_text,
    newest_release,
    sort_key,
)
from metier.standard.semver import read_version
from metier.supply.safe_names import fold_name, printable
from metier.trust.sign import verify_envelope

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from metier.hub.hub import Hub
    from metier.hub.io.database import Transaction
    from metier.hub.mirrored import MirrorProof
    from metier.hub.model import Caller, Namespace, Release, Row, Verdicts

SHA256 = re.compile(r"[0-9a-f]{64}\Z")
MAX_BLOB_BYTES = 16 << 20
"""Bytes of one request; what is larger comes in pieces."""
MAX_PIECE_BYTES = 4 << 20
MAX_VERSION_CHARS = 64
MAX_PROVENANCE_CHARS = 500
FIRST_VERSION = "0.1.0"
UPLOAD_IDENT = re.compile(r"[0-9a-f]{32}\Z")


class ReleaseWish(NamedTuple):
    """What somebody wants to publish."""

    archive: str
    """The sha256 of bytes that the hub has."""
    version: str = ""
    """Nothing means the skill's own version, or else the next one."""
    source: str = ""
    revision: str = ""
    signature: str = ""
    mirrored: tuple[MirrorProof, ...] = ()
    """That other hubs approved it."""


class Publication(NamedTuple):
    """What became of it."""

    release: Release
    is_new: bool


# --- bytes


def check_may_upload(caller: Caller) -> None:
    """Refuse who may publish nowhere: before a byte of theirs is read."""
    if not any(grant.role in authorize.ALLOWED["publish"] for grant in caller.grants):
        if not caller.ident:
            raise authorize.nobody("only somebody who is logged in publishes on this hub")
        raise authorize.forbidden("you may not publish anywhere on this hub")


def put_blob(hub: Hub, caller: Caller, sha256: str, data: bytes) -> bool:
    """Keep the bytes of an archive; tells whether they are new."""
    check_may_upload(caller)
    _check_hash(sha256)
    if hashlib.sha256(data).hexdigest() != sha256:
        raise IntegrityError(
            "these bytes have another hash than was said", code="digest", hint="send them again"
        )
    if len(data) > MAX_ARCHIVE_BYTES:
        raise _too_large()
    return _keep_blob(hub, caller, sha256, data)


def has_blob(hub: Hub, caller: Caller, sha256: str) -> bool:
    """Tell somebody whether they need not send bytes again: only what they sent themselves counts, so
    that nobody learns what others have.
    """
    check_may_upload(caller)
    with hub.database.read() as connection:
        row = connection.row("SELECT who FROM blobs WHERE sha256 = ?", sha256)
    known = row is not None and row["who"] == caller.ident
    return known and hub.objects.size(blob_key(sha256)) is not None


def _keep_blob(hub: Hub, caller: Caller, sha256: str, data: bytes) -> bool:
    key = blob_key(sha256)
    # No connection waits for the object store here: where that hangs, the rest of the hub goes on.
    if hub.objects.size(key) != len(data):
        hub.objects.put(key, data)
    with hub.database.write() as connection:
        # A collection of garbage waits here, and then sees that somebody is about to use it.
        connection.lock(f"blob:{sha256}")
        if hub.objects.size(key) != len(data):  # it was collected just now
            hub.objects.put(key, data)
        known = connection.row("SELECT who FROM blobs WHERE sha256 = ?", sha256)
        connection.run(
            "INSERT INTO blobs (sha256, size, who, created_at) VALUES (?, ?, ?, ?) "
            "ON CONFLICT (sha256) DO UPDATE SET created_at = excluded.created_at, who = excluded.who",
            sha256,
            len(data),
            caller.ident,
            hub.now(),
        )
    # whether somebody else has sent the same is theirs to know
    return known is None or known["who"] != caller.ident


def begin_upload(hub: Hub, caller: Caller, sha256: str, size: int) -> tuple[str, int]:
    """Begin an upload in pieces, or go on with the one that this caller began; give its id and how
    many bytes have come.
    """
    check_may_upload(caller)
    _check_hash(sha256)
    if not 0 < size <= MAX_ARCHIVE_BYTES:
        raise _too_large()
    with hub.database.write() as connection:
        row = connection.row(
            "SELECT * FROM uploads WHERE who = ? AND sha256 = ? AND size = ?",
            caller.ident,
            sha256,
            size,
        )
    if row is not None:
        if row["received"] == size:  # a crash came before it was put together
            _finish_upload(hub, caller, row)
        return row["id"], row["received"]
    with hub.database.write() as connection:
        ident = secrets.token_hex(16)
        connection.run(
            "INSERT INTO uploads (id, who, sha256, size, created_at) VALUES (?, ?, ?, ?, ?)",
            ident,
            caller.ident,
            sha256,
            size,
            hub.now(),
        )
    return ident, 0


def upload_state(hub: Hub, caller: Caller, ident: str) -> int:
    """Give how many bytes of an upload have come."""
    with hub.database.read() as connection:
        return int(_upload_row(connection, caller, ident)["received"])


def add_piece(hub: Hub, caller: Caller, ident: str, offset: int, data: bytes) -> int:
    """Take the next piece of an upload; give how many bytes have come. A piece that was sent twice
    counts once.
    """
    with hub.database.read() as connection:
        row = _upload_row(connection, caller, ident)
    if len(data) > MAX_PIECE_BYTES or offset + len(data) > row["size"]:
        raise _too_large()
    if offset != row["received"]:
        raise RefusedError(
            f"{row['received']} bytes have come; the next piece begins there",
            code="hub-offset",
            hint="ask where to go on, and send that piece",
        ).with_details(received=row["received"])
    hub.objects.put(upload_key(ident, offset), data)
    with hub.database.write() as connection:
        moved = connection.run(
            "UPDATE uploads SET received = ? WHERE id = ? AND received = ?",
            offset + len(data),
            ident,
            offset,
        )
    if not moved:
        raise RefusedError(
            "another request sent this piece at the same time", code="hub-offset", hint="go on"
        )
    if offset + len(data) == row["size"]:
        _finish_upload(hub, caller, row)
    return offset + len(data)


def _finish_upload(hub: Hub, caller: Caller, row: Row) -> None:
    found = sorted(key for key, _size, _at in hub.objects.keys(f"uploads/{row['id']}"))
    # beside the pieces may lie what a crash left of one
    pieces = [key for key in found if key.rpartition("/")[2].isdigit()]
    data = b"".join(map(hub.objects.get, pieces))
    good = len(data) == row["size"] and hashlib.sha256(data).hexdigest() == row["sha256"]
    if good:
        _keep_blob(hub, caller, row["sha256"], data)
    with hub.database.write() as connection:
        connection.run("DELETE FROM uploads WHERE id = ?", row["id"])
    for key in found:
        hub.objects.delete(key)
    if not good:
        raise IntegrityError(
            "these bytes have another hash than was said", code="digest", hint="send them again"
        )


def _upload_row(connection: Transaction, caller: Caller, ident: str) -> Row:
    row = None
    if UPLOAD_IDENT.match(ident):
        row = connection.row("SELECT * FROM uploads WHERE id = ?", ident)
    if row is None or row["who"] != caller.ident:
        raise NotFoundError("there is no such upload", hint="begin it again")
    return row


def _check_hash(sha256: str) -> None:
    if not SHA256.match(sha256):
        raise UsageError("that is no sha256", hint="64 digits and letters from a to f")


def _too_large() -> RefusedError:
    return RefusedError(
        f"an archive may have {MAX_ARCHIVE_BYTES >> 20} MiB",
        code="too-large",
        hint="leave out what the skill does not need",
    )


# --- releases


def publish(
    hub: Hub,
    caller: Caller,
    namespace: str,
    name: str,
    wish: ReleaseWish,
    keep: Callable[[Transaction, Publication], None] = lambda _connection, _done: None,
) -> Publication:
    """Publish a version of a skill. Doing it again with the same bytes gives the same release. `keep`
    is called in the transaction that makes the release, to remember what was answered.
    """
    _check_place(hub, caller, namespace)
    if not has_blob(hub, caller, wish.archive):
        raise _no_blob()
    found = examine(hub, name, lambda: _archive(hub, wish.archive))
    _check_fit(name, found)
    check_proofs(wish.mirrored, found.name, found.digest)
    _make_place(hub, caller, namespace)
    with hub.database.write() as connection:
        space = need_namespace(connection, caller, namespace, "publish")
        connection.lock(f"skill:{space.id}/{fold_name(name)}")
        size = _hold_blob(hub, connection, wish.archive)
        skill = _skill_row(hub, connection, space, name)
        known = _same_release(connection, skill["id"], found, wish)
        if known is not None:
            done = Publication(known, is_new=False)
            keep(connection, done)
            return done
        version = _choose_version(connection, skill["id"], found, wish)
        _check_quota(connection, space, size)
        policy = policy_of(connection, space)
        _check_signature(hub, policy, found, wish)
        release = _insert(hub, connection, caller, skill["id"], version, found, wish, size)
        about = f"{namespace}/{name}@{version}"
        audit_log.record(
            connection, hub.now(), caller, "publish", about, space.id, digest=found.digest
        )
        done = Publication(
            decide.decide_first(hub, connection, space, release, policy), is_new=True
        )
        keep(connection, done)
    return done


def _archive(hub: Hub, sha256: str) -> bytes:
    try:
        data = hub.objects.get(blob_key(sha256))
    except NotFoundError as error:  # it was collected just now
        raise _no_blob() from error
    if hashlib.sha256(data).hexdigest() != sha256:
        raise IntegrityError(
            "the hub's copy of this archive is damaged", code="digest", hint="send it again"
        )
    return data


def _hold_blob(hub: Hub, connection: Transaction, sha256: str) -> int:
    """Keep bytes from being collected until the release that names them is there: a collection waits
    for this transaction, and only then looks who names them. Give how many they are.
    """
    connection.lock(f"blob:{sha256}")
    row = connection.row(
        "UPDATE blobs SET created_at = ? WHERE sha256 = ? RETURNING size", hub.now(), sha256
    )
    if row is None:
        raise _no_blob()
    return int(row["size"])


def _no_blob() -> NotFoundError:
    return NotFoundError(
        "the hub does not have these bytes", code="hub-blob", hint="send the archive first"
    )


def _check_place(hub: Hub, caller: Caller, name: str) -> None:
    """Refuse a namespace in which somebody may not publish. Whoever may publish everywhere makes a new
    one by doing so.
    """
    with hub.database.read() as connection:
        found = find_namespace(connection, name)
    if found is not None:
        authorize.check(caller, "publish", found)
    elif authorize.may(caller, "publish", None):
        check_place_name(name)
    else:
        raise authorize.no_namespace(name)


def _make_place(hub: Hub, caller: Caller, name: str) -> None:
    """Make the namespace, where it is new: not before there is something to put into it."""
    with hub.database.read() as connection:
        if find_namespace(connection, name) is not None:
            return
    # another request may have made it just now
    with suppress(DuplicateError), hub.database.write() as connection:
        make_namespace(hub, connection, caller, name)


def _check_fit(name: str, found: Verdicts) -> None:
    if found.name != name:
        raise RefusedError(
            f"the skill calls itself '{printable(found.name)}', not '{name}'",
            code="hub-unfit",
            hint="publish it under its own name",
        )
    if found.faults:
        raise RefusedError(
            f"'{name}' cannot be published: {'; '.join(found.faults)}",
            code="hub-unfit",
            hint="see: metier check --strict, and metier scan",
        ).with_details(faults=list(found.faults))


def _skill_row(hub: Hub, connection: Transaction, space: Namespace, name: str) -> Row:
    row = find_skill_row(connection, space, name)
    if row is not None and row["name"] != name:
        raise RefusedError(
            f"'{name}' looks like '{row['name']}', which is there already",
            code="exists",
            hint="choose another name",
        )
    if row is not None:
        return row
    made = connection.row(
        "INSERT INTO skills (namespace_id, name, folded, created_at, changed_at) "
        "VALUES (?, ?, ?, ?, ?) RETURNING *",
        space.id,
        name,
        fold_name(name),
        hub.now(),
        hub.now(),
    )
    assert made is not None
    return made


def _same_release(
    connection: Transaction, skill: int, found: Verdicts, wish: ReleaseWish
) -> Release | None:
    """Give the release that these bytes are already."""
    if not wish.version:
        newest = newest_release(connection, skill)
        if newest is not None and newest.digest == found.digest:
            return newest
    wanted = _wanted_version(found, wish)
    known = find_release(connection, skill, wanted) if wanted else None
    if known is not None and known.digest != found.digest:
        raise _taken(known)
    return known


def _wanted_version(found: Verdicts, wish: ReleaseWish) -> str:
    """Give the version that somebody names, or else the skill's own file; nothing where neither does."""
    if wish.version:
        return _checked_version(wish.version)
    return _checked_version(found.version) if read_version(found.version) is not None else ""


def _choose_version(connection: Transaction, skill: int, found: Verdicts, wish: ReleaseWish) -> str:
    wanted = _wanted_version(found, wish)
    if wanted:
        return wanted
    newest = newest_release(connection, skill)
    read = read_version(newest.version) if newest is not None else None
    return FIRST_VERSION if read is None else f"{read.major}.{read.minor}.{read.patch + 1}"


def _checked_version(text: str) -> str:
    read = read_version(text)
    if read is None or len(text) > MAX_VERSION_CHARS:
        raise UsageError(
            f"'{printable(text)}' is no version", hint="write three numbers, such as 1.4.0"
        )
    return read.text


def _taken(known: Release) -> RefusedError:
    return RefusedError(
        f"{known.namespace}/{known.name} {known.version} is there already, with other bytes",
        code="exists",
        hint="a version never changes; publish a new one with --version",
    )


def _check_quota(connection: Transaction, space: Namespace, size: int) -> None:
    row = connection.row("SELECT used_bytes, quota_bytes FROM namespaces WHERE id = ?", space.id)
    assert row is not None
    if row["quota_bytes"] and row["used_bytes"] + size > row["quota_bytes"]:
        raise RefusedError(
            f"the namespace '{space.name}' is full: {row['used_bytes']:,} of "
            f"{row['quota_bytes']:,} bytes are used",
            code="hub-quota",
            hint="ask an admin of the hub for more room",
        )
    connection.run("UPDATE namespaces SET used_bytes = used_bytes + ? WHERE id = ?", size, space.id)


def _check_signature(
    hub: Hub, policy: Mapping[str, Any], found: Verdicts, wish: ReleaseWish
) -> None:
    """Where policy wants a signature, a key that the hub's own machine trusts must have made it."""
    if policy["signature"] != "required":
        return
    from metier.trust.assess import public_keys

    keys = public_keys(hub.library().context)
    signed = verify_envelope(wish.signature.encode(), keys) if wish.signature else None
    good = (
        signed is not None
        and getattr(signed, "digest", "") == found.digest
        and getattr(signed, "name", "") == found.name
    )
    if not good:
        raise RefusedError(
            "this namespace takes only what is signed with a key that the hub trusts",
            code="hub-signature",
            hint="push it with --sign, and have an admin trust your key",
        )


def _insert(  # noqa: PLR0913, PLR0917 - a row of the table
    hub: Hub,
    connection: Transaction,
    caller: Caller,
    skill: int,
    version: str,
    found: Verdicts,
    wish: ReleaseWish,
    size: int,
) -> Release:
    provenance = {
        "source": _short(wish.source),
        "revision": _short(wish.revision),
        "mirrored": [one._asdict() for one in wish.mirrored],
    }
    connection.run(
        "INSERT INTO releases (skill_id, version, sort_key, digest, archive, size, state, level, "
        "score, ruleset, findings, files, description, category, body, publisher, publisher_ident, "
        "provenance, signature, created_at) "
        "VALUES (?, ?, ?, ?, ?, ?, 'pending', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        skill,
        version,
        sort_key(version),
        found.digest,
        wish.archive,
        size,
        found.level,
        found.score,
        found.ruleset,
        findings_text(found.findings),
        json.dumps([list(one) for one in found.files], separators=(",", ":")),
        found.description,
        found.category,
        found.body,
        caller.name,
        caller.ident,
        json.dumps({name: told for name, told in provenance.items() if told}),
        wish.signature,
        hub.now(),
    )
    made = find_release(connection, skill, version)
    assert made is not None
    return made


def _short(text: str) -> str:
    return printable(text)[:MAX_PROVENANCE_CHARS] if text else ""
