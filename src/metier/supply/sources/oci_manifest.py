"""Reads and writes the documents of OCI registries: manifests and indexes, as a stranger's words.
Pure.

There is no settled media type for skills. What is read: the proposed one of Agent Skills, and any
artifact or image whose layers are tar archives or, as oras writes them, one file each.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, NamedTuple

from metier.errors import RefusedError, SourceError
from metier.store.record_fields import load_strict
from metier.supply.model import Item
from metier.supply.safe_names import check_items, printable, safe_name
from metier.supply.sources.oci_names import is_blob_digest
from metier.supply.sources.source_name import ARCHIVE_ENDINGS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from metier.model import JsonObject
    from metier.settings.model import SupplySettings

MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json"
INDEX_TYPE = "application/vnd.oci.image.index.v1+json"
_MANIFESTS = frozenset({MANIFEST_TYPE, "application/vnd.docker.distribution.manifest.v2+json"})
_INDEXES = frozenset({INDEX_TYPE, "application/vnd.docker.distribution.manifest.list.v2+json"})
ACCEPTED = ", ".join(sorted(_MANIFESTS | _INDEXES))

SKILL_TYPE = "application/vnd.agentskills.skill.v1"
SKILL_CONFIG_TYPE = "application/vnd.agentskills.skill.config.v1+json"
SKILL_LAYER_TYPE = "application/vnd.agentskills.skill.content.v1.tar+gzip"
SIGNATURE_TYPE = "application/vnd.metier.skill.signature.v1"
ENVELOPE_TYPE = "application/vnd.dsse.envelope.v1+json"
EMPTY_TYPE = "application/vnd.oci.empty.v1+json"
EMPTY = b"{}"

TITLE = "org.opencontainers.image.title"
SKILL_NAME = "io.agentskills.skill.name"
_UNPACK = "io.deis.oras.content.unpack"

MAX_MANIFEST_BYTES = 4 * 1024 * 1024
"""What the specification has registries take at most."""
MAX_COLLECTION_BYTES = 8 * MAX_MANIFEST_BYTES
"""Of all manifests of a collection together, for all are held at once."""
MAX_LAYERS = 10_000
MAX_ARCHIVE_LAYERS = 128
MAX_INDEX_ENTRIES = 1_000
MAX_SIGNATURES_READ = 16
_PACKINGS = {
    "tar+gzip": "gzip",
    "tar.gzip": "gzip",
    "tar+zstd": "zstd",
    "tar+xz": "xz",
    "tar": "tar",
    "+zip": "zip",
    "/zip": "zip",
    "/gzip": "gzip",
    "/x-gzip": "gzip",
    "/x-tar": "tar",
}
"""How the media type of an archive ends, and what its bytes are."""
_ANY_ARCHIVE = "any"


class Blob(NamedTuple):
    """A blob or a document as a manifest names it."""

    type: str
    digest: str
    size: int
    annotations: Mapping[str, str]
    artifact: str = ""
    platform: str = ""
    """`os/architecture`, where one is given."""

    def as_json(self) -> JsonObject:
        """Give it as a manifest writes it."""
        row: JsonObject = {"mediaType": self.type, "digest": self.digest, "size": self.size}
        if self.artifact:
            row["artifactType"] = self.artifact
        return row | ({"annotations": dict(self.annotations)} if self.annotations else {})


class Artifact(NamedTuple):
    """A manifest: what it is, and its layers in order."""

    layers: tuple[Blob, ...]
    artifact: str
    subject: str
    annotations: Mapping[str, str]


class ArtifactIndex(NamedTuple):
    """A list of manifests: one skill for several platforms, or a collection."""

    entries: tuple[Blob, ...]


class LayerUse(NamedTuple):
    """What a layer is for: a file of its own, or an archive of many."""

    blob: Blob
    path: str
    """Where the file goes; nothing for an archive."""
    packing: str = ""
    """What the bytes of an archive have to be."""


def digest_of(data: bytes) -> str:
    """Give the digest under which a registry keeps bytes."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def blob_of(data: bytes, media_type: str, annotations: Mapping[str, str] | None = None) -> Blob:
    """Give what a manifest says of bytes."""
    return Blob(media_type, digest_of(data), len(data), annotations or {})


# --- reading


def read_manifest(data: bytes, said: str) -> Artifact | ArtifactIndex:
    """Read a document; `said` is the type that the registry announced. One thing that cannot be
    believed makes all of it unbelievable.
    """
    try:
        found = load_strict(data)
    except (ValueError, RecursionError) as error:
        raise _broken("it is not JSON, or says something twice") from error
    if not isinstance(found, dict) or found.get("schemaVersion") != 2:
        raise _broken("it is not a manifest of version 2")
    announced = said.partition(";")[0].strip().lower()
    kind = found.get("mediaType") or announced or MANIFEST_TYPE
    if not isinstance(kind, str) or (
        announced in _MANIFESTS | _INDEXES and "mediaType" in found and announced != kind
    ):
        raise _broken("its type is not the one that was announced")
    if kind in _INDEXES:
        if "layers" in found or "config" in found:
            raise _broken("it is both a manifest and an index")
        return ArtifactIndex(_blobs(found.get("manifests"), "manifests", MAX_INDEX_ENTRIES))
    if kind not in _MANIFESTS:
        raise _broken(f"'{printable(kind)}' is not a type that is read")
    if "manifests" in found:
        raise _broken("it is both a manifest and an index")
    config = _blob(found.get("config"))
    subject = _blob(found["subject"]).digest if found.get("subject") is not None else ""
    artifact = found.get("artifactType") or config.type
    return Artifact(
        _blobs(found.get("layers"), "layers", MAX_LAYERS),
        artifact if isinstance(artifact, str) else "",
        subject,
        _texts(found.get("annotations")),
    )


def _blobs(found: Any, what: str, most: int) -> tuple[Blob, ...]:
    if not isinstance(found, list):
        raise _broken(f"it has no list of {what}")
    if len(found) > most:
        raise RefusedError(
            f"the manifest lists {len(found):,} {what}",
            hint=f"at most {most:,} are read",
            code="too-many",
        )
    return tuple(_blob(one) for one in found)


def _blob(found: Any) -> Blob:
    if not isinstance(found, dict):
        raise _broken("a blob in it is not described")
    digest, size, kind = found.get("digest"), found.get("size"), found.get("mediaType")
    if not is_blob_digest(digest):
        raise _broken("a digest in it is not sha256 and 64 digits of hexadecimal")
    if not isinstance(size, int) or isinstance(size, bool) or not 0 <= size < 1 << 62:
        raise _broken("a size in it is not a number of bytes")
    if not isinstance(kind, str) or not kind or len(kind) > 255:
        raise _broken("a media type in it is missing")
    artifact = found.get("artifactType")
    platform = found.get("platform")
    return Blob(
        kind,
        str(digest),
        size,
        _texts(found.get("annotations")),
        artifact if isinstance(artifact, str) else "",
        f"{platform.get('os')}/{platform.get('architecture')}"
        if isinstance(platform, dict)
        else "",
    )


def _texts(found: Any) -> Mapping[str, str]:
    if found is None:
        return {}
    if not isinstance(found, dict) or not all(isinstance(one, str) for one in found.values()):
        raise _broken("its annotations are not texts")
    return found


def uses_of(artifact: Artifact, limits: SupplySettings) -> tuple[LayerUse, ...]:
    """Say what each layer is for, and refuse what cannot be a skill before a byte of it is
    fetched.
    """
    found = tuple(_use_of(layer, alone=len(artifact.layers) == 1) for layer in artifact.layers)
    if sum(not use.path for use in found) > MAX_ARCHIVE_LAYERS:
        raise RefusedError(
            f"the manifest has more than {MAX_ARCHIVE_LAYERS} archives",
            hint="pack the skill into one layer",
            code="too-many",
        )
    check_items([Item(use.path, use.blob.size, "file") for use in found if use.path], limits)
    return found


def check_sizes(layers: Iterable[Blob], limits: SupplySettings) -> None:
    """Refuse layers that are too large together, before the first is fetched."""
    total = sum(layer.size for layer in layers)
    if total > limits.download_bytes:
        raise RefusedError(
            f"the layers have {total:,} bytes",
            hint=f"supply.download_bytes allows {limits.download_bytes:,}",
            code="too-large",
        )


def _use_of(layer: Blob, *, alone: bool) -> LayerUse:
    """Tell an archive from a file: oras writes a file's name as its title, gives the file the type
    of a plain tar whatever it is, and marks a folder that it packed.
    """
    title = layer.annotations.get(TITLE, "")
    kind = layer.type.partition(";")[0].strip().lower()
    packing = next((what for end, what in _PACKINGS.items() if kind.endswith(end)), "")
    if layer.annotations.get(_UNPACK) == "true":
        return LayerUse(layer, "", packing if packing not in {"", "tar"} else _ANY_ARCHIVE)
    if not title:
        if not packing:
            raise RefusedError(
                f"a layer is of the type '{printable(layer.type)}', and no title names its file",
                hint="a skill's layer is a tar archive, or a file with a title",
                code="malformed",
            )
        return LayerUse(layer, "", packing)
    if "tar+" in kind or "tar." in kind:
        return LayerUse(layer, "", packing)
    if alone and title.lower().endswith(ARCHIVE_ENDINGS):
        return LayerUse(layer, "", _ANY_ARCHIVE)
    return LayerUse(layer, title)


def is_packed_as(packing: str, found: str) -> bool:
    """Tell whether the bytes of an archive are what its media type says."""
    return bool(found) and packing in {found, _ANY_ARCHIVE}


def chosen_entries(index: ArtifactIndex, wanted: str) -> tuple[tuple[str, Blob], ...]:
    """Give the manifests to fetch, each below a name: one of several platforms, which hold the same
    skill, or all of a collection, or the one that is `wanted`.
    """
    entries = [
        one for one in index.entries if one.type in _MANIFESTS and "unknown" not in one.platform
    ]
    if not entries:
        raise SourceError(
            "the index lists no manifest of a skill", hint="name another tag", code="no-skill"
        )
    if all(one.platform for one in entries):
        usual = next((one for one in entries if one.platform == "linux/amd64"), entries[0])
        return (("", usual),)
    if len(entries) == 1:
        return (("", entries[0]),)
    named = [(_name_in_index(one), one) for one in entries]
    if len({name for name, _one in named}) != len(named):
        raise RefusedError(
            "the index names a skill twice",
            hint="its publisher has to correct it",
            code="collision",
        )
    kept = [(name, one) for name, one in named if name == wanted] if wanted else []
    return tuple(kept or named)


def _name_in_index(blob: Blob) -> str:
    name = blob.annotations.get(SKILL_NAME) or blob.annotations.get(TITLE)
    return safe_name(name or blob.digest.removeprefix("sha256:")[:16])


def check_layer_path(path: str) -> None:
    """Refuse an entry that takes away a file of a layer below: only images do that."""
    if path.rstrip("/").rpartition("/")[2].startswith(".wh."):
        raise RefusedError(
            f"'{printable(path)}' removes a file of another layer",
            hint="pack the skill into one layer",
            code="unsafe-entry",
        )


def signatures_in(entries: Iterable[Blob]) -> tuple[Blob, ...]:
    """Give the manifests that say they hold a signature by metier; not too many."""
    found = (one for one in entries if one.artifact == SIGNATURE_TYPE and one.type in _MANIFESTS)
    return tuple(found)[:MAX_SIGNATURES_READ]


def _broken(why: str) -> SourceError:
    return SourceError(
        f"the registry's manifest cannot be read: {why}",
        hint="its publisher has to correct it",
        code="malformed",
    )


# --- writing


def write_manifest(
    artifact: str,
    config: Blob,
    layers: Sequence[Blob],
    annotations: Mapping[str, str],
    subject: Blob | None = None,
) -> bytes:
    """Give the bytes of a manifest, the same for the same parts every time."""
    document: JsonObject = {
        "schemaVersion": 2,
        "mediaType": MANIFEST_TYPE,
        "artifactType": artifact,
        "config": config.as_json(),
        "layers": [layer.as_json() for layer in layers],
    }
    if subject is not None:
        document["subject"] = subject.as_json()
    if annotations:
        document["annotations"] = dict(annotations)
    return json_bytes_of(document)


def write_index(entries: Sequence[Blob]) -> bytes:
    """Give the bytes of an index."""
    return json_bytes_of(
        {
            "schemaVersion": 2,
            "mediaType": INDEX_TYPE,
            "manifests": [one.as_json() for one in entries],
        }
    )


def json_bytes_of(document: JsonObject) -> bytes:
    """Write JSON the same way every time."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
