"""The distribution interface of OCI registries, read-only: `oras pull HOST/NAMESPACE/NAME:1.0.0` and
`metier add oci://HOST/NAMESPACE/NAME`, with the media types that `metier push` writes.

A repository is a skill and a tag is a version. A manifest is written anew each time from what the
hub knows of a release, always the same bytes, and its layer is the release's own archive. So a
digest is found by writing the manifests of one skill, and nothing is kept twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from metier.errors import NotFoundError
from metier.hub.api import ask, caller_of, number_in, read_skill
from metier.hub.clients.login import CHALLENGE
from metier.hub.clients.shelf import GIVEN, given_release, offered_releases
from metier.hub.releases import LATEST, archive_of
from metier.supply.sources import oci_manifest
from metier.supply.sources.oci_manifest import INDEX_TYPE, MANIFEST_TYPE, blob_of, digest_of
from metier.supply.sources.oci_names import is_oci_digest

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request

    from metier.hub.hub import Hub
    from metier.hub.model import Caller, Release

MAX_TAGS = 1_000
MAX_REFERRED = 16
_NOTE = "org.opencontainers.image."


class StoredDocument(NamedTuple):
    """Bytes that are asked for by their digest."""

    data: bytes
    type: str


class OciRelease(NamedTuple):
    """A release as an artifact."""

    config: bytes
    manifest: bytes
    signatures: tuple[bytes, ...]
    """The envelopes of the publisher and of the hub."""


def oci_release(release: Release) -> OciRelease:
    """Write a release as an artifact: what the hub knows, and one layer with its files."""
    told = {
        "name": release.name,
        "description": " ".join(release.description.split()),
        "version": release.version,
    }
    config = oci_manifest.json_bytes_of(told)
    notes = {
        f"{_NOTE}title": release.name,
        f"{_NOTE}description": told["description"],
        f"{_NOTE}version": release.version,
        f"{_NOTE}source": str(release.provenance.get("source", "")),
        f"{_NOTE}revision": str(release.provenance.get("revision", "")),
        oci_manifest.SKILL_NAME: release.name,
    }
    layer = oci_manifest.Blob(
        oci_manifest.SKILL_LAYER_TYPE,
        f"sha256:{release.archive}",
        release.size,
        {oci_manifest.TITLE: f"{release.name}.tar.gz"},
    )
    manifest = oci_manifest.write_manifest(
        oci_manifest.SKILL_TYPE,
        blob_of(config, oci_manifest.SKILL_CONFIG_TYPE),
        [layer],
        {name: text for name, text in notes.items() if text},
    )
    envelopes = [one.encode() for one in (release.signature, release.vouch) if one]
    return OciRelease(config, manifest, tuple(envelopes))


def signature_manifests(found: OciRelease) -> list[bytes]:
    """Write a manifest for each signature, whose subject is the skill's own."""
    subject = blob_of(found.manifest, MANIFEST_TYPE)
    return [
        oci_manifest.write_manifest(
            oci_manifest.SIGNATURE_TYPE,
            blob_of(oci_manifest.EMPTY, oci_manifest.EMPTY_TYPE),
            [blob_of(envelope, oci_manifest.ENVELOPE_TYPE)],
            {},
            subject,
        )
        for envelope in found.signatures
    ]


def tag_of(version: str) -> str:
    """Give the tag of a version; a `+`, which versions may have, no tag may."""
    return version.replace("+", "_")


# --- what is there


def _given(hub: Hub, caller: Caller, namespace: str, name: str) -> list[Release]:
    """Give all releases that may be given to whoever names them exactly."""
    _skill, found = read_skill(hub, caller, namespace, name)
    return [one for one in found if one.state in GIVEN]


def find_manifest(hub: Hub, caller: Caller, namespace: str, name: str, ref: str) -> StoredDocument:
    """Give a manifest by its tag or its digest."""
    if ref == LATEST:
        found = given_release(hub, caller, namespace, name)
        return StoredDocument(oci_release(found).manifest, MANIFEST_TYPE)
    for one in _given(hub, caller, namespace, name):
        if not is_oci_digest(ref):
            if tag_of(one.version) == ref:
                return StoredDocument(oci_release(one).manifest, MANIFEST_TYPE)
            continue
        written = oci_release(one)
        for data in (written.manifest, *signature_manifests(written)):
            if digest_of(data) == ref:
                return StoredDocument(data, MANIFEST_TYPE)
    raise _nothing("manifest")


def find_blob(hub: Hub, caller: Caller, namespace: str, name: str, digest: str) -> StoredDocument:
    """Give a layer, a configuration or a signature."""
    for one in _given(hub, caller, namespace, name):
        if digest == f"sha256:{one.archive}":
            return StoredDocument(archive_of(hub, one), "application/octet-stream")
        written = oci_release(one)
        for data in (written.config, *written.signatures, oci_manifest.EMPTY):
            if digest == digest_of(data):
                return StoredDocument(data, "application/octet-stream")
    raise _nothing("blob")


def find_referrers(
    hub: Hub, caller: Caller, namespace: str, name: str, digest: str
) -> StoredDocument:
    """Give an index of the signatures of a manifest; an empty one where there are none."""
    entries = []
    for one in _given(hub, caller, namespace, name):
        written = oci_release(one)
        if digest_of(written.manifest) == digest:
            entries = [
                blob_of(data, MANIFEST_TYPE)._replace(artifact=oci_manifest.SIGNATURE_TYPE)
                for data in signature_manifests(written)[:MAX_REFERRED]
            ]
            break
    return StoredDocument(oci_manifest.write_index(entries), INDEX_TYPE)


def list_tags(hub: Hub, caller: Caller, namespace: str, name: str) -> tuple[str, list[str]]:
    """Give a repository's own name, and the versions that are offered, with `latest`."""
    skill, found = offered_releases(hub, caller, namespace, name)
    tags = sorted({LATEST, *(tag_of(one.version) for one in found)})
    return f"{skill.namespace.name}/{skill.name}", tags


def _nothing(what: str) -> NotFoundError:
    return NotFoundError(f"the repository has no such {what}", hint="check the tag and the digest")


# --- how it is said


def _refuse(request: Request, code: str, message: str) -> Response:
    """Say no as registries do. Whoever shows no token is asked for one, whether the thing is there or
    not.
    """
    unknown = caller_of(request).kind == "nobody"
    told = {
        "code": "UNAUTHORIZED" if unknown else code,
        "message": "log in to see it" if unknown else message,
    }
    headers = {"docker-distribution-api-version": "registry/2.0"}
    if unknown:
        headers["www-authenticate"] = CHALLENGE
    return JSONResponse({"errors": [told]}, 401 if unknown else 404, headers)


def _asked(
    code: str, act: Callable[[Request], Awaitable[Response]]
) -> Callable[[Request], Awaitable[Response]]:
    """Have what is not there said in a registry's words."""

    async def answer(request: Request) -> Response:
        try:
            return await act(request)
        except NotFoundError as error:
            return _refuse(request, code, error.message)

    return answer


async def _show_version(request: Request) -> Response:
    if caller_of(request).kind == "nobody":
        return _refuse(request, "UNAUTHORIZED", "")
    return JSONResponse({}, headers={"docker-distribution-api-version": "registry/2.0"})


def _document(found: StoredDocument) -> Response:
    headers = {
        "docker-content-digest": digest_of(found.data),
        "docker-distribution-api-version": "registry/2.0",
        "content-encoding": "identity",  # the digest is that of these bytes
    }
    return Response(found.data, media_type=found.type, headers=headers)


def _place(request: Request) -> tuple[str, str]:
    return request.path_params["ns"], request.path_params["name"]


async def _give_manifest(request: Request) -> Response:
    ref = request.path_params["ref"]
    return _document(await ask(request, find_manifest, *_place(request), ref))


async def _give_blob(request: Request) -> Response:
    digest = request.path_params["digest"]
    return _document(await ask(request, find_blob, *_place(request), digest))


async def _give_referrers(request: Request) -> Response:
    digest = request.path_params["digest"]
    return _document(await ask(request, find_referrers, *_place(request), digest))


async def _give_tags(request: Request) -> Response:
    repository, found = await ask(request, list_tags, *_place(request))
    after = request.query_params.get("last", "")
    most = max(1, min(number_in(request, "n", MAX_TAGS), MAX_TAGS))
    rest = [tag for tag in found if tag > after]
    headers = {}
    if len(rest) > most:
        following = f"/v2/{repository}/tags/list?n={most}&last={rest[most - 1]}"
        headers["link"] = f'<{following}>; rel="next"'
    return JSONResponse({"name": repository, "tags": rest[:most]}, headers=headers)


_REPOSITORY = "/v2/{ns}/{name}"
ROUTES = [
    Route("/v2", _show_version),
    Route("/v2/", _show_version),
    Route(f"{_REPOSITORY}/tags/list", _asked("NAME_UNKNOWN", _give_tags)),
    Route(f"{_REPOSITORY}/manifests/{{ref}}", _asked("MANIFEST_UNKNOWN", _give_manifest)),
    Route(f"{_REPOSITORY}/blobs/{{digest}}", _asked("BLOB_UNKNOWN", _give_blob)),
    Route(f"{_REPOSITORY}/referrers/{{digest}}", _asked("NAME_UNKNOWN", _give_referrers)),
]
