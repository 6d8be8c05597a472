"""Tells connected clients what changed: lists that are not what they were, and files that somebody asked to hear of.

Clients of the older protocol are told on their connection, those of the newer on the streams they asked for.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from typing import TYPE_CHECKING, Any

import anyio
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
PATIENCE = 5.0
"""How many seconds a client that does not read may hold up the others."""


class _Listener:
    """A client of the older protocol."""

    def __init__(self, session: ServerSession) -> None:
        self.session = session
        self.uris: set[str] = set()


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
            with anyio.move_on_after(PATIENCE) as scope:
                await _tell(listener, below, tools=tools)
            if scope.cancelled_caught:
                self._listeners.pop(key, None)

    def close(self) -> None:
        """End every stream."""
        self._listen.close()
        self._listeners.clear()


async def _tell(listener: _Listener, below: tuple[str, ...], *, tools: bool) -> None:
    session = listener.session
    await session.send_resource_list_changed()
    await session.send_prompt_list_changed()
    if tools:
        await session.send_tool_list_changed()
    for uri in [uri for uri in listener.uris if _is_below(uri, below)]:
        await session.send_resource_updated(uri)


def _is_below(uri: str, roots: tuple[str, ...]) -> bool:
    return any(uri == root or uri.startswith(f"{root}/") for root in roots)
