"""Hubs as a source: one release of a skill, held to its digest, to the hub's own signature under the
key that you first met it with, and to its entry in the log of approvals.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, NamedTuple

from metier.errors import IntegrityError, NotFoundError, RefusedError
from metier.standard.digest import TreeFile, tree_digest
from metier.standard.semver import read_range, read_version, satisfies
from metier.supply.approvals import MISMATCH, STATES, hash_of, prove_entry, said_in
from metier.supply.io.archive import ArchiveFile, ArchiveTree
from metier.supply.io.web import JoinedTree, WebTools
from metier.supply.model import Origin
from metier.supply.safe_names import check_items, printable
from metier.supply.sources.hub_names import place_of
from metier.supply.sources.source_name import canonical
from metier.trust.sign import Signed, verify_envelope

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from metier.ports import DiskCalls, Tree
    from metier.settings.model import SupplySettings
    from metier.supply.approvals import SeenHead
    from metier.supply.io.hub_client import HubClient
    from metier.supply.io.quarantine import Quarantine
    from metier.supply.model import Request

MAX_MIRRORED = 4
"""How many hubs in a row are heard of a release."""


class HubFetcher(NamedTuple):
    """Opens releases of hubs. What one resolves to is its version: that never changes."""

    limits: SupplySettings
    staging: str
    hands: DiskCalls
    client: HubClient
    key: Callable[[], str]
    """Gives the public key that the hub is known by."""
    known_head: Callable[[str], SeenHead | None]
    """Gives where the log of a namespace ended when you last saw it."""
    keep_head: Callable[[str, SeenHead], None]
    """Remembers that."""

    def open(self, request: Request) -> Tree:
        """Fetch the newest approved release that will do, and prove it."""
        place = place_of(request.location)
        version = self._choose(request)
        path = f"/skills/{place.namespace}/{place.name}/{version}"
        told = self.client.get(path)
        release = PromisedRelease(told, place.namespace, place.name, version)
        key = self.key().encode()
        release.check(key)
        self._check_log(place.namespace, release, key)
        data = self.client.archive(f"{path}/archive", self.limits.download_bytes)
        if hashlib.sha256(data).hexdigest() != release.archive:
            raise _other(f"the archive of {place.name} {version} has another hash")
        origin = Origin("hub", canonical(request), request.ref, version)
        tools = WebTools(self.limits, self.staging, self.hands, lambda: self.client.http)
        with tools.opening() as desk:
            file = desk.fresh()
            self.hands.write(file, iter((data,)), 0o600)
            archive = ArchiveFile(file, self.limits)
            try:
                inner = ArchiveTree(archive, origin, self.limits)
                _check_tree(inner, release, self.limits)
            except BaseException:
                archive.close()
                raise
            tree = HubTree(origin, [("", inner)], desk, self.limits)
        tree.learn(release)
        return tree

    def _check_log(self, namespace: str, release: PromisedRelease, key: bytes) -> None:
        """Refuse a release whose entry is not in the log that the hub signs, and a log that is not the
        one seen before with something added.
        """
        known = self.known_head(namespace)
        entry = self.client.entry(release.log)
        first = min(entry.number, known.size if known is not None else entry.number)
        log = self.client.log(namespace, max(1, first))
        self.keep_head(namespace, prove_entry(namespace, log, key, entry, known))

    def newest(self, request: Request) -> str:
        """Give the newest version that will do."""
        return self._choose(request, anew=True)

    def tags(self, request: Request) -> tuple[str, ...]:
        """Give the versions that are offered."""
        return tuple(_versions(self._skill(request)))

    def _skill(self, request: Request) -> dict[str, Any]:
        place = place_of(request.location)
        if not place.name:
            raise RefusedError(
                "a hub is no source by itself",
                code="choose",
                hint="name a skill: hub:NAMESPACE/NAME. See: metier search WORDS",
            )
        return self.client.get(f"/skills/{place.namespace}/{place.name}")

    def _choose(self, request: Request, *, anew: bool = False) -> str:
        """Give the version to take. One that is named exactly is taken even if it was yanked: a lock
        that has it still works.
        """
        exact = read_version(request.ref) if request.ref else None
        if exact is not None and not anew:
            return exact.text
        offered = _versions(self._skill(request))
        ranges = read_range(request.ref) if request.ref else ()
        good = [
            one
            for one in offered
            if (read := read_version(one)) is not None
            and (satisfies(read, ranges or ()) if request.ref else read.final)
        ]
        found = good or ([] if request.ref else offered)
        if not found:
            place = place_of(request.location)
            wanted = f" that is {request.ref}" if request.ref else ""
            raise NotFoundError(
                f"{place.namespace}/{place.name} has no approved version{wanted}",
                hint=f"it has {', '.join(offered[:5])}" if offered else "ask whoever publishes it",
            )
        return max(found, key=lambda one: read_version(one) or (0,))


def _versions(told: dict[str, Any]) -> list[str]:
    """Give the versions that a hub offers: approved, and written as versions are."""
    rows = told.get("releases")
    found = []
    for row in rows if isinstance(rows, list) else []:
        version = row.get("version") if isinstance(row, dict) else None
        if isinstance(version, str) and row.get("state") == "approved":
            read = read_version(version)
            if read is not None and read.text == version:
                found.append(version)
    return found


class PromisedRelease:
    """What a hub says of a release, read with suspicion."""

    def __init__(self, told: dict[str, Any], namespace: str, name: str, version: str) -> None:
        """Read it; nothing in it is believed before `check`."""
        self.namespace, self.name, self.version = namespace, name, version
        self.digest = _text(told, "digest")
        self.archive = _text(told, "archive")
        self.state = _text(told, "state")
        self.reason = _text(told, "reason")
        self.vouch = _text(told, "vouch")
        self.signature = _text(told, "signature")
        self.mirrored = _mirrored_vouches(told)
        log = told.get("log")
        self.log: dict[str, Any] = log if isinstance(log, dict) else {}
        if (_text(told, "namespace"), _text(told, "name"), _text(told, "version")) != (
            namespace,
            name,
            version,
        ):
            raise _other(f"the hub answers for another skill than {namespace}/{name} {version}")

    def check(self, key: bytes) -> None:
        """Refuse a release that the hub did not approve, or that somebody changed since."""
        if self.state not in {"approved", "yanked"}:
            raise RefusedError(
                f"{self.namespace}/{self.name} {self.version} is {printable(self.state)}, not approved",
                code="hub-state",
                hint="ask a reviewer of the hub",
            )
        signed = verify_envelope(self.vouch.encode("utf-8", "replace"), [key])
        good = isinstance(signed, Signed) and (signed.name, signed.digest) == (
            self.name,
            self.digest,
        )
        if not good:
            raise _other(
                f"the hub's signature of {self.name} {self.version} is not good under the key that "
                "you know it by"
            )
        entry, previous = _text(self.log, "entry"), _text(self.log, "previous")
        said = said_in(entry)
        told = [said.get(one) for one in ("namespace", "name", "version", "digest")]
        ours = [self.namespace, self.name, self.version, self.digest]
        state = STATES.get(str(said.get("what")))
        if hash_of(previous, entry) != _text(self.log, "hash") or told != ours:
            raise _other(f"the hub's log does not speak of {self.name} {self.version}")
        if state != self.state:
            raise _other(
                f"the hub's log does not say that {self.name} {self.version} is {self.state}"
            )


def _check_tree(tree: ArchiveTree, release: PromisedRelease, limits: SupplySettings) -> None:
    """Refuse an archive that unfolds to another tree than was approved."""
    items = check_items(tree.items(), limits)
    files = []
    for item, chunks in tree.contents(items):
        found, size = hashlib.sha256(), 0
        for chunk in chunks:
            found.update(chunk)
            size += len(chunk)
        files.append(TreeFile(item.path, size, found.digest(), item.mode == "exec"))
    if tree_digest(files) != release.digest:
        raise _other(f"{release.name} {release.version} unfolds to other files than were approved")


class HubTree(JoinedTree):
    """The files of a release, with the signatures that came along."""

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
        self._release: PromisedRelease | None = None

    def learn(self, release: PromisedRelease) -> None:
        """Know which release it is; one that was yanked is worth a remark."""
        self._release = release
        if release.state == "yanked":
            why = f": {printable(release.reason)}" if release.reason else ""
            self.problems.append(f"{release.name} {release.version} was yanked{why}")

    def envelopes(self) -> Sequence[bytes]:
        """Give the publisher's signature, the hub's, and those of hubs that it was mirrored from."""
        found = self._release
        told = (found.signature, found.vouch, *found.mirrored) if found is not None else ()
        return [one.encode("utf-8", "replace") for one in told if one]


def _mirrored_vouches(told: dict[str, Any]) -> tuple[str, ...]:
    """Give the signatures of hubs that a release was mirrored from."""
    provenance = told.get("provenance")
    rows = provenance.get("mirrored") if isinstance(provenance, dict) else None
    found = [
        _text(row, "vouch")
        for row in (rows if isinstance(rows, list) else ())
        if isinstance(row, dict)
    ]
    return tuple(found[:MAX_MIRRORED])


def _text(told: dict[str, Any], name: str) -> str:
    found = told.get(name)
    return found if isinstance(found, str) else ""


def _other(message: str) -> IntegrityError:
    return IntegrityError(message, code="digest", hint=MISMATCH)
