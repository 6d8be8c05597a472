"""A hub with two tenants, served on a loopback port, and somebody of every role: each of them asks what
they like, and everything that they change is undone at once.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from fakes.hub_skills import CAUTION, SAFE, publish_archive, skill_archive
from fakes.served_hub import ServedHub, served_hub

from metier.hub import publish
from metier.hub.accounts import add_token, caller_of_token, remember_person, revoke_token
from metier.hub.hub import HubOptions
from metier.hub.io.database import Database, Dialect, Transaction
from metier.hub.model import LOCAL
from metier.hub.namespaces import add_namespace, add_organisation, change_namespace
from metier.hub.webhooks import add_webhook

PLACES = {"private": "closed", "public": "open", "frozen": "wintry", "absent": "gone"}
"""The namespace of each state; nobody has ever taken the last one."""
PATIENCE_SECONDS = 120


class CountingTransaction:
    """A transaction that counts what it is asked."""

    def __init__(self, inner: Transaction, counts: list[int]) -> None:
        """Stand before another one."""
        self._inner, self._counts = inner, counts
        self.dialect: Dialect = inner.dialect

    def run(self, sql: str, *values: Any) -> int:
        self._counts[0] += 1
        return self._inner.run(sql, *values)

    def row(self, sql: str, *values: Any) -> Any:
        self._counts[0] += 1
        return self._inner.row(sql, *values)

    def rows(self, sql: str, *values: Any) -> Any:
        self._counts[0] += 1
        return self._inner.rows(sql, *values)

    def lock(self, name: str) -> None:
        self._inner.lock(name)

    def take_time(self) -> None:
        self._inner.take_time()


class _UndoneError(Exception):
    """Undoes a transaction."""


class UndoingDatabase:
    """A database that keeps nothing of what is written."""

    def __init__(self, real: Database) -> None:
        """Stand before a real one."""
        self._real = real
        self.dialect: Dialect = real.dialect
        self.counts = [0]
        self.keeps = False
        """Whether for once something is kept: an act that takes two transactions needs that."""

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        with self._real.read() as connection:
            if threading.current_thread().name == "metier-webhooks":
                yield connection  # it looks for events by itself, and is asked by nobody
            else:
                yield CountingTransaction(connection, self.counts)

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        try:
            with self._real.write() as connection:
                yield CountingTransaction(connection, self.counts)
                if not self.keeps:
                    raise _UndoneError  # noqa: TRY301 - it is what undoes the transaction
        except _UndoneError:
            pass

    def close(self) -> None:
        self._real.close()


class HubAnswer(NamedTuple):
    """What somebody was told."""

    status: int
    body: bytes
    statements: int
    """How often the database was asked for it."""


class Tenants:
    """The hub, and who asks it."""

    def __init__(self, served: ServedHub) -> None:
        """Furnish it; from then on nothing stays that anybody changes."""
        self.hub = served.hub
        self.tokens: dict[tuple[str, str], str] = {}
        self.archives: dict[tuple[str, str], str] = {}
        self.hooks: dict[str, int] = {}
        self.own_token_ids: dict[str, int] = {}
        self._furnish()
        self.database = UndoingDatabase(self.hub.database)
        self.hub.database = self.database
        host, _, port = served.url.removeprefix("http://").partition(":")
        self._connection = http.client.HTTPConnection(host, int(port), timeout=PATIENCE_SECONDS)

    def ask(self, role: str, state: str, method: str, path: str, body: Any = None) -> HubAnswer:
        """Ask as somebody."""
        headers = {"Metier-Client": "1"}
        token = self.tokens.get((role, state)) or self.tokens.get((role, ""))
        if token:
            headers["Authorization"] = f"Bearer {token}"
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        self.database.counts[0] = 0
        self._connection.request(method, path, data, headers)
        answer = self._connection.getresponse()
        return HubAnswer(answer.status, answer.read(), self.database.counts[0])

    def archive(self, role: str, state: str) -> str:
        """Give an archive that somebody has sent before; nobody's where they may send none."""
        known = self.archives.get((role, state)) or self.archives.get((role, ""))
        return known or "0" * 64

    def close(self) -> None:
        """End the conversation."""
        self._connection.close()

    def _furnish(self) -> None:
        for name in ("acme", "others"):
            add_organisation(self.hub, LOCAL, name)
        for state in ("private", "public", "frozen"):
            visibility = "public" if state == "public" else "private"
            add_namespace(self.hub, LOCAL, PLACES[state], "acme", visibility)
        add_namespace(self.hub, LOCAL, "elsewhere", "others")
        remember_person(self.hub, "https://id.example.org", "ann-1", "ann", ["devs"])
        self._give_tokens()
        for state in ("private", "public", "frozen"):
            space = PLACES[state]
            for version, text in (("1.0.0", SAFE), ("1.1.0", "Align every column.")):
                data = skill_archive("tool", text)
                publish_archive(self.hub, LOCAL, "tool", data, space, version)
            publish_archive(self.hub, LOCAL, "wait", skill_archive("wait", CAUTION), space)
            made = add_webhook(self.hub, LOCAL, space, "https://93.184.216.34/hook")
            self.hooks[state] = made.id
        change_namespace(self.hub, LOCAL, PLACES["frozen"], {"state": "frozen"})
        for (role, state), token in self.tokens.items():
            self._send_archive(role, state, token)
        revoke_token(self.hub, LOCAL, self.own_token_ids["revoked"])
        with self.hub.database.write() as connection:
            connection.run(
                "UPDATE tokens SET expires_at = 1 WHERE id = ?", self.own_token_ids["expired"]
            )

    def _give_tokens(self) -> None:
        for state in ("private", "public", "frozen"):
            for role in ("reader", "publisher", "reviewer", "admin"):
                self._give(role, role, state, namespace=PLACES[state])
                if (
                    state == "private"
                ):  # for what nobody has taken, any member of a namespace will do
                    self.tokens[role, "absent"] = self.tokens[role, state]
                    self.tokens[role, ""] = self.tokens[role, state]
        for role in ("hub", "expired", "revoked"):
            self._give(role, "admin", "")
        self._give("tenant", "admin", "", namespace="elsewhere")
        self._give("org_reader", "reader", "", organisation="acme")
        self._give("org_admin", "admin", "", organisation="acme")

    def _give(
        self, who: str, role: str, state: str, *, namespace: str = "", organisation: str = ""
    ) -> None:
        made = add_token(
            self.hub,
            LOCAL,
            name=f"{who} {state}".strip(),
            role=role,
            namespace=namespace,
            organisation=organisation,
        )
        self.tokens[who, state] = made.token
        self.own_token_ids[who if not state else f"{who} {state}"] = made.id

    def _send_archive(self, role: str, state: str, token: str) -> None:
        caller = caller_of_token(self.hub, token)
        if any(one.role in {"publisher", "admin"} for one in caller.grants):
            data = skill_archive("fresh", f"Align the columns, says {caller.name}.")
            sha256 = hashlib.sha256(data).hexdigest()
            publish.put_blob(self.hub, caller, sha256, data)
            self.archives[role, state] = sha256


@contextmanager
def tenants(folder: Path, options: HubOptions) -> Iterator[Tenants]:
    """Serve such a hub."""
    options = options._replace(rate=0, rate_nobody=0, rate_failed=0)
    with served_hub(folder, options) as served:
        one = Tenants(served)
        try:
            yield one
        finally:
            one.close()
