"""OCI registries as a source: an artifact's layers, each fetched into quarantine and held to its
digest, as one tree.

What a tag means is found out once; everything after that is asked for by digest.
"""

from __future__ import annotations

from contextlib import ExitStack
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from metier.errors import MetierError, RefusedError, SourceError
from metier.standard.semver import FIRST, read_version
from metier.supply.archives.compression import archive_kind
from metier.supply.archives.limits import malformed_error
from metier.supply.io.archive import HEAD_BYTES, ArchiveFile, ArchiveTree
from metier.supply.io.folder import FolderTree
from metier.supply.io.http import HttpClient
from metier.supply.io.registry import RegistryClient
from metier.supply.io.web import JoinedTree, WebTools
from metier.supply.model import Origin
from metier.supply.safe_names import printable, safe_path
from metier.supply.sources import oci_manifest
from metier.supply.sources.oci_manifest import Artifact
from metier.supply.sources.oci_names import DEFAULT_TAG, repository_of
from metier.supply.sources.proxies import safe_proxies
from metier.supply.sources.source_name import canonical

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from metier.ports import DiskCalls, Tree
    from metier.settings.model import SupplySettings
    from metier.supply.io.quarantine import Progress, Quarantine
    from metier.supply.model import Request
    from metier.supply.sources.oci_manifest import Blob, LayerUse

MAX_ENVELOPE_BYTES = 64 * 1024
MAX_ENVELOPES_BYTES = 16 * 1024 * 1024
"""Of all signatures of a collection together."""
PROGRESS_EVERY_LAYERS = 64
MAX_TAGS_TOLD = 5


class OciFetcher(NamedTuple):
    """Opens artifacts of registries. What one resolves to is the digest of its manifest."""

    limits: SupplySettings
    staging: str
    hands: DiskCalls
    env: Mapping[str, str]
    home: str
    progress: Progress = lambda _what, _count, _total: None

    def open(self, request: Request) -> Tree:
        """Fetch the layers of an artifact, or of those that an index lists, each below its name."""
        client = self._client(request)
        try:
            top, found = client.manifest(request.ref or DEFAULT_TAG)
        except SourceError as error:
            if request.ref or error.code != "not-found" or not (tags := client.tags()):
                raise
            raise _without_tag(request, tags) from error
        origin = Origin("oci", canonical(request), request.ref, top.digest)
        if isinstance(found, Artifact):
            named = {top.digest: ("", found)}
        else:
            wanted = request.path.strip("/").partition("/")[0]
            named = _listed(client, oci_manifest.chosen_entries(found, wanted))
        planned = [
            (name, oci_manifest.uses_of(artifact, self.limits)) for name, artifact in named.values()
        ]
        oci_manifest.check_sizes([use.blob for _name, uses in planned for use in uses], self.limits)
        tools = WebTools(self.limits, self.staging, self.hands, lambda: client.http)
        with tools.opening() as desk, ExitStack() as undo:
            parts: list[tuple[str, Tree]] = []
            for name, uses in planned:
                for tree in self._trees(client, uses, desk):
                    undo.callback(tree.close)
                    parts.append((_below(name, tree), tree))
            joint = OciTree(origin, parts, desk, self.limits)
            joint.client, joint.manifests = client, tuple(named)
            joint.is_collection = not isinstance(found, Artifact)
            undo.pop_all()
            return joint

    def newest(self, request: Request) -> str:
        """Give the digest that the tag has now."""
        return self._client(request).resolve(request.ref or DEFAULT_TAG)

    def tags(self, request: Request) -> tuple[str, ...]:
        """Give the names of all tags."""
        return self._client(request).tags()

    def _client(self, request: Request) -> RegistryClient:
        repository = repository_of(request.location)
        env = safe_proxies(repository.base.scheme, self.env)
        http = HttpClient(self.limits, named=(repository.base.place,), env=env)
        return RegistryClient(repository, http, self.env, self.home)

    def _trees(
        self, client: RegistryClient, uses: Sequence[LayerUse], desk: Quarantine
    ) -> Iterator[Tree]:
        """Fetch the layers of one artifact: an archive is a tree of its own, and so are all single
        files together.
        """
        folder = desk.fresh()
        made = {""}
        for count, use in enumerate(uses, 1):
            if use.path:
                if folder not in made:
                    self.hands.make(folder)
                    made.add(folder)
                path = safe_path(use.path)
                desk.make_folders(folder, path.rpartition("/")[0], made)
                client.save(use.blob, f"{folder}/{path}", self.hands)
            else:
                yield self._archive(client, use, desk.fresh())
            if count % PROGRESS_EVERY_LAYERS == 0:
                self.progress("layers", count, len(uses))
        if folder in made:
            yield FolderTree(folder, "", self.limits, "")

    def _archive(self, client: RegistryClient, use: LayerUse, path: str) -> Tree:
        client.save(use.blob, path, self.hands)
        file = ArchiveFile(path, self.limits)
        try:
            _check_packing(use, file)
            tree = ArchiveTree(file, Origin("oci", ""), self.limits)
            for item in tree.items():
                oci_manifest.check_layer_path(item.path)
        except BaseException:
            file.close()
            raise
        return tree


def _without_tag(request: Request, tags: Sequence[str]) -> SourceError:
    """Say which tags there are to somebody who named none."""
    named = sorted(tags, key=lambda tag: (read_version(tag) or FIRST, tag))[-MAX_TAGS_TOLD:]
    more = len(tags) - len(named)
    return SourceError(
        f"{printable(request.location)} has no tag '{DEFAULT_TAG}'",
        hint=f"name a tag: {printable(request.location)}:{named[-1]}. It has "
        + ", ".join(reversed(named))
        + (f" and {more:,} more" if more > 0 else ""),
        code="not-found",
    )


def _check_packing(use: LayerUse, file: ArchiveFile) -> None:
    if not oci_manifest.is_packed_as(use.packing, archive_kind(file.at(0, HEAD_BYTES))):
        raise malformed_error(f"its layer is not what {printable(use.blob.type)} says")


def _listed(
    client: RegistryClient, entries: Sequence[tuple[str, Blob]]
) -> dict[str, tuple[str, Artifact]]:
    """Fetch the manifests that an index lists; give each by its digest, with its name."""
    named: dict[str, tuple[str, Artifact]] = {}
    left = oci_manifest.MAX_COLLECTION_BYTES
    for name, entry in entries:
        blob, found = client.manifest(entry.digest)
        if not isinstance(found, Artifact):
            raise SourceError(
                "an index of the registry lists another index",
                hint="name the tag of a skill",
                code="malformed",
            )
        left -= blob.size
        if left < 0:
            raise RefusedError(
                "the manifests that the index lists are too large together",
                hint="name the tag of a skill",
                code="too-large",
            )
        named[entry.digest] = name, found
    return named


def _below(name: str, tree: Tree) -> str:
    """Give the folder that a skill of a collection goes below: none where it has one of its name."""
    return "" if name and all(item.path.startswith(f"{name}/") for item in tree.items()) else name


class OciTree(JoinedTree):
    """The layers of artifacts as one tree, and the signatures that the registry has of them."""

    client: RegistryClient
    manifests: tuple[str, ...] = ()
    is_collection = False
    """Whether an index lists several skills."""

    def __init__(
        self,
        origin: Origin,
        parts: Sequence[tuple[str, Tree]],
        desk: Quarantine,
        limits: SupplySettings,
    ) -> None:
        """Begin without anything to complain about."""
        super().__init__(origin, parts, desk, limits)
        self.problems: list[str] = []
        self._envelopes: list[bytes] | None = None

    def envelopes(self) -> Sequence[bytes]:
        """Fetch the envelopes that refer to these artifacts; what cannot be had proves nothing."""
        if self._envelopes is None:
            self._envelopes = []
            left = MAX_ENVELOPES_BYTES
            try:
                for one in chain.from_iterable(map(self._of, self.manifests)):
                    left -= len(one)
                    if left < 0:
                        self.problems.append(f"{self.origin.source} has too many signatures")
                        break
                    self._envelopes.append(one)
            except MetierError as error:
                self.problems.append(
                    f"the signatures of {self.origin.source} cannot be read: {error.message}"
                )
        return self._envelopes

    def _of(self, digest: str) -> Iterator[bytes]:
        for entry in self.client.signatures(digest):
            _blob, found = self.client.manifest(entry.digest)
            if isinstance(found, Artifact) and found.subject == digest:
                for layer in found.layers[: oci_manifest.MAX_SIGNATURES_READ]:
                    if layer.type == oci_manifest.ENVELOPE_TYPE:
                        yield self.client.read(layer, MAX_ENVELOPE_BYTES)
