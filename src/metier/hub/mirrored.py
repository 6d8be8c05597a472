"""What comes along with a release that another hub approved: that hub's signature and the entry of
its log. It is verified when the release comes in, and kept with it for ever.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, NamedTuple

from metier.errors import IntegrityError, MetierError, UsageError
from metier.trust.sign import Signed, verify_envelope

if TYPE_CHECKING:
    from typing import Any

MAX_PROOFS = 4
"""How many hubs in a row are remembered."""
MAX_PROOF_CHARS = 16_384


class MirrorProof(NamedTuple):
    """That one hub approved a release."""

    hub: str
    """What it called itself."""
    id: str
    key: str
    """Its public key, as PEM."""
    publisher: str
    vouch: str
    entry: str
    previous: str
    hash: str


def read_proofs(told: Any) -> tuple[MirrorProof, ...]:
    """Read what somebody sends along with a release."""
    rows = told if isinstance(told, list) else None
    good = rows is not None and len(rows) <= MAX_PROOFS
    for row in rows or ():
        texts = [row.get(name) for name in MirrorProof._fields] if isinstance(row, dict) else [None]
        good &= all(isinstance(text, str) and len(text) <= MAX_PROOF_CHARS for text in texts)
    if not good:
        raise UsageError(
            f"'mirrored' lists at most {MAX_PROOFS} hubs, each with its signature and log entry",
            hint="metier hub mirror writes it",
        )
    return tuple(MirrorProof(*(row[name] for name in MirrorProof._fields)) for row in rows or ())


def check_proofs(proofs: tuple[MirrorProof, ...], name: str, digest: str) -> None:
    """Refuse a release whose proofs are about something else, or by somebody else."""
    for proof in proofs:
        try:
            signed = verify_envelope(proof.vouch.encode(), [proof.key.encode()])
            said = json.loads(proof.entry)
        except (MetierError, ValueError, RecursionError):
            signed, said = None, None
        right = hashlib.sha256(f"{proof.previous}\n{proof.entry}".encode()).hexdigest()
        good = (
            isinstance(signed, Signed)
            and (signed.name, signed.digest) == (name, digest)
            and right == proof.hash
            and isinstance(said, dict)
            and (said.get("name"), said.get("digest")) == (name, digest)
        )
        if not good:
            raise IntegrityError(
                "what came along does not prove that another hub approved this release",
                code="hub-mirrored",
                hint="mirror it again from that hub",
            )


def proof_of(about: dict[str, Any], told: dict[str, Any]) -> list[dict[str, str]]:
    """Write the proofs of a release that a hub gave: its own, after those that it was given."""
    log = told.get("log") or {}
    provenance = told.get("provenance") or {}
    before = provenance.get("mirrored", [])
    own = MirrorProof(
        hub=str(about.get("name", "")),
        id=str(about.get("id", "")),
        key=str(about.get("key", "")),
        publisher=str(told.get("publisher", "")),
        vouch=str(told.get("vouch", "")),
        entry=str(log.get("entry", "")),
        previous=str(log.get("previous", "")),
        hash=str(log.get("hash", "")),
    )
    return [*before, own._asdict()][-MAX_PROOFS:]
