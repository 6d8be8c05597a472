"""One version of a skill, wherever it lies, as files and their bytes: what is compared, merged and asked what it may do."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from metier.discover.heads import SIDECAR_BYTES
from metier.errors import MetierError, NotFoundError
from metier.standard.document import read_document
from metier.standard.sidecar import read_sidecar
from metier.store.disk import Store
from metier.supplies import Refusal
from metier.supply.capabilities import capabilities
from metier.supply.files.disk import small
from metier.supplying import pinning, places

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from metier.app import Library
    from metier.model import Document, Finding
    from metier.standard.digest import TreeFile
    from metier.supplies import Pin
    from metier.supply.quarantine.disk import Desk
    from metier.supplying.places import Place

MOST_DOCUMENT = 1 << 20
"""How much of a SKILL.md is read to see what it declares."""
MOST_FILE = 4 << 30
_SIDECAR = "agents/openai.yaml"


class Version(NamedTuple):
    """The files of a tree by path, and how each is read."""

    digest: str
    files: Mapping[str, TreeFile]
    read: Callable[[str], bytes]


def kept(store: Store, digest: str) -> Version:
    """Give a tree of a store."""
    files = {file.path: file for file in store.files(digest)}
    return Version(digest, files, lambda path: b"".join(store.blobs.verified(files[path])))


def laid_out(folder: str, files: Sequence[TreeFile], digest: str) -> Version:
    """Give a tree that lies in quarantine, where nobody else writes."""
    return Version(digest, {file.path: file for file in files}, partial(_from_folder, folder))


def _from_folder(folder: str, path: str) -> bytes:
    data = small(f"{folder}/{path}", MOST_FILE)
    if data is None:
        raise NotFoundError(f"{path!r} is gone from {folder}", code="changed")
    return data


def snapshot(library: Library, desk: Desk, folder: str) -> Version:
    """Give a working copy as it is at this moment; what is edited later does not change it. Nothing is kept beyond the desk."""
    store = Store(desk.fresh(), library.home, places.hands_of(library))
    return kept(store, store.keep(folder))


def base_of(library: Library, place: Place, desk: Desk, pin: Pin) -> Version | Refusal:
    """Give the tree that the next merge starts from: of the store, or fetched once more where this machine never had it."""
    store = places.store_of(library)
    if store.has(pin.base):
        return kept(store, pin.base)
    try:
        laid = pinning.restored(library, place, desk, pin)
    except MetierError as error:
        return Refusal(pin.name, (f"{error.code}: {error.message}",))
    if isinstance(laid, Refusal) or laid.digest != pin.base:
        return laid if isinstance(laid, Refusal) else Refusal(pin.name, ("the version it comes from cannot be had any more",))
    return laid_out(laid.folder, laid.files, laid.digest)


def called(version: Version, name: str) -> str:
    """Give what a version calls itself in its own file; `name` where it says nothing."""
    document = _document(version, name)
    return document.name if document is not None else name


def _document(version: Version, folder: str) -> Document | None:
    file = next((path for path in ("SKILL.md", *sorted(version.files)) if path.lower() == "skill.md" and path in version.files), "")
    data = version.read(file)[:MOST_DOCUMENT] if file else b""
    return read_document(data, folder=folder, file=file, size=len(data)) if file else None


def abilities(version: Version, findings: Iterable[Finding]) -> frozenset[str]:
    """Say what a version may do."""
    document = _document(version, "")
    sidecar = version.files.get(_SIDECAR)
    beside = read_sidecar(version.read(_SIDECAR)) if sidecar is not None and sidecar.size < SIDECAR_BYTES else None
    files = ((path, one.mode) for path, one in version.files.items())
    return capabilities(document.fields if document else {}, files, findings, beside)
