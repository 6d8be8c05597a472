"""Signatures over a skill's digest: Ed25519 in a DSSE envelope, with local keys, offline. Bytes in, values out.

A signature says who vouches for these bytes under this name. By a key that the user trusts it makes a community
skill verified, and never more. Without the `cryptography` package nothing is signed and nothing verifies.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from typing import TYPE_CHECKING, Any, NamedTuple

from metier.errors import RefusedError, UsageError
from metier.trust.levels import LEVELS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

    from metier.model import Trust

PAYLOAD_TYPE = "application/vnd.metier.skill+json"
ENVELOPE_BYTES = 64 * 1024
"""The largest envelope that is read."""
SIGNATURES = 16
"""How many signatures of one envelope are tried."""


class Signed(NamedTuple):
    """What a trusted key has signed."""

    name: str
    digest: str
    key: str
    """The id of the key."""
    level: Trust | None = None
    """The level that the signer gives it; it counts only where it is lower than verified."""


class Unverified(NamedTuple):
    """Why an envelope proves nothing."""

    reason: str


class KeyPair(NamedTuple):
    """A new key: the private half is for the user's own folder, the public half for whoever is to trust it."""

    private: bytes
    public: bytes
    id: str


def pae(payload_type: str, payload: bytes) -> bytes:
    """Frame what is signed, so that no two pairs of type and payload give the same bytes (DSSE v1, PAE)."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def payload_of(name: str, digest: str, level: Trust | None = None) -> bytes:
    """Give the canonical JSON of what is signed: sorted keys, no spaces, ASCII."""
    fields = {"name": name, "digest": digest, **({"level": level} if level else {})}
    return json.dumps(fields, sort_keys=True, separators=(",", ":")).encode("ascii")


def new_key(seed: bytes | None = None) -> KeyPair:
    """Make a key, from 32 bytes of seed when they are given."""
    from_seed, _public = _ed25519()
    private = from_seed.generate() if seed is None else from_seed.from_private_bytes(seed)
    from cryptography.hazmat.primitives import serialization as form

    pem = form.Encoding.PEM
    secret = private.private_bytes(pem, form.PrivateFormat.PKCS8, form.NoEncryption())
    public = private.public_key()
    return KeyPair(secret, public.public_bytes(pem, form.PublicFormat.SubjectPublicKeyInfo), _id_of(public))


def key_id(public: bytes) -> str:
    """Give the id of a public key: the hash of its 32 bytes."""
    return _id_of(_public_key(public))


def sign(name: str, digest: str, private: bytes, level: Trust | None = None) -> bytes:
    """Sign a name and a digest, and give the envelope."""
    key = _private_key(private)
    payload = payload_of(name, digest, level)
    signature = {"keyid": _id_of(key.public_key()), "sig": _text64(key.sign(pae(PAYLOAD_TYPE, payload)))}
    envelope = {"payload": _text64(payload), "payloadType": PAYLOAD_TYPE, "signatures": [signature]}
    return json.dumps(envelope, sort_keys=True, indent=1).encode("ascii") + b"\n"


def verify(envelope: bytes, keys: Iterable[bytes]) -> Signed | Unverified:
    """Check an envelope against the keys that the user trusts. The key id in it is a hint, and not believed.

    Nothing in the payload is looked at before a signature over its bytes has been found good.
    """
    trusted = [_public_key(key) for key in keys]
    try:
        payload, signatures = _opened(envelope)
    except (ValueError, RecursionError) as fault:
        return Unverified(f"the envelope cannot be read: {fault}")
    framed = pae(PAYLOAD_TYPE, payload)
    by = next((key for signature in signatures for key in trusted if _is_good(key, signature, framed)), None)
    if by is None:
        return Unverified("no signature in it is by a key that you trust")
    try:
        return _statement(payload, _id_of(by))
    except (ValueError, RecursionError) as fault:
        return Unverified(f"what was signed cannot be read: {fault}")


def _opened(envelope: bytes) -> tuple[bytes, list[bytes]]:
    if len(envelope) > ENVELOPE_BYTES:
        raise ValueError(f"it is larger than {ENVELOPE_BYTES:,} bytes")
    fields = _object(envelope)
    if fields.get("payloadType") != PAYLOAD_TYPE:
        raise ValueError(f"its payloadType is not {PAYLOAD_TYPE}")
    signatures = fields.get("signatures")
    if not isinstance(signatures, list) or not all(isinstance(one, dict) for one in signatures):
        raise ValueError("'signatures' is not a list of objects")
    if not 0 < len(signatures) <= SIGNATURES:
        raise ValueError(f"it must have 1 to {SIGNATURES} signatures")
    return _bytes64(fields.get("payload")), [_bytes64(one.get("sig")) for one in signatures]


def _statement(payload: bytes, key: str) -> Signed:
    fields = _object(payload)
    name, digest, level = fields.get("name"), fields.get("digest"), fields.get("level")
    known = next((one for one in LEVELS if one == level), None)
    if not isinstance(name, str) or not isinstance(digest, str) or not name or not digest:
        raise ValueError("it gives no name and digest")
    if payload_of(name, digest, known) != payload:
        raise ValueError("it is not in canonical form")
    return Signed(name, digest, key, known)


def _object(data: bytes) -> dict[str, Any]:
    fields = json.loads(data.decode("utf-8"), object_pairs_hook=_once)
    if not isinstance(fields, dict):
        raise ValueError("it is not a JSON object")  # noqa: TRY004 - one kind of fault for all that is wrong with content
    return fields


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a key that stands twice: two readers could take different ones."""
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("a key stands in it twice")
    return fields


def _text64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _bytes64(text: object) -> bytes:
    """Read base64 in either alphabet, as DSSE asks."""
    if not isinstance(text, str):
        raise ValueError("a part that must be base64 is missing")  # noqa: TRY004 - the same
    try:
        return base64.b64decode(text.replace("-", "+").replace("_", "/").encode(), validate=True)
    except binascii.Error as fault:
        raise ValueError(f"a part is not base64: {fault}") from fault


def _is_good(key: Ed25519PublicKey, signature: bytes, framed: bytes) -> bool:
    from cryptography.exceptions import InvalidSignature

    try:
        key.verify(signature, framed)
    except InvalidSignature:
        return False
    return True


def _id_of(public: Ed25519PublicKey) -> str:
    return f"ed25519:{hashlib.sha256(public.public_bytes_raw()).hexdigest()[:32]}"


def _ed25519() -> tuple[type[Ed25519PrivateKey], type[Ed25519PublicKey]]:
    """Import the library that does the arithmetic, or say how to get it: without it, nothing counts as signed."""
    try:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
    except ImportError as error:
        raise RefusedError("signatures need the 'cryptography' package, which is not installed", code="sign-unavailable",
                           hint='pip install "metier[sign]"') from error  # fmt: skip
    return Ed25519PrivateKey, Ed25519PublicKey


def _private_key(data: bytes) -> Ed25519PrivateKey:
    """Read a private key: PEM, or its 32 bytes in base64."""
    kind, _public = _ed25519()
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key = load_pem_private_key(data, None) if _is_pem(data) else kind.from_private_bytes(_bytes64(data.decode().strip()))
    except (ValueError, TypeError) as fault:
        raise _no_key("private") from fault
    if not isinstance(key, kind):
        raise _no_key("private")
    return key


def _public_key(data: bytes) -> Ed25519PublicKey:
    """Read a public key: PEM, or its 32 bytes in base64."""
    _private, kind = _ed25519()
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        key = load_pem_public_key(data) if _is_pem(data) else kind.from_public_bytes(_bytes64(data.decode().strip()))
    except (ValueError, TypeError) as fault:
        raise _no_key("public") from fault
    if not isinstance(key, kind):
        raise _no_key("public")
    return key


def _is_pem(data: bytes) -> bool:
    return data.lstrip().startswith(b"-----BEGIN")


def _no_key(half: str) -> UsageError:
    return UsageError(f"this is not an Ed25519 {half} key", hint="give a PEM file, or the 32 bytes of the key in base64")
