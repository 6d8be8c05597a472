"""Signs and verifies a skill's digest, and manages the keys: Ed25519 in a DSSE envelope, with local
keys, offline.

A signature says who vouches for these bytes under this name. By a key that the user trusts it makes
a community skill verified, and never more. Without the `cryptography` package nothing is signed and
nothing verifies.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from metier.audit import log
from metier.discover.entries import SkillPlace, skill_entry
from metier.discover.io import disk
from metier.errors import IntegrityError, RefusedError, UsageError
from metier.store.record_fields import load_strict
from metier.trust.assess import public_keys, signed
from metier.trust.io import key_files
from metier.trust.model import LEVELS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from cryptography.hazmat.primitives.asymmetric.ed25519 import (
        Ed25519PrivateKey,
        Ed25519PublicKey,
    )

    from metier.context import Context
    from metier.model import Digest, JsonObject, Trust


_K = TypeVar("_K")
PAYLOAD_TYPE = "application/vnd.metier.skill+json"
POLICY_TYPE = "application/vnd.metier.policy+toml"
"""What a policy's signature is about: one of a skill is never one of a policy."""
MAX_ENVELOPE_BYTES = 64 * 1024
"""The largest envelope that is read."""
MAX_SIGNATURES = 16
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
    """A new key: the private half is for the user's own folder, the public half for whoever is to
    trust it.
    """

    private: bytes
    public: bytes
    id: str


def pae(payload_type: str, payload: bytes) -> bytes:
    """Frame what is signed, so that no two pairs of type and payload give the same bytes (DSSE v1,
    PAE).
    """
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def payload_of(name: str, digest: str, level: Trust | None = None) -> bytes:
    """Give the canonical JSON of what is signed: sorted keys, no spaces, ASCII."""
    fields = {"name": name, "digest": digest, **({"level": level} if level else {})}
    return json.dumps(fields, sort_keys=True, separators=(",", ":")).encode("ascii")


def make_key_pair(seed: bytes | None = None) -> KeyPair:
    """Make a key, from 32 bytes of seed when they are given."""
    from_seed, _public = _ed25519()
    private = from_seed.generate() if seed is None else from_seed.from_private_bytes(seed)
    from cryptography.hazmat.primitives import serialization as form

    pem = form.Encoding.PEM
    secret = private.private_bytes(pem, form.PrivateFormat.PKCS8, form.NoEncryption())
    public = private.public_key()
    return KeyPair(
        secret, public.public_bytes(pem, form.PublicFormat.SubjectPublicKeyInfo), _id_of(public)
    )


def key_id(public: bytes) -> str:
    """Give the id of a public key: the hash of its 32 bytes."""
    return _id_of(_public_key(public))


def public_half(private: bytes) -> bytes:
    """Give the public half of a private key, as PEM."""
    from cryptography.hazmat.primitives import serialization as form

    public = _private_key(private).public_key()
    return public.public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo)


def sign_digest(name: str, digest: str, private: bytes, level: Trust | None = None) -> bytes:
    """Sign a name and a digest, and give the envelope."""
    key = _private_key(private)
    payload = payload_of(name, digest, level)
    signature = {
        "keyid": _id_of(key.public_key()),
        "sig": _text64(key.sign(pae(PAYLOAD_TYPE, payload))),
    }
    envelope = {"payload": _text64(payload), "payloadType": PAYLOAD_TYPE, "signatures": [signature]}
    return json.dumps(envelope, sort_keys=True, indent=1).encode("ascii") + b"\n"


def vouch_in(envelope: bytes, name: str, digest: str, keys: Iterable[bytes]) -> str:
    """Give the signature itself, to be sent along with a lock; nothing where none in the envelope
    is good for these bytes.
    """
    try:
        _payload, signatures = _open_envelope(envelope)
    except (ValueError, RecursionError):
        return ""
    framed = pae(PAYLOAD_TYPE, payload_of(name, digest))
    trusted = [_public_key(key) for key in keys]
    return next(
        (_text64(one) for one in signatures for key in trusted if _is_good(key, one, framed)), ""
    )


def envelope_of(name: str, digest: str, vouch: str) -> bytes:
    """Make the envelope that a signature came in. Whether it is good is for whoever verifies it."""
    payload = _text64(payload_of(name, digest))
    envelope = {"payload": payload, "payloadType": PAYLOAD_TYPE, "signatures": [{"sig": vouch}]}
    return json.dumps(envelope, sort_keys=True, indent=1).encode("ascii") + b"\n"


def verify_envelope(envelope: bytes, keys: Iterable[bytes]) -> Signed | Unverified:
    """Check an envelope against the keys that the user trusts. The key id in it is a hint, and not
    believed.

    Nothing in the payload is looked at before a signature over its bytes has been found good.
    """
    trusted = [_public_key(key) for key in keys]
    try:
        payload, signatures = _open_envelope(envelope)
    except (ValueError, RecursionError) as fault:
        return Unverified(f"the envelope cannot be read: {fault}")
    framed = pae(PAYLOAD_TYPE, payload)
    by = next(
        (key for signature in signatures for key in trusted if _is_good(key, signature, framed)),
        None,
    )
    if by is None:
        return Unverified("no signature in it is by a key that you trust")
    try:
        return _statement(payload, _id_of(by))
    except (ValueError, RecursionError) as fault:
        return Unverified(f"what was signed cannot be read: {fault}")


def sign_detached(kind: str, data: bytes, private: bytes) -> bytes:
    """Sign a file that stays where it is: an envelope without its payload."""
    key = _private_key(private)
    signature = {"keyid": _id_of(key.public_key()), "sig": _text64(key.sign(pae(kind, data)))}
    envelope = {"payloadType": kind, "signatures": [signature]}
    return json.dumps(envelope, sort_keys=True, indent=1).encode("ascii") + b"\n"


def verify_detached(
    kind: str, data: bytes, envelope: bytes, keys: Iterable[bytes]
) -> str | Unverified:
    """Check the signature of a file; give the id of the key that made it."""
    trusted = [_public_key(key) for key in keys]
    try:
        _fields, signatures = _signatures_in(envelope, kind)
    except (ValueError, RecursionError) as fault:
        return Unverified(f"the envelope cannot be read: {fault}")
    framed = pae(kind, data)
    for signature in signatures:
        for key in trusted:
            if _is_good(key, signature, framed):
                return _id_of(key)
    return Unverified("no signature in it is by the key that it must be by")


def join_signed(kind: str, data: bytes, envelope: bytes) -> bytes:
    """Put a file and its signature into one envelope."""
    _fields, signatures = _signatures_in(envelope, kind)
    whole = {
        "payload": _text64(data),
        "payloadType": kind,
        "signatures": [{"sig": _text64(one)} for one in signatures],
    }
    return json.dumps(whole, sort_keys=True, indent=1).encode("ascii") + b"\n"


def open_signed(kind: str, whole: bytes, keys: Iterable[bytes]) -> bytes | Unverified:
    """Give the file that an envelope holds, once its signature is found good."""
    try:
        payload = _bytes64(_object(whole).get("payload"))
        fields = {key: value for key, value in _object(whole).items() if key != "payload"}
    except (ValueError, RecursionError) as fault:
        return Unverified(f"the envelope cannot be read: {fault}")
    found = verify_detached(kind, payload, json.dumps(fields).encode(), keys)
    return found if isinstance(found, Unverified) else payload


def _open_envelope(envelope: bytes) -> tuple[bytes, list[bytes]]:
    fields, signatures = _signatures_in(envelope, PAYLOAD_TYPE)
    return _bytes64(fields.get("payload")), signatures


def _signatures_in(envelope: bytes, kind: str) -> tuple[JsonObject, list[bytes]]:
    if len(envelope) > MAX_ENVELOPE_BYTES:
        raise ValueError(f"it is larger than {MAX_ENVELOPE_BYTES:,} bytes")
    fields = _object(envelope)
    if fields.get("payloadType") != kind:
        raise ValueError(f"its payloadType is not {kind}")
    signatures = fields.get("signatures")
    if not isinstance(signatures, list) or not all(isinstance(one, dict) for one in signatures):
        raise ValueError("'signatures' is not a list of objects")
    if not 0 < len(signatures) <= MAX_SIGNATURES:
        raise ValueError(f"it must have 1 to {MAX_SIGNATURES} signatures")
    return fields, [_bytes64(one.get("sig")) for one in signatures]


def _statement(payload: bytes, key: str) -> Signed:
    fields = _object(payload)
    name = fields.get("name")
    digest = fields.get("digest")
    level = fields.get("level")
    known = next((one for one in LEVELS if one == level), None)
    if not isinstance(name, str) or not isinstance(digest, str) or not name or not digest:
        raise ValueError("it gives no name and digest")
    if payload_of(name, digest, known) != payload:
        raise ValueError("it is not in canonical form")
    return Signed(name, digest, key, known)


def _object(data: bytes) -> JsonObject:
    fields = load_strict(data, "a key stands in it twice")
    if not isinstance(fields, dict):
        raise ValueError("it is not a JSON object")  # noqa: TRY004 - one kind of fault for all that is wrong with content
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
    """Import the library that does the arithmetic, or say how to get it: without it, nothing counts
    as signed.
    """
    try:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import (
            Ed25519PrivateKey,
            Ed25519PublicKey,
        )
    except ImportError as error:
        raise RefusedError(
            "signatures need the 'cryptography' package, which is not installed",
            code="sign-unavailable",
            hint='pip install "metier[sign]"',
        ) from error
    return Ed25519PrivateKey, Ed25519PublicKey


def _private_key(data: bytes) -> Ed25519PrivateKey:
    kind, _public = _ed25519()
    from cryptography.hazmat.primitives.serialization import load_pem_private_key as from_pem

    return _key(data, kind, "private", kind.from_private_bytes, lambda pem: from_pem(pem, None))


def _public_key(data: bytes) -> Ed25519PublicKey:
    _private, kind = _ed25519()
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    return _key(data, kind, "public", kind.from_public_bytes, load_pem_public_key)


def _key(
    data: bytes,
    kind: type[_K],
    half: str,
    from_raw: Callable[[bytes], object],
    from_pem: Callable[[bytes], object],
) -> _K:
    """Read one half of a key: PEM, or its 32 bytes in base64."""
    try:
        is_pem = data.lstrip().startswith(b"-----BEGIN")
        key = from_pem(data) if is_pem else from_raw(_bytes64(data.decode().strip()))
    except (ValueError, TypeError):
        key = None
    if not isinstance(key, kind):
        raise UsageError(
            f"this is not an Ed25519 {half} key",
            hint="give a PEM file, or the 32 bytes of the key in base64",
        )
    return key


# --- keys and signatures of this machine


def new_key(context: Context) -> tuple[str, str]:
    """Make a key to sign with, and trust it; give its id and the file to hand to others."""
    made = make_key_pair()
    path = key_files.write_key(context.data, context.home, made.id, made.public, made.private)
    log.record(context, "key", "done", key=made.id, asked="new")
    return made.id, path


def import_key(context: Context, file: str) -> tuple[str, str]:
    """Trust somebody's public key; give its id and where it is kept."""
    public = key_files.read_file(disk.absolute(file, context.cwd, context.home))
    key = key_id(public)
    path = key_files.write_key(context.data, context.home, key, public, None)
    log.record(context, "key", "done", key=key, asked="import")
    return key, path


def remove_key(context: Context, key: str) -> str:
    """Trust a key no longer."""
    key_files.remove_key(context.data, key)
    log.record(context, "key", "done", key=key, asked="remove")
    return key


def _subject(context: Context, said: str) -> tuple[str, str]:
    """Give the name and the place of the skill that is meant: one that is listed, or, as whoever
    publishes one has it, the folder at a path.
    """
    folder = disk.absolute(said, context.cwd, context.home)
    if "/" in said and disk.kind_of(f"{folder}/SKILL.md") == disk.FILE:
        spot = SkillPlace(folder, "SKILL.md", "", "", "")
        entry = skill_entry(
            disk.read_head(f"{folder}/SKILL.md"),
            spot,
            folder.rpartition("/")[2],
            None,
            disk.read_head,
        )
        return entry.name, folder
    card = context.catalogue.resolve(said)
    return card.name, card.path


def choose_key(context: Context, key: str) -> str:
    """Give the key to sign with: the one that was named, or the only one there is."""
    own = [known for known, private in key_files.list_keys(context.data).items() if private]
    if key and key not in own:
        raise UsageError(
            f"there is no private key '{key}' here",
            hint="list them: metier trust keys list",
        )
    if not key and len(own) != 1:
        raise UsageError(
            "say which key to sign with" if own else "there is no key to sign with",
            hint="add --key ID, or create one: metier trust keys new",
        )
    return key or own[0]


def sign_skill(context: Context, name: str, key: str = "") -> tuple[Signed, str]:
    """Sign a skill's bytes as they are now; give what was signed and where the signature is
    kept.
    """
    name, place = _subject(context, name)
    key = choose_key(context, key)
    digest = context.machine.digest(place)
    private = key_files.read_key(context.data, key, "key")
    if digest is None or private is None:
        raise RefusedError(
            f"'{name}' can't be signed: some of its files can't be read", hint=f"check {place}"
        )
    path = key_files.write_signature(
        context.data, context.home, digest, sign_digest(name, digest, private)
    )
    log.record(context, "sign", "done", name=name, digest=digest, key=key)
    return Signed(name, digest, key), path


def keep_verified(
    context: Context, name: str, digest: Digest, envelopes: Callable[[], Iterable[bytes]]
) -> None:
    """Keep the first of some envelopes that a trusted key signed for this skill and these bytes;
    they are not even asked for where nobody is trusted.
    """
    keys = public_keys(context)
    if not keys or signed(context, name, digest) is not None:
        return
    for envelope in envelopes():
        try:
            found = verify_envelope(envelope, keys)
        except RefusedError:
            return  # the package that verifies is not installed: nothing counts as signed
        if isinstance(found, Signed) and (found.name, found.digest) == (name, digest):
            key_files.write_signature(context.data, context.home, digest, envelope)
            log.record(context, "verify", "ok", name=name, digest=digest, key=found.key)
            return


def verify_skill(context: Context, name: str, file: str = "") -> Signed:
    """Check a signature over a skill's bytes as they are now; a good one that was given in a file
    is kept.
    """
    name, place = _subject(context, name)
    digest = context.machine.digest(place)
    envelope = key_files.read_file(disk.absolute(file, context.cwd, context.home)) if file else None
    envelope = envelope or (key_files.read_signature(context.data, digest) if digest else None)
    if envelope is None:
        raise RefusedError(
            f"there is no signature for '{name}' as it is now",
            code="unsigned",
            hint="give one with --signature FILE",
        )
    found = verify_envelope(envelope, public_keys(context))
    if isinstance(found, Unverified):
        raise RefusedError(
            f"the signature of '{name}' is not good: {found.reason}",
            code="unverified",
            hint="trust a key: metier trust keys import FILE",
        )
    if (found.name, found.digest) != (name, digest):
        raise IntegrityError(
            f"the signature is for '{found.name}', {found.digest}, not for '{name}' as it is now",
            hint="the skill was changed after it was signed, or the signature belongs to another skill",
        )
    if file:
        key_files.write_signature(context.data, context.home, found.digest, envelope)
        log.record(context, "verify", "ok", name=name, digest=digest, key=found.key)
    return found
