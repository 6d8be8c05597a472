"""Verifies what an OpenID Connect provider says about a person: one ID token, held against the keys of
the provider, and against everything that the hub asked for. Pure.
"""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING, NamedTuple

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import import_key

from metier.errors import RefusedError
from metier.supply.safe_names import printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from joserfc.jwk import Key

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512")
"""Signatures with a private key that only the provider has. Whatever works with a shared secret, or
without any, is not among them."""
KEY_TYPES = frozenset({"RSA", "EC"})
SKEW_SECONDS = 60
"""How far the clocks of hub and provider may be apart."""
MAX_AGE_SECONDS = 86_400
MAX_TOKEN_CHARS = 65_536
MAX_KEYS = 64
MAX_NAME_CHARS = 80
MAX_SUBJECT_CHARS = 255
MAX_GROUPS = 200
MAX_GROUP_CHARS = 200


class WantedToken(NamedTuple):
    """What an ID token has to say to be taken."""

    issuer: str
    client_id: str
    now: int
    nonce: str = ""
    """What the hub sent along; nothing where the way of logging in knows none."""
    groups_claim: str = "groups"


class Identity(NamedTuple):
    """Who somebody is, as the provider says."""

    subject: str
    name: str
    groups: tuple[str, ...]


def read_keys(told: Any) -> list[Key]:
    """Read the provider's public keys. What is no public key for signatures is left out: a shared
    secret in that list would let everybody sign who can read it.
    """
    rows = told.get("keys") if isinstance(told, dict) else None
    found = []
    for row in rows[:MAX_KEYS] if isinstance(rows, list) else []:
        if not isinstance(row, dict) or row.get("kty") not in KEY_TYPES:
            continue
        if row.get("use", "sig") != "sig":
            continue
        try:
            found.append(import_key(row))
        except (JoseError, ValueError, TypeError, KeyError):
            continue  # a key of a kind that we don't know is none of ours
    return found


def check_id_token(text: str, keys: Sequence[Key], wanted: WantedToken) -> Identity:
    """Give who somebody is; refuse whatever is not signed, or not meant for this hub and now."""
    claims = _signed_claims(text, keys)
    if claims is None:
        raise UnknownSignatureError
    if claims.get("iss") != wanted.issuer:
        raise refused("it comes from another provider")
    audience = claims.get("aud")
    named = audience if isinstance(audience, list) else [audience]
    if wanted.client_id not in named:
        raise refused("it is meant for another service")
    if claims.get("azp", wanted.client_id) != wanted.client_id or (
        len(named) > 1 and "azp" not in claims
    ):
        raise refused("it was given to another service")
    _check_times(claims, wanted.now)
    nonce = claims.get("nonce", "")
    if wanted.nonce and not (
        isinstance(nonce, str) and hmac.compare_digest(nonce.encode(), wanted.nonce.encode())
    ):
        raise refused("it belongs to another login")
    subject = claims.get("sub")
    if not isinstance(subject, str) or not 0 < len(subject) <= MAX_SUBJECT_CHARS:
        raise refused("it names nobody")
    return Identity(subject, _name_in(claims, subject), groups_in(claims, wanted.groups_claim))


class UnknownSignatureError(Exception):
    """None of the known keys made this signature: the provider may have got new ones."""


def refused(why: str) -> RefusedError:
    """Say that a login failed."""
    return RefusedError(
        f"the provider's answer is not accepted: {why}",
        code="hub-login",
        hint="log in again. If it stays, ask an admin of the hub",
    )


def _signed_claims(text: str, keys: Sequence[Key]) -> Mapping[str, Any] | None:
    if len(text) > MAX_TOKEN_CHARS:
        raise refused("it is too long")
    for key in keys:
        try:
            return jwt.decode(text, key, algorithms=list(ALGORITHMS)).claims
        except (JoseError, ValueError, TypeError, KeyError, RecursionError):
            continue
    return None


def _check_times(claims: Mapping[str, Any], now: int) -> None:
    """Hold the times against the clock: it has to run out, and to be young."""
    times = [claims.get("exp"), claims.get("iat"), claims.get("nbf", now)]
    numbers = [one for one in times if isinstance(one, int | float) and not isinstance(one, bool)]
    if len(numbers) < len(times):
        raise refused("it does not say when it was made and when it ends")
    ends, made, begins = numbers
    if ends <= now - SKEW_SECONDS:
        raise refused("it has expired")
    if max(made, begins) > now + SKEW_SECONDS:
        raise refused("it is from the future; check the clocks")
    if made < now - MAX_AGE_SECONDS:
        raise refused("it is too old")


def _name_in(claims: Mapping[str, Any], subject: str) -> str:
    """Give what people call somebody. An address counts only where the provider has verified it."""
    told = [
        claims.get("email") if claims.get("email_verified") is True else None,
        claims.get("preferred_username"),
        claims.get("name"),
        subject,
    ]
    found = next(one for one in told if isinstance(one, str) and one.strip())
    return printable(" ".join(found.split()))[:MAX_NAME_CHARS]


def groups_in(claims: Mapping[str, Any], claim: str) -> tuple[str, ...]:
    """Give the groups that somebody is in; none where the provider names none."""
    told = claims.get(claim, [])
    rows = [told] if isinstance(told, str) else told if isinstance(told, list) else []
    found = {one for one in rows if isinstance(one, str) and 0 < len(one) <= MAX_GROUP_CHARS}
    if len(found) > MAX_GROUPS:
        raise refused(f"it names more than {MAX_GROUPS} groups")
    return tuple(sorted(found))
