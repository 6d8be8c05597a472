"""Remembers what each connected client has loaded, and tells clients what changed.

A client goes on with the very files it loaded until it asks again.

Over standard input and output there is one client. Over HTTP those of the older protocol have a
session; whoever has none is always given what is current.

Clients of the older protocol are told of changes on their connection, those of the newer on the
streams they asked for.
"""

from __future__ import annotations

import logging
from collections import Counter, OrderedDict
from typing import TYPE_CHECKING, Any, NamedTuple

from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ToolsListChanged,
)
from mcp_types import EmptyResult
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from metier.mcp import protocol
from metier.mcp.copies import drop_oldest
from metier.mcp.http_access import SESSION_HEADER
from metier.mcp.uris import SCHEME

if TYPE_CHECKING:
    from collections.abc import Iterable

    from anyio.abc import TaskGroup
    from mcp.server.context import ServerRequestContext
    from mcp.server.session import ServerSession
    from mcp_types import (
        SubscribeRequestParams,
        SubscriptionsListenRequestParams,
        SubscriptionsListenResult,
        UnsubscribeRequestParams,
    )

    from metier.disclose.offer import Door
    from metier.mcp.copies import SkillCopy
    from metier.model import Card, Texts


MAX_CONVERSATIONS = 1_024
MAX_SKILLS_PER_CONVERSATION = 1_000
"""How many conversations are remembered, and how many skills of each."""


class LoadedRevision(NamedTuple):
    """A skill as one conversation loaded it: its files, without their bytes, and how far it was
    trusted.
    """

    card: Card
    digest: str
    copy: SkillCopy | None
    level: str
    terms: object
    """Under which configuration and decisions it was let in."""
    closed: Texts = ()
    """Folders in it that are skills which nobody gets."""


class Conversation:
    """What one client has."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.loaded: OrderedDict[str, LoadedRevision] = OrderedDict()
        self.named: set[str] = set()
        """Paths of the skills that a person asked for by a prompt."""
        self._paths: OrderedDict[str, str] = OrderedDict()
        """What each name meant when it was loaded."""

    def take(self, name: str, revision: LoadedRevision) -> LoadedRevision | None:
        """Remember what was loaded under a name; give what was loaded before, under the same name
        or from the same place.
        """
        path = revision.card.path
        last = self.under(name)
        same = self.loaded.pop(path, None)
        before = last or same
        self.loaded[path] = revision
        self._paths[name] = path
        self._paths.move_to_end(name)
        for kept in (self.loaded, self._paths):
            drop_oldest(kept, MAX_SKILLS_PER_CONVERSATION)
        return before

    def under(self, name: str) -> LoadedRevision | None:
        """Give what was loaded under a name, whatever has that name now."""
        return self.loaded.get(self._paths.get(name, ""))


class Conversations:
    """The conversations of one server."""

    def __init__(self, door: Door) -> None:
        """Begin with none."""
        self.door = door
        self._known: OrderedDict[str, Conversation] = OrderedDict()

    def of(self, ctx: ServerRequestContext[Any, Any]) -> Conversation | None:
        """Give the conversation that a request belongs to; none when it stands alone."""
        key = self.key(ctx)
        if key is None:
            return None
        found = self._known.setdefault(key, Conversation())
        self._known.move_to_end(key)
        drop_oldest(self._known, MAX_CONVERSATIONS)
        return found

    def drop(self, key: str) -> None:
        """Forget a conversation that has ended."""
        self._known.pop(key, None)

    def key(self, ctx: ServerRequestContext[Any, Any]) -> str | None:
        """Name the connection of a request; nothing when there is none that lasts."""
        if self.door == "stdio":
            return "stdio"
        if ctx.protocol_version not in HANDSHAKE_PROTOCOL_VERSIONS:
            return None  # there are no sessions, and nobody has looked at what a client says of one
        headers = getattr(ctx.request, "headers", None)
        return headers.get(SESSION_HEADER) if headers is not None else None


MAX_LISTENERS = 1_024
MAX_URIS_PER_LISTENER = 1_000
"""How many connections are told, and of how many files each."""
_TOO_MANY_URIS = f"at most {MAX_URIS_PER_LISTENER:,} resources can be subscribed to"
_LOG = logging.getLogger("metier.mcp")


class _Listener:
    """A client of the older protocol, and what it has still to be told: of a hundred changes that
    it did not hear of, once.
    """

    def __init__(self, session: ServerSession) -> None:
        self.session = session
        self.uris: set[str] = set()
        self.busy = self.owed = self.owed_tools = False
        self.owed_uris: dict[str, None] = {}

    def owe(self, below: Texts, *, tools: bool) -> None:
        """Take note of a change."""
        self.owed = True
        self.owed_tools = self.owed_tools or tools
        self.owed_uris.update(dict.fromkeys(uri for uri in self.uris if _is_below(uri, below)))

    async def hear(self) -> None:
        """Tell the client all that it is owed, however long it takes to read that; `busy` from
        before until then.
        """
        try:
            while self.owed:
                tools = self.owed_tools
                uris = list(self.owed_uris)
                self.owed = self.owed_tools = False
                self.owed_uris = {}
                await self._tell(uris, tools=tools)
        finally:
            self.busy = False

    async def _tell(self, uris: list[str], *, tools: bool) -> None:
        await self.session.send_resource_list_changed()
        await self.session.send_prompt_list_changed()
        if tools:
            await self.session.send_tool_list_changed()
        for uri in uris:
            await self.session.send_resource_updated(uri)


class Notifications:
    """Who is told of what."""

    def __init__(self, conversations: Conversations) -> None:
        """Begin with nobody."""
        self.bus = InMemorySubscriptionBus()
        self.conversations = conversations
        self._listen = ListenHandler(self.bus, max_subscriptions=MAX_LISTENERS)
        self._listeners: OrderedDict[str, _Listener] = OrderedDict()
        self._wanted: Counter[str] = Counter()
        """The files that clients of the newer protocol want to hear of."""
        self.tasks: TaskGroup | None = None
        """Where clients are told each by itself, so that one that does not read keeps no other
        waiting."""

    def greet(self, ctx: ServerRequestContext[Any, Any]) -> _Listener | None:
        """Remember a connection of the older protocol; it is spoken to on its own channel."""
        key = self.conversations.key(ctx)
        if key is None:
            return None
        found = self._listeners.setdefault(key, _Listener(ctx.session))
        drop_oldest(self._listeners, MAX_LISTENERS)
        return found

    async def initialized(self, ctx: ServerRequestContext[Any, Any], _params: Any) -> None:
        """Hear that a client of the older protocol is there."""
        self.greet(ctx)

    async def subscribe(
        self, ctx: ServerRequestContext[Any, Any], params: SubscribeRequestParams
    ) -> EmptyResult:
        """Answer `resources/subscribe`."""
        listener = self.greet(ctx)
        if listener is not None:
            if len(listener.uris) >= MAX_URIS_PER_LISTENER:
                raise protocol.invalid_params(_TOO_MANY_URIS)
            listener.uris.add(str(params.uri))
        return EmptyResult()

    async def unsubscribe(
        self, ctx: ServerRequestContext[Any, Any], params: UnsubscribeRequestParams
    ) -> EmptyResult:
        """Answer `resources/unsubscribe`."""
        listener = self.greet(ctx)
        if listener is not None:
            listener.uris.discard(str(params.uri))
        return EmptyResult()

    async def listen(
        self, ctx: ServerRequestContext[Any, Any], params: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        """Answer `subscriptions/listen`, for as long as the client wants."""
        wanted = list(params.notifications.resource_subscriptions or ())
        if len(wanted) > MAX_URIS_PER_LISTENER:
            raise protocol.invalid_params(_TOO_MANY_URIS)
        self._wanted.update(wanted)
        try:
            return await self._listen(ctx, params)
        finally:
            self._wanted.subtract(wanted)
            self._wanted += Counter()  # takes out what nobody wants any more

    async def tell(self, roots: Iterable[str], *, tools: bool = False) -> None:
        """Tell everybody that the lists have changed, and of the files below these roots whoever
        wants to know.
        """
        below = tuple(f"{SCHEME}{root}" for root in roots)
        await self.bus.publish(ResourcesListChanged())
        await self.bus.publish(PromptsListChanged())
        if tools:
            await self.bus.publish(ToolsListChanged())
        for uri in [uri for uri in self._wanted if _is_below(uri, below)]:
            await self.bus.publish(ResourceUpdated(uri=uri))
        for key, listener in list(self._listeners.items()):
            listener.owe(below, tools=tools)
            if not listener.busy and self.tasks is not None:
                listener.busy = True
                self.tasks.start_soon(self._hear, key, listener)

    async def _hear(self, key: str, listener: _Listener) -> None:
        try:
            await listener.hear()
        except Exception as error:  # noqa: BLE001 - whatever a session that is gone says, there is nobody left to tell
            _LOG.debug("a client is not told any more: %s", type(error).__name__)
            if self._listeners.get(key) is listener:
                del self._listeners[key]

    def drop(self, key: str) -> None:
        """Tell a client nothing any more that has left."""
        self._listeners.pop(key, None)

    def close(self) -> None:
        """End every stream."""
        self.tasks = None
        self._listen.close()
        self._listeners.clear()


def _is_below(uri: str, roots: Texts) -> bool:
    return any(uri == root or uri.startswith(f"{root}/") for root in roots)
