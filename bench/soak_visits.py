"""The clients of `soak.py`: sessions of the SDK that use a server, and hold what they get against
the disk.
"""

from __future__ import annotations

import base64
import hashlib
import random
import re
import time
from collections import Counter
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import httpx2
import mcp_types as types
import supply_data
from mcp import ClientSession, MCPError
from mcp.client.streamable_http import streamable_http_client
from pydantic import RootModel
from soak_library import GUIDE

if TYPE_CHECKING:
    import threading
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

    from soak_library import Unrest

TURNS = 50
"""So many calls make one session; then the client begins another."""
PATIENCE = 120
ACTS = {"search": 20, "load": 20, "file": 10, "page": 10, "get": 15, "resource": 25}
_NAMED = re.compile(r"soak-\d{5}")


class Told(RootModel[dict[str, Any]]):
    """Any answer, as it came."""


class Server(Protocol):
    """What is known of the server."""

    url: str
    token: str

    def resident(self) -> int:
        """Give the bytes that it holds."""

    def descriptors(self) -> int:
        """Give the number of files, pipes and sockets that it has open."""


class Entry(NamedTuple):
    """A skill as a server tells it: its URI, the digest and size of each file by its URI, and when
    it was asked for.
    """

    name: str
    uri: str
    files: dict[str, tuple[str, int]]
    asked: float


def entry_of(told: Mapping[str, Any], asked: float) -> Entry:
    """Read an entry."""
    told = told.get("skill", told)
    files = {
        one["uri"]: (one["digest"].removeprefix("sha256:"), one["size"])
        for one in told["resources"]
    }
    return Entry(told["frontmatter"]["name"], told["uri"], files, asked)


def within(entry: Entry) -> dict[str, str]:
    """Give the digest of each file by its path inside the skill."""
    return {
        uri.partition(f"/{entry.name}/")[2]: digest for uri, (digest, _size) in entry.files.items()
    }


class Soak:
    """What all clients share: the library, the count of calls, and what went wrong."""

    def __init__(self, unrest: Unrest, served: Server, calls: int, lag: float) -> None:
        """Begin with nothing done."""
        self.unrest, self.served, self.left, self.total, self.lag = (
            unrest,
            served,
            calls,
            calls,
            lag,
        )
        self.done: Counter[str] = Counter()
        self.seconds: dict[str, list[float]] = {}
        self.excused: Counter[str] = Counter()
        self.errors: list[str] = []
        self.stale: list[str] = []
        self.wrong: list[str] = []
        self.heard: Counter[int] = Counter()
        self.sessions = 0
        self.samples: list[tuple[float, int, int]] = []
        """The share of the calls that were done, the bytes resident, the descriptors open."""

    def watch(self, over: threading.Event) -> None:
        """Look at the server every half second."""
        while not over.wait(0.5):
            self.samples.append(
                (1 - self.left / self.total, self.served.resident(), self.served.descriptors())
            )


class Visitor:
    """One client: what it does, and what it holds against the disk."""

    def __init__(self, soak: Soak, number: int) -> None:
        """Know no skill yet."""
        self.soak, self.number = soak, number
        self.rng = random.Random(number)  # noqa: S311 - a choice of acts, no secrets
        self.session: ClientSession
        self.entries: dict[str, Entry] = {}
        self.loaded: set[str] = set()
        """What this session has loaded: it goes on with that, even where the skill has gone."""
        self.cursor: str | None = None

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        """Be in a session."""
        headers = {"Authorization": f"Bearer {self.soak.served.token}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=PATIENCE) as client,
            streamable_http_client(self.soak.served.url, http_client=client) as streams,
            ClientSession(
                streams[0], streams[1], read_timeout_seconds=PATIENCE, message_handler=self._hear
            ) as session,
        ):
            self.session, self.cursor, self.loaded = session, None, set()
            self.soak.sessions += 1
            await session.initialize()
            yield

    async def visit(self) -> None:
        """Use the server until all calls are done, in one session after the other."""
        while self.soak.left > 0:
            async with self.opened():
                for _ in range(TURNS):
                    if self.soak.left <= 0:
                        break
                    act = (
                        self.rng.choices(list(ACTS), list(ACTS.values()))[0]
                        if self.entries
                        else "page"
                    )
                    await getattr(self, act)()

    async def _hear(self, message: Any) -> None:
        if isinstance(message, Exception):
            self.soak.errors.append(f"the transport said {message!r}")
        elif "list_changed" in str(
            getattr(message, "method", getattr(getattr(message, "root", None), "method", ""))
        ):
            self.soak.heard[self.number] += 1

    # --- calls

    async def _ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Put one request, and count it."""
        self.soak.left -= 1
        began = time.monotonic()
        try:
            request = types.Request[dict[str, Any], str](method=method, params=params)
            return (await self.session.send_request(request, Told)).root
        finally:
            what = params["name"] if method == "tools/call" else method
            self.soak.done[what] += 1
            self.soak.seconds.setdefault(what, []).append(time.monotonic() - began)

    async def _tool(self, tool: str, **arguments: Any) -> str:
        found = await self._ask("tools/call", name=tool, arguments=arguments)
        text = "\n".join(str(part.get("text", "")) for part in found.get("content", []))
        if found.get("isError"):
            raise MCPError(0, text[:500])
        return text

    async def _try(self, name: str, what: str, call: Callable[[], Awaitable[Any]]) -> Any:
        """Make a call about a skill; nothing when it failed. Only one that is gone, or was touched
        a moment ago, may fail.
        """
        since = time.monotonic() - self.soak.lag
        try:
            found = await call()
        except MCPError as error:
            known = self.soak.unrest.known(name)
            if known is not None and known.revision and known.touched < since:
                self.soak.errors.append(f"{what} {name}: {error}"[:300])
            else:
                self.soak.excused[
                    f"{what}: {'gone' if known is None or not known.revision else 'touched'}"
                ] += 1
                self.entries.pop(name, None)
            return None
        if self._is_gone(name, since):
            if what == "read_skill_file" and name in self.loaded:
                self.soak.excused[f"{what}: of what was loaded"] += 1
            else:
                self.soak.stale.append(f"{what} gave {name}, which is gone")
        return found

    def _is_gone(self, name: str, since: float) -> bool:
        known = self.soak.unrest.known(name)
        return known is None or (not known.revision and known.touched < since)

    # --- acts

    async def search(self) -> None:
        """Search, and see that nothing comes that has long been gone."""
        since = time.monotonic() - self.soak.lag
        query = " ".join(self.rng.choices(supply_data.WORDS, k=self.rng.randint(1, 5)))
        try:
            text = await self._tool("search_skills", query=query, limit=10)
        except MCPError as error:
            self.soak.errors.append(f"search {query!r}: {error}"[:300])
            return
        names = set(_NAMED.findall(text))
        if not names:
            self.soak.wrong.append(f"search {query!r} found nothing")
        self.soak.stale += [
            f"search gave {name}, which is gone" for name in names if self._is_gone(name, since)
        ]

    async def load(self) -> None:
        """Load a skill; one that has been quiet must come in its present revision."""
        name = self._some()
        since = time.monotonic() - self.soak.lag
        before = self.soak.unrest.known(name)
        text = await self._try(name, "load_skill", lambda: self._tool("load_skill", name=name))
        if text is not None:
            self.loaded.add(name)
        if (
            text is None
            or before is None
            or before != self.soak.unrest.known(name)
            or before.touched >= since
        ):
            return
        if f"Revision {before.revision}." not in text:
            self.soak.stale.append(f"load_skill {name}: not revision {before.revision}")

    async def file(self) -> None:
        """Read a file of a skill by a tool."""
        name = self._some()
        text = await self._try(
            name, "read_skill_file", lambda: self._tool("read_skill_file", name=name, path=GUIDE)
        )
        if text is not None and "# Guide" not in text:
            self.soak.wrong.append(f"read_skill_file {name}: {text[:80]!r}")

    async def page(self) -> None:
        """Go on through the listing, and check every entry of a page; a cursor that is too old
        begins again.
        """
        began = time.monotonic()
        try:
            found = await self._ask(
                "skills/list", **({"cursor": self.cursor} if self.cursor else {})
            )
        except MCPError as error:
            if self.cursor is None:
                self.soak.errors.append(f"skills/list: {error}"[:300])
            else:
                self.soak.excused["skills/list: the cursor is too old"] += 1
            self.cursor = None
            return
        self.cursor = found.get("nextCursor")
        for told in found["skills"]:
            entry = self.entries[told["frontmatter"]["name"]] = entry_of(told, began)
            self._check(entry, "skills/list")

    async def get(self) -> None:
        """Ask for the entry of a skill; its digests must be those of the disk."""
        await self._entry(self._some())

    async def _entry(self, name: str) -> Entry | None:
        began, uri = time.monotonic(), self.entries[name].uri
        found = await self._try(name, "skills/get", lambda: self._ask("skills/get", uri=uri))
        if found is None:
            return None
        entry = self.entries[name] = entry_of(found, began)
        self._check(entry, "skills/get")
        return entry

    async def resource(self) -> None:
        """Read a file as a resource; its bytes must be those of the entry, or of a new one where
        the skill was touched since.
        """
        name = self._some()
        entry: Entry | None = self.entries[name]
        for attempt in range(2):
            if entry is None:
                return
            uri = self.rng.choice(list(entry.files))
            found = await self._try(
                name,
                "resources/read",
                lambda uri=uri: self._ask("resources/read", uri=uri),  # type: ignore[misc]
            )
            if found is None:
                return
            data = b"".join(map(_bytes, found["contents"]))
            if (hashlib.sha256(data).hexdigest(), len(data)) == entry.files[uri]:
                return
            if self.soak.unrest.is_quiet(name, entry.asked - self.soak.lag):
                self.soak.stale.append(f"resources/read {uri}: not the bytes of its entry")
                return
            self.soak.excused[
                f"resources/read: {'again ' if attempt else ''}not the entry's bytes, touched since"
            ] += 1
            entry = await self._entry(name)

    def _some(self) -> str:
        return self.rng.choice(list(self.entries))

    def _check(self, entry: Entry, what: str) -> None:
        """Hold an entry against the disk, unless somebody touched the skill a moment before it was
        asked for, or does so now.
        """
        since = entry.asked - self.soak.lag
        if self._is_gone(entry.name, since):
            self.soak.stale.append(f"{what} gave {entry.name}, which is gone")
        elif self.soak.unrest.is_quiet(entry.name, since):
            hashes = self.soak.unrest.hashes(entry.name)
            if hashes != within(entry) and self.soak.unrest.is_quiet(entry.name, since):
                self.soak.stale.append(f"{what} {entry.name}: not what lies on the disk")


def _bytes(part: Mapping[str, Any]) -> bytes:
    return base64.b64decode(part["blob"]) if "blob" in part else str(part["text"]).encode()
