"""What proves that another hub approved a release: kept where it is true, refused where it is not."""

from __future__ import annotations

import hashlib

import pytest
from fakes.hub_skills import publish_text, skill_archive

from metier.errors import IntegrityError, UsageError
from metier.hub import publish
from metier.hub.api import read_release
from metier.hub.hub import Hub
from metier.hub.mirrored import MAX_PROOFS, MirrorProof, read_proofs
from metier.hub.model import LOCAL, Release
from metier.supply.approvals import canonical, hash_of
from metier.trust.sign import make_key_pair, sign_digest

DATA = skill_archive("table-tidy", "Align the columns.")


def proof_for(release: Release, **other: str) -> MirrorProof:
    """Write what another hub would have said of the same files."""
    pair = make_key_pair()
    entry = canonical(
        {"name": release.name, "digest": release.digest, "what": "approve", "version": "1.0.0"}
    )
    made = MirrorProof(
        hub="first",
        id="1234",
        key=pair.public.decode(),
        publisher="ann",
        vouch=sign_digest(release.name, release.digest, pair.private).decode(),
        entry=entry,
        previous="",
        hash=hash_of("", entry),
    )
    return made._replace(**other)


@pytest.fixture
def example(hub: Hub) -> Release:
    return publish_text(hub, LOCAL, "table-tidy", "Align the columns.", "1.0.0")


def mirrored(hub: Hub, *proofs: MirrorProof) -> Release:
    sha256 = hashlib.sha256(DATA).hexdigest()
    publish.put_blob(hub, LOCAL, sha256, DATA)
    wish = publish.ReleaseWish(archive=sha256, version="1.0.0", mirrored=proofs)
    return publish.publish(hub, LOCAL, "second", "table-tidy", wish).release


def test_a_proof_is_kept_with_the_release(hub: Hub, example: Release) -> None:
    proof = proof_for(example)

    mirrored(hub, proof)

    found = read_release(hub, LOCAL, "second", "table-tidy", "1.0.0")
    assert [proof._asdict()] == found.provenance["mirrored"]


@pytest.mark.parametrize(
    "lie",
    [
        {"vouch": ""},
        {"vouch": "{}"},
        {"key": make_key_pair().public.decode()},
        {"key": "no key"},
        {"entry": "{}"},
        {"previous": "00"},
        {"hash": "00"},
    ],
    ids="-".join,
)
def test_a_proof_that_proves_nothing_keeps_the_release_out(
    hub: Hub, example: Release, lie: dict[str, str]
) -> None:
    with pytest.raises(IntegrityError) as refused:
        mirrored(hub, proof_for(example, **lie))

    assert "hub-mirrored" == refused.value.code


def test_a_proof_of_another_skill_is_none(hub: Hub, example: Release) -> None:
    other = publish_text(hub, LOCAL, "table-tidy", "Other words.", "2.0.0")

    with pytest.raises(IntegrityError):
        mirrored(hub, proof_for(example), proof_for(other))


@pytest.mark.parametrize("told", [None, {}, [{}], [{"hub": 3}], ["x"], [{}] * (MAX_PROOFS + 1)])
def test_what_is_no_list_of_proofs_is_an_error(told: object) -> None:
    with pytest.raises(UsageError):
        read_proofs(told)
