"""Asks a hub: its JSON interface over the careful HTTP client. A token goes to the hub that it is for,
and nowhere else: no redirection is followed.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import quote

from metier import __version__
from metier.errors import (
    IntegrityError,
    MetierError,
    NotFoundError,
    RefusedError,
    SourceError,
    UsageError,
)
from metier.standard.characters import escape_for_terminal
from metier.supply.approvals import LogCopy, LogEntry
from metier.supply.io.http import MAX_PAGE_BYTES, HttpClient
from metier.supply.sources.addresses import parse_url
from metier.supply.sources.oci_names import is_this_machine
from metier.supply.sources.proxies import safe_proxies

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from metier.settings.model import SupplySettings
    from metier.supply.io.http import HttpAnswer
    from metier.supply.io.quarantine import Progress

MAX_TOLD_CHARS = 400
LOG_PAGE = 1000
MAX_ENTRIES = 1_000_000
API = "/api/v1"
_KINDS: Mapping[int, type[MetierError]] = {
    400: UsageError,
    401: RefusedError,
    403: RefusedError,
    404: NotFoundError,
    409: RefusedError,
    413: RefusedError,
    422: RefusedError,
    429: RefusedError,
}


class HubClient:
    """Asks one hub, as one person or as nobody."""

    def __init__(
        self,
        base: str,
        token: str,
        limits: SupplySettings,
        env: Mapping[str, str],
        progress: Progress = lambda _what, _count, _total: None,
    ) -> None:
        """Know where the hub is. Whoever names a hub may have it inside their own network."""
        at = parse_url(f"{base}/")
        if any(not "!" <= letter <= "~" for letter in token):
            raise UsageError(
                "this is no token of a hub", code="hub-token", hint="it has no blanks or lines"
            )
        self.base, self.token = base, token
        if at.scheme == "https" or is_this_machine(at.host):
            limits = limits._replace(private_hosts=(*limits.private_hosts, at.place))
        self.http = HttpClient(limits, named=(at.place,), env=safe_proxies(at.scheme, env))
        self.http.progress = progress

    def about(self) -> dict[str, Any]:
        """Ask the hub what it is; what is none says so by its answer."""
        found = self.get("/hub")
        if not isinstance(found.get("key"), str) or not isinstance(found.get("key_id"), str):
            raise self._no_hub()
        return found

    def get(self, path: str, **query: str | int) -> dict[str, Any]:
        """Ask for a JSON object."""
        asked = "&".join(f"{name}={quote(str(value), safe='')}" for name, value in query.items())
        return self.send("GET", f"{path}?{asked}" if asked else path)

    def send(
        self,
        method: str,
        path: str,
        body: bytes = b"",
        headers: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """Send a request, and give the JSON object that it is answered with."""
        with self.exchange(method, path, body, headers) as answer:
            data = b"".join(answer.chunks)
            found = _object(data)
            if answer.status >= 400:
                raise self._refused(answer.status, found)
            if found is None:
                raise self._no_hub()
            return found

    def send_json(
        self, method: str, path: str, told: object, headers: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        """Send a JSON object."""
        kind = {"Content-Type": "application/json"}
        return self.send(method, path, json.dumps(told).encode(), {**kind, **(headers or {})})

    def has_blob(self, sha256: str) -> bool:
        """Ask whether the hub has bytes that this person sent before."""
        with self.exchange("HEAD", f"/blobs/{sha256}") as answer:
            return answer.status == 200

    def log(self, namespace: str, first: int = 1) -> LogCopy:
        """Fetch a namespace's log of approvals from an entry on, page by page. One that grew meanwhile
        is read to where its first page said that it ends.
        """
        entries: list[LogEntry] = []
        told = self._log_page(namespace, first)
        size, signature = told.get("size"), told.get("signature")
        if not isinstance(size, int) or not isinstance(signature, str) or size > MAX_ENTRIES:
            raise self._no_hub()
        wanted = max(0, size - first + 1)
        while len(entries) < wanted:
            rows = told.get("entries")
            if not isinstance(rows, list) or not rows:
                raise self._no_hub()
            entries += [self.entry(row) for row in rows]
            if len(entries) < wanted:
                told = self._log_page(namespace, first + len(entries))
        return LogCopy(tuple(entries[:wanted]), signature)

    def entry(self, row: Any) -> LogEntry:
        """Read an entry of a log as the hub tells it."""
        told = row if isinstance(row, dict) else {}
        number, *texts = (told.get(one) for one in LogEntry._fields)
        if not isinstance(number, int) or not all(isinstance(text, str) for text in texts):
            raise self._no_hub()
        return LogEntry(number, *map(str, texts))

    def _log_page(self, namespace: str, first: int) -> dict[str, Any]:
        return self.get(f"/log/{namespace}", limit=LOG_PAGE, **{"from": first})

    def archive(self, path: str, most: int) -> bytes:
        """Fetch an archive into memory, telling how far it has come."""
        with self.exchange("GET", path, most=most) as answer:
            if answer.status != 200:
                raise self._refused(answer.status, _object(b"".join(answer.chunks)))
            parts, count = [], 0
            for chunk in answer.chunks:
                parts.append(chunk)
                count += len(chunk)
                self.http.progress("fetched", count, 0)
            return b"".join(parts)

    @contextmanager
    def exchange(
        self,
        method: str,
        path: str,
        body: bytes = b"",
        headers: Mapping[str, str] | None = None,
        most: int = MAX_PAGE_BYTES,
    ) -> Iterator[HttpAnswer]:
        """Give whatever is answered, as it comes."""
        sent = {"Metier-Client": __version__, "Accept": "application/json, */*", **(headers or {})}
        if body or method in {"POST", "PUT", "PATCH"}:
            sent["Content-Length"] = str(len(body))
        if self.token:
            sent["Authorization"] = f"Bearer {self.token}"
        with self.http.exchanged(
            f"{self.base}{API}{path}",
            most=most,
            method=method,
            body=body,
            headers=sent,
            follow=False,
        ) as answer:
            yield answer

    def _no_hub(self) -> SourceError:
        return SourceError(
            f"{self.base} does not answer as a hub", code="malformed", hint="check the address"
        )

    def _refused(self, status: int, told: dict[str, Any] | None) -> MetierError:
        """Say what a hub said. It is a stranger's text, and nothing in it can act on a terminal."""
        told = told or {}
        message = _text(told, "message") or f"the hub answers {status}"
        code = _text(told, "code") or "unreachable"
        hint = _text(told, "hint")
        if status == 401:
            hint = f"log in: metier login {self.base}"
        kind = _KINDS.get(status, SourceError)
        if code == "digest":
            kind = IntegrityError
        error = kind(f"{message} ({self.base})", code=code, hint=hint or "ask the hub's admins")
        known = {"received": told["received"]} if isinstance(told.get("received"), int) else {}
        return error.with_details(**known)


def _text(told: dict[str, Any], name: str) -> str:
    found = told.get(name)
    line = " ".join(found.split()) if isinstance(found, str) else ""
    return escape_for_terminal(line)[:MAX_TOLD_CHARS]


def _object(data: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
