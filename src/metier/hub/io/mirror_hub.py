"""A hub at either end of a mirror, asked as every client asks it. What comes from another hub is
published there: the hub reads, scans and decides about it itself, and keeps who vouched for it.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from metier.errors import IntegrityError, NotFoundError
from metier.hub.mirrored import proof_of
from metier.supply import hubs
from metier.supply.push_hub import send_archive

if TYPE_CHECKING:
    from metier.context import Context
    from metier.supply.approvals import LogCopy

PAGE = 100
MAX_SKILLS = 100_000


class MirrorHub:
    """Reads from a hub, and publishes to it."""

    def __init__(self, context: Context, base: str) -> None:
        """Know where it is; it has to have the key that it is known by."""
        self.context, self.base = context, base
        self.client = hubs.client_for(context, base)
        self.client.http.progress = lambda _what, _count, _total: None
        self._about: dict[str, Any] = {}
        self._from: dict[str, Any] = {}
        self._known: dict[tuple[str, str], dict[str, str]] = {}

    # --- reading

    def about(self) -> dict[str, Any]:
        """Say which hub it is."""
        if not self._about:
            known = hubs.meet(self.context, self.base)
            found = self.client.about()
            if found["key"] != known:
                raise IntegrityError(
                    f"{self.base} has another key than the one you know it by",
                    code="hub-key-changed",
                    hint="ask its admins whether they changed it. Then: metier login URL --accept-key",
                )
            self._about = found
        return self._about

    def names(self, namespace: str) -> list[str]:
        """List the skills of a namespace that have an approved release."""
        found: list[str] = []
        while len(found) < MAX_SKILLS:
            told = self.client.get(f"/skills/{namespace}", limit=PAGE, offset=len(found))
            rows = _rows(told, "skills")
            found += [str(row.get("name", "")) for row in rows]
            if len(rows) < PAGE:
                break
        return sorted(set(found))

    def releases(self, namespace: str, name: str) -> list[dict[str, Any]]:
        """List the releases of a skill."""
        return _rows(self.client.get(f"/skills/{namespace}/{name}"), "releases")

    def release(self, namespace: str, name: str, version: str) -> dict[str, Any]:
        """Give a release."""
        return self.client.get(f"/skills/{namespace}/{name}/{version}")

    def archive(self, told: dict[str, Any]) -> bytes:
        """Give an archive."""
        path = f"/skills/{told['namespace']}/{told['name']}/{told['version']}/archive"
        return self.client.archive(path, self.context.settings.supply.download_bytes)

    def log(self, namespace: str) -> LogCopy:
        """Give the log of a namespace."""
        return self.client.log(namespace)

    # --- publishing

    def begin(self, about: dict[str, Any]) -> None:
        """Know whom the releases come from."""
        self.about()
        self._from = about

    def state_of(self, told: dict[str, Any]) -> str:
        """Give the state of a release that the hub has with the same files."""
        place = (told["namespace"], told["name"])
        if place not in self._known:
            try:
                rows = self.releases(*place)
            except NotFoundError:
                rows = []
            self._known[place] = {
                f"{row.get('version')} {row.get('digest')}": str(row.get("state")) for row in rows
            }
        return self._known[place].get(f"{told['version']} {told['digest']}", "")

    def put(self, told: dict[str, Any], data: bytes) -> str:
        """Publish a release, with what proves that the other hub approved it."""
        sha256 = hashlib.sha256(data).hexdigest()
        send_archive(self.context, self.client, sha256, data)
        provenance = told.get("provenance") or {}
        done = self.client.send_json(
            "POST",
            f"/skills/{told['namespace']}/{told['name']}/releases",
            {
                "archive": sha256,
                "version": told["version"],
                "provenance": {
                    "source": str(provenance.get("source", "")),
                    "revision": str(provenance.get("revision", "")),
                    "mirrored": proof_of(self._from, told),
                },
                "signature": str(told.get("signature", "")),
            },
        )
        return str(done.get("state", ""))

    def withdraw(self, told: dict[str, Any]) -> bool:
        """Yank what the other hub has yanked."""
        if self.state_of(told) != "approved":
            return False
        why = " ".join(str(told.get("reason", "")).split())[:500]
        self.client.send_json(
            "POST",
            f"/skills/{told['namespace']}/{told['name']}/{told['version']}/yank",
            {"reason": f"yanked where it was mirrored from: {why}"},
        )
        return True

    def known_log(self, namespace: str) -> LogCopy | None:
        """Give nothing: a hub keeps the entries of what it was given, and no other hub's log."""
        del namespace
        return None

    def put_log(self, namespace: str, log: LogCopy) -> None:
        """Keep nothing: the hub writes a log of its own."""


def _rows(told: dict[str, Any], name: str) -> list[dict[str, Any]]:
    rows = told.get(name)
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
