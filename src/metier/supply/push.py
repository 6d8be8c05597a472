"""`push`: a skill as an artifact in an OCI registry, the same bytes and the same digest for the same
skill, and its signature with it; or as a version on a hub.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from metier.audit import log
from metier.errors import SourceError, UsageError
from metier.standard.document import read_document
from metier.supply.archives.write_tar import pack_tar_gz
from metier.supply.io.http import HttpClient
from metier.supply.io.registry import RegistryClient
from metier.supply.publish import read_fit, skill_folder
from metier.supply.sources import oci_manifest, oci_names
from metier.supply.sources.addresses import check_text, url_for_message
from metier.supply.sources.oci_manifest import EMPTY, EMPTY_TYPE, SIGNATURE_TYPE, blob_of
from metier.supply.sources.proxies import safe_proxies
from metier.trust import sign
from metier.trust.assess import signed
from metier.trust.io import key_files

if TYPE_CHECKING:
    from typing import Any, Literal

    from metier.context import Context
    from metier.supply.model import Request
    from metier.supply.publish import FitSkill
    from metier.supply.sources.oci_manifest import Blob

    PushState = Literal["pushed", "unchanged", "moved", "approved", "pending", "rejected"]

_NOTE = "org.opencontainers.image."
MAX_ANNOTATION_CHARS = 4096


class PushOptions(NamedTuple):
    """What somebody adds to a skill that is pushed."""

    source: str = ""
    """Where its source lies, for the artifact's annotations."""
    revision: str = ""
    """Which revision of that source it is."""
    sign: bool = False
    key: str = ""
    """The key to sign with; nothing means the only one there is."""
    version: str = ""
    """The version that it becomes on a hub; nothing means its own, or the next one."""


class PushedSkill(NamedTuple):
    """A skill that is in a registry now."""

    name: str
    version: str
    """As its own file says; nothing where it says none."""
    digest: str
    """Of its manifest: what to write after `@` to name these bytes for ever."""
    state: PushState
    """`unchanged` where the tag had these bytes, and `moved` where it had others. On a hub, what was
    decided about it."""
    to: str
    """The repository and the tag."""
    tree: str
    """The digest of the skill itself, which a lock has and a signature is about."""
    signature: str = ""
    """The key whose signature went along."""
    level: str = ""
    """What a hub's scan says of it."""
    reason: str = ""
    """Why a hub rejected it."""
    findings: int = 0


class _ArtifactParts(NamedTuple):
    layer: bytes
    config: bytes
    manifest: bytes
    version: str


def push(context: Context, path: str, to: str, wish: PushOptions) -> PushedSkill:
    """Bring a skill to a registry or a hub. What `pack` refuses is refused here too, before anything
    is sent.
    """
    if not oci_names.is_oci(to.strip()):
        from metier.supply.push_hub import push_to_hub

        return push_to_hub(context, path, to, wish)
    request = _target(to)
    folder = skill_folder(context, path)
    skill = read_fit(context, folder)
    parts = _parts(skill, wish)
    tag = request.ref or _tag_of(parts.version)
    if wish.sign:
        sign.sign_skill(context, folder, wish.key)
    repository = oci_names.repository_of(request.location)
    limits = context.settings.supply
    env = safe_proxies(repository.base.scheme, context.env)
    http = HttpClient(limits, named=(repository.base.place,), env=env)
    client = RegistryClient(repository, http, context.env, context.home or "", push=True)
    digest = oci_manifest.digest_of(parts.manifest)
    before = _digest_at(client, tag)
    if before != digest:
        for data in (parts.layer, parts.config):
            client.put_blob(data, oci_manifest.digest_of(data))
        client.put_manifest(parts.manifest, tag)
        _check_arrived(client, tag, digest)
    subject = blob_of(parts.manifest, oci_manifest.MANIFEST_TYPE)
    key = _attach_signature(context, client, skill, subject)
    state: PushState = "unchanged" if before == digest else "moved" if before else "pushed"
    aim = f"{request.location}:{tag}"
    log.record(context, "push", "done", name=skill.name, digest=skill.digest, path=aim, key=key)
    return PushedSkill(
        name=skill.name,
        version=parts.version,
        digest=digest,
        state=state,
        to=aim,
        tree=skill.digest,
        signature=key,
    )


def _target(to: str) -> Request:
    text = check_text(to.strip(), "a registry")
    if not oci_names.is_oci(text):
        raise UsageError(
            f"'{url_for_message(text)}' is not a place that skills are pushed to",
            code="unknown-source",
            hint="write --to oci://host/repository:tag",
        )
    request = oci_names.parse_oci(text)
    if request.path or oci_names.is_oci_digest(request.ref):
        raise UsageError("a skill is pushed to a tag", hint="write --to oci://host/repository:tag")
    return request


def _tag_of(version: str) -> str:
    """Give the tag of a version; a `+`, which versions may have, no tag may."""
    tag = version.replace("+", "_")
    try:
        return oci_names.check_oci_ref(tag) if tag else oci_names.DEFAULT_TAG
    except UsageError:
        return oci_names.DEFAULT_TAG


def _parts(skill: FitSkill, wish: PushOptions) -> _ArtifactParts:
    """Make the artifact: one layer with the skill's folder, what its own file says of it as the
    configuration, and annotations.
    """
    head = next(file for file in skill.files if file.path.lower() == "skill.md")
    document = read_document(head.data, folder=skill.name, file=head.path)
    fields = document.fields if document is not None else {}
    found = fields.get("metadata")
    metadata: dict[str, Any] = found if isinstance(found, dict) else {}
    version = _text(fields.get("version") or metadata.get("version"))
    licence = _text(fields.get("license"))
    layer = pack_tar_gz(file._replace(path=f"{skill.name}/{file.path}") for file in skill.files)
    notes = {
        f"{_NOTE}title": skill.name,
        f"{_NOTE}description": _text(skill.description),
        f"{_NOTE}version": version,
        f"{_NOTE}licenses": licence,
        f"{_NOTE}source": _text(url_for_message(wish.source) if wish.source else ""),
        f"{_NOTE}revision": _text(wish.revision),
        oci_manifest.SKILL_NAME: skill.name,
    }
    config = oci_manifest.json_bytes_of(
        _told(name=skill.name, description=skill.description, version=version, license=licence)
    )
    manifest = oci_manifest.write_manifest(
        oci_manifest.SKILL_TYPE,
        blob_of(config, oci_manifest.SKILL_CONFIG_TYPE),
        [
            blob_of(
                layer,
                oci_manifest.SKILL_LAYER_TYPE,
                {oci_manifest.TITLE: f"{skill.name}.tar.gz"},
            )
        ],
        {name: text for name, text in notes.items() if text},
    )
    return _ArtifactParts(layer, config, manifest, version)


def _text(value: Any) -> str:
    """Give what a field says as one line of an annotation."""
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        return ""
    return " ".join(str(value).split())[:MAX_ANNOTATION_CHARS]


def _told(**fields: str) -> dict[str, str]:
    return {name: text for name, text in fields.items() if text}


def _digest_at(client: RegistryClient, tag: str) -> str:
    try:
        return client.resolve(tag)
    except SourceError as error:
        if error.code != "not-found":
            raise
        return ""


def _check_arrived(client: RegistryClient, tag: str, digest: str) -> None:
    """Ask for what was sent: a registry that gives something else for it has not taken it."""
    client.manifest(digest)
    if client.resolve(tag) != digest:
        raise SourceError(
            f"the tag {tag} means something else already: somebody pushed at the same time",
            code="changed",
            hint="try again",
        )


def _attach_signature(
    context: Context, client: RegistryClient, skill: FitSkill, subject: Blob
) -> str:
    """Attach the signature that this machine has of these bytes; give its key."""
    envelope = key_files.read_signature(context.data, skill.digest)
    by = signed(context, skill.name, skill.digest)
    if envelope is None or by is None:
        return ""
    layer = blob_of(envelope, oci_manifest.ENVELOPE_TYPE)
    data = oci_manifest.write_manifest(
        SIGNATURE_TYPE, blob_of(EMPTY, EMPTY_TYPE), [layer], {}, subject
    )
    digest = oci_manifest.digest_of(data)
    if any(one.digest == digest for one in client.signatures(subject.digest)):
        return by.key
    for blob in (EMPTY, envelope):
        client.put_blob(blob, oci_manifest.digest_of(blob))
    client.attach(data, subject.digest)
    return by.key
