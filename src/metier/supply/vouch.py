"""Lets trust travel with a lock: it says who vouched for a skill, and another machine verifies that
by its own keys. A vouch that cannot be verified counts for nothing, and is told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from metier.errors import MetierError
from metier.model import Digest
from metier.trust import sign
from metier.trust.assess import public_keys, signed
from metier.trust.io import key_files

if TYPE_CHECKING:
    from metier.context import Context
    from metier.supply.model import Lock, Pin


def with_vouch(context: Context, pin: Pin, before: Pin | None) -> Pin:
    """Put the signature of a skill into its pin, where this machine has it; else what the lock had
    for the same bytes stays.
    """
    if not pin.signature:
        return pin._replace(vouch="") if pin.vouch else pin
    same = before is not None and (before.base, before.signature) == (pin.base, pin.signature)
    kept = before.vouch if before is not None and same else ""
    try:
        envelope = key_files.read_signature(context.data, pin.base)
        own = envelope and sign.vouch_in(envelope, pin.name, pin.base, public_keys(context))
    except (MetierError, OSError):
        own = ""
    return pin._replace(vouch=own or kept)


def take_vouches(context: Context, lock: Lock) -> list[str]:
    """Keep the signatures of a lock that this machine can verify; say which it cannot."""
    notes = []
    for pin in lock.pins:
        if not pin.signature or _is_known(context, pin):
            continue
        notes.append(
            f"{pin.name}: the lock says that {pin.signature} vouched for it. This machine can't "
            "verify that, so it counts for nothing"
        )
    return notes


def _is_known(context: Context, pin: Pin) -> bool:
    """Tell whether a signature of this pin is verified here, and keep it if it just was."""
    if signed(context, pin.name, Digest(pin.base)) is not None:
        return True
    if not pin.vouch:
        return False
    try:
        envelope = sign.envelope_of(pin.name, pin.base, pin.vouch)
        found = sign.verify_envelope(envelope, public_keys(context))
        if not isinstance(found, sign.Signed) or found.key != pin.signature:
            return False
        key_files.write_signature(context.data, context.home, pin.base, envelope)
    except (MetierError, OSError):
        return False
    return True
