"""Signatures over a skill's digest."""

from __future__ import annotations

import base64
import json
import sys
from typing import Any

import pytest

from metier.errors import RefusedError, UsageError
from metier.trust.sign import (
    MAX_ENVELOPE_BYTES,
    PAYLOAD_TYPE,
    Signed,
    Unverified,
    key_id,
    make_key_pair,
    pae,
    payload_of,
    sign_digest,
    verify_envelope,
)

KEY, OTHER = make_key_pair(bytes(32)), make_key_pair(bytes([1]) * 32)
DIGEST = "sha256:" + "ab" * 32


def opened(envelope: bytes) -> dict[str, Any]:
    fields: dict[str, Any] = json.loads(envelope)
    return fields


def sealed(payload: bytes, payload_type: str = PAYLOAD_TYPE) -> bytes:
    """Sign any payload with the trusted key, as a careless signer might."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    signature = Ed25519PrivateKey.from_private_bytes(bytes(32)).sign(pae(payload_type, payload))
    texts = [base64.b64encode(part).decode() for part in (payload, signature)]
    return json.dumps(
        {"payload": texts[0], "payloadType": payload_type, "signatures": [{"sig": texts[1]}]}
    ).encode()


def test_what_a_trusted_key_signed_is_verified() -> None:
    envelope = sign_digest("pdf", DIGEST, KEY.private, "verified")

    found = verify_envelope(envelope, [OTHER.public, KEY.public])

    assert Signed("pdf", DIGEST, KEY.id, "verified") == found
    assert Signed("pdf", DIGEST, KEY.id) == verify_envelope(
        sign_digest("pdf", DIGEST, KEY.private), [KEY.public]
    )


def test_what_is_signed_is_framed_as_dsse_says() -> None:
    assert b"DSSEv1 29 http://example.com/HelloWorld 11 hello world" == pae(
        "http://example.com/HelloWorld", b"hello world"
    )
    assert b'{"digest":"d","name":"p\\u00e9"}' == payload_of("p\u00e9", "d")
    assert b'{"digest":"d","level":"verified","name":"p"}' == payload_of("p", "d", "verified")


def test_an_envelope_has_the_fields_of_dsse() -> None:
    fields = opened(sign_digest("pdf", DIGEST, KEY.private))

    assert {"payload", "payloadType", "signatures"} == set(fields)
    assert "application/vnd.metier.skill+json" == fields["payloadType"]
    assert KEY.id == fields["signatures"][0]["keyid"]
    assert payload_of("pdf", DIGEST) == base64.b64decode(fields["payload"])


def test_keys_are_pem_or_plain_base64() -> None:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    raw_private, raw_public = (
        base64.b64encode(bytes(32)),
        base64.b64encode(
            Ed25519PrivateKey.from_private_bytes(bytes(32)).public_key().public_bytes_raw()
        ),
    )

    envelope = sign_digest("pdf", DIGEST, raw_private + b"\n")

    assert isinstance(verify_envelope(envelope, [raw_public + b"\n"]), Signed)
    assert isinstance(verify_envelope(envelope, [b"\n" + KEY.public]), Signed)
    assert KEY.id == key_id(raw_public) == key_id(KEY.public)
    assert KEY.id.startswith("ed25519:")
    assert KEY.public.startswith(b"-----BEGIN PUBLIC KEY-----")
    assert KEY.private.startswith(b"-----BEGIN PRIVATE KEY-----")


def test_a_new_key_is_new() -> None:
    assert make_key_pair().id != make_key_pair().id


def test_the_url_alphabet_of_base64_is_read_as_well() -> None:
    fields = opened(sign_digest("pdf", DIGEST, KEY.private))
    for signature in fields["signatures"]:
        signature["sig"] = signature["sig"].replace("+", "-").replace("/", "_")

    assert isinstance(verify_envelope(json.dumps(fields).encode(), [KEY.public]), Signed)


def test_a_second_signature_may_be_anybody_s_and_the_key_id_is_not_believed() -> None:
    fields, theirs = (
        opened(sign_digest("pdf", DIGEST, KEY.private)),
        opened(sign_digest("pdf", DIGEST, OTHER.private)),
    )
    fields["signatures"] = [
        {**theirs["signatures"][0], "keyid": KEY.id},
        {**fields["signatures"][0], "keyid": OTHER.id},
    ]

    found = verify_envelope(json.dumps(fields).encode(), [KEY.public])

    assert Signed("pdf", DIGEST, KEY.id) == found


def test_sixteen_signatures_are_tried_and_the_last_may_be_the_good_one() -> None:
    fields, theirs = (
        opened(sign_digest("pdf", DIGEST, KEY.private)),
        opened(sign_digest("pdf", DIGEST, OTHER.private)),
    )
    fields["signatures"] = theirs["signatures"] * 15 + fields["signatures"]

    assert Signed("pdf", DIGEST, KEY.id) == verify_envelope(
        json.dumps(fields).encode(), [KEY.public]
    )


def test_an_envelope_may_be_as_large_as_the_limit() -> None:
    assert isinstance(
        verify_envelope(
            sign_digest("pdf", DIGEST, KEY.private).ljust(MAX_ENVELOPE_BYTES), [KEY.public]
        ),
        Signed,
    )


def test_no_trusted_key_no_trust() -> None:
    envelope = sign_digest("pdf", DIGEST, KEY.private)

    assert Unverified("no signature in it is by a key that you trust") == verify_envelope(
        envelope, [OTHER.public]
    )
    assert isinstance(verify_envelope(envelope, []), Unverified)


@pytest.mark.parametrize("field", ["payload", "payloadType", "sig"])
def test_a_changed_envelope_proves_nothing(field: str) -> None:
    fields = opened(sign_digest("pdf", DIGEST, KEY.private))
    changed = {
        "payload": {**fields, "payload": base64.b64encode(payload_of("doc", DIGEST)).decode()},
        "payloadType": {**fields, "payloadType": "application/json"},
        "sig": {**fields, "signatures": [{"sig": base64.b64encode(bytes(64)).decode()}]},
    }[field]

    assert isinstance(verify_envelope(json.dumps(changed).encode(), [KEY.public]), Unverified)


@pytest.mark.parametrize(
    ("envelope", "reason"),
    [
        (b"", "cannot be read"),
        (b"\xff", "cannot be read"),
        (b"[]", "not a JSON object"),
        (b"[" * 50_000, "cannot be read"),
        (b" " * (MAX_ENVELOPE_BYTES + 1), "larger than 65,536 bytes"),
        (b'{"payloadType":"x","payloadType":"y"}', "stands in it twice"),
        (b"{}", "payloadType is not"),
        (json.dumps({"payloadType": PAYLOAD_TYPE}).encode(), "not a list of objects"),
        (
            json.dumps({"payloadType": PAYLOAD_TYPE, "signatures": [1]}).encode(),
            "not a list of objects",
        ),
        (
            json.dumps({"payloadType": PAYLOAD_TYPE, "signatures": []}).encode(),
            "1 to 16 signatures",
        ),
        (
            json.dumps({"payloadType": PAYLOAD_TYPE, "signatures": [{}] * 17}).encode(),
            "1 to 16 signatures",
        ),
        (
            json.dumps({"payloadType": PAYLOAD_TYPE, "signatures": [{}]}).encode(),
            "base64 is missing",
        ),
        (
            json.dumps(
                {"payloadType": PAYLOAD_TYPE, "payload": "e30=", "signatures": [{"sig": 3}]}
            ).encode(),
            "base64 is missing",
        ),
        (
            json.dumps(
                {"payloadType": PAYLOAD_TYPE, "payload": "!", "signatures": [{"sig": ""}]}
            ).encode(),
            "not base64",
        ),
        (
            json.dumps(
                {"payloadType": PAYLOAD_TYPE, "payload": "\u00e9", "signatures": [{"sig": ""}]}
            ).encode(),
            "not base64",
        ),
        (
            json.dumps(
                {"payloadType": PAYLOAD_TYPE, "payload": "\ud800", "signatures": [{"sig": ""}]}
            ).encode(),
            "cannot be read",
        ),
        (
            json.dumps(
                {"payloadType": PAYLOAD_TYPE, "payload": "e30=", "signatures": [{"sig": ""}]}
            ).encode(),
            "no signature in it",
        ),
        (sealed(b"{}"), "no name and digest"),
        (sealed(b'{"name":"","digest":"d"}'), "no name and digest"),
        (sealed(b'{"digest":5,"name":"pdf"}'), "no name and digest"),
        (sealed(b'{"digest":"d","name":5}'), "no name and digest"),
        (sealed(b'{"digest":["d"],"name":"pdf"}'), "no name and digest"),
        (sealed(b'{"name":"pdf","digest":"d"}'), "canonical form"),
        (sealed(b'{"digest":"d","name":"pdf","name":"doc"}'), "stands in it twice"),
        (sealed(b'{"digest":"d","level":"root","name":"pdf"}'), "canonical form"),
        (sealed(b'{"digest":"d","extra":1,"name":"pdf"}'), "canonical form"),
        (sealed(b"\xff"), "cannot be read"),
        (sealed(payload_of("pdf", "d"), "text/plain"), "payloadType is not"),
    ],
)
def test_what_cannot_be_read_proves_nothing_and_raises_nothing(
    envelope: bytes, reason: str
) -> None:
    found = verify_envelope(envelope, [KEY.public])

    assert isinstance(found, Unverified)
    assert reason in found.reason


def test_what_is_no_key_is_refused() -> None:
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

    foreign = X25519PrivateKey.from_private_bytes(bytes([7]) * 32)
    private = foreign.private_bytes(
        form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption()
    )
    public = foreign.public_key().public_bytes(
        form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo
    )

    for bad in (b"", b"AAAA", b"\xff", b"-----BEGIN PUBLIC KEY-----\n", public):
        with pytest.raises(UsageError, match="not an Ed25519 public key"):
            verify_envelope(b"{}", [bad])
    for bad in (b"", b"AAAA", b"-----BEGIN PRIVATE KEY-----\n", private):
        with pytest.raises(UsageError, match="not an Ed25519 private key"):
            sign_digest("pdf", DIGEST, bad)


def test_without_the_library_nothing_is_signed_and_nothing_verifies(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    envelope = sign_digest("pdf", DIGEST, KEY.private)
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.asymmetric.ed25519", None)

    for call in (
        lambda: verify_envelope(envelope, [KEY.public]),
        lambda: sign_digest("pdf", DIGEST, KEY.private),
        make_key_pair,
    ):
        with pytest.raises(RefusedError) as caught:
            call()
        assert ("sign-unavailable", 'pip install "metier[sign]"') == (
            caught.value.code,
            caught.value.hint,
        )
