"""Tells connected clients what changed: lists that are not what they were, and files that somebody asked to hear of.

Clients of the older protocol are told on their connection, those of the newer on the streams they asked for.
"""

from __future__ import annotations

import logging
from collections import Counter, OrderedDict
from typing import TYPE_CHECKING, Any

from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ToolsListChanged,
)
from mcp_types import EmptyResult

from metier.mcp import faults
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

    from metier.mcp.conversations import Conversations

MOST, MOST_URIS = 1_024, 1_000
"""How many connections are told, and of how many files each."""
_LOG = logging.getLogger("metier.mcp")


class _Listener:
    """A client of the older protocol, and what it has still to be told: of a hundred changes that it did not hear of, once."""

    def __init__(self, session: ServerSession) -> None:
        self.session = session
        self.uris: set[str] = set()
        self.busy = self.owed = self.owed_tools = False
        self.owed_uris: dict[str, None] = {}

    def owe(self, below: tuple[str, ...], *, tools: bool) -> None:
        """Take note of a change."""
        self.owed, self.owed_tools = True, self.owed_tools or tools
        self.owed_uris.update(dict.fromkeys(uri for uri in self.uris if _is_below(uri, below)))

    async def hear(self) -> None:
        """Tell the client all that it is owed, however long it takes to read that; `busy` from before until then."""
        try:
            while self.owed:
                tools, uris = self.owed_tools, list(self.owed_uris)
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


class News:
    """Who is told of what."""

    def __init__(self, conversations: Conversations) -> None:
        """Begin with nobody."""
        self.bus = InMemorySubscriptionBus()
        self.conversations = conversations
        self._listen = ListenHandler(self.bus, max_subscriptions=MOST)
        self._listeners: OrderedDict[str, _Listener] = OrderedDict()
        self._wanted: Counter[str] = Counter()
        """The files that clients of the newer protocol want to hear of."""
        self.tasks: TaskGroup | None = None
        """Where clients are told each by itself, so that one that does not read keeps no other waiting."""

    def greet(self, ctx: ServerRequestContext[Any, Any]) -> _Listener | None:
        """Remember a connection of the older protocol; it is spoken to on its own channel."""
        key = self.conversations.key(ctx)
        if key is None:
            return None
        found = self._listeners.get(key)
        if found is None:
            found = self._listeners[key] = _Listener(ctx.session)
            while len(self._listeners) > MOST:
                self._listeners.popitem(last=False)
        return found

    async def initialized(self, ctx: ServerRequestContext[Any, Any], _params: Any) -> None:
        """Hear that a client of the older protocol is there."""
        self.greet(ctx)

    async def subscribe(self, ctx: ServerRequestContext[Any, Any], params: SubscribeRequestParams) -> EmptyResult:
        """Answer `resources/subscribe`."""
        listener = self.greet(ctx)
        if listener is not None:
            if len(listener.uris) >= MOST_URIS:
                raise faults.invalid(f"at most {MOST_URIS:,} resources can be subscribed to")
            listener.uris.add(str(params.uri))
        return EmptyResult()

    async def unsubscribe(self, ctx: ServerRequestContext[Any, Any], params: UnsubscribeRequestParams) -> EmptyResult:
        """Answer `resources/unsubscribe`."""
        listener = self.greet(ctx)
        if listener is not None:
            listener.uris.discard(str(params.uri))
        return EmptyResult()

    async def listen(
        self, ctx: ServerRequestContext[Any, Any], params: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:  # fmt: skip
        """Answer `subscriptions/listen`, for as long as the client wants."""
        wanted = list(params.notifications.resource_subscriptions or ())
        if len(wanted) > MOST_URIS:
            raise faults.invalid(f"at most {MOST_URIS:,} resources can be subscribed to")
        self._wanted.update(wanted)
        try:
            return await self._listen(ctx, params)
        finally:
            self._wanted.subtract(wanted)
            self._wanted += Counter()  # takes out what nobody wants any more

    async def tell(self, roots: Iterable[str], *, tools: bool = False) -> None:
        """Tell everybody that the lists have changed, and of the files below these roots whoever wants to know."""
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


def _is_below(uri: str, roots: tuple[str, ...]) -> bool:
    return any(uri == root or uri.startswith(f"{root}/") for root in roots)
